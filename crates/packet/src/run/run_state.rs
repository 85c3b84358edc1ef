//! State of a run between two windows.
//!
//! Each partition is saved by the worker that advances it next, after its mail was delivered. So a checkpoint
//! contains no mail, and no worker waits. The state of a partition does not depend on its worker. The run itself adds
//! its progress and the rows that its watcher has not got yet.

use super::rows::RowBuffer;
use crate::partition::Partition;
use odonata_checkpoint::{DecodeError, Reader, State, Writer};

/// Takes the parts of a checkpoint, from any thread and in any order. A partition's part has the number of the
/// partition.
pub trait CheckpointSink: Sync {
    /// Takes a part.
    fn part(&self, number: u32, bytes: &[u8]);
}

/// Checkpoints of a run.
pub(crate) struct RunCheckpoints<'a> {
    /// Destination of new ones.
    pub(crate) sink: Option<&'a dyn CheckpointSink>,
    /// State of the run that is resumed.
    pub(crate) resumed: Option<RunState>,
}

/// Number of the part with the run's own state.
pub(crate) const RUN_PART: u32 = u32::MAX;

/// State of the run itself.
pub(crate) struct RunState {
    /// End of the last window, end of the next one, and events so far.
    pub(super) now: u64,
    pub(super) until: u64,
    pub(super) events: u64,
    /// Rows for the watcher.
    pub(super) pending_rows: RowBuffer,
}

impl RunState {
    pub(super) fn encode(now: u64, until: u64, events: u64, pending_rows: &RowBuffer) -> Vec<u8> {
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

/// Encodes the state of a partition.
pub(super) fn save_partition(partition: &Partition) -> Vec<u8> {
    let mut into = Writer::default();
    partition.save(&mut into);
    into.into_bytes()
}
