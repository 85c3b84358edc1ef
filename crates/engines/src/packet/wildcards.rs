//! Sends with wildcards, which only some task graphs have.

use crate::engine::EngineError;
use crate::scenario::Scenario;
use odonata_trace::{Task, Work, ANY};
use odonata_units::JobId;
use odonata_workload::WorkloadError;

/// Ranks match by the rules of MPI, where only a receive has a wildcard.
pub(super) fn refuse_wildcard_sends(scenario: &Scenario) -> Result<(), EngineError> {
    let is_wildcard = |task: &Task| matches!(task.work, Work::Send { tag: ANY, .. });
    for (number, job) in scenario.workload.jobs.iter().enumerate() {
        let ranks = job.graph.iter().flat_map(|graph| graph.ranks.iter().enumerate());
        for (rank, tasks) in ranks {
            let Some(task) = tasks.tasks().iter().position(is_wildcard) else { continue };
            let reason = format!(
                "task {task} of rank {rank} sends with tag -1; expected a tag, since only receives match any tag in \
                 MPI, or engine 'loggops'"
            );
            let error = WorkloadError::parameter(format!("job '{}'", job.name), "program", reason);
            return Err(EngineError::Job(JobId::from_index(number), error));
        }
    }
    Ok(())
}
