//! Algorithms of collectives as the file selects them, and how the output names them.

use odonata_experiment::{Experiment, Values};
use serde_json::Value;

fn experiment(mpi: &str) -> Experiment {
    let text = format!(
        "format = 3\n[machine]\ntopology = 'fat-tree'\nk = 16\nlevels = 2\n[[job]]\nname = 'a'\nranks = 64\nranks_per_node = 1\n\
         program = {{ name = 'allreduce', bytes = '1 MiB', iterations = 3, compute = '0 ns' }}\n{mpi}\n\
         [engine]\nkind = 'packet'\nrouting = 'up-down-adaptive'\n"
    );
    Experiment::new(&text, "run.toml")
}

fn checked(mpi: &str) -> Value {
    experiment(mpi).check().unwrap_or_else(|error| panic!("{mpi}: {error:?}")).summary
}

/// Operation, algorithm, who chose it and calls of each row.
fn rows(summary: &Value) -> Vec<(String, String, String, u64)> {
    let text = |row: &Value, key: &str| row[key].as_str().unwrap().to_owned();
    let rows = summary["collectives"].as_array().unwrap().iter();
    rows.map(|row| {
        let calls = row["calls"].as_u64().unwrap();
        (text(row, "operation"), text(row, "algorithm"), text(row, "chosen_by"), calls)
    })
    .collect()
}

#[test]
fn the_output_names_what_runs() {
    let row = |operation: &str, algorithm: &str, by: &str, calls| {
        (operation.to_owned(), algorithm.to_owned(), by.to_owned(), calls)
    };
    let found = checked("");
    assert_eq!(
        rows(&found),
        [row("allreduce", "rabenseifner", "mpich", 3), row("barrier", "dissemination", "mpich", 1)]
    );
    let first = &found["collectives"][0];
    assert_eq!((first["ranks"].as_u64(), first["bytes_max"].as_u64()), (Some(64), Some(1 << 20)));
    assert!(found["collectives"][1]["bytes_max"].is_null(), "a barrier has no size");
    assert_eq!(rows(&checked("[mpi]\npreset = 'study'"))[0], row("allreduce", "binary-tree", "study", 3));
    assert_eq!(rows(&checked("[mpi]\nallreduce = 'ring'"))[0], row("allreduce", "ring", "file", 3));
    assert_eq!(
        rows(&checked("[mpi]\npreset = 'openmpi'\nallreduce = 'preset'"))[0],
        row("allreduce", "rabenseifner", "openmpi", 3)
    );
}

/// The resolved file selects the same, without the user's words.
#[test]
fn the_resolved_file_selects_the_same() {
    for mpi in ["", "[mpi]\npreset = 'openmpi'\nhost = 'ideal'\nbarrier = [{ up_to_ranks = 8, use = 'linear' }, { use = 'binomial' }]"] {
        let once = experiment(mpi).check().unwrap();
        let again = Experiment::new(&once.resolved, "resolved.toml").check().unwrap();
        assert_eq!(once.resolved, again.resolved);
        assert_eq!(once.summary["collectives"], again.summary["collectives"]);
    }
}

/// Each of the two choices is named where the file does not make it, whether it makes the other or not.
#[test]
fn preset_and_host_are_separate_assumptions() {
    let named = |mpi: &str| {
        let summary = checked(mpi);
        let assumed = summary["assumptions"].as_array().unwrap().clone();
        let decides = move |key: &str| assumed.iter().any(|known| known["key"] == key && known["decides"] == true);
        (decides("mpi.preset"), decides("mpi.host"))
    };
    assert_eq!(named(""), (true, true));
    assert_eq!(named("[mpi]\npreset = 'mpich'"), (false, true));
    assert_eq!(named("[mpi]\nhost = 'modern'"), (true, false));
    assert_eq!(named("[mpi]\npreset = 'study'\nhost = 'study'"), (false, false));
}

#[test]
fn costs_of_hosts_are_no_preset() {
    let error = format!("{:?}", experiment("[mpi]\npreset = 'ideal'").check().unwrap_err());
    assert!(error.contains("write host = ") && error.contains("ideal"), "{error}");
}

/// Rabenseifner's algorithm moves 2 (p - 1)/p of the message through each NIC, the study's tree the whole message up to
/// four times on each of its six levels.
#[test]
fn a_large_allreduce_is_faster_than_the_studys() {
    let time = |mpi: &str| {
        let result = experiment(mpi).run(1, &mut |_, _| true).unwrap_or_else(|error| panic!("{error:?}"));
        match result.tables.get("jobs").and_then(|jobs| jobs.get("completion_time_s")) {
            Some(Values::F64(seconds)) => seconds[0],
            other => panic!("{other:?}"),
        }
    };
    let (study, mpich) = (time("[mpi]\npreset = 'study'"), time(""));
    assert!(mpich < study / 3.0, "{mpich} {study}");
}
