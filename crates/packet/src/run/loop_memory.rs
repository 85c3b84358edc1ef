//! What a partition remembers of the boundaries of a loop.

use super::director::{Boundary, LoopStep};
use super::verdict::Verdicts;
use crate::partition::Partition;
use crate::record::{IterationSpread, Part, RecordSums};
use odonata_checkpoint::Snapshot;
use std::any::Any;

/// A boundary: the sums of the records, and the state if it is compared.
struct Look {
    state: Option<Snapshot>,
    records: RecordSums,
    endpoints: Option<Box<dyn Any + Send>>,
}

/// The last boundary, and the one that it is compared with.
#[derive(Default)]
pub(super) struct LoopMemory {
    last: Option<Look>,
    earlier: Option<Look>,
    /// What the iterations of a sample added.
    spread: IterationSpread,
    /// Number of skipped iterations.
    skipped: u64,
}

impl LoopMemory {
    /// Does what is due at the start of the window after `now`, with all mail delivered.
    pub(super) fn step(
        &mut self,
        step: &LoopStep,
        now: u64,
        number: usize,
        partition: &mut Partition,
        verdicts: &Verdicts,
    ) {
        if step.samples {
            self.spread.look(&partition.recorder);
        }
        if let Some(boundary) = step.boundary {
            self.look(boundary, now, number, partition, verdicts);
        }
        let Some(skip) = &step.skip else { return };
        self.skipped = skip.skipped();
        if let (Some(earlier), Some(last)) = (self.earlier.take(), self.last.take()) {
            partition.recorder.repeat(&earlier.records, &last.records, skip.times);
            if let (Some(from), Some(to)) = (&earlier.endpoints, &last.endpoints) {
                partition.endpoints.skip(skip, &**from, &**to);
            }
        }
    }

    /// Adds the intervals of what was skipped.
    pub(super) fn add_intervals(self, part: &mut Part) {
        if self.skipped > 0 {
            part.half_width_bytes = self.spread.half_width_bytes(self.skipped);
            (part.latencies, part.cells) = self.spread.into_iterations();
        }
    }

    fn look(&mut self, of: Boundary, now: u64, number: usize, partition: &Partition, verdicts: &Verdicts) {
        if of.replaces {
            self.earlier = self.last.take();
        }
        let state = of.compares.then(|| partition.snapshot(now));
        if let Some(state) = &state {
            let earlier = self.earlier.as_ref().and_then(|earlier| earlier.state.as_ref());
            verdicts.add(of.number, number, state, earlier);
        }
        let (records, endpoints) = (partition.recorder.sums(), partition.endpoints.record_sums());
        self.last = Some(Look { state, records, endpoints });
    }
}
