use super::*;
use crate::call::{Call, Operation, BLOCKING, EQUAL};
use crate::code::Code;
use crate::rule::{build, ProgramContext, ProgramSpec};
use crate::trace::trace_report;
use odonata_units::{Bytes, Time};
use proptest::prelude::*;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::PathBuf;

const TIMES: ComputeTimes = ComputeTimes { ps_per_flop: 1e3, factor: 1.0, each: None };

#[derive(Clone)]
struct NamedFiles(BTreeMap<String, Vec<u8>>);

impl NamedFiles {
    fn of<const N: usize>(files: [(&str, &str); N]) -> Self {
        Self(files.map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec())).into())
    }
}

impl Reader for NamedFiles {
    fn read(&mut self, name: &str) -> Result<Vec<u8>, String> {
        self.0.get(name).cloned().ok_or_else(|| format!("{name}: not there"))
    }

    fn locate(&self, _: &str, name: &str) -> Result<PathBuf, String> {
        self.0.get(name).map(|_| PathBuf::from(name)).ok_or_else(|| format!("{name}: not there"))
    }
}

/// The files with `a.odt`, converted from the file called `path`.
fn converted(path: &str, mut files: NamedFiles) -> NamedFiles {
    let mut bytes = Vec::new();
    let written = Recording::open(path, None, None, None, &mut files).unwrap().write(&mut bytes).unwrap();
    assert_eq!(written.bytes, bytes.len() as u64);
    files.0.insert("a.odt".into(), bytes);
    files
}

/// One of each kind, in the order of their numbers.
fn each_call() -> Vec<Call> {
    let (bytes, tag, communicator, request) = (Bytes(5), 6, 7, 8);
    vec![
        Call::Send { to: 1, bytes, tag, communicator },
        Call::Recv { from: 1, bytes, tag, communicator },
        Call::Isend { to: 1, bytes, tag, communicator, request },
        Call::Irecv { from: 1, bytes, tag, communicator, request },
        Call::Wait { request },
        Call::WaitAll { first: 0, count: 9 },
        Call::WaitAny { first: 0, count: 9 },
        Call::WaitSome { first: 0, count: 9 },
        Call::Test { request },
        Call::Compute { time: Time(10) },
        Call::Sleep { time: Time(20) },
        Call::WaitUntil { time: Time(30) },
        Call::Mark { phase: 0 },
        Call::Collective { operation: Operation::Scan, root: 2, bytes, sizes: EQUAL, communicator, request: BLOCKING },
        Call::CommSplit { communicator, new: 9, color: 10, key: 11 },
        Call::CommCreate { communicator, new: 9, first: 12, count: 13, stride: 14 },
        Call::CommFree { communicator },
    ]
}

/// The format of calls. If this changes, raise the version of the format.
#[test]
fn columns_of_version_1() {
    let mut header = CallHeader::default();
    each_call().iter().for_each(|call| header.add(call));
    assert_eq!((header.slots, header.longest, header.splits), (9, Time(10), true));
    let places: Vec<TracedCall> = each_call().into_iter().zip(40..).collect();
    let columns = calls::encode(&places, &header).unwrap();
    let expected: [&[u64]; 13] = [
        &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 19],
        &[40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56],
        &[2, 2, 2, 2, 3, 13],
        &[6, 6, 6, 6, 6],
        &[7, 7, 7, 7, 11],
        &[8, 8, 8, 8, 8, 8, 8, 8],
        &[9, 9, 9, 1, 1, 1, 9, 0],
        &[10, 10, 10, 1, 14],
        &[10, 20, 30],
        &[9],
        &[0],
        &[10, 10],
        &[12, 15],
    ];
    assert_eq!(columns, expected);
    let stream = calls::encode(&[(Call::Stream { stream: 1 }, 7)], &header).unwrap_err();
    assert!(stream.ends_with("7: a phase or stream; expected the calls of a trace"), "{stream}");
    let long = Call::Send { to: 1, bytes: Bytes(1 << 51), tag: 0, communicator: 0 };
    assert!(calls::encode(&[(long, 7)], &header).unwrap_err().contains("expected at most 2^50"));
}

fn any_call() -> impl Strategy<Value = Call> {
    let kinds = each_call().len();
    let numbers = (0..kinds, any::<u32>(), 0u64..1 << 50, any::<u32>(), 0u16..30_000, 0u32..40, 0..=i64::MAX as u64);
    numbers.prop_map(|(kind, peer, bytes, tag, communicator, request, time)| {
        let mut call = each_call()[kind];
        match &mut call {
            Call::Send { to: p, bytes: b, tag: t, communicator: c }
            | Call::Recv { from: p, bytes: b, tag: t, communicator: c }
            | Call::Isend { to: p, bytes: b, tag: t, communicator: c, .. }
            | Call::Irecv { from: p, bytes: b, tag: t, communicator: c, .. } => {
                (*p, *b, *t, *c) = (peer, Bytes(bytes), tag, communicator);
            }
            Call::Wait { request: r } | Call::Test { request: r } => *r = request,
            Call::WaitAll { first, count } | Call::WaitAny { first, count } | Call::WaitSome { first, count } => {
                (*first, *count) = (request, request);
            }
            Call::Compute { time: of } => *of = Time(time.max(1)),
            Call::Sleep { time: of } | Call::WaitUntil { time: of } => *of = Time(time),
            Call::Collective { root, sizes, request: r, .. } => {
                (*root, *sizes) = (peer, tag);
                *r = if peer % 2 == 0 { request } else { BLOCKING };
            }
            Call::CommSplit { new, color, key, .. } => (*new, *color, *key) = (communicator, peer, tag),
            Call::CommCreate { first, count, stride, .. } => (*first, *count, *stride) = (peer, tag, request),
            Call::CommFree { communicator: of } => *of = communicator,
            _ => {}
        }
        call
    })
}

proptest! {
    /// Any calls of any ranks, in blocks of any size, are read as they were written, in any order of blocks.
    #[test]
    fn calls_are_the_same_after_reading(
        ranks in prop::collection::vec(prop::collection::vec((any_call(), any::<u32>()), 80..400), 1..4),
        each in 1usize..300,
    ) {
        let (place, survey) = ("line", Survey::default());
        let written = Trace { calls: Calls::Memory(ranks.clone()), sizes: Vec::new(), place, survey, fingerprint: 0 };
        let header = written.header(false).unwrap();
        let mut bytes = Vec::new();
        let mut writer = BlockWriter::new(&mut bytes).unwrap();
        let records = write_calls(&written, &header, each, &mut writer).unwrap();
        prop_assert_eq!(records, ranks.iter().map(|calls| calls.len() as u64).sum::<u64>());
        writer.finish(Vec::new()).unwrap();
        let file = BlockFile::open("a.odt", Arc::new(bytes)).unwrap();
        let trace = Trace::of_file(file, header, Survey::default(), TIMES).unwrap();
        for (rank, calls) in (0u32..).zip(&ranks) {
            let blocks = trace.blocks(rank);
            let mut read: Vec<_> = (0..blocks).rev().map(|index| trace.traced(rank, index).unwrap()).collect();
            read.reverse();
            prop_assert!(read[..blocks as usize - 1].iter().all(|block| block.len() == each));
            prop_assert_eq!(&read.concat(), calls);
            prop_assert_eq!(trace.line(rank, 0, 0), Some(calls[0].1));
        }
    }
}

const SIMGRID: &str = "\
0 init\n1 init\n2 init\n
0 comm_split 3 2 0\n1 comm_split 3 2 1\n2 comm_split 0 0 0\n
0 compute 1500\n1 compute 0.5\n2 compute 7e6\n2 sleep 0.25\n
0 isend 1 4 100\n1 irecv 0 4 100\n1 recv -333 9 0\n2 send 1 9 8\n0 waitall 1\n1 wait 0 1 4\n
0 iallreduce 64 5\n1 iallreduce 64 5\n2 iallreduce 64 5\n
0 alltoallv 12 1 2 3 12 1 4 7\n1 alltoallv 12 4 5 6 12 2 5 8\n2 alltoallv 12 7 8 9 12 3 6 9\n
0 allreduce 8 1 on 3\n1 allreduce 8 1 on 3\n0 comm_free on 3\n1 comm_free on 3\n
0 finalize\n1 finalize\n2 finalize\n";

fn program(path: &str, settings: &[(&str, serde_json::Value)], files: &mut NamedFiles) -> Arc<dyn RankProgram> {
    let mut spec = ProgramSpec::parse("trace").unwrap();
    spec.set("path", json!(path)).unwrap();
    settings.iter().for_each(|(key, value)| spec.set(key, value.clone()).unwrap());
    spec.rule_mut().read(3, files).unwrap();
    build(&spec, &ProgramContext { job: "test", ranks: 3, seed: 1 }).unwrap()
}

/// Calls of a rank in one piece.
fn all_calls(program: &dyn RankProgram, rank: u32) -> Vec<Call> {
    let mut code = Code::default();
    (0..program.blocks(rank)).for_each(|index| program.block(rank, index, &mut code));
    code.calls().to_vec()
}

#[test]
fn a_converted_trace_replays_the_same_under_all_settings() {
    let mut files = converted("a.trace", NamedFiles::of([("a.trace", SIMGRID)]));
    let settings = [
        vec![],
        vec![("flops_per_s", json!(3e9))],
        vec![("compute_factor", json!(2.5))],
        vec![("compute_factor", json!(0.0))],
        vec![("compute", json!("3 us"))],
    ];
    for settings in settings {
        let before = program("a.trace", &settings, &mut files);
        let after = program("a.odt", &settings, &mut files);
        assert_eq!((after.ranks(), after.splits(), after.phases()), (3, true, before.phases()));
        for rank in 0..3 {
            assert_eq!(all_calls(&*after, rank), all_calls(&*before, rank), "{settings:?}, rank {rank}");
            let calls = all_calls(&*before, rank);
            let lines = |program: &dyn RankProgram| -> Vec<_> {
                (0..calls.len()).map(|place| program.line(rank, 0, place)).collect()
            };
            assert_eq!(lines(&*after), lines(&*before));
            let vector = calls.iter().find_map(|call| match call {
                Call::Collective { sizes, .. } if *sizes != EQUAL => Some(*sizes),
                _ => None,
            });
            for to in 0..3 {
                let sizes = vector.expect("an alltoallv");
                assert_eq!(after.size(sizes, rank, to), before.size(sizes, rank, to));
            }
        }
        assert_eq!(after.failure(), None);
    }
}

#[test]
fn a_table_is_that_of_the_original() {
    let goal = "num_ranks 2\nrank 0 {\na: calc 100 cpu 1\nb: send 9b to 1 tag 3 nic 2\nc: calc 5\nb requires a\n\
                c irequires b\n}\nrank 1 {\nrecv 9b from -1 tag -1\n}\n";
    let nodes = r#"{"workload_graph": [{"Id": 5, "NodeType": 4, "runtime": 3, "data_deps": [9, 77]},
                   {"Id": 9, "NodeType": 7, "comm_type": 0, "comm_size": 64, "pg_name": "g"}]}"#;
    let cases = [
        ("a.trace", NamedFiles::of([("a.trace", SIMGRID)])),
        ("a.goal", NamedFiles::of([("a.goal", goal)])),
        ("a.0.json", NamedFiles::of([("a.0.json", nodes), ("a.1.json", nodes), ("a.json", r#"{"g": [0, 1]}"#)])),
        ("w.txt", NamedFiles::of([("w.txt", "DATA\n1\nfc -1 5 NONE 0 6 NONE 0 7 ALLREDUCE 80 9\n")])),
    ];
    for (path, files) in cases {
        let mut files = converted(path, files);
        let before = trace_report(path, None, &mut files).unwrap();
        let after = trace_report("a.odt", None, &mut files).unwrap();
        assert_eq!((after.format, after.source), (TraceFormat::File, before.format));
        assert_eq!((&after.pairs, &after.collectives, after.calls), (&before.pairs, &before.collectives, before.calls));
        assert_eq!((&after.compute, &after.survey), (&before.compute, &before.survey), "{path}");
        let again = converted("a.odt", files.clone());
        assert_eq!(again.0["a.odt"], files.0["a.odt"], "a trace file of a trace file is the same");
    }
}

#[test]
fn a_graph_has_the_same_tasks() {
    let goal = "num_ranks 2\nrank 0 {\na: calc 100 cpu 1\nb: send 9b to 1 tag 3 nic 2\nc: calc 5\nb requires a\n\
                c irequires b\n}\nrank 1 {\nrecv 9b from -1 tag -1\n}\n";
    let mut files = converted("a.goal", NamedFiles::of([("a.goal", goal)]));
    let graph =
        |path: &str, files: &mut NamedFiles| match Recording::open(path, None, None, None, files).unwrap().content {
            Content::Tasks(graph, _) => graph,
            _ => panic!("a graph"),
        };
    assert_eq!(graph("a.odt", &mut files), graph("a.goal", &mut files));
}

/// A trace whose ranks disagree, and one with a send that nobody receives.
#[test]
fn a_trace_is_checked_when_it_is_converted() {
    let mut files = NamedFiles::of([("a.trace", "0 send 1 4 100\n1 init\n0 test 0 1 4\n")]);
    Recording::open("a.trace", None, None, None, &mut files).unwrap_err();
    let mut files = NamedFiles::of([("a.trace", "0 send 1 4 100\n1 init\n")]);
    let trace = Recording::open("a.trace", None, None, None, &mut files).unwrap();
    let warnings = trace.write(&mut Vec::new()).unwrap().warnings;
    assert!(warnings[0].starts_with("unmatched messages: "), "{warnings:?}");
}

/// A file that changes between its opening and a run.
#[test]
fn a_changed_file_is_a_failure_of_the_program() {
    #[derive(Debug)]
    struct ChangingFile(std::sync::Mutex<Vec<u8>>);
    impl odonata_declare::ReadAt for ChangingFile {
        fn size(&self) -> u64 {
            self.0.lock().unwrap().len() as u64
        }
        fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
            self.0.lock().unwrap().read_at(at, into)
        }
    }
    struct One(Arc<ChangingFile>);
    impl Reader for One {
        fn read(&mut self, _: &str) -> Result<Vec<u8>, String> {
            Ok(self.0 .0.lock().unwrap().clone())
        }
        fn open_parts(&mut self, _: &str) -> Result<Arc<dyn odonata_declare::ReadAt>, String> {
            Ok(self.0.clone())
        }
        fn locate(&self, _: &str, _: &str) -> Result<PathBuf, String> {
            Err("not there".into())
        }
    }
    let files = converted("a.trace", NamedFiles::of([("a.trace", SIMGRID)]));
    let source = Arc::new(ChangingFile(files.0["a.odt"].clone().into()));
    let Content::Calls(trace) = Recording::open("a.odt", None, None, None, &mut One(source.clone())).unwrap().content
    else {
        panic!("calls")
    };
    source.0.lock().unwrap()[20] ^= 1;
    assert!(all_calls(&*trace, 0).is_empty());
    let failure = trace.failure().unwrap();
    assert!(failure.starts_with("a.odt: byte 12: block 0 of rank 0: the file changed"), "{failure}");
}
