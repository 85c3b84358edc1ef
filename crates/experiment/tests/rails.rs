//! Nodes with several NICs: closed forms, flow against packets, faults, mistakes.

use odonata_experiment::{Experiment, RunResult, Values};
use odonata_routing::algorithm::{Machines, ALGORITHMS};
use std::path::Path;

/// 72 nodes: 9 groups of 4 routers with 2 nodes each.
const DRAGONFLY: &str = "topology = 'dragonfly'\np = 2\na = 4\nh = 2\ng = 9\ncores_per_node = 4";
const PARAMETERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/odonata/amg/data/machines/eos.toml");
const PAIR: &str =
    "ranks = 2\nranks_per_node = 1\nplacement = 'compact'\npattern = { name = 'all-to-all', bytes = '1 MiB' }";

fn text(machine: &str, job: &str, engine: &str) -> String {
    format!("format = 3\n[machine]\n{machine}\n[[job]]\nname = 'a'\n{job}\n[engine]\n{engine}\n")
}

fn try_run(machine: &str, job: &str, engine: &str, threads: usize) -> Result<RunResult, String> {
    Experiment::new(text(machine, job, engine), "run.toml")
        .run(threads, &mut |_, _| true)
        .map_err(|error| format!("{error:?}"))
}

#[track_caller]
fn result(machine: &str, job: &str, engine: &str) -> RunResult {
    try_run(machine, job, engine, 1).unwrap_or_else(|error| panic!("{engine} on {machine}: {error}"))
}

#[track_caller]
fn refused(machine: &str, job: &str, engine: &str) -> String {
    match Experiment::new(text(machine, job, engine), "run.toml").check() {
        Ok(_) => panic!("{machine} was taken"),
        Err(problems) => problems.0.into_iter().map(|problem| problem.message).collect::<Vec<_>>().join("\n"),
    }
}

#[track_caller]
fn reals(result: &RunResult, table: &str, column: &str) -> Vec<f64> {
    match result.tables.get(table).and_then(|table| table.get(column)) {
        Some(Values::F64(values)) => values.clone(),
        other => panic!("{table}.{column}: {other:?}"),
    }
}

#[track_caller]
fn numbers(result: &RunResult, table: &str, column: &str) -> Vec<u32> {
    match result.tables.get(table).and_then(|table| table.get(column)) {
        Some(Values::U32(values)) => values.clone(),
        other => panic!("{table}.{column}: {other:?}"),
    }
}

/// Two nodes of neighbouring routers of a ring send each other B bytes: B / C over one NIC, B / (k C) striped over k, each with
/// a link of its own. Rails at one router share its one cable between routers, so nothing is gained there. The packet engine
/// also needs the latency of the path, which is below 3 us.
#[test]
fn striped_over_k_nics_a_message_takes_a_kth_of_the_time() {
    let ring = "topology = 'torus'\ndims = [8]\nnodes_per_router = 1";
    let alone = |machine: &str, engine: &str| {
        let found = result(machine, PAIR, engine);
        reals(&found, "jobs", "completion_time_s")[0]
    };
    for engine in ["kind = 'flow'\nrouting = 'min'", "kind = 'packet'\nrouting = 'min'"] {
        let slack = if engine.contains("packet") { 3e-6 } else { 1e-6 };
        let one = alone(ring, engine);
        for (more, parts) in [
            ("planes = 2\nrail_rule = 'stripe'", 2.0),
            ("planes = 4\nrail_rule = 'stripe'", 4.0),
            ("planes = 2\nrails = 2\nrail_routers = 'next'\nrail_rule = 'stripe'", 4.0),
            // A message of exactly 1 MiB is striped, a smaller one is too small: by affinity, over one.
            ("planes = 2\nrail_rule = 'stripe'\nstripe_from = '1 MiB'", 2.0),
            ("planes = 2\nrail_rule = 'stripe'\nstripe_from = '1048577 B'", 1.0),
            ("planes = 2\nrail_rule = 'affinity'", 1.0),
            ("rails = 2\nrail_rule = 'stripe'", 1.0),
        ] {
            let found = alone(&format!("{ring}\n{more}"), engine);
            assert!((found - one / parts).abs() <= slack, "{engine}, {more}: {found} for {one} / {parts}");
        }
    }
}

/// Whatever the rule, a static routing puts as many bytes on the links of all planes together as on the links of one; striped, half of
/// them on each of two.
#[test]
fn the_links_of_all_planes_carry_together_as_much_as_one_plane() {
    let job = "ranks = 288\nplacement = 'compact'\npattern = { name = 'many-to-many', bytes = '64 KiB' }";
    let engine = "kind = 'flow'\nrouting = 'min'";
    let single = reals(&result(DRAGONFLY, job, engine), "links", "bytes");
    for rule in ["affinity", "round-robin", "hash", "stripe"] {
        let both = result(&format!("{DRAGONFLY}\nplanes = 2\nrail_rule = '{rule}'"), job, engine);
        let bytes = reals(&both, "links", "bytes");
        let (first, second) = bytes.split_at(single.len());
        assert_eq!(second.len(), single.len());
        for (link, one) in single.iter().enumerate() {
            let sum = first[link] + second[link];
            assert!((sum - one).abs() <= 1e-6 * one.max(1.0), "{rule}, link {link}: {sum} for {one}");
            if rule == "stripe" {
                assert!((first[link] - second[link]).abs() <= 1e-6 * one.max(1.0), "link {link}");
            }
        }
        let planes = numbers(&both, "links", "source_plane");
        assert!(planes[..single.len()].iter().all(|&p| p == 0) && planes[single.len()..].iter().all(|&p| p == 1));
        assert_eq!(numbers(&both, "links", "target_plane"), planes, "no cable joins two planes");
    }
}

/// Equal paths on every plane and rail: both engines see the same bytes on every link, except for the draws among equal paths
/// (five deviations), and the model engine sees the same bytes at every NIC.
#[test]
fn packets_go_where_flows_are() {
    let job = "ranks = 144\nranks_per_node = 2\nplacement = 'compact'\npattern = { name = 'random-permutation', bytes = '256 KiB' }";
    for more in [
        "planes = 2\nrail_rule = 'affinity'",
        "planes = 2\nrail_rule = 'stripe'",
        "rails = 2\nrail_rule = 'hash'",
        "rails = 3\nrail_routers = 'next'\nrail_rule = 'stripe'",
        "planes = 2\nrails = 2\nrail_rule = 'round-robin'",
    ] {
        let on = |engine: &str| result(&format!("{DRAGONFLY}\n{more}"), job, engine);
        let flow = on("kind = 'flow'\nrouting = 'min'");
        let packet = on("kind = 'packet'\nrouting = 'min'");
        let model = on(&format!("kind = 'model'\nparameters = '{PARAMETERS}'"));
        for column in ["ejected_bytes", "injected_bytes"] {
            let [a, b, c] = [&flow, &packet, &model].map(|result| reals(result, "nodes", column));
            for end in 0..a.len() {
                assert!((a[end] - b[end]).abs() < 1.0 && (a[end] - c[end]).abs() < 1.0, "{more}: {column} of {end}");
            }
        }
        let [a, b] = [&flow, &packet].map(|result| reals(result, "links", "bytes"));
        for (link, (a, b)) in a.iter().zip(&b).enumerate() {
            assert!((a - b).abs() <= 5.0 * (a / 512.0).sqrt() * 512.0 + 1.0, "{more}, link {link}: {a} and {b}");
        }
        let hops = [&flow, &packet, &model].map(|result| reals(result, "jobs", "byte_hops_mean")[0]);
        // The model engine takes the fewest links, two global ones in a row among them, which no minimal routing does.
        assert!((hops[0] - hops[1]).abs() < 1e-9 && hops[2] < hops[0] + 1e-9, "{more}: {hops:?}");
    }
}

/// The algorithms that declare one of these.
fn declaring(machines: &[Machines]) -> impl Iterator<Item = &'static str> + '_ {
    let hops = ALGORITHMS.iter().filter(|algorithm| algorithm.has_hops());
    hops.filter(|algorithm| machines.contains(&algorithm.machines)).map(|algorithm| algorithm.name)
}

/// Every algorithm decides on each plane as on a single machine: both planes accept the offered load, with the same bytes for any number
/// of threads.
#[test]
fn algorithms_route_on_every_plane() {
    let job = "ranks = 72\nranks_per_node = 1\npattern = 'uniform'\ntraffic = { name = 'open', load = 0.2 }";
    let machine = format!("{DRAGONFLY}\nplanes = 2\nrail_rule = 'round-robin'");
    for routing in declaring(&[Machines::Any, Machines::Groups, Machines::WithIntermediate]) {
        let engine =
            format!("kind = 'packet'\nrouting = '{routing}'\nwarm_up = '10 us'\nmeasure = '10 us'\ndrain = '20 us'");
        let [one, three] = [1, 3].map(|threads| try_run(&machine, job, &engine, threads).unwrap());
        assert_eq!(reals(&one, "links", "bytes"), reals(&three, "links", "bytes"), "{routing}: any number of threads");
        let bytes = reals(&one, "nodes", "ejected_bytes");
        let [first, second] = [&bytes[..72], &bytes[72..]].map(|plane| plane.iter().sum::<f64>());
        assert!(first > 0.0 && (first / second - 1.0).abs() < 0.1, "{routing}: {first} and {second}");
    }
    let torus = "topology = 'torus'\ndims = [4, 4]\nnodes_per_router = 1\nplanes = 2\nrail_rule = 'round-robin'";
    let job = job.replace("72", "16");
    for routing in declaring(&[Machines::Grids, Machines::WithoutGroups, Machines::WithIntermediate]) {
        let engine =
            format!("kind = 'packet'\nrouting = '{routing}'\nwarm_up = '5 us'\nmeasure = '10 us'\ndrain = '20 us'");
        let bytes = reals(&result(torus, &job, &engine), "nodes", "ejected_bytes");
        assert!(bytes.iter().all(|&bytes| bytes > 0.0), "{routing}: {bytes:?}");
    }
}

/// Routers, links and the bandwidth between halves count both planes; nodes count once, and distances belong to one plane.
#[test]
fn a_machine_of_planes_counts_its_nodes_once() {
    let of = |more: &str| {
        let text = format!("[machine]\n{DRAGONFLY}\n{more}\n");
        Experiment::new(&text, "m.toml").machine(1).unwrap().metrics
    };
    let (one, two) = (of(""), of("planes = 2"));
    for (path, factor) in
        [("/nodes", 1.0), ("/nodes_up", 1.0), ("/routers", 2.0), ("/links", 2.0), ("/bisection/bytes_per_s", 2.0)]
    {
        let [one, two] = [&one, &two].map(|found| found.pointer(path).unwrap().as_f64().unwrap());
        assert_eq!(two, factor * one, "{path}");
    }
    for path in
        ["/distances/diameter", "/distances/node_hops_mean", "/distances/unreachable_pairs", "/connectivity/components"]
    {
        assert_eq!(one.pointer(path), two.pointer(path), "{path}");
    }
    assert!(two["checks"].as_array().unwrap().iter().all(|check| check["holds"] == true), "{}", two["checks"]);
    assert_eq!(of("rails = 4")["nodes"], 72);
}

/// A router of plane 1 fails: its two nodes go on over plane 0, all others over both. Without a router in each plane, nodes that have
/// no plane in common can't be of one job.
#[test]
fn a_plane_may_fail_in_part() {
    let job =
        "ranks = 72\nranks_per_node = 1\nplacement = 'compact'\npattern = { name = 'all-to-all', bytes = '32 KiB' }";
    let machine = format!("{DRAGONFLY}\nplanes = 2\nrail_rule = 'stripe'\nedit = ['fail p1g0r0']");
    for engine in ["kind = 'flow'\nrouting = 'min'", "kind = 'packet'\nrouting = 'min'"] {
        let found = result(&machine, job, engine);
        let bytes = reals(&found, "nodes", "ejected_bytes");
        let all = 71.0 * 32.0 * 1024.0;
        assert!((bytes[0] - all).abs() < 1.0 && bytes[72] == 0.0, "{engine}: {} and {}", bytes[0], bytes[72]);
        // From 70 nodes half each, from two whole over plane 0.
        let over_1 = 69.0 * 16.0 * 1024.0;
        assert!((bytes[2] - (all - over_1)).abs() < 1.0 && (bytes[74] - over_1).abs() < 1.0, "{engine}");
    }
    // Open traffic draws no destination that a plane does not reach.
    let open = "ranks = 72\nranks_per_node = 1\npattern = 'uniform'\ntraffic = { name = 'open', load = 0.2 }";
    let found = result(&machine.replace("stripe", "hash"), open, "kind = 'packet'\nmeasure = '5 us'");
    assert_eq!(reals(&found, "nodes", "ejected_bytes")[72..74], [0.0, 0.0]);
    let cut = machine.replace("['fail p1g0r0']", "['fail p1g0r0', 'fail p0g0r1']");
    let found = refused(&cut, job, "kind = 'flow'");
    assert!(found.contains("have no common working rail"), "{found}");
}

/// Two planes of a dragonfly+ with 20 nodes, of which plane 1 is edited.
fn two_planes(edit: &str) -> String {
    format!(
        "topology = 'dragonfly-plus'\np = 2\nleaves = 2\nspines = 2\nh = 2\ng = 5\ncores_per_node = 2\nplanes = 2\n\
         rail_rule = 'round-robin'\nedit = [{edit}]"
    )
}

/// Both cables of the first leaf of plane 1, by number: its two nodes are cut off in that plane.
const CUT: &str = "{ fail_link = '60' }, { fail_link = '61' }";
const MIN: [&str; 2] = ["kind = 'flow'\nrouting = 'min'", "kind = 'packet'\nrouting = 'min'"];

/// NICs at a router that reaches no other one are dead, exactly as if the router had failed: whatever the rail rule, tables
/// have the same bytes, and a warning names plane, router, nodes and count.
#[test]
fn a_cut_off_router_is_a_failed_one() {
    let job =
        "ranks = 20\nranks_per_node = 1\nplacement = 'compact'\npattern = { name = 'all-to-all', bytes = '32 KiB' }";
    for rule in ["affinity", "round-robin", "hash", "stripe"] {
        for engine in MIN {
            let [cut, failed] = [CUT, "{ fail_router = 'p1g0r0' }"]
                .map(|edit| result(&two_planes(edit).replace("round-robin", rule), job, engine));
            assert_eq!(cut.tables, failed.tables, "{rule}, {engine}");
            let bytes = reals(&cut, "nodes", "ejected_bytes");
            let all = 19.0 * 32.0 * 1024.0;
            assert!((bytes[0] - all).abs() < 1.0 && bytes[20] == 0.0, "{rule}, {engine}: {} {}", bytes[0], bytes[20]);
            let sum: f64 = bytes.iter().sum();
            assert!((sum - 20.0 * all).abs() < 1.0, "{rule}, {engine}: {sum}");
        }
    }
    let report = Experiment::new(text(&two_planes(CUT), job, MIN[1]), "run.toml").check().unwrap();
    assert_eq!(
        report.warnings[0],
        "plane 1 is cut in pieces: routers p1g0r0 can't reach the other routers, so they count as failed; dead NICs: 2, \
         of nodes p0g0r0n0, p0g0r0n1, whose traffic takes their other NICs"
    );
}

/// The load of open traffic is a share of a NIC: 2 of 40 are dead, so 5 % are missing, and a warning says it. By affinity the
/// rank of a node with a dead NIC takes the other one, so nothing is missing.
#[test]
fn open_traffic_says_what_dead_nics_take_along() {
    let open = "ranks = 20\nranks_per_node = 1\npattern = 'uniform'\ntraffic = { name = 'open', load = 0.3, injection = 'interval' }";
    let engine = "kind = 'packet'\nrouting = 'min'\nwarm_up = '10 us'\nmeasure = '50 us'";
    let delivered = |edit: &str, rule: &str| {
        let found = result(&two_planes(edit).replace("round-robin", rule), open, engine);
        let warned = found.summary["warnings"].to_string();
        (reals(&found, "nodes", "injected_bytes").iter().sum::<f64>(), warned)
    };
    let (whole, quiet) = delivered("", "round-robin");
    let (cut, warned) = delivered(CUT, "round-robin");
    assert!((cut / whole - 0.95).abs() < 0.01, "{cut} of {whole}");
    assert!(
        warned.contains("job 'a' sends from at most 38 of 40 NICs") && warned.contains("it offers at least 5.0 % less"),
        "{warned}"
    );
    assert!(!quiet.contains("NICs"), "{quiet}");
    let (whole, cut) = (delivered("", "affinity"), delivered("{ fail_router = 'p0g0r0' }", "affinity"));
    assert!((cut.0 / whole.0 - 1.0).abs() < 0.01, "{} of {}", cut.0, whole.0);
    assert!(!cut.1.contains("sends from"), "{}", cut.1);
}

/// Where a node loses all its NICs, no plane joins all nodes: both engines name the plane, the routers and `fail_router`.
#[test]
fn a_machine_cut_in_two_names_plane_and_routers() {
    let torus = |edit: &str| {
        format!("topology = 'torus'\ndims = [4]\nwrap = false\nnodes_per_router = 1\nplanes = 2\nedit = [{edit}]")
    };
    let both = torus("'fail p0x1>p0x2:local.0', 'fail p1x1>p1x2:local.0'");
    for engine in MIN.into_iter().chain(["kind = 'packet'\nrouting = 'ecmp'", "kind = 'flow'\nrouting = 'ecmp'"]) {
        let found = refused(&both, PAIR, engine);
        assert!(found.contains("plane 0") && found.contains("fail_router"), "{engine}: {found}");
        assert!(engine.contains("ecmp") || found.contains("p0x0"), "{engine}: {found}");
    }
    // In one plane, its smaller half is dead, and the other plane joins all.
    let half = torus("'fail p1x1>p1x2:local.0'");
    let all = PAIR.replace("ranks = 2", "ranks = 4");
    MIN.into_iter().for_each(|engine| assert!(try_run(&half, &all, engine, 1).is_ok()));
    // Nodes that have no plane in common can't be of one job.
    let apart = torus("'fail p0x0>p0x1:local.0', 'fail p1x2>p1x3:local.0'");
    let found = refused(&apart, &all, MIN[0]);
    assert!(found.contains("node p0x3n0 and node p0x0n0 have no common working rail"), "{found}");
}

#[test]
fn mistakes_say_what_is_expected() {
    let of = |more: &str| refused(&format!("{DRAGONFLY}\n{more}"), PAIR, "kind = 'flow'");
    assert!(of("rail_rule = 'stripe'").contains("give 'rails' or 'planes'"));
    assert!(of("planes = 2\nrail_routers = 'next'").contains("give 'rails'"));
    assert!(of("planes = 0").contains("'planes'"));
    assert!(of("planes = 65").contains("expected 1 to 64"));
    assert!(of("planes = 16\nrails = 16").contains("at most 64 NICs"));
    assert!(of("rails = 5\nrail_routers = 'next'").contains("group 0 has 4 with nodes"));
    assert!(of("planes = 2\nrail_rule = 'afinity'").contains("afinity"));
    let program = "ranks = 2\nranks_per_node = 1\nprogram = 'ping-pong'";
    let torus = "topology = 'torus'\ndims = [4, 4, 4]\nnodes_per_router = 1\nplanes = 2";
    let engine = "kind = 'packet'\nrouting = 'torus-dynamic'\ninjection = { preset = 'dcmf' }";
    let found = refused(torus, program, engine);
    assert!(found.contains("job 'a' runs a program on nodes with 2"), "{found}");
}

/// The claim of `examples/planes-striped.toml`: one rank on each node uses one plane by affinity; striped it takes half of the time.
#[test]
fn the_example_takes_half_of_the_time_striped() {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/planes-striped.toml"));
    let text = std::fs::read_to_string(path).unwrap();
    let time = |rule: &str| {
        let change = format!("machine.rail_rule=\"{rule}\"");
        let experiment = Experiment::new(&text, path.display().to_string()).with_overrides([change]);
        let found = experiment.run(1, &mut |_, _| true).unwrap();
        reals(&found, "jobs", "completion_time_s")[0]
    };
    let (whole, striped) = (time("affinity"), time("stripe"));
    assert!((striped / whole - 0.5).abs() < 1e-3, "{striped} of {whole}");
}
