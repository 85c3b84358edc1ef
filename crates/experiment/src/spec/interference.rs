//! `[interference]`: sets of jobs that run together. It is short for axes of a sweep: sets of jobs, routings, seeds.

use super::job::JobEntry;
use super::sweep::{by_name, SweepAxis};
use odonata_declare::{Choice, Key, Kind, Value};
use odonata_document::{suggestion, Entry, Fields, Place, PlacedValue, ProblemKind, Report, Section, Table};
use std::sync::LazyLock;

const CROSS: &str = "targets x backgrounds";
const MIXED: &str = "mixed";
const ALONE: &str = "alone";
const ABSENT: &str = "absent";
/// The axis of the sets of jobs. No key of the file is called so.
const JOBS: &str = "jobs";

const PAIRS: &[Choice] = &[
    Choice { name: ALONE, doc: "each target alone" },
    Choice { name: CROSS, doc: "also each target with each background, never with itself" },
    Choice { name: MIXED, doc: "each target alone, and all jobs of the file together" },
];
const OTHERS: &[Choice] = &[
    Choice { name: "idle", doc: "the other jobs hold their nodes and send nothing" },
    Choice { name: ABSENT, doc: "the other jobs are left out, so the file may have more jobs than fit on the machine" },
];
const NAMES: Kind = Kind::List(&Kind::Text);
// Statics: keys have destructors, and Rust 1.85 keeps no temporaries with destructors in constants.
static ROUTING_KEYS: [Key; 2] = [
    Key::required("name", Kind::Text, "The algorithm."),
    Key::required("preset", Kind::Text, "Source of its settings."),
];
static ROUTING_KINDS: [Kind; 2] = [Kind::Text, Kind::Line(&ROUTING_KEYS)];
static ROUTING: Kind = Kind::Any(&ROUTING_KINDS);
const ROUTINGS: Kind = Kind::List(&ROUTING);

/// The keys of `[interference]`.
pub(super) static SECTION: LazyLock<Section> = LazyLock::new(|| {
    let keys = vec![
        Key::required(
            "pairs",
            Kind::Any(&[Kind::Choice(PAIRS), Kind::List(&Kind::List(&Kind::Text))]),
            "Jobs that run together: `alone`, `targets x backgrounds`, `mixed`, or lists of names, `[[\"fft\", \"halo\"]]`. Every target \
             runs alone, too.",
        ),
        Key::optional("targets", NAMES, "all jobs; if `pairs` is lists, the first job of each", "Jobs whose slowdown is measured."),
        Key::optional("backgrounds", NAMES, "none", "Jobs that run with the targets."),
        Key::with_default("others", Kind::Choice(OTHERS), Value::text("idle"), "State of the other jobs."),
        Key::optional(
            "routings",
            ROUTINGS,
            "as in `[engine]`",
            "Routing algorithms, with their own defaults, or with a preset: `{ name = \"par\", preset = \"study\" }`.",
        ),
        Key::optional("seeds", Kind::List(&Kind::COUNT), "as in `[engine]`", "Seeds of the runs."),
    ];
    let doc = "Slowdown of jobs by other jobs. `odonata sweep` makes the runs, with the same nodes for a job in all runs, and the table `interference.parquet`. `odonata run` ignores the section. `[sweep]` may add axes.";
    Section::new("interference", doc, keys)
});

/// `[interference]` as it was written.
#[derive(Debug)]
pub(crate) struct Interference {
    /// The axes that it stands for; none without a section.
    pub(crate) axes: Vec<SweepAxis>,
    /// Whether the other jobs are absent, so that not all of them need fit on the machine.
    pub(crate) absent: bool,
}

/// Reads `[interference]`.
pub(super) fn read(section: Option<(&Entry, &Table)>, jobs: &[JobEntry], report: &mut Report<'_>) -> Interference {
    if section.is_none() {
        return Interference { axes: Vec::new(), absent: false };
    }
    let fields = SECTION.read(section, report);
    let sets = sets(&fields, jobs, report);
    let place = fields.place_of("pairs");
    let absent = fields.text("others") == Some(ABSENT);
    let mut axes: Vec<SweepAxis> = sets.iter().map(|sets| axis_of(sets, jobs, absent, Some(place))).collect();
    let one = |key: &str, name: &str| {
        let given = fields.given(name)?;
        let Value::List(values) = &given.value else { return None };
        Some(SweepAxis {
            key: key.to_owned(),
            values: by_name(values.iter().map(Value::to_json).collect()),
            overrides: values.iter().map(|value| vec![format!("{key}={}", value.to_toml())]).collect(),
            places: vec![given.place; values.len()],
            key_place: None,
        })
    };
    for (key, name) in [("engine.routing", "routings"), ("engine.seed", "seeds")] {
        let Some(axis) = one(key, name) else { continue };
        if axis.values.is_empty() {
            report.add(ProblemKind::Value, fields.place_of(name), format!("'{name}' is empty"), None);
        }
        if let Some(twice) = (1..axis.values.len()).find(|&i| axis.values[..i].contains(&axis.values[i])) {
            let message = format!("'{name}' has {} twice", axis.values[twice]);
            report.add(ProblemKind::Conflict, fields.place_of(name), message, None);
        }
        axes.push(axis);
    }
    Interference { axes, absent }
}

/// Every job alone, as an axis. It has a change for each pair of jobs, so it is made only where it is needed.
pub(super) fn alone(jobs: &[JobEntry], absent: bool) -> SweepAxis {
    let each: Vec<Set> = (0..jobs.len()).map(|job| Set::of(jobs, vec![job])).collect();
    axis_of(&each, jobs, absent, None)
}

fn axis_of(sets: &[Set], jobs: &[JobEntry], absent: bool, place: Option<Place>) -> SweepAxis {
    SweepAxis {
        key: JOBS.to_owned(),
        values: sets.iter().map(|set| set.label.as_str().into()).collect(),
        overrides: sets.iter().map(|set| set.overrides(jobs, absent)).collect(),
        places: place.map_or_else(Vec::new, |place| vec![place; sets.len()]),
        key_place: None,
    }
}

impl SweepAxis {
    /// Whether its values are sets of jobs.
    pub(super) fn is_of_jobs(&self) -> bool {
        self.key == JOBS
    }
}

/// Jobs that run at once.
struct Set {
    label: String,
    /// By their numbers in the file, in the order in which they were named.
    jobs: Vec<usize>,
}

impl Set {
    fn of(jobs: &[JobEntry], members: Vec<usize>) -> Self {
        let names: Vec<&str> = members.iter().map(|&job| jobs[job].name.as_str()).collect();
        Self { label: names.join("+"), jobs: members }
    }

    fn overrides(&self, jobs: &[JobEntry], absent: bool) -> Vec<String> {
        let others = jobs.iter().enumerate().filter(|(job, _)| !self.jobs.contains(job));
        let key = if absent { "absent" } else { "idle" };
        let mut overrides: Vec<String> =
            others.map(|(_, job)| format!("job.{}.{key}=true", quoted(&job.name))).collect();
        // Nobody is there for whom it could go on: it runs as often as it says.
        if let [job] = self.jobs[..] {
            if jobs[job].work.is_background() {
                overrides.push(format!("job.{}.background=false", quoted(&jobs[job].name)));
            }
        }
        overrides
    }

    fn is_like(&self, other: &Self) -> bool {
        self.jobs.len() == other.jobs.len() && self.jobs.iter().all(|job| other.jobs.contains(job))
    }
}

/// A name as a part of a dotted key.
fn quoted(name: &str) -> String {
    let bare = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if bare {
        name.to_owned()
    } else {
        toml::Value::from(name).to_string()
    }
}

/// The sets of jobs, each once: every target alone, then those together.
fn sets(fields: &Fields, jobs: &[JobEntry], report: &mut Report<'_>) -> Option<Vec<Set>> {
    let pairs = fields.given("pairs")?;
    let of = |key: &str, report: &mut Report<'_>| {
        fields.given(key).map(|given| {
            let Value::List(names) = &given.value else { return Some(Vec::new()) };
            let found = numbers(key, names, given.place, jobs, report)?;
            if found.is_empty() {
                report.add(ProblemKind::Value, given.place, format!("'{key}' is empty"), None);
            }
            Some(found)
        })
    };
    let (targets, backgrounds) = (of("targets", report), of("backgrounds", report));
    let crossed = matches!(&pairs.value, Value::Text(word) if word == CROSS);
    match &backgrounds {
        None if crossed => {
            let help = Some("add `backgrounds = [ … ]`, names of jobs".to_owned());
            report.add(ProblemKind::MissingKey, fields.place, format!("pairs = \"{CROSS}\" needs 'backgrounds'"), help);
            return None;
        }
        Some(_) if !crossed => {
            let message = format!("'backgrounds' means nothing unless pairs = \"{CROSS}\"");
            report.add(ProblemKind::Conflict, fields.place_of("backgrounds"), message, None);
            return None;
        }
        _ => {}
    }
    let lists = together(pairs, jobs, report)?;
    let targets = match targets {
        Some(given) => given?,
        None if lists.is_empty() && !crossed => (0..jobs.len()).collect(),
        None if crossed => {
            let behind = backgrounds.clone().flatten()?;
            (0..jobs.len()).filter(|job| !behind.contains(job)).collect()
        }
        None => lists.iter().map(|list| list[0]).collect(),
    };
    let alone = targets.iter().map(|&target| Set::of(jobs, vec![target]));
    let mut all: Vec<Set> = alone.chain(lists.into_iter().map(|list| Set::of(jobs, list))).collect();
    match &pairs.value {
        Value::Text(word) if word == MIXED => {
            all.push(Set { label: MIXED.to_owned(), jobs: (0..jobs.len()).collect() });
        }
        Value::Text(word) if word == CROSS => {
            let backgrounds = backgrounds.flatten()?;
            let pairs = targets.iter().flat_map(|&target| backgrounds.iter().map(move |&behind| (target, behind)));
            all.extend(pairs.filter(|(a, b)| a != b).map(|(target, behind)| Set::of(jobs, vec![target, behind])));
        }
        _ => {}
    }
    if let Some(reason) = too_many(all.len(), jobs.len()) {
        report.add(ProblemKind::Value, pairs.place, reason, Some("name fewer 'targets', or split the file".to_owned()));
        return None;
    }
    let mut each: Vec<Set> = Vec::new();
    for set in all {
        if !each.iter().any(|other| other.is_like(&set)) {
            each.push(set);
        }
    }
    Some(each)
}

/// Most sets of jobs times jobs: each set says of every other job that it is idle. 4 million of these changes take
/// 250 MB, and 2,000 jobs can each run alone.
const CHANGES_MAX: usize = 4_000_000;

/// Why there are too many sets, if there are.
fn too_many(sets: usize, jobs: usize) -> Option<String> {
    (sets.saturating_mul(jobs) > CHANGES_MAX).then(|| {
        format!(
            "'pairs' makes {sets} sets of jobs from {jobs} jobs; the number of sets times the number of jobs is at most \
             {CHANGES_MAX}"
        )
    })
}

/// The lists of `pairs`, if it is lists.
fn together(pairs: &PlacedValue<Value>, jobs: &[JobEntry], report: &mut Report<'_>) -> Option<Vec<Vec<usize>>> {
    let Value::List(lists) = &pairs.value else { return Some(Vec::new()) };
    if lists.is_empty() {
        report.add(ProblemKind::Value, pairs.place, "'pairs' is empty", None);
        return None;
    }
    let mut found = Vec::new();
    for list in lists {
        let Value::List(names) = list else { return None };
        if names.len() < 2 {
            let message =
                format!("'pairs' has a list of {} jobs; it names those that run at once, two or more", names.len());
            report.add(ProblemKind::Value, pairs.place, message, Some("every target runs alone anyway".to_owned()));
            return None;
        }
        found.push(numbers("pairs", names, pairs.place, jobs, report)?);
    }
    Some(found)
}

/// The numbers of jobs by their names.
fn numbers(key: &str, names: &[Value], place: Place, jobs: &[JobEntry], report: &mut Report<'_>) -> Option<Vec<usize>> {
    let mut found = Vec::new();
    for name in names {
        let Value::Text(name) = name else { return None };
        let Some(job) = jobs.iter().position(|job| job.name == *name) else {
            let help = suggestion(name, jobs.iter().map(|job| job.name.as_str()));
            report.add(ProblemKind::Value, place, format!("'{key}': there is no job '{name}'"), Some(help));
            return None;
        };
        if found.contains(&job) {
            report.add(ProblemKind::Conflict, place, format!("'{key}' has job '{name}' twice"), None);
            return None;
        }
        found.push(job);
    }
    Some(found)
}

/// Reports what both sections vary.
pub(super) fn check_overlap(interference: &[SweepAxis], sweep: &[SweepAxis], report: &mut Report<'_>) {
    for axis in interference {
        let same = |other: &&SweepAxis| other.key == axis.key || other.key == format!("{}.name", axis.key);
        if let (Some(other), Some(&place)) = (sweep.iter().find(same), axis.places.first()) {
            let message = format!("[interference] and [sweep] both vary '{}'", other.key);
            report.add(ProblemKind::Conflict, place, message, None);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Experiment;

    const FILE: &str = "[machine]\npreset = \"dragonfly-1056\"\n\n\
        [[job]]\nname = \"a\"\nranks = 8\npattern = \"all-to-all\"\n\n[[job]]\nname = \"b\"\nranks = 8\npattern = \"all-to-all\"\n\n\
        [[job]]\nname = \"c d\"\nranks = 8\npattern = \"all-to-all\"\n\n[interference]\n";

    /// Keys, and of each the values with what they change.
    type Axes = Vec<(String, Vec<(String, Vec<String>)>)>;

    fn axes(keys: &str) -> Axes {
        let spec = Experiment::new(format!("{FILE}{keys}"), "test.toml").spec().unwrap();
        let text = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let of = |axis: crate::SweepAxis| {
            (axis.key.clone(), axis.values.iter().map(text).zip(axis.overrides).collect::<Vec<_>>())
        };
        spec.into_sweep().into_iter().map(of).collect()
    }

    /// A background job ends when it is alone, and does not end with other jobs.
    #[test]
    fn a_job_in_the_background_alone() {
        let file = "[machine]\npreset = \"dragonfly-1056\"\n\
            [[job]]\nname = \"a\"\nranks = 8\npattern = \"all-to-all\"\ntraffic = { name = \"open\", load = 0.1 }\n\
            [[job]]\nname = \"b c\"\nranks = 8\nprogram = \"ring\"\nbackground = true\n\
            [[job]]\nname = \"d\"\nranks = 8\nprogram = \"ring\"\n\
            [interference]\npairs = [[\"d\", \"b c\"]]\ntargets = [\"a\", \"b c\", \"d\"]\n";
        let parse = |overrides: &[String]| Experiment::new(file, "test.toml").with_overrides(overrides).spec();
        let sweep = parse(&[]).unwrap().into_sweep();
        let labels: Vec<_> = sweep[0].values.iter().map(|label| label.as_str().unwrap()).collect();
        assert_eq!(labels, ["a", "b c", "d", "d+b c"]);
        assert_eq!(sweep[0].overrides[1], ["job.a.idle=true", "job.d.idle=true", "job.\"b c\".background=false"]);
        assert_eq!(sweep[0].overrides[3], ["job.a.idle=true"]);
        // The other one is idle with open traffic, and is not asked whether it ends.
        for overrides in &sweep[0].overrides {
            parse(overrides).unwrap();
        }
    }

    /// A job that is left out of the file has no run of its own.
    #[test]
    fn every_job_that_is_there_alone() {
        let text = FILE.replace("[interference]\n", "");
        let alone = Experiment::new(text, "test.toml").with_overrides(["job.b.absent=true"]).alone().unwrap();
        assert_eq!(alone.values, ["a", "c d"]);
        assert_eq!(alone.overrides, [["job.\"c d\".idle=true"], ["job.a.idle=true"]]);
    }

    #[test]
    fn sets_have_a_limit() {
        assert_eq!(super::too_many(2_000, 2_000), None);
        assert!(super::too_many(2_001, 2_000).unwrap().starts_with("'pairs' makes 2001 sets of jobs from 2000 jobs"));
    }

    fn labels(keys: &str) -> Vec<String> {
        axes(keys)[0].1.iter().map(|(label, _)| label.clone()).collect()
    }

    fn problem(keys: &str) -> String {
        let text = format!("{FILE}{keys}");
        let problems = Experiment::new(&text, "test.toml").spec().unwrap_err();
        problems.0[0].message.clone()
    }

    #[test]
    fn sets_of_jobs() {
        assert_eq!(labels("pairs = \"alone\""), ["a", "b", "c d"]);
        assert_eq!(labels("pairs = \"alone\"\ntargets = [\"b\"]"), ["b"]);
        assert_eq!(labels("pairs = \"mixed\"\ntargets = [\"b\", \"a\"]"), ["b", "a", "mixed"]);
        let crossed = "pairs = \"targets x backgrounds\"\nbackgrounds = [\"b\", \"c d\"]\n";
        assert_eq!(labels(crossed), ["a", "a+b", "a+c d"]);
        // A pair is run once, whoever is the target.
        let both = "targets = [\"a\", \"b\"]";
        assert_eq!(labels(&format!("{crossed}{both}")), ["a", "b", "a+b", "a+c d", "b+c d"]);
        assert_eq!(labels("pairs = [[\"b\", \"a\"], [\"a\", \"b\", \"c d\"]]"), ["b", "a", "b+a", "a+b+c d"]);
    }

    /// All others are idle, or not there; routings and seeds are axes of their own.
    #[test]
    fn what_a_point_changes() {
        let axes_of = axes("pairs = \"alone\"\ntargets = [\"a\"]\nroutings = [\"par\"]\nseeds = [1, 2]");
        let idle = vec!["job.b.idle=true".to_owned(), "job.\"c d\".idle=true".to_owned()];
        assert_eq!(axes_of[0], ("jobs".to_owned(), vec![("a".to_owned(), idle)]));
        assert_eq!(
            axes_of[1],
            ("engine.routing".to_owned(), vec![("par".to_owned(), vec!["engine.routing=\"par\"".into()])])
        );
        assert_eq!(axes_of[2].1[1], ("2".to_owned(), vec!["engine.seed=2".to_owned()]));
        let absent = axes("pairs = [[\"a\", \"b\"]]\nothers = \"absent\"");
        assert_eq!(absent[0].1[0].1, ["job.b.absent=true", "job.\"c d\".absent=true"]);
        assert_eq!(absent[0].1[1], ("a+b".to_owned(), vec!["job.\"c d\".absent=true".to_owned()]));
    }

    #[test]
    fn mistakes() {
        for (keys, message) in [
            (
                "targets = [\"a\"]",
                "[interference] lacks the key 'pairs': Jobs that run together: `alone`, `targets x backgrounds`, \
              `mixed`, or lists of names, `[[\"fft\", \"halo\"]]`",
            ),
            ("pairs = \"alone\"\ntargets = [\"e\"]", "'targets': there is no job 'e'"),
            ("pairs = \"alone\"\ntargets = []", "'targets' is empty"),
            ("pairs = \"alone\"\ntargets = [\"a\", \"a\"]", "'targets' has job 'a' twice"),
            ("pairs = []", "'pairs' is empty"),
            ("pairs = [[\"a\"]]", "'pairs' has a list of 1 jobs; it names those that run at once, two or more"),
            ("pairs = \"targets x backgrounds\"", "pairs = \"targets x backgrounds\" needs 'backgrounds'"),
            (
                "pairs = \"mixed\"\nbackgrounds = [\"a\"]",
                "'backgrounds' means nothing unless pairs = \"targets x backgrounds\"",
            ),
            ("pairs = \"alone\"\nseeds = []", "'seeds' is empty"),
            ("pairs = \"alone\"\nseeds = [3, 3]", "'seeds' has 3 twice"),
            ("pairs = \"alone\"\nbackground = [\"a\"]", "unknown key 'background' in [interference]"),
            (
                "pairs = \"alone\"\nroutings = [\"min\"]\n\n[sweep]\n\"engine.routing\" = [\"par\"]",
                "[interference] and [sweep] both vary 'engine.routing'",
            ),
        ] {
            assert!(problem(keys).starts_with(message), "{keys}: {}", problem(keys));
        }
    }
}
