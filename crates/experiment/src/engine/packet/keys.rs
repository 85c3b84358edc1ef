//! The keys of the packet engine beyond those of routers and routing algorithms.

use crate::engine::routing;
use odonata_declare::{parameter, words, Choice, Key, Kind, Parameter, ParameterStruct, Parameters};
use odonata_packet::{InjectionFifos, Recording, Schedule, SeriesChoice};
use odonata_units::{Bytes, Time};
use std::sync::OnceLock;

const OFF: &Choice = &Choice { name: "off", doc: "no time series" };
const NEVER: &Choice = &Choice { name: "off", doc: "none by itself" };
const AVAILABLE: &Choice = &Choice { name: "available", doc: "what the system has left" };

/// The key that chooses the routing.
pub(super) fn routing() -> Key {
    routing::key(&routing::OF_HOPS, "min", "The routing algorithm.")
}

/// The table of injection FIFOs.
pub(super) fn injection() -> Key {
    static KEYS: OnceLock<Vec<Key>> = OnceLock::new();
    let keys = KEYS.get_or_init(|| InjectionFifos::default().keys());
    Key::optional(
        "injection",
        Kind::Table(keys),
        "none: an interface sends whatever packet is next, at the rate of the node's link",
        "Injection FIFOs of every node, as Blue Gene has them: messages wait in memory FIFOs, which feed torus FIFOs.",
    )
}

/// The times of a run.
#[derive(Clone, Debug)]
pub(super) struct Times {
    pub(super) schedule: Schedule,
    pub(super) time_limit: Time,
    pub(super) progress_timeout: Time,
    pub(super) checkpoint: Option<Time>,
    pub(super) start_from: Option<String>,
}

/// Keys that what happens in a warm-up does not depend on.
pub(super) const AFTER_WARM_UP: [&str; 8] = [
    "measure",
    "drain",
    "time_limit",
    "progress_timeout",
    "checkpoint",
    "start_from",
    "record_q_tables",
    "memory_limit",
];

impl Default for Times {
    fn default() -> Self {
        let us = Time::from_us;
        Self {
            schedule: Schedule { warm_up: us(20), measure: us(50), drain: us(100) },
            time_limit: us(1_000_000),
            progress_timeout: us(1_000),
            checkpoint: None,
            start_from: None,
        }
    }
}

impl Parameters for Times {
    const PARAMETERS: &'static [Parameter<Self>] = &[
        parameter!(warm_up = schedule.warm_up, Kind::Time, "Open traffic: time before the measurement."),
        parameter!(measure = schedule.measure, Kind::Time, "Open traffic: length of the measurement."),
        parameter!(
            drain = schedule.drain,
            Kind::Time,
            "Open traffic: longest time to wait for packets made in the measurement."
        ),
        parameter!(time_limit, Kind::Time, "With closed traffic: simulated time after which the run is given up."),
        parameter!(
            progress_timeout,
            Kind::Time,
            "Simulated time without any arrival, with packets under way, after which the run is given up."
        ),
        parameter!(
            checkpoint,
            Kind::WordOr(NEVER, &Kind::Time),
            "Time on the clock on the wall after which the state of the run is kept, over and over, so that it can go on from there: `odonata run --resume`."
        ),
        parameter!(
            start_from,
            Kind::Path,
            "Open traffic: a directory of warm-ups. A run begins with one that is the same up to its last change of a load before the \
             measurement (`step_times`), or up to the measurement, and keeps its own there if there is none: of runs that differ in later loads or \
             in `measure` the first makes it, and none has another result than alone.",
            else "the beginning",
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
    pub(super) counted_stall: bool,
    pub(super) job_waits: bool,
    pub(super) messages: bool,
    pub(super) calls: bool,
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
            counted_stall: false,
            job_waits: false,
            messages: false,
            calls: false,
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
            record_counted_stall = counted_stall,
            Kind::Flag,
            "Record stall time as the simulator of the interference study counts it: `counted_stall_ps` of `links` and \
             `group_traffic`.",
        ),
        parameter!(
            record_job_waits = job_waits,
            Kind::Flag,
            "Record whose packets hold up whose in the queues of links: table `job_waits`.",
        ),
        parameter!(
            record_messages = messages,
            Kind::Flag,
            "Record every message between ranks of programs, and when what happened to it: table `messages`.",
        ),
        parameter!(
            record_calls = calls,
            Kind::Flag,
            "Record every call of ranks of programs, and what ended each of their waits: tables `calls`, `rank_waits` and `phase_times`.",
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
            counted_stall: self.counted_stall,
            job_waits: self.job_waits,
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
