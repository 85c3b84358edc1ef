//! From keys to settings.

use super::keys::{AUTO, SPECIAL};
use crate::fields::Fields;
use crate::problem::ProblemKind;
use crate::report::Report;
use odonata_declare::{words, Value, Word};
use odonata_model::amg::{Machine, Scenario};
use odonata_model::message::{MessageModel, Postal, Pricing};
use odonata_units::{Rate, Time};

words! {
    /// A closed form.
    pub(crate) enum Form {
        MaxRate = "max-rate": "start-ups and the larger of a rank's and its node's bytes, rank by rank",
        Postal = "postal": "every message a start-up and its bytes, rank by rank",
        LogGp = "loggp": "latency, overhead, gap and gap per byte, rank by rank",
        Amg = "amg": "a multigrid cycle from the level table of the job's hierarchy (jobs with the pattern `amg`)",
    }
}

impl Form {
    /// All of them, for keys that mean something for each.
    pub(super) const EVERY: [Self; 4] = [Self::MaxRate, Self::Postal, Self::LogGp, Self::Amg];
}

/// The model engine with its settings; the constants are there once the files were read.
#[derive(Clone, Debug)]
pub(super) struct Model {
    pub(super) form: Form,
    pub(super) parameters: String,
    pub(super) scenarios: Vec<Scenario>,
    /// `None`: the cores of a node shared by its ranks. Else one for all jobs, or one for each.
    pub(super) threads: Option<Vec<u32>>,
    pub(super) machine: Option<Machine>,
    times: Vec<(&'static str, Time)>,
    rates: Vec<(&'static str, Rate)>,
    pub(super) resolved: Vec<(&'static str, Value)>,
}

const TIMES: [&str; 7] = ["alpha", "latency", "overhead", "gap", "hop", "matching", "on_node_alpha"];
const RATES: [&str; 3] = ["rate", "node_rate", "on_node_rate"];

pub(super) fn read(fields: &Fields, report: &mut Report<'_>) -> Model {
    let name = fields.text("form").unwrap_or_default();
    let known = Form::from_word(name);
    let form = known.unwrap_or(Form::MaxRate);
    for (key, forms) in SPECIAL {
        // A form that there is not was reported; what it would mean to other keys is not known.
        let fits = known.is_none() || forms.contains(&form);
        if let (false, Some(given)) = (fits, fields.given(key)) {
            let wanted: Vec<String> = forms.iter().map(|form| format!("\"{}\"", form.word())).collect();
            let message =
                format!("'{key}' means something only with form = {}, not \"{}\"", wanted.join(" or "), form.word());
            report.add(ProblemKind::Conflict, given.place, message, None);
        }
    }
    let mut rates = Vec::new();
    for key in RATES {
        let Some(rate) = fields.rate(key) else { continue };
        if rate.bits_per_s() == 0 {
            report.add(ProblemKind::Value, fields.place_of(key), format!("'{key}' must be above 0"), None);
        }
        rates.push((key, rate));
    }
    let scenarios = scenarios(fields, report);
    Model {
        form,
        parameters: fields.text("parameters").unwrap_or_default().to_owned(),
        scenarios,
        threads: match fields.value("threads") {
            Some(Value::Integer(n)) => Some(vec![u32::try_from(*n).expect("a count was checked when it was read")]),
            Some(Value::List(_)) => fields.counts("threads"),
            _ => None,
        },
        machine: None,
        times: TIMES.iter().filter_map(|key| Some((*key, fields.time(key)?))).collect(),
        rates,
        resolved: Vec::new(),
    }
}

fn scenarios(fields: &Fields, report: &mut Report<'_>) -> Vec<Scenario> {
    let Some(Value::List(names)) = fields.value("scenarios") else { return Scenario::ALL.to_vec() };
    let mut found: Vec<Scenario> = Vec::new();
    for name in names {
        let Value::Text(name) = name else { continue };
        let scenario = Scenario::from_name(name).expect("a name was checked when it was read");
        if found.contains(&scenario) {
            let message = format!("'scenarios' has '{name}' twice");
            report.add(ProblemKind::Conflict, fields.place_of("scenarios"), message, None);
        } else {
            found.push(scenario);
        }
    }
    if found.is_empty() {
        let message = "'scenarios' is empty; expected \"all\" or one name or more";
        report.add(ProblemKind::Value, fields.place_of("scenarios"), message, None);
    }
    found
}

/// The nearest whole picosecond.
fn time(seconds: f64) -> Time {
    Time((seconds * 1e12).round() as u64)
}

/// The nearest whole bit per second.
fn rate(bytes_per_s: f64) -> Rate {
    Rate::from_bits_per_s((bytes_per_s * 8.0).round().max(1.0) as u64)
}

impl Model {
    /// Takes the constants for what the keys leave open. What a key can say is rounded as the key would be, so that the
    /// resolved file gives the same run.
    pub(super) fn complete(&mut self, machine: Machine, parameters: String) {
        let busy = machine.thread_bandwidth.last().map_or(machine.node_bandwidth, |(_, bandwidth)| *bandwidth);
        let times = [
            ("alpha", machine.alpha_s),
            ("latency", machine.alpha_s),
            ("overhead", 0.0),
            ("gap", 0.0),
            ("hop", machine.gamma_s),
            ("matching", 0.0),
            ("on_node_alpha", machine.alpha_s),
        ];
        for (key, seconds) in times {
            if self.times.iter().all(|(name, _)| *name != key) {
                self.times.push((key, time(seconds)));
            }
        }
        let rates =
            [("rate", machine.measured_bandwidth()), ("node_rate", machine.node_bandwidth), ("on_node_rate", busy)];
        for (key, bytes_per_s) in rates {
            if self.rates.iter().all(|(name, _)| *name != key) {
                self.rates.push((key, rate(bytes_per_s)));
            }
        }
        self.machine = Some(machine);
        self.resolved = self.all_keys(parameters);
    }

    fn all_keys(&self, parameters: String) -> Vec<(&'static str, Value)> {
        let mut all = vec![("form", Value::text(self.form.word())), ("parameters", Value::Text(parameters))];
        if self.form == Form::Amg {
            let names = self.scenarios.iter().map(|scenario| Value::text(scenario.name())).collect();
            let threads = match self.threads.as_deref() {
                None => Value::text(AUTO.name),
                Some([one]) => Value::Integer((*one).into()),
                Some(many) => Value::List(many.iter().map(|&n| Value::Integer(n.into())).collect()),
            };
            all.extend([("scenarios", Value::List(names)), ("threads", threads)]);
        }
        let means = |key: &str| SPECIAL.iter().any(|(name, forms)| *name == key && forms.contains(&self.form));
        all.extend(TIMES.iter().filter(|key| means(key)).map(|key| (*key, Value::Time(self.time(key)))));
        all.extend(RATES.iter().filter(|key| means(key)).map(|key| (*key, Value::Rate(self.rate(key)))));
        all
    }

    /// The value of a key for a time, once complete.
    pub(super) fn time(&self, key: &str) -> Time {
        self.times.iter().find(|(name, _)| *name == key).expect("all times are there").1
    }

    /// The value of a key for a rate, once complete.
    pub(super) fn rate(&self, key: &str) -> Rate {
        self.rates.iter().find(|(name, _)| *name == key).expect("all rates are there").1
    }

    /// How messages are priced.
    pub(super) fn pricing(&self) -> Pricing {
        let seconds = |key: &str| self.time(key).as_s_f64();
        let bytes_per_s = |key: &str| self.rate(key).bytes_per_s_f64();
        let model = match self.form {
            Form::LogGp => MessageModel::LogGp {
                latency_s: seconds("latency"),
                overhead_s: seconds("overhead"),
                gap_s: seconds("gap"),
                gap_per_byte_s: 1.0 / bytes_per_s("rate"),
            },
            Form::MaxRate => MessageModel::MaxRate {
                alpha_s: seconds("alpha"),
                rank_rate: bytes_per_s("rate"),
                node_rate: bytes_per_s("node_rate"),
            },
            Form::Postal | Form::Amg => {
                MessageModel::Postal(Postal { alpha_s: seconds("alpha"), rate: bytes_per_s("rate") })
            }
        };
        Pricing {
            model,
            within_node: Some(Postal { alpha_s: seconds("on_node_alpha"), rate: bytes_per_s("on_node_rate") }),
            hop_s: seconds("hop"),
            match_s: seconds("matching"),
        }
    }
}
