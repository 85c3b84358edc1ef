//! Memory: what this process may still take, and whether a run fits into it.
//!
//! [`available`] says what is left, of which limit. A [`Guard`] compares what a run needs with it.

mod available;
mod guard;

pub use available::{
    address_space, admit_machine, admit_ranks, available, available_below, resident_bytes, AvailableMemory,
};
pub use guard::{Guard, Need, TooMuch, LIBRARIES_BYTES};
