//! Jobs whose placement lists nodes that fail: they are absent from the run, and the others run without them.

use odonata_experiment::{Experiment, RunResult};
use odonata_machine::{presets, Machine};
use serde_json::{json, Value};

/// 72 nodes: 9 groups of 4 routers with 2 nodes each; routers g0r0 to g8r3.
const DRAGONFLY: &str = "topology = 'dragonfly'\np = 2\na = 4\nh = 2\ng = 9";

fn job(name: &str, color: &str, placement: &str, ranks: u32, more: &str) -> String {
    format!(
        "[[job]]\nname = '{name}'\ncolor = '{color}'\nranks = {ranks}\nranks_per_node = 1\n{more}\n\
         placement = {placement}\npattern = {{ name = 'all-to-all', bytes = '64 KiB' }}\n"
    )
}

fn list(nodes: &str) -> String {
    format!("{{ name = 'list', nodes = '{nodes}' }}")
}

/// Two jobs that share router g0r1, one that has neither it nor g0r0, and one that takes any nodes.
fn jobs(absent: &[&str]) -> String {
    let more = |name: &str| if absent.contains(&name) { "absent = true" } else { "" };
    [
        job("llm", "#111111", &list("g0r[0-1]n[0-1]"), 4, more("llm")),
        job("wrf", "#222222", &list("g0r2n[0-1],g3r[0-3]n[0-1]"), 10, more("wrf")),
        job("md", "#333333", &list("g4r[0-1]n[0-1]"), 4, more("md")),
        job("any", "#444444", "'random-nodes'", 20, more("any")),
    ]
    .concat()
}

fn experiment(edits: &str, jobs: &str, engine: &str) -> Experiment {
    let machine = format!("{DRAGONFLY}\nedit = [{edits}]");
    Experiment::new(format!("[machine]\n{machine}\n{jobs}[engine]\n{engine}\n"), "run.toml")
}

#[track_caller]
fn run(of: &Experiment) -> RunResult {
    of.run(1, &mut |_, _| true).unwrap_or_else(|error| panic!("{error:?}"))
}

fn warnings(result: &RunResult) -> Vec<&str> {
    result.summary["warnings"].as_array().unwrap().iter().filter_map(Value::as_str).collect()
}

/// Message and help of the only problem.
#[track_caller]
fn refused(of: &Experiment) -> (String, String) {
    let problems = of.check().expect_err("was taken").0;
    assert_eq!(problems.len(), 1, "{problems:?}");
    (problems[0].message.clone(), problems[0].help.clone().unwrap_or_default())
}

/// By hand: router g0r1 has 2 of the 4 nodes of `llm`, router g0r2 has 2 of the 10 of `wrf`, and `md` loses none.
#[test]
fn jobs_that_lose_nodes_are_absent() {
    let result = run(&experiment("'fail g0r1', 'fail node g0r2n1', 'fail node g0r2n0'", &jobs(&[]), "kind = 'flow'"));
    assert_eq!(
        result.summary["absent_jobs"],
        json!([
            {"name": "llm", "ranks": 4, "nodes": 4, "lost_nodes": ["g0r1n0", "g0r1n1"], "failed": ["g0r1"]},
            {"name": "wrf", "ranks": 10, "nodes": 10, "lost_nodes": ["g0r2n0", "g0r2n1"], "failed": ["g0r2n0", "g0r2n1"]},
        ])
    );
    let expected = "g0r1, g0r2n0 and g0r2n1 fail: llm and wrf lose 2 and 2 nodes; absent from the run";
    assert_eq!(warnings(&result), [expected]);
    let names: Vec<_> = result.summary["jobs"].as_array().unwrap().iter().map(|job| &job["name"]).collect();
    assert_eq!(names, ["md", "any"]);
    let one = run(&experiment("'fail g3r0'", &jobs(&[]), "kind = 'flow'"));
    assert_eq!(warnings(&one), ["g3r0 fails: wrf loses 2 of 10 nodes; absent from the run"]);
    let whole = run(&experiment("'fail g4r0', 'fail g4r1'", &jobs(&[]), "kind = 'flow'"));
    assert_eq!(warnings(&whole), ["g4r0 and g4r1 fail: md loses 4 nodes; absent from the run"]);
    assert_eq!(experiment("'fail g3r0'", &jobs(&[]), "kind = 'flow'").check().unwrap().warnings, warnings(&one));
}

/// The same as if the user had left the jobs out: every table, in both engines.
#[test]
fn the_others_run_as_without_them() {
    for engine in ["kind = 'flow'", "kind = 'packet'\nrouting = 'min'"] {
        let edits = "'fail g0r1', 'fail g3r3'";
        let failed = run(&experiment(edits, &jobs(&[]), engine));
        let left_out = run(&experiment(edits, &jobs(&["llm", "wrf"]), engine));
        assert_eq!(failed.summary["absent_jobs"].as_array().unwrap().len(), 2);
        assert_eq!(left_out.summary["absent_jobs"], json!([]));
        assert_eq!(failed.tables, left_out.tables, "{engine}");
    }
}

/// An independent rule: a job is absent if one of its nodes is at a failed router. Routers fail at random.
#[test]
fn random_failures_end_the_jobs_on_them() {
    for seed in 0..12 {
        let engine = format!("kind = 'flow'\nseed = {seed}");
        let plan = experiment("'fail 8% routers'", &jobs(&[]), &engine).plan().unwrap();
        let machine = &plan.scenario.machine;
        let has_lost = |nodes: &str| {
            let names = odonata_machine::hostlist::expand(nodes).unwrap();
            names.iter().any(|name| !machine.router_up(machine.router_of(machine.node_named(name).unwrap())))
        };
        let lists = [("llm", "g0r[0-1]n[0-1]"), ("wrf", "g0r2n[0-1],g3r[0-3]n[0-1]"), ("md", "g4r[0-1]n[0-1]")];
        let left = lists.iter().filter(|(_, nodes)| !has_lost(nodes)).map(|(name, _)| *name).chain(["any"]);
        let found: Vec<&str> = plan.scenario.workload.jobs.iter().map(|job| job.name.as_str()).collect();
        assert_eq!(found, left.collect::<Vec<_>>(), "seed {seed}");
    }
}

/// The resolved file has the jobs, so it gives this run with the failure and the whole run without it.
#[test]
fn the_resolved_file_keeps_the_jobs() {
    let result = run(&experiment("'fail g0r1'", &jobs(&[]), "kind = 'flow'"));
    let again = Experiment::new(result.resolved.clone(), "resolved.toml");
    let repeated = run(&again);
    assert_eq!((&repeated.tables, &repeated.resolved), (&result.tables, &result.resolved));
    assert_eq!(repeated.summary["absent_jobs"], result.summary["absent_jobs"]);
    let repaired = run(&again.with_overrides(["machine.edit=[]".to_owned()]));
    assert_eq!(repaired.tables, run(&experiment("", &jobs(&[]), "kind = 'flow'")).tables);
}

/// A file of places ends a job as a list does; a position in the file does not change with the jobs before.
#[test]
fn placements_from_files_lose_nodes_too() {
    let folder = std::env::temp_dir().join(format!("odonata-failures-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let places = folder.join("places.csv");
    std::fs::write(&places, "job,rank,node\n0,0,0\n0,1,1\n1,0,40\n1,1,42\n").unwrap();
    let placement = format!("{{ name = 'file', path = '{}' }}", places.display());
    let text = [job("first", "#111111", &placement, 2, ""), job("second", "#222222", &placement, 2, "")].concat();
    let result = run(&experiment("'fail g0r0'", &text, "kind = 'flow'"));
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(warnings(&result), ["g0r0 fails: first loses 2 nodes; absent from the run"]);
    assert_eq!(result.summary["jobs"][0]["name"], "second");
}

#[test]
fn a_node_with_another_nic_keeps_its_job() {
    let machine = |edits: &str| format!("{DRAGONFLY}\nplanes = 2\nedit = [{edits}]");
    let result = |edits: &str| {
        let text = format!("[machine]\n{}\n{}[engine]\nkind = 'flow'\n", machine(edits), jobs(&[]));
        run(&Experiment::new(text, "run.toml"))
    };
    assert_eq!(result("'fail p0g0r1'").summary["absent_jobs"], json!([]));
    let both = result("'fail p0g0r1', 'fail p1g0r1'");
    assert_eq!(both.summary["absent_jobs"][0]["failed"], json!(["p0g0r1", "p1g0r1"]));
    assert_eq!(both.summary["absent_jobs"][0]["lost_nodes"], json!(["g0r1n0", "g0r1n1"]));
}

#[test]
fn what_is_left_must_be_a_run() {
    let only = job("llm", "#111111", &list("g0r[0-1]n[0-1]"), 4, "");
    let (message, help) = refused(&experiment("'fail g0r0'", &only, "kind = 'flow'"));
    assert_eq!(message, "no job is left: g0r0 fails: llm loses 2 of 4 nodes");
    assert_eq!(help, "undo a failure, or place a job on other nodes");
    let endless = "[[job]]\nname = 'noise'\nranks = 8\nplacement = 'random-nodes'\nbackground = true\n\
                   program = { name = 'allreduce' }\n";
    let (message, _) = refused(&experiment("'fail g0r0'", &(only + endless), "kind = 'packet'"));
    assert_eq!(message, "job 'noise' runs until the other jobs have ended, but there is none that ends");
}

/// 72 nodes, of which 2 fail: 70 are left for 71.
#[test]
fn too_few_nodes_are_left() {
    let (message, help) =
        refused(&experiment("'fail g0r0'", &job("big", "#111111", "'random-nodes'", 71, ""), "kind = 'flow'"));
    assert!(message.contains("only 70 of the 70 usable nodes"), "{message}");
    assert_eq!(help, "2 nodes can't be used, because of failures: g0r0");
}

/// Nodes that never run jobs are a mistake of the file, whatever fails elsewhere.
#[test]
fn nodes_that_are_not_for_jobs_stay_a_mistake() {
    let edison: Machine = presets::builder("edison").unwrap().build().unwrap();
    let service = edison.nodes().find(|&node| !edison.node_up(node)).unwrap();
    let text = format!(
        "[machine]\npreset = 'edison'\nedit = ['fail g14r0c0']\n[[job]]\nranks = 1\nranks_per_node = 1\n\
         placement = {{ name = 'list', nodes = [{}] }}\npattern = 'uniform'\n[engine]\nkind = 'flow'\n",
        service.0
    );
    let (message, _) = refused(&Experiment::new(text, "run.toml"));
    assert!(message.ends_with("is not a usable compute node"), "{message}");
}

/// All cables of g4r0: its local ones to the three other routers of its group, its global ones to two other groups.
fn without_cables_of(router: &str) -> String {
    let machine = experiment("", &jobs(&[]), "kind = 'flow'").plan().unwrap().scenario.machine;
    let at = machine.router_named(router).unwrap();
    let links = machine.links_from(at).map(|link| machine.link_name(odonata_units::LinkId::from_index(link)));
    links.map(|name| format!("'fail {name}'")).collect::<Vec<_>>().join(", ")
}

/// A router without cables fails for its jobs; the tables equal the tables of a run where it fails.
#[test]
fn a_cut_off_router_counts_as_failed() {
    for engine in ["kind = 'flow'", "kind = 'packet'\nrouting = 'min'"] {
        let cut = run(&experiment(&without_cables_of("g4r0"), &jobs(&[]), engine));
        let failed = run(&experiment("'fail g4r0'", &jobs(&[]), engine));
        assert_eq!(
            warnings(&cut)[..2],
            [
                "failed or missing cables cut off g4r0 with 2 nodes, so it counts as failed",
                "g4r0 fails: md loses 2 of 4 nodes; absent from the run"
            ]
        );
        assert_eq!(cut.summary["absent_jobs"], failed.summary["absent_jobs"]);
        assert_eq!(cut.tables, failed.tables, "{engine}");
    }
}

/// Two leaves under one switch: without it, no part has most of the nodes.
#[test]
fn a_tree_can_not_lose_its_only_top() {
    let text = |edit: &str| {
        format!(
            "[machine]\ntopology = 'xgft'\nchildren = [4, 2]\nparents = [1, 1]\nedit = ['{edit}']\n[[job]]\nranks = 4\n\
             ranks_per_node = 1\npattern = 'uniform'\n[engine]\nkind = 'flow'\n"
        )
    };
    let (message, help) = refused(&Experiment::new(text("fail router 2"), "run.toml"));
    assert_eq!(message, "failed or missing cables cut the machine into 2 parts, of which the largest has 4 of 8 nodes");
    assert!(help.contains("a tree with one switch at its top can't lose that switch"), "{help}");
}
