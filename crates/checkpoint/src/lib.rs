//! The state of a run as bytes.
//!
//! ```text
//! engine ── State::save ─► Writer ─► parts ─► CheckpointWriter ─► one file ─► CheckpointReader ─► parts ─► Reader ── State::load ─► engine, built anew
//! ```
//! What an engine builds from an experiment (tables, sizes, who is beside whom) is built again; what has become of it since is
//! [`State`], saved and loaded in place. [`state!`] says of every field of a struct which of the two it is, and does not compile
//! when a new one is left out. `docs/decisions/checkpoints.md` says what is state, at which instants it is taken, and what a file holds.
//!
//! ```
//! use odonata_checkpoint::{state, Reader, State, Writer};
//!
//! struct Queue {
//!     room: u32,
//!     held: Vec<u64>,
//! }
//! state!(Queue { value: held; rebuilt: room });
//!
//! let queue = Queue { room: 4, held: vec![7, 9] };
//! let mut saved = Writer::default();
//! queue.save(&mut saved);
//! let mut again = Queue { room: 4, held: Vec::new() };
//! again.load(&mut Reader::new(&saved.into_bytes()))?;
//! assert_eq!(again.held, [7, 9]);
//! # Ok::<(), odonata_checkpoint::DecodeError>(())
//! ```

mod encoding;
mod file;
mod state;

pub use encoding::{DecodeError, Reader, Writer};
pub use file::{with_digest, CheckpointError, CheckpointReader, CheckpointWriter, FORMAT};
pub use state::{load_same_length, State};
