//! One rank in the check of its program.

use super::requests::Requests;
use crate::call::Call;
use crate::expansion::{CallExpander, JobProgram};
use crate::message_counts::{MessageCounts, Sender};

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
    /// Whether the first execution has ended.
    pub(super) is_repeating: bool,
    /// The last call. Its peer is a rank of the job.
    pub(super) last: Option<Call>,
}

impl Walker {
    pub(super) fn new(shared: &JobProgram, rank: u32) -> Self {
        let ranks = shared.program.ranks();
        let world = OwnCommunicator { identity: 0, made: 0, size: ranks, calls: 0, count: 0 };
        let (requests, owns, sender) = (Requests::default(), vec![Some(world)], Some(Sender::default()));
        Self { rank, code: CallExpander::new(ranks, rank), requests, owns, sender, is_repeating: false, last: None }
    }

    /// Makes the next call; false at the end. Adds its messages to `sent`, if given, and subtracts calls inside
    /// collectives from the limit.
    pub(super) fn step(
        &mut self,
        shared: &JobProgram,
        sent: Option<(&mut MessageCounts, &mut u64)>,
    ) -> Result<bool, Mistake> {
        let Self { code, requests, sender, .. } = self;
        let next = match (sent, &mut *sender) {
            (Some((sent, inner)), Some(of)) => {
                let see = |call: &Call| {
                    *inner = inner.saturating_sub(1);
                    count(call, of, sent);
                };
                let next = code.next_call(shared, Some(see));
                match &next {
                    // The end of the first execution, or of the only one.
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

    /// Rank, number and line of the last call.
    fn place(&self, shared: &JobProgram) -> String {
        format!("rank {}, {}", self.rank, self.code.place(shared))
    }
}

/// Counts the messages of a call.
fn count(call: &Call, sender: &mut Sender, sent: &mut MessageCounts) {
    if let Call::Send { to, bytes, .. } | Call::Isend { to, bytes, .. } | Call::Put { to, bytes } = *call {
        sender.send(to, bytes, sent);
    }
}

/// The place of a call of a rank.
pub(super) fn place(shared: &JobProgram, rank: u32, call: u64) -> String {
    let mut walker = Walker::new(shared, rank);
    while walker.code.calls() < call && matches!(walker.step(shared, None), Ok(true)) {}
    walker.place(shared)
}
