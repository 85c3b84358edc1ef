//! One rank in the check of its program.

use super::requests::Requests;
use super::sent::SentCounts;
use crate::call::Call;
use crate::expansion::{CallExpander, JobProgram};
use crate::message_counts::Sender;

/// An invalid call: its place, the problem, and what was expected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mistake(pub String);

/// A communicator of one rank.
#[derive(Clone, Copy, Debug)]
pub(super) struct OwnCommunicator {
    /// Equal for all ranks that created the same communicator.
    pub(super) identity: u64,
    /// Number of the call that created it. 0 for the world communicator.
    pub(super) made: u64,
    pub(super) size: u32,
    /// Fingerprint of all collectives so far.
    pub(super) calls: u64,
    pub(super) count: u32,
}

/// A rank in its program.
#[derive(Clone, Debug)]
pub(super) struct Walker {
    pub(super) rank: u32,
    pub(super) code: CallExpander,
    requests: Requests,
    /// Its communicators, by number.
    pub(super) owns: Vec<Option<OwnCommunicator>>,
    /// Counter of its messages, until the first execution ends.
    sender: Option<Sender>,
    /// The last call. Its peer is a rank of the job.
    pub(super) last: Option<Call>,
}

impl Walker {
    pub(super) fn new(shared: &JobProgram, rank: u32) -> Self {
        let ranks = shared.program.ranks();
        let world = OwnCommunicator { identity: 0, made: 0, size: ranks, calls: 0, count: 0 };
        let (requests, owns, sender) = (Requests::default(), vec![Some(world)], Some(Sender::default()));
        Self { rank, code: CallExpander::new(ranks, rank), requests, owns, sender, last: None }
    }

    /// Makes the next call; false at the end. Counts its messages in `sent`, if given.
    pub(super) fn step(&mut self, shared: &JobProgram, sent: Option<&mut SentCounts>) -> Result<bool, Mistake> {
        let Self { code, requests, sender, .. } = self;
        let next = match (sent, &mut *sender) {
            (Some(sent), Some(of)) => {
                let next = code.next_with_collectives(shared, |entered, times| {
                    // Each collective is counted once.
                    if entered.collective.rank == 0 && entered.collective.size > 1 {
                        sent.collective(shared, entered, times);
                    }
                });
                match &next {
                    // The end of the first execution, or of the only one.
                    Ok(None | Some(Call::Round)) => {
                        sent.hand_over(of);
                        *sender = None;
                    }
                    Ok(Some(call)) => sent.call(call, code.times(shared), of),
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

    /// Rank, number and line of the last call.
    fn place(&self, shared: &JobProgram) -> String {
        format!("rank {}, {}", self.rank, self.code.place(shared))
    }
}

/// The place of a call of a rank.
pub(super) fn place(shared: &JobProgram, rank: u32, call: u64) -> String {
    let mut walker = Walker::new(shared, rank);
    while walker.code.calls() < call && matches!(walker.step(shared, None), Ok(true)) {}
    walker.place(shared)
}
