//! Programs with one mistake each, as users might write them.

use super::*;
use crate::call::Call;
use crate::collective::{CollectivePreset, Collectives};
use crate::cursor::Cursor;
use crate::program::PROGRAMS;
use crate::rank_walks::build;
use crate::rule::{ProgramContext, ProgramSpec};
use crate::text;
use odonata_declare::Word;
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
    let found = examine(&shared, false, MAX_CALLS).map_err(|Mistake(reason)| reason)?;
    assert_same(&found.sent, &sent(&shared), program);
    Ok(found.with_no_messages())
}

/// Counts equal the counts of a walk. Pairs that several collectives use may count several times.
fn assert_same(found: &MessageCounts, walked: &MessageCounts, what: &str) {
    assert!((walked.pairs..=3 * walked.pairs).contains(&found.pairs), "{what}: {} of {}", found.pairs, walked.pairs);
    assert_eq!(found.clone().with_pairs(0), walked.clone().with_pairs(0), "{what}");
}

/// Messages of all ranks, from a plain list. A list with repetitions has the same.
fn sent(shared: &JobProgram) -> MessageCounts {
    let (mut sent, mut pairs) = (MessageCounts::default(), BTreeSet::new());
    for rank in 0..shared.program.ranks() {
        let (mut plain, mut repeated) = (BTreeMap::new(), BTreeMap::new());
        shared.each_send(rank, |to, bytes| {
            sent.add(bytes, 1);
            pairs.insert((rank, to));
            *plain.entry((to, bytes.0)).or_insert(0) += 1;
        });
        shared.each_repeated_send(rank, |to, bytes, times| *repeated.entry((to, bytes.0)).or_insert(0) += times);
        assert_eq!(repeated, plain);
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
    let program = shared("repeat 1000 as i:\n    send (rank + 1) % ranks 8 B tag i\nbarrier\n", 10);
    let examined = examine(&program, false, 1_000).unwrap();
    assert!(examined.left_out.unwrap().starts_with("only the first 100 calls of each of its 10 ranks were checked"));
    assert_eq!(examined.unmatched, None);
    // 1,000 messages of each rank, and of the barrier. A few calls of each rank stand for all.
    let estimate = examined.sent.messages() as f64;
    assert!(examined.sent.is_estimate && (estimate / 10_018.0 - 1.0).abs() < 0.1, "{estimate}");
    assert!(examine(&program, false, 20_010).unwrap().unmatched.is_some(), "1,001 calls of each rank are all of them");
}

/// Of a loop with equal rounds, two are looked at: a limit of calls does not cut it, and what is wrong is counted in full.
#[test]
fn equal_rounds_are_checked_once() {
    let ring =
        shared("repeat 1000000:\n    irecv (rank + 3) % ranks 8 B\n    isend (rank + 1) % ranks 8 B\n    waitall\n", 4);
    let ring = examine(&ring, false, 100).unwrap();
    assert_eq!((ring.sent.messages(), ring.sent.is_estimate, ring.left_out), (4_000_000, false, None));
    // Sends of one loop belong to receives of another one.
    let split = "repeat 1000:\n    isend (rank + 1) % ranks 8 B\n    waitall\nrepeat 500:\n    repeat 2:\n        recv (rank + 3) % ranks 8 B\n";
    assert_eq!(examined(split, 4), Ok(Examination::default()));
    let fewer = unmatched(&split.replace("500", "499"), 4);
    assert!(fewer.starts_with("2 sends without a receive from rank 0 to rank 1, tag 0; 2 sends"), "{fewer}");
    // A request of the first round is open in the second.
    let reason = refused("requests r\nrepeat 9:\n    isend rank 8 B as r\nwait r\n", 2);
    assert!(reason.contains("rank 0, call 2, line 3: ") && reason.contains("has not been waited for"), "{reason}");
}

/// Messages of collectives are counted by formulas: no limit of calls holds for them.
#[test]
fn messages_of_collectives_take_no_calls() {
    let program = shared("repeat 5:\n    alltoall 8 B\n", 20);
    let found = examine(&program, false, 200).unwrap();
    assert_eq!(found.collectives[0].calls, 5);
    assert_eq!((found.sent.messages(), found.sent.is_estimate, found.left_out), (5 * 20 * 19, false, None));
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
            // Run several times, it is counted once.
            for several in [false, true] {
                let found = examine(&shared, several, MAX_CALLS).expect("no mistake");
                assert_same(&found.sent, &sent(&shared), &format!("{name} {ranks}"));
                assert_eq!(found.with_no_messages(), Examination::default(), "{name} {ranks}");
            }
        }
    }
}

/// Parameters of a program, drawn from small numbers.
fn drawn(name: &str, draw: u64) -> Vec<(&'static str, serde_json::Value)> {
    let mut stream = Stream::new(draw, name, &[]);
    let mut keys = Vec::new();
    for (key, _) in ProgramSpec::parse(name).unwrap().values() {
        let number = |stream: &mut Stream, below: u64| serde_json::json!(1 + stream.below(below));
        let bytes =
            |stream: &mut Stream, from: u64, below: u64| serde_json::json!(format!("{} B", from + stream.below(below)));
        let value = match key {
            "iterations" | "rings" | "parities" | "sweep_blocks" => number(&mut stream, 5),
            "warm_up" | "messages" | "slices" | "planes_per_block" => number(&mut stream, 3),
            "planes" | "nx" => number(&mut stream, 20),
            "bytes" if name == "checkpoint" => bytes(&mut stream, 1, 10_000),
            "stripe" => bytes(&mut stream, 1_000, 1_000),
            "bytes" => bytes(&mut stream, 1, 100),
            "lattice" => serde_json::json!([8, 84, 24, 12]),
            "zones" => serde_json::json!([4, 3, 1 + stream.below(4)]),
            "barrier" => serde_json::json!(stream.below(2) == 1),
            "kind" => {
                serde_json::json!(["all-to-all", "incast", "put-incast", "get-broadcast"][stream.below(4) as usize])
            }
            _ => continue,
        };
        keys.push((key, value));
    }
    keys
}

proptest! {
    /// Blocks that stand for others, and formulas of collectives, give the counts of a walk over all calls.
    #[test]
    fn counts_equal_the_walk(draw in 0u64..1_000_000, ranks in prop::sample::select(vec![1u32, 2, 7, 12, 24])) {
        for name in PROGRAMS.iter().map(|program| program.name).filter(|name| !["file", "trace"].contains(name)) {
            let mut spec = ProgramSpec::parse(name).unwrap();
            drawn(name, draw).into_iter().for_each(|(key, value)| spec.set(key, value).unwrap());
            // Some parameters do not fit the ranks.
            let context = ProgramContext { job: "test", ranks, seed: draw };
            let Ok(program) = crate::rule::build(&spec, &context) else { continue };
            for collectives in [Collectives::study(), Collectives::of(CollectivePreset::ALL[1])] {
                let shared = JobProgram::new(Arc::clone(&program), Arc::new(collectives));
                let found = examine(&shared, false, MAX_CALLS).expect("no mistake");
                assert_same(&found.sent, &sent(&shared), &format!("{name} {ranks} {draw}"));
            }
        }
    }
}

/// As many iterations as a number has bits for: one is looked at, the counts are exact.
#[test]
fn iterations_multiply() {
    for (name, of_an_iteration) in
        [("allreduce", 2 * 7), ("ring", 8), ("halo-3d", 24), ("ping-pong", 8), ("all-to-all", 56)]
    {
        let given = [("iterations", serde_json::json!(2_000_000_000)), ("final_barrier", serde_json::json!(false))];
        let shared = JobProgram::new(build(name, 8, &given), Arc::new(Collectives::study()));
        // More calls than these would be refused.
        let found = examine(&shared, true, 1_000).unwrap();
        assert_eq!(found.sent.messages(), 2_000_000_000 * of_an_iteration, "{name}");
        assert_eq!((found.sent.is_estimate, found.left_out), (false, None), "{name}");
    }
}

/// Permutations are drawn, so a sample of them stands for all.
#[test]
fn drawn_iterations_are_estimated() {
    let given = [("iterations", serde_json::json!(7_200)), ("final_barrier", serde_json::json!(false))];
    let shared = JobProgram::new(build("uniform-random", 528, &given), Arc::new(Collectives::study()));
    let found = examine(&shared, false, MAX_CALLS).unwrap().sent;
    // The study's draws: 6,465 places stay.
    let exact = 7_200.0 * 528.0 - 6_465.0;
    assert!(found.is_estimate && (found.messages() as f64 / exact - 1.0).abs() < 0.001, "{}", found.messages());
}

/// A congestor of 100,000 ranks has blocks of 300,000 calls. A few blocks stand for all, and its ranks send alike.
#[test]
fn long_blocks_are_estimated() {
    let given = [("final_barrier", serde_json::json!(false)), ("iterations", serde_json::json!(3))];
    let shared = JobProgram::new(build("congestor", 100_000, &given), Arc::new(Collectives::study()));
    let found = examine(&shared, false, 1_000_000).unwrap();
    assert!(found.left_out.is_some() && found.sent.is_estimate);
    let exact = 3.0 * 1e5 * 99_999.0;
    assert!((found.sent.messages() as f64 / exact - 1.0).abs() < 0.01, "{}", found.sent.messages());
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
        let found = examine(&shared, false, MAX_CALLS).unwrap().unmatched;
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
    for several in [false, true] {
        let found = examine(&once, several, MAX_CALLS).unwrap().collectives;
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
