//! `[optimize]`: what is to be small among the combinations of `[sweep]`. No run and no result depends on it.

use super::job::JobEntry;
use super::sections::{self, unknown_keys};
use crate::document::{Entry, Place, Table};
use crate::fields::{Fields, Located};
use crate::problem::{suggestion, ProblemKind};
use crate::report::Report;
use crate::section::Section;
use odonata_declare::{Choice, Key, Kind, Value};

/// What may be asked for, beside `time of NAME`.
const AIMS: [&str; 3] = ["slowest job", "hottest link", "price"];
const TIME_OF: &str = "time of ";

const SAMPLERS: &[Choice] = &[
    Choice { name: "auto", doc: "every combination if there are no more than `trials`, else `tpe`" },
    Choice { name: "grid", doc: "every combination, in an order of its own" },
    Choice { name: "random", doc: "combinations drawn evenly" },
    Choice { name: "tpe", doc: "tree-structured Parzen estimator" },
    Choice { name: "nsga2", doc: "the genetic algorithm NSGA-II" },
];

const LIMIT: &[Key] = &[
    Key::required("quantity", Kind::Text, "One of the aims."),
    Key::required("max", Kind::Number { min: 0.0, max: f64::INFINITY }, "Its most, in seconds or the unit of prices."),
];

/// The keys of `[optimize]`.
pub(crate) fn section() -> Section {
    let keys = vec![
        Key::required(
            "objectives",
            Kind::List(&Kind::Text),
            "What is to be small: `slowest job`, `hottest link` (bytes over capacity, in seconds), `price` (of all cables, by the `price` of \
             their classes), or `time of NAME`, of a job. Of several the front is searched: what is best in none of them alone.",
        ),
        Key::optional(
            "constraints",
            Kind::List(&Kind::Line(LIMIT)),
            "nothing is limited",
            "Limits, `[{ quantity = \"price\", max = 1.5e6 }]`, of any of these, minimised or not.",
        ),
        Key::with_default("trials", Kind::COUNT, Value::Integer(100), "Combinations to try; they are tried in eights, so it may be some more."),
        Key::with_default("sampler", Kind::Choice(SAMPLERS), Value::text("auto"), "How the next combination is found."),
    ];
    Section {
        name: "optimize",
        repeated: false,
        doc: "What `odonata optimize` looks for among the combinations of `[sweep]`, whose seeds are repetitions: aims are means over them. \
              Everything else ignores the section.",
        keys,
        choosers: Vec::new(),
    }
}

/// The values of `[optimize]`, given or by default, in the order of the declaration; none without a section.
pub(super) fn read(
    section: Option<(&Entry, &Table)>,
    jobs: &[JobEntry],
    report: &mut Report<'_>,
) -> Vec<(&'static str, serde_json::Value)> {
    let Some((entry, table)) = section else { return Vec::new() };
    let keys = &sections::section("optimize").keys;
    let known: Vec<&'static str> = keys.iter().map(|key| key.name).collect();
    unknown_keys("[optimize]", table, &known, |_| None, report);
    let fields = Fields::read("[optimize]", entry.place, table, keys, report);
    let aims = |located: &Located<Value>| match &located.value {
        Value::List(values) => values
            .iter()
            .filter_map(|value| match value {
                Value::Text(aim) => Some(aim.clone()),
                Value::Table(keys) => keys.iter().find_map(|(key, value)| match value {
                    Value::Text(aim) if *key == "quantity" => Some(aim.clone()),
                    _ => None,
                }),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    };
    for key in ["objectives", "constraints"] {
        let Some(located) = fields.given(key) else { continue };
        let named: Vec<String> = aims(located);
        if named.is_empty() {
            report.add(ProblemKind::Value, located.place, format!("'{key}' is empty"), None);
        }
        for (i, aim) in named.iter().enumerate() {
            check(aim, jobs, located.place, report);
            if named[..i].contains(aim) {
                report.add(ProblemKind::Conflict, located.place, format!("'{key}' has '{aim}' twice"), None);
            }
        }
    }
    known.into_iter().filter_map(|key| Some((key, fields.value(key)?.to_json()))).collect()
}

fn check(aim: &str, jobs: &[JobEntry], place: Place, report: &mut Report<'_>) {
    let names = || jobs.iter().map(|job| job.name.as_str());
    let (message, help) = match aim.strip_prefix(TIME_OF) {
        _ if AIMS.contains(&aim) => return,
        Some(job) if names().any(|name| name == job) => return,
        Some(job) => (format!("no job is called '{job}'"), suggestion(job, names())),
        None => (format!("no aim is called '{aim}'"), format!("{}; or '{TIME_OF}' and a job", suggestion(aim, AIMS))),
    };
    report.add(ProblemKind::Name, place, message, Some(help));
}

#[cfg(test)]
mod tests {
    use crate::ExperimentSpec;

    const RUN: &str = "machine.preset = 'edison'\n[[job]]\nname = 'cfd'\nranks = 4\npattern = 'uniform'\n[optimize]\n";

    fn optimize(keys: &str) -> Result<Vec<(&'static str, serde_json::Value)>, String> {
        let spec = ExperimentSpec::parse::<&str>(&format!("{RUN}{keys}"), "a.toml", &[]);
        spec.map(ExperimentSpec::into_optimize).map_err(|problems| problems.to_string())
    }

    #[test]
    fn values_are_given_or_by_default() {
        let found =
            optimize("objectives = ['time of cfd', 'price']\nconstraints = [{ quantity = 'price', max = 3 }]").unwrap();
        let expected = [
            ("objectives", serde_json::json!(["time of cfd", "price"])),
            ("constraints", serde_json::json!([{ "quantity": "price", "max": 3.0 }])),
            ("trials", 100.into()),
            ("sampler", "auto".into()),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn mistakes_are_named() {
        for (keys, wrong) in [
            ("objectives = ['slowst job']", "did you mean 'slowest job'?"),
            ("objectives = ['time of cdf']", "no job is called 'cdf'"),
            ("objectives = []", "'objectives' is empty"),
            ("objectives = ['price', 'price']", "'objectives' has 'price' twice"),
            (
                "objectives = ['price']\nconstraints = [{ quantity = 'price' }]",
                "a line of 'constraints' lacks the key 'max'",
            ),
            ("objectives = ['price']\nsampler = 'tpw'", "did you mean 'tpe'?"),
            ("trials = 3", "[optimize] lacks the key 'objectives'"),
        ] {
            let message = optimize(keys).unwrap_err();
            assert!(message.contains(wrong), "{message}");
        }
    }
}
