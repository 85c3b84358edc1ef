//! Ping-pong with the default costs of hosts, compared with published results of the OSU micro-benchmarks. The tables of
//! `docs/models/mpi.md` name the sources.

use odonata_experiment::{Experiment, Values};

/// Half of a round trip in us, as `osu_latency` gives it. Between nodes, head latency is 150 ns: two cables and a switch.
fn latency_us(bytes: u64, bandwidth: &str, per_node: u32) -> f64 {
    const ROUNDS: u32 = 20;
    let text = format!(
        "format = 3\n[machine]\ntopology = 'torus'\ndims = [2]\nwrap = false\ncores_per_node = 2\n\
         class.local = {{ bandwidth = '{bandwidth}', latency = '110 ns' }}\n\
         class.terminal = {{ bandwidth = '{bandwidth}', latency = '20 ns' }}\n\
         [[job]]\nranks = 2\nranks_per_node = {per_node}\n\
         program = {{ name = 'ping-pong', bytes = '{bytes} B', iterations = {ROUNDS}, final_barrier = false }}\n\
         [engine]\nkind = 'packet'\nrouting = 'min'\npacket = '4 KiB'\n"
    );
    let result =
        Experiment::new(&text, "osu.toml").run(1, &mut |_, _| true).unwrap_or_else(|error| panic!("{error:?}"));
    let Some(Values::U64(ends)) = result.tables.get("ranks").and_then(|ranks| ranks.get("end_ps")) else {
        panic!("a program has ranks")
    };
    // The rank that began the last round ends it.
    ends.iter().copied().max().expect("two ranks") as f64 / 1e6 / f64::from(2 * ROUNDS)
}

#[track_caller]
fn near(found: f64, published: f64, tolerance: f64, what: &str) {
    let off = found / published - 1.0;
    assert!(off.abs() <= tolerance, "{what}: {found:.3} us, published {published} us: {:+.0} %", 100.0 * off);
}

/// Small messages between nodes: a cluster with 100 Gb/s InfiniBand (Open MPI), Azure HBv3 (200 Gb/s InfiniBand) and
/// Trinity (Cray Aries, Open MPI). The spread of the measurements is larger than the tolerance of each.
#[test]
fn small_messages_between_nodes() {
    near(latency_us(8, "100 Gb/s", 1), 0.90, 0.25, "8 B, InfiniBand 100 Gb/s");
    near(latency_us(1, "200 Gb/s", 1), 1.2, 0.25, "1 B, InfiniBand 200 Gb/s");
    near(latency_us(8, "78 Gb/s", 1), 1.20, 0.25, "8 B, Aries");
    near(latency_us(1_024, "100 Gb/s", 1), 1.67, 0.25, "1 KiB, InfiniBand 100 Gb/s");
    near(latency_us(1_024, "78 Gb/s", 1), 1.49, 0.25, "1 KiB, Aries");
    near(latency_us(4_096, "78 Gb/s", 1), 2.42, 0.25, "4 KiB, Aries");
}

/// Large messages take the bandwidth of the link. 78 Gb/s is what Trinity's 4 MiB take, 4,194,304 B / 435.60 us.
#[test]
fn large_messages_between_nodes() {
    near(latency_us(1 << 20, "78 Gb/s", 1), 114.59, 0.1, "1 MiB, Aries");
    near(latency_us(4 << 20, "78 Gb/s", 1), 435.60, 0.1, "4 MiB, Aries");
}

/// Between ranks of a node: shared memory of libfabric's provider sm2, and Open MPI's vader.
#[test]
fn messages_within_a_node() {
    near(latency_us(8, "100 Gb/s", 2), 0.24, 0.25, "8 B, sm2");
    near(latency_us(8, "100 Gb/s", 2), 0.28, 0.25, "8 B, vader");
    near(latency_us(1_024, "100 Gb/s", 2), 0.31, 0.25, "1 KiB, sm2");
    near(latency_us(4_096, "100 Gb/s", 2), 0.66, 0.25, "4 KiB, sm2");
    // 11,800 MiB/s is the bandwidth that UCX expects of a copy between processes.
    let copied = (16u64 << 20) as f64 / latency_us(16 << 20, "100 Gb/s", 2);
    near(copied, 11_800.0 * 1.048_576, 0.15, "MB/s of a copy between ranks");
}
