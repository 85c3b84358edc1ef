//! What is recorded of ranks.

use odonata_units::{NodeId, Time};
use serde::{Deserialize, Serialize};

/// What kinds of calls a rank may wait in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum CallKind {
    /// Sends, blocking or not.
    Send,
    /// Receives, blocking or not.
    Receive,
    /// Waits and tests.
    Wait,
    /// Collectives, and calls about communicators.
    Collective,
}

impl CallKind {
    /// All of them, by number.
    pub const ALL: [Self; 4] = [Self::Send, Self::Receive, Self::Wait, Self::Collective];

    /// Its name in columns.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Send => "send",
            Self::Receive => "receive",
            Self::Wait => "wait",
            Self::Collective => "collective",
        }
    }
}

/// One rank.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RankRecord {
    /// Its job.
    pub job: u16,
    /// Its number in the job.
    pub rank: u32,
    /// Its node.
    pub node: NodeId,
    /// When it started.
    pub start: Time,
    /// When its program was at its end; `None` if it never was.
    pub end: Option<Time>,
    /// Rounds of a program that is run several times, as far as they are over.
    pub rounds: u64,
    /// Time in calls.
    pub communication: Time,
    /// Time in which it computed.
    pub compute: Time,
    /// Time in calls, by [`CallKind`].
    pub in_calls: [Time; 4],
    /// Of that, time from where it could not go on to where it could.
    pub blocked: [Time; 4],
    /// Calls.
    pub calls: u64,
    /// Messages that it sent, those of collectives included.
    pub messages: u64,
    /// Bytes of these.
    pub bytes: u64,
    /// Bytes on the wires for these, with everything that their protocols exchange.
    pub wire_bytes: u64,
    /// Bytes of messages that it received.
    pub received_bytes: u64,
    /// Phases that it marked, by number.
    pub phases: Vec<PhaseRecord>,
}

/// A phase of a rank, over all its times.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct PhaseRecord {
    /// How often it began.
    pub count: u64,
    /// Time from its beginnings to its ends.
    pub time: Time,
    /// Of that, time in calls.
    pub communication: Time,
}
