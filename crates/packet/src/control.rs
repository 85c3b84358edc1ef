//! Congestion control at NICs: between the endpoints and the network.
//!
//! ```text
//! endpoint ─► control at NIC ═════► network ═════► last router ═► ejection port ─► node
//!             one queue per               │ marks    port control                    │
//!             destination ◄──────── notices: hold, credit, release ◄───┘              │
//!                         ◄──────────────────── acknowledgements ◄────────────────────┘
//! ```
//! | file | content |
//! |---|---|
//! | `settings` | keys |
//! | `nic` | the NIC's side: queues of held packets, windows, credits |
//! | `port` | the last router's side: congested ejection ports and their sources |
//! | `latency` | idle latencies, with which notices travel |
//! | `partition/control` | what happens at which event |
//!
//! `docs/decisions/congestion-control.md` explains the rules and their limits.

mod latency;
mod nic;
mod port;
mod record;
mod settings;

pub(crate) use latency::PathLatencies;
pub(crate) use nic::{NicControl, Notice, NoticeKind, PairLimits, Rules};
pub(crate) use port::{PortControl, PortRate};
pub use record::ControlRecord;
pub(crate) use record::{ControlRecords, PairKey};
pub use settings::{ControlName, ControlSettings, WindowRule};
