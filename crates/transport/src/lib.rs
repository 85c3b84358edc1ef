//! What sits on an endpoint of the packet engine: ranks of MPI programs, and what a message costs at hosts and interfaces.
//!
//! ```text
//! RankProgram ─► Rank (host: clock, calls, matching) ─► Outbox ─► packets ─► network ─► Inbox ─► Rank
//!  (workload)       eager · announcement, get, data, acknowledgement          (packet)
//! ```
//! [`Ranks`] is a program of the packet engine's socket: it runs every rank of its jobs as a state machine against its host's
//! clock. Messages up to [`MpiSettings::eager_limit`] go at once; longer ones are announced, asked for by the receiver, sent by
//! the interface without its host, and acknowledged. `docs/models/mpi.md` has every step with its time, and closed forms.

mod inbox;
mod matching;
mod outbox;
mod rank;
mod ranks;
mod record;
mod requests;
mod settings;
mod stuck;
mod wire;

pub use ranks::{RankJob, Ranks};
pub use record::{CallKind, PhaseRecord, RankRecord};
pub use settings::{MpiPreset, MpiSettings};
pub use stuck::why_stuck;
pub use wire::on_the_wire;
