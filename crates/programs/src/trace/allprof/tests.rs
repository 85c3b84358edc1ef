//! Handmade traces of liballprof.

use crate::call::{Call, Operation, ANY, EQUAL};
use crate::trace::{trace_report, Recording, TraceReport};
use odonata_declare::Reader;
use odonata_units::{Bytes, Time};
use std::collections::BTreeMap;
use std::path::PathBuf;

struct Files(BTreeMap<String, String>);

impl Reader for Files {
    fn read(&mut self, name: &str) -> Result<Vec<u8>, String> {
        self.0.get(name).map(|text| text.clone().into_bytes()).ok_or_else(|| format!("{name}: no such file"))
    }

    fn locate(&self, _: &str, name: &str) -> Result<PathBuf, String> {
        self.0.get(name).map(|_| PathBuf::from(name)).ok_or_else(|| format!("{name}: no such file"))
    }
}

/// The files of ranks with these lines between `MPI_Init`, which ends at 1 us, and `MPI_Finalize`.
fn files(ranks: &[&str]) -> Files {
    let text = |lines: &str| format!("# Init clockdiff: 0.0\nMPI_Init:-:0:0:1\n{lines}\nMPI_Finalize:90:-\n");
    Files((0..).zip(ranks).map(|(rank, lines)| (format!("t-{rank}.dat"), text(lines))).collect())
}

fn calls(ranks: &[&str], rank: usize) -> Vec<Call> {
    let trace = super::read("t-0.dat", None, times(), &mut files(ranks)).unwrap();
    let super::super::Calls::Memory(all) = trace.calls else { unreachable!("calls in memory") };
    all[rank].iter().map(|(call, _)| *call).filter(|call| !matches!(call, Call::Mark { .. })).collect()
}

fn times() -> super::ComputeTimes {
    super::ComputeTimes { ps_per_flop: 1e3, factor: 1.0, each: None }
}

fn report(ranks: &[&str]) -> TraceReport {
    trace_report("t-0.dat", None, &mut files(ranks)).unwrap()
}

fn mistake(ranks: &[&str]) -> String {
    trace_report("t-0.dat", None, &mut files(ranks)).unwrap_err()
}

const fn us(time: u64) -> Call {
    Call::Compute { time: Time::from_us(time) }
}

/// Requests are known by their addresses, in arrays of 8 B (C) or 4 B (Fortran, MPICH) each.
#[test]
fn waits_find_their_requests() {
    for size in [8, 4] {
        let second = 1_000 + size;
        let first = format!(
            "MPI_Isend:3:9:10:5,8,8:1:7:55,0,2:1000:3\nMPI_Irecv:4:9:20:5,8,8:1:8:55,0,2:{second}:4\n\
             MPI_Waitall:9:2:1000:0:10"
        );
        let second = "MPI_Recv:1:9:10:5,8,8:0:7:55,1,2:0:3\nMPI_Send:3:9:20:5,8,8:0:8:55,1,2:4";
        let communicator = 0;
        let expected = [
            us(2),
            Call::Isend { to: 1, bytes: Bytes(80), tag: 7, communicator, request: 0 },
            us(1),
            Call::Irecv { from: 1, bytes: Bytes(160), tag: 8, communicator, request: 1 },
            us(5),
            Call::Wait { request: 0 },
            Call::Wait { request: 1 },
            us(80),
        ];
        assert_eq!(calls(&[&first, second], 0), expected, "requests of {size} B");
        let found = report(&[&first, second]);
        assert_eq!(
            found.pairs.iter().map(|(of, pair)| (*of, pair.bytes)).collect::<Vec<_>>(),
            [((0, 1, 7), 80), ((1, 0, 8), 160)]
        );
    }
}

/// Open MPI has -1 for any source and -2 for no rank, MPICH the reverse. MPICH's handles begin with 44 or 84 in hexadecimal.
#[test]
fn wildcards_of_both_libraries() {
    let of = |handle: u32, source: i32| {
        let rank = format!("MPI_Recv:1:9:1:5,8,8:{source}:-1:{handle},0,1:0:1");
        calls(&[&rank], 0)
    };
    let receive = Call::Recv { from: ANY, bytes: Bytes(8), tag: ANY, communicator: 0 };
    let mpich = 0x4400_0000;
    assert_eq!((of(55, -1)[0], of(mpich, -2)[0]), (receive, receive));
    assert_eq!((of(55, -2), of(mpich, -1)), (vec![us(89)], vec![us(89)]));
}

/// A test may have found its request, so a new request at its address waits for the old one. A wait for any takes the
/// oldest; the end of a rank takes the rest.
#[test]
fn requests_of_tests() {
    let send = |tag: u32, at: u32| format!("MPI_Isend:1:9:1:5,8,8:0:{tag}:55,0,1:{at}:1\n");
    let lines = [&send(1, 100), "MPI_Test:1:100:5:0:1\n", &send(2, 100), &send(3, 108), "MPI_Waitany:1:2:100:5:0:1"];
    let found = calls(&[&lines.concat()], 0);
    let waits: Vec<Call> = found.iter().copied().filter(|call| !matches!(call, Call::Isend { .. })).collect();
    // Slot 0 is waited for, then used again.
    assert_eq!(waits[..2], [Call::Wait { request: 0 }, Call::Wait { request: 1 }]);
    assert!(matches!(waits[3], Call::WaitAll { .. }), "{waits:?}");
    let found = report(&[&lines.concat()]);
    let tests = &found.survey.kinds["MPI_Test"];
    assert_eq!((tests.seen, tests.used), (1, 0));
    assert!(tests.why.contains("does not say what a test found"));
}

/// Ranks 0 and 2 of 4 are one communicator and 1 and 3 the other; handles differ between ranks, and the new handle is
/// never in the line of its creation.
#[test]
fn communicators_by_order_rank_and_size() {
    let rank = |own: u32| {
        let world = 500 + own;
        let (color, key) = (own % 2, 10 - own);
        let (local, handle) = (1 - own / 2, 900 + own);
        format!(
            "MPI_Comm_dup:1:{world},{own},4:77:1\nMPI_Comm_split:1:{world},{own},4:{color}:{key}:78:1\n\
             MPI_Allreduce:1:9:9:4:5,8,8:1:{handle},{local},2:1\nMPI_Barrier:1:{world},{own},4:1\n\
             MPI_Bcast:1:9:3:5,8,8:1:{handle},{local},2:1"
        )
    };
    let ranks: Vec<String> = (0..4).map(rank).collect();
    let ranks: Vec<&str> = ranks.iter().map(String::as_str).collect();
    let found = calls(&ranks, 2);
    let Call::CommSplit { new: split, color, key: 0, .. } = found[1] else { panic!("{found:?}") };
    let collective = |operation, root, bytes, communicator| Call::Collective {
        operation,
        root,
        bytes: Bytes(bytes),
        sizes: EQUAL,
        communicator,
        request: crate::call::BLOCKING,
    };
    assert_eq!(
        found[2..5],
        [
            collective(Operation::Allreduce, 0, 32, split),
            collective(Operation::Barrier, 0, 0, 0),
            collective(Operation::Broadcast, 1, 24, split)
        ]
    );
    let same = calls(&ranks, 0);
    assert!(matches!(same[1], Call::CommSplit { color: other, key: 1, .. } if other == color), "keys order the ranks");
    // The whole trace passes the checks of a conversion.
    let recording = Recording::open("t-0.dat", None, None, None, &mut files(&ranks)).unwrap();
    assert_eq!(recording.write(&mut Vec::new()).unwrap().warnings, Vec::<String>::new());
}

#[test]
fn counts_of_vector_forms() {
    let of = |own: usize| {
        let counts = ["1,2", "3,4"][own];
        format!(
            "MPI_Alltoallv:1:9:8:{counts}:8:0,1:5,8,8:9:8:1,3:8:0,1:5,8,8:55,{own},2:1\n\
             MPI_Allgatherv:1:9:{}:5,8,8:9:8:5,6:8:0,5:5,8,8:55,{own},2:1",
            5 + own
        )
    };
    let found = report(&[&of(0), &of(1)]);
    let bytes = |name| found.collectives[&(name, 2)].bytes;
    assert_eq!((bytes("alltoall"), bytes("allgather")), (8 * (1 + 2 + 3 + 4), 8 * (5 + 6)));
    // Without lists only the own count is known.
    let of = |own: usize| {
        format!(
            "MPI_Alltoallv:1:9:8:8:5,8,8:9:8:8:5,8,8:55,{own},2:1\n\
             MPI_Allgatherv:1:9:{}:5,8,8:9:8:8:5,8,8:55,{own},2:1",
            5 + own
        )
    };
    let found = report(&[&of(0), &of(1)]);
    assert_eq!(found.collectives[&("allgather", 2)].bytes, 8 * (5 + 6));
    assert_eq!(found.survey.kinds["MPI_Alltoallv"].lost(), 2);
    assert_eq!(found.survey.kinds["MPI_Alltoallv"].why, super::ignored::NO_COUNTS);
}

/// A nonblocking collective starts at its call, and its address names it.
#[test]
fn nonblocking_collectives() {
    let of = |own: usize| format!("MPI_Iallreduce:1:9:9:4:5,8,8:1:55,{own},2:300:1\nMPI_Wait:6:300:0:7");
    let found = calls(&[&of(0), &of(1)], 0);
    assert!(matches!(found[0], Call::Collective { operation: Operation::Allreduce, request: 0, .. }));
    assert_eq!(found[1..3], [us(5), Call::Wait { request: 0 }]);
}

#[test]
fn mistakes_name_the_file_and_the_line() {
    let unknown = mistake(&["MPI_Barrier:1:70,0,1:1\nMPI_Barrier:1:71,0,3:1"]);
    assert!(
        unknown.starts_with("t-0.dat: rank 0, line 4: communicator 71 of 3 ranks, which no MPI_Comm_dup"),
        "{unknown}"
    );
    let outside = mistake(&["MPI_Send:1:9:1:5,8,8:4:0:55,0,1:1"]);
    assert_eq!(outside, "t-0.dat: line 3: rank 4 of a communicator of 1 ranks, which count from 0");
    let type_of = mistake(&["MPI_Send:1:9:1:5:0:0:55,0,1:1"]);
    assert_eq!(type_of, "t-0.dat: line 3: argument 3 is '5'; expected a data type ID,SIZE,EXTENT");
    assert!(mistake(&["hello"]).contains("line 3: no call; expected MPI_NAME:START"));
    let some = mistake(&["MPI_Comm_dup:1:70,0,2:5:1", "MPI_Barrier:1:70,1,2:1"]);
    assert!(some.contains("1 of the 2 ranks of a communicator make a new one; expected all of them"), "{some}");
    let differ = mistake(&["MPI_Barrier:1:70,0,2:1", "MPI_Bcast:1:9:3:5,8,8:1:70,1,2:1"]);
    assert!(differ.contains("collective 1 is 'barrier' for rank 0 (line 3) and 'bcast' with root 1"), "{differ}");
    let missing =
        trace_report("t-1.dat", None, &mut Files(files(&["", ""]).0.into_iter().skip(1).collect())).unwrap_err();
    assert!(missing.contains("t-1.dat: the file of rank 0 is missing"), "{missing}");
    let more = super::read("t-0.dat", Some(1), times(), &mut files(&["", ""])).unwrap_err();
    assert!(more.contains("a trace of more ranks: t-1.dat is there, but the job has 1"), "{more}");
}

/// Damaged lines are mistakes or other calls, never a panic.
#[test]
fn damaged_traces() {
    let text = include_str!("../../../../../fuzz/seeds/traces/liballprof");
    let whole = |text: String| {
        let mut files = Files(BTreeMap::from([("t-0.dat".to_owned(), text)]));
        let recording = Recording::open("t-0.dat", None, None, None, &mut files)?;
        recording.write(&mut Vec::new()).map(|written| written.records)
    };
    assert!(whole(text.to_owned()).unwrap() > 15);
    let mut accepted = 0;
    for at in 0..text.len() {
        for byte in [":", ",", "-", "9", "\n", ""] {
            accepted += u32::from(whole([&text[..at], byte, &text[at + 1..]].concat()).is_ok());
        }
    }
    assert!(accepted > 500, "{accepted}");
}
