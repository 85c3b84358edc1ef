//! Results of jobs, from the grants of their members.

use crate::exact::ExactSum;
use crate::result::JobResult;
use crate::solver::RATE_UNIT;
use crate::traffic::Member;
use odonata_processes::{all_gather, Processes};
use odonata_units::JobId;
use odonata_workload::volumes::Volumes;
use serde::{Deserialize, Serialize};

/// Sums over the members of a job, independent of the order.
#[derive(Clone, Default, Serialize, Deserialize)]
struct JobGrants {
    /// Rate, in the solver's units.
    rate: u128,
    /// Maximum time.
    slowest_pair_s: f64,
    /// Sum of times, weighted by bytes.
    time_bytes_sum: ExactSum,
    bytes: u128,
}

impl JobGrants {
    fn merge(&mut self, other: Self) {
        self.rate += other.rate;
        self.slowest_pair_s = self.slowest_pair_s.max(other.slowest_pair_s);
        self.time_bytes_sum.merge(other.time_bytes_sum);
        self.bytes += other.bytes;
    }
}

/// Results of all jobs, from the grants of the members of this process. `volumes` is by job, `loads` by
/// `[job][link]`.
pub(crate) fn results<'m>(
    processes: &dyn Processes,
    volumes: &[Volumes],
    loads: &[Vec<f64>],
    members: impl Iterator<Item = (JobId, &'m Member, u64)>,
) -> Vec<JobResult> {
    let mut own = vec![JobGrants::default(); volumes.len()];
    for (job, member, granted) in members {
        let of_job = &mut own[job.index()];
        assert!(granted > 0, "messages without a grant were refused");
        let time = member.bytes as f64 / (granted as f64 / RATE_UNIT);
        of_job.rate += u128::from(granted);
        of_job.slowest_pair_s = of_job.slowest_pair_s.max(time);
        of_job.time_bytes_sum.add(time * member.bytes as f64);
        of_job.bytes += u128::from(member.bytes);
    }
    let mut all = all_gather(processes, &own).into_iter();
    let mut granted = all.next().expect("there is a process");
    for other in all {
        granted.iter_mut().zip(other).for_each(|(sum, job)| sum.merge(job));
    }
    let result = |((volumes, loads), granted): ((&Volumes, &Vec<f64>), JobGrants)| JobResult {
        volumes: *volumes,
        // The sum of an empty list is -0.0.
        link_bytes: loads.iter().sum::<f64>() + 0.0,
        bandwidth_bytes_per_s: granted.rate as f64 / RATE_UNIT,
        slowest_pair_s: granted.slowest_pair_s,
        pair_time_mean_s: if granted.bytes > 0 { granted.time_bytes_sum.value() / granted.bytes as f64 } else { 0.0 },
        ..JobResult::default()
    };
    volumes.iter().zip(loads).zip(granted).map(result).collect()
}
