//! Skipping equal iterations of a rank's program.

use super::followed_loop::FollowedLoop;
use super::state_machine::Rank;
use crate::record::{PhaseRecord, RankRecord};
use odonata_packet::SkippedIterations;
use odonata_programs::Repetition;
use odonata_units::Time;

/// The sums of a rank's record when it began its last iteration, and its phase now.
#[derive(Clone, Debug)]
pub(crate) struct RankSums {
    record: RankRecord,
    phase: Option<(u32, u64, Time)>,
}

impl Rank {
    /// Number of blocks of its program that it has started.
    pub(crate) fn started_blocks(&self) -> u64 {
        self.lane.code.started_blocks()
    }

    /// Follows a loop of its program.
    pub(crate) fn follow_loop(&mut self, repetition: Repetition) {
        self.followed = Some(Box::new(FollowedLoop::new(repetition)));
    }

    pub(crate) fn sums(&self) -> RankSums {
        let record = self.followed.as_ref().map_or(&self.record, |followed| followed.record());
        RankSums { record: record.clone(), phase: self.lane.phase }
    }

    /// Skips `blocks` blocks of its program. Its record gets what was added between `from` and `to`, several times.
    pub(crate) fn skip(&mut self, skipped: &SkippedIterations, blocks: u64, from: &RankSums, to: &RankSums) {
        self.lane.code.skip_blocks(blocks);
        if let Some(followed) = &mut self.followed {
            followed.skip(blocks, skipped.skipped());
        }
        self.skipped += Time(skipped.skipped_ps());
        let communication = skipped.times * (to.record.communication.ps() - from.record.communication.ps());
        if let Some((phase, start, communication_before)) = &mut self.lane.phase {
            let is_outer = from.phase.is_some_and(|(_, since, _)| since == *start);
            if is_outer {
                // The phase contains the skipped iterations.
                let phase = *phase as usize;
                if self.record.phases.len() <= phase {
                    self.record.phases.resize(phase + 1, PhaseRecord::default());
                }
                self.record.phases[phase].time += Time(skipped.skipped_ps());
            } else {
                *communication_before += Time(communication);
            }
        }
        repeat(&mut self.record, &from.record, &to.record, skipped.times);
    }
}

/// Adds `times` times what a record got between two times.
fn repeat(record: &mut RankRecord, from: &RankRecord, to: &RankRecord, times: u64) {
    let RankRecord {
        job: _,
        rank: _,
        node: _,
        start: _,
        end: _,
        rounds: _,
        communication,
        compute,
        in_calls,
        blocked,
        calls,
        messages,
        bytes,
        self_bytes,
        on_node_bytes,
        on_router_bytes,
        wire_bytes,
        received_bytes,
        phases,
    } = record;
    let time = |all: &mut Time, from: Time, to: Time| *all += Time(times * (to.ps() - from.ps()));
    time(communication, from.communication, to.communication);
    time(compute, from.compute, to.compute);
    for kind in 0..in_calls.len() {
        time(&mut in_calls[kind], from.in_calls[kind], to.in_calls[kind]);
        time(&mut blocked[kind], from.blocked[kind], to.blocked[kind]);
    }
    let sum = |all: &mut u64, from: u64, to: u64| *all += times * (to - from);
    sum(calls, from.calls, to.calls);
    sum(messages, from.messages, to.messages);
    sum(bytes, from.bytes, to.bytes);
    sum(self_bytes, from.self_bytes, to.self_bytes);
    sum(on_node_bytes, from.on_node_bytes, to.on_node_bytes);
    sum(on_router_bytes, from.on_router_bytes, to.on_router_bytes);
    sum(wire_bytes, from.wire_bytes, to.wire_bytes);
    sum(received_bytes, from.received_bytes, to.received_bytes);
    for (phase, (all, to)) in phases.iter_mut().zip(&to.phases).enumerate() {
        let from = from.phases.get(phase).copied().unwrap_or_default();
        sum(&mut all.count, from.count, to.count);
        time(&mut all.time, from.time, to.time);
        time(&mut all.communication, from.communication, to.communication);
    }
}
