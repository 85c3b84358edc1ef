//! The keys of the packet engine.

use crate::key::{Key, Kind};
use odonata_declare::Value;
use odonata_packet::PacketSettings;
use odonata_routing::algorithm::{RoutingSettings, ALGORITHMS};
use odonata_units::Time;

/// The word for a switched-off number.
pub(super) const OFF: &str = "off";
/// The word for the memory that the system has left.
pub(super) const AVAILABLE: &str = "available";

/// The time series.
pub(super) const SERIES: [(&str, &str); 4] = [
    ("jobs", "table `series`: bytes, packets, latency, share of non-minimal packets of every job"),
    ("links", "table `link_series`: bytes, packets, busy and stall time, peak occupancy of every link"),
    (
        "channels",
        "table `channel_series`: bytes, packets, stall time, peak occupancy of every virtual channel of every link",
    ),
    ("link-jobs", "table `link_job_series`: bytes of every job on every link"),
];

const SHARE: Kind = Kind::Number { min: 0.0, max: 1.0 };

pub(super) fn keys() -> Vec<Key> {
    let mut keys = router_keys();
    keys.extend(routing_keys());
    keys.extend(traffic_keys());
    keys.extend(record_keys());
    keys
}

fn router_keys() -> Vec<Key> {
    let s = PacketSettings::study();
    let bytes = |name, value, doc| Key::with_default(name, Kind::Bytes, Value::Bytes(value), doc);
    let time = |name, value, doc| Key::with_default(name, Kind::Time, Value::Time(value), doc);
    vec![
        Key::with_default(
            "preset",
            Kind::choice(&[
                ("study", "512 B packets of 4 flits, 30 packets per virtual channel, crossbar 4 times a link"),
                ("predecessor", "128 B packets of 1 flit, 20 packets per virtual channel, crossbar 10 times a link"),
                ("ideal-cycle", "4-flit packets of 1 B flits, 256-flit buffers: for links of 1 GB/s, a flit per ns"),
            ]),
            Value::text("study"),
            "Where the values of the router keys below come from when they are not given; their defaults here are those of \
             `study`.",
        ),
        bytes("packet", s.packet, "Size of a full packet."),
        bytes("flit", s.flit, "Size of a flit."),
        bytes("input_buffer", s.input_buffer, "Input buffer of each port and virtual channel."),
        bytes("output_buffer", s.output_buffer, "Output buffer of each port and virtual channel."),
        Key::with_default(
            "crossbar_speedup",
            Kind::Number { min: 1.0, max: 1e6 },
            Value::Number(s.crossbar_speedup),
            "Bandwidth of the crossbar as a multiple of the router's fastest link.",
        ),
        time("input_latency", s.input_latency, "Pipeline latency from the arrival at a router to its input queue."),
        time("output_latency", s.output_latency, "Pipeline latency from the output queue to the link."),
        Key::with_default(
            "arbitration",
            Kind::choice(&[
                ("least-recently-used", "the input that the output served longest ago"),
                ("round-robin", "the next input after the one served last"),
            ]),
            Value::text("least-recently-used"),
            "How a crossbar output chooses among inputs.",
        ),
    ]
}

fn routing_keys() -> Vec<Key> {
    let RoutingSettings { adaptive, q } = RoutingSettings::default();
    let names: Vec<(&'static str, &'static str)> = ALGORITHMS.iter().map(|a| (a.0, a.1)).collect();
    let candidates = || Kind::Integer { min: 1, max: 16 };
    let share = |name, value: f64, doc| Key::with_default(name, SHARE, Value::Number(value), doc);
    vec![
        Key::with_default("routing", Kind::choice(&names), Value::text("min"), "The routing algorithm."),
        Key::with_default(
            "estimate",
            Kind::choice(&[
                ("output", "the local output buffer"),
                (
                    "downstream",
                    "and all credits in use: packets on the link, in the next buffer, and credits on their way back",
                ),
                ("downstream-arrived", "the same without packets on the link"),
            ]),
            Value::text("downstream"),
            "What `ugal-g`, `ugal-n` and `par` count as queued for a port.",
        ),
        Key::with_default(
            "threshold",
            Kind::Number { min: 1e-6, max: 1e6 },
            Value::Number(adaptive.threshold),
            "`ugal-g`, `ugal-n`, `par`: a packet goes non-minimal iff q(minimal) > threshold * q(non-minimal) + bias.",
        ),
        Key::with_default(
            "bias",
            Kind::Bytes,
            Value::Bytes(adaptive.bias),
            "`ugal-g`, `ugal-n`, `par`: see `threshold`.",
        ),
        Key::with_default(
            "minimal_candidates",
            candidates(),
            Value::Integer(adaptive.minimal_candidates.into()),
            "`ugal-g`, `ugal-n`, `par`: minimal ports drawn; the shortest queue stands for them.",
        ),
        Key::with_default(
            "non_minimal_candidates",
            candidates(),
            Value::Integer(adaptive.non_minimal_candidates.into()),
            "`ugal-g`, `ugal-n`, `par`: non-minimal ways drawn; the shortest queue stands for them.",
        ),
        Key::optional(
            "q_tables",
            Kind::Path,
            "estimates of an idle machine",
            "`q-adaptive`: a file of learnt estimates to start from, `q_tables.parquet` of another run or a CSV file with its \
             columns.",
        ),
        share("gain", 0.2, "`q-adaptive`: learning rate of an estimate that falls (alpha)."),
        share("loss", 0.04, "`q-adaptive`: learning rate of an estimate that rises (beta)."),
        share("exploration", q.exploration, "`q-adaptive`: probability of a random port (epsilon)."),
        share("threshold_source", 0.2, "`q-adaptive`: share that a detour from the source router must save."),
        share("threshold_middle", 0.35, "`q-adaptive`: share that a detour inside the middle group must save."),
    ]
}

fn traffic_keys() -> Vec<Key> {
    let one_or_list = |kind: Kind| Kind::Any(vec![kind.clone(), Kind::List(Box::new(kind))]);
    let time = |name, us, doc| Key::with_default(name, Kind::Time, Value::Time(Time::from_us(us)), doc);
    vec![
        Key::with_default(
            "traffic",
            Kind::choice(&[
                ("closed", "every rank sends the messages of its pattern as fast as the network takes them"),
                ("open", "every node makes packets at `load`, to destinations that its ranks' pattern draws"),
            ]),
            Value::text("closed"),
            "What the jobs send.",
        ),
        Key::with_default(
            "load",
            one_or_list(SHARE),
            Value::Number(0.5),
            "`open`: offered load as a share of the node's link bandwidth, for all jobs or one for each job.",
        ),
        Key::with_default(
            "start",
            one_or_list(Kind::Time),
            Value::Time(Time::ZERO),
            "`open`: when sending starts, for all jobs or one for each job.",
        ),
        Key::with_default(
            "step_times",
            Kind::List(Box::new(Kind::Time)),
            Value::List(Vec::new()),
            "`open`: times at which the load of all jobs changes, ascending.",
        ),
        Key::with_default(
            "step_loads",
            Kind::List(Box::new(SHARE)),
            Value::List(Vec::new()),
            "`open`: the load from each of `step_times` on.",
        ),
        Key::with_default(
            "injection",
            Kind::choice(&[
                ("bernoulli", "each packet time with a probability"),
                ("poisson", "exponential gaps"),
                ("interval", "constant gaps"),
            ]),
            Value::text("bernoulli"),
            "`open`: when packets are made.",
        ),
        Key::with_default(
            "burst",
            Kind::Integer { min: 1, max: 1_000_000 },
            Value::Integer(1),
            "`open`: packets made at a time, to one destination; the load stays the same.",
        ),
        time("warm_up", 20, "`open`: time before the measurement."),
        time("measure", 50, "`open`: length of the measurement."),
        time("drain", 100, "`open`: longest time to wait for packets made in the measurement."),
        time("time_limit", 1_000_000, "`closed`: simulated time after which the run is given up."),
        time(
            "patience",
            1_000,
            "Simulated time without any arrival, with packets under way, after which the run is given up.",
        ),
    ]
}

fn record_keys() -> Vec<Key> {
    let flag = |name, doc| Key::with_default(name, Kind::Flag, Value::Flag(false), doc);
    vec![
        flag(
            "record_channels",
            "Record bytes, packets, stall time and peak occupancy of every virtual channel: table `channels`, and \
             `links.peak_bytes`.",
        ),
        flag(
            "record_crossbar",
            "Record how long packets wait at the heads of input queues: `crossbar_stall_ps` of `links` and `nodes`.",
        ),
        flag("record_q_tables", "`q-adaptive`: record what every router has learnt at the end: table `q_tables`."),
        flag("record_packets", "Record every measured packet: table `packets`, written while the run goes."),
        flag("record_paths", "Record the way of every packet, too: columns `links` and `channels` of `packets`."),
        Key::with_default(
            "interval",
            Kind::word_or(OFF, "no time series", Kind::Time),
            Value::text(OFF),
            "Length of an interval of the time series.",
        ),
        Key::with_default(
            "series",
            Kind::List(Box::new(Kind::choice(&SERIES))),
            Value::List(vec![Value::text("jobs")]),
            "Which time series are recorded, if there is an `interval`; those of links are written while the run goes.",
        ),
        Key::with_default(
            "memory_limit",
            Kind::word_or(AVAILABLE, "what the system has left", Kind::Bytes),
            Value::text(AVAILABLE),
            "A run that is estimated to need more is refused.",
        ),
    ]
}
