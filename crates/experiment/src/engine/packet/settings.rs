//! From keys to settings.

use super::keys::{self, Records, Sources, Times, TrafficKind};
use super::q_tables::Entry;
use crate::fields::{Fields, Report};
use crate::problem::ProblemKind;
use odonata_declare::{parameter, Declared, Key, Kind, Parameter, Parameters, Value};
use odonata_packet::{Injection, PacketSettings, Recording, Schedule};
use odonata_routing::algorithm::{AdaptiveSettings, QSettings, RoutingSettings, ALGORITHMS};
use odonata_units::{Bytes, Time};

/// The packet engine with its settings.
#[derive(Clone, Debug)]
pub(super) struct Packet {
    pub(super) settings: PacketSettings,
    pub(super) algorithm: &'static str,
    pub(super) routing: RoutingSettings,
    pub(super) traffic: TrafficKind,
    /// One for all jobs, or one for each.
    pub(super) loads: Vec<f64>,
    pub(super) starts: Vec<Time>,
    pub(super) steps: Vec<(Time, f64)>,
    pub(super) injection: Injection,
    pub(super) burst: u32,
    pub(super) schedule: Schedule,
    pub(super) time_limit: Time,
    pub(super) patience: Time,
    pub(super) recording: Recording,
    pub(super) memory_limit: Option<Bytes>,
    /// File of learnt tables to start from, and what is in it.
    pub(super) q_tables: Option<String>,
    pub(super) q_entries: Vec<Entry>,
    pub(super) record_q_tables: bool,
    pub(super) resolved: Vec<(&'static str, Value)>,
}

/// Keys that mean something only for open traffic.
const OPEN_ONLY: [&str; 9] =
    ["load", "start", "step_times", "step_loads", "injection", "burst", "warm_up", "measure", "drain"];

/// What learning starts from.
#[derive(Clone, Debug, Default)]
struct Learnt {
    q_tables: Option<String>,
}

impl Parameters for Learnt {
    const PARAMETERS: &'static [Parameter<Self>] = &[parameter!(
        q_tables,
        Kind::Path,
        "`q-adaptive`: a file of learnt estimates to start from, `q_tables.parquet` of another run or a CSV file with its \
         columns.",
        else "estimates of an idle machine",
    )];
}

/// Everything that is declared elsewhere, part by part, in the order of the reference.
#[derive(Clone, Debug, Default)]
struct Parts {
    settings: PacketSettings,
    adaptive: AdaptiveSettings,
    learnt: Learnt,
    q: QSettings,
    sources: Sources,
    times: Times,
    records: Records,
}

impl Parts {
    fn all(&self) -> [&dyn Declared; 7] {
        let Self { settings, adaptive, learnt, q, sources, times, records } = self;
        [settings, adaptive, learnt, q, sources, times, records]
    }

    fn all_mut(&mut self) -> [&mut dyn Declared; 7] {
        let Self { settings, adaptive, learnt, q, sources, times, records } = self;
        [settings, adaptive, learnt, q, sources, times, records]
    }

    /// With what is given.
    fn read(fields: &Fields) -> Self {
        let mut parts = Self::default();
        for part in parts.all_mut() {
            // The preset is the first key: what is given after it changes it.
            for key in part.keys() {
                if let Some(given) = fields.given(key.name) {
                    part.set(key.name, &given.value);
                }
            }
        }
        parts
    }
}

pub(super) fn keys() -> Vec<Key> {
    let [settings, adaptive, learnt, q, sources, times, records] = Parts::default().all().map(Declared::keys);
    [settings, vec![keys::routing()], adaptive, learnt, q, sources, times, records].concat()
}

pub(super) fn read(fields: &Fields, report: &mut Report<'_>) -> Packet {
    let parts = Parts::read(fields);
    let Parts { settings, adaptive, learnt, q, sources, times, records } = parts.clone();
    if let Err(error) = settings.check() {
        let key = error.setting.rsplit('.').next().unwrap_or_default().to_owned();
        let known = keys().into_iter().map(|k| k.name).find(|name| *name == key).expect("settings are named like keys");
        report.add(ProblemKind::Value, fields.place_of(known), format!("'{known}': {}", error.reason), None);
    }
    let traffic = sources.traffic;
    for key in OPEN_ONLY.iter().filter(|_| traffic == TrafficKind::Closed) {
        if let Some(given) = fields.given(key) {
            let message = format!("'{key}' means something only with traffic = \"open\", which is \"closed\"");
            let help = Some("add `traffic = \"open\"` or remove the key".to_owned());
            report.add(ProblemKind::Conflict, given.place, message, help);
        }
    }
    check_records(&records, fields, report);
    let name = fields.text("routing").unwrap_or("min");
    let algorithm = ALGORITHMS.iter().map(|a| a.0).find(|known| *known == name).unwrap_or("min");
    let length = match traffic {
        TrafficKind::Open => ("measure", times.schedule.measure),
        TrafficKind::Closed => ("time_limit", times.time_limit),
    };
    if length.1 == Time::ZERO {
        let message = format!("'{}' must be above 0", length.0);
        report.add(ProblemKind::Value, fields.place_of(length.0), message, None);
    }
    for (key, wanted) in [("q_tables", true), ("record_q_tables", records.q_tables)] {
        if let (true, true, Some(given)) = (wanted, algorithm != "q-adaptive", fields.given(key)) {
            let message = format!("'{key}' means something only with routing = \"q-adaptive\", which is \"{name}\"");
            report.add(ProblemKind::Conflict, given.place, message, None);
        }
    }
    let steps = steps(&sources, fields, report);
    let list = |values: &odonata_declare::OneOrEach<f64>| values.expand(1);
    Packet {
        algorithm,
        routing: RoutingSettings { adaptive, q },
        traffic,
        loads: list(&sources.load),
        starts: sources.start.expand(1),
        steps,
        injection: sources.injection,
        burst: sources.burst,
        schedule: times.schedule,
        time_limit: times.time_limit,
        patience: times.patience,
        recording: records.recording(),
        memory_limit: records.memory_limit,
        q_tables: learnt.q_tables,
        q_entries: Vec::new(),
        record_q_tables: records.q_tables,
        resolved: resolved(&parts, algorithm),
        settings,
    }
}

fn check_records(records: &Records, fields: &Fields, report: &mut Report<'_>) {
    let mut needs = |key: &str, other: &str, missing: bool| {
        if let (true, Some(given)) = (missing, fields.given(key)) {
            let message = format!("'{key}' means something only with '{other}', which is off");
            let help = format!("add `{other} = ...` or remove the key");
            report.add(ProblemKind::Conflict, given.place, message, Some(help));
        }
    };
    needs("record_paths", "record_packets", records.paths && !records.packets);
    needs("series", "interval", records.interval.is_none());
    if records.interval.is_some_and(|interval| interval < Time::from_ns(1)) {
        report.add(ProblemKind::Value, fields.place_of("interval"), "'interval' must be at least 1 ns", None);
    }
}

fn steps(sources: &Sources, fields: &Fields, report: &mut Report<'_>) -> Vec<(Time, f64)> {
    let (times, loads) = (&sources.step_times, &sources.step_loads);
    if times.len() != loads.len() {
        let message = format!(
            "'step_times' has {} values and 'step_loads' {}; give a load for each time",
            times.len(),
            loads.len()
        );
        report.add(ProblemKind::Conflict, fields.place_of("step_times"), message, None);
    }
    if times.windows(2).any(|pair| pair[0] >= pair[1]) {
        report.add(ProblemKind::Value, fields.place_of("step_times"), "'step_times' must ascend", None);
    }
    times.iter().copied().zip(loads.iter().copied()).collect()
}

/// Every key with the value that is used.
fn resolved(parts: &Parts, algorithm: &'static str) -> Vec<(&'static str, Value)> {
    let mut values: Vec<(&'static str, Value)> = parts.all().into_iter().flat_map(Declared::values).collect();
    values.insert(parts.settings.values().len(), ("routing", Value::text(algorithm)));
    values.retain(|(name, _)| *name != "series" || parts.records.interval.is_some());
    values.retain(|(name, _)| parts.sources.traffic == TrafficKind::Open || !OPEN_ONLY.contains(name));
    values
}
