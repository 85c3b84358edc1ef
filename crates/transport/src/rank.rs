//! A rank: a state machine that runs its program on the host's clock.
//!
//! ```text
//!             ┌──────────────► ready ─── a call that has to wait ──► blocked ─┐
//!             │                  │                                  ▲  │ works off what comes
//!             │ leaves the call  │ any other call                   └──┘
//!             │                  ▼                                     │ what it waited for is done
//!             └──────────────  ending  ◄─────────────────────────────────┘
//!                works off what has come by the end of the call
//! ```
//! A rank's clock may be ahead of the network's clock. The rank runs to the end of a call and waits there for the
//! network's clock. Events for a computing rank stay in its list until the end of its next call.

mod messages;
mod state_machine;
mod stuck;
mod transfers;

pub(crate) use state_machine::{Rank, RankContext};
pub(crate) use transfers::Notice;
