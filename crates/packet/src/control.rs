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
//! | `notice` | what routers report to NICs |
//! | `packets` | notices as packets |
//! | `nic` | the NIC's side: queues of held packets, notices that arrive |
//! | `pairs`, `rules` | pairs of NICs: windows, rates, credits within `limits`; `nscc` and `dcqcn` have their equations |
//! | `port` | the last router's side: congested ejection ports and their sources; `merlin` alike with other rules; `port_rate` |
//! | `latency` | idle latencies, with which notices travel |
//! | `partition/control`, `partition/control_packets` | what happens at which event |
//!
//! `docs/decisions/congestion-control.md` explains the rules and their limits.

mod dcqcn;
mod latency;
mod limits;
mod merlin;
mod nic;
mod notice;
mod nscc;
mod packets;
mod pairs;
mod port;
mod port_rate;
mod record;
mod rules;
mod settings;

pub(crate) use latency::PathLatencies;
pub(crate) use limits::{PairLimits, UNLIMITED};
pub(crate) use nic::NicControl;
pub(crate) use notice::{Notice, NoticeKind};
pub(crate) use packets::ControlPacket;
pub(crate) use port::PortControl;
pub(crate) use port_rate::PortRate;
pub use record::{ControlInterval, ControlIntervalKey, ControlPacketCount, ControlRecord};
pub(crate) use record::{ControlRecords, IntervalKey, PairKey};
pub(crate) use rules::Rules;
pub(crate) use settings::MarkThresholds;
pub use settings::{ControlName, ControlRule, ControlSettings};
