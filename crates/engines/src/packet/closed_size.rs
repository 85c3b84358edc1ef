//! The size of closed traffic: gathered for a run, expected for the check of a long one.

use super::refusal::too_much;
use crate::engine::EngineError;
use crate::scenario::Scenario;
use odonata_memory::{Guard, TooMuch};
use odonata_packet::ClosedTraffic;
use odonata_units::Bytes;
use odonata_workload::{Job, TrafficKind};

/// Messages up to which a check gathers them as a run does: about 0.1 s. More are counted by formula, which takes those
/// within a node for messages between nodes.
const GATHERED_MAX: u64 = 1_000_000;

/// Packets, bytes and memory of the messages of closed jobs.
#[derive(Clone, Copy, Default)]
pub(super) struct ClosedSize {
    pub(super) packets: u64,
    pub(super) bytes: u64,
    pub(super) memory_bytes: u64,
}

impl ClosedSize {
    pub(super) fn of(closed: &ClosedTraffic, payload: Bytes) -> Self {
        Self { packets: closed.packets(payload), bytes: closed.bytes(), memory_bytes: closed.memory_bytes() }
    }

    /// The size of a scenario's messages, if there are too many for a check to gather them.
    ///
    /// # Errors
    /// They need more memory than there is.
    pub(super) fn expected(scenario: &Scenario, payload: Bytes, guard: &Guard) -> Result<Option<Self>, EngineError> {
        let jobs = &scenario.workload.jobs;
        let messages = |job: &Job| job.counts().messages();
        if jobs.iter().map(messages).fold(0, u64::saturating_add) <= GATHERED_MAX {
            return Ok(None);
        }
        let rails = u64::from(scenario.machine.rails().of_node());
        let (mut size, mut messages) = (Self::default(), 0u64);
        for job in jobs.iter().filter(|job| matches!(job.traffic, TrafficKind::Closed(_))) {
            let rounds = u64::from(job.iterations);
            for (bytes, count) in job.counts().by_size() {
                let times = count.saturating_mul(rounds);
                messages = messages.saturating_add(count.saturating_mul(rails));
                size.packets = bytes.0.div_ceil(payload.0.max(1)).saturating_mul(times).saturating_add(size.packets);
                size.bytes = bytes.0.saturating_mul(times).saturating_add(size.bytes);
            }
        }
        size.memory_bytes = ClosedTraffic::memory_of(messages);
        if size.memory_bytes > guard.left() {
            return Err(too_many(size.memory_bytes, guard));
        }
        Ok(Some(size))
    }
}

/// The messages of closed jobs.
pub(super) fn closed_traffic(scenario: &Scenario, guard: &Guard) -> Result<ClosedTraffic, EngineError> {
    ClosedTraffic::gather(&scenario.machine, &scenario.workload, guard.left()).map_err(|needed| too_many(needed, guard))
}

fn too_many(needed: u64, guard: &Guard) -> EngineError {
    match guard.admit(needed) {
        Err(TooMuch { reason }) => too_much(TooMuch {
            reason: format!(
                "the messages of the jobs alone are too many: {reason} (`iterations` cost nothing); open traffic and the \
                 flow engine need less"
            ),
        }),
        Ok(()) => unreachable!("more than is left"),
    }
}
