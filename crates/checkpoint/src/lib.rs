//! The state of a run as bytes.
//!
//! ```text
//! engine ── State::save ─► Writer ─► parts ─► CheckpointWriter ─► one file
//! one file ─► CheckpointReader ─► parts ─► Reader ── State::load ─► rebuilt engine
//! ```
//! An engine rebuilds everything that follows from the experiment: tables, sizes, neighbors. The rest is [`State`],
//! which is saved, and loaded in place. [`state!`] assigns every field of a struct to one of the two, and does not
//! compile if a field is missing. `docs/decisions/checkpoints.md` defines the state, the times of checkpoints and the
//! content of a file.
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
mod snapshot;
mod state;

pub use encoding::{DecodeError, Reader, Writer};
pub use file::{with_digest, CheckpointError, CheckpointReader, CheckpointWriter, FORMAT};
pub use snapshot::{add_advance, Advances, CounterClass, CounterOwner, Difference, Snapshot};
pub use state::{load_same_length, State};
