//! Traces of SimGrid 3.32 (`smpirun -trace-ti`) of a test program, and lines by hand.

use super::*;
use crate::call::{Operation, ANY, BLOCKING, EQUAL, WORLD};
use crate::communicators::{Communicators, Splits};
use crate::rank_walks::{calls, try_build, untimed};
use crate::rule::ProgramContext;
use crate::rule::{build, ProgramSpec};
use serde_json::json;
use std::collections::BTreeMap;

struct GivenFiles<'a>(BTreeMap<&'a str, &'a str>);

impl Reader for GivenFiles<'_> {
    fn read(&mut self, name: &str) -> Result<Vec<u8>, String> {
        self.0.get(name).map(|text| text.as_bytes().to_vec()).ok_or_else(|| format!("{name}: no such file"))
    }

    fn locate(&self, _: &str, name: &str) -> Result<std::path::PathBuf, String> {
        Err(format!("{name}: not there"))
    }
}

fn read(ranks: u32, files: &[(&str, &str)]) -> Result<Trace, String> {
    let times = ComputeTimes { ps_per_flop: 1e3, factor: 1.0, each: None };
    Trace::read(files[0].0, Some(ranks), times, &mut GivenFiles(files.iter().copied().collect()))
}

/// A trace of two ranks in one file.
fn two(lines: &str) -> Result<Trace, String> {
    read(2, &[("app.trace", lines)])
}

fn mistake(lines: &str) -> String {
    two(lines).unwrap_err()
}

/// The error of a line of rank 0.
fn wrong(line: &str) -> String {
    two(&format!("1 init\n{line}\n")).unwrap_err()
}

/// Calls of rank 0.
fn of(lines: &str) -> Vec<Call> {
    let mut calls = calls(&two(lines).unwrap(), 0);
    assert_eq!(calls.remove(0), Call::Mark { phase: 0 });
    calls
}

const fn collective(operation: Operation, root: u32, bytes: u64) -> Call {
    Call::Collective { operation, root, bytes: Bytes(bytes), sizes: EQUAL, communicator: WORLD, request: BLOCKING }
}

/// A trace with known calls: `tests/traces/calls.c`, recorded with SimGrid 3.32.
fn recorded(change: impl Fn(&str) -> String) -> Trace {
    let files = [
        ("a/calls.trace", include_str!("../../tests/traces/calls.trace")),
        ("a/calls.trace_files/rank-1.txt", include_str!("../../tests/traces/calls.trace_files/rank-1.txt")),
        ("a/calls.trace_files/rank-2.txt", include_str!("../../tests/traces/calls.trace_files/rank-2.txt")),
        ("a/calls.trace_files/rank-3.txt", include_str!("../../tests/traces/calls.trace_files/rank-3.txt")),
        ("a/calls.trace_files/rank-4.txt", include_str!("../../tests/traces/calls.trace_files/rank-4.txt")),
    ]
    .map(|(name, text)| (name, change(text)));
    let files: Vec<_> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    read(4, &files).unwrap()
}

#[test]
fn a_recorded_program_sends_what_it_sent() {
    // The plain walk supports no wildcards, no larger receive buffers and no wait for any.
    let trace = recorded(|text| {
        let plain = text.lines().filter(|line| !line.contains("test")).collect::<Vec<_>>().join("\n");
        plain.replace("recv -333 -444 30000", "recv 0 3 20000").replace("waitAny", "waitall")
    });
    let report = untimed(&trace);
    let of = |tag: u32| -> Vec<(u32, u32, u64)> {
        let mut found: Vec<_> =
            report.messages.iter().filter(|m| m.tag == tag).map(|m| (m.from, m.to, m.bytes)).collect();
        found.sort_unstable();
        found.dedup();
        assert_eq!(report.messages.iter().filter(|m| m.tag == tag).count(), 2 * found.len(), "twice each: tag {tag}");
        found
    };
    let ring = |bytes: u64| (0..4).map(|rank| (rank, (rank + 1) % 4, bytes)).collect::<Vec<_>>();
    assert_eq!(of(7), ring(1000));
    assert_eq!(of(8), [(0, 3, 80), (1, 0, 80), (2, 1, 80), (3, 2, 80)]);
    assert_eq!(of(3), [(0, 1, 20_000)]);
    assert_eq!((of(5), of(6), of(ANY - 1)), (ring(10), ring(10), ring(100)));
}

#[test]
fn collectives_use_the_traced_sizes() {
    let trace = recorded(str::to_owned);
    let collectives: Vec<_> = calls(&trace, 1)
        .into_iter()
        .filter_map(|call| match call {
            Call::Collective { operation, root, bytes, sizes, .. } => Some((operation, root, bytes.0, sizes)),
            _ => None,
        })
        .collect();
    let once = [
        (Operation::Allreduce, 0, 40, EQUAL),
        (Operation::Reduce, 1, 12, EQUAL),
        (Operation::Broadcast, 2, 32, EQUAL),
        (Operation::Alltoall, 0, 16, EQUAL),
        (Operation::Allgather, 0, 16, EQUAL),
        (Operation::Gather, 3, 8, EQUAL),
        (Operation::Scatter, 0, 8, EQUAL),
        (Operation::Alltoall, 0, 0, 0),
        (Operation::Allgather, 0, 0, 1),
        (Operation::Gather, 0, 0, 2),
        (Operation::Scatter, 0, 0, 3),
        (Operation::ReduceScatter, 0, 0, 4),
        (Operation::Scan, 0, 32, EQUAL),
        (Operation::Allreduce, 0, 8, EQUAL),
        (Operation::Barrier, 0, 0, EQUAL),
    ];
    assert_eq!(collectives[..15], once);
    assert_eq!(collectives.len(), 30);
    let sizes = |number: u32, from: u32| (0..4).map(|to| trace.size(number, from, to).0).collect::<Vec<_>>();
    // Every rank sends 1, 2, 3, 4 doubles to ranks 0 to 3; rank r contributes r + 1 doubles.
    assert_eq!((sizes(0, 0), sizes(0, 3)), (vec![8, 16, 24, 32], vec![8, 16, 24, 32]));
    assert_eq!((sizes(1, 0), sizes(1, 3)), (vec![8; 4], vec![32; 4]));
    assert_eq!((sizes(2, 1), sizes(3, 0), sizes(4, 2)), (vec![16; 4], vec![8, 16, 24, 32], vec![8, 16, 24, 32]));
}

#[test]
fn requests_are_slots_that_are_used_again() {
    let lines = "0 irecv 1 7 10\n0 irecv 1 8 10\n0 wait 1 0 8\n0 isend 1 9 4 1\n0 waitall 2\n0 irecv 1 7 0\n1 init\n";
    let (bytes, communicator) = (Bytes(10), WORLD);
    let expected = [
        Call::Irecv { from: 1, bytes, tag: 7, communicator, request: 0 },
        Call::Irecv { from: 1, bytes, tag: 8, communicator, request: 1 },
        Call::Wait { request: 1 },
        Call::Isend { to: 1, bytes: Bytes(16), tag: 9, communicator, request: 1 },
        Call::WaitAll { first: 0, count: 2 },
        Call::Irecv { from: 1, bytes: Bytes(u64::MAX), tag: 7, communicator, request: 0 },
        // Requests without a wait get one at the end.
        Call::WaitAll { first: 0, count: 2 },
    ];
    assert_eq!(of(lines), expected);
}

#[test]
fn two_of_a_name_are_waited_for_in_their_order() {
    let lines = "0 irecv 1 7 10\n0 irecv 1 7 20\n0 wait 1 0 7\n0 wait 1 0 7\n1 init\n";
    assert_eq!(of(lines)[2..], [Call::Wait { request: 0 }, Call::Wait { request: 1 }]);
    // A receive from any source has the name of its actual sender.
    let lines = "0 irecv -333 -444 10\n0 wait 1 0 7\n1 init\n";
    assert_eq!(of(lines)[1..], [Call::Wait { request: 0 }]);
}

/// Ranks 0 and 2 are in communicator 5, in reverse order. Rank 1 is in none. It is used, freed, and its slot reused.
#[test]
fn communicators_by_number() {
    let lines = "0 comm_split 5 2 1\n1 comm_split 0 0 0\n2 comm_split 5 2 0\n\
        0 isend 0 7 10 2 on 5\n0 wait 1 0 7 on 5\n2 recv 1 7 10 2 on 5\n0 isend 1 7 4 2\n0 wait 0 1 7\n1 recv 0 7 4 2\n\
        0 bcast 8 1 2 on 5\n2 bcast 8 1 2 on 5\n\
        0 gatherv 3 0 0 0 2 2 on 5\n2 gatherv 6 6 3 0 2 2 on 5\n\
        0 allgatherv 1 1 2 3 2 2\n1 allgatherv 2 1 2 3 2 2\n2 allgatherv 3 1 2 3 2 2\n\
        0 comm_free on 5\n2 comm_free on 5\n0 comm_split 6 2 0\n1 comm_split 6 2 1\n2 comm_split 0 0 0\n\
        0 barrier on 6\n1 barrier on 6\n";
    let trace = read(3, &[("app.trace", lines)]).unwrap();
    let collective = |operation, root, bytes, sizes, communicator| Call::Collective {
        operation,
        root,
        bytes: Bytes(bytes),
        sizes,
        communicator,
        request: BLOCKING,
    };
    let expected = [
        Call::CommSplit { communicator: WORLD, new: 6, color: 5, key: 1 },
        Call::Isend { to: 0, bytes: Bytes(10), tag: 7, communicator: 6, request: 0 },
        Call::Wait { request: 0 },
        Call::Isend { to: 1, bytes: Bytes(4), tag: 7, communicator: WORLD, request: 0 },
        Call::Wait { request: 0 },
        collective(Operation::Broadcast, 1, 8, EQUAL, 6),
        collective(Operation::Gather, 0, 0, 1, 6),
        collective(Operation::Allgather, 0, 0, 0, WORLD),
        Call::CommFree { communicator: 6 },
        Call::CommSplit { communicator: WORLD, new: 7, color: 6, key: 0 },
        collective(Operation::Barrier, 0, 0, EQUAL, 7),
    ];
    assert_eq!(calls(&trace, 0)[1..], expected);
    // A rank excluded by a split is in a communicator of its own, which is freed at once. The other communicator has
    // the same number for all its ranks.
    assert_eq!(calls(&trace, 1)[1], Call::CommSplit { communicator: WORLD, new: 1, color: u32::MAX - 2, key: 0 });
    assert_eq!(calls(&trace, 1)[2], Call::CommFree { communicator: 1 });
    assert_eq!(calls(&trace, 1)[5], Call::CommSplit { communicator: WORLD, new: 7, color: 6, key: 1 });
    // Blocks are by rank of the job: rank 2 contributes 6 B and rank 0 3 B; in the other collective rank r contributes
    // r + 1.
    assert_eq!((trace.size(1, 0, 2), trace.size(1, 2, 2), trace.size(0, 2, 0)), (Bytes(3), Bytes(6), Bytes(3)));
}

/// A run needs the members of the communicators. Each of four ranks is in one of two communicators, whose ranks count
/// from the last. The first rank of each creates another one of both.
#[test]
fn communicators_are_made_in_a_run() {
    let lines = "0 comm_split 5 2 1\n1 comm_split 5 2 0\n2 comm_split 8 2 1\n3 comm_split 8 2 0\n\
        0 comm_split 0 0 0\n1 comm_split 9 2 1\n2 comm_split 0 0 0\n3 comm_split 9 2 0\n1 barrier on 9\n3 barrier on 9\n";
    let trace = read(4, &[("app.trace", lines)]).unwrap();
    let splits = Splits::of(&trace);
    for (rank, others) in
        [(0, vec![vec![1, 0], vec![0]]), (1, vec![vec![1, 0], vec![3, 1]]), (3, vec![vec![3, 2], vec![3, 1]])]
    {
        let mut communicators = Communicators::new(4, rank);
        let mut made = Vec::new();
        for call in calls(&trace, rank) {
            if matches!(call, Call::CommSplit { .. } | Call::CommFree { .. }) {
                communicators.apply(&call, &splits).unwrap();
            }
            if let Call::CommSplit { new, .. } = call {
                let (size, _) = communicators.size_and_rank(new).unwrap();
                made.push((0..size).map(|of| communicators.job_rank(new, of).unwrap()).collect::<Vec<_>>());
            }
        }
        assert_eq!(made, others);
    }
    assert_eq!(Splits::of(&two("0 barrier\n1 barrier\n").unwrap()), Splits::default());
}

#[test]
fn invalid_communicators() {
    assert!(wrong("0 barrier on 5").contains("line 2: communicator 5, which does not contain the rank; none was made"));
    assert!(wrong("0 barrier on x").contains("communicator 'x'; expected a whole number"));
    assert!(wrong("0 comm_split 5 2").contains("'comm_split' has 2 arguments; expected 3"));
    assert!(wrong("0 comm_split 5 2 2").contains("rank 2, but the job has 2 ranks"));
    assert!(mistake("0 comm_split 5 1 0\n0 comm_split 5 1 0\n1 init\n")
        .contains("line 2: communicator 5 was created in line 1"));
    let half = mistake("0 comm_split 5 2 0\n1 comm_split 0 0 0\n");
    assert!(
        half.ends_with("line 1: communicator 5 has 2 ranks, which count from 0, but 1 lines create it with ranks 0"),
        "{half}"
    );
    assert!(
        wrong("0 comm_split 2147483648 2 0").contains("communicator 2147483648; expected a number up to 2147483647")
    );
    assert!(mistake("0 comm_split 5 1 0\n0 comm_split 32770 1 0\n1 init\n")
        .contains("line 2: communicator 32770 is created while 5 exists; numbers must be less than 32765 apart"));
    let sizes = mistake("0 comm_split 5 2 0\n1 comm_split 5 3 1\n");
    assert!(sizes.ends_with("line 2: communicator 5 has 3 ranks, but line 1 says 2"), "{sizes}");
    let both = "0 comm_split 5 2 0\n1 comm_split 5 2 1\n";
    let uneven = mistake(&format!("{both}0 barrier on 5\n1 bcast 8 0 on 5\n"));
    assert!(
        uneven.ends_with(
            "'barrier' for rank 0 (line 3) and 'bcast' with root 0 for rank 1 (line 4); both on communicator 5"
        ),
        "{uneven}"
    );
    assert!(mistake(&format!("{both}0 send 2 7 8 on 5\n")).contains("rank 2, but the communicator has 2 ranks"));
}

#[test]
fn time_and_what_takes_none() {
    let lines = "0 init\n0 compute 2.5e3\n0 sleep 0.5\n0 compute 0\n0 location a.c 7\n0 comm_split\n1 init\n";
    let expected = [
        Call::Compute { time: odonata_units::Time(2_500_000) },
        Call::Sleep { time: odonata_units::Time(500_000_000_000) },
    ];
    assert_eq!(of(lines), expected);
    let reduce = "0 init 1\n0 reduce 3 500 1\n1 reduce 3 500 1\n";
    let time = odonata_units::Time(500_000);
    assert_eq!(of(reduce), [collective(Operation::Reduce, 1, 24), Call::Compute { time }]);
}

#[test]
fn blocks_hold_all_calls_and_their_lines() {
    let lines: String = (0..1000).map(|tag| format!("0 send 1 {tag} 8\n1 recv 0 {tag} 8\n")).collect();
    let trace = two(&lines).unwrap();
    assert_eq!((trace.blocks(0), calls(&trace, 0).len()), (4, 1001));
    assert_eq!((trace.line(0, 0, 0), trace.line(0, 3, 232), trace.line(0, 3, 233)), (Some(1), Some(1999), None));
    assert_eq!(untimed(&trace).totals(), (1000, 8000));
}

#[test]
fn mistakes_name_their_line() {
    assert_eq!(wrong("0 isnd 1 7 10"), "app.trace: line 2: unknown action 'isnd'; did you mean 'isend'?");
    assert!(mistake("x send 1 7 10\n").contains("line 1: 'x' is not a rank; expected 'RANK ACTION ARGUMENTS'"));
    assert_eq!(mistake("2 send 1 7 10\n"), "app.trace: a trace of 3 ranks, but the job has 2");
    assert_eq!(mistake("0 send 1 7 10\n"), "app.trace: a trace of 1 ranks, but the job has 2");
    assert!(wrong("0 send 2 7 10").contains("line 2: rank 2, but the job has 2 ranks"));
    assert!(wrong("0 send 1 7").contains("'send' has 2 arguments; expected 3 to 4"));
    assert!(wrong("0 send 1 7 -1").contains("size -1; expected 0 to 2^50"));
    assert!(wrong("0 send 1 7 nan").contains("size nan; expected 0 to 2^50"));
    assert!(wrong("0 send 1 7 1e15 26").contains("bytes; expected at most 2^50"));
    assert!(wrong("0 send 1 -5 10").contains("tag -5; expected 0 to"));
    assert!(wrong("0 send 1 7 3 -1").contains("a user-defined data type (-1)"));
    assert!(wrong("0 send 1 7 3 99").contains("unknown data type 99"));
    assert!(wrong("0 wait 1 0 7").contains("no request from rank 1 to rank 0 with tag 7 was started before"));
    assert!(wrong("0 alltoallv 10 1 2").contains("'alltoallv' has 3 arguments; expected 6 to 8"));
    assert!(wrong("0 Start 1 6 8 2").contains("persistent request"));
    assert!(wrong("0 sleep 1e8").contains("s in one action; expected less than 106 days"));
    assert_eq!(mistake("1 send 0 7 10\n"), "app.trace: no line of rank 0; expected lines of ranks 0 to 1");
    let uneven = mistake("0 barrier\n0 bcast 8 1\n1 barrier\n1 bcast 8 0\n");
    assert!(uneven.contains("collective 2 is 'bcast' with root 1 for rank 0 (line 2)"), "{uneven}");
    assert!(
        uneven.contains("'bcast' with root 0 for rank 1 (line 4); SimGrid traces have no communicators"),
        "{uneven}"
    );
    assert!(mistake("0 barrier\n1 init\n").contains("rank 0 calls 1 collectives and rank 1 0"));
    let missing = read(1, &[("t/list", "one.txt\n")]).unwrap_err();
    assert_eq!(missing, "t/one.txt: no such file");
    assert!(try_build("trace", 2, &[]).unwrap_err().to_string().ends_with("path: missing; write the path of a trace"));
    assert!(try_build("trace", 2, &[("flops_per_s", json!(0))]).unwrap_err().to_string().contains("flops_per_s"));
    let mut spec = ProgramSpec::parse("trace").unwrap();
    spec.set("path", json!("a")).unwrap();
    spec.rule_mut().read(1, &mut GivenFiles(BTreeMap::from([("a", "0 init\n")]))).unwrap();
    let error = build(&spec, &ProgramContext { job: "test", ranks: 3, seed: 1 }).unwrap_err().to_string();
    assert_eq!(error, "job 'test': program 'trace': path: 'a' was read for 1 ranks, but the job has 3");
}

/// SimGrid writes `wait -333 -333 -4446` for a nonblocking collective: the oldest of its communicator.
#[test]
fn nonblocking_collectives_start_and_are_waited_for() {
    let lines = "0 iallreduce 4 0 1\n1 iallreduce 4 0 1\n0 ibarrier\n1 ibarrier\n0 compute 5\n0 wait -333 -333 -4446\n\
                 0 wait -333 -333 -4446\n1 waitall 2\n0 wait -333 -333 -4446\n";
    let start = |operation, bytes, request| {
        let Call::Collective { root, bytes, sizes, communicator, .. } = collective(operation, 0, bytes) else {
            unreachable!("a collective")
        };
        Call::Collective { operation, root, bytes, sizes, communicator, request }
    };
    let expected = [
        start(Operation::Allreduce, 16, 0),
        start(Operation::Barrier, 0, 1),
        Call::Compute { time: odonata_units::Time(5_000) },
        Call::Wait { request: 0 },
        Call::Wait { request: 1 },
    ];
    assert_eq!(of(lines), expected);
    // `wait N` names it; its communicator may have been freed.
    let lines = "0 comm_split 5 2 0\n0 ibarrier on 5\n0 iallreduce 4 0 1 on 5\n0 comm_free on 5\n0 wait 1 on 5\n\
                 0 wait 0 on 5\n1 comm_split 5 2 1\n1 ibarrier on 5\n1 iallreduce 4 0 1 on 5\n1 comm_free on 5\n";
    assert_eq!(of(lines)[4..], [Call::Wait { request: 1 }, Call::Wait { request: 0 }]);
    assert!(wrong("0 wait 0").contains("nonblocking collective 0, but 0 were started; they count from 0"));
    assert!(mistake("0 ibarrier\n1 ibarrier\n0 wait 0\n0 wait 0\n").contains("0 has been waited for before"));
    // At its end a rank waits for what is open.
    let calls = of("0 ibarrier\n1 ibarrier\n");
    assert_eq!(calls[1], Call::WaitAll { first: 0, count: 1 });
}

#[test]
fn files_without_a_rank_are_refused() {
    let formats = [
        TraceFormat::SimGrid,
        TraceFormat::Goal,
        TraceFormat::Dumpi,
        TraceFormat::Otf2,
        TraceFormat::Allprof,
        TraceFormat::Chakra,
        TraceFormat::Astra,
    ]
    .map(Some);
    for text in ["", "\n", "# a comment\n", "{}", "num_ranks 0\n"] {
        for format in formats.into_iter().chain([None]) {
            let mut files = GivenFiles(BTreeMap::from([("a", text)]));
            assert!(trace_report("a", format, &mut files).is_err(), "{format:?} {text:?}");
        }
    }
    let mut files = GivenFiles(BTreeMap::from([("a", "# a comment\n")]));
    let error = trace_report("a", None, &mut files).unwrap_err();
    assert_eq!(error, "a: no line of any rank; expected calls of at least one");
}

/// 10 doubles (type 0, 8 B) go out, 20 integers (type 1, 4 B) come in; either type alone, and none after a plain `init`.
#[test]
fn both_directions_of_a_sendrecv_have_their_type() {
    let sizes = |line: &str| {
        let calls = of(&format!("{line}\n1 init\n"));
        let size = |call: &Call| match *call {
            Call::Irecv { bytes, .. } | Call::Isend { bytes, .. } => Some(bytes.0),
            _ => None,
        };
        calls.iter().filter_map(size).collect::<Vec<_>>()
    };
    assert_eq!(sizes("0 sendrecv 10 1 20 1 0 1"), [80, 80], "20 x 4 B in, 10 x 8 B out");
    assert_eq!(sizes("0 sendrecv 10 1 20 1 1 0"), [160, 40]);
    assert_eq!(sizes("0 sendrecv 10 1 20 1 1"), [80, 40], "one type holds for both");
    assert_eq!(sizes("0 sendrecv 10 1 20 1"), [20, 10]);
}
