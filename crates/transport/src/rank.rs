//! A rank: a lane that runs its program, and a host, its MPI library.
//!
//! ```text
//!             ┌──────────────► ready ─── a call that has to wait ──► blocked ─┐
//!             │                  │                                  ▲  │ works off what comes
//!             │ leaves the call  │ any other call                   └──┘
//!             │                  ▼                                     │ what it waited for is done
//!             └──────────────  ending  ◄─────────────────────────────────┘
//!                works off what has come by the end of the call
//! ```
//! The lane has the place in the program and the current call (`lane.rs`), the host everything that messages change
//! (`host.rs`). In a call the host works for the lane, and one clock holds for both.
//!
//! A rank's clock may be ahead of the network's clock. The rank runs to the end of a call and waits there for the
//! network's clock. Events for a computing rank stay in its list until the end of its next call. With asynchronous
//! progress the host handles them at once, on its own clock, and the rank waits for the network's clock after each
//! computation, too.
//!
//! A rank whose program is a task graph has several lanes (`tasks.rs`). It uses the same host, and of `lane.rs` only the
//! state of the rank as a whole.

mod collective_steps;
mod collectives;
mod followed_loop;
mod host;
mod lane;
mod messages;
mod skip;
mod snapshot;
mod state_machine;
mod stuck;
mod task_steps;
mod tasks;
mod transfers;

pub(crate) use skip::RankSums;
pub(crate) use state_machine::{Rank, RankContext};
pub(crate) use transfers::Notice;
