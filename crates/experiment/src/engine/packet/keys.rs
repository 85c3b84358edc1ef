//! The keys of the packet engine beyond those of routers and routing algorithms.

use odonata_declare::{parameter, words, Absent, Choice, Family, Key, Kind, Named, OneOrEach, Parameter, Parameters};
use odonata_packet::{Injection, Recording, Schedule, SeriesChoice};
use odonata_routing::algorithm::ALGORITHMS;
use odonata_units::{Bytes, Time};

const OFF: &Choice = &Choice { name: "off", doc: "no time series" };
const AVAILABLE: &Choice = &Choice { name: "available", doc: "what the system has left" };

static ROUTING: Family =
    Family::new("routing", || ALGORITHMS.iter().map(|a| Named { name: a.0, doc: a.1, keys: Vec::new() }).collect());

/// The keys that choose the routing.
pub(super) fn routing() -> Key {
    let first = ROUTING.variants()[0].name;
    Key {
        name: "routing",
        kind: Kind::Choice(ROUTING.choices()),
        absent: Absent::Value(odonata_declare::Value::text(first)),
        doc: "The routing algorithm.",
    }
}

words! {
    /// What the jobs send.
    pub(crate) enum TrafficKind {
        Closed = "closed": "every rank sends the messages of its pattern as fast as the network takes them",
        Open = "open": "every node makes packets at `load`, to destinations that its ranks' pattern draws",
    }
}

/// What the jobs send, and when.
#[derive(Clone, Debug)]
pub(super) struct Sources {
    pub(super) traffic: TrafficKind,
    pub(super) load: OneOrEach<f64>,
    pub(super) start: OneOrEach<Time>,
    pub(super) step_times: Vec<Time>,
    pub(super) step_loads: Vec<f64>,
    pub(super) injection: Injection,
    pub(super) burst: u32,
}

impl Default for Sources {
    fn default() -> Self {
        Self {
            traffic: TrafficKind::Closed,
            load: OneOrEach::One(0.5),
            start: OneOrEach::One(Time::ZERO),
            step_times: Vec::new(),
            step_loads: Vec::new(),
            injection: Injection::default(),
            burst: 1,
        }
    }
}

impl Parameters for Sources {
    const PARAMETERS: &'static [Parameter<Self>] = &[
        parameter!(traffic, TrafficKind::KIND, "What the jobs send."),
        parameter!(
            load,
            Kind::Any(&[Kind::SHARE, Kind::List(&Kind::SHARE)]),
            "`open`: offered load as a share of the node's link bandwidth, for all jobs or one for each job."
        ),
        parameter!(
            start,
            Kind::Any(&[Kind::Time, Kind::List(&Kind::Time)]),
            "`open`: when sending starts, for all jobs or one for each job."
        ),
        parameter!(
            step_times,
            Kind::List(&Kind::Time),
            "`open`: times at which the load of all jobs changes, ascending."
        ),
        parameter!(step_loads, Kind::List(&Kind::SHARE), "`open`: the load from each of `step_times` on."),
        parameter!(injection, Injection::KIND, "`open`: when packets are made."),
        parameter!(
            burst,
            Kind::Integer { min: 1, max: 1_000_000 },
            "`open`: packets made at a time, to one destination; the load stays the same."
        ),
    ];
}

/// The times of a run.
#[derive(Clone, Debug)]
pub(super) struct Times {
    pub(super) schedule: Schedule,
    pub(super) time_limit: Time,
    pub(super) patience: Time,
}

impl Default for Times {
    fn default() -> Self {
        let us = Time::from_us;
        Self {
            schedule: Schedule { warm_up: us(20), measure: us(50), drain: us(100) },
            time_limit: us(1_000_000),
            patience: us(1_000),
        }
    }
}

impl Parameters for Times {
    const PARAMETERS: &'static [Parameter<Self>] = &[
        parameter!(warm_up = schedule.warm_up, Kind::Time, "`open`: time before the measurement."),
        parameter!(measure = schedule.measure, Kind::Time, "`open`: length of the measurement."),
        parameter!(
            drain = schedule.drain,
            Kind::Time,
            "`open`: longest time to wait for packets made in the measurement."
        ),
        parameter!(time_limit, Kind::Time, "`closed`: simulated time after which the run is given up."),
        parameter!(
            patience,
            Kind::Time,
            "Simulated time without any arrival, with packets under way, after which the run is given up."
        ),
    ];
}

words! {
    /// A time series.
    pub(crate) enum Series {
        Jobs = "jobs": "table `series`: bytes, packets, latency, share of non-minimal packets of every job",
        Links = "links": "table `link_series`: bytes, packets, busy and stall time, peak occupancy of every link",
        Channels = "channels": "table `channel_series`: bytes, packets, stall time, peak occupancy of every virtual channel of every link",
        LinkJobs = "link-jobs": "table `link_job_series`: bytes of every job on every link",
    }
}

/// What is recorded, and the memory that a run may take.
#[derive(Clone, Debug)]
pub(super) struct Records {
    pub(super) channels: bool,
    pub(super) crossbar: bool,
    pub(super) q_tables: bool,
    pub(super) packets: bool,
    pub(super) paths: bool,
    pub(super) interval: Option<Time>,
    pub(super) series: Vec<Series>,
    pub(super) memory_limit: Option<Bytes>,
}

impl Default for Records {
    fn default() -> Self {
        Self {
            channels: false,
            crossbar: false,
            q_tables: false,
            packets: false,
            paths: false,
            interval: None,
            series: vec![Series::Jobs],
            memory_limit: None,
        }
    }
}

impl Parameters for Records {
    const PARAMETERS: &'static [Parameter<Self>] = &[
        parameter!(
            record_channels = channels,
            Kind::Flag,
            "Record bytes, packets, stall time and peak occupancy of every virtual channel: table `channels`, and \
             `links.peak_bytes`.",
        ),
        parameter!(
            record_crossbar = crossbar,
            Kind::Flag,
            "Record how long packets wait at the heads of input queues: `crossbar_stall_ps` of `links` and `nodes`.",
        ),
        parameter!(
            record_q_tables = q_tables,
            Kind::Flag,
            "`q-adaptive`: record what every router has learnt at the end: table `q_tables`."
        ),
        parameter!(
            record_packets = packets,
            Kind::Flag,
            "Record every measured packet: table `packets`, written while the run goes."
        ),
        parameter!(
            record_paths = paths,
            Kind::Flag,
            "Record the way of every packet, too: columns `links` and `channels` of `packets`."
        ),
        parameter!(interval, Kind::WordOr(OFF, &Kind::Time), "Length of an interval of the time series."),
        parameter!(
            series,
            Kind::List(&Series::KIND),
            "Which time series are recorded, if there is an `interval`; those of links are written while the run goes.",
        ),
        parameter!(
            memory_limit,
            Kind::WordOr(AVAILABLE, &Kind::Bytes),
            "A run that is estimated to need more is refused."
        ),
    ];
}

impl Records {
    pub(super) fn recording(&self) -> Recording {
        let has = |series| self.series.contains(&series);
        Recording {
            channels: self.channels,
            crossbar: self.crossbar,
            link_jobs: true,
            interval_ps: self.interval.map_or(0, Time::ps),
            series: SeriesChoice {
                jobs: has(Series::Jobs),
                ports: has(Series::Links),
                channels: has(Series::Channels),
                port_jobs: has(Series::LinkJobs),
            },
            packets: self.packets,
            paths: self.paths,
        }
    }
}
