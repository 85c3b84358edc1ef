//! Closed forms: what messages cost on a network, from counts of them and measured constants.
//!
//! Pure functions over plain data; nothing here reads files or simulates.
//!
//! * [`pricing`]: what a closed form is; [`FORMS`] are those of this crate, which price the jobs of a workload rank by
//!   rank on a built machine.
//! * [`message`]: postal, LogGP and max-rate costs of any list of messages, per rank, with terms for hops and for
//!   matching.
//! * [`node_aware`]: the same data in two or three steps with fewer messages between nodes.
//! * [`Constants`]: what is measured on a machine, with [`figures`] of its network: hops and links of dragonflies, fat
//!   trees and tori in closed form. [`message`] takes any other count of hops as well, such as that of a built machine.
//!
//! All times are `f64` seconds (field names end in `_s`): these are formulas over measured constants, not clocks, and
//! nothing is accumulated over events. Bandwidths are bytes per second, sizes bytes.

mod constants;
mod error;
pub mod figures;
mod forms;
mod hops;
pub mod message;
pub mod node_aware;
pub mod pricing;
mod ranks;

pub use constants::{Constants, Mix};
pub use error::{at_least, positive, ModelError};
pub use figures::{DragonflyFigures, FatTreeFigures, NetworkFigures, TorusFigures};
pub use forms::{CommonParameters, LogGpForm, MaxRateForm, PostalForm, FORMS};
pub use hops::HopCounts;
