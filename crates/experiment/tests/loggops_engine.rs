//! `kind = "loggops"` from text to tables: closed forms of programs, refusals, deadlocks.

use odonata_experiment::{Experiment, Files, Frame, RunError, RunResult, Values};
use std::path::PathBuf;

/// A directory that goes away with its test.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str, program: &str) -> Self {
        let path = std::env::temp_dir().join(format!("odonata-loggops-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        std::fs::write(path.join("my.program"), program).unwrap();
        Self(path)
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.0.join(name), bytes).unwrap();
    }

    fn experiment(&self, text: &str) -> Experiment {
        Experiment::new(text, "run.toml").with_files(Files::next_to(&self.0.join("run.toml")))
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Jobs on 72 nodes.
fn text(jobs: &str, rest: &str) -> String {
    format!(
        "[machine]\ntopology = 'dragonfly'\np = 2\na = 4\nh = 2\ng = 9\n{jobs}\n[engine]\nkind = 'loggops'\n{rest}\n"
    )
}

fn run(experiment: &Experiment) -> RunResult {
    experiment.run(1, &mut |_, _| true).unwrap_or_else(|error| panic!("{error:?}"))
}

fn mistake(text: &str) -> String {
    let experiment = Experiment::new(text, "run.toml");
    let Err(RunError::Problems(problems)) = experiment.run(1, &mut |_, _| true) else {
        panic!("nothing is wrong with\n{text}");
    };
    assert_eq!(experiment.check().unwrap_err(), problems);
    problems.to_string()
}

fn integers(frame: &Frame, name: &str) -> Vec<u64> {
    match frame.get(name) {
        Some(Values::U64(values)) => values.clone(),
        Some(Values::U32(values)) => values.iter().map(|&value| value.into()).collect(),
        other => panic!("{name}: {other:?}"),
    }
}

fn completion_s(result: &RunResult) -> Vec<f64> {
    match result.tables.get("jobs").unwrap().get("completion_time_s") {
        Some(Values::F64(values)) => values.clone(),
        other => panic!("{other:?}"),
    }
}

/// A ring all-reduce of n ranks and 1 MiB: 2 (n - 1) steps of 2 o + L + (m - 1) G, with m = 2^20 / n.
#[test]
fn a_ring_allreduce_takes_its_closed_form() {
    for (n, m) in [(2, 524_288), (8, 131_072), (16, 65_536), (64, 16_384)] {
        let job = format!(
            "[[job]]\nname = 'ring'\nranks = {n}\nranks_per_node = 1\nstart = '1 us'\n\
             program = {{ name = 'allreduce', bytes = '1 MiB', compute = '0 s', iterations = 1, final_barrier = false }}"
        );
        let result = run(&Experiment::new(text(&job, "[mpi]\nallreduce = 'ring'"), "run.toml"));
        let ps = 2 * (n - 1) * (2 * 1_500 + 2_500 + (m - 1) * 6) * 1_000;
        let ranks = result.tables.get("rank_times").unwrap();
        assert_eq!(integers(ranks, "end_ps"), vec![ps + 1_000_000; n as usize], "{n} ranks");
        assert_eq!(integers(ranks, "start_ps"), vec![1_000_000; n as usize]);
        assert_eq!(integers(ranks, "rank"), (0..n).collect::<Vec<_>>());
        assert_eq!(integers(ranks, "messages"), vec![2 * (n - 1); n as usize]);
        assert_eq!(integers(ranks, "bytes"), vec![2 * (n - 1) * m; n as usize]);
        assert_eq!(completion_s(&result), [ps as f64 / 1e12]);
        assert_eq!(result.summary["ending"], "complete");
    }
}

/// Two iterations of 5 us and a barrier of two ranks, each on its own key of the engine. Recursive doubling of a
/// message of 0 bytes: o + L + o.
#[test]
fn every_cost_is_a_key() {
    let job = "[[job]]\nname = 'a'\nranks = 2\nrepeat = 2\n\
               program = { name = 'allreduce', bytes = '11 B', compute = '5 us', iterations = 1, final_barrier = false }";
    let costs = "latency = '1 us'\noverhead = '2 us'\ngap = '0 s'\ngap_per_byte = '1 ns'\noverhead_per_byte = '3 ns'\n\
                 eager_limit = '64 KiB'\n[mpi]\nallreduce = 'recursive-doubling'";
    let result = run(&Experiment::new(text(job, costs), "run.toml"));
    // Each rank sends and receives once. The first byte arrives at o + L, after the 10 O of the lane.
    let exchange = 2_000 + 1_000 + 2_000 + 30;
    let ranks = result.tables.get("rank_times").unwrap();
    assert_eq!(integers(ranks, "end_ps"), [2 * (5_000 + exchange) * 1_000; 2]);
    assert_eq!(integers(ranks, "compute_ps"), [10_000_000; 2]);
}

#[test]
fn an_idle_job_has_no_ranks() {
    let jobs = "[[job]]\nname = 'idle'\nranks = 4\nidle = true\nprogram = 'ring'\n[[job]]\nname = 'b'\nranks = 2\nprogram = 'ring'";
    let result = run(&Experiment::new(text(jobs, ""), "run.toml"));
    assert_eq!(integers(result.tables.get("rank_times").unwrap(), "job"), [1, 1]);
    let times = completion_s(&result);
    assert!(times[0].is_nan() && times[1] > 0.0, "{times:?}");
}

#[test]
fn what_it_cannot_run_is_refused() {
    let pattern = mistake(&text("[[job]]\nname = 'a'\nranks = 4\npattern = 'uniform'", ""));
    assert!(pattern.contains("engine 'loggops' runs programs, and a pattern has no receives"), "{pattern}");
    let background = mistake(&text("[[job]]\nname = 'a'\nranks = 4\nprogram = 'ring'\nbackground = true\n[[job]]\nname = 'b'\nranks = 2\nprogram = 'ring'", ""));
    assert!(background.contains("without a network; leave it out with absent = true"), "{background}");
    let long = text("[[job]]\nname = 'a'\nranks = 2\nprogram = 'ring'", "latency = '1e7 s'");
    let Err(RunError::Problems(problems)) = Experiment::new(&long, "run.toml").run(1, &mut |_, _| true) else {
        panic!("a run of 300 days");
    };
    assert!(problems.to_string().contains("job 'a' takes longer than 213 days"), "{problems}");
}

/// Each rank sends a large message before it receives: both wait for a receive.
#[test]
fn a_deadlock_is_named() {
    let program = "send (1 - rank) 70000 B tag 3\nrecv (1 - rank) 70000 B tag 3\n";
    let directory = Directory::new("deadlock", program);
    let job = "[[job]]\nname = 'a'\nranks = 2\nprogram = { name = 'file', path = 'my.program', final_barrier = false }";
    let result = run(&directory.experiment(&text(job, "")));
    assert_eq!(result.summary["ending"], "deadlock");
    assert_eq!(result.summary["unfinished"]["count"], 2);
    assert_eq!(result.summary["unfinished"]["listed"][1]["peer"], 0);
    let warnings = result.summary["warnings"].to_string();
    let expected = "rank 0 of job 'a': task 0 (send of 70000 B to rank 1, tag 3) waits for its receive";
    assert!(warnings.contains(expected), "{warnings}");
    assert!(completion_s(&result)[0].is_nan());
    // A smaller message is eager: then it is no deadlock.
    let eager = run(&directory.experiment(&text(job, "eager_limit = '70 kB'")));
    assert_eq!(eager.summary["ending"], "complete");
}

/// Rank 0 computes on two processors at once, then sends; rank 1 computes once it has posted its receive.
const GOAL: &str = "num_ranks 2
rank 0 {
a: calc 1000
b: calc 3000 cpu 1
c: send 100b to 1 tag 4
c requires a
c requires b
}
rank 1 {
d: recv 100b from 0 tag 4
e: calc 500
e irequires d
}
";

fn trace(keys: &str) -> String {
    format!(
        "[[job]]\nname = 'a'\nranks = 2\nranks_per_node = 1\nprogram = {{ name = 'trace', path = 'my.goal'{keys} }}"
    )
}

#[test]
fn a_goal_file_runs_as_a_graph() {
    let directory = Directory::new("goal", "");
    directory.write("my.goal", GOAL.as_bytes());
    for keys in ["", ", format = 'goal'"] {
        let result = run(&directory.experiment(&text(&trace(keys), "")));
        let ranks = result.tables.get("rank_times").unwrap();
        // The send leaves at 3,000, its first byte arrives after o + L and costs o + 99 G.
        assert_eq!(integers(ranks, "end_ps"), [4_500_000, (3_000 + 4_000 + 1_500 + 594) * 1_000]);
        assert_eq!(integers(ranks, "compute_ps"), [4_000_000, 500_000]);
        assert_eq!(result.summary["inputs"][0]["bytes"], GOAL.len());
    }
}

#[test]
fn engines_without_time_take_the_messages_of_a_graph() {
    let directory = Directory::new("goal-flow", "");
    directory.write("my.goal", GOAL.as_bytes());
    for kind in ["'flow'", "'model'\nform = 'postal'\nparameters = 'machine.toml'"] {
        let eos = concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/odonata/amg/data/machines/eos.toml");
        directory.write("machine.toml", &std::fs::read(eos).unwrap());
        let result = run(&directory.experiment(&text(&trace(""), "").replace("'loggops'", kind)));
        assert_eq!(integers(result.tables.get("jobs").unwrap(), "messages"), [1]);
        let warnings = result.summary["warnings"].to_string();
        assert!(warnings.contains("job 'a' is a task graph: its messages count, its dependencies"), "{warnings}");
    }
}

#[test]
fn a_graph_is_the_only_program_of_its_job_and_runs_once() {
    let directory = Directory::new("goal-mistakes", "");
    directory.write("my.goal", GOAL.as_bytes());
    let wrong = |job: &str, engine: &str| {
        let text = text(job, "").replace("'loggops'", engine);
        let experiment = directory.experiment(&text);
        let problems = experiment.check().expect_err(&text);
        problems.to_string()
    };
    let loggops = "'loggops'";
    assert!(wrong(&format!("{}\nrepeat = 2", trace("")), loggops).contains("'repeat': 2; a task graph runs once"));
    let list = trace("").replace("{ name", "[{ name = 'ring' }, { name").replace("my.goal' }", "my.goal' }]");
    assert!(wrong(&list, loggops).contains("a task graph is the only program of its job"));
    let ranks = trace("").replace("ranks = 2\n", "ranks = 3\n");
    assert!(wrong(&ranks, loggops).contains("my.goal: a graph of 2 ranks, but the job has 3"));
    assert!(wrong(&trace(", format = 'simgrid'"), loggops).contains("line 1: 'num_ranks' is not a rank"));
    directory.write("my.goal", GOAL.replace("tag 4\nc", "tag 5\nc").as_bytes());
    let unmatched = wrong(&trace(""), loggops);
    assert!(unmatched.contains("1 send without a receive from rank 0 to rank 1, tag 5"), "{unmatched}");
    directory.write("my.goal", GOAL.replace("e irequires d", "e after d").as_bytes());
    assert!(wrong(&trace(""), loggops).contains("my.goal: line 12: 'after'; expected ':', 'requires' or 'irequires'"));
}
