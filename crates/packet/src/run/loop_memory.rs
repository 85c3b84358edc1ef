//! What a partition remembers of the boundaries of a loop.

use super::director::{Boundary, LoopStep, Skip};
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

/// The remembered boundaries.
#[derive(Default)]
pub(super) struct LoopMemory {
    looks: Vec<Look>,
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
        for Skip { from, to, skipped } in &step.skips {
            let (from, to) = (&self.looks[*from], &self.looks[*to]);
            partition.recorder.repeat(&from.records, &to.records, skipped.times);
            if let (Some(from), Some(to)) = (&from.endpoints, &to.endpoints) {
                partition.endpoints.skip(skipped, &**from, &**to);
            }
            self.skipped += skipped.skipped();
        }
        if !step.skips.is_empty() {
            self.looks = Vec::new();
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
        let state = of.compares.then(|| partition.snapshot(now));
        let (records, endpoints) = (partition.recorder.sums(), partition.endpoints.record_sums());
        of.add_to(&mut self.looks, Look { state, records, endpoints });
        if let [before @ .., Look { state: Some(state), .. }] = &self.looks[..] {
            let earlier = before.first().and_then(|earlier| earlier.state.as_ref());
            verdicts.add(of.number, number, state, earlier);
        }
    }
}
