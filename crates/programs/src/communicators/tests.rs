//! Nested splits, and invalid calls.

use super::*;
use crate::code::Code;

/// Rank r of 6 splits by colour r % 2 with key 10 - r, then the new communicator by r < 3.
#[derive(Debug)]
struct TwoSplits;

impl RankProgram for TwoSplits {
    fn ranks(&self) -> u32 {
        6
    }
    fn blocks(&self, _: u32) -> u64 {
        1
    }
    fn block(&self, rank: u32, _: u64, code: &mut Code) {
        code.push(Call::CommSplit { communicator: WORLD, new: 1, color: rank % 2, key: 10 - rank });
        code.push(Call::CommSplit { communicator: 1, new: 2, color: u32::from(rank < 3), key: 0 });
    }
    fn splits(&self) -> bool {
        true
    }
}

#[test]
fn ranks_of_one_color_are_together_by_key() {
    let splits = Splits::of(&TwoSplits);
    let mut of_2 = Communicators::new(6, 2);
    let mut cursor = Cursor::default();
    while let Some(call) = cursor.next(&TwoSplits, 2) {
        of_2.apply(&call, &splits).unwrap();
    }
    let ranks = |communicator| -> Vec<u32> {
        let (size, _) = of_2.size_and_rank(communicator).unwrap();
        (0..size).map(|rank| of_2.job_rank(communicator, rank).unwrap()).collect()
    };
    assert_eq!(ranks(1), [4, 2, 0], "even ones, the largest key first");
    assert_eq!(ranks(2), [2, 0]);
    assert_eq!(of_2.size_and_rank(1), Ok((3, 1)));
}

/// A freed number is reused for another communicator with other splits.
#[derive(Debug)]
struct RepeatedSplit;

impl RankProgram for RepeatedSplit {
    fn ranks(&self) -> u32 {
        6
    }
    fn blocks(&self, _: u32) -> u64 {
        1
    }
    fn block(&self, rank: u32, _: u64, code: &mut Code) {
        let split = |communicator, new, color| Call::CommSplit { communicator, new, color, key: 0 };
        // Only ranks 0 to 2 split the first communicator 1.
        code.push(split(WORLD, 1, rank / 3));
        if rank < 3 {
            code.push(split(1, 2, rank % 2));
            code.push(Call::CommFree { communicator: 2 });
        }
        code.push(Call::CommFree { communicator: 1 });
        code.push(split(WORLD, 1, rank % 2));
        code.push(split(1, 2, u32::from(rank < 3)));
    }
    fn splits(&self) -> bool {
        true
    }
}

fn ranks_of(of: &Communicators, communicator: u16) -> Vec<u32> {
    let (size, _) = of.size_and_rank(communicator).unwrap();
    (0..size).map(|rank| of.job_rank(communicator, rank).unwrap()).collect()
}

#[test]
fn a_number_may_be_given_again() {
    let splits = Splits::of(&RepeatedSplit);
    for (rank, expected) in [(0, vec![0, 2]), (1, vec![1]), (3, vec![3, 5]), (4, vec![4])] {
        let mut of_rank = Communicators::new(6, rank);
        let mut cursor = Cursor::default();
        while let Some(call) = cursor.next(&RepeatedSplit, rank) {
            of_rank.apply(&call, &splits).unwrap();
        }
        assert_eq!(ranks_of(&of_rank, 2), expected, "rank {rank}");
    }
}

/// All 100,000 ranks of a job split it into two. One list per rank would have 5 billion entries.
#[derive(Debug)]
struct Halves;

impl RankProgram for Halves {
    fn ranks(&self) -> u32 {
        100_000
    }
    fn blocks(&self, _: u32) -> u64 {
        1
    }
    fn block(&self, rank: u32, _: u64, code: &mut Code) {
        code.push(Call::CommSplit { communicator: WORLD, new: 1, color: rank % 2, key: rank });
        code.push(Call::CommCreate { communicator: 1, new: 2, first: 0, count: 50_000, stride: 1 });
    }
    fn splits(&self) -> bool {
        true
    }
}

#[test]
fn many_ranks_share_the_lists_of_a_division() {
    let splits = Splits::of(&Halves);
    for rank in 0..100_000 {
        let mut of_rank = Communicators::new(100_000, rank);
        let mut cursor = Cursor::default();
        while let Some(call) = cursor.next(&Halves, rank) {
            of_rank.apply(&call, &splits).unwrap();
        }
        assert_eq!(of_rank.size_and_rank(2), Ok((50_000, rank / 2)));
        let list = of_rank.members[2].as_ref().unwrap().group.list.as_ref().unwrap();
        assert!(Arc::strong_count(list) <= 4, "one list for all, kept by the splits");
    }
}

#[test]
fn strides_multiply() {
    let mut of_8 = Communicators::new(24, 8);
    let create = |new, communicator, first, count, stride| Call::CommCreate { communicator, new, first, count, stride };
    of_8.apply(&create(1, WORLD, 0, 6, 4), &Splits::default()).unwrap();
    of_8.apply(&create(2, 1, 0, 3, 2), &Splits::default()).unwrap();
    assert_eq!((0..3).map(|rank| of_8.job_rank(2, rank).unwrap()).collect::<Vec<_>>(), [0, 8, 16]);
    assert_eq!(of_8.size_and_rank(2), Ok((3, 1)));
    assert!(of_8.job_rank(2, 3).unwrap_err().contains("has ranks 0 to 2"));
    assert!(of_8.apply(&create(1, WORLD, 0, 6, 4), &Splits::default()).unwrap_err().contains("already exists"));
    assert!(of_8.apply(&create(3, WORLD, 1, 6, 4), &Splits::default()).unwrap_err().contains("outside of it"));
    assert!(of_8.apply(&create(3, 2, 1, 3, 1), &Splits::default()).unwrap_err().contains("which has 3"));
    of_8.apply(&Call::CommFree { communicator: 2 }, &Splits::default()).unwrap();
    assert_eq!(of_8.size_and_rank(2), Err("there is no communicator 2".into()));
    assert!(of_8.apply(&Call::CommFree { communicator: WORLD }, &Splits::default()).is_err());
}
