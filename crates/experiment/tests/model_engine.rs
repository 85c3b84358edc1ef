//! `kind = "model"` from text to tables: figures worked out by hand.

use odonata_experiment::{Experiment, Files, Frame, RunError, RunResult, Values};
use std::path::PathBuf;

/// A directory that goes away with its test.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("odonata-model-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        let directory = Self(path);
        // Two routers with a node each, and a chain to a third.
        directory.write("cables.csv", "src,dst,class,bandwidth,latency\na,b,long,1 GB/s,2 us\nb,c,long,1 GB/s,2 us\n");
        let eos = concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/odonata/amg/data/machines/eos.toml");
        directory.write("eos.toml", &std::fs::read_to_string(eos).unwrap());
        directory
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.join(name), text).unwrap();
    }

    fn experiment(&self, text: &str) -> Experiment {
        Experiment::new(text, "run.toml").with_files(Files::next_to(&self.0.join("run.toml")))
    }

    fn run(&self, text: &str) -> RunResult {
        self.experiment(text).run(1, &mut |_, _| true).unwrap_or_else(|e| panic!("{text}\n{e:?}"))
    }

    /// What is wrong, by `run`; `check` must say the same.
    fn mistake(&self, text: &str) -> String {
        let Err(RunError::Problems(problems)) = self.experiment(text).run(1, &mut |_, _| true) else {
            panic!("nothing is wrong with\n{text}");
        };
        assert_eq!(self.experiment(text).check().unwrap_err(), problems);
        problems.to_string()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn reals<'a>(table: &'a Frame, name: &str) -> &'a [f64] {
    match table.get(name) {
        Some(Values::F64(values)) => values,
        other => panic!("{name}: {other:?}"),
    }
}

fn texts(table: &Frame, name: &str) -> Vec<String> {
    match table.get(name) {
        Some(Values::Text { codes, texts }) => codes.iter().map(|&code| texts[code as usize].clone()).collect(),
        other => panic!("{name}: {other:?}"),
    }
}

fn close(got: f64, expected: f64) {
    assert!((got - expected).abs() <= 1e-9 * expected.abs(), "{got:e} is not {expected:e}");
}

/// Four ranks, two on each of the nodes of a and c, which are two hops apart.
fn general(engine: &str) -> String {
    format!(
        "machine.file = 'cables.csv'\nmachine.cores_per_node = 2\n\
         [[job]]\nname = 'pair'\npattern = 'file'\npath = 'graph.csv'\nranks = 4\n\
         placement = {{ name = 'list', nodes = [0, 2] }}\n\
         [engine]\nkind = 'model'\nparameters = 'eos.toml'\n{engine}\n"
    )
}

const GRAPH: &str = "src,dst,bytes\n0,2,3000000\n0,1,1000\n1,3,1000000\n3,2,0\n2,2,7\n";

#[test]
fn a_job_without_bytes_has_no_hops() {
    let directory = Directory::new("empty");
    directory.write("graph.csv", "src,dst,bytes\n0,2,0\n");
    let result = directory.run(&general("form = 'postal'"));
    assert!(reals(result.tables.get("jobs").unwrap(), "byte_hops_mean")[0].is_nan());
}

#[test]
fn postal_hops_and_matching_by_hand() {
    let directory = Directory::new("postal");
    directory.write("graph.csv", GRAPH);
    let result = directory.run(&general(
        "form = 'postal'\nalpha = '1 us'\nrate = '1 GB/s'\nhop = '100 ns'\nmatching = '10 ns'\n\
         on_node_alpha = '200 ns'\non_node_rate = '10 GB/s'",
    ));
    let ranks = result.tables.get("rank_costs").unwrap();
    // Rank 0: one message of 3 MB over two hops, one of 1 kB on its node.
    let rank0 = [1e-6 + 0.2e-6, 2.0 * 0.1e-6, 3e-3 + 0.1e-6, 0.0];
    for (name, expected) in ["startup_s", "hops_s", "bandwidth_s", "matching_s"].iter().zip(rank0) {
        close(reals(ranks, name)[0], expected);
    }
    // Rank 2 receives from 0 and 3: 2^2 matchings; its message to itself is free. Rank 3 starts an empty one.
    close(reals(ranks, "rank_time_s")[2], 4.0 * 10e-9);
    close(reals(ranks, "rank_time_s")[3], 0.2e-6 + 10e-9);
    let jobs = result.tables.get("jobs").unwrap();
    close(reals(jobs, "predicted_time_s")[0], rank0.iter().sum());
    // 4 MB make two hops, 1,007 B that stay on their node none.
    close(reals(jobs, "byte_hops_mean")[0], 2.0 * 4e6 / 4_001_007.0);
    assert_eq!((reals(jobs, "network_bytes")[0], reals(jobs, "on_node_bytes")[0]), (4e6, 1000.0));
    assert_eq!(reals(jobs, "self_bytes")[0], 7.0);
    let nodes = result.tables.get("nodes").unwrap();
    assert_eq!(
        (reals(nodes, "injected_bytes"), reals(nodes, "ejected_bytes")),
        (&[4e6, 0.0, 0.0][..], &[0.0, 0.0, 4e6][..])
    );
}

#[test]
fn max_rate_shares_the_node_and_loggp_counts_gaps() {
    let directory = Directory::new("max-rate");
    directory.write("graph.csv", GRAPH);
    let engine = "form = 'max-rate'\nalpha = '1 us'\nrate = '1 GB/s'\nnode_rate = '1.25 GB/s'\nhop = '0 s'\n\
                  on_node_alpha = '0 s'\non_node_rate = '1000 GB/s'";
    let result = directory.run(&general(engine));
    // Both ranks of the node: 4 MB at 1.25 GB/s are 3.2 ms, above rank 0's own 3 ms and rank 1's 1 ms.
    let times = reals(result.tables.get("rank_costs").unwrap(), "bandwidth_s");
    close(times[0], 3.2e-3 + 1e-9);
    close(times[1], 3.2e-3);
    // Several iterations repeat the step.
    let twice = directory.run(&general(engine).replace("path =", "iterations = 2\npath ="));
    close(
        reals(twice.tables.get("jobs").unwrap(), "predicted_time_s")[0],
        2.0 * reals(result.tables.get("jobs").unwrap(), "predicted_time_s")[0],
    );
    directory.write("graph.csv", "src,dst,bytes\n0,2,101\n0,3,201\n");
    let result = directory.run(&general(
        "form = 'loggp'\nlatency = '5 us'\noverhead = '1 us'\ngap = '2 us'\nrate = '1 GB/s'\nhop = '0 s'",
    ));
    // o + max(o, g) + (100 + 200) G + L.
    close(reals(result.tables.get("rank_costs").unwrap(), "rank_time_s")[0], 1e-6 + 2e-6 + 0.3e-6 + 5e-6);
}

/// Without keys, the parameter set gives the constants. The resolved file states them and gives the same run.
#[test]
fn constants_come_from_the_parameters() {
    let directory = Directory::new("parameters");
    directory.write("graph.csv", "src,dst,bytes\n0,2,8000\n");
    let first = directory.run(&general("form = 'postal'"));
    // alpha + 2 gamma + 1000 beta; beta is a whole number of bits per second in files.
    let time = reals(first.tables.get("jobs").unwrap(), "predicted_time_s")[0];
    assert!((time - (0.238e-6 + 2.0 * 0.416e-6 + 1000.0 * 0.858e-9)).abs() < 1e-14, "{time:e}");
    let second = directory.run(&first.resolved);
    assert_eq!(first.resolved, second.resolved);
    // As text, since the traffic of links is unknown: NaN.
    assert_eq!(format!("{:?}", first.tables), format!("{:?}", second.tables));
}

const COLUMNS: &str = "unknowns,nonzeros_per_row,sends,values_sent,interpolation_nonzeros_per_row,interpolation_sends,\
                       interpolation_values_sent,active_ranks,messages,interpolation_messages";

const LEVELS: &str = "{\"ranks\": 4, \"columns\": [\"unknowns\", \"nonzeros_per_row\", \"sends\", \"values_sent\", \
    \"interpolation_nonzeros_per_row\", \"interpolation_sends\", \"interpolation_values_sent\", \"active_ranks\", \
    \"messages\", \"interpolation_messages\"], \"levels\": [[4000, 7, 3, 100, 2, 2, 10, 4, 12, 6], [400, 9, 2, 20, 0, 0, 0, 4, 8, 0]]}";

fn cycle(job: &str, engine: &str) -> String {
    format!(
        "machine.file = 'cables.csv'\nmachine.cores_per_node = 16\n\
         [[job]]\nname = 'solver'\nranks = 4\nranks_per_node = 2\npattern = {{ name = 'amg', hierarchy = 'levels.json' }}\n{job}\n\
         [engine]\nkind = 'model'\nform = 'amg'\nparameters = 'eos.toml'\n{engine}\n"
    )
}

#[test]
fn a_cycle_of_two_levels_by_hand() {
    let directory = Directory::new("cycle");
    directory.write("levels.json", LEVELS);
    let result = directory.run(&cycle("", "threads = 1\nscenarios = ['alpha-beta-gamma', 'alpha-beta']"));
    let (alpha, gamma, beta) = (0.238e-6, 0.416e-6, 0.858e-9);
    let cycle_s = |start_up: f64| {
        let smooth0 = 6.0 * 1000.0 * 7.0 * 1.59e-9 + 3.0 * (3.0 * start_up + 100.0 * beta);
        let smooth1 = 6.0 * 100.0 * 9.0 * 0.806e-9 + 3.0 * (2.0 * start_up + 20.0 * beta);
        let restrict = 2.0 * 100.0 * 2.0 * 1.59e-9 + 2.0 * start_up + 10.0 * beta;
        let interpolate = 2.0 * 1000.0 * 2.0 * 0.806e-9 + 2.0 * start_up + 10.0 * beta;
        smooth0 + smooth1 + restrict + interpolate
    };
    let table = result.tables.get("cycle").unwrap();
    let scenarios = texts(table, "scenario");
    let sum = |name: &str| -> f64 {
        let rows = reals(table, "term_time_s").iter().zip(&scenarios).filter(|(_, scenario)| *scenario == name);
        rows.map(|(seconds, _)| seconds).sum()
    };
    // Five hops beyond the least, as the parameter set's dragonfly has them.
    close(sum("alpha-beta-gamma"), cycle_s(alpha + 5.0 * gamma));
    close(sum("alpha-beta"), cycle_s(alpha));
    // The time of the jobs is the first scenario's, and the summary has both.
    close(reals(result.tables.get("jobs").unwrap(), "predicted_time_s")[0], sum("alpha-beta-gamma"));
    close(result.summary["model"]["cycles"][0]["cycle_s"]["alpha-beta"].as_f64().unwrap(), sum("alpha-beta"));
    assert_eq!(table.rows(), 2 * 2 * 3 * 7);
    // Threads share a rank's work, each slowed down by memory: (b_1 / b_8) / 8. Two ranks leave eight cores each.
    let eight = directory.run(&cycle("", "threads = 'auto'"));
    assert_eq!(eight.summary["model"]["cycles"][0]["threads"], 8);
    let work = |result: &RunResult| -> f64 {
        let table = result.tables.get("cycle").unwrap();
        let rows = reals(table, "term_time_s").iter().zip(texts(table, "term")).zip(texts(table, "scenario"));
        rows.filter(|((_, t), s)| t == "compute" && s == "alpha-beta-gamma").map(|((x, _), _)| x).sum()
    };
    close(work(&eight), work(&result) * (11106.0 / 1374.8) / 8.0);
}

#[test]
fn mistakes_have_a_place_and_a_hint() {
    let directory = Directory::new("mistakes");
    directory.write("levels.json", LEVELS);
    directory.write("graph.csv", GRAPH);
    let engine = |keys: &str| directory.mistake(&cycle("", keys));
    assert!(engine("scenarios = ['alpha-betta']").contains("did you mean 'alpha-beta'?"));
    assert!(engine("scenarios = []").contains("'scenarios' is empty"));
    assert!(engine("scenarios = ['alpha-beta', 'alpha-beta']").contains("twice"));
    let message = engine("alpha = '1 us'");
    assert!(message.contains("only with form = \"max-rate\" or \"postal\", not \"amg\""), "{message}");
    assert!(message.contains("run.toml:13:9"), "{message}");
    assert!(engine("threads = [1, 2]").contains("a list of 2 values for 1 job"));
    assert!(engine("threads = 16").contains("tasks x threads per node (2 x 16) is 32"));
    assert!(engine("treads = 1").contains("did you mean 'threads'?"));
    let wrong = |from: &str, to: &str| directory.mistake(&cycle("", "").replace(from, to));
    assert!(wrong("levels.json", "level.json").contains("'level.json' is none of the hierarchies"));
    assert!(wrong("ranks = 4", "ranks = 8").contains("was made on 4 ranks, but the job has 8; write `ranks = 4`"));
    assert!(wrong("form = 'amg'", "form = 'ang'").contains("did you mean 'amg'?"));
    assert!(wrong("eos.toml", "nowhere.toml").contains("'nowhere.toml' is none of the machines"));
    assert!(wrong("form = 'amg'", "form = 'postal'").contains("a level table without messages"));
    for kind in ["flow", "packet"] {
        let message = wrong("kind = 'model'\nform = 'amg'\nparameters = 'eos.toml'", &format!("kind = '{kind}'"));
        assert!(message.contains("only the model engine") && message.contains("run.toml:7:"), "{message}");
    }
    let other = "[[job]]\nname = 'other'\nranks = 2\npattern = 'uniform'\n";
    assert!(directory.mistake(&cycle(other, "")).contains("job 'other' has no level table"));
    assert!(directory.mistake(&general("rate = '0 B/s'")).contains("'rate' must be above 0"));
    directory.write("eos.toml", "alpha_us = 1\n");
    let message = directory.mistake(&cycle("", ""));
    assert!(message.contains("'parameters'") && message.contains("lacks the key 'beta_ns_per_value'"), "{message}");
    directory.write("levels.json", "{\"ranks\": 4}");
    assert!(directory.mistake(&cycle("", "")).contains("'columns' must be a list"));
}

/// Messages of one phase as a flow; their time on an idle cable is bytes over bandwidth.
#[test]
fn a_phase_of_a_level_is_traffic() {
    let directory = Directory::new("flow");
    directory.write(
        "messages.csv",
        "level,operator,source,destination,values\n0,0,0,1,1000000\n0,1,0,1,500000\n1,0,1,0,250000\n",
    );
    let text = |phase: &str, level: u32, engine: &str| {
        format!(
            "machine.file = 'cables.csv'\nmachine.cores_per_node = 1\n[[job]]\nranks = 2\n\
             pattern = {{ name = 'amg', hierarchy = 'messages.csv', level = {level}, phase = '{phase}' }}\n[engine]\n{engine}\n"
        )
    };
    let time = |phase: &str, level: u32, engine: &str| {
        let result = directory.run(&text(phase, level, engine));
        (
            reals(result.tables.get("jobs").unwrap(), "completion_time_s")[0],
            reals(result.tables.get("links").unwrap(), "bytes").to_vec(),
        )
    };
    let flow = "routing = 'min'";
    let (seconds, bytes) = time("smooth", 0, flow);
    // Besides the latency of cables.
    assert!((seconds / 8e-3 - 1.0).abs() < 1e-3, "{seconds}");
    // Links: a to b, b to a, b to c, c to b. Restriction is the transpose of interpolation.
    assert_eq!(bytes, [8e6, 0.0, 0.0, 0.0]);
    assert_eq!(time("restrict", 0, flow).1, [0.0, 4e6, 0.0, 0.0]);
    assert_eq!(time("interpolate", 1, flow).1, [4e6, 0.0, 0.0, 0.0]);
    assert_eq!(time("smooth", 1, flow).1, [0.0, 2e6, 0.0, 0.0]);
    let message = directory.mistake(&text("smooth", 2, flow));
    assert!(message.contains("of levels 0 to 1") && message.contains("run.toml:5:"), "{message}");
}

#[test]
fn a_directory_must_be_one() {
    let directory = Directory::new("directory");
    std::fs::create_dir_all(directory.0.join("h")).unwrap();
    let text = "machine.file = 'cables.csv'\n[[job]]\nranks = 2\npattern = { name = 'amg', hierarchy = 'h' }\n";
    assert!(directory.mistake(text).contains("summary.json: there is no such file"));
    directory.write("h/summary.json", "{\"format\": \"odonata-run\"}");
    assert!(directory.mistake(text).contains("is not a directory of a hierarchy"));
    directory.write("h/summary.json", "{\"format\": \"odonata-amg-hierarchy\", \"ranks\": 2}");
    assert!(directory.mistake(&text.replace("'h' }", "'h', regrouped = true }")).contains("was not redistributed"));
    // What a file holds counts, not what it is called.
    directory.write("h/levels.parquet", &format!("{COLUMNS}\n4000,7,1,100,2,1,10,2,2,1\n"));
    assert!(directory.mistake(&text.replace("'h' }", "'h', phase = 'coarsen' }")).contains("make it with --record"));
}
