//! From keys to settings.

use super::keys::keys;
use super::q_tables::Entry;
use crate::fields::{Fields, Report};
use crate::problem::ProblemKind;
use odonata_declare::Value;
use odonata_packet::{Arbitration, Injection, PacketSettings, QueueEstimate, Recording, Schedule, SeriesChoice};
use odonata_routing::algorithm::{AdaptiveSettings, QSettings, RoutingSettings, ALGORITHMS};
use odonata_units::{Bytes, Time};

/// What the jobs send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TrafficKind {
    Closed,
    Open,
}

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

pub(super) fn read(fields: &Fields, report: &mut Report<'_>) -> Packet {
    let settings = routers(fields);
    if let Err(error) = settings.check() {
        let key = error.setting.rsplit('.').next().unwrap_or_default().to_owned();
        let known = keys().into_iter().map(|k| k.name).find(|name| *name == key).expect("settings are named like keys");
        report.add(ProblemKind::Value, fields.place_of(known), format!("'{known}': {}", error.reason), None);
    }
    let traffic = if fields.text("traffic") == Some("open") { TrafficKind::Open } else { TrafficKind::Closed };
    for key in OPEN_ONLY.iter().filter(|_| traffic == TrafficKind::Closed) {
        if let Some(given) = fields.given(key) {
            let message = format!("'{key}' means something only with traffic = \"open\", which is \"closed\"");
            let help = Some("add `traffic = \"open\"` or remove the key".to_owned());
            report.add(ProblemKind::Conflict, given.place, message, help);
        }
    }
    let time = |key: &str| fields.time(key).unwrap_or_default();
    let name = fields.text("routing").unwrap_or("min");
    let mut packet = Packet {
        algorithm: ALGORITHMS.iter().map(|a| a.0).find(|known| *known == name).unwrap_or("min"),
        routing: routing(fields),
        traffic,
        loads: numbers(fields.value("load")),
        starts: times(fields.value("start")),
        steps: steps(fields, report),
        injection: match fields.text("injection") {
            Some("poisson") => Injection::Poisson,
            Some("interval") => Injection::Interval,
            _ => Injection::Bernoulli,
        },
        burst: fields.count("burst").unwrap_or(1),
        schedule: Schedule { warm_up: time("warm_up"), measure: time("measure"), drain: time("drain") },
        time_limit: time("time_limit"),
        patience: time("patience"),
        recording: recording(fields, report),
        memory_limit: match fields.value("memory_limit") {
            Some(Value::Bytes(bytes)) => Some(*bytes),
            _ => None,
        },
        q_tables: fields.text("q_tables").map(str::to_owned),
        q_entries: Vec::new(),
        record_q_tables: fields.flag("record_q_tables").unwrap_or(false),
        resolved: Vec::new(),
        settings,
    };
    let length = if traffic == TrafficKind::Open {
        ("measure", packet.schedule.measure)
    } else {
        ("time_limit", packet.time_limit)
    };
    if length.1 == Time::ZERO {
        let message = format!("'{}' must be above 0", length.0);
        report.add(ProblemKind::Value, fields.place_of(length.0), message, None);
    }
    for (key, wanted) in [("q_tables", true), ("record_q_tables", packet.record_q_tables)] {
        if let (true, true, Some(given)) = (wanted, packet.algorithm != "q-adaptive", fields.given(key)) {
            let message = format!("'{key}' means something only with routing = \"q-adaptive\", which is \"{name}\"");
            report.add(ProblemKind::Conflict, given.place, message, None);
        }
    }
    packet.resolved = resolved(fields, &packet);
    packet
}

fn word(value: &Value) -> Option<&str> {
    match value {
        Value::Text(word) => Some(word),
        _ => None,
    }
}

fn recording(fields: &Fields, report: &mut Report<'_>) -> Recording {
    let flag = |key: &str| fields.flag(key).unwrap_or(false);
    let chosen: Vec<&str> = match fields.value("series") {
        Some(Value::List(words)) => words.iter().filter_map(word).collect(),
        _ => Vec::new(),
    };
    let has = |word: &str| chosen.contains(&word);
    let recording = Recording {
        channels: flag("record_channels"),
        crossbar: flag("record_crossbar"),
        link_jobs: true,
        interval_ps: match fields.value("interval") {
            Some(Value::Time(time)) => time.ps(),
            _ => 0,
        },
        series: SeriesChoice {
            jobs: has("jobs"),
            ports: has("links"),
            channels: has("channels"),
            port_jobs: has("link-jobs"),
        },
        packets: flag("record_packets"),
        paths: flag("record_paths"),
    };
    let mut needs = |key: &str, other: &str, missing: bool| {
        if let (true, Some(given)) = (missing, fields.given(key)) {
            let message = format!("'{key}' means something only with '{other}', which is off");
            report.add(
                ProblemKind::Conflict,
                given.place,
                message,
                Some(format!("add `{other} = ...` or remove the key")),
            );
        }
    };
    needs("record_paths", "record_packets", recording.paths && !recording.packets);
    needs("series", "interval", recording.interval_ps == 0);
    if let Some(Value::Time(interval)) = fields.value("interval") {
        if *interval < Time::from_ns(1) {
            report.add(ProblemKind::Value, fields.place_of("interval"), "'interval' must be at least 1 ns", None);
        }
    }
    recording
}

fn routers(fields: &Fields) -> PacketSettings {
    let mut s = match fields.text("preset") {
        Some("predecessor") => PacketSettings::predecessor(),
        Some("ideal-cycle") => PacketSettings::ideal_cycle(4),
        _ => PacketSettings::study(),
    };
    // What is not given is as in the preset, so only what is given counts here.
    let given = |key: &str| fields.given(key).map(|located| &located.value);
    let bytes = |key: &str, value: &mut Bytes| {
        if let Some(Value::Bytes(bytes)) = given(key) {
            *value = *bytes;
        }
    };
    bytes("packet", &mut s.packet);
    bytes("flit", &mut s.flit);
    bytes("input_buffer", &mut s.input_buffer);
    bytes("output_buffer", &mut s.output_buffer);
    let time = |key: &str, value: &mut Time| {
        if let Some(Value::Time(time)) = given(key) {
            *value = *time;
        }
    };
    time("input_latency", &mut s.input_latency);
    time("output_latency", &mut s.output_latency);
    s.crossbar_speedup = given("crossbar_speedup").and(fields.number("crossbar_speedup")).unwrap_or(s.crossbar_speedup);
    if fields.text("arbitration") == Some("round-robin") {
        s.arbitration = Arbitration::RoundRobin;
    }
    s.estimate = match fields.text("estimate") {
        Some("output") => QueueEstimate::Output,
        Some("downstream-arrived") => QueueEstimate::DownstreamArrived,
        _ => QueueEstimate::Downstream,
    };
    s
}

fn routing(fields: &Fields) -> RoutingSettings {
    let AdaptiveSettings { threshold, bias, minimal_candidates, non_minimal_candidates } = AdaptiveSettings::default();
    let q = QSettings::default();
    let share = |key: &str, default: f32| fields.given(key).and(fields.number(key)).map_or(default, |x| x as f32);
    RoutingSettings {
        adaptive: AdaptiveSettings {
            threshold: fields.number("threshold").unwrap_or(threshold),
            bias: match fields.value("bias") {
                Some(Value::Bytes(bytes)) => *bytes,
                _ => bias,
            },
            minimal_candidates: fields.count("minimal_candidates").unwrap_or(minimal_candidates),
            non_minimal_candidates: fields.count("non_minimal_candidates").unwrap_or(non_minimal_candidates),
        },
        q: QSettings {
            gain: share("gain", q.gain),
            loss: share("loss", q.loss),
            exploration: fields.number("exploration").unwrap_or(q.exploration),
            threshold_source: share("threshold_source", q.threshold_source),
            threshold_middle: share("threshold_middle", q.threshold_middle),
        },
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(x) => Some(*x),
        Value::Integer(n) => Some(*n as f64),
        _ => None,
    }
}

fn numbers(value: Option<&Value>) -> Vec<f64> {
    match value {
        Some(Value::List(values)) => values.iter().filter_map(number).collect(),
        Some(value) => number(value).into_iter().collect(),
        None => Vec::new(),
    }
}

fn times(value: Option<&Value>) -> Vec<Time> {
    let time = |value: &Value| match value {
        Value::Time(time) => Some(*time),
        _ => None,
    };
    match value {
        Some(Value::List(values)) => values.iter().filter_map(time).collect(),
        Some(value) => time(value).into_iter().collect(),
        None => Vec::new(),
    }
}

fn steps(fields: &Fields, report: &mut Report<'_>) -> Vec<(Time, f64)> {
    let (times, loads) = (times(fields.value("step_times")), numbers(fields.value("step_loads")));
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
    times.into_iter().zip(loads).collect()
}

/// Every key with the value that is used; keys of a preset with the preset's.
fn resolved(fields: &Fields, packet: &Packet) -> Vec<(&'static str, Value)> {
    let s = &packet.settings;
    let mut values: Vec<(&'static str, Value)> =
        keys().iter().filter_map(|key| Some((key.name, fields.value(key.name)?.clone()))).collect();
    let preset = [
        ("packet", Value::Bytes(s.packet)),
        ("flit", Value::Bytes(s.flit)),
        ("input_buffer", Value::Bytes(s.input_buffer)),
        ("output_buffer", Value::Bytes(s.output_buffer)),
        ("crossbar_speedup", Value::Number(s.crossbar_speedup)),
        ("input_latency", Value::Time(s.input_latency)),
        ("output_latency", Value::Time(s.output_latency)),
    ];
    for (name, value) in &mut values {
        if let Some((_, used)) = preset.iter().find(|(key, _)| key == name) {
            *value = used.clone();
        }
    }
    values.retain(|(name, _)| *name != "series" || packet.recording.interval_ps > 0);
    values.retain(|(name, _)| packet.traffic == TrafficKind::Open || !OPEN_ONLY.contains(name));
    values
}
