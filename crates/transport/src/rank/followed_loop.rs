//! The loop of a rank's program while iterations may be skipped.

use crate::record::RankRecord;
use odonata_programs::Repetition;

/// A loop of a rank's program, and the record of the rank when it began the last iteration.
///
/// At one time some ranks have sent messages of an iteration and others have not. Between two of these records lie whole
/// iterations, so they count what the program does.
#[derive(Debug)]
pub(crate) struct FollowedLoop {
    repetition: Repetition,
    /// Blocks and iterations that it has begun.
    started: u64,
    begun: u64,
    record: RankRecord,
}

impl FollowedLoop {
    pub(crate) fn new(repetition: Repetition) -> Self {
        Self { repetition, started: 0, begun: 0, record: RankRecord::default() }
    }

    /// Looks at a rank that has begun so many blocks, and has done nothing of the last one.
    pub(super) fn follow(&mut self, started: u64, record: &RankRecord) {
        if started == self.started {
            return;
        }
        self.started = started;
        let begun = self.repetition.begun(started);
        if begun != self.begun {
            self.begun = begun;
            self.record.clone_from(record);
        }
    }

    /// Skips iterations, with all their blocks.
    pub(super) fn skip(&mut self, blocks: u64, iterations: u64) {
        self.started += blocks;
        self.begun += iterations;
    }

    /// The record when the rank began its last iteration.
    pub(super) fn record(&self) -> &RankRecord {
        &self.record
    }
}
