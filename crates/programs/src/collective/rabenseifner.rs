//! Rabenseifner's algorithm (2004): combine by recursive halving, collect by recursive doubling.
//!
//! In round k of the first half each rank exchanges 1/2, 1/4, ... of the message with a partner p/2, p/4, ... away. It
//! combines the part that it keeps, and finally owns 1/p of the result. Allreduce collects the parts in reverse order:
//! 2 log2 p messages and 2 (p - 1)/p n bytes per rank. Reduce sends the parts to the root along a binomial tree.
//! [Recursive halving](super::recursive_halving) ends after the first half, with blocks as parts. If p is not a power of
//! two, ranks are [folded](super::fold): one more message in, and the result back.

use super::algorithm::{exchange, Algorithm, Collective};
use super::fold::Fold;
use super::recursive_doubling::pass;
use super::totals::Totals;
use crate::call::Operation;
use crate::code::Code;
use odonata_units::Bytes;

/// The algorithm.
#[derive(Debug)]
pub(super) struct Rabenseifner;

impl Algorithm for Rabenseifner {
    fn operations(&self) -> &'static [Operation] {
        &[Operation::Reduce, Operation::Allreduce]
    }

    fn step(&self, collective: &Collective<'_>, index: u64, code: &mut Code) -> bool {
        step(collective, index, code)
    }

    fn totals(&self, collective: &Collective<'_>) -> Totals {
        totals(collective)
    }
}

/// A step of a reduction, an allreduce or a reduce-scatter.
pub(super) fn step(collective: &Collective<'_>, index: u64, code: &mut Code) -> bool {
    let fold = Fold::of(collective);
    let rounds = u64::from(fold.rounds());
    let collects = if collective.operation == Operation::ReduceScatter { 0 } else { rounds };
    match index {
        0 => fold_in(collective, fold, code),
        _ if index <= rounds => halve(collective, fold, fold.members >> index, code),
        _ if index <= rounds + collects => collect(collective, fold, 1 << (index - rounds - 1), code),
        _ if index == rounds + collects + 1 => fold_out(collective, fold, code),
        _ => return false,
    }
    true
}

/// Messages of a reduction, an allreduce or a reduce-scatter.
pub(super) fn totals(collective: &Collective<'_>) -> Totals {
    let fold = Fold::of(collective);
    let left_out = u64::from(fold.left_out());
    let parts = |member, count| parts(collective, fold, member, count);
    let is_scatter = collective.operation == Operation::ReduceScatter;
    // Members below this number have larger parts.
    let larger = if is_scatter { fold.left_out() } else { (collective.bytes.0 % u64::from(fold.members)) as u32 };
    let halves = if collective.operation == Operation::Allreduce { 2 } else { 1 };
    let mut totals = Totals::of(parts(0, fold.members), left_out, fold.pairs());
    for distance in (0..fold.rounds()).map(|round| 1u32 << round) {
        // Every part of `distance` members is sent by as many members, or twice.
        for (first, count) in fold.kinds_of_blocks(distance, larger).into_iter().filter(|(_, count)| *count > 0) {
            totals = totals.with(parts(first, distance), halves * count * u64::from(distance));
        }
        if collective.operation == Operation::Reduce {
            let taker = taker(collective, fold);
            for number in 0..fold.members / (2 * distance) {
                let member = taker ^ (distance * (2 * number + 1));
                totals = totals.with(parts(member & !(distance - 1), distance), 1);
            }
        }
    }
    match collective.operation {
        Operation::ReduceScatter | Operation::Allreduce => totals.with(collective.bytes, left_out),
        _ => {
            let is_left_out = fold.pair(collective.root).is_some_and(|(low, _)| low == collective.root);
            totals.with(collective.bytes, is_left_out.into())
        }
    }
}

/// Bytes of the parts of `count` members from `member`.
fn parts(collective: &Collective<'_>, fold: Fold, member: u32, count: u32) -> Bytes {
    match collective.operation {
        Operation::ReduceScatter => {
            let (first, ranks) = fold.ranks(member, count);
            collective.blocks_of(first, ranks)
        }
        _ => {
            let before = |member: u32| {
                let (each, more) =
                    (collective.bytes.0 / u64::from(fold.members), collective.bytes.0 % u64::from(fold.members));
                u64::from(member) * each + u64::from(member).min(more)
            };
            Bytes(before(member + count) - before(member))
        }
    }
}

fn fold_in(collective: &Collective<'_>, fold: Fold, code: &mut Code) {
    if let Some((low, high)) = fold.pair(collective.rank) {
        pass(collective, low, high, parts(collective, fold, 0, fold.members), code);
    }
}

/// Members at `distance` exchange the halves of their remaining parts.
fn halve(collective: &Collective<'_>, fold: Fold, distance: u32, code: &mut Code) {
    let Some(member) = fold.member(collective.rank) else { return };
    let partner = member ^ distance;
    let half = |of: u32| parts(collective, fold, of & !(distance - 1), distance);
    let rank = fold.rank(partner);
    exchange(code, rank, half(partner), rank, half(member));
}

/// Members at `distance` exchange their parts. In a reduction only the one nearer to the root receives.
fn collect(collective: &Collective<'_>, fold: Fold, distance: u32, code: &mut Code) {
    let Some(member) = fold.member(collective.rank) else { return };
    let partner = member ^ distance;
    let has = |of: u32| parts(collective, fold, of & !(distance - 1), distance);
    let rank = fold.rank(partner);
    if collective.operation == Operation::Allreduce {
        return exchange(code, rank, has(member), rank, has(partner));
    }
    let away = member ^ taker(collective, fold);
    if away & (distance - 1) != 0 {
        return;
    }
    if away & distance != 0 {
        code.send(rank, has(member), 0);
    } else {
        code.recv(rank, has(partner), 0);
    }
}

/// The member that receives the result of a reduction: the root, or the member that represents it.
fn taker(collective: &Collective<'_>, fold: Fold) -> u32 {
    let rank = fold.pair(collective.root).map_or(collective.root, |(_, high)| high);
    fold.member(rank).expect("the second of a pair is a member")
}

fn fold_out(collective: &Collective<'_>, fold: Fold, code: &mut Code) {
    let Some((low, high)) = fold.pair(collective.rank) else { return };
    let bytes = match collective.operation {
        Operation::ReduceScatter => collective.block_of(low),
        Operation::Reduce if collective.root != low => return,
        _ => collective.bytes,
    };
    pass(collective, high, low, bytes, code);
}

#[cfg(test)]
mod tests {
    use super::super::test_help::{check, each_size, Case};
    use super::*;

    #[test]
    fn messages_and_bytes() {
        each_size(|p| {
            let n = 1024;
            let (members, log) = (1u64 << p.ilog2(), u64::from(p.ilog2()));
            let left_out = u64::from(p) - members;
            let totals = |operation| check(&Rabenseifner, Case::of(operation, p, n)).totals();
            // m members halve: (m - 1)/m n each, and collect as much.
            let halving = (members - 1) * n;
            assert_eq!(
                totals(Operation::Allreduce),
                (2 * members * log + 2 * left_out, 2 * halving + 2 * left_out * n)
            );
            let reduce = totals(Operation::Reduce);
            // The root is rank 0, which is folded if any rank is: one more message.
            let back = u64::from(left_out > 0);
            assert_eq!(reduce.0, members * log + members - 1 + left_out + back);
        });
    }

    #[test]
    fn each_rank_sends_the_least_possible() {
        let report = check(&Rabenseifner, Case::of(Operation::Allreduce, 8, 8000));
        assert!((0..8).all(|rank| report.bytes_of(rank) == 2 * 7 * 1000 && report.sends_of(rank) == 6));
    }
}
