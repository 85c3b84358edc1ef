//! `kind = "packet"` from text to tables.

use odonata_experiment::{Experiment, Frame, RunError, RunResult, Values};

/// p = 2, a = 4, h = 2: 9 groups, 72 nodes.
const MACHINE: &str = "[machine]\npreset = \"dragonfly-1056\"\n";

fn attempt(text: &str, threads: usize) -> Result<RunResult, RunError> {
    Experiment::new(text, "run.toml").run(threads, &mut |_, _| true)
}

fn open(routing: &str, more: &str) -> String {
    format!(
        "{MACHINE}[[job]]\nname = \"ur\"\npattern = \"uniform\"\nranks = 1056\nranks_per_node = 1\n\
         traffic = {{ name = \"open\", load = 0.3 }}\n[engine]\nkind = \"packet\"\nrouting = \"{routing}\"\n\
         warm_up = \"2 us\"\nmeasure = \"4 us\"\ndrain = \"20 us\"\n{more}"
    )
}

fn reals<'a>(table: &'a Frame, name: &str) -> &'a [f64] {
    match table.get(name) {
        Some(Values::F64(values)) => values,
        other => panic!("{name}: {other:?}"),
    }
}

fn counts<'a>(table: &'a Frame, name: &str) -> &'a [u64] {
    match table.get(name) {
        Some(Values::U64(values)) => values,
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn an_open_loop_has_latencies_and_the_same_tables_for_any_threads() {
    let text = open("ugal-n", "interval = \"1 us\"\nseries = [\"jobs\", \"links\"]\nrecord_channels = true\nrecord_packets = true\nrecord_paths = true\n");
    let result = attempt(&text, 1).unwrap();
    let jobs = result.tables.get("jobs").unwrap();
    let [accepted, offered] = ["accepted_load", "offered_load"].map(|name| reals(jobs, name)[0]);
    assert_eq!(offered, 0.3);
    assert!((accepted - 0.3).abs() < 0.01, "{accepted}");
    // Idle minimum over no hop is 60.48 ns; the mean minimal path with its global hop is above 300 ns.
    assert!(reals(jobs, "latency_mean_ns")[0] > 300.0);
    assert!(reals(jobs, "latency_p99_ns")[0] <= reals(jobs, "latency_max_ns")[0]);
    let packets = result.tables.get("packets").unwrap().rows() as u64;
    assert_eq!(packets, counts(jobs, "packets")[0]);
    let latency = result.tables.get("latency").unwrap();
    assert_eq!(counts(latency, "packets").iter().sum::<u64>(), 2 * packets, "total and network parts");
    let links = result.tables.get("links").unwrap();
    let channels = result.tables.get("channels").unwrap();
    assert_eq!(counts(links, "packets").iter().sum::<u64>(), counts(channels, "packets").iter().sum::<u64>());
    // Every link was busy, stalled or idle at any time of the 4 us.
    for ((&busy, &stall), &idle) in
        counts(links, "busy_ps").iter().zip(counts(links, "stall_ps")).zip(counts(links, "idle_ps"))
    {
        assert_eq!(busy + stall + idle, 4_000_000);
    }
    assert_eq!(result.summary["packet"]["virtual_channels"], 4);
    assert_eq!(result.summary["complete"], true);
    let again = attempt(&result.resolved, 2).unwrap();
    assert!(again.tables == result.tables, "resolved.toml with two threads gives the same tables");
}

#[test]
fn a_closed_loop_sends_the_bytes_of_its_pattern() {
    let text = format!(
        "{MACHINE}[[job]]\nname = \"a2a\"\npattern = \"all-to-all\"\nranks = 32\nranks_per_node = 1\nbytes = \"3000 B\"\n\
         [engine]\nkind = \"packet\"\nrouting = \"min\"\n"
    );
    let result = attempt(&text, 1).unwrap();
    let jobs = result.tables.get("jobs").unwrap();
    // 32 ranks to 31 others; the group of 32 nodes is compact: of the 31, 3 share the router.
    assert_eq!(reals(jobs, "bytes")[0], 32.0 * 31.0 * 3000.0);
    assert_eq!(reals(jobs, "on_router_bytes")[0], 32.0 * 3.0 * 3000.0);
    let communication = result.tables.get("communication").unwrap();
    assert_eq!(
        (communication.rows(), reals(communication, "bytes").iter().sum::<f64>()),
        (32 * 31, 32.0 * 31.0 * 3000.0)
    );
    // All other pairs are one hop apart.
    let links: f64 = reals(result.tables.get("links").unwrap(), "bytes").iter().sum();
    assert_eq!(links, 32.0 * 28.0 * 3000.0);
    // A node sends 31 x 3000 B over 25 GB/s: 3.72 us at least.
    assert!(reals(jobs, "completion_time_s")[0] >= 3.72e-6);
}

/// Two ranks on each node: what stays on the node makes no hops, in any engine. Under `min` all count the same hops.
#[test]
fn mean_hops_are_of_all_bytes_in_every_engine() {
    let eos = concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/odonata/amg/data/machines/eos.toml");
    let model = format!("kind = \"model\"\nparameters = \"{eos}\"");
    for engine in ["kind = \"flow\"\nrouting = \"min\"", "kind = \"packet\"\nrouting = \"min\"", &model] {
        let text = format!(
            "{MACHINE}cores_per_node = 2\n[[job]]\nname = \"a\"\npattern = \"all-to-all\"\nranks = 64\n[engine]\n{engine}\n"
        );
        let result = attempt(&text, 1).unwrap_or_else(|e| panic!("{engine}: {e:?}"));
        // The 32 nodes of a group, 4 at each router: a rank has 1 other on its node, 6 on its router, 56 one hop away.
        let hops = reals(result.tables.get("jobs").unwrap(), "byte_hops_mean")[0];
        assert!((hops - 56.0 / 63.0).abs() < 1e-9, "{engine}: {hops}");
    }
}

/// Minimal routes of the canonical dragonfly are unique, so both engines put the same bytes on every link.
#[test]
fn both_engines_agree_on_the_bytes_of_every_link_under_min() {
    let text = |engine: &str| {
        format!(
            "{MACHINE}[[job]]\nname = \"s\"\npattern = \"stencil-3d\"\nranks = 216\nranks_per_node = 1\nplacement = \"compact\"\n\
             [engine]\nkind = \"{engine}\"\nrouting = \"min\"\n"
        )
    };
    let links = |engine| {
        let result = attempt(&text(engine), 1).unwrap_or_else(|e| panic!("{engine}: {e:?}"));
        reals(result.tables.get("links").unwrap(), "bytes").to_vec()
    };
    let (packet, flow) = (links("packet"), links("flow"));
    assert!(packet.iter().sum::<f64>() > 0.0);
    for (l, (a, b)) in packet.iter().zip(&flow).enumerate() {
        assert!((a - b).abs() <= 1e-9 * a.max(*b), "link {l}: packet {a}, flow {b}");
    }
}

#[test]
fn mistakes_have_a_place_and_a_reason() {
    let message = |text: &str| match attempt(text, 1) {
        Err(RunError::Problems(problems)) => problems.to_string(),
        other => panic!("{other:?}"),
    };
    // A million messages are not much for a machine, but more than these 120 MB leave for them.
    let all_to_all = format!(
        "{MACHINE}[[job]]\npattern = \"all-to-all\"\nranks = 1056\n\
         [engine]\nkind = \"packet\"\nmemory_limit = \"120 MB\"\n"
    );
    let cases = [
        (open("ugal", ""), "ugal"),
        (open("min", "input_buffer = \"100 B\"\n"), "does not hold one packet"),
        (open("min", "").replace("load = 0.3", "load = 1.5"), "load"),
        (open("min", "").replace("load = 0.3", "load = -0.5"), "load"),
        (open("min", "").replace("load = 0.3", "load = [0.1, 0.2]"), "'load' must be a number from 0 to 1"),
        (open("min", "memory_limit = \"1 MB\"\n"), "the run needs about"),
        (open("min", "").replace("name = \"open\"", "name = \"closed\""), "'load' belongs to traffic 'open'"),
        (open("min", "record_paths = true\n"), "'record_paths' means something only with 'record_packets'"),
        (open("min", "series = [\"links\"]\n"), "'series' means something only with 'interval'"),
        (open("min", "interval = \"1 us\"\nseries = [\"link\"]\n"), "links"),
        (open("min", "").replace("load = 0.3", "step_times = [\"1 us\"]"), "give a load for each time"),
        (all_to_all, "the messages of the jobs alone are too many"),
        (open("valiant-g", "").replace("dragonfly-1056", "eos").replace("1056", "32"), "intermediate group"),
    ];
    for (text, expected) in cases {
        let message = message(&text);
        assert!(message.contains(expected), "{message}");
        assert!(message.contains("run.toml:"), "{message}");
    }
}

/// Where a third group is to be passed `ugal-g` has 5 channels instead of 3: said before the run and after it.
#[test]
fn what_faults_cost_in_channels_is_said() {
    let foreseen = |text: &str| Experiment::new(text, "run.toml").check().unwrap();
    let whole = foreseen(&open("ugal-g", ""));
    assert_eq!((&whole.summary["virtual_channels"], whole.warnings.len()), (&3.into(), 0));
    let text = open("ugal-g", "").replace("\n[[job]]", "\nedit = [\"fail 1% global\"]\n[[job]]");
    let broken = foreseen(&text);
    assert_eq!((&broken.summary["virtual_channels"], broken.warnings.len()), (&5.into(), 1));
    assert!(broken.warnings[0].starts_with("'ugal-g' needs 5 virtual channels at every port of this machine"));
    let result = attempt(&text, 1).unwrap();
    assert_eq!(result.summary["packet"]["virtual_channels"], 5);
    assert_eq!(result.summary["warnings"][0], broken.warnings[0].as_str());
    assert_eq!(result.summary["complete"], true);
}

#[test]
fn an_interrupted_run_keeps_what_it_has_and_says_so() {
    let text = open("min", "");
    let mut calls = 0;
    let result = Experiment::new(&text, "run.toml").run(1, &mut |phase, _| {
        calls += u32::from(phase == "simulating");
        calls < 12
    });
    let result = result.unwrap();
    assert_eq!(result.summary["complete"], false);
    assert!(result.summary["warnings"].to_string().contains("interrupted at"));
    assert!(result.tables.get("jobs").is_some());
}

/// A loop whose rounds differ has a message of its own for each: their walk after the run is long, and stops, too.
#[test]
fn the_end_of_an_interrupted_run_is_short() {
    let folder = std::env::temp_dir().join(format!("odonata-many-messages-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("many.program");
    std::fs::write(&path, "repeat 340000 as i:\n    isend (rank + 1) % ranks  8 B  tag i\n    recv (rank + 3) % ranks  8 B  tag i\n    waitall\n").unwrap();
    let text = format!(
        "[machine]\ntopology = \"dragonfly\"\np = 1\na = 2\nh = 1\ng = 3\n\n[[job]]\nname = \"a\"\nranks = 4\nranks_per_node = 1\n\
         program = {{ name = \"file\", path = \"{}\" }}\n\n[engine]\nkind = \"packet\"\nrouting = \"min\"\n",
        path.display()
    );
    let mut storing = 0;
    let result = Experiment::new(&text, "run.toml").run(1, &mut |phase, _| {
        storing += u32::from(phase == "storing");
        phase == "building"
    });
    let result = result.unwrap();
    assert_eq!(storing, 1);
    assert!(result.summary["warnings"].to_string().contains("the table 'communication' is left out"));
    assert_eq!(result.tables.get("communication").map(|table| table.rows()), Some(0));
    assert!(result.tables.get("ranks").is_some());
    std::fs::remove_dir_all(&folder).unwrap();
}

/// What one run has learnt another starts from; files that do not fit are refused with the place.
#[test]
fn learnt_tables_go_from_run_to_run() {
    let more = "interval = \"1 us\"\nrecord_q_tables = true\n";
    let cold = attempt(&open("q-adaptive", more), 1).unwrap();
    let table = cold.tables.get("q_tables").unwrap();
    let ids = |name: &str| match table.get(name) {
        Some(Values::U32(values)) => values.clone(),
        other => panic!("{name}: {other:?}"),
    };
    let (routers, rows, links, times) = (ids("router"), ids("row"), ids("link"), reals(table, "estimate_ns"));
    // 264 routers, 32 other groups times 4 slots, 11 links.
    assert_eq!(times.len(), 264 * 128 * 11);
    let mut csv = String::from("link,router,row,estimate_ns\n");
    for i in 0..times.len() {
        csv += &format!("{},{},{},{}\n", links[i], routers[i], rows[i], times[i]);
    }
    let folder = std::env::temp_dir().join(format!("odonata-q-tables-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let from = |path: &str| {
        let routing = format!("routing = {{ name = \"q-adaptive\", q_tables = \"{path}\" }}");
        open("q-adaptive", more).replace("routing = \"q-adaptive\"", &routing)
    };
    let warm = attempt(&from(&write("good.csv", &csv)), 1).unwrap();
    let error = |result: &RunResult| reals(result.tables.get("learning_series").unwrap(), "error_mean_ns")[1];
    assert!(error(&warm) < error(&cold), "{} against {}", error(&warm), error(&cold));
    assert!(counts(cold.tables.get("learning_series").unwrap(), "updates").iter().sum::<u64>() > 10_000);

    let problem = |path: &str| format!("{:?}", attempt(&from(path), 1).unwrap_err());
    let short: String = csv.lines().take(1_000).map(|line| format!("{line}\n")).collect();
    let cases = [
        (write("short.csv", &short), "values of router 0 are missing"),
        (write("header.csv", "a,b\n1,2\n"), "header.csv:1: no column 'router'"),
        (write("word.csv", "router,row,link,estimate_ns\n0,0,x,1\n"), "word.csv:2: 'x' in column 'link'"),
        (write("other.csv", "router,row,link,estimate_ns\n0,500,0,1\n"), "another machine"),
        ("nowhere.csv".to_owned(), "can't read"),
    ];
    for (path, expected) in cases {
        let message = problem(&path);
        assert!(message.contains("q_tables") && message.contains(expected), "{message}");
    }
    let message = format!("{:?}", attempt(&open("min", "record_q_tables = true\n"), 1).unwrap_err());
    assert!(message.contains("'record_q_tables' means something only with routing"), "{message}");
    std::fs::remove_dir_all(&folder).unwrap();
}

/// 15 of 16 nodes send to one at full load. The run names the port that is the root of the congestion, and its load.
#[test]
fn an_incast_is_reported_with_its_root() {
    let text = |hot: &str| {
        format!(
            "{MACHINE}[[job]]\nname = \"incast\"\npattern = {{ name = \"{hot}\" }}\nranks = 16\nranks_per_node = 1\n\
             placement = \"compact\"\ntraffic = {{ name = \"open\", load = 1.0, injection = \"paced\" }}\n\
             [engine]\nkind = \"packet\"\nrouting = \"min\"\nwarm_up = \"5 us\"\nmeasure = \"10 us\"\ndrain = \"1 us\"\n"
        )
    };
    let result = attempt(&text("hotspot\", share = 1.0, hot_ranks = 1, messages = 4, bytes = \"1 kB"), 1).unwrap();
    let ports = result.summary["packet"]["overloaded_ports"].as_array().unwrap();
    assert_eq!(ports.len(), 1, "{ports:?}");
    assert_eq!(ports[0]["node"], 0);
    // Fifteen senders, and the root itself sends to another node.
    assert_eq!(ports[0]["offered_load"], 15.0);
    // From the second packet on until the end, 16 us.
    let [start, length] = ["start_ps", "length_ps"].map(|key| ports[0][key].as_u64().unwrap());
    assert!(start < 1_000_000 && start + length == 16_000_000, "{start} {length}");
    let root = "the ejection port of node g0r0n0 is offered 15 times what it takes. It has a backlog of ";
    assert_eq!(
        result.summary["warnings"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|warning| warning.as_str().unwrap().starts_with(root))
            .count(),
        1,
        "{:?}",
        result.summary["warnings"]
    );
    let even = attempt(&text("random-permutation"), 1).unwrap();
    assert_eq!(even.summary["packet"]["overloaded_ports"], serde_json::json!([]));
}

/// Half of a packet of 256 B on the wires is message: below saturation the network accepts what is offered, as a share of
/// what messages can have of the bandwidth.
#[test]
fn accepted_load_counts_the_overhead_on_wires() {
    for overhead in ["0 B", "64 B", "512 B"] {
        let text = open("min", &format!("wire_overhead = '{overhead}'\n")).replace("load = 0.3", "load = 0.1");
        let result = attempt(&text.replace("measure = \"4 us\"", "measure = \"20 us\""), 1).unwrap();
        let jobs = result.tables.get("jobs").unwrap();
        let accepted = reals(jobs, "accepted_load")[0];
        // 1,056 nodes bring about 5,000 packets in this time: 1.4 % are one deviation.
        assert!((accepted - 0.1).abs() < 0.005, "{overhead}: {accepted}");
    }
}

/// Node 8 alone sends 1 MB to node 0: the port is busy for 40 us, and nobody waits. Three nodes of other routers that do
/// so fill the buffers of the last router, and the links to it stall.
#[test]
fn a_busy_port_is_a_root_only_if_others_stall() {
    let ports = |senders: &[u32]| {
        let path = std::env::temp_dir().join(format!("odonata-burst-{}-{}.csv", std::process::id(), senders.len()));
        let rows: String = senders.iter().map(|rank| format!("{rank},0,1000000\n")).collect();
        std::fs::write(&path, format!("src,dst,bytes\n{rows}")).unwrap();
        let text = format!(
            "{MACHINE}[[job]]\npattern = {{ name = \"file\", path = \"{}\" }}\nranks = 16\nranks_per_node = 1\n\
             placement = \"compact\"\n[engine]\nkind = \"packet\"\nrouting = \"min\"\n",
            path.display()
        );
        let result = attempt(&text, 1).unwrap();
        std::fs::remove_file(&path).unwrap();
        result.summary["packet"]["overloaded_ports"].as_array().unwrap().clone()
    };
    assert!(ports(&[8]).is_empty(), "a single sender");
    let several = ports(&[6, 8, 10]);
    assert_eq!(several.len(), 1);
    assert_eq!(several[0]["node"], 0);
    assert!(several[0]["length_ps"].as_u64().unwrap() > 100_000_000);
}

/// Steps of an all-reduce leave backlogs at more than a tenth of the ports. The incast's backlog is far longer.
#[test]
fn an_incast_is_reported_next_to_collectives() {
    let job = |name: &str, ranks: u32, program: &str| {
        format!(
            "[[job]]\nname = \"{name}\"\nranks = {ranks}\nranks_per_node = 1\nplacement = \"random-nodes\"\n\
             program = {{ {program}, iterations = 2 }}\n"
        )
    };
    let text = format!(
        "[machine]\ntopology = \"fat-tree\"\nk = 6\n{}{}[engine]\nkind = \"packet\"\n",
        job("storage", 21, "name = \"incast\", receivers = 1, bytes = \"512 KiB\""),
        job("llm", 20, "name = \"allreduce\", bytes = \"2 MiB\"")
    );
    let result = attempt(&text, 1).unwrap();
    let ports = result.summary["packet"]["overloaded_ports"].as_array().unwrap().clone();
    assert_eq!(ports.len(), 1, "{ports:?}");
    assert!(ports[0]["length_ps"].as_u64().unwrap() > 300_000_000, "{ports:?}");
}
