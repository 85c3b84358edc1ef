//! The pieces of a program text: loops with straight pieces as leaves.

use super::statement::{Action, Statement};
use odonata_expression::Expression;

/// Limit on nested loops. Each one needs an entry in [`Variables`].
pub(super) const MAX_DEPTH: usize = 8;

/// The rank, and the rounds of the enclosing loops.
pub(super) type Variables = [i64; 1 + MAX_DEPTH];

/// A part of a role.
#[derive(Clone, Debug)]
pub(super) enum Piece {
    /// A block.
    Straight(Vec<Statement>),
    /// A loop. Its count depends only on the rank.
    Loop { line: u32, times: Expression, variable: Option<usize>, body: Vec<Piece> },
}

/// Count of a loop.
pub(super) fn rounds(times: &Expression, variables: &Variables) -> u64 {
    times.of(variables).ok().and_then(|times| u64::try_from(times).ok()).unwrap_or(0)
}

/// Blocks of some pieces.
pub(super) fn blocks(pieces: &[Piece], variables: &Variables) -> u64 {
    pieces.iter().fold(0, |sum: u64, piece| sum.saturating_add(blocks_of(piece, variables)))
}

fn blocks_of(piece: &Piece, variables: &Variables) -> u64 {
    match piece {
        Piece::Straight(statements) => u64::from(!idle(statements, variables)),
        Piece::Loop { times, body, .. } => rounds(times, variables).saturating_mul(blocks(body, variables)),
    }
}

/// Whether a rank does nothing in these statements in any round. Then it has no block, and a loop of a million rounds
/// for other ranks costs it nothing.
fn idle(statements: &[Statement], variables: &Variables) -> bool {
    statements.iter().all(|statement| match &statement.action {
        Action::Repeat { body, .. } => idle(body, variables),
        Action::If { condition, then, otherwise } if !condition.depends_from(1) => {
            let holds = condition.of(variables).is_ok_and(|truth| truth != 0);
            idle(if holds { then } else { otherwise }, variables)
        }
        Action::OnStream { body, .. } => idle(body, variables),
        Action::WaitAllUnnamed => true,
        _ => false,
    })
}

/// The straight piece with this number. Sets the rounds of its loops.
pub(super) fn find<'a>(pieces: &'a [Piece], mut index: u64, variables: &mut Variables) -> Option<&'a [Statement]> {
    for piece in pieces {
        let length = blocks_of(piece, variables);
        if index >= length {
            index -= length;
            continue;
        }
        return match piece {
            Piece::Straight(statements) => Some(statements),
            Piece::Loop { variable, body, .. } => {
                let each = blocks(body, variables);
                if let Some(variable) = variable {
                    variables[*variable] = (index / each) as i64;
                }
                find(body, index % each, variables)
            }
        };
    }
    None
}
