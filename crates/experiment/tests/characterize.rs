//! Characteristics of jobs: Table I of the interference study (Kang et al. 2022) from experiment files.

use odonata_experiment::{Character, Experiment, Values};

fn of(job: &str, engine: &str) -> Character {
    let text = format!(
        "[machine]\npreset = \"dragonfly-1056\"\n\n[[job]]\nname = \"a\"\nranks_per_node = 1\n{job}\n\n\
         [mpi]\npreset = \"study\"\nhost = \"study\"\n\n[engine]\nkind = \"{engine}\"\n"
    );
    let mut jobs = Experiment::new(text, "x.toml").characterize().unwrap();
    assert_eq!(jobs.len(), 1);
    jobs.remove(0)
}

/// Volume in MB and peak ingress volume in bytes as the table has them, for the applications whose walk is short.
#[test]
fn table_one() {
    for (program, ranks, wire, peak) in [
        ("\"lu\"", 528, "13713.22", 30_000),
        ("\"halo-3d\"", 528, "47769.10", 1_152_000),
        ("\"lqcd\"", 528, "11924.31", 4_599_936),
        ("\"stencil-nd\"", 528, "9833.95", 14_000_000),
        ("\"allreduce\"", 528, "2373.84", 2_252_000),
        (
            "{ name = \"allreduce\", bytes = \"1152 kB\", compute = \"0 ns\", iterations = 8 }",
            528,
            "9714.44",
            2_304_000,
        ),
    ] {
        let found = of(&format!("ranks = {ranks}\nprogram = {program}"), "packet");
        assert_eq!(
            (format!("{:.2}", found.wire_bytes as f64 / 1e6).as_str(), found.peak_ingress_bytes),
            (wire, peak),
            "{program}"
        );
    }
}

/// CosmoFlow: two sums of 2 x 527 messages each, and a barrier of as many; twice 5.16 ms and the 350 us before.
#[test]
fn every_column() {
    let found = of("ranks = 528\nprogram = \"allreduce\"", "packet");
    assert_eq!((found.name.as_str(), found.what.as_str(), found.ranks), ("a", "allreduce", 528));
    assert_eq!((found.messages, found.zero_byte_messages), (2 * 1_054, 1_054));
    assert_eq!(found.payload_bytes, 2 * 1_054 * 1_126_000);
    assert_eq!(found.packets, Some(4_643_924 + 1_054));
    assert_eq!(found.compute.ps(), 2 * 5_160_000_000);
    // The flow engine has no packets, and the same bytes.
    let flow = of("ranks = 528\nprogram = \"allreduce\"", "flow");
    assert_eq!((flow.packets, flow.wire_bytes), (None, found.wire_bytes));
}

/// 24 ranks that send 1,000 B to each of the 23 others at once, in packets of 512 B.
#[test]
fn of_patterns() {
    let found = of("ranks = 24\npattern = \"all-to-all\"\nbytes = \"1 kB\"", "packet");
    assert_eq!((found.messages, found.payload_bytes, found.wire_bytes), (24 * 23, 24 * 23_000, 24 * 23_000));
    assert_eq!((found.packets, found.peak_ingress_bytes), (Some(24 * 23 * 2), 23_000));
    let open = of("ranks = 24\npattern = \"uniform\"\ntraffic = { name = \"open\", load = 0.5 }", "packet");
    assert_eq!((open.messages, open.packets, open.peak_ingress_bytes), (0, Some(0), 0));
}

/// All times of what is repeated; once what goes on for as long as others do.
#[test]
fn repeated_and_in_the_background() {
    let program = "ranks = 64\nprogram = { name = \"lu\", iterations = 2 }";
    let once = of(program, "packet");
    let thrice = of(&format!("{program}\nrepeat = 3"), "packet");
    assert!(once.messages > 0 && once.compute.ps() > 0);
    assert_eq!(
        (thrice.messages, thrice.zero_byte_messages, thrice.packets, thrice.payload_bytes, thrice.wire_bytes),
        (
            3 * once.messages,
            3 * once.zero_byte_messages,
            once.packets.map(|packets| 3 * packets),
            3 * once.payload_bytes,
            3 * once.wire_bytes
        )
    );
    assert_eq!((thrice.compute, thrice.peak_ingress_bytes), (once.compute * 3, once.peak_ingress_bytes));
    let text = format!(
        "[machine]\npreset = \"dragonfly-1056\"\n[[job]]\nname = \"a\"\n{program}\nbackground = true\n\
         [[job]]\nname = \"b\"\nranks = 2\npattern = \"all-to-all\"\n[mpi]\npreset = \"study\"\nhost = \"study\"\n[engine]\nkind = \"packet\"\n"
    );
    let endless = Experiment::new(text, "x.toml").characterize().unwrap();
    assert_eq!(endless[0], once);
}

/// What `check` says of the messages is what a run sends, with all times of what is repeated.
#[test]
fn check_counts_the_messages_that_a_run_sends() {
    let jobs = [
        "ranks = 8\nprogram = { name = \"lu\", iterations = 2 }\nrepeat = 3",
        "ranks = 2\nprogram = { name = \"ping-pong\", iterations = 4 }",
        "ranks = 12\nprogram = { name = \"allreduce\", iterations = 2 }\nrepeat = 2",
        "ranks = 8\npattern = { name = \"stencil-3d\", iterations = 5 }",
        "ranks = 8\npattern = { name = \"many-to-many\", iterations = 5 }",
    ];
    for job in jobs {
        let text = format!(
            "[machine]\npreset = \"dragonfly-1056\"\n[[job]]\nname = \"a\"\n{job}\n[engine]\nkind = \"packet\"\n"
        );
        let checked = Experiment::new(&text, "x.toml").check().unwrap().summary["jobs"][0].clone();
        let run = Experiment::new(&text, "x.toml").run(1, &mut |_, _| true).unwrap();
        let sent = |column: &str| match run.tables.get("jobs").unwrap().get(column) {
            Some(Values::U64(values)) => values[0] as f64,
            Some(Values::F64(values)) => values[0],
            other => panic!("{column}: {other:?}"),
        };
        assert_eq!(checked["messages"].as_f64(), Some(sent("messages")), "{job}");
        assert_eq!(checked["bytes"].as_f64(), Some(sent("bytes")), "{job}");
    }
}
