//! Completion times: messages drain at the rates that they share, and what has ended gives its share back.
//!
//! All members start at time 0 with their bytes. In each step the rates of the members that are left are solved, and
//! the bytes of the step are taken off. A member that ends inside a step ends at its bytes over its rate. Its share
//! stays unused for the rest of the step. The others get it afterwards: the next step knows the rates r' without the
//! ended members, so a member of rate r has sent u (r' - r) more. Here u is the mean time that shares stayed unused,
//! weighted by rate. On a single link, this makes up for all unused bytes.
//!
//! A step lasts [`OF_NEXT`] of the time that the next job needs at these rates, but at least [`OF_TIME`] of the time so
//! far. If the next job needs less than twice as long, the step lasts until its end. So the number of steps grows with
//! the logarithm of the ratio of the longest to the shortest job, not with the number of messages.

use crate::solver::RATE_UNIT;
use odonata_processes::{all_gather, Processes};

/// Length of a step as a share of the time that the next job needs. With 0.3, and 0.2 for [`OF_TIME`], the steps are
/// twice as many, and times change by 1 % on average.
const OF_NEXT: f64 = 0.5;
/// Minimum length of a step as a share of the time so far.
const OF_TIME: f64 = 0.5;

/// How near times come to the packet engine: `tests/differential/test_completion_times.py` measures it.
pub const TIME_ACCURACY: &str =
    "within 25 % of the packet engine for 154 of 180 jobs in random pairs, for 30 of 48 on \
                                 other machines (0.50 to 2.71 times); light jobs among heavy ones differ most";

/// Member with bytes to send.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sender {
    /// Index of its commodity.
    pub(crate) flow: u32,
    /// Index among the members of all commodities.
    pub(crate) member: u32,
    /// Index of its job.
    pub(crate) job: u32,
    /// Time of its last byte in the network, seconds.
    pub(crate) latency_s: f32,
    /// Bytes that are left.
    pub(crate) bytes: f64,
    /// Rate of the step before, in the solver's units; 0 at the start.
    pub(crate) rate: u64,
}

/// Time of the last arrival of each of `jobs` jobs, seconds; 0 if it sends nothing. `rates(step, senders)` gives the
/// rate of every sender that is left, in the solver's units.
pub(crate) fn completion_times<E>(
    processes: &dyn Processes,
    mut senders: Vec<Sender>,
    jobs: usize,
    mut rates: impl FnMut(u32, &[Sender]) -> Result<Vec<u64>, E>,
) -> Result<Vec<f64>, E> {
    let mut ends = vec![0.0f64; jobs];
    let (mut time, mut unused_s) = (0.0, 0.0);
    senders.retain(|sender| sender.bytes > 0.0);
    for step in 0.. {
        if all_gather(processes, &senders.is_empty()).into_iter().all(|done| done) {
            break;
        }
        let granted = rates(step, &senders)?;
        // Whole bytes and rates, since sums of integers do not depend on their order.
        let mut of_jobs = vec![[0u128; 2]; jobs];
        for (sender, granted) in senders.iter_mut().zip(granted) {
            assert!(granted > 0, "messages without a grant were refused");
            let more = (granted as f64 - sender.rate as f64) / RATE_UNIT * unused_s;
            sender.bytes = (sender.bytes - more).max(0.0);
            sender.rate = granted;
            let [bytes, rate] = &mut of_jobs[sender.job as usize];
            *bytes += sender.bytes.ceil() as u128;
            *rate += u128::from(granted);
        }
        let next = time_of_next(&sum_of(processes, of_jobs));
        let length = length_of_step(next, time);
        let mut ended = [0u128; 2];
        for sender in &mut senders {
            let need = sender.bytes * RATE_UNIT / sender.rate as f64;
            if need <= length {
                let job = &mut ends[sender.job as usize];
                *job = job.max(time + need + f64::from(sender.latency_s));
                sender.bytes = 0.0;
                ended[0] += u128::from(sender.rate);
                ended[1] += (sender.rate as f64 * (1.0 - need / length)) as u128;
            } else {
                sender.bytes -= sender.rate as f64 / RATE_UNIT * length;
            }
        }
        let [ended] = sum_of(processes, vec![ended])[..] else { unreachable!("one sum") };
        // Nothing is left after a step without end: all members had ended before it.
        unused_s = if ended[0] > 0 && length.is_finite() { length * ended[1] as f64 / ended[0] as f64 } else { 0.0 };
        senders.retain(|sender| sender.bytes > 0.0);
        time += length;
    }
    let all = all_gather(processes, &ends);
    Ok((0..jobs).map(|job| all.iter().map(|ends| ends[job]).fold(0.0, f64::max)).collect())
}

/// Sum over processes.
fn sum_of(processes: &dyn Processes, own: Vec<[u128; 2]>) -> Vec<[u128; 2]> {
    let all = all_gather(processes, &own);
    (0..own.len()).map(|i| [0, 1].map(|k| all.iter().map(|own| own[i][k]).sum())).collect()
}

/// Time that the next job needs for its bytes at its rate, seconds.
fn time_of_next(of_jobs: &[[u128; 2]]) -> f64 {
    let left = of_jobs.iter().filter(|[bytes, _]| *bytes > 0);
    left.map(|&[bytes, rate]| bytes as f64 * RATE_UNIT / rate as f64).fold(f64::INFINITY, f64::min)
}

/// Length of the step at `time`, if the next job needs `next`.
fn length_of_step(next: f64, time: f64) -> f64 {
    let length = (OF_NEXT * next).max(OF_TIME * time);
    if length < next && next < 2.0 * length {
        next
    } else {
        length
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use odonata_processes::SingleProcess;

    const GB: f64 = 1e9;

    fn sender(job: u32, bytes: f64) -> Sender {
        Sender { flow: job, member: job, job, latency_s: 0.0, bytes, rate: 0 }
    }

    /// Members on one link with equal weights.
    fn on_one_link(senders: Vec<Sender>) -> Vec<f64> {
        let jobs = senders.len();
        let rates = |_, left: &[Sender]| Ok::<_, ()>(vec![(GB * RATE_UNIT) as u64 / left.len() as u64; left.len()]);
        completion_times(&SingleProcess, senders, jobs, rates).unwrap()
    }

    fn assert_close(times: &[f64], expected: &[f64]) {
        assert_eq!(times.len(), expected.len());
        for (time, expected) in times.iter().zip(expected) {
            assert!((time / expected - 1.0).abs() < 1e-6, "{times:?} instead of {expected:?}");
        }
    }

    #[test]
    fn equal_flows_end_together() {
        assert_close(&on_one_link(vec![sender(0, 1e6), sender(1, 1e6), sender(2, 1e6)]), &[3e-3; 3]);
    }

    /// 1 MB and 3 MB on 1 GB/s: both have half until the first has ended after 2 ms; the other 2 MB take 2 ms more.
    #[test]
    fn what_has_ended_gives_its_share_back() {
        assert_close(&on_one_link(vec![sender(0, 1e6), sender(1, 3e6)]), &[2e-3, 4e-3]);
        assert_close(&on_one_link(vec![sender(0, 1e6), sender(1, 2e6), sender(2, 30e6)]), &[3e-3, 5e-3, 33e-3]);
    }

    /// 0.1, 0.2, .. 10 MB share 1 GB/s: the last of them ends when all 505 MB have passed. A hundred ends take
    /// few steps, so the time is 13 % too long (26 % if shares were not given back afterwards).
    #[test]
    fn messages_of_a_job_may_end_at_many_times() {
        let sizes: Vec<f64> = (1..=100).map(|k| f64::from(k) * 1e5).collect();
        let senders: Vec<Sender> = sizes.iter().map(|&bytes| sender(0, bytes)).collect();
        let mut steps = 0;
        let rates = |_, left: &[Sender]| {
            steps += 1;
            Ok::<_, ()>(vec![(GB * RATE_UNIT) as u64 / left.len() as u64; left.len()])
        };
        let time = completion_times(&SingleProcess, senders, 1, rates).unwrap()[0];
        let exact = sizes.iter().sum::<f64>() / GB;
        assert!((1.0..1.15).contains(&(time / exact)), "{time} s instead of {exact} s");
        assert!(steps < 6, "{steps} steps");
    }

    #[test]
    fn the_last_byte_has_a_latency() {
        let one = Sender { latency_s: 0.5, ..sender(0, 1e9) };
        assert_close(&on_one_link(vec![one]), &[1.5]);
        assert_eq!(on_one_link(vec![sender(0, 0.0)]), [0.0]);
    }
}
