//! Cuts statements into straight pieces and loops.
//!
//! The piece that starts an unnamed request must also wait for it, because the next piece numbers its own requests. So
//! a loop whose rounds leave such requests open is unrolled into its piece, and so are the loops of a stream's block.

use super::piece::Piece;
use super::statement::{Action, CompletionMode, Message, Statement};
use odonata_expression::{Expression, Mistake, Operator};

/// The line of a request without a wait after these statements.
fn open_after(statements: &[Statement], mut open: Option<u32>) -> Option<u32> {
    for Statement { line, action } in statements {
        open = match action {
            Action::Message(Message { waiting: CompletionMode::Unnamed, .. })
            | Action::Collective { waiting: CompletionMode::Unnamed, .. } => Some(*line),
            Action::WaitAllUnnamed => None,
            Action::Repeat { body, .. } => open_after(body, open).or(open),
            Action::OnStream { body, .. } => open_after(body, open),
            Action::If { then, otherwise, .. } => open_after(then, open).or_else(|| open_after(otherwise, open)),
            _ => open,
        };
    }
    open
}

/// Whether a part of the statement must be a separate loop.
fn has_loop(statement: &Statement) -> bool {
    match &statement.action {
        Action::Repeat { body, .. } => open_after(body, None).is_none(),
        Action::If { then, otherwise, .. } => then.iter().chain(otherwise).any(has_loop),
        _ => false,
    }
}

/// The pieces of some statements.
pub(super) fn pieces(statements: Vec<Statement>) -> Result<Vec<Piece>, Mistake> {
    let mut pieces = Vec::new();
    let mut straight = Vec::new();
    for statement in statements {
        if !has_loop(&statement) {
            straight.push(statement);
            continue;
        }
        flush(&mut straight, &mut pieces)?;
        let line = statement.line;
        match statement.action {
            Action::Repeat { times, variable, body } => {
                let body = self::pieces(body)?;
                pieces.push(Piece::Loop { line, times, variable: Some(variable), body });
            }
            Action::If { condition, then, otherwise } => {
                if condition.depends_from(1) {
                    let reason = "a loop inside a condition that depends on the round of another loop; write the \
                        condition inside the loop";
                    return Err(Mistake::new(line, 1, reason.into()));
                }
                let opposite =
                    Expression::Binary(Operator::Equal, Box::new(condition.clone()), Box::new(Expression::Value(0)));
                for (times, body) in [(condition, then), (opposite, otherwise)] {
                    let body = self::pieces(body)?;
                    if !body.is_empty() {
                        pieces.push(Piece::Loop { line, times, variable: None, body });
                    }
                }
            }
            _ => unreachable!("only these have loops"),
        }
    }
    flush(&mut straight, &mut pieces)?;
    Ok(pieces)
}

fn flush(straight: &mut Vec<Statement>, pieces: &mut Vec<Piece>) -> Result<(), Mistake> {
    if let Some(line) = open_after(straight, None) {
        let reason = "no wait for this request before the next loop starts, its round ends or the program ends; add \
            `waitall`, or name it: `requests r` at the top, `as r` here";
        return Err(Mistake::new(line, 1, reason.into()));
    }
    if !straight.is_empty() {
        pieces.push(Piece::Straight(std::mem::take(straight)));
    }
    Ok(())
}
