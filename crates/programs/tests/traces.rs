//! Counts of the shared Chakra traces and ASTRA-sim workloads, and messages of older versions written here.
//!
//! The files are not in this repository: they are read from `$ODONATA_SHARED/data/traces`, else from `../shared`.

use odonata_declare::Reader;
use odonata_programs::collective::Collectives;
use odonata_programs::{trace_report, ProgramSpec, Recording, TraceReport};
use odonata_trace::{Work, ANY};
use odonata_units::{Bytes, Time};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};

struct Disk;

impl Reader for Disk {
    fn read(&mut self, name: &str) -> Result<Vec<u8>, String> {
        std::fs::read(name).map_err(|error| format!("can't read {name}: {error}"))
    }

    fn locate(&self, _: &str, name: &str) -> Result<PathBuf, String> {
        Some(PathBuf::from(name)).filter(|path| path.exists()).ok_or_else(|| format!("{name}: not there"))
    }
}

/// Files by name, in memory.
pub(crate) struct NamedFiles(pub(crate) BTreeMap<String, Vec<u8>>);

impl Reader for NamedFiles {
    fn read(&mut self, name: &str) -> Result<Vec<u8>, String> {
        self.0.get(name).cloned().ok_or_else(|| format!("{name}: there is no such file"))
    }

    fn locate(&self, _: &str, name: &str) -> Result<PathBuf, String> {
        self.0.get(name).map(|_| PathBuf::from(name)).ok_or_else(|| format!("{name}: not there"))
    }
}

/// The folder, or `None` after a note that the test does nothing.
fn shared(folder: &str) -> Option<PathBuf> {
    let sibling = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let shared = std::env::var_os("ODONATA_SHARED").map_or_else(sibling, PathBuf::from);
    let directory = shared.join("data/traces").join(folder);
    if !directory.is_dir() {
        writeln!(std::io::stderr(), "SKIPPED: {} is not there", directory.display()).expect("standard error is open");
        return None;
    }
    Some(directory)
}

fn report(path: &Path) -> TraceReport {
    trace_report(&path.to_string_lossy(), None, &mut Disk).unwrap()
}

fn messages(report: &TraceReport) -> (u64, u64) {
    report.pairs.values().fold((0, 0), |sum, pair| (sum.0 + pair.messages, sum.1 + pair.bytes))
}

/// Calls and bytes of a collective, on communicators of any size.
fn collective(report: &TraceReport, name: &str) -> (u64, u64) {
    let of_name = report.collectives.iter().filter(|((of, _), _)| *of == name);
    of_name.fold((0, 0), |sum, (_, total)| (sum.0 + total.calls, sum.1 + total.bytes))
}

#[test]
fn the_counts_of_the_shared_chakra_traces() {
    let Some(folder) = shared("chakra") else { return };
    let benchmarks = folder.join("astra-sim/examples/workload/microbenchmarks");
    for (file, name) in [
        ("all_reduce", "all-reduce"),
        ("all_gather", "all-gather"),
        ("all_to_all", "all-to-all"),
        ("reduce_scatter", "reduce-scatter"),
    ] {
        for ranks in [4, 8, 16] {
            let found = report(&benchmarks.join(file).join(format!("{ranks}npus_1MB/{file}.0.et")));
            assert_eq!((found.ranks, found.calls), (ranks, u64::from(ranks)));
            assert_eq!(collective(&found, name), (ranks.into(), u64::from(ranks) << 20), "{file} {ranks}");
        }
    }
    let ring = "astra-sim/examples/system/custom_collectives/custom_ring_allreduce_8npus_1MB/custom_allreduce.3.et";
    let found = report(&folder.join(ring));
    assert_eq!((found.ranks, found.calls, messages(&found)), (8, 280, (112, 14_680_064)));
    assert!(found.pairs.keys().all(|&(source, target, tag)| target == (source + 1) % 8 && tag == 0));
    assert_eq!(found.compute, vec![Time::from_us(49); 8]);
    let dense = report(&folder.join("stg-generated/dense8/workload.0.et"));
    assert_eq!((dense.ranks, dense.calls, messages(&dense)), (8, 2_816, (32, 16_777_216)));
    assert_eq!(collective(&dense, "all-gather"), (384, 201_326_592));
    assert_eq!(collective(&dense, "reduce-scatter"), (256, 268_435_456));
    assert_eq!(collective(&dense, "all-reduce"), (80, 926_941_184));
    assert_eq!(dense.survey.kinds["compute"].seen, 2_032);
    assert!(dense.survey.oddities == ["936 dependencies on later nodes"]);
    let fsdp = report(&folder.join("stg-generated/fsdp8/workload.7.et"));
    assert_eq!(collective(&fsdp, "all-gather"), (64, 100_663_296));
    assert_eq!(collective(&fsdp, "reduce-scatter"), (32, 402_653_184));
    assert_eq!(collective(&fsdp, "all-reduce"), (16, 524_288_000));
    assert!(fsdp.survey.oddities == ["720 dependencies on later nodes"]);
    let demo = report(&folder.join("astra-sim-tutorials/micro2024/astra-sim-demo/demo1/allreduce/allreduce.0.et"));
    assert_eq!((demo.ranks, collective(&demo, "all-reduce")), (8, (8, 8 << 20)));
}

/// Bytes by collective of one rank: the numbers of the published files.
#[test]
fn the_counts_of_the_shared_astra_sim_workloads() {
    let Some(folder) = shared("chakra/astra-sim-tutorials") else { return };
    let found = report(&folder.join("asplos2022/exercise_3/inputs/gpt3.txt"));
    assert_eq!((found.ranks, found.survey.kinds["layer"].seen), (16, 28));
    // Forward, input gradient, weight gradient.
    let of_each = 4_831_838_208 + 5_637_144_576 + 734_773_248;
    assert_eq!(collective(&found, "all-reduce"), (16 * (6 + 7 + 19), 16 * of_each));
    assert_eq!(collective(&found, "all-gather"), (16 * 4, 16 * (147_456_000 + 150_994_944)));
    let found = report(&folder.join("asplos2022/exercise_3/inputs/vgg16.txt"));
    assert_eq!((found.survey.kinds["layer"].seen, collective(&found, "all-reduce").1 / 2), (16, 276_715_088));
    let found = report(&folder.join("hoti2024/demo2/workload_text.txt"));
    assert_eq!(collective(&found, "all-gather").1 / 2, 447_232);
    assert_eq!(collective(&found, "all-reduce").1 / 2, 447_232);
}

/// The counts that `otf2-print` and a decoding by the published library give.
#[test]
fn the_counts_of_the_shared_otf2_archive() {
    let Some(folder) = shared("otf2/sst-macro/tests/otf2_test_traces") else { return };
    let found = report(&folder.join("traces.otf2"));
    assert_eq!(found.ranks, 10);
    let seen = |name: &str| found.survey.kinds[name].seen;
    assert_eq!([seen("ENTER"), seen("LEAVE")], [7_010; 2]);
    let calls = ["MPI_ISEND", "MPI_ISEND_COMPLETE", "MPI_IRECV_REQUEST", "MPI_IRECV"];
    assert_eq!(calls.map(seen), [1_440; 4]);
    assert_eq!(messages(&found), (1_440, 23_592_600));
    let pairs: BTreeSet<(u32, u32)> = found.pairs.keys().map(|(from, to, _)| (*from, *to)).collect();
    assert_eq!(pairs.len(), 60);
    let own = found.pairs.iter().filter(|((from, to, _), _)| *from == *to).map(|(_, pair)| pair.messages).sum::<u64>();
    assert_eq!(own, 952);
    // On communicators of more than one rank; each rank counts.
    assert_eq!(collective(&found, "allreduce"), (120 + 96, 16_380 * (10 + 8)));
    assert_eq!(collective(&found, "allgather"), (120 + 96, 16_380 * (10 + 8)));
    let lost = |name: &str| found.survey.kinds[&format!("{name} (its sizes)")].missing;
    assert_eq!(["MPI_Iallgather", "MPI_Ialltoall", "MPI_Iallreduce"].map(lost), [360; 3]);
}

/// One of the four files; all have the same lines.
#[test]
fn the_counts_of_the_shared_liballprof_trace() {
    let Some(folder) = shared("liballprof/llamp/Schedgen/liballprof-samples/bcast") else { return };
    let found = report(&folder.join("trace_bcast-2.dat"));
    let seen = |name: &str| found.survey.kinds[name].seen;
    assert_eq!((found.ranks, seen("MPI_Init"), seen("MPI_Bcast"), seen("MPI_Finalize")), (4, 4, 20, 4));
    assert_eq!(collective(&found, "bcast"), (20, 20 * 12));
    // 2 us before the first call, 1 us before each of the five others.
    assert_eq!(found.compute, vec![Time::from_us(7); 4]);
}

/// Every file below a folder.
fn all_files(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found.into_iter().flat_map(|path| if path.is_dir() { all_files(&path) } else { vec![path] }).collect()
}

/// Every shared trace that is read becomes a trace file with the same table.
#[test]
fn shared_traces_as_trace_files() {
    let Some(folder) = shared(".") else { return };
    let mut converted: BTreeMap<&str, u32> = BTreeMap::new();
    for path in all_files(&folder) {
        let path = path.to_string_lossy();
        let Ok(recording) = Recording::open(&path, None, None, None, &mut Disk) else { continue };
        let mut bytes = Vec::new();
        // A trace that is not valid is refused when it would run, too.
        if recording.write(&mut bytes).is_err() {
            continue;
        }
        let before = trace_report(&path, None, &mut Disk).unwrap();
        let after = trace_report("a.odt", None, &mut NamedFiles([("a.odt".into(), bytes)].into())).unwrap();
        assert_eq!(after.source, before.format, "{path}");
        assert_eq!((after.ranks, after.calls), (before.ranks, before.calls), "{path}");
        assert_eq!((&after.pairs, &after.collectives), (&before.pairs, &before.collectives), "{path}");
        assert_eq!((&after.compute, &after.survey), (&before.compute, &before.survey), "{path}");
        *converted.entry(before.format.word()).or_default() += 1;
    }
    let formats: Vec<&str> = converted.keys().copied().collect();
    assert_eq!(formats, ["astra-sim", "chakra", "dumpi", "goal", "liballprof", "otf2", "simgrid"], "{converted:?}");
    let least = [("astra-sim", 3), ("chakra", 100), ("dumpi", 10), ("goal", 26), ("simgrid", 10)];
    assert!(least.iter().all(|(format, least)| converted[format] >= *least), "{converted:?}");
}

#[test]
fn other_workloads_are_refused_by_their_kind() {
    let Some(folder) = shared(".") else { return };
    let refused = |path: &str| trace_report(&folder.join(path).to_string_lossy(), None, &mut Disk).unwrap_err();
    let simai = "simai/aicb/workload/simAI/model_workload";
    let texts = std::fs::read_dir(folder.join(simai)).unwrap().map(|entry| entry.unwrap().path());
    for path in texts {
        let error = trace_report(&path.to_string_lossy(), None, &mut Disk).unwrap_err();
        assert!(error.ends_with("a workload of SimAI, which is not read"), "{error}");
    }
    for (path, kind) in [
        ("simai/SimAI/example/microAllReduce.txt", "a workload of SimAI"),
        ("simai/aicb/workload/simAI/micro_test/all_to_all.txt", "a workload of SimAI"),
        ("simgrid-ti/simgrid/examples/cpp/replay-comm/s4u-replay-comm.txt", "actions of SimGrid's S4U"),
        ("simgrid-ti/simgrid/examples/smpi/replay_multiple/description_file", "a list of jobs of SimGrid"),
        (
            "simgrid-ti/simgrid/examples/smpi/replay_multiple_manual_deploy/workload_compute",
            "a list of jobs of SimGrid",
        ),
        ("simai/SimAI/example/busbw.yaml", "bus bandwidths of SimAI"),
        ("simai/aicb/workload/physical/model_workload/L7B-D1-C02_Llama7B_zero3_mbs1.csv", "a workload of aicb in CSV"),
        ("simai/aicb/workload/Workload_spec_v1.1.csv", "a list of models of aicb"),
        ("swm/SWM-workloads/swm/src/lammps/lammps_workload.json", "a workload of SWM or Union"),
        ("codes/codes/tests/conf/union-milc-jacobi-workload/milc_skeleton.json", "a workload of SWM or Union"),
        ("codes/codes/tests/conf/union-milc-jacobi-workload/conceptual.json", "arguments of programs of Union"),
        ("ember/sst-elements/src/sst/elements/ember/test/loadfile", "a load file of Ember"),
        ("ember/sst-elements/src/sst/elements/ember/tests/qos.load", "a load file of Ember"),
        ("codes/codes/tests/conf/union-milc-jacobi-workload/jacobi_MILC.workload.conf", "a workload file of CODES"),
        ("tracer/TraceR/examples/conf/dfly.conf", "a network of CODES"),
        ("tracer/TraceR/examples/jacobi2d-bigsim/global_map.bin", "line 1: binary data"),
        ("chakra/astra-sim/examples/network/analytical/Ring_4npus.yml", "a network of ASTRA-sim"),
        ("chakra/stg-generated/dense8/workload.json", "JSON of no known trace"),
        ("otf2/sst-macro/tests/otf2_test_traces/traces/0.evt", "expected the anchor file of an OTF2 archive"),
    ] {
        assert!(refused(path).contains(kind), "{}", refused(path));
    }
}

fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

fn number(field: u64, value: u64) -> Vec<u8> {
    [varint(field << 3), varint(value)].concat()
}

fn bytes(field: u64, value: &[u8]) -> Vec<u8> {
    [varint(field << 3 | 2), varint(value.len() as u64), value.to_vec()].concat()
}

fn file(messages: &[Vec<u8>]) -> Vec<u8> {
    messages.iter().flat_map(|message| [varint(message.len() as u64), message.clone()].concat()).collect()
}

fn two_ranks(each: impl Fn(u32) -> Vec<u8>) -> NamedFiles {
    NamedFiles((0..2).map(|rank| (format!("a.{rank}.et"), each(rank))).collect())
}

/// The same program in every version: rank 0 computes 3 us, sends 64 B with tag 5 to rank 1, both all-gather 100 B.
#[test]
fn every_version() {
    let flat = |rank: u32| {
        let head = |id: u64, kind: u64, parents: &[u64]| {
            let parents = parents.iter().flat_map(|&parent| number(4, parent)).collect::<Vec<_>>();
            [number(1, id), bytes(2, b"n"), number(3, kind), parents].concat()
        };
        let message = match rank {
            0 => [head(8, 4, &[7]), number(17, 1), number(18, 64), number(19, 5)].concat(),
            _ => [head(8, 5, &[7]), number(16, 0), number(18, 64), number(19, 5)].concat(),
        };
        let compute = [head(7, 3, &[]), number(7, 3)].concat();
        file(&[compute, message, [head(9, 6, &[8]), number(13, 3), number(18, 100)].concat()])
    };
    // Fields of a whole number and of the list of attributes, of the metadata node's number, of an all-gather.
    let with_attributes = |integer: u64, list: u64, shift: u64, gather: u64, rank: u32| {
        let attribute = |name: &[u8], value: u64| {
            let kind = if list == 11 { number(2, 1) } else { Vec::new() };
            bytes(list, &[bytes(1, name), kind, number(integer, value)].concat())
        };
        let head = |id: u64, kind: u64, parents: &[u64]| {
            let parents = parents.iter().flat_map(|&parent| number(4, parent)).collect::<Vec<_>>();
            [number(1, id), bytes(2, b"n"), number(3, kind + shift), parents].concat()
        };
        let (kind, peer): (u64, (&[u8], u64)) = if rank == 0 { (4, (b"comm_dst", 1)) } else { (5, (b"comm_src", 0)) };
        let message =
            [head(8, kind, &[7]), attribute(peer.0, peer.1), attribute(b"comm_size", 64), attribute(b"comm_tag", 5)];
        let compute = if list == 10 {
            [head(7, 3, &[]), number(7, 3), attribute(b"is_cpu_op", 0)].concat()
        } else {
            [head(7, 3, &[]), attribute(b"runtime", 3)].concat()
        };
        let gather = [head(9, 6, &[8]), attribute(b"comm_type", gather), attribute(b"comm_size", 100)].concat();
        vec![compute, message.concat(), gather]
    };
    let metadata = bytes(1, &[bytes(1, b"schema"), number(2, 4), bytes(8, b"x")].concat());
    let versions: [(&str, NamedFiles); 5] = [
        ("0.0.1", two_ranks(flat)),
        ("0.0.2", two_ranks(|rank| file(&with_attributes(5, 11, 0, 2, rank)))),
        ("0.0.3", two_ranks(|rank| file(&[vec![metadata.clone()], with_attributes(7, 11, 1, 2, rank)].concat()))),
        ("0.0.3, first form", two_ranks(|rank| file(&with_attributes(6, 11, 1, 2, rank)))),
        ("0.0.4", two_ranks(|rank| file(&[vec![bytes(1, b"0.0.4")], with_attributes(9, 10, 1, 2, rank)].concat()))),
    ];
    for (version, mut files) in versions {
        let found = trace_report("a.0.et", None, &mut files).unwrap();
        let pairs: Vec<_> = found.pairs.iter().map(|(of, pair)| (*of, pair.messages, pair.bytes)).collect();
        assert_eq!(pairs, [((0, 1, 5), 1, 64)], "{version}");
        assert_eq!(collective(&found, "all-gather"), (2, 200), "{version}");
        assert_eq!(found.compute, vec![Time::from_us(3); 2], "{version}");
    }
}

fn json_ranks(nodes: &[serde_json::Value]) -> NamedFiles {
    let files = (0..)
        .zip(nodes)
        .map(|(rank, nodes)| (format!("a.{rank}.json"), json!({ "workload_graph": nodes }).to_string().into_bytes()));
    NamedFiles(files.collect())
}

fn json_mistake(nodes: &[serde_json::Value]) -> String {
    trace_report("a.0.json", None, &mut json_ranks(nodes)).unwrap_err()
}

/// Dependencies become waits on the last task of a node, a collective the messages of its algorithm.
#[test]
fn a_graph_of_nodes_as_tasks() {
    let node = |id: u64, kind: u64, waits: &[u64]| json!({"Id": id, "Name": "n", "NodeType": kind, "data_deps": waits});
    let with = |mut node: serde_json::Value, key: &str, value: serde_json::Value| {
        node[key] = value;
        node
    };
    let rank = |own: u64| {
        let collective = with(with(node(3, 7, &[1, 99]), "comm_type", json!(0)), "comm_size", json!(1_001));
        // Node 1 waits for node 5, which comes later.
        let compute = with(with(node(1, 4, &[5]), "runtime", json!(4 + own)), "is_cpu_op", json!(true));
        json!([compute, collective, with(node(5, 4, &[]), "num_ops", json!(7_000))])
    };
    let mut spec = ProgramSpec::parse("trace").unwrap();
    spec.set("path", json!("a.1.json")).unwrap();
    let mut files = json_ranks(&[rank(0), rank(1)]);
    spec.rule_mut().read(2, &mut files).unwrap();
    let warnings = spec.rule().warnings();
    assert_eq!(
        warnings,
        [
            "2 dependencies on nodes that are not there; taken as met",
            "2 computations without a duration; num_ops / flops_per_s takes its place"
        ]
    );
    let graph = spec.rule().graph(&Collectives::study()).unwrap().unwrap();
    let tasks = &graph.ranks[0];
    let works: Vec<Work> = tasks.tasks().iter().map(|task| task.work).collect();
    let compute = |time| Work::Compute { time };
    assert_eq!(works[0], compute(Time::from_us(4)));
    assert_eq!(works[1], compute(Time::ZERO), "the start of the collective");
    assert_eq!(*works.last().unwrap(), compute(Time::from_us(7)), "7,000 operations of 1 ns");
    let sent: u64 = graph.sends(0).map(|(_, bytes)| bytes.0).sum();
    assert!(sent > 0 && graph.sends(0).all(|(to, _)| to == 1));
    let lanes: Vec<u8> = tasks.tasks().iter().map(|task| task.lane).collect();
    assert_eq!((lanes[0], lanes[1], *lanes.last().unwrap()), (0, 2, 1));
    let last = works.len() as u32 - 1;
    assert_eq!(tasks.dependencies(0)[0].on, last);
    assert_eq!(tasks.dependencies(1)[0].on, 0);
    // Every message has its receive.
    let received: u64 = works
        .iter()
        .map(|work| match work {
            Work::Receive { from, bytes: Bytes(bytes), .. } => {
                assert_ne!(*from, ANY);
                *bytes
            }
            _ => 0,
        })
        .sum();
    let of_other: u64 = graph.sends(1).map(|(_, bytes)| bytes.0).sum();
    assert_eq!(received, of_other);
    spec.set("cpu_nodes", json!(false)).unwrap();
    spec.rule_mut().read(2, &mut files).unwrap();
    let graph = spec.rule().graph(&Collectives::study()).unwrap().unwrap();
    assert_eq!(graph.ranks[0].tasks()[0].work, compute(Time::ZERO));
}

#[test]
fn mistakes_name_the_file_and_the_node() {
    let circle = json!([
        {"Id": 1, "NodeType": 4, "data_deps": [2]},
        {"Id": 2, "NodeType": 4, "ctrlDeps": [1]},
        {"Id": 3, "NodeType": 4}
    ]);
    assert_eq!(
        json_mistake(&[circle]),
        "a.0.json: node 1: it waits for itself through other nodes; expected no circle"
    );
    let sends = json!([{"Id": 1, "NodeType": 5, "comm_dst": 4, "comm_size": 8}]);
    let named = json_mistake(&[sends]);
    assert_eq!(named, "a.0.json: node 1: rank 4; its file a.4.json is missing; the file of 1 rank is there");
    let reduces = |bytes: u64| json!([{"Id": 6, "NodeType": 7, "comm_type": 0, "comm_size": bytes}]);
    let uneven = json_mistake(&[reduces(8), reduces(16)]);
    assert_eq!(uneven, "a.1.json: node 6: all-reduce of 16 B, but rank 0 has all-reduce of 8 B in node 6 on group ''");
    let grouped = json!([{"Id": 6, "NodeType": 7, "comm_type": 0, "comm_size": 8, "pg_name": "5"}]);
    assert!(json_mistake(&[grouped]).contains("the trace names groups, but a.json: there is no such file"));
    let twice = json!([{"Id": 1, "NodeType": 4}, {"Id": 1, "NodeType": 4}]);
    assert!(json_mistake(&[twice]).contains("node 1: another node has this number"));
    let mut files =
        NamedFiles([("a.0.et".to_owned(), [&file(&[bytes(1, b"0.0.4")])[..], &[200, 1, 8]].concat())].into());
    let cut = trace_report("a.0.et", None, &mut files).unwrap_err();
    assert_eq!(cut, "a.0.et: byte 8: a message of 200 bytes; expected no more than the 1 left");
}
