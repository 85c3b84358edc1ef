//! Checks a program before a run. It evaluates every expression in the first and last round of its loops, for ranks at
//! both ends of each role. This finds values that grow or shrink with the round. The run finds the rest.

use super::piece::{blocks, Piece, Variables};
use super::statement::{Action, Message, Statement};
use super::tree::TextProgram;
use crate::call::WORLD;
use odonata_expression::{Expression, Mistake};

/// Ranks of a role that are checked, from both ends. More would delay large jobs.
const MAX_RANKS: u32 = 2048;

/// Limit on calls of a block, because every rank may store them all.
const MAX_CALLS: u64 = 1 << 20;

/// Ranks whose vector sizes are checked pairwise, from both ends of the job.
const MAX_PAIRED: u32 = 64;

pub(super) fn check(program: &TextProgram) -> Result<(), Mistake> {
    let middle = MAX_PAIRED..=program.ranks.saturating_sub(MAX_PAIRED + 1);
    let ends = || (0..program.ranks).filter(|rank| !middle.contains(rank)).map(i64::from);
    for (line, size) in &program.sizes {
        for (from, to) in ends().flat_map(|from| ends().map(move |to| (from, to))) {
            let mistake = |reason: String| Mistake::new(*line, 1, format!("{reason} from rank {from} to {to}"));
            let size = size.of(&[from, to]).map_err(|reason| mistake(format!("the size has {reason}")))?;
            if size < 0 {
                return Err(mistake(format!("the size is {size}, expected at least 0,")));
            }
        }
    }
    for role in &program.roles {
        let middle = role.first.saturating_add(MAX_RANKS)..=role.last.saturating_sub(MAX_RANKS);
        for rank in (role.first..=role.last).filter(|rank| !middle.contains(rank)) {
            let mut variables = Variables::default();
            variables[0] = rank.into();
            let check = Check { ranks: program.ranks };
            let body = program.body(rank);
            check.pieces(body, &mut variables)?;
            if blocks(body, &variables) == u64::MAX {
                let line = if let Some(Piece::Loop { line, .. }) = body.first() { *line } else { 1 };
                return Err(Mistake::new(line, 1, format!("rank {rank} has more rounds than supported")));
            }
        }
    }
    Ok(())
}

struct Check {
    ranks: u32,
}

impl Check {
    fn pieces(&self, pieces: &[Piece], variables: &mut Variables) -> Result<(), Mistake> {
        for piece in pieces {
            match piece {
                Piece::Straight(statements) => {
                    self.statements(statements, variables)?;
                }
                Piece::Loop { line, times, variable, body } => {
                    for round in self.ends(*line, times, variables)? {
                        if let Some(variable) = variable {
                            variables[*variable] = round;
                        }
                        self.pieces(body, variables)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The first and the last round.
    fn ends(&self, line: u32, times: &Expression, variables: &Variables) -> Result<Vec<i64>, Mistake> {
        let times = self.within(line, times, variables, i64::from(u32::MAX), "the count")?;
        let mut ends = vec![0, times - 1];
        ends.dedup();
        ends.truncate(times as usize);
        Ok(ends)
    }

    /// Checks the statements of a block. Returns the maximum number of calls.
    fn statements(&self, statements: &[Statement], variables: &mut Variables) -> Result<u64, Mistake> {
        let mut calls = 0u64;
        for Statement { line, action } in statements {
            calls += match action {
                Action::Repeat { times, variable, body } => {
                    let mut most = 0;
                    for round in self.ends(*line, times, variables)? {
                        variables[*variable] = round;
                        most = most.max(self.statements(body, variables)?);
                    }
                    let times = times.of(variables).unwrap_or(0).max(0) as u64;
                    // A round takes time even without calls.
                    most.max(1).saturating_mul(times)
                }
                Action::If { condition, then, otherwise } => {
                    let holds = self.value(*line, condition, variables, "the condition")? != 0;
                    self.statements(if holds { then } else { otherwise }, variables)?
                }
                Action::OnStream { body, .. } => 2 + self.statements(body, variables)?,
                single => {
                    self.single(*line, single, variables)?;
                    1
                }
            };
            if calls > MAX_CALLS {
                let reason = format!("more than {MAX_CALLS} calls before a wait for requests without names");
                return Err(Mistake::new(*line, 1, reason));
            }
        }
        Ok(calls)
    }

    fn single(&self, line: u32, action: &Action, variables: &Variables) -> Result<(), Mistake> {
        let rank = |expression: &Expression, communicator: u16, what: &str| {
            // Other communicators may have any number of ranks up to all.
            let most = i64::from(self.ranks) - 1;
            let communicator = if communicator == WORLD { "" } else { " of any communicator" };
            self.within(line, expression, variables, most, &format!("{what}, a rank{communicator},"))
        };
        let amount = |expression: &Expression, what: &str| self.within(line, expression, variables, i64::MAX, what);
        let small = |expression: &Expression, what: &str| {
            self.within(line, expression, variables, i64::from(u32::MAX) - 2, what)
        };
        match action {
            Action::Message(Message { peer, bytes, tag, communicator, .. }) => {
                if let Some(peer) = peer {
                    rank(peer, *communicator, "the peer")?;
                }
                amount(bytes, "the size")?;
                if let Some(tag) = tag {
                    small(tag, "the tag")?;
                }
            }
            Action::Wait(slot) | Action::Test(slot) => drop(self.value(line, &slot.index, variables, "the index")?),
            Action::Compute(time) | Action::Sleep(time) | Action::WaitUntil(time) => drop(amount(time, "the time")?),
            Action::Collective { root, bytes, communicator, .. } => {
                rank(root, *communicator, "the root")?;
                amount(bytes, "the size")?;
            }
            Action::Split { color, key, .. } => {
                small(color, "the color")?;
                small(key, "the key")?;
            }
            Action::Create { communicator, first, count, stride, .. } => {
                rank(first, *communicator, "the first")?;
                small(count, "the count")?;
                small(stride, "the stride")?;
            }
            Action::WaitAllUnnamed
            | Action::WaitAll(_)
            | Action::WaitAny(_)
            | Action::WaitSome(_)
            | Action::Mark(_)
            | Action::Free(_)
            | Action::Record(_)
            | Action::Await(_)
            | Action::OnStream { .. }
            | Action::Repeat { .. }
            | Action::If { .. } => {}
        }
        Ok(())
    }

    fn value(&self, line: u32, expression: &Expression, variables: &Variables, what: &str) -> Result<i64, Mistake> {
        expression
            .of(variables)
            .map_err(|reason| Mistake::new(line, 1, format!("{what} has {reason} for rank {}", variables[0])))
    }

    fn within(
        &self,
        line: u32,
        expression: &Expression,
        variables: &Variables,
        most: i64,
        what: &str,
    ) -> Result<i64, Mistake> {
        let value = self.value(line, expression, variables, what)?;
        if (0..=most).contains(&value) {
            return Ok(value);
        }
        let expected = if most == i64::MAX { "at least 0".into() } else { format!("from 0 to {most}") };
        let reason = format!("{what} is {value} for rank {}, expected {expected}", variables[0]);
        Err(Mistake::new(line, 1, reason))
    }
}
