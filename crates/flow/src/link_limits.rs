//! Lower limits of job times.
//!
//! Times follow from rates over drawn paths in a few slices. The bytes of links follow from the steady state, or from
//! the split of a static routing. If the two differ, a link could not carry its bytes in these times. A job ends only
//! after its bytes and the bytes of all earlier jobs have passed. With jobs in the order of their times t_1 <= t_2 <=
//! .., every link needs t_j C >= b_1 + .. + b_j. Shorter times are raised to the smallest ones that satisfy this.

/// Raises the `times` of jobs with `loads[job][link]` to the limits of links with these `capacities` (bytes/s).
pub(crate) fn apply_link_limits(times: &mut [f64], loads: &[Vec<f64>], capacities: &[f64]) {
    let mut order: Vec<usize> = (0..times.len()).collect();
    loop {
        let before = times.to_vec();
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
}
