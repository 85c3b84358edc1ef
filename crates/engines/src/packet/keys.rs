//! Keys of the packet engine, without the keys of routers and of routing algorithms.

use super::skip_rule::SkipRule;
use crate::routing;
use odonata_declare::{parameters, words, Choice, Key, Kind, ParameterStruct};
use odonata_packet::{ControlSettings, InjectionFifos, Recording, Schedule, SeriesChoice};
use odonata_units::{Bytes, Time};
use std::sync::OnceLock;

const OFF: &Choice = &Choice { name: "off", doc: "no time series" };
const NEVER: &Choice = &Choice { name: "off", doc: "no periodic checkpoints" };
const AVAILABLE: &Choice = &Choice { name: "available", doc: "what the system has left" };

/// The key that chooses the routing.
pub(super) fn routing() -> Key {
    routing::key(&routing::OF_HOPS, "The routing algorithm.")
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

/// The table of the congestion control.
pub(super) fn control() -> Key {
    static KEYS: OnceLock<Vec<Key>> = OnceLock::new();
    let keys = KEYS.get_or_init(|| ControlSettings::default().keys());
    Key::optional(
        "control",
        Kind::Table(keys),
        "none: NICs send as fast as their routers accept packets",
        "Congestion control at NICs, between endpoints and network. Programs do not know of it.",
    )
}

parameters! {
    /// The times of a run.
    pub(super) struct Times {
        pub(super) schedule: Schedule = Schedule::default(), part;
        /// Simulated time after which the run stops, if its jobs have not ended; not for open traffic alone.
        pub(super) time_limit: Option<Time> = None,
            else "none if all jobs end; 1 s if open traffic or a background job runs with them";
        /// Simulated time without a delivery, a departure from a NIC or a timer, after which the run aborts, if packets
        /// are in flight.
        pub(super) progress_timeout: Time = Time::from_us(1_000);
        /// Wall-clock interval between checkpoints; `odonata run --resume` starts from the last one.
        pub(super) checkpoint: Option<Time> = None, Kind::WordOr(NEVER, &Kind::Time);
        /// Programs: iterations that the run may skip because they repeat others. `{ error = 0.01 }` skips the others
        /// once their mean time is known to 1 %.
        pub(super) fast_forward: Option<SkipRule> = None, SkipRule::KIND;
        /// Open traffic: directory of saved warm-ups. A run starts from a warm-up with the same settings up to the
        /// measurement, or up to the last change of a load before it (`step_times`). Without one, the run saves its own.
        /// Results do not change.
        pub(super) start_from: Option<String> = None, Kind::Path, else "the beginning";
    }
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

words! {
    /// A time series.
    pub(crate) enum Series {
        Jobs = "jobs": "table `series`: bytes, packets, latency, share of non-minimal packets of each job",
        Links = "links": "table `link_series`: bytes, packets, busy and stall time, peak occupancy of each link",
        Channels = "channels": "table `channel_series`: bytes, packets, stall time, peak occupancy of every virtual channel of each link",
        LinkJobs = "link-jobs": "table `link_job_series`: bytes of each job on each link",
    }
}

parameters! {
    /// The records of a run, and its limit of memory.
    pub(super) struct Records {
        /// Record of bytes, packets, stall time and peak occupancy of each virtual channel: table `channels`, column
        /// `links.peak_bytes`.
        pub(super) channels: bool = false, as record_channels;
        /// Record of the time at the head of input queues: `crossbar_stall_ps` of `links` and `nodes`.
        pub(super) crossbar: bool = false, as record_crossbar;
        /// Record of stall time as the simulator of the interference study counts it: `counted_stall_ps` of `links` and
        /// `group_traffic`.
        pub(super) counted_stall: bool = false, as record_counted_stall;
        /// Record of the blocking job of each wait in the queues of links: table `job_waits`.
        pub(super) job_waits: bool = false, as record_job_waits;
        /// Record of each message between ranks of programs, with its times: table `messages`.
        pub(super) messages: bool = false, as record_messages;
        /// Record of each call of ranks of programs, and of the event that ended each wait: tables `calls`,
        /// `rank_waits`, `phase_times`.
        pub(super) calls: bool = false, as record_calls;
        /// `q-adaptive`: record of the estimates of each router at the end: table `q_tables`.
        pub(super) q_tables: bool = false, as record_q_tables;
        /// Record of each measured packet: table `packets`, written during the run.
        pub(super) packets: bool = false, as record_packets;
        /// Record of the path of each packet: columns `links` and `vcs` of `packets`.
        pub(super) paths: bool = false, as record_paths;
        /// Length of an interval of the time series.
        pub(super) interval: Option<Time> = None, Kind::WordOr(OFF, &Kind::Time);
        /// Time series to record if there is an `interval`. Series of links are written during the run.
        pub(super) series: Vec<Series> = vec![Series::Jobs];
        /// Maximum estimated memory of a run; a run that needs more is refused.
        pub(super) memory_limit: Option<Bytes> = None, Kind::WordOr(AVAILABLE, &Kind::Bytes);
    }
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
