//! Programs with one mistake each, as users might write them.

use super::*;
use crate::call::Call;
use crate::collective::Collectives;
use crate::cursor::Cursor;
use crate::program::PROGRAMS;
use crate::rank_walks::build;
use crate::rule::ProgramSpec;
use crate::text;
use odonata_units::Stream;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

fn shared(program: &str, ranks: u32) -> JobProgram {
    let program = text::parse("my.program", program.as_bytes(), ranks).expect("a program");
    JobProgram::new(Arc::new(program), Arc::new(Collectives::study()))
}

/// The mistake. The counted messages are compared with a separate walk.
fn examined(program: &str, ranks: u32) -> Result<Examination, String> {
    let shared = shared(program, ranks);
    let found = examine(&shared, MAX_CALLS).map_err(|Mistake(reason)| reason)?;
    assert_eq!(found.sent.as_ref(), Some(&sent(&shared)));
    Ok(Examination { sent: None, collectives: Vec::new(), ..found })
}

/// Messages of all ranks, from a plain list.
fn sent(shared: &JobProgram) -> MessageCounts {
    let (mut sent, mut pairs) = (MessageCounts::default(), BTreeSet::new());
    for rank in 0..shared.program.ranks() {
        shared.each_send(rank, |to, bytes| {
            sent.add(bytes, 1);
            pairs.insert((rank, to));
        });
    }
    sent.pairs = pairs.len() as u64;
    sent
}

fn refused(program: &str, ranks: u32) -> String {
    examined(program, ranks).expect_err("a mistake")
}

fn unmatched(program: &str, ranks: u32) -> String {
    examined(program, ranks).expect("no call that can't be").unmatched.expect("messages without partners")
}

#[test]
fn an_unknown_peer() {
    // The text check covers only the first and the last round.
    let reason = refused("repeat 5 as i:\n    if i == 2 and rank > 0:\n        send rank + 1 8 B\n", 3);
    assert_eq!(
        reason,
        "rank 2, call 1, line 3: send of 8 B to rank 3, tag 0: communicator 0 has ranks 0 to 2, but no 3"
    );
    let reason = refused("repeat 5 as i:\n    if i == 2:\n        recv rank - 1 8 B\n", 3);
    assert_eq!(
        reason,
        "rank 0, call 1, line 3: recv of 8 B from no rank, tag 0: communicator 0 has ranks 0 to 2, but no rank with this number"
    );
}

#[test]
fn a_request_that_was_never_begun_or_is_in_use() {
    let reason = refused("requests a[2]\nphase x\nif rank == 1:\n    wait a[1]\n", 2);
    assert_eq!(
        reason,
        "rank 1, call 2, line 4: wait for request 1: request 1 was never started; expected an isend, an irecv or a nonblocking collective before"
    );
    let reason = refused("requests a[1]\nrepeat 2:\n    isend 1 - rank 8 B as a[0]\n", 2);
    assert!(
        reason.starts_with("rank 0, call 2, line 3: isend of 8 B to rank 1, tag 0: request 0 has not been"),
        "{reason}"
    );
}

#[test]
fn unknown_communicators() {
    let column = "create half first rank % 2 count 2 stride 2\n";
    assert_eq!(examined(&format!("{column}barrier on half\nfree half\n"), 4), Ok(Examination::default()));
    let reason = refused(&format!("{column}free half\nbarrier on half\n"), 4);
    assert_eq!(reason, "rank 0, call 3, line 3: barrier: there is no communicator 1");
    let reason = refused("create half first 0 count 2 stride 1\n", 4);
    assert!(
        reason.contains("rank 2, call 1, line 1: creation of communicator 1: a rank outside of it creates"),
        "{reason}"
    );
    let reason = refused(&format!("{column}{column}"), 4);
    assert!(reason.contains("communicator 1 already exists"), "{reason}");
    let reason = refused(&format!("{column}bcast 8 B root 2 on half\n"), 4);
    assert!(reason.contains("bcast with root 2, but communicator 1 has 2 ranks"), "{reason}");
    // Rank 0 creates a communicator of ranks 0 and 2, rank 2 one of all even ranks and 1.
    let reason = refused("role 0..1:\n    create half first rank count 2 stride 2\nrole others:\n    create half first 0 count 4 stride 1\n", 4);
    assert!(
        reason.starts_with(
            "rank 0, call 1, line 2: communicator 1 has 2 ranks here, but only 1 of them create the same one"
        ),
        "{reason}"
    );
}

#[test]
fn collectives_that_do_not_agree() {
    let expected =
        "expected all ranks of a communicator to call the same collectives in the same order, with the same root and size";
    let reason =
        refused("phase x\nif rank == 2:\n    barrier\n    allreduce 8 B\nelse:\n    allreduce 8 B\n    barrier\n", 4);
    assert_eq!(
        reason,
        format!(
            "rank 2, call 2, line 3: barrier is collective 1 of communicator 0, where rank 0, call 2, line 6 calls allreduce of 8 \
             B; {expected}"
        )
    );
    let reason = refused("barrier\nallreduce (rank + 1) B\n", 2);
    assert!(
        reason.contains("rank 1, call 2, line 2: allreduce of 2 B is collective 2 of communicator 0, where rank 0"),
        "{reason}"
    );
    let reason = refused("bcast 8 B root rank / 2\n", 3);
    assert!(reason.contains("bcast of 8 B with root 1 is collective 1"), "{reason}");
    let reason = refused("barrier\nif rank > 0:\n    scan 8 B\n", 2);
    assert_eq!(
        reason,
        format!(
            "rank 1, call 2, line 3: scan of 8 B is collective 2 of communicator 0, but rank 0 calls only 1; {expected}"
        )
    );
    // Only some ranks call it, and the first rank does not.
    let reason = refused("create half first rank % 2 count 2 stride 2\nif rank == 3:\n    barrier on half\n", 4);
    assert!(
        reason.contains("rank 3, call 2, line 3: barrier is collective 1 of communicator 1, but rank 1 calls only 0"),
        "{reason}"
    );
    let reason = refused("split part color rank % 2\nif rank == 3:\n    barrier on part\nfree part\n", 4);
    assert!(reason.contains("where rank 1, call 2, line 4 calls release of communicator 1"), "{reason}");
}

/// A text may split communicators: ranks learn the colours of the others before the run.
#[test]
fn splits_of_a_text() {
    let program =
        "split part color rank / 3\nsend (rank + 1) % 3 8 B on part\nrecv (rank + 2) % 3 8 B on part\nfree part\n";
    assert_eq!(examined(program, 6), Ok(Examination::default()));
    assert!(refused(program, 7).contains("communicator 1 has ranks 0 to 0"));
}

#[test]
fn sends_without_receives_are_counted_by_channel() {
    let program =
        "if rank == 0:\n    send 1 8 B tag 5\n    repeat 2:\n        send 2 9 B\nelse:\n    recv 0 8 B tag 6\n";
    assert_eq!(
        unmatched(program, 3),
        "1 send without a receive from rank 0 to rank 1, tag 5; 1 receive without a send from rank 0 to rank 1, tag 6; \
         2 sends without a receive from rank 0 to rank 2, tag 0; 1 receive without a send from rank 0 to rank 2, tag 6"
    );
    let many = unmatched("isend (rank + 1) % ranks 8 B\nisend (rank + 2) % ranks 8 B\nwaitall\n", 40);
    assert!(many.ends_with("; and 75 more"), "{many}");
    assert_eq!(many.matches(';').count(), 5, "{many}");
    // The size does not distinguish channels, and a wildcard matches any message.
    assert_eq!(examined("if rank == 0:\n    send 1 8 B\nelse:\n    recv 0 9 B\n", 2), Ok(Examination::default()));
    assert_eq!(
        examined("if rank == 0:\n    send 1 8 B\nelse:\n    recv any 9 B tag 7\n", 2),
        Ok(Examination::default())
    );
}

#[test]
fn a_long_program_is_checked_in_part() {
    let program = shared("repeat 1000:\n    send (rank + 1) % ranks 8 B\nbarrier\n", 10);
    let examined = examine(&program, 1_000).unwrap();
    assert!(examined.left_out.unwrap().starts_with("only the first 100 calls of each of its 10 ranks were checked"));
    assert_eq!((examined.unmatched, examined.sent), (None, None));
    assert!(examine(&program, 10_010).unwrap().unmatched.is_some(), "1,001 calls of each rank are all of them");
}

/// Messages of collectives are counted up to their own limit, which keeps the check short. All calls are checked.
#[test]
fn messages_of_collectives_are_counted_in_part() {
    let program = shared("repeat 5:\n    alltoall 8 B\n", 20);
    let found = examine(&program, 100).unwrap();
    assert_eq!(found.collectives[0].calls, 5);
    assert_eq!(Examination { collectives: Vec::new(), ..found }, Examination::default());
    assert_eq!(examine(&program, MAX_CALLS).unwrap().sent, Some(sent(&program)));
}

#[test]
fn built_in_programs_have_no_mistakes() {
    for name in PROGRAMS.iter().map(|program| program.name).filter(|name| !["file", "trace"].contains(name)) {
        for ranks in [1, 2, 7, 12, 64] {
            let keys = ProgramSpec::parse(name).unwrap().values();
            let small = keys.iter().filter_map(|(key, _)| match *key {
                "iterations" => Some((*key, serde_json::json!(3))),
                "lattice" => Some((*key, serde_json::json!([8, 84, 24, 12]))),
                "nx" => Some((*key, serde_json::json!(16))),
                _ => None,
            });
            let program = build(name, ranks, &small.collect::<Vec<_>>());
            let shared = JobProgram::new(program, Arc::new(Collectives::study()));
            let expected = Examination { sent: Some(sent(&shared)), ..Examination::default() };
            let examined = |shared: &JobProgram| Examination {
                collectives: Vec::new(),
                ..examine(shared, MAX_CALLS).expect("no mistake")
            };
            assert_eq!(examined(&shared), expected, "{name} {ranks}");
            // Run three times, it is counted once.
            let several = shared.repeated(crate::sequence::Rounds::Times(3));
            assert_eq!(examined(&several), expected, "{name} {ranks}");
        }
    }
}

/// Random messages with some removed. The count of each channel equals a plain list.
#[derive(Debug)]
struct Random {
    seed: u64,
}

impl crate::rank_program::RankProgram for Random {
    fn ranks(&self) -> u32 {
        5
    }
    fn blocks(&self, _: u32) -> u64 {
        1
    }
    fn block(&self, rank: u32, _: u64, code: &mut crate::code::Code) {
        let mut random = Stream::new(self.seed, "mistakes", &[]);
        for _ in 0..random.index(40) {
            let [from, to, tag] = [random.index(5), random.index(5), random.index(3)].map(|n| n as u32);
            let (sent, received) = (random.index(8) > 0, random.index(8) > 0);
            if rank == from && sent {
                code.isend(to, odonata_units::Bytes(1), tag);
            }
            if rank == to && received {
                code.irecv(from, odonata_units::Bytes(1), tag);
            }
        }
    }
}

proptest! {
    #[test]
    fn unmatched_messages_match_a_plain_list(seed in any::<u64>()) {
        let mut left: BTreeMap<(u32, u32, u32), i64> = BTreeMap::new();
        for rank in 0..5 {
            let mut cursor = Cursor::default();
            while let Some(call) = cursor.next(&Random { seed }, rank) {
                match call {
                    Call::Isend { to, tag, .. } => *left.entry((rank, to, tag)).or_default() += 1,
                    Call::Irecv { from, tag, .. } => *left.entry((from, rank, tag)).or_default() -= 1,
                    _ => {}
                }
            }
        }
        left.retain(|_, count| *count != 0);
        let shared = JobProgram::new(Arc::new(Random { seed }), Arc::new(Collectives::study()));
        let found = examine(&shared, MAX_CALLS).unwrap().unmatched;
        prop_assert_eq!(found.is_none(), left.is_empty());
        if let Some(found) = found {
            let named = found.split("; ").filter(|part| part.contains("tag")).count();
            prop_assert_eq!(named, left.len().min(5));
            prop_assert_eq!(found.contains(&format!("and {} more", left.len().saturating_sub(5))), left.len() > 5);
        }
    }
}

/// Two communicators of two ranks each, and all four: each collective counts once, by operation, ranks and algorithm. The
/// second of two executions does not count.
#[test]
fn collectives_by_what_selects_their_algorithm() {
    let text = "split half color rank / 2\nallreduce 8 B on half\nallreduce 16 B on half\nallreduce 8 B\n\
                repeat 3:\n    bcast 1 kB\nalltoall sizes blocks\nsizes blocks = from * 8 B\nfree half\n";
    let lines: Vec<&str> = text.lines().collect();
    let text = format!("{}\n{}\n", lines[7], [&lines[..7], &lines[8..]].concat().join("\n"));
    let once = shared(&text, 4);
    for shared in [once.clone(), once.repeated(crate::sequence::Rounds::Times(2))] {
        let found = examine(&shared, MAX_CALLS).unwrap().collectives;
        let found: Vec<_> = found
            .iter()
            .map(|of| {
                let bytes = (of.bytes_min.0, of.bytes_max.0, of.bytes.0);
                (of.operation.name(), of.is_vector, of.ranks, of.algorithm.name, of.calls, bytes)
            })
            .collect();
        assert_eq!(
            found,
            [
                ("bcast", false, 4, "binary-tree", 3, (1_000, 1_000, 3_000)),
                ("allreduce", false, 2, "binary-tree", 4, (8, 16, 48)),
                ("allreduce", false, 4, "binary-tree", 1, (8, 8, 8)),
                ("alltoall", true, 4, "pairwise", 1, (0, 0, 0)),
            ]
        );
    }
}

#[test]
fn a_nonblocking_collective_does_not_match_a_blocking_one() {
    let reason = refused("if rank == 0:\n    allreduce 8 B\nelse:\n    iallreduce 8 B\n    waitall\n", 2);
    let expected =
        "iallreduce of 8 B is collective 1 of communicator 0, where rank 0, call 1, line 2 calls allreduce of 8 B";
    assert!(reason.contains(expected), "{reason}");
    let reason = refused("requests r\niallreduce 8 B as r\niallreduce 8 B as r\n", 2);
    assert!(reason.contains("request 0 has not been waited for"), "{reason}");
}
