//! From keys to settings.

use super::keys::{self, Records, Times};
use super::q_tables::Entry;
use crate::routing::{self, EngineRouting, OF_HOPS};
use odonata_declare::{Key, ParameterStruct, Value};
use odonata_document::{Fields, ProblemKind, Report};
use odonata_packet::{ControlSettings, PacketSettings};
use odonata_routing::algorithm::{RoutingChoice, ALGORITHMS};
use odonata_units::Time;

/// The parameter of a routing that names a file of learnt tables.
pub(super) const Q_TABLES: &str = "q_tables";

/// The packet engine with its settings.
#[derive(Debug)]
pub(super) struct Packet {
    pub(super) settings: PacketSettings,
    /// The routing; of the machine, if the file names none.
    pub(super) routing: Option<EngineRouting>,
    pub(super) times: Times,
    pub(super) records: Records,
    /// What is in the file of learnt tables to start from.
    pub(super) q_entries: Vec<Entry>,
}

/// The keys of the engine, part by part.
pub(super) fn keys() -> Vec<Key> {
    let own = vec![keys::routing(), keys::injection(), keys::control()];
    [PacketSettings::default().keys(), own, Times::default().keys(), Records::default().keys()].concat()
}

/// Sets what is given of a part. The preset is the first key: what is given after it changes it.
fn given<T: ParameterStruct + Default>(fields: &Fields) -> T {
    let mut part = T::default();
    fields.set(&mut part);
    part
}

pub(super) fn read(fields: &Fields, report: &mut Report<'_>) -> Packet {
    let (routers, times, records): (PacketSettings, Times, Records) = (given(fields), given(fields), given(fields));
    let of_control = fields.table("control");
    // The preset of the routers may have a control.
    let mut control = routers.control.clone();
    if let Some(fields) = of_control {
        fields.set(&mut control);
    }
    let settings = PacketSettings { injection: fields.table("injection").map(given), control, ..routers };
    if let Err(error) = settings.check() {
        let key = error.setting.rsplit('.').next().unwrap_or_default().to_owned();
        let of = |table: &str| fields.table(table).filter(|_| error.setting.starts_with(&format!("engine.{table}.")));
        let place = of("injection").or_else(|| of("control")).unwrap_or(fields).place_of(&key);
        report.add(ProblemKind::Value, place, format!("'{key}': {}", error.reason), None);
    }
    for (key, time) in [("measure", Some(times.schedule.measure)), ("time_limit", times.time_limit)] {
        if time == Some(Time::ZERO) {
            report.add(ProblemKind::Value, fields.place_of(key), format!("'{key}' must be above 0"), None);
        }
    }
    check_records(&records, fields, report);
    if let Some(fields) = of_control {
        check_control(&settings.control, fields, report);
    }
    let routing = routing::read(fields);
    let has_estimates = routing.as_ref().is_some_and(|routing| routing.choice.algorithm.needs.estimates);
    if let (true, Some(given)) = (records.q_tables && !has_estimates, fields.given("record_q_tables")) {
        let estimating = ALGORITHMS.iter().filter(|algorithm| algorithm.needs.estimates);
        let names: Vec<String> = estimating.map(|algorithm| format!("routing = \"{}\"", algorithm.name)).collect();
        let name = routing.as_ref().map_or_else(
            || "the default of the machine".to_owned(),
            |routing| format!("\"{}\"", routing.choice.algorithm.name),
        );
        let message = format!("'record_q_tables' means something only with {}, which is {name}", names.join(" or "));
        report.add(ProblemKind::Conflict, given.place, message, None);
    }
    Packet { settings, routing, times, records, q_entries: Vec::new() }
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

/// Reports keys of a control that mean nothing with its name or rule.
pub fn check_control(control: &ControlSettings, fields: &Fields, report: &mut Report<'_>) {
    let (name, rule) = (control.name.word(), control.rule());
    for key in ControlSettings::default().keys().iter().map(|key| key.name).filter(|&key| key != "name") {
        let rules = ControlSettings::rules_of(key);
        let Some(given) = fields.given(key).filter(|_| !control.is_on() || !rules.contains(&rule)) else { continue };
        let words: Vec<&str> = rules.iter().map(|rule| rule.word()).collect();
        let message = match control.is_on() {
            true => {
                format!("'{key}' means something only with rule {}, and rule is '{}'", words.join(", "), rule.word())
            }
            false => format!("'{key}' means something only with `name = \"pair\"` or \"window\", and name is '{name}'"),
        };
        report.add(ProblemKind::Conflict, given.place, message, None);
    }
}

impl Packet {
    /// Every key with the value that is used.
    pub(super) fn values(&self) -> Vec<(&'static str, Value)> {
        let mut values = self.settings.values();
        values.extend(self.routing.iter().map(|routing| routing::resolved(&OF_HOPS, &routing.choice)));
        values.extend(self.settings.injection.as_ref().map(|fifos| ("injection", Value::Table(fifos.values()))));
        let control = &self.settings.control;
        // Without a control, it says so if the preset has one.
        let is_said = control.is_on() || PacketSettings::of(self.settings.preset).control.is_on();
        values.extend(is_said.then(|| ("control", Value::Table(control.used_values()))));
        values.extend(self.times.values());
        values.extend(self.records.values());
        values.retain(|(name, _)| *name != "series" || self.records.interval.is_some());
        values
    }

    /// The file of learnt tables to start from, if the routing has this parameter.
    pub(super) fn q_tables(&self) -> Option<String> {
        let values = self.routing.as_ref()?.choice.parameters.values();
        values.into_iter().find_map(|(name, value)| match value {
            Value::Text(file) if name == Q_TABLES => Some(file),
            _ => None,
        })
    }

    /// Says where the file of learnt tables lies, whatever directory names it.
    pub(super) fn q_tables_at(&mut self, path: &str) {
        let routing = self.routing.as_mut().expect("a routing with learnt tables is named");
        routing.choice.parameters.set(Q_TABLES, &Value::text(path));
    }

    /// The routing of the run.
    pub(super) fn choice(&self) -> &RoutingChoice {
        &self.routing.as_ref().expect("the engine knows its machine").choice
    }
}

/// The key or parameter of a routing called `name`.
pub(super) fn known(name: &str) -> Option<&'static str> {
    let routings = OF_HOPS.variants().iter().flat_map(|routing| &routing.keys);
    keys().iter().chain(routings).map(|key| key.name).find(|known| *known == name)
}
