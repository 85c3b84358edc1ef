//! Endpoints that had not finished at the end of a run.

use odonata_units::{NodeId, Time};
use serde::{Deserialize, Serialize};

/// Activity of an unfinished endpoint.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Activity {
    /// It computes, or waits on purpose.
    Computing {
        /// End of the computation.
        until: Time,
    },
    /// Its host works on a call: it matches or copies messages, or sets up a message.
    InCall {
        /// End of this work.
        until: Time,
        /// Description of the call.
        what: String,
    },
    /// It has more to send.
    Sending {
        /// Messages that are not completely sent.
        messages: u64,
    },
    /// It waits for an event that did not happen.
    Waiting {
        /// Start of the wait.
        since: Time,
        /// Rank that it waits for, if any.
        peer: Option<u32>,
        /// Description of the event.
        what: String,
    },
    /// It made an invalid call and cannot continue.
    Failed {
        /// Description of the call and the mistake.
        what: String,
    },
}

/// An endpoint that is unfinished at the end of a run.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct UnfinishedEndpoint {
    /// Job.
    pub job: u16,
    /// Rank, if ranks have numbers.
    pub rank: Option<u32>,
    /// Node.
    pub node: NodeId,
    /// Activity at the end.
    pub activity: Activity,
}
