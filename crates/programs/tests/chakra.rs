//! Chakra traces in JSON and protocol buffers: forms of attributes, missing sizes, unknown names, missing files.

use crate::traces::NamedFiles;
use odonata_programs::{trace_report, ProgramSpec, Recording, TraceReport};
use odonata_units::Time;
use serde_json::{json, Value};
use std::collections::BTreeMap;

/// Files `s.RANK.json` of these ranks, all with the same nodes.
fn set(ranks: &[u32], nodes: &Value) -> NamedFiles {
    let text = json!({ "workload_graph": nodes }).to_string().into_bytes();
    NamedFiles(ranks.iter().map(|rank| (format!("s.{rank}.json"), text.clone())).collect())
}

fn report(nodes: &Value) -> TraceReport {
    trace_report("s.0.json", None, &mut set(&[0, 1], nodes)).unwrap()
}

fn mistake(nodes: &Value) -> String {
    trace_report("s.0.json", None, &mut set(&[0, 1], nodes)).unwrap_err()
}

/// Calls and bytes of all-reduces of all ranks.
fn reduced(report: &TraceReport) -> (u64, u64) {
    let of_name = report.collectives.iter().filter(|((of, _), _)| *of == "all-reduce");
    of_name.fold((0, 0), |sum, (_, total)| (sum.0 + total.calls, sum.1 + total.bytes))
}

/// The example of `docs/models/programs.md`.
#[test]
fn the_example_of_the_page_is_a_trace() {
    let page = include_str!("../../../docs/models/programs.md");
    let (_, section) = page.split_once("### Chakra and ASTRA-sim").expect("their section");
    let examples = section.split("```json\n").skip(1).map(|rest| rest.split("```").next().expect("its end"));
    let files: BTreeMap<_, _> =
        (0..).zip(examples).map(|(rank, text)| (format!("pair.{rank}.json"), text.as_bytes().to_vec())).collect();
    assert_eq!(files.len(), 2);
    let found = trace_report("pair.0.json", None, &mut NamedFiles(files)).unwrap();
    let pairs: Vec<_> = found.pairs.iter().map(|(of, pair)| (*of, pair.messages, pair.bytes)).collect();
    assert_eq!(pairs, [((0, 1, 0), 1, 65_536)]);
    assert_eq!(reduced(&found), (2, 16_000_000));
    assert_eq!(found.compute, [Time::from_us(100), Time::ZERO]);
    assert!(found.survey.notes.is_empty(), "{:?}", found.survey.notes);
}

/// All forms that the JSON mapping of protocol buffers allows, and the feeder's keys.
#[test]
fn attributes_in_every_form() {
    let attributes = |size: Value| {
        json!([{"id": 1, "name": "ar", "type": "COMM_COLL_NODE",
            "attr": [{"name": "comm_type", "int64_val": 0}, size, {"name": "is_cpu_op", "boolVal": false}]}])
    };
    let mut forms = vec![
        json!([{"Id": 1, "Name": "ar", "NodeType": 7, "comm_type": 0, "comm_size": 8_000_000}]),
        json!([{"id": 1, "type": 7, "commType": "ALL_REDUCE", "commSize": "8000000", "attr": null}]),
        // A number of 0 is left out in protocol buffers.
        json!([{"type": 7, "attr": [{"name": "comm_type", "int64Val": "0"}, {"name": "comm_size", "int64Val": "8000000"}]}]),
    ];
    for of in ["int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32", "fixed64", "sfixed32", "sfixed64"] {
        for key in [format!("{of}_val"), format!("{of}Val")] {
            for value in [json!(8_000_000), json!("8000000"), json!(8e6)] {
                forms.push(attributes(json!({"name": "comm_size", key.clone(): value, "docString": ""})));
            }
        }
    }
    forms.push(attributes(json!({"name": "comm_size", "double_val": 8e6})));
    forms.push(attributes(json!({"name": "comm_size", "stringVal": "8000000"})));
    for form in forms {
        let found = report(&form);
        assert_eq!(reduced(&found), (2, 16_000_000), "{form}");
        assert!(found.survey.notes.is_empty(), "{form}: {:?}", found.survey.notes);
    }
}

/// The metadata first, then one object per node: `chakra_jsonizer` writes them without a list.
#[test]
fn printed_nodes_one_after_the_other() {
    let metadata = json!({"version": "0.0.4"});
    let compute = json!({"name": "fwd", "type": "COMP_NODE", "durationMicros": "7", "attr": []});
    let groups = r#"[{"pg_name": "3", "ranks": [0]}]"#;
    let groups =
        json!({"id": "1", "name": "## process_group:init ##", "type": "METADATA_NODE", "inputs": {"values": groups}});
    let reduce = json!({"id": "2", "name": "ar", "type": "COMM_COLL_NODE", "dataDeps": ["0"], "attr": [
        {"name": "comm_type", "int64Val": "0"}, {"name": "comm_size", "int64Val": "64"}, {"name": "pg_name", "stringVal": "3"}]});
    let text = [metadata, compute, groups, reduce].map(|value| format!("{value:#}")).concat();
    let mut files = NamedFiles([("s.0.json".to_owned(), text.into_bytes())].into());
    let found = trace_report("s.0.json", None, &mut files).unwrap();
    assert_eq!((found.ranks, found.calls, reduced(&found)), (1, 3, (1, 64)));
    assert_eq!(found.compute, [Time::from_us(7)]);
}

#[test]
fn a_missing_size_is_an_error_that_names_the_misspelt_key() {
    let misspelt = json!([{"id": 1, "name": "ar", "type": 7, "comm_type": 0, "comm_sise": 8_000_000, "data_deps": []}]);
    let expected = "expected a number of bytes, 0 or more";
    let hint = "; unknown key 'comm_sise': did you mean 'comm_size'?";
    assert_eq!(
        mistake(&misspelt),
        format!("s.0.json: node 1 'ar': a collective without 'comm_size'; {expected}{hint}")
    );
    let attribute = json!([{"id": 1, "name": "s", "type": 5, "attr": [
        {"name": "comm_dst", "int32_val": 1}, {"name": "comm_sise", "int64_val": 8}]}]);
    assert_eq!(mistake(&attribute), format!("s.0.json: node 1 's': a send without 'comm_size'; {expected}{hint}"));
    let receive = json!([{"id": 4, "type": 6, "comm_src": 0}]);
    assert_eq!(mistake(&receive), format!("s.0.json: node 4: a receive without 'comm_size'; {expected}"));
    let zero = json!([{"id": 1, "name": "ar", "type": 7, "comm_type": 0, "comm_size": 0}]);
    assert_eq!(reduced(&report(&zero)), (2, 0), "a size of 0 is a size");
    report(&json!([{"id": 1, "type": 7, "comm_type": "BARRIER"}]));
    for wrong in [json!(-1), json!(1.5), json!("x"), json!([8]), json!(1e30)] {
        let error = mistake(&json!([{"id": 1, "name": "ar", "type": 7, "comm_type": 0, "comm_size": wrong}]));
        assert!(error.starts_with("s.0.json: node 1 'ar': 'comm_size' is "), "{error}");
        assert!(error.ends_with("; expected a whole number, 0 or more"), "{error}");
    }
}

#[test]
fn other_mistakes_of_keys() {
    let of = |node: Value| mistake(&json!([node]));
    assert_eq!(
        of(json!({"id": 1, "name": "ar", "type": 7, "comm_tpye": 2, "comm_size": 8})),
        "s.0.json: node 1 'ar': a collective without 'comm_type'; expected the kind of the collective, such as 0 for \
         an all-reduce; unknown key 'comm_tpye': did you mean 'comm_type'?"
    );
    assert!(of(json!({"id": 1, "type": 5, "comm_dest": 1, "comm_size": 8})).ends_with(
        "a send without 'comm_dst'; expected the rank that receives; unknown key 'comm_dest': did you mean 'comm_dst'?"
    ));
    assert!(of(json!({"id": 1, "type": "COMM_COL_NODE"}))
        .contains("unknown type 'COMM_COL_NODE'; did you mean 'COMM_COLL_NODE'?"));
    assert!(of(json!({"id": 1, "tpye": 4})).contains("no 'type'; expected a number from 1 to 7"));
    assert!(of(json!({"id": 1, "tpye": 4})).ends_with("unknown key 'tpye': did you mean 'type'?"));
    assert!(of(json!({"idd": 1, "type": 4})).starts_with("s.0.json: node 0 of the list: no 'id'"));
    assert!(
        of(json!({"id": 1, "type": 7, "comm_size": 8, "comm_type": "ALL_RED"})).contains("a name such as ALL_REDUCE")
    );
    assert_eq!(
        of(json!({"id": 1, "type": 4, "attr": [{"name": "num_ops", "int46_val": 1}]})),
        "s.0.json: node 1: attribute 'num_ops': unknown key 'int46_val'; expected one such as 'int64_val'; did you mean 'int64_val'?"
    );
    assert!(of(json!({"id": 1, "type": 4, "attr": [{"name": "num_ops", "int64_list": {"values": [1]}}]}))
        .contains("'num_ops' is no number"));
}

/// A bare list, and a first node that is no metadata.
#[test]
fn json_of_other_forms_is_refused() {
    let read = |text: &str| {
        let mut files = NamedFiles([("s.0.json".to_owned(), text.as_bytes().to_vec())].into());
        trace_report("s.0.json", None, &mut files).unwrap_err()
    };
    assert!(read(r#"[{"id": 1, "type": 4}]"#).contains("JSON of no known trace; expected Chakra's"));
    let nodes = r#"{"id": "1", "tpye": "COMP_NODE"}{"id": "2", "type": "COMP_NODE"}"#;
    assert!(read(nodes).starts_with("s.0.json: node 1: no 'type'"), "{}", read(nodes));
}

/// Unknown keys are warnings. So are attributes that look like a known one; tools may add others.
#[test]
fn unknown_names_are_warnings_that_a_trace_file_keeps() {
    let nodes = json!([
        {"id": 1, "type": 4, "duration_micro": 5, "colour": "red"},
        {"id": 2, "type": 7, "comm_type": 0, "comm_size": 8, "comm_priority": 1, "attr": [
            {"name": "pg_nmae", "string_val": "1"}, {"name": "rf_id", "int64_val": 1}, {"name": "shade", "int64_val": 1}]},
    ]);
    let expected = [
        "2 nodes have the unknown key 'colour', which is not read",
        "2 nodes have the unknown key 'duration_micro', which is not read; did you mean 'duration_micros'?",
        "2 nodes have the unknown attribute 'pg_nmae', which is not read; did you mean 'pg_name'?",
    ];
    let of_names = |survey: &odonata_trace::Survey| -> Vec<String> {
        survey.notes.iter().filter(|note| note.contains("unknown")).cloned().collect()
    };
    assert_eq!(of_names(&report(&nodes).survey), expected);
    let mut files = set(&[0, 1], &nodes);
    let mut spec = ProgramSpec::parse("trace").unwrap();
    spec.set("path", json!("s.0.json")).unwrap();
    spec.rule_mut().read(2, &mut files).unwrap();
    assert!(expected.iter().all(|note| spec.rule().warnings().contains(&(*note).to_owned())));
    let mut file = Vec::new();
    Recording::open("s.0.json", None, None, None, &mut files).unwrap().write(&mut file).unwrap();
    files.0.insert("s.odt".into(), file);
    assert_eq!(trace_report("s.odt", None, &mut files).unwrap().survey, report(&nodes).survey);
}

/// PyTorch's calls on the CPU have the type of a collective, but neither size nor kind.
#[test]
fn a_call_on_the_cpu_that_starts_a_collective_is_a_computation() {
    let nodes = json!([
        {"Id": 432, "Name": "c10d::allreduce_(0)", "NodeType": 7, "runtime": 85, "is_cpu_op": true},
        {"Id": 435, "Name": "ncclKernel_AllReduce", "NodeType": 7, "data_deps": [432], "is_cpu_op": false,
            "comm_type": 0, "comm_size": 4},
    ]);
    let found = report(&nodes);
    assert_eq!(reduced(&found), (2, 8));
    assert_eq!(found.compute, [Time::from_us(85); 2]);
    let on_gpu =
        json!([{"Id": 435, "Name": "ncclKernel_AllReduce", "NodeType": 7, "is_cpu_op": false, "comm_type": 0}]);
    assert!(mistake(&on_gpu).contains("node 435 'ncclKernel_AllReduce': a collective without 'comm_size'"));
}

#[test]
fn a_gap_in_the_files_of_a_set_is_an_error() {
    let nodes = json!([{"id": 1, "type": 7, "comm_type": 0, "comm_size": 8}]);
    for path in ["s.0.json", "s.2.json", "s.3.json"] {
        let error = trace_report(path, None, &mut set(&[0, 2, 3], &nodes)).unwrap_err();
        assert_eq!(error, format!("{path}: the file of rank 1 is missing: s.1.json; s.2.json is there"));
    }
    let far = trace_report("s.1000.json", None, &mut set(&[0, 1000], &nodes)).unwrap_err();
    assert_eq!(far, "s.1000.json: the file of rank 1 is missing: s.1.json; s.1000.json is there");
    let first = trace_report("s.1.json", None, &mut set(&[1, 2], &nodes)).unwrap_err();
    assert!(first.starts_with("s.1.json: the file of rank 0 is missing: s.0.json"), "{first}");
    let mut spec = ProgramSpec::parse("trace").unwrap();
    spec.set("path", json!("s.0.json")).unwrap();
    let few = spec.rule_mut().read(3, &mut set(&[0, 2, 3], &nodes)).unwrap_err().1;
    assert!(few.contains("the file of rank 1 of 3 is missing: s.1.json"), "{few}");
    let many = spec.rule_mut().read(2, &mut set(&[0, 1, 3], &nodes)).unwrap_err().1;
    assert!(many.contains("a trace of more ranks: s.3.json is there, but the job has 2"), "{many}");
}

#[test]
fn a_rank_that_the_trace_names_has_a_file() {
    let receive = json!([{"id": 1, "type": 6, "comm_src": 3, "comm_size": 8}]);
    assert_eq!(
        mistake(&receive),
        "s.0.json: node 1: rank 3; its file s.3.json is missing; the files of 2 ranks are there"
    );
    let grouped = json!([{"id": 1, "type": 7, "comm_type": 0, "comm_size": 8, "pg_name": "tp"}]);
    let mut files = set(&[0, 1, 2], &grouped);
    files.0.insert("s.json".into(), br#"{"tp": [0, 1, 2, 3]}"#.to_vec());
    assert_eq!(
        trace_report("s.0.json", None, &mut files).unwrap_err(),
        "s.0.json: group 'tp' contains rank 3; its file s.3.json is missing; the files of 3 ranks are there"
    );
}

/// Protocol buffers of version 0.0.4: number, name and kind of a node, then its attributes.
#[test]
fn a_missing_size_in_protocol_buffers() {
    let field = |number: u8, bytes: &[u8]| [&[number << 3 | 2, bytes.len() as u8][..], bytes].concat();
    let attribute = |name: &str, value: &[u8]| field(10, &[&field(1, name.as_bytes())[..], value].concat());
    let file = |size: &str, value: &[u8]| {
        let kind = attribute("comm_type", &[9 << 3, 0]);
        let node = [&[8, 1][..], &field(2, b"ar"), &[3 << 3, 7], &kind, &attribute(size, value)].concat();
        let version = field(1, b"0.0.4");
        [&[version.len() as u8][..], &version, &[node.len() as u8], &node].concat()
    };
    let read = |bytes| trace_report("s.0.et", None, &mut NamedFiles([("s.0.et".to_owned(), bytes)].into()));
    assert_eq!(reduced(&read(file("comm_size", &[9 << 3, 64])).unwrap()), (1, 64));
    assert_eq!(reduced(&read(file("comm_size", &[9 << 3, 0])).unwrap()), (1, 0));
    let double = [&[3 << 3 | 1][..], &64f64.to_le_bytes()].concat();
    assert_eq!(reduced(&read(file("comm_size", &double)).unwrap()), (1, 64));
    let error = read(file("comm_sise", &[9 << 3, 64])).unwrap_err();
    assert!(error.starts_with("s.0.et: byte 9: node 1 'ar': a collective without 'comm_size'; expected"), "{error}");
    assert!(error.ends_with("unknown key 'comm_sise': did you mean 'comm_size'?"), "{error}");
}
