//! Rank programs on nodes with several NICs: closed forms, flow against packets, order, threads.

use odonata_experiment::{Experiment, RunResult, Values};

/// 72 nodes: 9 groups of 4 routers with 2 nodes each.
const DRAGONFLY: &str = "topology = 'dragonfly'\np = 2\na = 4\nh = 2\ng = 9\ncores_per_node = 4";
const RULES: [&str; 4] = ["affinity", "round-robin", "hash", "stripe"];

fn try_run(machine: &str, job: &str, more: &str, threads: usize) -> Result<RunResult, String> {
    let text = format!("format = 3\n[machine]\n{machine}\n[[job]]\nname = 'a'\n{job}\n{more}\n");
    Experiment::new(&text, "run.toml").run(threads, &mut |_, _| true).map_err(|error| format!("{error:?}"))
}

#[track_caller]
fn result(machine: &str, job: &str, more: &str) -> RunResult {
    try_run(machine, job, more, 2).unwrap_or_else(|error| panic!("{machine}: {error}"))
}

#[track_caller]
fn reals(result: &RunResult, table: &str, column: &str) -> Vec<f64> {
    match result.tables.get(table).and_then(|table| table.get(column)) {
        Some(Values::F64(values)) => values.clone(),
        Some(Values::U64(values)) => values.iter().map(|&value| value as f64).collect(),
        Some(Values::U32(values)) => values.iter().map(|&value| f64::from(value)).collect(),
        other => panic!("{table}.{column}: {other:?}"),
    }
}

/// A rendezvous message between nodes of neighbouring routers takes B / C over one NIC and B / (k C) striped over k. The protocol and
/// the latency of the path take the same time in all cases.
#[test]
fn a_rendezvous_message_takes_a_kth_of_the_time_over_k_planes() {
    let ring = "topology = 'torus'\ndims = [8]\nclass.local.bandwidth = '2 GB/s'\nclass.terminal.bandwidth = '20 GB/s'";
    let job = "ranks = 2\nranks_per_node = 1\nplacement = 'compact'\n\
               program = { name = 'ping-pong', bytes = '8 MiB', iterations = 1, final_barrier = false }";
    let time = |more: &str| {
        reals(
            &result(&format!("{ring}\n{more}"), job, "[engine]\nkind = 'packet'\nrouting = 'min'"),
            "jobs",
            "completion_time_s",
        )[0]
    };
    let one = time("");
    let bytes_over_bandwidth = 2.0 * f64::from(8 << 20) / 2e9;
    let before_and_after = one - bytes_over_bandwidth;
    assert!((0.0..100e-6).contains(&before_and_after), "{one}: pages are registered");
    for (more, parts) in [
        ("planes = 2\nrail_rule = 'affinity'", 1.0),
        ("planes = 2\nrail_rule = 'hash'", 1.0),
        ("planes = 2\nrail_rule = 'stripe'", 2.0),
        ("planes = 4\nrail_rule = 'stripe'", 4.0),
        ("planes = 2\nrails = 2\nrail_routers = 'next'\nrail_rule = 'stripe'", 4.0),
    ] {
        let expected = bytes_over_bandwidth / parts + before_and_after;
        let found = time(more);
        assert!((found - expected).abs() <= 0.01 * expected, "{more}: {found} for {expected}");
    }
}

/// Without overhead, each NIC sends and receives the bytes that the flow engine computes.
#[test]
fn packets_take_the_nics_that_flows_take() {
    let no_overhead = "[mpi]\neager_overhead = '0 B'\neager_limit = '1 GiB'";
    let programs = [
        "{ name = 'stencil-nd', bytes = '60 kB', iterations = 2 }",
        "{ name = 'allreduce', iterations = 2, bytes = '100 kB' }",
        "{ name = 'all-to-all', bytes = '20 KiB' }",
    ];
    for program in programs {
        let job = format!("ranks = 72\nranks_per_node = 4\nplacement = 'compact'\nprogram = {program}");
        for rule in RULES {
            for more in ["planes = 2", "rails = 3\nrail_routers = 'next'", "planes = 2\nrails = 2"] {
                let machine = format!("{DRAGONFLY}\n{more}\nrail_rule = '{rule}'");
                let on = |kind: &str| {
                    result(&machine, &job, &format!("{no_overhead}\n[engine]\nkind = '{kind}'\nrouting = 'min'"))
                };
                let (flow, packet) = (on("flow"), on("packet"));
                for column in ["injected_bytes", "ejected_bytes"] {
                    let [a, b] = [&flow, &packet].map(|found| reals(found, "nodes", column));
                    for end in 0..a.len() {
                        // Packets are whole flits of 128 B, also the packets of the barrier at the end.
                        let (least, most) = (a[end] - 1.0, a[end] * 1.02 + 2_048.0);
                        assert!(
                            (least..=most).contains(&b[end]),
                            "{program}, {more}, {rule}: {column} of {end}: {} and {}",
                            a[end],
                            b[end]
                        );
                    }
                }
            }
        }
    }
}

/// MPI matches messages of one rank to another in the order in which they were sent, whatever they overtake in the network. With the sizes
/// that these receives have, a message out of order is an error.
#[test]
fn messages_do_not_overtake_on_several_rails() {
    let sizes = ["1 MiB", "0 B", "64 B", "40 KiB", "8 KiB", "256 KiB", "1 B", "100 KiB", "20 KiB"];
    let mut text = String::from("repeat 3 as i:\n    if (rank % 2 == 0):\n");
    for size in sizes {
        text += &format!("        isend (rank + 1) {size}\n");
    }
    text += "    else:\n";
    for size in sizes {
        text += &format!("        irecv (rank - 1) {size}\n");
    }
    text += "    waitall\n";
    let folder = std::env::temp_dir().join(format!("odonata-rails-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("order.program");
    std::fs::write(&path, text).unwrap();
    let job = format!(
        "ranks = 72\nranks_per_node = 1\nplacement = 'random-nodes'\nprogram = {{ name = 'file', path = '{}', final_barrier = false }}",
        path.display()
    );
    for rule in RULES {
        for (eager, from) in [("12 kB", "4 KiB"), ("0 B", "4 KiB"), ("1 GiB", "0 B")] {
            let machine = format!("{DRAGONFLY}\nplanes = 2\nrails = 2\nrail_rule = '{rule}'\nstripe_from = '{from}'");
            let more = format!(
                "[mpi]\neager_limit = '{eager}'\n[engine]\nkind = 'packet'\nrouting = 'par'\nrecord_messages = true"
            );
            let found = result(&machine, &job, &more);
            assert!(found.summary["complete"] == true, "{rule}, {eager}");
            let sent: f64 = reals(&found, "nodes", "injected_bytes").iter().sum();
            assert!(sent > 36.0 * 3.0 * 1.4e6, "{rule}, {eager}: messages leave their nodes, {sent} B of them");
            let [source, target, number, posted, started, arrived, matched] =
                ["source", "destination", "number", "created_ps", "injected_ps", "delivered_ps", "matched_ps"]
                    .map(|column| reals(&found, "messages", column));
            assert_eq!(source.len(), 36 * sizes.len() * 3, "{rule}, {eager}: every message is received");
            for m in 0..source.len() {
                assert!(posted[m] <= started[m] && started[m] < arrived[m], "{rule}, {eager}: message {m}");
                if m > 0 && (source[m], target[m]) == (source[m - 1], target[m - 1]) {
                    assert_eq!(number[m], number[m - 1] + 1.0);
                    assert!(matched[m] >= matched[m - 1], "{rule}, {eager}: message {m} overtook");
                }
            }
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// The same tables for any number of threads, with a fault that leaves nodes fewer rails, and open traffic.
#[test]
fn programs_on_rails_do_not_depend_on_threads() {
    let job = "ranks = 96\nranks_per_node = 4\nprogram = { name = 'stencil-nd', bytes = '40 kB', iterations = 2 }\n\
               [[job]]\nname = 'noise'\nranks = 24\nranks_per_node = 1\npattern = 'uniform'\ntraffic = { name = 'open', load = 0.1 }";
    for rule in RULES {
        let machine = format!(
            "{DRAGONFLY}\nplanes = 2\nrails = 2\nrail_routers = 'next'\nrail_rule = '{rule}'\nedit = ['fail p1g0r0']"
        );
        let engine = "[engine]\nkind = 'packet'\nrouting = 'ugal-n'\nrecord_messages = true";
        let [one, three] = [1, 3].map(|threads| try_run(&machine, job, engine, threads).unwrap());
        assert!(one.summary["complete"] == true, "{rule}");
        for (table, column) in
            [("links", "bytes"), ("ranks", "end_ps"), ("messages", "matched_ps"), ("nodes", "ejected_bytes")]
        {
            let same = reals(&one, table, column) == reals(&three, table, column);
            assert!(same, "{rule}: {table}.{column} is the same for 1 and 3 threads");
        }
        let failed = reals(&one, "nodes", "ejected_bytes");
        // Node 0 has its third NIC at the router that failed.
        assert_eq!(failed[2 * 72], 0.0, "{rule}");
        assert!(failed[0] > 0.0, "{rule}");
    }
}

/// A ring of nodes with eight NICs of 200 Gb/s: by default its large messages use all of them. Each node sends
/// 2 (p - 1)/p n bytes; headers and the protocol of each round take the rest.
#[test]
fn a_ring_uses_all_eight_nics_by_default() {
    let machine = "topology = 'torus'\ndims = [4]\nnodes_per_router = 1\nplanes = 8\n\
                   class.terminal.bandwidth = '200 Gb/s'\nclass.local.bandwidth = '200 Gb/s'";
    let job = |program: &str| format!("ranks = 4\nranks_per_node = 1\nplacement = 'compact'\nprogram = {program}");
    let program = "{ name = 'allreduce', bytes = '64 MiB', iterations = 1, compute = '0 ns', final_barrier = false }";
    let bytes_per_s = |more: &str| {
        let more = format!("{more}[mpi]\nallreduce = 'ring'\n[engine]\nkind = 'packet'\npacket = '4 KiB'");
        let result = result(machine, &job(program), &more);
        2.0 * 3.0 / 4.0 * f64::from(64 << 20) / reals(&result, "jobs", "completion_time_s")[0]
    };
    let bus = bytes_per_s("");
    assert!((185e9..200e9).contains(&bus), "{bus}");
}

/// A ring of four ranks on each node leaves the node by the NIC of its last rank only; `check` says so.
#[test]
fn a_busy_nic_is_named() {
    let warnings = |rule: &str| {
        let text = format!(
            "format = 3\n[machine]\n{DRAGONFLY}\nrails = 4\n{rule}\n[[job]]\nname = 'llm'\nranks = 32\n\
             ranks_per_node = 4\nplacement = 'compact'\nprogram = 'ring'\n[engine]\nkind = 'packet'\nrouting = 'min'\n"
        );
        Experiment::new(&text, "run.toml").check().unwrap().warnings
    };
    let warned = warnings("rail_rule = 'affinity'");
    assert!(
        warned.iter().any(|warning| warning.starts_with("job 'llm': NIC 3 of 4 carries ")
            && warning.contains("rail_rule = \"affinity\"")),
        "{warned:?}"
    );
    assert!(warnings("").iter().all(|warning| !warning.contains("NIC")));
}
