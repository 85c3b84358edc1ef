//! `routing = "min"` is one thing: the flow engine's expectation is what the packet engine's packets do.
//!
//! Every path is minimal in both, so mean hops are equal to the last digit. A packet draws among equal paths, so the bytes
//! of a link spread around the expectation: with n expected packets by less than sqrt(n) packets (each crosses the link or
//! not), of which 5 are allowed.

use odonata_experiment::{Experiment, RunResult, Values};

const PACKET: f64 = 512.0;

/// Several cables between two groups, as many and not; groups joined only over others; rows and columns; rings, a mesh, a
/// torus with a hole; fat trees. What the mean over all pairs of routers is, where there is a closed form.
const MACHINES: [(&str, u32, Option<f64>); 11] = [
    // Of the 16 pairs of routers of two groups 2 are one hop apart, 4 three, 10 two: crates/routing/tests/minimal.rs.
    ("topology = 'dragonfly'\np = 1\na = 4\nh = 1\ng = 3", 12, Some(240.0 / 132.0)),
    ("topology = 'dragonfly'\np = 1\na = 6\nh = 2\ng = 4", 24, None),
    ("topology = 'dragonfly'\np = 1\na = 6\nh = 3\ng = 4\nedit = ['fail 30% global']", 24, None),
    ("topology = 'dragonfly'\np = 1\na = 4\nh = 2\ng = 9\nedit = ['fail 20% global']", 36, None),
    ("topology = 'cascade'\ngroups = 3\nrows = 2\ncolumns = 4\nnodes_per_router = 1", 24, None),
    // A ring of n = 5 has (n^2 - 1) / 4 hops from one router to all, one of 4 n^2 / 4: 4 * 6 + 5 * 4 over 19.
    ("topology = 'torus'\ndims = [5, 4]\nnodes_per_router = 1", 20, Some(44.0 / 19.0)),
    ("topology = 'torus'\ndims = [2, 4, 3]\nnodes_per_router = 1", 24, None),
    // All pairs of a line of n: (n^3 - n) / 3 hops. (60 / 3) * 3^2 + (24 / 3) * 4^2 over 12 * 11.
    ("topology = 'torus'\ndims = [4, 3]\nwrap = false\nnodes_per_router = 1", 12, Some(308.0 / 132.0)),
    ("topology = 'torus'\ndims = [4, 4]\nnodes_per_router = 1\nedit = ['fail 10% local']", 16, None),
    // Of the 15 others one is at the same router, 2 in the same pod (2 hops), 12 elsewhere (4 hops).
    ("topology = 'fat-tree'\nk = 4", 16, Some((2.0 * 2.0 + 12.0 * 4.0) / 15.0)),
    ("topology = 'fat-tree'\nk = 4\nedit = ['fail 10% global']", 16, None),
];

fn result(machine: &str, ranks: u32, pattern: &str, engine: &str) -> RunResult {
    let text = format!(
        "[machine]\n{machine}\n[[job]]\nname = 'a'\npattern = {pattern}\nranks = {ranks}\nranks_per_node = 1\n\
         placement = 'compact'\n[engine]\nkind = '{engine}'\nrouting = 'min'\n"
    );
    let done = Experiment::new(&text, "run.toml").run(1, &mut |_, _| true);
    done.unwrap_or_else(|error| panic!("{engine} on {machine}: {error:?}"))
}

fn reals(result: &RunResult, table: &str, column: &str) -> Vec<f64> {
    match result.tables.get(table).and_then(|table| table.get(column)) {
        Some(Values::F64(values)) => values.clone(),
        other => panic!("{table}.{column}: {other:?}"),
    }
}

#[test]
fn mean_hops_and_the_traffic_of_every_link_agree() {
    for (machine, ranks, closed_form) in MACHINES {
        for pattern in ["{ name = 'all-to-all', bytes = '64 KiB' }", "{ name = 'random-permutation', bytes = '2 MiB' }"]
        {
            let [flow, packet] = ["flow", "packet"].map(|engine| result(machine, ranks, pattern, engine));
            let [expected, found] = [&flow, &packet].map(|result| reals(result, "jobs", "byte_hops_mean")[0]);
            assert!((expected - found).abs() < 1e-9, "{machine}, {pattern}: {expected} and {found} hops");
            if let (Some(hops), true) = (closed_form, pattern.contains("all-to-all")) {
                assert!((expected - hops).abs() < 1e-9, "{machine}: {expected} for {hops}");
            }
            let [expected, found] = [&flow, &packet].map(|result| reals(result, "links", "bytes"));
            for (link, (expected, found)) in expected.iter().zip(&found).enumerate() {
                let tolerance = 5.0 * (expected / PACKET).sqrt() * PACKET;
                assert!(
                    (expected - found).abs() <= tolerance,
                    "{machine}, {pattern}, link {link}: {expected} and {found}"
                );
            }
        }
    }
}
