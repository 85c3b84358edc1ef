//! The state of a run, taken between two windows.
//!
//! Each partition is saved by the worker that advances it next, after it has taken in its mail: so there is no mail in a checkpoint, and
//! nobody waits for it. What a partition will be has nothing to do with who advances it; what is left of the run itself is how far it
//! is and the rows that its watcher was not given.

use super::rows::Handed;
use crate::partition::Partition;
use odonata_checkpoint::{Damaged, Reader, State, Writer};

/// Takes the parts of a state, from any thread and in any order: those of partitions under their numbers.
pub trait Vault: Sync {
    /// Takes a part.
    fn part(&self, number: u32, bytes: &[u8]);
}

/// Number of the part that is the run's own.
pub(crate) const RUN: u32 = u32::MAX;

/// What the run itself goes on from.
pub(crate) struct Kept {
    /// When the last window ended, when the next one will, and events so far.
    pub(super) now: u64,
    pub(super) until: u64,
    pub(super) events: u64,
    /// Rows that are for the watcher.
    pub(super) given: Handed,
}

impl Kept {
    pub(super) fn saved((now, until): (u64, u64), events: u64, given: &Handed) -> Vec<u8> {
        let mut into = Writer::default();
        into.put(&(now, until, events, given));
        into.into_bytes()
    }

    pub(crate) fn load(bytes: &[u8]) -> Result<Self, Damaged> {
        let mut from = Reader::new(bytes);
        let (now, until, events, given) = from.get()?;
        from.end()?;
        if now >= until {
            return Err(Damaged(format!("a window from {now} to {until} ps")));
        }
        Ok(Self { now, until, events, given })
    }
}

/// A partition's part.
pub(super) fn saved(partition: &Partition) -> Vec<u8> {
    let mut into = Writer::default();
    partition.save(&mut into);
    into.into_bytes()
}
