//! Loops of programs, for fast-forward.

use serde::{Deserialize, Serialize};

/// How far some ranks are in the loops of their programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LoopProgress {
    /// Number of iterations that every rank has begun, and when the last rank began the last of them.
    pub reached: u64,
    /// That time.
    pub at_ps: u64,
    /// Number of iterations that some rank has begun.
    pub ahead: u64,
    /// Whether some rank has left its loop.
    pub is_left: bool,
    /// Number of iterations of the loop.
    pub iterations: u64,
    /// Number of ranks.
    pub ranks: u64,
}

impl LoopProgress {
    /// The progress of these ranks and of others.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        let (first, last) = if self.reached <= other.reached { (self, other) } else { (other, self) };
        Self {
            at_ps: if first.reached == last.reached { first.at_ps.max(last.at_ps) } else { first.at_ps },
            ahead: self.ahead.max(other.ahead),
            is_left: self.is_left || other.is_left,
            ranks: self.ranks + other.ranks,
            ..first
        }
    }
}

/// Iterations that a run skips.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SkippedIterations {
    /// How many times the repeated iterations stand for others.
    pub times: u64,
    /// Number of repeated iterations, and their time.
    pub iterations: u64,
    /// That time.
    pub period_ps: u64,
}

impl SkippedIterations {
    /// Skipped time.
    pub fn skipped_ps(&self) -> u64 {
        self.times * self.period_ps
    }

    /// Skipped iterations.
    pub fn skipped(&self) -> u64 {
        self.times * self.iterations
    }
}
