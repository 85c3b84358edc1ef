//! Texts against built-in programs, mistakes, and arbitrary bytes.

use super::*;
use crate::call::{Call, Operation, ANY, BLOCKING, EQUAL};
use crate::rank_program::RankProgram;
use crate::rank_walks::{build, calls, untimed};
use odonata_units::{Bytes, Time};
use proptest::prelude::*;
use serde_json::json;

fn program(text: &str, ranks: u32) -> TextProgram {
    parse("test", text.as_bytes(), ranks).unwrap_or_else(|error| panic!("{error}"))
}

fn mistake(text: &str, ranks: u32) -> String {
    parse("test", text.as_bytes(), ranks).unwrap_err().to_string()
}

/// Halo3D of the interference study, on any grid: the same calls as the built-in program.
const HALO_3D: &str = "\
let nx = 3   # sizes of the grid
let ny = 2
let bytes = 8 B
repeat 4:
    phase halo
    repeat 3 as d:
        # One dimension after the other.
        if d == 0:
            if rank % nx > 0:
                irecv rank - 1  bytes  tag d
            if rank % nx + 1 < nx:
                irecv rank + 1  bytes  tag d
            if rank % nx > 0:
                send rank - 1  bytes  tag d
            if rank % nx + 1 < nx:
                send rank + 1  bytes  tag d
        if d == 1:
            if rank / nx % ny > 0:
                irecv rank - nx  bytes  tag d
            if rank / nx % ny + 1 < ny:
                irecv rank + nx  bytes  tag d
            if rank / nx % ny > 0:
                send rank - nx  bytes  tag d
            if rank / nx % ny + 1 < ny:
                send rank + nx  bytes  tag d
        if d == 2:
            if rank >= nx * ny:
                irecv rank - nx * ny  bytes  tag d
            if rank + nx * ny < ranks:
                irecv rank + nx * ny  bytes  tag d
            if rank >= nx * ny:
                send rank - nx * ny  bytes  tag d
            if rank + nx * ny < ranks:
                send rank + nx * ny  bytes  tag d
        waitall
";

#[test]
fn a_halo_as_it_is_built_in() {
    let given = [("dims", json!([3, 2, 2])), ("iterations", json!(4)), ("bytes", json!("8 B"))];
    let built_in = build("halo-3d", 12, &given);
    let text = program(HALO_3D, 12);
    // Requests are numbered from 0 after each waitall. Without requests there is no wait.
    let plain = |program: &dyn RankProgram, rank| {
        let calls = calls(program, rank).into_iter().filter(|call| !matches!(call, Call::WaitAll { count: 0, .. }));
        calls
            .map(|call| match call {
                Call::Irecv { from, bytes, tag, communicator, .. } => {
                    Call::Irecv { from, bytes, tag, communicator, request: 0 }
                }
                Call::WaitAll { count, .. } => Call::WaitAll { first: 0, count },
                other => other,
            })
            .collect::<Vec<_>>()
    };
    for rank in 0..12 {
        let mut expected = plain(&*built_in, rank);
        expected.truncate(expected.len() - 2);
        assert_eq!(plain(&text, rank), expected, "rank {rank}");
    }
    assert_eq!(untimed(&text).totals().0, 4 * 2 * (2 * 4 + 6 + 6));
}

/// Blocks are counted, not listed: 6 x 10^12 of them, and the last one is found at once.
#[test]
fn loops_take_no_memory() {
    let text =
        "repeat 1000000 as i:\n  repeat 2000000 as j:\n    compute i * 1 us\n    repeat 3:\n      compute 1 ns * j\n";
    let program = program(text, 1);
    assert_eq!(program.blocks(0), 8_000_000_000_000);
    let mut code = super::super::Code::default();
    program.block(0, 8_000_000_000_000 - 1, &mut code);
    assert_eq!(code.calls(), [Call::Compute { time: Time(1_999_999_000) }]);
    assert_eq!(program.line(0, 8_000_000_000_000 - 4, 0), Some(3));
    assert_eq!(program.line(0, 8_000_000_000_000 - 1, 0), Some(5));
}

/// A rank without calls in a loop does not run it.
#[test]
fn idle_ranks_have_no_blocks() {
    let text =
        "repeat 1000000:\n  if rank == 0:\n    send 1 8 B\n  if rank == 1:\n    recv 0 8 B\n  waitall\nbarrier\n";
    let program = program(text, 3);
    assert_eq!([0, 1, 2].map(|rank| program.blocks(rank)), [1_000_001, 1_000_001, 1]);
    assert_eq!(calls(&program, 2).len(), 1);
}

/// A loop that only posts is unrolled, so one `waitall` covers all of it.
#[test]
fn posting_loops() {
    let text = "\
repeat 2:
    repeat ranks - 1:
        irecv any 8 B
    repeat ranks - 1 as i:
        isend (rank + i + 1) % ranks 8 B
    waitall
";
    let program = program(text, 5);
    assert_eq!(program.blocks(0), 2);
    let mut code = super::super::Code::default();
    program.block(1, 1, &mut code);
    assert_eq!(code.calls().len(), 9);
    assert_eq!(code.calls()[8], Call::WaitAll { first: 0, count: 8 });
    assert!(matches!(code.calls()[0], Call::Irecv { from: ANY, tag: 0, .. }));
}

#[test]
fn all_statements() {
    let text = "\
let n = 2 * 4
let size = n * 1.5 KiB
requests a
requests ring[2]
sizes blocks = (from + to) % 3 * 64 B
role 0, 2..3:
    phase one and only
    sleep 2 ms
    wait until 1.5 us * (rank + 1)
    isend 1 size tag 3 as a
    wait a
    irecv any (rank + 1) B tag any as ring[7]
    test ring[1]
    waitany ring
    waitsome ring
    waitall ring
    create column first rank / 2 * 2 count 2
    create odd first 1 count 2 stride 2 on world
    split row color rank % 2 key ranks - rank on column
    barrier on row
    free row
    bcast 8 B root 1
    reduce-scatter sizes blocks
    alltoall sizes blocks on column
    scan size
role others:
    if rank == 1 and not ranks < 2 or rank > 100:
        compute -(-5) us
    else:
        compute 1 us
";
    let program = program(text, 5);
    let (bytes, sizes) = (Bytes(12 << 10), EQUAL);
    let collective = |operation, root, bytes, sizes, communicator| Call::Collective {
        operation,
        root,
        bytes: Bytes(bytes),
        sizes,
        communicator,
        request: BLOCKING,
    };
    assert_eq!(
        calls(&program, 3),
        [
            Call::Mark { phase: 0 },
            Call::Sleep { time: Time::from_us(2000) },
            Call::WaitUntil { time: Time::from_us(6) },
            Call::Isend { to: 1, bytes, tag: 3, communicator: 0, request: 0 },
            Call::Wait { request: 0 },
            Call::Irecv { from: ANY, bytes: Bytes(4), tag: ANY, communicator: 0, request: 2 },
            Call::Test { request: 2 },
            Call::WaitAny { first: 1, count: 2 },
            Call::WaitSome { first: 1, count: 2 },
            Call::WaitAll { first: 1, count: 2 },
            Call::CommCreate { communicator: 0, new: 1, first: 2, count: 2, stride: 1 },
            Call::CommCreate { communicator: 0, new: 2, first: 1, count: 2, stride: 2 },
            Call::CommSplit { communicator: 1, new: 3, color: 1, key: 2 },
            collective(Operation::Barrier, 0, 0, sizes, 3),
            Call::CommFree { communicator: 3 },
            collective(Operation::Broadcast, 1, 8, sizes, 0),
            collective(Operation::ReduceScatter, 0, 0, 0, 0),
            collective(Operation::Alltoall, 0, 0, 0, 1),
            collective(Operation::Scan, 0, bytes.0, sizes, 0),
        ]
    );
    assert_eq!(calls(&program, 1), [Call::Compute { time: Time::from_us(5) }]);
    assert_eq!(calls(&program, 4), [Call::Compute { time: Time::from_us(1) }]);
    assert_eq!(program.size(0, 3, 1), Bytes(64));
    assert_eq!(program.phases(), ["one and only"]);
    assert_eq!(calls(&super::parse("test", b"# nothing\n", 3).unwrap(), 2), []);
}

#[test]
fn mistakes_say_where_and_what() {
    let say = |text: &str, expected: &str| assert_eq!(mistake(text, 4), format!("test:{expected}"), "{text}");
    say("compute 5 us\nsned 1 8 B\n", "line 2, column 1: unknown call 'sned'; did you mean 'send'?");
    say("send 1 8\n", "line 1, column 8: expected an amount of data like 64 KiB, found a number");
    say("send 1\n", "line 1, column 7: expected a number or a name, found the end of the line");
    say("send rnak 8 B", "line 1, column 6: unknown name 'rnak'; did you mean 'rank'?");
    say(
        "compute 8 B + 1 ns",
        "line 1, column 15: an amount of data like 64 KiB and a duration like 5 us cannot be combined",
    );
    say("compute 1.5", "line 1, column 12: expected a unit after 1.5, found the end of the line");
    say("repeat 3\n  barrier", "line 1, column 9: expected ':', found the end of the line");
    say("repeat 3:\nbarrier", "line 1, column 10: expected indented lines after this one");
    say("barrier\n  barrier", "line 2, column 1: indented by 2, expected 0 as in the line before");
    say("\tbarrier", "line 1, column 1: a tab; expected spaces for indentation");
    say(
        "repeat 2 as i:\n  repeat i:\n    barrier",
        "line 2, column 10: the count of a loop may depend on the rank, but not on other loops",
    );
    say(
        "role 0:\n  barrier",
        "line 2, column 1: ranks 1 to 3 have no role; add `role others:`, with an empty program for idle ranks",
    );
    say("role 0..2:\nrole 2, 3:", "line 2, column 7: rank 2 already has a role, in line 1");
    say("role 4:", "line 1, column 6: rank 4, but the job has ranks 0 to 3");
    say("role others:\nrole 2:", "line 2, column 6: a role after `role others:`, which is the last one");
    say("send 1 8 B as r", "line 1, column 15: `send` has no request; use `isend`");
    say("isend 1 8 B as r", "line 1, column 16: unknown requests 'r'; `requests r` at the top declares them");
    say("barrier on rwo", "line 1, column 12: unknown communicator 'rwo'; known: world");
    say("barrier $", "line 1, column 9: unexpected character '$'");
    say("let rank = 4", "line 1, column 5: 'rank' is already in use");
    say("barrier\nlet n = 4", "line 2, column 1: `let` must be at the top, before all roles and calls");
    say("let n = 1 / 0", "line 1, column 13: a division by zero");
    say("else:\n  barrier", "line 1, column 1: `else` without an `if` before it with the same indentation");
    say("allreduce 8 B root 1", "line 1, column 15: expected the end of the line, found 'root'");
    let open =
        "no wait for this request before the next loop starts, its round ends or the program ends; add `waitall`, \
                or name it: `requests r` at the top, `as r` here";
    say("barrier\nisend 1 8 B\n", &format!("line 2, column 1: {open}"));
    let mistake = parse("test", b"barrier\n\xff", 4).unwrap_err().to_string();
    assert_eq!(mistake, "test:line 2, column 1: not UTF-8 text; expected a program with one call per line");
}

/// Errors in the first or the last round of a loop are found before the run.
#[test]
fn impossible_values_are_found() {
    let say = |text: &str, expected: &str| assert_eq!(mistake(text, 4), format!("test:{expected}"), "{text}");
    say("send rank + 1 8 B", "line 1, column 1: the peer, a rank, is 4 for rank 3, expected from 0 to 3");
    say(
        "repeat 3 as i:\n  compute (1 - i) us",
        "line 2, column 1: the time is -1000000 for rank 0, expected at least 0",
    );
    say("repeat 2 as i:\n  compute 5 us / i", "line 2, column 1: the time has a division by zero for rank 0");
    say("repeat rank - 2:\n  barrier", "line 1, column 1: the count is -2 for rank 0, expected from 0 to 4294967295");
    say(
        "repeat 2000000:\n  isend 0 8 B\nwaitall",
        "line 1, column 1: more than 1048576 calls before a wait for requests without names",
    );
    say("sizes blocks = (to - 2) * 1 B", "line 1, column 1: the size is -2, expected at least 0, from rank 0 to 0");
    say("sizes blocks = 1 B / (to - from)", "line 1, column 1: the size has a division by zero from rank 0 to 0");
    let deep: String =
        (0..3).map(|d| format!("{}repeat 4000000000:\n", " ".repeat(d))).collect::<String>() + "   barrier";
    say(&deep, "line 1, column 1: rank 0 has more rounds than supported");
}

/// Tables: arbitrary behaviour of a rank as lists of numbers.
#[test]
fn tables() {
    let text = "table peers = 2, ranks - 2, 1\ntable sizes_of = 8 B, 1 KiB, 64 B * 2\nrepeat 2 as i:\n  \
                isend peers[rank] sizes_of[(rank + i) % 3]\n  irecv any 1 KiB\n  waitall\n";
    let sends: Vec<Call> = calls(&program(text, 3), 2).into_iter().step_by(3).collect();
    let send = |bytes| Call::Isend { to: 1, bytes: Bytes(bytes), tag: 0, communicator: 0, request: 0 };
    assert_eq!(sends, [send(128), send(8)]);
    let say = |text: &str, expected: &str| assert_eq!(mistake(text, 4), format!("test:{expected}"), "{text}");
    say("table t = 1, 2 B", "line 1, column 14: expected a number as before, found an amount of data like 64 KiB");
    say("table t = 1,", "line 1, column 13: expected a number or a name, found the end of the line");
    say("table t = 1\nsend t 8 B", "line 2, column 8: expected '[', found '8'");
    say(
        "table t = 1\nsend t[rank] 8 B",
        "line 2, column 1: the peer, a rank, has a place outside of its table for rank 1",
    );
    assert!(parse("test", format!("table t = 0{}", ", 1".repeat(100_000)).as_bytes(), 2).is_ok());
}

/// The smaller and the larger of two; a constant of the same name hides the function.
#[test]
fn min_and_max() {
    let sent = |text: &str, rank: u32| match calls(&program(text, 4), rank)[..] {
        [Call::Send { to, bytes, .. }] => (to, bytes.0),
        ref other => panic!("{other:?}"),
    };
    let text = "send min(rank + 1, ranks - 1) max(rank * 8 B, 10 B) / 2";
    assert_eq!([sent(text, 0), sent(text, 2), sent(text, 3)], [(1, 5), (3, 8), (3, 12)]);
    assert_eq!(sent("let min = 2\nsend min 8 B", 0), (2, 8));
    let say = |text: &str, expected: &str| assert_eq!(mistake(text, 4), format!("test:{expected}"), "{text}");
    say("send min 8 B", "line 1, column 10: expected '(', found '8'");
    say("send min(1, 2 B) 8 B", "line 1, column 13: a number and an amount of data like 64 KiB cannot be combined");
    let deep = format!("send {}0{} 8 B", "min(0, ".repeat(300), ")".repeat(300));
    assert!(mistake(&deep, 2).contains("nested"));
}

/// Deep nesting is refused.
#[test]
fn depths_are_limited() {
    assert!(mistake(&format!("send {}0{} 8 B", "(".repeat(300), ")".repeat(300)), 2).contains("nested"));
    assert!(mistake(&format!("send {}0 8 B", "-".repeat(300)), 2).contains("nested"));
    assert!(mistake(&format!("if {} 1 == 1:\n  barrier", "not ".repeat(200)), 2).contains("nested"));
    let loops: String = (0..20).map(|d| format!("{}repeat 1:\n", " ".repeat(d))).collect();
    assert!(mistake(&loops, 2).contains("more than 8 nested loops"));
    let ifs: String = (0..200).map(|d| format!("{}if rank > 0:\n", " ".repeat(d))).collect();
    assert!(mistake(&ifs, 2).contains("nested"));
    assert!(mistake(&format!("send rank{} 8 B", "+1-1".repeat(251)), 2).contains("more than 500 operators"));
    assert!(parse("test", format!("send 0{} 8 B", "+1-1".repeat(250)).as_bytes(), 2).is_ok());
}

/// Words of the language, so that random texts get far.
fn soup() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "role",
        "others",
        "repeat",
        "if",
        "else",
        "let",
        "table",
        "requests",
        "sizes",
        "send",
        "isend",
        "irecv",
        "recv",
        "any",
        "tag",
        "on",
        "as",
        "wait",
        "waitall",
        "test",
        "compute",
        "phase",
        "barrier",
        "alltoall",
        "reduce-scatter",
        "split",
        "create",
        "free",
        "color",
        "first",
        "count",
        "rank",
        "ranks",
        "min",
        "x",
        "0",
        "3",
        "99999999999",
        "1.5",
        "KiB",
        "us",
        "+",
        "-",
        "*",
        "/",
        "%",
        "(",
        ")",
        "[",
        "]",
        ":",
        ",",
        "..",
        "==",
        "<",
        "=",
        "\n",
        "\n",
        "\n ",
        "\n  ",
        "\n    ",
        "#",
        "not",
        "and",
        "\u{e9}",
    ]);
    prop::collection::vec(words, 0..60).prop_map(|words| words.join(" ").replace("\n ", "\n"))
}

/// A text that parses also runs: the blocks of both ends are generated, and their lines match the file.
fn survives(bytes: &[u8]) {
    let lines = bytes.iter().filter(|&&byte| byte == b'\n').count() as u32 + 1;
    for ranks in [1, 3] {
        let Ok(program) = parse("test", bytes, ranks) else { continue };
        for rank in 0..ranks {
            let blocks = program.blocks(rank);
            for index in (0..blocks.min(20)).chain(blocks.checked_sub(1)) {
                let mut code = super::super::Code::default();
                program.block(rank, index, &mut code);
                let last = code.calls().len();
                assert_eq!(program.line(rank, index, last), None);
                assert!(last == 0 || program.line(rank, index, last - 1).is_some_and(|line| line <= lines));
            }
        }
    }
}

proptest! {
    #[test]
    fn no_bytes_crash_it(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        survives(&bytes);
    }

    #[test]
    fn no_words_crash_it(text in soup()) {
        survives(text.as_bytes());
    }

    /// A halo with some of its characters changed.
    #[test]
    fn no_slip_crashes_it(slips in prop::collection::vec((0..HALO_3D.len(), any::<u8>()), 1..4)) {
        let mut bytes = HALO_3D.as_bytes().to_vec();
        slips.into_iter().for_each(|(at, byte)| bytes[at] = byte);
        survives(&bytes);
    }
}

#[test]
fn nonblocking_collectives_have_requests() {
    let text = "requests r[2]\nrepeat 3 as i:\n    iallreduce 8 B as r[i]\n    ibarrier\n    ireduce-scatter 4 B\n    waitall\n    wait r[i]\n";
    let program = program(text, 2);
    let start = |operation, bytes, request| {
        let (bytes, sizes, communicator) = (Bytes(bytes), EQUAL, 0);
        Call::Collective { operation, root: 0, bytes, sizes, communicator, request }
    };
    let of_program = calls(&program, 1);
    let expected = [
        start(Operation::Allreduce, 8, 0),
        start(Operation::Barrier, 0, 2),
        start(Operation::ReduceScatter, 4, 3),
        Call::WaitAll { first: 2, count: 2 },
        Call::Wait { request: 0 },
        start(Operation::Allreduce, 8, 1),
    ];
    assert_eq!(of_program[..6], expected);
    let wrong = |text: &str| parse("x.program", text.as_bytes(), 2).unwrap_err().to_string();
    assert!(wrong("requests r\nallreduce 8 B as r\n").contains("`allreduce` has no request; use `iallreduce`"));
    assert!(wrong("ialreduce 8 B\n").contains("unknown call 'ialreduce'; did you mean 'iallreduce'?"));
    assert!(wrong("ibarrier\n").contains("no wait for this request"));
}

#[test]
fn streams_and_events() {
    let text = "on stream a:\n    repeat 2:\n        await z\n        compute 1 us\n    record e\non stream b:\n    await e\n    iallreduce 8 B\n    waitall\nrecord z\n";
    let program = program(text, 2);
    assert_eq!(program.streams(), 2);
    let compute = Call::Compute { time: Time::from_us(1) };
    let (await_z, to) = (Call::Await { event: 0 }, |stream| Call::Stream { stream });
    let found = calls(&program, 1);
    let expected = [to(1), await_z, compute, await_z, compute, Call::Record { event: 1 }, to(0), to(2)];
    assert_eq!(found[..8], expected);
    assert_eq!(found[11..], [to(0), Call::Record { event: 0 }]);
    assert_eq!([0, 2, 4, 12].map(|place| program.line(1, 0, place)), [1, 4, 4, 10].map(Some));
    let wrong = |text: &str| parse("x.program", text.as_bytes(), 2).unwrap_err().to_string();
    assert_eq!(
        wrong("record done\nawait dne\n"),
        "x.program:line 2, column 7: unknown event 'dne'; did you mean 'done'?; `record dne` records it"
    );
    assert!(wrong("on strem a:\n    barrier\n").contains("line 1, column 4: expected 'stream', found 'strem'"));
    assert!(wrong("on stream a:\n    on stream b:\n        barrier\n").contains("line 2, column 15: a stream inside"));
    assert!(wrong("on stream a:\nbarrier\n").contains("expected indented lines"));
    assert!(wrong("recrd done\n").contains("unknown call 'recrd'; did you mean 'record'?"));
}
