//! Results of jobs, from the grants of their members.

use crate::job_loads::JobLoads;
use crate::result::JobResult;
use crate::solver::RATE_UNIT;
use odonata_processes::{all_gather, Processes};
use odonata_units::JobId;
use odonata_workload::volumes::Volumes;

/// Results of all jobs, from the grants of the members of this process. `volumes` and `loads`
/// are by job.
pub(crate) fn results(
    processes: &dyn Processes,
    volumes: &[Volumes],
    loads: &[JobLoads],
    members: impl Iterator<Item = (JobId, u64)>,
) -> Vec<JobResult> {
    let mut own = vec![0u128; volumes.len()];
    for (job, granted) in members {
        assert!(granted > 0, "messages without a grant were refused");
        own[job.index()] += u128::from(granted);
    }
    let all = all_gather(processes, &own);
    let result = |(job, (volumes, loads)): (usize, (&Volumes, &JobLoads))| JobResult {
        bandwidth_bytes_per_s: all.iter().map(|granted| granted[job]).sum::<u128>() as f64 / RATE_UNIT,
        ..JobResult::of(*volumes, loads)
    };
    volumes.iter().zip(loads).enumerate().map(result).collect()
}
