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
mod estimate;
mod requests;
mod sent;
#[cfg(test)]
mod tests;
mod walker;

pub use collectives::CollectiveCount;
pub use walker::Mistake;

use crate::call::Call;
use crate::code::Code;
use crate::expansion::JobProgram;
use crate::message_counts::{MessageCounts, Sender};
use crate::sequence::Rounds;
use agreement::Agreement;
use balance::Balance;
use odonata_trace::{TaskGraph, Work};
use sent::SentCounts;
use std::collections::HashMap;
use walker::Walker;

/// Limit on the checked calls of all jobs: 0.7 s on one processor of 2.5 GHz. A larger limit checks longer programs but
/// delays the start.
pub const MAX_CALLS: u64 = 10_000_000;

/// Limit on calls of the blocks of a batch of ranks, which are in memory at the same time: about 50 MB.
const BATCH_CALLS: u64 = 2_000_000;

/// Blocks of a rank that show how long its blocks are: programs repeat few kinds of blocks.
const BATCH_BLOCKS: u64 = 8;

/// Parts of the limit for messages of vector forms, and for the estimate of a program that is too long. Smaller parts are
/// faster and less exact.
const VECTOR_STEPS: u64 = 4;
const ESTIMATE: u64 = 8;

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
    /// Messages of one execution.
    pub sent: MessageCounts,
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
        Self { sent: MessageCounts::default(), collectives: Vec::new(), ..self }
    }
}

/// Checks the calls of all ranks, at most `most` in total, of a program that runs once or `several` times. Of blocks that
/// send the same, one is looked at.
///
/// # Errors
/// The first invalid call.
pub fn examine(shared: &JobProgram, several: bool, most: u64) -> Result<Examination, Mistake> {
    let excerpt = shared.excerpt();
    let is_excerpt = excerpt.is_some();
    let (once, is_estimate) = excerpt.unwrap_or_else(|| (shared.clone(), false));
    let mut examined = if several {
        // Requests left open by the first round block the second.
        let examined = walk(&once.repeated(Rounds::Times(2)), most)?;
        // Unmatched messages are counted for one round.
        match examined.examination.unmatched {
            Some(_) => walk(&once, most).unwrap_or(examined),
            None => examined,
        }
    } else {
        walk(&once, most)?
    };
    if examined.is_truncated {
        examined.examination.sent = estimate::estimate(&once, is_excerpt, most / ESTIMATE);
    }
    examined.examination.sent.is_estimate |= is_estimate;
    Ok(examined.examination)
}

/// The check of a program, and whether it ended before the program.
struct WalkResult {
    examination: Examination,
    is_truncated: bool,
}

/// Ranks that are walked at the same time: fewer if their blocks are long.
fn batch_ranks(shared: &JobProgram) -> u32 {
    let mut code = Code::default();
    let last = shared.program.ranks().saturating_sub(1);
    let blocks = [0, last]
        .into_iter()
        .flat_map(|rank| (0..shared.program.blocks(rank).min(BATCH_BLOCKS)).map(move |block| (rank, block)));
    let longest = blocks.map(|(rank, block)| {
        code.clear();
        shared.program.block(rank, block, &mut code);
        code.calls().len() as u64
    });
    (BATCH_CALLS / longest.max().unwrap_or(0).max(1)).clamp(1, BATCH_RANKS.into()) as u32
}

/// Checks the calls of all ranks, at most `most`.
fn walk(shared: &JobProgram, most: u64) -> Result<WalkResult, Mistake> {
    let ranks = shared.program.ranks();
    let each = (most / u64::from(ranks.max(1))).max(1);
    let mut walk = Walk {
        shared,
        each,
        left: most,
        agreement: Agreement::default(),
        balance: Balance::new(),
        sent: SentCounts::new(most / VECTOR_STEPS),
        is_truncated: false,
    };
    let mut first = 0;
    let batch = batch_ranks(shared);
    while first < ranks && walk.left > 0 {
        walk.walk_batch(first..ranks.min(first.saturating_add(batch)))?;
        first = first.saturating_add(batch);
    }
    walk.is_truncated |= first < ranks;
    if let Some(reason) = shared.program.failure() {
        return Err(Mistake(reason));
    }
    let Walk { agreement, balance, sent, is_truncated, .. } = walk;
    let (collectives, sent) = sent.finish(ranks);
    if is_truncated {
        let left_out = format!(
            "only the first {each} calls of each of its {ranks} ranks were checked; the run checks later calls, the agreement of \
             ranks on collectives, and unmatched messages"
        );
        let examination = Examination { unmatched: None, left_out: Some(left_out), sent, collectives };
        return Ok(WalkResult { examination, is_truncated });
    }
    if !agreement.is_full {
        agreement.all_made(shared)?;
    }
    let mut examination = Examination { sent, collectives, ..Examination::default() };
    if agreement.is_full {
        examination.left_out = Some("it creates too many communicators to check all of their collectives".into());
    }
    if !balance.has_wildcards && !balance.is_balanced() {
        let mut unmatched = balance.unmatched();
        for rank in 0..ranks {
            let mut walker = Walker::new(shared, rank);
            while walker.step(shared, None)? {
                walker.last.iter().for_each(|call| unmatched.add(rank, call, walker.code.times(shared)));
            }
        }
        examination.unmatched = Some(unmatched.words());
    }
    Ok(WalkResult { examination, is_truncated })
}

/// Counts the messages of a task graph and checks that each has its receive. Only a run shows which tasks wait for each
/// other.
pub fn examine_graph(graph: &TaskGraph) -> Examination {
    let calls = |rank: u32| graph.ranks[rank as usize].tasks().iter().filter_map(|task| call_of(task.work));
    let (mut balance, mut sent) = (Balance::new(), MessageCounts::default());
    for rank in 0..graph.ranks.len() as u32 {
        calls(rank).for_each(|call| balance.add(rank, &call, 1));
        let mut sender = Sender::default();
        graph.sends(rank).for_each(|(to, bytes)| sender.send(to, bytes, 1, &mut sent));
        sender.hand_over(&mut sent);
    }
    let mut examined = Examination { sent, ..Examination::default() };
    if !balance.has_wildcards && !balance.is_balanced() {
        let mut unmatched = balance.unmatched();
        for rank in 0..graph.ranks.len() as u32 {
            calls(rank).for_each(|call| unmatched.add(rank, &call, 1));
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
    sent: SentCounts,
    /// Remaining limit on calls of started blocks.
    left: u64,
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
            if !walker.step(self.shared, Some(&mut self.sent))? {
                if !self.is_truncated {
                    self.agreement.finish(self.shared, walker)?;
                }
                return Ok(false);
            }
            self.left = self.left.saturating_sub(walker.code.begun_calls());
            if walker.code.calls() > self.each || self.left == 0 {
                self.is_truncated = true;
                return Ok(false);
            }
            if let Some(call) = &walker.last {
                self.balance.add(walker.rank, call, walker.code.times(self.shared));
            }
            if !self.is_truncated {
                self.agreement.follow(self.shared, walker)?;
            }
        }
        Ok(true)
    }
}
