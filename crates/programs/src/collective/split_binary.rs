//! A split binary tree: each half of the message goes down one subtree of the root, then the subtrees exchange halves.
//!
//! Counted from the root, rank i on level l (ranks 2^l - 1 to 2^(l+1) - 2) has the children i + 2^l and i + 2 x 2^l. So
//! odd ranks are left and even ranks right. The first half goes left, the second right. Then ranks 2j - 1 and 2j
//! exchange; if p is even, the last rank gets the second half from the root. Each rank but the root receives n bytes in
//! two messages. A message of less than two bytes takes the [chain](super::chain), as in Open MPI.

use super::algorithm::{exchange, Algorithm, Collective};
use super::chain::Chain;
use super::recursive_doubling::pass;
use super::totals::Totals;
use crate::call::Operation;
use crate::code::Code;

/// The algorithm.
#[derive(Debug)]
pub(super) struct SplitBinary;

impl Algorithm for SplitBinary {
    fn operations(&self) -> &'static [Operation] {
        &[Operation::Broadcast]
    }

    fn step(&self, collective: &Collective<'_>, index: u64, code: &mut Code) -> bool {
        if collective.size == 1 || collective.bytes.0 < 2 {
            return Chain.step(collective, index, code);
        }
        match index {
            0 => down(collective, code),
            1 => swap(collective, code),
            _ => return false,
        }
        true
    }

    fn totals(&self, collective: &Collective<'_>) -> Totals {
        if collective.bytes.0 < 2 {
            return Chain.totals(collective);
        }
        let size = u64::from(collective.size);
        // Down to odd and to even places. Then pairs of places exchange, and a last place gets its half from the root.
        let (odd, even, pairs) = (size / 2, (size - 1) / 2, (size - 1) / 2);
        let single = u64::from(size % 2 == 0);
        Totals::of(collective.part(2, 0), odd + pairs, 2 * (size - 1))
            .with(collective.part(2, 1), even + pairs + single)
    }
}

fn down(collective: &Collective<'_>, code: &mut Code) {
    let place = collective.place();
    // Half 0 belongs to odd places.
    let half_of = |place: u32| collective.part(2, (place + 1) % 2);
    let width = 1 << (place + 1).ilog2();
    if place > 0 {
        // The level above is half as wide and ends before place `width - 1`.
        let near = place - width / 2;
        let parent = if near < width - 1 { near } else { place - width };
        code.recv(collective.rank_at(parent), half_of(place), 0);
    }
    for child in [place + width, place + 2 * width].into_iter().filter(|child| *child < collective.size) {
        code.send(collective.rank_at(child), half_of(child), 0);
    }
}

fn swap(collective: &Collective<'_>, code: &mut Code) {
    let (place, last) = (collective.place(), collective.size - 1);
    let (first, second) = (collective.part(2, 0), collective.part(2, 1));
    if last % 2 == 1 && (place == 0 || place == last) {
        pass(collective, collective.root, collective.rank_at(last), second, code);
    } else if place % 2 == 1 {
        let pair = collective.rank_at(place + 1);
        exchange(code, pair, first, pair, second);
    } else if place > 0 {
        let pair = collective.rank_at(place - 1);
        exchange(code, pair, second, pair, first);
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_help::{check, each_size, Case};
    use super::*;

    #[test]
    fn messages_and_bytes() {
        each_size(|p| {
            let others = u64::from(p - 1);
            let report = check(&SplitBinary, Case::of(Operation::Broadcast, p, 1001));
            assert_eq!(report.totals(), (2 * others, 1001 * others));
            assert_eq!(check(&SplitBinary, Case::of(Operation::Broadcast, p, 1)).totals(), (others, others));
        });
    }
}
