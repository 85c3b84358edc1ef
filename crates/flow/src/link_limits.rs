//! Lower limits of job times.
//!
//! Times follow from rates over drawn paths in a few slices. The bytes of links follow from the steady state, or from
//! the split of a static routing. If the two differ, a link could not carry its bytes in these times. A job ends only
//! after its bytes and the bytes of all earlier jobs have passed. With jobs in the order of their times t_1 <= t_2 <=
//! .., every link needs t_j C >= b_1 + .. + b_j. Shorter times are raised to the smallest ones that satisfy this.

use crate::job_loads::JobLoads;

/// Raises the `times` of jobs with these loads to the limits of links with these `capacities` (bytes/s).
pub(crate) fn apply_link_limits(times: &mut [f64], loads: &[JobLoads], capacities: &[f64]) {
    let mut by_link: Vec<Vec<(u32, f64)>> = vec![Vec::new(); capacities.len()];
    for (job, loads) in (0..).zip(loads) {
        loads.iter().for_each(|(link, bytes)| by_link[link.index()].push((job, bytes)));
    }
    let mut order: Vec<usize> = (0..times.len()).collect();
    let mut place = vec![0; times.len()];
    loop {
        let before = times.to_vec();
        order.sort_by(|&a, &b| times[a].total_cmp(&times[b]));
        order.iter().enumerate().for_each(|(number, &job)| place[job] = number);
        for (of_link, capacity) in by_link.iter_mut().zip(capacities) {
            of_link.sort_by_key(|(job, _)| place[*job as usize]);
            let mut bytes = 0.0;
            for &(job, own) in of_link.iter() {
                bytes += own;
                times[job as usize] = times[job as usize].max(bytes / capacity);
            }
        }
        // Raising times may change the order of jobs, and later jobs wait for more bytes.
        if times == before {
            break;
        }
    }
}
