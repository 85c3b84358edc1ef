//! What is wrong with a program and what it sends, found without a run: one walk over the calls of all ranks.
//!
//! Found are calls that can't be (a rank or a communicator that is not there, a request that was never begun or is in use),
//! collectives that the ranks of a communicator call in another order or with another size, and sends without receives. Which
//! message a wildcard takes, who waits for whom, and whether a message is longer than its receive, only a run says.
//!
//! Ranks are walked through in parcels, a few calls of each in turn, as programs are fastest where ranks ask for the same
//! block at about the same time.

mod agreement;
mod balance;
mod requests;
#[cfg(test)]
mod tests;

use crate::expansion::{CallExpander, JobProgram};
use crate::message_counts::{MessageCounts, Sender};
use crate::program::Call;
use agreement::{Agreement, OwnCommunicators};
use balance::Balance;
use requests::Requests;
use std::collections::HashMap;

/// Calls of all ranks of a job that are looked at: 1.4 s on one processor of 2.5 GHz.
pub const MAX_CALLS: u64 = 20_000_000;

/// Calls inside of collectives that are counted for each of these.
const INNER_CALLS: u64 = 4;

/// Ranks that are walked through side by side, and calls of each in turn.
const BATCH_RANKS: u32 = 1_024;
const TURN_CALLS: u32 = 64;

/// A call that can't be: where, why, what was expected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Mistake(pub(crate) String);

/// What is known of a program in which every call can be.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Examination {
    /// Sends that nobody receives and receives of what nobody sends, in words.
    pub unmatched: Option<String>,
    /// What was not looked at, in words.
    pub left_out: Option<String>,
    /// What its ranks send when they run it once; `None` if that is too much to be counted here.
    pub sent: Option<MessageCounts>,
}

/// What was found of jobs that were looked through: many points of a sweep have the same ones.
#[derive(Default, Debug)]
pub struct ExaminationCache {
    /// By everything that a program is made of, in words.
    examined: HashMap<String, Examination>,
}

impl ExaminationCache {
    /// What is known of a job, or else what `examine` finds.
    pub(crate) fn get_or_examine(
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
    /// Of a job that holds its nodes and sends nothing.
    pub(crate) fn with_no_messages(self) -> Self {
        Self { sent: Some(MessageCounts::default()), ..self }
    }
}

/// Looks through the calls of all ranks, at most `most` of them.
pub(crate) fn examine(shared: &JobProgram, most: u64) -> Result<Examination, Mistake> {
    let ranks = shared.program.ranks();
    let each = (most / u64::from(ranks.max(1))).max(1);
    let mut walk = Walk {
        shared,
        each,
        agreement: Agreement::default(),
        balance: Balance::new(),
        sent: Some(MessageCounts::default()),
        inner: most.saturating_mul(INNER_CALLS),
        is_truncated: false,
    };
    for first in (0..ranks).step_by(BATCH_RANKS as usize) {
        walk.walk_batch(first..ranks.min(first + BATCH_RANKS))?;
    }
    let Walk { agreement, balance, sent, is_truncated, .. } = walk;
    if is_truncated {
        let left_out = format!(
            "of each of its {ranks} ranks the first {each} calls were looked at; whether later ones can be, ranks agree on \
             collectives and every send has its receive is not known before the run"
        );
        return Ok(Examination { unmatched: None, left_out: Some(left_out), sent: None });
    }
    if !agreement.is_full {
        agreement.all_made(shared)?;
    }
    let mut examined = Examination { sent, ..Examination::default() };
    if agreement.is_full {
        examined.left_out = Some("it makes too many communicators for all of their collectives to be looked at".into());
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

struct Walk<'a> {
    shared: &'a JobProgram,
    /// Calls of each rank.
    each: u64,
    agreement: Agreement,
    balance: Balance,
    /// What was sent so far, and how many calls inside of collectives may still be counted.
    sent: Option<MessageCounts>,
    inner: u64,
    is_truncated: bool,
}

impl Walk<'_> {
    /// Walks through some ranks.
    fn walk_batch(&mut self, ranks: std::ops::Range<u32>) -> Result<(), Mistake> {
        let mut walkers: Vec<Walker> = ranks.map(|rank| Walker::new(self.shared, rank)).collect();
        let mut mistake = Ok(());
        while mistake.is_ok() && !walkers.is_empty() {
            walkers.retain_mut(|walker| match self.walk_turn(walker) {
                _ if mistake.is_err() => false,
                Ok(goes_on) => goes_on,
                Err(found) => {
                    mistake = Err(found);
                    false
                }
            });
        }
        mistake
    }

    /// Some calls of a rank; whether there are more to look at.
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
            }
            if !self.is_truncated {
                self.agreement.follow(self.shared, walker)?;
            }
        }
        Ok(true)
    }
}

/// One rank on its way through its program.
#[derive(Clone, Debug)]
struct Walker {
    rank: u32,
    code: CallExpander,
    requests: Requests,
    owns: OwnCommunicators,
    /// What it sends, until it has run its program once.
    sender: Option<Sender>,
    /// The call that was made last; its peer is a rank of the job.
    last: Option<Call>,
}

impl Walker {
    fn new(shared: &JobProgram, rank: u32) -> Self {
        let ranks = shared.program.ranks();
        let (requests, owns, sender) = (Requests::default(), OwnCommunicators::new(ranks), Some(Sender::default()));
        Self { rank, code: CallExpander::new(ranks, rank), requests, owns, sender, last: None }
    }

    /// Makes the next call; false at the end. What it sends is counted into `sent`, if there is that, and calls inside of
    /// collectives are taken off the number beside it.
    fn step(&mut self, shared: &JobProgram, sent: Option<(&mut MessageCounts, &mut u64)>) -> Result<bool, Mistake> {
        let Self { code, requests, sender, .. } = self;
        let next = match (sent, &mut *sender) {
            (Some((sent, inner)), Some(of)) => {
                let see = |call: &Call| {
                    *inner = inner.saturating_sub(1);
                    count(call, of, sent);
                };
                let next = code.next_call(shared, Some(see));
                match &next {
                    // At the end of the first of several times, or of the only one.
                    Ok(None | Some(Call::Round)) => {
                        of.hand_over(sent);
                        *sender = None;
                    }
                    Ok(Some(call)) => count(call, of, sent),
                    Err(_) => {}
                }
                next
            }
            _ => code.next_call(shared, None::<fn(&Call)>),
        };
        let next = next.and_then(|call| {
            call.iter().try_for_each(|call| requests.follow(call))?;
            Ok(call)
        });
        match next {
            Ok(call) => {
                self.last = call;
                Ok(call.is_some())
            }
            Err(reason) => {
                let call = self.code.last().map_or_else(String::new, |call| call.to_string());
                Err(Mistake(format!("{}: {call}: {reason}", self.place(shared))))
            }
        }
    }

    /// Rank, call and line of what was called last.
    fn place(&self, shared: &JobProgram) -> String {
        format!("rank {}, {}", self.rank, self.code.place(shared))
    }
}

/// Counts what a call sends.
fn count(call: &Call, sender: &mut Sender, sent: &mut MessageCounts) {
    if let Call::Send { to, bytes, .. } | Call::Isend { to, bytes, .. } = *call {
        sender.send(to, bytes, sent);
    }
}

/// The place of a call of a rank.
fn place(shared: &JobProgram, rank: u32, call: u64) -> String {
    let mut walker = Walker::new(shared, rank);
    while walker.code.calls() < call && matches!(walker.step(shared, None), Ok(true)) {}
    walker.place(shared)
}
