//! Times of jobs under routings that do not look at the load.
//!
//! The iteration grants what drawn paths have left; the bytes of a static routing lie on links as it splits them. Where the two
//! differ (an equal split over cables of unequal speed, draws of few paths), the grants say times in which a link could not
//! carry its bytes. No job is done before its bytes have passed, nor those of the jobs that are done before it: with jobs in the
//! order of their times t_1 <= t_2 <= .., every link needs t_j C >= b_1 + .. + b_j. Times that are too short for that are
//! raised to the least that is enough.

use crate::JobResult;

/// Raises the times of jobs with `loads[job][link]` to what links of these `capacities` (bytes/s) need. The messages of a job are
/// slowed alike.
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
        // Raising times may change their order, and jobs that are done later have to let more pass.
        if times == before {
            break;
        }
    }
    for (job, time) in jobs.iter_mut().zip(times).filter(|(job, _)| job.slowest_pair_s > 0.0) {
        job.pair_time_mean_s *= time / job.slowest_pair_s;
        job.slowest_pair_s = time;
    }
}
