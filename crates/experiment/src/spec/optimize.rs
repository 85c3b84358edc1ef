//! `[optimize]`: objectives and constraints of a search over the combinations of `[sweep]`. No result of a run depends on it.

use super::job::JobEntry;
use odonata_declare::{Choice, Key, Kind, Value};
use odonata_document::{suggestion, Entry, Place, PlacedValue, ProblemKind, Report, Section, Table};
use std::sync::LazyLock;

/// Quantities, in addition to `time of NAME`.
const QUANTITIES: [&str; 3] = ["slowest job", "hottest link", "price"];
const TIME_OF: &str = "time of ";

const SAMPLERS: &[Choice] = &[
    Choice { name: "auto", doc: "all combinations if at most `trials`, otherwise `tpe`" },
    Choice { name: "grid", doc: "all combinations, in a fixed order" },
    Choice { name: "random", doc: "combinations drawn uniformly" },
    Choice { name: "tpe", doc: "tree-structured Parzen estimator" },
    Choice { name: "nsga2", doc: "the genetic algorithm NSGA-II" },
];

const LIMIT: &[Key] = &[
    Key::required("quantity", Kind::Text, "One of the quantities of `objectives`."),
    Key::required(
        "max",
        Kind::Number { min: 0.0, max: f64::INFINITY },
        "Maximum, in seconds or in the unit of prices.",
    ),
];

/// The keys of `[optimize]`.
pub(super) static SECTION: LazyLock<Section> = LazyLock::new(|| {
    let keys = vec![
        Key::required(
            "objectives",
            Kind::List(&Kind::Text),
            "Quantities to minimize: `slowest job`, `hottest link` (bytes over capacity, in seconds), `price` (of all cables, from the `price` of their classes), or `time of NAME` of a job. For several, the search finds the Pareto front.",
        ),
        Key::optional(
            "constraints",
            Kind::List(&Kind::Line(LIMIT)),
            "no constraints",
            "Upper limits of quantities: `[{ quantity = \"price\", max = 1.5e6 }]`. A quantity needs no objective.",
        ),
        Key::with_default("trials", Kind::COUNT, Value::Integer(100), "Combinations to try. Trials run in batches of eight, so up to seven more may run."),
        Key::with_default("sampler", Kind::Choice(SAMPLERS), Value::text("auto"), "Algorithm that proposes the next combination."),
    ];
    let doc = "Search of `odonata optimize` over the combinations of `[sweep]`. Seeds are repetitions, and quantities are means over them. Other commands ignore the section.";
    Section::new("optimize", doc, keys)
});

/// The values of `[optimize]`, given or by default, in the order of the declaration; none without a section.
pub(super) fn read(
    section: Option<(&Entry, &Table)>,
    jobs: &[JobEntry],
    report: &mut Report<'_>,
) -> Vec<(&'static str, serde_json::Value)> {
    if section.is_none() {
        return Vec::new();
    }
    let fields = SECTION.read(section, report);
    let named = |located: &PlacedValue<Value>| match &located.value {
        Value::List(values) => values
            .iter()
            .filter_map(|value| match value {
                Value::Text(quantity) => Some(quantity.clone()),
                Value::Table(keys) => keys.iter().find_map(|(key, value)| match value {
                    Value::Text(quantity) if *key == "quantity" => Some(quantity.clone()),
                    _ => None,
                }),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    };
    for key in ["objectives", "constraints"] {
        let Some(located) = fields.given(key) else { continue };
        let named: Vec<String> = named(located);
        if named.is_empty() {
            report.add(ProblemKind::Value, located.place, format!("'{key}' is empty"), None);
        }
        for (i, quantity) in named.iter().enumerate() {
            check(quantity, jobs, located.place, report);
            if named[..i].contains(quantity) {
                report.add(ProblemKind::Conflict, located.place, format!("'{key}' has '{quantity}' twice"), None);
            }
        }
    }
    fields.all_values().map(|(key, value)| (key, value.to_json())).collect()
}

fn check(quantity: &str, jobs: &[JobEntry], place: Place, report: &mut Report<'_>) {
    let names = || jobs.iter().map(|job| job.name.as_str());
    let (message, help) = match quantity.strip_prefix(TIME_OF) {
        _ if QUANTITIES.contains(&quantity) => return,
        Some(job) if names().any(|name| name == job) => return,
        Some(job) => (format!("no job is called '{job}'"), suggestion(job, names())),
        None => (
            format!("unknown quantity '{quantity}'"),
            match suggestion(quantity, QUANTITIES) {
                question if question.ends_with('?') => question,
                known => format!("{known}, {TIME_OF}JOB"),
            },
        ),
    };
    report.add(ProblemKind::Name, place, message, Some(help));
}

#[cfg(test)]
mod tests {
    use crate::Experiment;

    const RUN: &str = "machine.preset = 'edison'\n[[job]]\nname = 'cfd'\nranks = 4\npattern = 'uniform'\n[optimize]\n";

    fn optimize(keys: &str) -> Result<Vec<(&'static str, serde_json::Value)>, String> {
        Experiment::new(format!("{RUN}{keys}"), "a.toml").optimize().map_err(|problems| problems.to_string())
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
            ("objectives = ['xyz']", "price, time of JOB"),
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
            assert!(message.contains(wrong) && !message.contains("?;"), "{message}");
        }
    }
}
