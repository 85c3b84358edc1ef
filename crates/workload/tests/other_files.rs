//! Placements and communication graphs of CODES, TraceR and htsim, and the detection of formats.

use odonata_import::{codes, htsim, tracer};
use odonata_machine::topology::Dragonfly;
use odonata_machine::Machine;
use odonata_units::RankId;
use odonata_workload::{JobSettings, JobSpec, Pattern, PatternSpec, PlacementSpec, Work, Workload};
use std::collections::HashMap;

/// Four routers of four nodes with two cores.
fn machine() -> Machine {
    let family = Dragonfly { p: 4, a: 4, h: 1, g: 1, cores_per_node: 2, ..Dragonfly::default() };
    family.builder().unwrap().build().unwrap()
}

/// Files by name.
struct Files(HashMap<&'static str, Vec<u8>>);

impl odonata_declare::Reader for Files {
    fn read(&mut self, name: &str) -> Result<Vec<u8>, String> {
        self.0.get(name).cloned().ok_or_else(|| format!("no file {name}"))
    }

    fn locate(&self, _: &str, name: &str) -> Result<std::path::PathBuf, String> {
        Err(format!("no file {name}"))
    }
}

/// The nodes of the ranks of this job, placed by a file.
fn placed(file: Vec<u8>, format: Option<&str>, job: i64, ranks: u32) -> Result<Vec<u32>, String> {
    let mut placement = PlacementSpec::parse("file").unwrap();
    let rule = placement.rule_mut();
    rule.set("path", &odonata_declare::Value::text("file"));
    rule.set("job", &odonata_declare::Value::Integer(job));
    if let Some(format) = format {
        rule.set("format", &odonata_declare::Value::text(format));
    }
    rule.read(&mut Files(HashMap::from([("file", file)]))).map_err(|(_, reason)| reason)?;
    let job = JobSpec {
        name: "a".into(),
        ranks,
        settings: JobSettings::default(),
        work: Work::pattern(PatternSpec::parse("all-to-all").unwrap()),
        placement,
    };
    let workload = Workload::build(&machine(), &[job], 1).map_err(|error| error.to_string())?;
    Ok(workload.jobs[0].node_of_rank.iter().map(|node| node.0).collect())
}

fn records(rows: &[[i32; 3]]) -> Vec<u8> {
    rows.iter().flatten().flat_map(|number| number.to_le_bytes()).collect()
}

#[test]
fn an_allocation_of_codes_has_a_line_for_each_job() {
    let file = b"3 1 2\n\n 15 15 0 7\n".to_vec();
    assert_eq!(placed(file.clone(), None, 0, 3).unwrap(), [3, 1, 2]);
    assert_eq!(placed(file.clone(), Some("codes"), 1, 4).unwrap(), [15, 15, 0, 7]);
    assert!(placed(file, None, 0, 4).unwrap_err().contains("3 ranks of job 0, but the job has 4"));
    assert!(placed(b"3 16\n".to_vec(), None, 0, 2).unwrap_err().contains("unknown node '16'"));
    let message = codes::placement("alloc.conf", b"0 1\n2 x 3\n").unwrap_err().to_string();
    assert_eq!(message, "alloc.conf:line 2: 'x', expected the number of the node of rank 1 of job 1");
    assert!(codes::placement("alloc.conf", b" \n").unwrap_err().to_string().contains("a line of node numbers"));
}

/// Eight servers on a router of four nodes: 0 to 3 are the first core of each node, 4 to 7 the second.
#[test]
fn servers_of_tracer_are_dealt_out_over_the_nodes_of_a_router() {
    let file = records(&[[4, 1, 0], [0, 0, 0], [7, 2, 0], [9, 0, 1], [31, 1, 1]]);
    assert_eq!(placed(file.clone(), None, 0, 3).unwrap(), [0, 0, 3]);
    assert_eq!(placed(file, Some("tracer"), 1, 2).unwrap(), [5, 15]);
    let beyond = placed(records(&[[32, 0, 0]]), None, 0, 1).unwrap_err();
    assert!(beyond.contains("server 32, but") && beyond.contains("servers 0 to 31, 2 on a node"), "{beyond}");
    let cut = tracer::placement("global.bin", &[0; 13]).unwrap_err().to_string();
    assert_eq!(cut, "global.bin:byte 12: cut off: the last record has 1 of 12 bytes (int32 server, rank, job)");
    let negative = tracer::placement("global.bin", &records(&[[0, 0, 0], [1, -1, 0]])).unwrap_err().to_string();
    assert_eq!(negative, "global.bin:byte 16: rank -1, expected a number from 0 up");
}

#[test]
fn ambiguous_files_need_a_format() {
    // As a map of Damselfly: node (0, 0, 0, 1), core 1, job 0. As a map of TraceR: servers 0 and 1.
    let both = records(&[[0, 0, 0], [1, 1, 0]]);
    let message = placed(both.clone(), None, 0, 2).unwrap_err();
    assert!(message.starts_with("file: records fit both a map of Damselfly and one of TraceR"), "{message}");
    assert_eq!(placed(both.clone(), Some("tracer"), 0, 2).unwrap(), [0, 1]);
    assert_eq!(placed(both, Some("damselfly"), 0, 1).unwrap(), [1]);
    // A map of TraceR has each server once.
    let damselfly = records(&[[0, 2, 0], [0, 1, 0], [0, 2, 0], [1, 0, 0]]);
    let message = placed(damselfly, None, 0, 2).unwrap_err();
    assert_eq!(message, "file:byte 0: row 2, but dragonfly-p4-a4-h1-g1 has rows 0 to 0");
}

#[test]
fn flows_of_htsim_are_messages() {
    let file = b"Nodes 8\nConnections 3 # one more\n0->4 id 1 start 0 size 2000000\n\n4->7 id 2 trigger 1 size 5 \
                 send_done_trigger 2\n4->7 size 6\ntrigger id 1 oneshot\n";
    let graph = htsim::communication_graph("a.cm", file, None).unwrap();
    assert_eq!((Pattern::ranks(&graph), graph.len()), (8, 3));
    let mut sends = Vec::new();
    graph.sends(RankId(4), &mut sends);
    assert_eq!(sends.iter().map(|send| (send.target.0, send.bytes.0)).collect::<Vec<_>>(), [(7, 5), (7, 6)]);
    assert_eq!(Pattern::ranks(&htsim::communication_graph("a.cm", file, Some(9)).unwrap()), 9);
    let message =
        |text: &str, ranks| htsim::communication_graph("a.cm", text.as_bytes(), ranks).unwrap_err().to_string();
    assert_eq!(message("Nodes 8\n0->8 size 1\n", None), "a.cm:line 2: node 8 of 8 nodes");
    assert_eq!(message("Nodes 8\n0->1 start 0\n", None), "a.cm:line 2: flow 0->1 has no size in bytes");
    assert_eq!(message("Nodes 8\n", Some(4)), "a.cm:line 1: 8 nodes, expected at most 4, the ranks of the job");
    assert_eq!(message("Nodes 8\nConnections 2\n0->1 size 1\n", None), "a.cm:line 1: 1 flows, but 'Connections 2'");
    assert_eq!(message("0->1 size 1\n", None), "a.cm:line 1: a flow before the line 'Nodes N'");
    assert!(message("Nodes 8\nflow 0 1\n", None).starts_with("a.cm:line 2: 'flow 0 1', expected a flow such as"));
}
