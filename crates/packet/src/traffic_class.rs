//! Traffic classes: virtual channels, buffer space and a share of every link for some jobs or messages.
//!
//! ```text
//! messages of class 0 ─► NIC queue, credits ─┐ priority, token bucket,  ┌─► channels 0 .. V-1  ─► ...
//! messages of class 1 ─► NIC queue, credits ─┴ deficit round robin ─────┴─► channels V .. 2V-1 ─► ...
//! ```
//! | file | content |
//! |---|---|
//! | `settings` | keys |
//! | `server` | which class a link serves next |
//! | `partition/classes` | the classes at NICs and output ports |
//!
//! `docs/decisions/traffic-classes.md` explains the design.

mod server;
mod settings;

pub(crate) use server::{Charge, ClassServer, LinkTimes};
pub use settings::{ClassPreset, ClassSettings, JobClass, TrafficClass, TrafficClasses, CLASSES_MAX};
