//! Lower limits of job times under static routings.
//!
//! The iteration grants the residual capacity of drawn paths. The bytes of a static routing follow its own split over
//! links. If the two differ (an equal split over unequal cables, or few drawn paths), a link could not carry its
//! bytes in the granted times. A job ends only after its bytes and the bytes of all earlier jobs have passed. With
//! jobs in the order of their times t_1 <= t_2 <= .., every link needs t_j C >= b_1 + .. + b_j. Shorter times are
//! raised to the smallest ones that satisfy this.

use crate::JobResult;

/// Raises the times of jobs with `loads[job][link]` to the limits of links with these `capacities` (bytes/s). All
/// messages of a job slow down equally.
pub(crate) fn apply_link_limits(jobs: &mut [JobResult], loads: &[Vec<f64>], capacities: &[f64]) {
    let mut times: Vec<f64> = jobs.iter().map(|job| job.slowest_pair_s).collect();
    let mut order: Vec<usize> = (0..jobs.len()).collect();
    loop {
        let before = times.clone();
        order.sort_by(|&a, &b| times[a].total_cmp(&times[b]));
        for (link, capacity) in capacities.iter().enumerate() {
            let mut bytes = 0.0;
            for &job in order.iter().filter(|&&job| loads[job][link] > 0.0) {
                bytes += loads[job][link];
                times[job] = times[job].max(bytes / capacity);
            }
        }
        // Raising times may change the order of jobs, and later jobs wait for more bytes.
        if times == before {
            break;
        }
    }
    for (job, time) in jobs.iter_mut().zip(times).filter(|(job, _)| job.slowest_pair_s > 0.0) {
        job.pair_time_mean_s *= time / job.slowest_pair_s;
        job.slowest_pair_s = time;
    }
}
