//! Keys of the packet engine, without the keys of routers and of routing algorithms.

use crate::routing;
use odonata_declare::{parameter, words, Choice, Key, Kind, Parameter, ParameterStruct, Parameters};
use odonata_packet::{InjectionFifos, Recording, Schedule, SeriesChoice};
use odonata_units::{Bytes, Time};
use std::sync::OnceLock;

const OFF: &Choice = &Choice { name: "off", doc: "no time series" };
const NEVER: &Choice = &Choice { name: "off", doc: "no periodic checkpoints" };
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
        "none: a NIC sends the next packet at the rate of the node's link",
        "Injection FIFOs of each node, as in Blue Gene. Messages wait in memory FIFOs, which feed torus FIFOs.",
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

/// Keys that change nothing in a warm-up.
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
        parameter!(warm_up = schedule.warm_up, Kind::Time, "Open traffic: simulated time before the measurement."),
        parameter!(measure = schedule.measure, Kind::Time, "Open traffic: length of the measurement."),
        parameter!(
            drain = schedule.drain,
            Kind::Time,
            "Open traffic: maximum time to wait for the packets created in the measurement."
        ),
        parameter!(time_limit, Kind::Time, "Closed traffic: simulated time after which the run stops."),
        parameter!(
            progress_timeout,
            Kind::Time,
            "Simulated time without a delivery, a departure from a NIC or a timer, after which the run aborts, if packets are in flight."
        ),
        parameter!(
            checkpoint,
            Kind::WordOr(NEVER, &Kind::Time),
            "Wall-clock interval between checkpoints; `odonata run --resume` starts from the last one."
        ),
        parameter!(
            start_from,
            Kind::Path,
            "Open traffic: directory of saved warm-ups. A run starts from a warm-up with the same settings up to the measurement, or up to the last change of a load before it (`step_times`). Without one, the run saves its own. Results do not change.",
            else "the beginning",
        ),
    ];
}

words! {
    /// A time series.
    pub(crate) enum Series {
        Jobs = "jobs": "table `series`: bytes, packets, latency, share of non-minimal packets of each job",
        Links = "links": "table `link_series`: bytes, packets, busy and stall time, peak occupancy of each link",
        Channels = "channels": "table `channel_series`: bytes, packets, stall time, peak occupancy of every virtual channel of each link",
        LinkJobs = "link-jobs": "table `link_job_series`: bytes of each job on each link",
    }
}

/// The records of a run, and its limit of memory.
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
            "Record of bytes, packets, stall time and peak occupancy of each virtual channel: table `channels`, column `links.peak_bytes`.",
        ),
        parameter!(
            record_crossbar = crossbar,
            Kind::Flag,
            "Record of the time at the head of input queues: `crossbar_stall_ps` of `links` and `nodes`.",
        ),
        parameter!(
            record_counted_stall = counted_stall,
            Kind::Flag,
            "Record of stall time as the simulator of the interference study counts it: `counted_stall_ps` of `links` and `group_traffic`.",
        ),
        parameter!(
            record_job_waits = job_waits,
            Kind::Flag,
            "Record of the blocking job of each wait in the queues of links: table `job_waits`.",
        ),
        parameter!(
            record_messages = messages,
            Kind::Flag,
            "Record of each message between ranks of programs, with its times: table `messages`.",
        ),
        parameter!(
            record_calls = calls,
            Kind::Flag,
            "Record of each call of ranks of programs, and of the event that ended each wait: tables `calls`, `rank_waits`, `phase_times`.",
        ),
        parameter!(
            record_q_tables = q_tables,
            Kind::Flag,
            "`q-adaptive`: record of the estimates of each router at the end: table `q_tables`."
        ),
        parameter!(
            record_packets = packets,
            Kind::Flag,
            "Record of each measured packet: table `packets`, written during the run."
        ),
        parameter!(
            record_paths = paths,
            Kind::Flag,
            "Record of the path of each packet: columns `links` and `vcs` of `packets`."
        ),
        parameter!(interval, Kind::WordOr(OFF, &Kind::Time), "Length of an interval of the time series."),
        parameter!(
            series,
            Kind::List(&Series::KIND),
            "Time series to record if there is an `interval`. Series of links are written during the run.",
        ),
        parameter!(
            memory_limit,
            Kind::WordOr(AVAILABLE, &Kind::Bytes),
            "Maximum estimated memory of a run; a run that needs more is refused."
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
