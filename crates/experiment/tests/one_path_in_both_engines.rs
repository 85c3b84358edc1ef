//! One path per flow is one thing in both engines: each link carries the same bytes, and nothing else is drawn.

use odonata_experiment::{Experiment, RunResult, Values};

/// Machines with the routings that they take, and the number of ranks. A torus and a dragonfly need several virtual
/// channels; two planes have tables of their own.
const MACHINES: [(&str, u32, &[&str]); 6] = [
    ("topology = 'fat-tree'\nk = 4", 16, &["ecmp", "d-mod-k", "min-hop", "up-down-static"]),
    ("topology = 'fat-tree'\nk = 4\nedit = ['fail 10% global']", 16, &["ecmp", "d-mod-k", "min-hop", "up-down-static"]),
    (
        "topology = 'xgft'\nchildren = [4, 4]\nparents = [1, 2]\nparallel = 2",
        16,
        &["ecmp", "d-mod-k", "min-hop", "up-down-static"],
    ),
    ("topology = 'dragonfly'\np = 1\na = 4\nh = 2\ng = 9", 36, &["ecmp", "min-hop", "up-down-static"]),
    ("topology = 'torus'\ndims = [5, 4]\nnodes_per_router = 1", 20, &["ecmp", "min-hop", "up-down-static"]),
    ("topology = 'fat-tree'\nk = 4\nplanes = 2", 16, &["ecmp", "d-mod-k", "min-hop"]),
];

fn run(machine: &str, ranks: u32, pattern: &str, engine: &str, routing: &str, threads: usize) -> RunResult {
    let text = format!(
        "[machine]\n{machine}\n[[job]]\nname = 'a'\npattern = {pattern}\nranks = {ranks}\nranks_per_node = 1\n\
         placement = 'compact'\n[engine]\nkind = '{engine}'\nrouting = {routing}\n"
    );
    let done = Experiment::new(&text, "run.toml").run(threads, &mut |_, _| true);
    done.unwrap_or_else(|error| panic!("{engine}, {routing} on {machine}: {error:?}"))
}

fn reals(result: &RunResult, table: &str, column: &str) -> Vec<f64> {
    match result.tables.get(table).and_then(|table| table.get(column)) {
        Some(Values::F64(values)) => values.clone(),
        other => panic!("{table}.{column}: {other:?}"),
    }
}

fn bytes_agree(machine: &str, ranks: u32, routing: &str) {
    for pattern in ["{ name = 'all-to-all', bytes = '4 KiB' }", "{ name = 'random-permutation', bytes = '64 KiB' }"] {
        let routing = format!("'{routing}'");
        let of = |engine, threads| reals(&run(machine, ranks, pattern, engine, &routing, threads), "links", "bytes");
        let (flow, packet) = (of("flow", 1), of("packet", 1));
        assert_eq!(flow, packet, "{routing} on {machine}, {pattern}");
        assert!(flow.iter().sum::<f64>() > 0.0);
        assert_eq!((flow, packet), (of("flow", 2), of("packet", 2)), "two threads: {routing} on {machine}");
    }
}

#[test]
fn every_link_has_the_same_bytes_in_both_engines() {
    for (machine, ranks, routings) in MACHINES {
        routings.iter().for_each(|routing| bytes_agree(machine, ranks, routing));
    }
}

#[test]
fn machines_from_files_with_unequal_and_parallel_cables_agree() {
    let file = std::env::temp_dir().join(format!("odonata-unequal-{}.csv", std::process::id()));
    let rows = [
        "src,dst,bandwidth,src_nodes,dst_nodes",
        "leaf0,spine0,100 Gb/s,4,0",
        "leaf0,spine1,200 Gb/s,4,0",
        "leaf0,spine1,200 Gb/s,4,0",
        "leaf1,spine0,100 Gb/s,4,0",
        "leaf1,spine0,200 Gb/s,4,0",
        "leaf1,spine1,200 Gb/s,4,0",
        "leaf2,spine0,100 Gb/s,4,0",
        "leaf2,spine1,200 Gb/s,4,0",
    ];
    std::fs::write(&file, rows.join("\n")).unwrap();
    let machine = format!("file = '{}'\nformat = 'edge-list'", file.display());
    for routing in ["ecmp", "min-hop", "up-down-static"] {
        bytes_agree(&machine, 12, routing);
    }
    std::fs::remove_file(file).unwrap();
}

/// k = 8, each node 64 KiB to the next pod. The slowest flow of a random filling gets 0.23 of a link, so about 11 us;
/// without a collision 64 KiB need 2.6 us and the latency. Spraying, as `min` does, needs 3.9 us.
#[test]
fn sixty_four_kib_to_the_next_pod_take_eleven_microseconds() {
    let machine = "topology = 'fat-tree'\nk = 8";
    let time = |routing: &str| {
        let result = run(machine, 128, "{ name = 'shift', offset = 16, bytes = '64 KiB' }", "packet", routing, 2);
        reals(&result, "jobs", "completion_time_s")[0] * 1e6
    };
    let of_seed = |seed: u32| time(&format!("{{ name = 'ecmp', seed = {seed} }}"));
    let mean = (1..=8).map(of_seed).sum::<f64>() / 8.0;
    assert!((10.0..13.5).contains(&mean), "{mean} us");
    let alone = time("'d-mod-k'");
    assert!((2.6..4.0).contains(&alone), "{alone} us");
}

/// Paths of one flow each have no legs between groups, on machines with groups and without.
#[test]
fn more_channels_are_explained_by_cycles() {
    for machine in ["topology = 'dragonfly'\np = 1\na = 4\nh = 2\ng = 9", "topology = 'torus'\ndims = [5, 4]"] {
        for routing in ["ecmp", "min-hop"] {
            let text = format!(
                "[machine]\n{machine}\n[[job]]\nname = 'a'\npattern = 'all-to-all'\nranks = 16\nranks_per_node = 1\n\
                 [engine]\nkind = 'packet'\nrouting = '{routing}'\n"
            );
            let warnings = Experiment::new(&text, "run.toml").check().unwrap().warnings;
            let [warning] = &warnings[..] else { panic!("{machine}: {warnings:?}") };
            let expected = "With 1, its paths could wait for each other in a cycle";
            assert!(warning.contains(expected) && !warning.contains("groups"), "{warning}");
        }
    }
}

/// A file of tables next to the experiment, in both engines; a hole is refused before the run, with the path.
#[test]
fn tables_from_a_file_run_in_both_engines() {
    let folder = std::env::temp_dir().join(format!("odonata-tables-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    // Two leaves of two nodes and two spines; every node has its own spine.
    let cables = ["src,dst,src_nodes,dst_nodes", "a,s,2,0", "a,t,2,0", "b,s,2,0", "b,t,2,0"];
    std::fs::write(folder.join("cables.csv"), cables.join("\n")).unwrap();
    let tables = [
        "router,destination,next",
        "a,bn0,s",
        "a,bn1,t",
        "b,an0,s",
        "b,an1,t",
        "s,an0,a",
        "t,an1,a",
        "s,bn0,b",
        "t,bn1,b",
    ];
    let run = |engine: &str, rows: &[&str]| {
        std::fs::write(folder.join("tables.csv"), rows.join("\n")).unwrap();
        let text = format!(
            "[machine]\nfile = 'cables.csv'\nformat = 'edge-list'\n[[job]]\nname = 'a'\nranks = 4\n\
             ranks_per_node = 1\nplacement = 'compact'\npattern = {{ name = 'shift', offset = 2, bytes = '64 KiB' }}\n\
             [engine]\nkind = '{engine}'\nrouting = {{ name = 'forwarding-tables', file = 'tables.csv' }}\n"
        );
        Experiment::new(&text, folder.join("run.toml").to_str().unwrap()).run(1, &mut |_, _| true)
    };
    for engine in ["flow", "packet"] {
        let result = run(engine, &tables).unwrap_or_else(|error| panic!("{engine}: {error:?}"));
        assert_eq!(reals(&result, "links", "bytes"), [65_536.0; 8], "{engine}");
        let error = format!("{:?}", run(engine, &tables[..8]).expect_err("a hole"));
        assert!(error.contains("no path to node bn1: router t has no entry: a -> t"), "{engine}: {error}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}
