//! Records of ranks.

use odonata_units::{NodeId, Time};
use serde::{Deserialize, Serialize};

/// Kinds of calls.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum CallKind {
    /// Sends, blocking or not.
    Send,
    /// Receives, blocking or not.
    Receive,
    /// Waits and tests.
    Wait,
    /// Collectives and calls that manage communicators.
    Collective,
}

impl CallKind {
    /// All kinds, by number.
    pub const ALL: [Self; 4] = [Self::Send, Self::Receive, Self::Wait, Self::Collective];

    /// Name in columns.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Send => "send",
            Self::Receive => "receive",
            Self::Wait => "wait",
            Self::Collective => "collective",
        }
    }
}

/// Record of a rank.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct RankRecord {
    /// Its job.
    pub job: u16,
    /// Number in the job.
    pub rank: u32,
    /// Its node.
    pub node: NodeId,
    /// Start time.
    pub start: Time,
    /// End of its program. `None` if the program did not end.
    pub end: Option<Time>,
    /// Completed rounds of a repeated program.
    pub rounds: u64,
    /// Time in calls.
    pub communication: Time,
    /// Time spent computing.
    pub compute: Time,
    /// Time in calls, by [`CallKind`].
    pub in_calls: [Time; 4],
    /// Time in which the rank was blocked, by [`CallKind`].
    pub blocked: [Time; 4],
    /// Number of calls.
    pub calls: u64,
    /// Messages sent, including messages of collectives.
    pub messages: u64,
    /// Payload of these messages, in bytes.
    pub bytes: u64,
    /// Part of it to the rank itself.
    pub self_bytes: u64,
    /// Part of it to other ranks of its node.
    pub on_node_bytes: u64,
    /// Part of it to other nodes of its router, if routers are known ([`Ranks::with_routers`](crate::Ranks::with_routers)).
    pub on_router_bytes: u64,
    /// Wire bytes of these messages, with all messages of their protocols.
    pub wire_bytes: u64,
    /// Bytes of received messages.
    pub received_bytes: u64,
    /// Marked phases, by number.
    pub phases: Vec<PhaseRecord>,
}

/// All executions of a phase.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct PhaseRecord {
    /// Number of executions.
    pub count: u64,
    /// Total time.
    pub time: Time,
    /// Part of it in calls.
    pub communication: Time,
}
