//! `[[traffic_class]]`: the traffic classes, and those that jobs name.

use super::job::JobEntry;
use odonata_declare::{Key, Kind, ParameterStruct};
use odonata_document::{expect_table, suggestion, Entry, Fields, Place, ProblemKind, Raw, Report, Section};
use odonata_engines::{check_control, ClassSettings, ControlSettings, JobClass, TrafficClass, TrafficClasses};
use odonata_workload::JobSettings;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// The keys of `[[traffic_class]]`.
pub(super) static SECTION: LazyLock<Section> = LazyLock::new(|| {
    let mut keys = vec![Key::required("name", Kind::Text, "Unique name, for the key `traffic_class` of jobs.")];
    keys.extend(ClassSettings::default().keys());
    keys.push(Key::optional(
        "control",
        Kind::Table(&CONTROL),
        "the control of `[engine]`",
        "Congestion control of its packets, with the keys of `[engine.control]`.",
    ));
    Section {
        name: "traffic_class",
        repeated: true,
        doc: "A traffic class of the packet engine: its own virtual channels and buffers, and a share of every link. The \
              section is repeated for each class. Without it, all traffic is in one class. Other engines ignore classes.",
        keys,
        choosers: Vec::new(),
    }
});

static CONTROL: LazyLock<Vec<Key>> = LazyLock::new(|| ControlSettings::default().keys());

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
        let mut fields = Fields::read_all("[[traffic_class]]", item.place, table, &SECTION.keys, report);
        let mut settings = ClassSettings::default();
        fields.set(&mut settings);
        if let Some(entry) = table.get("control") {
            settings.control = read_control(entry, &mut fields, report);
        }
        let name = fields.text("name").unwrap_or_default().to_owned();
        all.push((TrafficClass { name, settings }, fields));
    }
    let classes = TrafficClasses { list: all.iter().map(|(class, _)| class.clone()).collect(), of_job: Vec::new() };
    if let Err(error) = classes.check() {
        let mut path = error.setting.split('.').skip(1);
        let fields = path.next().and_then(|number| number.parse().ok()).and_then(|number: usize| all.get(number));
        let fields = fields.map(|(_, fields)| fields);
        let key = path.next().unwrap_or_default();
        let (fields, key) = path.next().map_or((fields, key), |of| (fields.and_then(|f| f.table(key)), of));
        let place = fields.map_or(entry.place, |fields| place_of(fields, key));
        report.add(ProblemKind::Value, place, format!("'{key}': {}", error.reason), None);
    }
    classes.list
}

/// Reads the control of a class.
fn read_control(entry: &Entry, fields: &mut Fields, report: &mut Report<'_>) -> Option<ControlSettings> {
    let table = expect_table(entry, "control = { name = \"pair\" }", report)?;
    let given = Fields::read_all("[traffic_class.control]", entry.place, table, &CONTROL, report);
    let mut control = ControlSettings::default();
    given.set(&mut control);
    check_control(&control, &given, report);
    fields.tables.push(("control", given));
    Some(control)
}

/// The classes that an engine knows and jobs name, with its first one; none if no job names any.
pub(super) fn named(known: Vec<TrafficClass>, jobs: &[JobEntry]) -> Vec<TrafficClass> {
    let names: BTreeSet<&str> = jobs
        .iter()
        .flat_map(|job| [&job.settings.traffic_class, &job.settings.large_class])
        .flatten()
        .map(String::as_str)
        .collect();
    let is_named = |class: &TrafficClass| names.contains(class.name.as_str());
    if !known.iter().any(is_named) {
        return Vec::new();
    }
    known
        .into_iter()
        .enumerate()
        .filter(|(number, class)| *number == 0 || is_named(class))
        .map(|(_, class)| class)
        .collect()
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
    fn classes_have_their_control() {
        let control = "[traffic_class.control]\nname = \"window\"\nrule = \"nscc\"\n";
        let plan = Experiment::new(file(&format!("{TWO}{control}"), ""), "test.toml").plan().unwrap();
        let list = &plan.scenario.classes.list;
        let words: Vec<_> = list.iter().map(|class| class.settings.control.as_ref().map(|c| c.rule().word())).collect();
        assert_eq!(words, [None, Some("nscc")]);
        let again = Experiment::new(plan.resolved.clone(), "resolved.toml").plan().unwrap();
        assert_eq!((&again.scenario.classes, &again.resolved), (&plan.scenario.classes, &plan.resolved));
    }

    /// The preset of Slingshot knows its classes; those that jobs name exist.
    #[test]
    fn slingshot_has_classes() {
        let engine = "[engine]\nkind = \"packet\"\npreset = \"slingshot\"\n\n";
        let names = |job: &str| {
            let plan = Experiment::new(file(engine, job), "test.toml").plan().unwrap();
            plan.scenario.classes.list.iter().map(|class| class.name.clone()).collect::<Vec<_>>()
        };
        assert_eq!(names("traffic_class = \"low-latency\""), ["best-effort", "low-latency"]);
        assert_eq!(names("traffic_class = \"best-effort\""), ["best-effort"]);
        assert!(names("").is_empty());
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
        let control = |keys: &str| problem(&format!("{TWO}control = {{ {keys} }}\n"), "");
        assert!(control("name = \"paire\"").contains("did you mean 'pair'?"));
        assert!(control("name = \"pair\", gain = 0.5").contains("'gain' means something only with rule"));
        assert!(control("name = \"pair\", q_lo = \"9 KiB\"").starts_with("'q_lo': 9 KiB is not below q_hi, 8 KiB"));
    }
}
