//! `path_error` of the flow engine: check and run agree, and the file may not also give `path_sets`.

use odonata_experiment::Experiment;

const TEXT: &str = "
[machine]
topology = 'dragonfly'
p = 2
a = 4
h = 2
g = 9
cores_per_node = 4
[[job]]
name = 'a'
pattern = 'all-to-all'
ranks = 48
ranks_per_node = 4
placement = 'random-nodes'
[[job]]
name = 's'
pattern = 'stencil-3d'
ranks = 64
ranks_per_node = 4
placement = 'random-nodes'
[engine]
kind = 'flow'
routing = 'ugal'
completion_times = false
";

fn with(keys: &str) -> Experiment {
    Experiment::new(format!("{TEXT}{keys}"), "x.toml")
}

/// The check chooses as the run, for any number of threads. The run is the one with this number.
#[test]
fn check_and_run_have_the_chosen_number() {
    let stated = with("path_error = 0.02\n");
    let checked = stated.check().unwrap();
    let chosen = &checked.summary["path_sets"];
    assert_eq!(chosen["path_error"], 0.02);
    assert!(chosen["trial_error"].as_f64().unwrap() <= 0.01, "{chosen}");
    let count = chosen["count"].as_u64().unwrap();
    let results = [1, 2].map(|threads| stated.run(threads, &mut |_, _| true).unwrap());
    for result in &results {
        assert_eq!(&result.summary["path_sets"], chosen);
        assert!(result.tables == results[0].tables);
    }
    let given = with(&format!("path_sets = {count}\n")).run(1, &mut |_, _| true).unwrap();
    assert!(given.tables == results[0].tables);
    assert!(given.summary.get("path_sets").is_none());
}

/// `resolved.toml` is a file, so it has only one of the two.
#[test]
fn the_resolved_file_states_the_error() {
    let resolved = with("path_error = 0.02\n").check().unwrap().resolved;
    assert!(resolved.contains("path_error = 0.02") && !resolved.contains("path_sets"), "{resolved}");
    let again = Experiment::new(resolved.clone(), "resolved.toml").check().unwrap();
    assert_eq!(again.resolved, resolved);
}

#[test]
fn both_keys_are_a_mistake() {
    let problems = with("path_sets = 100\npath_error = 0.02\n").check().unwrap_err();
    let problem = &problems.0[0];
    assert_eq!((problems.0.len(), problem.location.as_ref().map(|at| at.line)), (1, Some(26)), "{problems}");
    assert!(problem.message.contains("'path_sets' is also given"), "{problems}");
    let problems = with("path_error = 2.0\n").check().unwrap_err().to_string();
    assert!(problems.contains("path_error"), "{problems}");
}
