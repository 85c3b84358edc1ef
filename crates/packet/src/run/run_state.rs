//! The state of a run, taken between two windows.
//!
//! Each partition is saved by the worker that advances it next, after it has taken in its mail: so there is no mail in a checkpoint, and
//! nobody waits for it. What a partition will be has nothing to do with who advances it; what is left of the run itself is how far it
//! is and the rows that its watcher was not pending_rows.

use super::rows::RowBuffer;
use crate::partition::Partition;
use odonata_checkpoint::{DecodeError, Reader, State, Writer};

/// Takes the parts of a state, from any thread and in any order: those of partitions under their numbers.
pub trait CheckpointSink: Sync {
    /// Takes a part.
    fn part(&self, number: u32, bytes: &[u8]);
}

/// Number of the part that is the run's own.
pub(crate) const RUN_PART: u32 = u32::MAX;

/// What the run itself goes on from.
pub(crate) struct RunState {
    /// When the last window ended, when the next one will, and events so far.
    pub(super) now: u64,
    pub(super) until: u64,
    pub(super) events: u64,
    /// Rows that are for the watcher.
    pub(super) pending_rows: RowBuffer,
}

impl RunState {
    pub(super) fn encode((now, until): (u64, u64), events: u64, pending_rows: &RowBuffer) -> Vec<u8> {
        let mut into = Writer::default();
        into.put(&(now, until, events, pending_rows));
        into.into_bytes()
    }

    pub(crate) fn load(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut from = Reader::new(bytes);
        let (now, until, events, pending_rows) = from.get()?;
        from.end()?;
        if now >= until {
            return Err(DecodeError(format!("a window from {now} to {until} ps")));
        }
        Ok(Self { now, until, events, pending_rows })
    }
}

/// A partition's part.
pub(super) fn save_partition(partition: &Partition) -> Vec<u8> {
    let mut into = Writer::default();
    partition.save(&mut into);
    into.into_bytes()
}
