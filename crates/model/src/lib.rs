//! Closed forms: the cost of messages from their counts and measured constants.
//!
//! Pure functions on plain data. Nothing here reads files or simulates.
//!
//! * [`pricing`]: the trait of a closed form. [`FORMS`] lists the forms of this crate, which price the jobs of a
//!   workload rank by rank on a built machine.
//! * [`message`]: postal, LogGP and max-rate costs of any list of messages, per rank, with terms for hops and matching.
//! * [`node_aware`]: the same data in two or three steps with fewer messages between nodes.
//! * [`Constants`]: measured constants of a machine, with [`figures`] of its network: hops and links of dragonflies,
//!   fat trees and tori in closed form. [`message`] also accepts other hop counts, for example of a built machine.
//!
//! All times are `f64` seconds (field names end in `_s`), because they are formulas over measured constants. Nothing is
//! accumulated over events. Bandwidths are in bytes per second, sizes in bytes.

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
