//! Task graphs from files on the packet engine.

use odonata_experiment::{Experiment, Files, RunResult, Values};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Public GOAL files in `$ODONATA_SHARED/data/traces/goal`, else in `../shared`. None after a note that the test does
/// nothing.
fn goal_files() -> Option<Vec<PathBuf>> {
    let sibling = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let shared = std::env::var_os("ODONATA_SHARED").map_or_else(sibling, PathBuf::from);
    let directory = shared.join("data/traces/goal/generated");
    let Ok(entries) = std::fs::read_dir(&directory) else {
        writeln!(std::io::stderr(), "SKIPPED: {} is not there", directory.display()).expect("standard error is open");
        return None;
    };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    Some(files)
}

fn experiment(directory: &Path, name: &str, ranks: usize, rest: &str) -> Experiment {
    let text = format!(
        "[machine]\npreset = 'dragonfly-1056'\n[[job]]\nname = 'a'\nranks = {ranks}\nranks_per_node = 1\n\
         placement = 'random-nodes'\nprogram = {{ name = 'trace', path = '{name}' }}\n\
         [engine]\nkind = 'packet'\n{rest}\n"
    );
    Experiment::new(&text, "run.toml").with_files(Files::next_to(&directory.join("run.toml")))
}

fn run(experiment: &Experiment, threads: usize) -> RunResult {
    experiment.run(threads, &mut |_, _| true).unwrap_or_else(|error| panic!("{error:?}"))
}

fn sum(result: &RunResult, column: &str) -> u64 {
    match result.tables.get("ranks").unwrap().get(column) {
        Some(Values::U64(values)) => values.iter().sum(),
        other => panic!("{column}: {other:?}"),
    }
}

/// Every file ends under three routings, text and binary alike, with all messages of the file.
#[test]
fn goal_files_run_under_three_routings() {
    let Some(files) = goal_files() else { return };
    let mut bytes_of_all = 0;
    for text in files.iter().filter(|file| file.extension().is_some_and(|end| end == "goal")) {
        let (directory, name) = (text.parent().unwrap(), text.file_name().unwrap().to_str().unwrap());
        let content = std::fs::read_to_string(text).unwrap();
        let ranks: usize = content.split_whitespace().nth(1).unwrap().parse().unwrap();
        let sends = content.lines().filter(|line| line.contains("send ")).count() as u64;
        for routing in ["min", "valiant-g", "ugal-n"] {
            let of = |name: &str| run(&experiment(directory, name, ranks, &format!("routing = '{routing}'")), 2);
            let result = of(name);
            assert_eq!(result.summary["ending"], "complete", "{name}, {routing}: {}", result.summary);
            assert_eq!(sum(&result, "messages"), sends, "{name}");
            assert_eq!(sum(&result, "received_bytes"), sum(&result, "bytes"), "{name}");
            bytes_of_all += sum(&result, "bytes");
            let binary = of(&name.replace(".goal", ".bin"));
            assert!(binary.tables.get("ranks") == result.tables.get("ranks"), "{name}, {routing}");
        }
    }
    assert!(bytes_of_all > 100_000_000);
}

#[test]
fn a_tag_that_matches_every_receive_is_refused() {
    let directory = std::env::temp_dir().join(format!("odonata-graphs-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let goal = "num_ranks 2\nrank 0 {\na: calc 5\nb: send 8b to 1 tag -1\nb requires a\n}\nrank 1 {\nc: recv 8b from 0 tag 3\n}\n";
    std::fs::write(directory.join("any.goal"), goal).unwrap();
    let problems = experiment(&directory, "any.goal", 2, "").check().unwrap_err().to_string();
    let expected = "job 'a': 'program': task 1 of rank 0 sends with tag -1; expected a tag";
    assert!(problems.contains(expected), "{problems}");
    std::fs::remove_dir_all(&directory).unwrap();
}

/// The text of a run that a full window stops names the tasks and the key.
#[test]
fn a_full_window_is_named() {
    let directory = std::env::temp_dir().join(format!("odonata-window-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let sends: String = (0..4).map(|n| format!("s{n}: send 8b to 1 tag {n}\n")).collect();
    let receives: String = (0..4).map(|n| format!("r{n}: recv 8b from 0 tag {n}\n")).collect();
    let goal = format!("num_ranks 2\nrank 0 {{\n{sends}}}\nrank 1 {{\n{receives}}}\n");
    std::fs::write(directory.join("four.goal"), goal).unwrap();
    let of = |rest: &str| run(&experiment(&directory, "four.goal", 2, rest), 1);
    let stopped = of("[mpi]\ntask_window = 3").summary["warnings"].to_string();
    let expected =
        "task 3, line 12 (receive of 8 B from rank 0, tag 3) may start, but 3 tasks before it are not done, of which";
    assert!(stopped.contains(expected) && stopped.contains("mpi.task_window = 3"), "{stopped}");
    assert_eq!(of("").summary["ending"], "complete");
    std::fs::remove_dir_all(&directory).unwrap();
}

/// Times in us. The program computes from 0 to 10. Then stream a computes until 17, and the program until 14. Stream b
/// waits for the event of a and computes until 19, the program until 18. A second round starts at 18.
#[test]
fn streams_run_side_by_side() {
    let directory = std::env::temp_dir().join(format!("odonata-streams-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let program = "compute 10 us\non stream a:\n    compute 7 us\n    record e\non stream b:\n    await e\n    \
                   compute 2 us\ncompute 4 us\nawait e\ncompute 1 us\n";
    let of = |program: &str, engine: &str, rest: &str| {
        std::fs::write(directory.join("my.program"), program).unwrap();
        let text = format!(
            "[machine]\npreset = 'dragonfly-1056'\n[[job]]\nname = 'a'\nranks = 2\n{rest}\nprogram = {{ name = 'file', \
             path = 'my.program', final_barrier = false }}\n[engine]\nkind = '{engine}'\n"
        );
        Experiment::new(&text, "run.toml").with_files(Files::next_to(&directory.join("run.toml")))
    };
    for (engine, table) in [("packet", "ranks"), ("loggops", "rank_times")] {
        for (rest, end_us, compute_us) in [("", 19, 24), ("repeat = 2", 37, 48)] {
            let result = run(&of(program, engine, rest), 1);
            let ranks = result.tables.get(table).unwrap();
            assert_eq!(ranks.get("end_ps"), Some(&Values::U64(vec![end_us * 1_000_000; 2])), "{engine}, {rest}");
            assert_eq!(ranks.get("compute_ps"), Some(&Values::U64(vec![compute_us * 1_000_000; 2])), "{engine}");
        }
    }
    let wrong = |program: &str, rest: &str| of(program, "packet", rest).check().unwrap_err().to_string();
    let background = "program = 'ring'\n[[job]]\nname = 'b'\nranks = 2\nbackground = true";
    assert!(wrong(program, background).contains("a program with streams runs a number of times"));
    let any = wrong("requests r\non stream a:\n    isend (rank + 1) % 2 8 B as r\n    recv any 8 B\nwaitany r\n", "");
    let expected =
        "'waitany' depends on which message comes first, so no task graph has it, and a program with streams";
    assert!(any.contains(expected), "{any}");
    std::fs::remove_dir_all(&directory).unwrap();
}
