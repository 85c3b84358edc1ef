//! `[cluster]`: resources of the batch jobs of a sweep. No result of a run depends on it.

use odonata_declare::{Key, Kind, Value};
use odonata_document::{Entry, Fields, ProblemKind, Report, Section, Table};
use std::sync::LazyLock;

const LINES: Kind = Kind::List(&Kind::Text);

/// The keys of `[cluster]`.
pub(super) static SECTION: LazyLock<Section> = LazyLock::new(|| {
    let keys = vec![
        Key::required("cores", Kind::COUNT, "Processors of a batch job."),
        Key::required("memory", Kind::Bytes, "Memory of a batch job."),
        Key::required(
            "walltime",
            Kind::Text,
            "Time limit of a batch job, longer than the longest point, in the format of the batch system: `\"04:00:00\"`.",
        ),
        Key::with_default("jobs", Kind::COUNT, Value::Integer(1), "Batch jobs that run at the same time."),
        Key::optional("queue", Kind::Text, "the batch system's", "Queue or partition."),
        Key::optional("account", Kind::Text, "the batch system's", "Account or project to charge."),
        Key::optional(
            "directives",
            LINES,
            "none",
            "Other options of the batch system, each as written after `#SBATCH`, `#PBS` or `#BSUB`: `[\"--constraint=cpu\"]`.",
        ),
        Key::optional("setup", LINES, "none", "Shell commands before the workers start: `[\"module load python\"]`."),
        Key::optional(
            "python",
            Kind::Text,
            "the Python of `odonata`",
            "Command that starts Python in a batch job: `\"apptainer exec odonata.sif python3\"`.",
        ),
    ];
    let doc = "Resources that `odonata sweep --on slurm`, `pbs` or `lsf` requests from the batch system. Other commands ignore the section, and no result depends on it.";
    Section::new("cluster", doc, keys)
});

/// Reports values that would add a line to the job script, or an option to one of its lines.
fn check_script_values(fields: &Fields, report: &mut Report<'_>) {
    for (key, given) in fields.all_given() {
        let (allowed, expected): (fn(char) -> bool, _) = match key {
            "queue" | "account" | "walltime" => (|c| !c.is_control() && !c.is_whitespace(), "one word"),
            "directives" | "python" => (|c| !c.is_control(), "text without line breaks"),
            _ => continue,
        };
        let texts = match &given.value {
            Value::List(values) => values.iter().collect(),
            one => vec![one],
        };
        for value in texts {
            if let Value::Text(text) = value {
                if text.is_empty() || !text.chars().all(allowed) {
                    let message = format!("'{key}' = {text:?} cannot stand in a job script; expected {expected}");
                    report.add(ProblemKind::Value, given.place, message, None);
                }
            }
        }
    }
}

/// The values of `[cluster]`, given or by default, in the order of the declaration; none without a section. Memory
/// is a number of bytes.
pub(super) fn read(
    section: Option<(&Entry, &Table)>,
    report: &mut Report<'_>,
) -> Vec<(&'static str, serde_json::Value)> {
    if section.is_none() {
        return Vec::new();
    }
    let fields = SECTION.read(section, report);
    check_script_values(&fields, report);
    let plain = |value: &Value| match value {
        Value::Bytes(bytes) => bytes.0.into(),
        other => other.to_json(),
    };
    fields.all_values().map(|(key, value)| (key, plain(value))).collect()
}

#[cfg(test)]
mod tests {
    use crate::Experiment;

    const RUN: &str = "machine.preset = 'edison'\n[[job]]\nranks = 4\npattern = 'uniform'\n[engine]\nrouting = 'min'\n";

    fn cluster(keys: &str, overrides: &[&str]) -> Result<Vec<(&'static str, serde_json::Value)>, String> {
        let given =
            Experiment::new(format!("{RUN}[cluster]\n{keys}"), "a.toml").with_overrides(overrides.iter().copied());
        given.cluster().map_err(|problems| problems.to_string())
    }

    /// 2 GiB are 2^31 B.
    #[test]
    fn values_are_given_or_by_default() {
        let found = cluster("cores = 4\nmemory = '2 GiB'\nwalltime = '1:30'\nqueue = 'debug'", &[]).unwrap();
        let expected = [("cores", 4.into()), ("memory", (1_u64 << 31).into()), ("walltime", "1:30".into())];
        assert_eq!(found[..3], expected);
        assert_eq!(found[3..], [("jobs", 1.into()), ("queue", "debug".into())]);
        let more = cluster("cores = 1\nmemory = '1 MB'\nwalltime = '1'", &["cluster.jobs=3"]).unwrap();
        assert_eq!(more[3..], [("jobs", 3.into())]);
        assert_eq!(
            cluster("cores = 1\nmemory = '1 MB'\nwalltime = '1'", &["cluster.setup=['a b']"]).unwrap()[4].0,
            "setup"
        );
    }

    #[test]
    fn mistakes_are_named() {
        let wrong = |keys: &str| cluster(keys, &[]).unwrap_err();
        assert!(wrong("cores = 4\nmemory = '2 GiB'").contains("[cluster] lacks the key 'walltime'"));
        let misspelt = wrong("cores = 4\nmemory = '2 GiB'\nwalltime = '1:00'\nquue = 'a'");
        assert!(misspelt.contains("unknown key 'quue' in [cluster]") && misspelt.contains("'queue'"), "{misspelt}");
        for (key, text) in [
            ("queue", "\"a\\n#SBATCH --wrap=id\""),
            ("account", "'a b'"),
            ("walltime", "\"1:00\\r\""),
            ("python", "\"python3\\nid\""),
            ("directives", "[\"-X\\nid\"]"),
        ] {
            let walltime = if key == "walltime" { "" } else { "walltime = '1:00'\n" };
            let said = wrong(&format!("cores = 4\nmemory = '2 GiB'\n{walltime}{key} = {text}"));
            assert!(said.contains(&format!("'{key}' = ")) && said.contains("cannot stand in a job script"), "{said}");
        }
        assert!(wrong("cores = 0\nmemory = '2 GiB'\nwalltime = '1:00'").contains("cores"));
    }
}
