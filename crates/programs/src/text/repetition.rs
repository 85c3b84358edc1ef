//! The loop of a program text whose rounds are equal, and the blocks that stand for all its blocks.

use super::piece::{blocks, rounds, Piece, Variables};
use super::statement::{Action, CompletionMode, Message, Slot, Statement};
use crate::rank_program::RankProgram;
use crate::repetition::Repetition;
use crate::representatives::Representatives;
use odonata_expression::Expression;

/// Limit on blocks that stand for others. A longer list saves little: most of its program is outside of the loop.
const MAX_REPRESENTATIVES: u64 = 4_096;

/// Blocks that stand for all, if all ranks have the same blocks and the same loop: the second round stands for the later
/// ones. The first round is its own: a request that it leaves open is a mistake in the second.
pub(super) fn representatives(program: &dyn RankProgram) -> Option<Representatives> {
    let of_rank = |rank: u32| Some((program.blocks(rank), program.repetition(rank)?));
    let (all, of) = of_rank(0)?;
    let end = of.blocks.checked_mul(of.iterations).and_then(|blocks| blocks.checked_add(of.first))?;
    let second = of.first + of.blocks;
    let left_out = of.blocks * of.iterations.checked_sub(2)?;
    if all - left_out > MAX_REPRESENTATIVES || (1..program.ranks()).any(|rank| of_rank(rank) != Some((all, of))) {
        return None;
    }
    let before = (0..second).map(|block| (block, 1));
    let repeated = (second..second + of.blocks).map(|block| (block, of.iterations - 1));
    let after = (end..all).map(|block| (block, 1));
    Some(Representatives::of(before.chain(repeated).chain(after)))
}

/// The longest outer loop of a rank whose rounds are equal. `None` if there is none, or if the rank waits for an
/// absolute time anywhere: then a round depends on when it runs.
pub(super) fn repetition(pieces: &[Piece], variables: &Variables) -> Option<Repetition> {
    if pieces.iter().any(|piece| statements_of(piece).any(waits_for_time)) {
        return None;
    }
    let mut first = 0;
    let mut longest: Option<Repetition> = None;
    for piece in pieces {
        let length = blocks(std::slice::from_ref(piece), variables);
        if let Piece::Loop { times, variable, body, .. } = piece {
            let varies = variable.is_some_and(|variable| body.iter().any(|piece| piece_depends(piece, variable)));
            let found = Repetition { first, blocks: blocks(body, variables), iterations: rounds(times, variables) };
            let is_longer = longest.is_none_or(|longest| found.iterations > longest.iterations);
            if !varies && found.blocks > 0 && is_longer {
                longest = Some(found);
            }
        }
        first += length;
    }
    longest
}

/// Statements of a piece, without those nested in others.
fn statements_of(piece: &Piece) -> Box<dyn Iterator<Item = &Statement> + '_> {
    match piece {
        Piece::Straight(statements) => Box::new(statements.iter()),
        Piece::Loop { body, .. } => Box::new(body.iter().flat_map(statements_of)),
    }
}

fn waits_for_time(statement: &Statement) -> bool {
    match &statement.action {
        Action::WaitUntil(_) => true,
        Action::Repeat { body, .. } | Action::OnStream { body, .. } => body.iter().any(waits_for_time),
        Action::If { then, otherwise, .. } => then.iter().chain(otherwise).any(waits_for_time),
        _ => false,
    }
}

fn piece_depends(piece: &Piece, variable: usize) -> bool {
    match piece {
        Piece::Straight(statements) => statements.iter().any(|statement| depends(statement, variable)),
        Piece::Loop { times, body, .. } => {
            times.depends_on(variable) || body.iter().any(|piece| piece_depends(piece, variable))
        }
    }
}

/// Whether a statement depends on the round of a loop.
fn depends(statement: &Statement, variable: usize) -> bool {
    let on = |expression: &Expression| expression.depends_on(variable);
    let slot = |slot: &Slot| slot.index.depends_on(variable);
    let mode = |mode: &CompletionMode| matches!(mode, CompletionMode::Named(named) if slot(named));
    match &statement.action {
        Action::Message(Message { peer, bytes, tag, waiting, .. }) => {
            peer.as_ref().is_some_and(on) || on(bytes) || tag.as_ref().is_some_and(on) || mode(waiting)
        }
        Action::Wait(of) | Action::Test(of) => slot(of),
        Action::Compute(time) | Action::Sleep(time) | Action::WaitUntil(time) => on(time),
        Action::Collective { root, bytes, waiting, .. } => on(root) || on(bytes) || mode(waiting),
        Action::Split { color, key, .. } => on(color) || on(key),
        Action::Create { first, count, stride, .. } => on(first) || on(count) || on(stride),
        Action::OnStream { body, .. } => body.iter().any(|statement| depends(statement, variable)),
        Action::Repeat { times, body, .. } => on(times) || body.iter().any(|statement| depends(statement, variable)),
        Action::If { condition, then, otherwise } => {
            on(condition) || then.iter().chain(otherwise).any(|statement| depends(statement, variable))
        }
        Action::WaitAllUnnamed
        | Action::WaitAll(_)
        | Action::WaitAny(_)
        | Action::WaitSome(_)
        | Action::Mark(_)
        | Action::Free(_)
        | Action::Record(_)
        | Action::Await(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::repetition::Repetition;
    use crate::{text, RankProgram};

    fn of(program: &str, rank: u32) -> Option<Repetition> {
        text::parse("p", program.as_bytes(), 4).unwrap().repetition(rank)
    }

    #[test]
    fn the_longest_loop_of_equal_rounds() {
        let two = "compute 1 us\nrepeat 5 as i:\n    barrier\nrepeat 9:\n    barrier\n    compute 1 us\n";
        assert_eq!(of(two, 0), Some(Repetition { first: 6, blocks: 1, iterations: 9 }));
        assert_eq!(of("repeat 9 as i:\n    compute i us\n    barrier\n", 0), None);
        assert_eq!(of("repeat 9 as i:\n    if (i > 3):\n        barrier\n", 0), None);
        let nested = "repeat 9 as i:\n    repeat 3 as j:\n        compute j us\n    barrier\n";
        assert_eq!(of(nested, 1), Some(Repetition { first: 0, blocks: 4, iterations: 9 }));
        assert_eq!(of("wait until 3 us\nrepeat 9:\n    barrier\n", 0), None, "an absolute time");
    }

    #[test]
    fn the_second_round_stands_for_later_ones() {
        let of = |program: &str, ranks: u32| {
            let blocks = text::parse("p", program.as_bytes(), ranks).unwrap().representatives()?.blocks;
            Some(blocks.iter().map(|block| (block.index, block.times)).collect::<Vec<_>>())
        };
        let program = "compute 1 us\nrepeat 9:\n    barrier\nrepeat 2 as i:\n    compute i us\n";
        let expected = vec![(0, 1), (1, 1), (2, 8), (10, 1), (11, 1)];
        assert_eq!(of(program, 4), Some(expected));
        assert_eq!(of("repeat 2:\n    barrier\n", 4), Some(vec![(0, 1), (1, 1)]));
        assert_eq!(of("repeat 1:\n    barrier\n", 4), None, "nothing repeats");
        assert_eq!(of("repeat 3 + rank:\n    compute 1 us\n", 4), None, "ranks differ");
        assert_eq!(of("repeat 5000 as i:\n    compute i us\nrepeat 6000:\n    barrier\n", 2), None, "too many");
    }
}
