//! Checks a program before a run and counts its messages, in one walk over the calls of all ranks.
//!
//! It finds three kinds of mistakes:
//!
//! * invalid calls: an unknown rank or communicator, a request that was never started or is in use;
//! * collectives that the ranks of a communicator call in a different order or with different sizes;
//! * sends without receives.
//!
//! Only a run shows which message a wildcard matches, which ranks wait for each other, and whether a message is longer
//! than its receive.
//!
//! Ranks are walked in batches, a few calls of each in turn, because programs are fastest if ranks request the same
//! block at about the same time.

mod agreement;
mod balance;
mod collectives;
mod requests;
#[cfg(test)]
mod tests;
mod walker;

pub use collectives::CollectiveCount;
pub use walker::Mistake;

use crate::call::Call;
use crate::expansion::JobProgram;
use crate::message_counts::{MessageCounts, Sender};
use agreement::Agreement;
use balance::Balance;
use collectives::CollectiveCounts;
use odonata_trace::{TaskGraph, Work};
use std::collections::HashMap;
use walker::Walker;

/// Limit on the checked calls of a job: 1.4 s on one processor of 2.5 GHz. A larger limit checks longer programs but
/// delays the start.
pub const MAX_CALLS: u64 = 20_000_000;

/// Limit on counted calls inside collectives, per checked call.
const INNER_CALLS: u64 = 4;

/// Ranks of a batch, and calls of each rank per turn. A larger batch needs more memory; see the header.
const BATCH_RANKS: u32 = 1_024;
const TURN_CALLS: u32 = 64;

/// Results of the check of a program without invalid calls.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Examination {
    /// Description of sends without receives, and receives without sends.
    pub unmatched: Option<String>,
    /// Description of the unchecked part.
    pub left_out: Option<String>,
    /// Messages of one execution. `None` if there are too many to count here.
    pub sent: Option<MessageCounts>,
    /// Collectives of one execution, by what selects their algorithms. If a part was left out, only those before it.
    pub collectives: Vec<CollectiveCount>,
}

/// Results of earlier checks. Many points of a sweep have the same jobs.
#[derive(Default, Debug)]
pub struct ExaminationCache {
    /// By a description of everything that defines a program.
    examined: HashMap<String, Examination>,
}

impl ExaminationCache {
    /// Returns the stored result of a job, or calls `examine`.
    ///
    /// # Errors
    /// Errors of `examine`.
    pub fn get_or_examine(
        &mut self,
        job: String,
        examine: impl FnOnce() -> Result<Examination, Mistake>,
    ) -> Result<Examination, Mistake> {
        if let Some(examined) = self.examined.get(&job) {
            return Ok(examined.clone());
        }
        let examined = examine()?;
        self.examined.insert(job, examined.clone());
        Ok(examined)
    }
}

impl Examination {
    /// The result for a job that sends nothing.
    #[must_use]
    pub fn with_no_messages(self) -> Self {
        Self { sent: Some(MessageCounts::default()), collectives: Vec::new(), ..self }
    }
}

/// Checks the calls of all ranks, at most `most` in total.
///
/// # Errors
/// The first invalid call.
pub fn examine(shared: &JobProgram, most: u64) -> Result<Examination, Mistake> {
    let ranks = shared.program.ranks();
    let each = (most / u64::from(ranks.max(1))).max(1);
    let mut walk = Walk {
        shared,
        each,
        agreement: Agreement::default(),
        balance: Balance::new(),
        collectives: CollectiveCounts::default(),
        sent: Some(MessageCounts::default()),
        inner: most.saturating_mul(INNER_CALLS),
        is_truncated: false,
    };
    for first in (0..ranks).step_by(BATCH_RANKS as usize) {
        walk.walk_batch(first..ranks.min(first + BATCH_RANKS))?;
    }
    if let Some(reason) = shared.program.failure() {
        return Err(Mistake(reason));
    }
    let Walk { agreement, balance, collectives, sent, is_truncated, .. } = walk;
    let collectives = collectives.into_list();
    if is_truncated {
        let left_out = format!(
            "only the first {each} calls of each of its {ranks} ranks were checked; the run checks later calls, the agreement of \
             ranks on collectives, and unmatched messages"
        );
        return Ok(Examination { unmatched: None, left_out: Some(left_out), sent: None, collectives });
    }
    if !agreement.is_full {
        agreement.all_made(shared)?;
    }
    let mut examined = Examination { sent, collectives, ..Examination::default() };
    if agreement.is_full {
        examined.left_out = Some("it creates too many communicators to check all of their collectives".into());
    }
    if !balance.has_wildcards && !balance.is_balanced() {
        let mut unmatched = balance.unmatched();
        for rank in 0..ranks {
            let mut walker = Walker::new(shared, rank);
            while walker.step(shared, None)? {
                walker.last.iter().for_each(|call| unmatched.add(rank, call));
            }
        }
        examined.unmatched = Some(unmatched.words());
    }
    Ok(examined)
}

/// Counts the messages of a task graph and checks that each has its receive. Only a run shows which tasks wait for each
/// other.
pub fn examine_graph(graph: &TaskGraph) -> Examination {
    let calls = |rank: u32| graph.ranks[rank as usize].tasks().iter().filter_map(|task| call_of(task.work));
    let (mut balance, mut sent) = (Balance::new(), MessageCounts::default());
    for rank in 0..graph.ranks.len() as u32 {
        calls(rank).for_each(|call| balance.add(rank, &call));
        let mut sender = Sender::default();
        graph.sends(rank).for_each(|(to, bytes)| sender.send(to, bytes, &mut sent));
        sender.hand_over(&mut sent);
    }
    let mut examined = Examination { sent: Some(sent), ..Examination::default() };
    if !balance.has_wildcards && !balance.is_balanced() {
        let mut unmatched = balance.unmatched();
        for rank in 0..graph.ranks.len() as u32 {
            calls(rank).for_each(|call| unmatched.add(rank, &call));
        }
        examined.unmatched = Some(unmatched.words());
    }
    examined
}

/// A message of a task as a call.
fn call_of(work: Work) -> Option<Call> {
    match work {
        Work::Send { to, bytes, tag, communicator } => Some(Call::Send { to, bytes, tag, communicator }),
        Work::Receive { from, bytes, tag, communicator } => Some(Call::Recv { from, bytes, tag, communicator }),
        Work::Compute { .. } => None,
    }
}

struct Walk<'a> {
    shared: &'a JobProgram,
    /// Limit on calls of each rank.
    each: u64,
    agreement: Agreement,
    balance: Balance,
    collectives: CollectiveCounts,
    /// Message counts, and the remaining limit on calls inside collectives.
    sent: Option<MessageCounts>,
    inner: u64,
    is_truncated: bool,
}

impl Walk<'_> {
    /// Walks over some ranks.
    fn walk_batch(&mut self, ranks: std::ops::Range<u32>) -> Result<(), Mistake> {
        let mut walkers: Vec<Walker> = ranks.map(|rank| Walker::new(self.shared, rank)).collect();
        let mut mistake = Ok(());
        while mistake.is_ok() && !walkers.is_empty() {
            walkers.retain_mut(|walker| match self.walk_turn(walker) {
                _ if mistake.is_err() => false,
                Ok(continues) => continues,
                Err(found) => {
                    mistake = Err(found);
                    false
                }
            });
        }
        mistake
    }

    /// Walks over some calls of a rank. Returns whether more remain.
    fn walk_turn(&mut self, walker: &mut Walker) -> Result<bool, Mistake> {
        for _ in 0..TURN_CALLS {
            if !walker.step(self.shared, self.sent.as_mut().map(|sent| (sent, &mut self.inner)))? {
                if !self.is_truncated {
                    self.agreement.finish(self.shared, walker)?;
                }
                return Ok(false);
            }
            if walker.code.calls() > self.each {
                self.is_truncated = true;
                return Ok(false);
            }
            if self.inner == 0 {
                self.sent = None;
            }
            if let Some(call) = &walker.last {
                self.balance.add(walker.rank, call);
                if *call == Call::Round {
                    walker.is_repeating = true;
                } else if !walker.is_repeating {
                    self.collectives.add(self.shared, &walker.code, call);
                }
            }
            if !self.is_truncated {
                self.agreement.follow(self.shared, walker)?;
            }
        }
        Ok(true)
    }
}
