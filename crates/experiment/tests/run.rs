//! From text to tables: figures that can be worked out by hand, and what must hold of every run.

use odonata_experiment::{Experiment, Frame, RunError, RunResult, Values};
use std::path::{Path, PathBuf};

fn run_at(directory: &Path, text: &str, threads: usize) -> RunResult {
    let file = directory.join("run.toml");
    let result = Experiment::new(text, file.display().to_string()).run(threads, &mut |_, _| true);
    result.unwrap_or_else(|error| panic!("{error:?}"))
}

fn run_it(text: &str, threads: usize) -> RunResult {
    run_at(Path::new(""), text, threads)
}

fn reals<'a>(table: &'a Frame, name: &str) -> &'a [f64] {
    match table.get(name) {
        Some(Values::F64(values)) => values,
        other => panic!("{name}: {other:?}"),
    }
}

fn ids<'a>(table: &'a Frame, name: &str) -> &'a [u32] {
    match table.get(name) {
        Some(Values::U32(values)) => values,
        other => panic!("{name}: {other:?}"),
    }
}

fn texts(table: &Frame, name: &str) -> Vec<String> {
    match table.get(name) {
        Some(Values::Text { codes, texts }) => codes.iter().map(|&code| texts[code as usize].clone()).collect(),
        other => panic!("{name}: {other:?}"),
    }
}

fn directory(name: &str) -> PathBuf {
    let directory = std::env::temp_dir().join(format!("odonata-run-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    directory
}

/// Two routers a and b with one node each, joined by one cable of 1 GB/s; rank 0 sends 3 MB to rank 1, which sends 1 MB
/// back, and 5 B to itself. The cable is the bottleneck: 3 MB at 1 GB/s take 3 ms. Hops of a byte: 4,000,000 of
/// 4,000,005 bytes go one hop.
#[test]
fn two_nodes_and_a_cable() {
    let directory = directory("cable");
    std::fs::write(directory.join("cables.csv"), "src,dst,class,bandwidth,latency\na,b,long,1 GB/s,2 us\n").unwrap();
    std::fs::write(directory.join("graph.csv"), "src,dst,bytes\n0,1,3000000\n1,0,1000000\n1,1,5\n").unwrap();
    let text = "machine.file = 'cables.csv'\n[[job]]\nname = 'pair'\npattern = 'file'\npath = 'graph.csv'\nranks = 2\n\
                [engine]\nrouting = 'min'\nalone = true\n";
    let result = run_at(&directory, text, 1);
    let links = result.tables.get("links").unwrap();
    assert_eq!(reals(links, "bytes"), [3e6, 1e6]);
    assert_eq!(reals(links, "capacity_bytes_per_s"), [1e9, 1e9]);
    assert_eq!(links.get("latency_ps"), Some(&Values::U64(vec![2_000_000; 2])));
    assert_eq!(texts(links, "class"), ["long", "long"]);
    assert_eq!(ids(links, "reverse"), [1, 0]);
    let nodes = result.tables.get("nodes").unwrap();
    assert_eq!((reals(nodes, "injected_bytes"), reals(nodes, "ejected_bytes")), (&[3e6, 1e6][..], &[1e6, 3e6][..]));
    assert_eq!(nodes.get("job"), Some(&Values::I32(vec![0, 0])));
    let jobs = result.tables.get("jobs").unwrap();
    let job = |name: &str| reals(jobs, name)[0];
    assert_eq!((job("bytes"), job("self_bytes"), job("network_bytes")), (4_000_005.0, 5.0, 4e6));
    assert!((job("byte_hops_mean") - 4_000_000.0 / 4_000_005.0).abs() < 1e-12);
    // The cable and two links of NICs add 2.02 us.
    assert!((job("completion_time_s") - 3.00202e-3).abs() < 1e-9, "{}", job("completion_time_s"));
    assert!((job("slowdown") - 1.0).abs() < 1e-9);
    assert_eq!(jobs.get("messages"), Some(&Values::U64(vec![3])));
    assert_eq!(texts(jobs, "pattern"), ["file"]);
    assert_eq!(result.summary["classes"][0]["bytes_max"], 3e6);
    assert_eq!(result.summary["inputs"][1]["bytes"], 14 + 12 + 12 + 6, "bytes of the four lines of graph.csv");
    let again = run_at(Path::new("/"), &result.resolved, 1);
    assert!(again.tables == result.tables, "resolved.toml finds its files from anywhere");
    std::fs::remove_dir_all(directory).unwrap();
}

const MIXED: &str =
    "[machine]\ntopology = \"cascade\"\ngroups = 3\nrows = 2\ncolumns = 4\nclass.blue.ports_per_router = 16\n\
                     edit = [\"-K\"]\ncores_per_node = 4\n\
                     [[job]]\npattern = \"spread\"\nneighbors_max = 9\nranks = 150\nplacement = \"random-nodes\"\n\
                     [[job]]\npattern = \"many-to-many\"\nranks = 130\nplacement = \"non-uniform\"\n";

/// Sum over links = bytes x hops; sum over jobs = the link; what leaves nodes arrives at nodes.
#[test]
fn bytes_are_conserved() {
    let result = run_it(MIXED, 2);
    let table = |name: &str| result.tables.get(name).unwrap();
    let total = |values: &[f64]| values.iter().sum::<f64>();
    let close = |a: f64, b: f64| assert!((a - b).abs() <= 1e-9 * a.abs().max(b.abs()), "{a} and {b}");
    let links = reals(table("links"), "bytes");
    let mut of_links = vec![0.0; links.len()];
    let link_jobs = table("link_jobs");
    for (&link, &bytes) in ids(link_jobs, "link").iter().zip(reals(link_jobs, "bytes")) {
        of_links[link as usize] += bytes;
    }
    links.iter().zip(&of_links).for_each(|(&a, &b)| close(a, b));
    let jobs = table("jobs");
    let hops: Vec<f64> = reals(jobs, "bytes").iter().zip(reals(jobs, "byte_hops_mean")).map(|(b, h)| b * h).collect();
    close(total(links), total(&hops));
    let off_node = total(reals(jobs, "on_router_bytes")) + total(reals(jobs, "network_bytes"));
    close(total(reals(table("nodes"), "ejected_bytes")), off_node);
    close(total(reals(table("nodes"), "injected_bytes")), off_node);
    let kinds = ["self_bytes", "on_node_bytes", "on_router_bytes", "network_bytes"];
    let sum: f64 = kinds.iter().map(|kind| total(reals(jobs, kind))).sum();
    close(total(reals(jobs, "bytes")), sum);
}

#[test]
fn the_tables_do_not_depend_on_the_threads() {
    let (one, three) = (run_it(MIXED, 1), run_it(MIXED, 3));
    assert!(one.tables == three.tables);
    assert_eq!(one.resolved, three.resolved);
}

#[test]
fn placement_and_jobs_agree_with_the_nodes() {
    let result = run_it(MIXED, 2);
    let placement = result.tables.get("placement").unwrap();
    let Some(Values::I32(job_of_node)) = result.tables.get("nodes").unwrap().get("job") else { panic!("a column job") };
    assert_eq!(placement.rows(), 280);
    for (&job, &node) in ids(placement, "job").iter().zip(ids(placement, "node")) {
        assert_eq!(job_of_node[node as usize], job as i32);
    }
    // 150 and 130 ranks on nodes of 4 cores: 38 and 33 nodes.
    assert_eq!(ids(result.tables.get("jobs").unwrap(), "nodes"), [38, 33]);
    assert_eq!(job_of_node.iter().filter(|&&job| job == -1).count(), 96 - 38 - 33);
}

/// Two routers with a node each: the messages of `two_nodes_and_a_cable`, five times, rank by rank.
#[test]
fn communication_of_a_small_job_is_recorded_rank_by_rank() {
    let directory = directory("communication");
    std::fs::write(directory.join("cables.csv"), "src,dst,class\na,b,long\n").unwrap();
    std::fs::write(directory.join("graph.csv"), "src,dst,bytes\n0,1,3000000\n1,0,1000000\n1,1,5\n1,0,0\n").unwrap();
    let text =
        "machine.file = 'cables.csv'\n[[job]]\npattern = 'file'\npath = 'graph.csv'\nranks = 2\niterations = 5\n\
                [engine]\nrouting = 'min'\n";
    let result = run_at(&directory, text, 1);
    let table = result.tables.get("communication").unwrap();
    assert_eq!((ids(table, "job"), ids(table, "ranks_per_cell")), (&[0; 3][..], &[1; 3][..]));
    assert_eq!((ids(table, "source"), ids(table, "destination")), (&[0, 1, 1][..], &[1, 0, 1][..]));
    assert_eq!(reals(table, "bytes"), [15e6, 5e6, 25.0]);
    assert_eq!(table.get("messages"), Some(&Values::U64(vec![5, 10, 5])), "a message without bytes is one, too");
    std::fs::remove_dir_all(directory).unwrap();
}

/// 300 ranks make 150 cells of two. On a ring of 300 x 1 ranks each sends to the one before and the one behind it, so a cell
/// holds the two messages within it and one to either side, but for the ends.
#[test]
fn communication_of_a_large_job_is_recorded_in_cells() {
    let text = "[machine]\npreset = \"dragonfly-1056\"\n[[job]]\npattern = { name = \"stencil-2d\", dims = [300, 1], periodic = false, \
                bytes = \"10 B\" }\nranks = 300\n";
    let result = run_it(text, 1);
    let table = result.tables.get("communication").unwrap();
    let cells: Vec<_> = ids(table, "source").iter().zip(ids(table, "destination")).zip(reals(table, "bytes")).collect();
    let expected: Vec<_> = (0..150u32)
        .flat_map(|cell| {
            let near = [cell.checked_sub(1), Some(cell), Some(cell + 1).filter(|&next| next < 150)];
            near.into_iter().flatten().map(move |to| (2 * cell, 2 * to, if to == cell { 20.0 } else { 10.0 }))
        })
        .collect();
    assert!(ids(table, "ranks_per_cell").iter().all(|&n| n == 2));
    assert_eq!(cells.iter().map(|&((&s, &t), &b)| (s, t, b)).collect::<Vec<_>>(), expected);
}

/// The sum over the matrix is what the job sends, whatever becomes of it.
#[test]
fn communication_is_all_that_a_job_sends() {
    let result = run_it(MIXED, 2);
    let table = result.tables.get("communication").unwrap();
    let jobs = result.tables.get("jobs").unwrap();
    for job in 0..2 {
        let of_job = ids(table, "job").iter().zip(reals(table, "bytes")).filter(|(&of, _)| of == job);
        assert_eq!(of_job.map(|(_, bytes)| bytes).sum::<f64>(), reals(jobs, "bytes")[job as usize]);
    }
}

#[test]
fn what_is_not_wanted_has_no_rows() {
    let result = run_it(&format!("{MIXED}[output]\nplacement = false\nlink_jobs = false\ncommunication = false\n"), 2);
    for (name, columns) in [("placement", 3), ("link_jobs", 3), ("communication", 6)] {
        let table = result.tables.get(name).unwrap();
        assert_eq!((table.rows(), table.columns().len()), (0, columns), "{name}");
    }
    let whole = run_it(MIXED, 2);
    assert_eq!(result.summary["jobs"], whole.summary["jobs"]);
}

/// The figures of the summary equal the tables.
#[test]
fn the_summary_is_about_the_tables() {
    let result = run_it(MIXED, 2);
    let links = result.tables.get("links").unwrap();
    let (classes, bytes) = (texts(links, "class"), reals(links, "bytes"));
    for row in result.summary["classes"].as_array().unwrap() {
        let class = row["class"].as_str().unwrap();
        let of = |(name, &bytes): (&String, &f64)| (class == "all" || name == class).then_some(bytes);
        let mut values: Vec<f64> = classes.iter().zip(bytes).filter_map(of).collect();
        values.sort_by(f64::total_cmp);
        let n = values.len();
        assert_eq!(row["links"], n, "{class}");
        assert_eq!(row["bytes_max"], values[n - 1]);
        assert_eq!(row["loaded_links"], values.iter().filter(|&&v| v > 0.0).count());
        for p in [50, 90, 99] {
            assert_eq!(row[format!("bytes_p{p}")], values[(p * n).div_ceil(100) - 1], "{class} {p}");
        }
        let mean = row["bytes_mean"].as_f64().unwrap();
        assert!((mean - values.iter().sum::<f64>() / n as f64).abs() <= 1e-9 * mean);
    }
    assert_eq!(result.summary["convergence"]["converged"], true);
    assert_eq!(result.summary["warnings"], serde_json::json!([]));
    assert_eq!(result.summary["machine"]["links"], bytes.len());
}

#[test]
fn a_run_that_does_not_converge_says_so() {
    let result = run_it(&format!("{MIXED}[engine]\ntolerance = 0\nmax_iterations = 26\n"), 2);
    assert_eq!(result.summary["convergence"]["converged"], false);
    let warning = result.summary["warnings"][0].as_str().unwrap();
    assert!(warning.starts_with("not converged after 26 iterations"), "{warning}");
}

#[test]
fn a_job_that_sends_nothing_is_a_warning() {
    let text = "machine.preset = 'bgp-midplane'\n[[job]]\nname = 'idle'\npattern = 'all-to-all'\nranks = 1\n";
    let warning = run_it(text, 1).summary["warnings"][0].as_str().unwrap().to_owned();
    assert!(warning.contains("'idle' sends nothing"), "{warning}");
}

#[test]
fn the_caller_can_stop_a_run() {
    let mut calls = 0;
    let stopped = Experiment::new(MIXED, "run.toml").run(1, &mut |_, _| {
        calls += 1;
        calls < 4
    });
    assert_eq!(stopped, Err(RunError::Interrupted));
    assert_eq!(calls, 4);
}

/// A machine that a fault cuts in two: the engine's refusal is a problem of the file.
/// An empty list stands for a key that is not used, so it is no assumption of the run.
#[test]
fn an_empty_list_decides_nothing() {
    let text =
        "[machine]\ntopology = 'torus'\ndims = [4]\n[[job]]\npattern = 'all-to-all'\nranks = 2\nranks_per_node = 1\n\
                placement = { name = 'list', nodes = [0, 1] }\n[engine]\nkind = 'flow'\n";
    let checked = Experiment::new(text, "run.toml").check().unwrap();
    let keys = |decides: bool| {
        let known = checked.summary["assumptions"].as_array().unwrap().iter();
        known
            .filter(|known| known["decides"] == decides)
            .map(|known| known["key"].as_str().unwrap())
            .collect::<Vec<_>>()
    };
    assert!(!keys(true).contains(&"job.0.placement.ranks_on_nodes"), "{:?}", keys(true));
    assert!(keys(false).contains(&"job.0.placement.ranks_on_nodes"), "{:?}", keys(false));
}

#[test]
fn the_engines_refusal_is_a_problem() {
    let text = "[machine]\ntopology = 'torus'\ndims = [4, 4]\nedit = 'fail x1_1'\n[[job]]\npattern = 'all-to-all'\n\
                ranks = 3\nranks_per_node = 1\n[engine]\nrouting = 'dimension-order'\n";
    let refused = Experiment::new(text, "run.toml").run(1, &mut |_, _| true);
    let Err(RunError::Problems(problems)) = refused else { panic!("{refused:?}") };
    assert!(problems.to_string().contains("needs a torus or mesh with all its cables"), "{problems}");
    assert!(problems.to_string().contains("run.toml:10:11"), "{problems}");
}

#[test]
fn check_reports_what_a_run_would_have() {
    let checked = Experiment::new(MIXED, "run.toml").check().unwrap();
    let result = run_it(MIXED, 1);
    assert_eq!(checked.resolved, result.resolved);
    let jobs = result.tables.get("jobs").unwrap();
    let Some(Values::U64(messages)) = jobs.get("messages") else { panic!("a column messages") };
    for (i, job) in checked.summary["jobs"].as_array().unwrap().iter().enumerate() {
        // A drawn pattern has expected counts, 1 % off for these sizes.
        let (expected, bytes) = (job["messages"].as_u64().unwrap(), job["bytes"].as_f64().unwrap());
        let tolerance = if job["is_estimate"] == true { 0.02 } else { 0.0 };
        assert!((expected as f64 / messages[i] as f64 - 1.0).abs() <= tolerance, "{job}: {}", messages[i]);
        assert!((bytes / reals(jobs, "bytes")[i] - 1.0).abs() <= tolerance, "{job}");
        assert_eq!(job["nodes"], ids(jobs, "nodes")[i]);
        assert_eq!(job["routers"], ids(jobs, "routers")[i]);
    }
    assert_eq!(checked.summary["machine"], result.summary["machine"]);
}

/// Edison without a third of its black cables: 10,800 - 3,600 of them, 100 each; 2,520 blue ones at 1,000.
#[test]
fn a_machine_alone() {
    let text = "machine.preset = 'edison'\nmachine.edit = '-K'\nmachine.class.black.price = 100\nmachine.class.blue.price = 1e3\n";
    let report = Experiment::new(text, "run.toml").machine(2).unwrap();
    assert_eq!(report.metrics["cost"]["total"], 7_200.0 * 100.0 + 2_520.0 * 1_000.0);
    assert_eq!(report.metrics["cost"]["without_price"], serde_json::json!(["green"]));
    assert_eq!(report.metrics["links"], 21_600 + 14_400 + 5_040);
    assert!(report.metrics["checks"].as_array().unwrap().iter().all(|check| check["holds"] == true));
    let links = report.tables.get("links").unwrap();
    assert!(links.get("bytes").is_none() && links.rows() == 41_040);
    let again = Experiment::new(&report.resolved, "resolved.toml").machine(1).unwrap();
    assert!(again.tables == report.tables);
    assert_eq!(again.resolved, report.resolved);
}

/// What the flow engine finds only in the messages: a slice of capacity below the cutoff, and more bytes than supported.
#[test]
fn the_flow_engine_refuses_what_it_cannot_share_or_count() {
    let job = "[[job]]\npattern = 'uniform'\nranks = 4\nranks_per_node = 1\n";
    let ring = "[machine]\ntopology = 'torus'\ndims = [4]\n";
    // 25 slices of 100 kB/s are 4 kB/s each; the cutoff is 10.486 kB/s.
    let slow = "class.local.bandwidth = '100 kB/s'\n";
    let cases = [
        (format!("{ring}{slow}{job}[engine]\nrouting = 'min'\n"), "'cutoff': 10.486 kB/s is more than a slice"),
        (format!("{ring}{slow}{job}"), "from node x0n0 to node"),
        (format!("{ring}{job}bytes = '1e18 B'\niterations = 1000\n"), "job 'job0' sends more than 2097152 TiB"),
        (format!("{ring}{job}bytes = '9e18 B'\niterations = 4000000000\n"), "job 'job0' sends more than 2097152 TiB"),
    ];
    for (text, expected) in cases {
        match Experiment::new(&text, "run.toml").run(1, &mut |_, _| true) {
            Err(RunError::Problems(problems)) => assert!(problems.to_string().contains(expected), "{problems}"),
            other => panic!("{other:?}"),
        }
    }
    let fewer_slices = format!("{ring}{slow}{job}[engine]\nslices = 5\n");
    assert_eq!(run_it(&fewer_slices, 1).summary["convergence"]["converged"], true);
}
