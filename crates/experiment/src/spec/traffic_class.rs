//! `[[traffic_class]]`: the traffic classes, and those that jobs name.

use super::job::{JobEntry, WorkEntry};
use odonata_declare::{Key, Kind, ParameterStruct};
use odonata_document::{suggestion, Entry, Fields, Place, ProblemKind, Raw, Report, Section};
use odonata_engines::{ClassSettings, JobClass, TrafficClass, TrafficClasses};
use odonata_workload::JobSettings;
use std::sync::LazyLock;

/// The keys of `[[traffic_class]]`.
pub(super) static SECTION: LazyLock<Section> = LazyLock::new(|| {
    let mut keys = vec![Key::required("name", Kind::Text, "Unique name, for the key `traffic_class` of jobs.")];
    keys.extend(ClassSettings::default().keys());
    Section {
        name: "traffic_class",
        repeated: true,
        doc: "A traffic class of the packet engine: its own virtual channels and buffers, and a share of every link. The \
              section is repeated for each class. Without it, all traffic is in one class. Other engines ignore classes.",
        keys,
        choosers: Vec::new(),
    }
});

/// Reads all classes.
pub(super) fn read_all(given: Option<&Entry>, report: &mut Report<'_>) -> Vec<TrafficClass> {
    let Some(entry) = given else { return Vec::new() };
    let Raw::List(items) = &entry.node.raw else {
        let message = format!("'traffic_class' must be a list of tables, found {}", entry.node.raw.noun());
        report.add(ProblemKind::Type, entry.place, message, Some("write [[traffic_class]] with two brackets".into()));
        return Vec::new();
    };
    let mut all: Vec<(TrafficClass, Fields)> = Vec::new();
    for item in items {
        let Raw::Table(table) = &item.raw else {
            let message = format!("a traffic class must be a table, found {}", item.raw.noun());
            report.add(ProblemKind::Type, item.place, message, None);
            continue;
        };
        let fields = Fields::read_all("[[traffic_class]]", item.place, table, &SECTION.keys, report);
        let mut settings = ClassSettings::default();
        fields.set(&mut settings);
        let name = fields.text("name").unwrap_or_default().to_owned();
        all.push((TrafficClass { name, settings }, fields));
    }
    let classes = TrafficClasses { list: all.iter().map(|(class, _)| class.clone()).collect(), of_job: Vec::new() };
    if let Err(error) = classes.check() {
        let mut path = error.setting.split('.').skip(1);
        let fields = path.next().and_then(|number| number.parse().ok()).and_then(|number: usize| all.get(number));
        let key = path.next().unwrap_or_default();
        let place = fields.map_or(entry.place, |(_, fields)| place_of(fields, key));
        report.add(ProblemKind::Value, place, format!("'{key}': {}", error.reason), None);
    }
    classes.list
}

fn place_of(fields: &Fields, key: &str) -> Place {
    fields.given(key).map_or(fields.place, |given| given.place)
}

/// Reports classes of jobs that do not exist, and keys that mean nothing without another one.
pub(super) fn check_jobs(jobs: &[JobEntry], classes: &[TrafficClass], report: &mut Report<'_>) {
    for job in jobs {
        let JobSettings { traffic_class, large_class, large_from, .. } = &job.settings;
        for (key, name) in [("traffic_class", traffic_class), ("large_class", large_class)] {
            let Some(name) = name.as_deref().filter(|name| !classes.iter().any(|class| class.name == **name)) else {
                continue;
            };
            let help = match classes.is_empty() {
                true => format!("add a section [[traffic_class]] with `name = \"{name}\"`"),
                false => suggestion(name, classes.iter().map(|class| class.name.as_str())),
            };
            let message = format!("job '{}': unknown traffic class '{name}' in '{key}'", job.name);
            report.add(ProblemKind::Value, job.place_of(key), message, Some(help));
        }
        let lacks = |key, other| format!("job '{}': '{key}' means nothing without '{other}'", job.name);
        match (large_class, large_from) {
            (Some(_), None) => {
                let help = Some("add `large_from = \"8 KiB\"`".to_owned());
                report.add(
                    ProblemKind::Conflict,
                    job.place_of("large_class"),
                    lacks("large_class", "large_from"),
                    help,
                );
            }
            (None, Some(_)) => {
                report.add(ProblemKind::Conflict, job.place_of("large_from"), lacks("large_from", "large_class"), None);
            }
            (Some(_), Some(_)) if matches!(job.work, WorkEntry::Program { .. }) => {
                let message = format!(
                    "job '{}' has a program, whose messages keep their order, so all are in one traffic class",
                    job.name
                );
                let help = Some("remove `large_class` and `large_from`, or write a pattern".to_owned());
                report.add(ProblemKind::Conflict, job.place_of("large_class"), message, help);
            }
            _ => {}
        }
    }
}

/// The classes, and the classes of some jobs. A job that names none is in the first class.
pub(crate) fn assign<'a>(list: Vec<TrafficClass>, jobs: impl Iterator<Item = &'a JobSettings>) -> TrafficClasses {
    let number = |name: &Option<String>| {
        let named = name.as_ref().and_then(|name| list.iter().position(|class| class.name == *name));
        named.unwrap_or_default() as u8
    };
    let of = |job: &JobSettings| JobClass {
        class: number(&job.traffic_class),
        large: job.large_from.filter(|_| job.large_class.is_some()).map(|from| (from, number(&job.large_class))),
    };
    let of_job = if list.is_empty() { Vec::new() } else { jobs.map(of).collect() };
    TrafficClasses { list, of_job }
}

#[cfg(test)]
mod tests {
    use crate::Experiment;

    fn file(classes: &str, job: &str) -> String {
        format!(
            "[machine]\npreset = \"dragonfly-1056\"\n\n{classes}\n[[job]]\nranks = 8\npattern = \"all-to-all\"\n{job}\n\
             [[job]]\nranks = 8\npattern = \"all-to-all\"\n"
        )
    }

    const TWO: &str =
        "[[traffic_class]]\nname = \"fast\"\npreset = \"low-latency\"\n[[traffic_class]]\nname = \"bulk\"\n";

    #[test]
    fn jobs_get_their_classes() {
        let text = file(TWO, "traffic_class = \"bulk\"\nlarge_class = \"fast\"\nlarge_from = \"8 KiB\"");
        let plan = Experiment::new(text, "test.toml").plan().unwrap();
        let classes = &plan.scenario.classes;
        let of = |job, bytes| classes.of_job(job).of_message(bytes);
        assert_eq!([of(0, 8_191), of(0, 8_192), of(1, 8_192)], [1, 0, 0]);
        assert_eq!((classes.list[0].settings.priority, classes.list[0].settings.maximum_share), (1, 0.25));
        // The resolved file means the same.
        let again = Experiment::new(plan.resolved.clone(), "resolved.toml").plan().unwrap();
        assert_eq!(again.scenario.classes, *classes);
        assert_eq!(again.resolved, plan.resolved);
    }

    #[test]
    fn without_classes_the_resolved_file_has_none() {
        let plan = Experiment::new(file("", ""), "test.toml").plan().unwrap();
        assert!(!plan.resolved.contains("class = ") && !plan.resolved.contains("traffic_class"), "{}", plan.resolved);
    }

    #[test]
    fn mistakes_have_a_place_and_help() {
        let problem = |classes: &str, job: &str| {
            let problems = Experiment::new(file(classes, job), "test.toml").spec().unwrap_err();
            format!("{} | {}", problems.0[0].message, problems.0[0].help.clone().unwrap_or_default())
        };
        assert_eq!(
            problem(TWO, "traffic_class = \"bulc\""),
            "job 'job0': unknown traffic class 'bulc' in 'traffic_class' | did you mean 'bulk'?"
        );
        assert_eq!(
            problem("", "traffic_class = \"bulk\""),
            "job 'job0': unknown traffic class 'bulk' in 'traffic_class' | add a section [[traffic_class]] with `name = \"bulk\"`"
        );
        assert!(problem(TWO, "large_class = \"bulk\"").contains("means nothing without 'large_from'"));
        let share = format!("{TWO}minimum_share = 0.5\nmaximum_share = 0.25\n");
        assert!(problem(&share, "").starts_with("'minimum_share': 0.5 is above maximum_share, 0.25"));
        let twice = format!("{TWO}[[traffic_class]]\nname = \"fast\"\n");
        assert!(problem(&twice, "").starts_with("'name': another traffic class is called 'fast'"));
        assert!(problem("traffic_class = 3\n", "").starts_with("unknown key 'traffic_class'"));
    }
}
