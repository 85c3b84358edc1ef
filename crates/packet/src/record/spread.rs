//! How much traffic and latency vary between iterations, for the intervals of fast-forward.

use super::iteration_cells::{half_width_of_sums, IterationCells};
use super::iteration_latency::IterationLatency;
use super::recorder::Recorder;
use super::JobRecord;

/// Bytes of one port: at the last look, and sums over iterations. Integers, so that the result depends on no order.
#[derive(Clone, Copy, Default)]
struct PortSpread {
    last: u64,
    sum: u64,
    squares: u128,
}

/// Sums over the iterations of a sample, from looks at a recorder between them.
#[derive(Default)]
pub(crate) struct IterationSpread {
    ports: Vec<PortSpread>,
    last: IterationLatency,
    jobs: Vec<JobRecord>,
    /// By iteration.
    latencies: Vec<IterationLatency>,
    cells: Vec<IterationCells>,
}

impl IterationSpread {
    /// Looks at a recorder: the first time at the start of the sample, then after each iteration.
    pub(crate) fn look(&mut self, recorder: &Recorder) {
        let is_first = self.ports.is_empty();
        self.ports.resize(recorder.ports.len(), PortSpread::default());
        for (port, bytes) in self.ports.iter_mut().zip(recorder.port_bytes()) {
            let added = bytes - std::mem::replace(&mut port.last, bytes);
            if !is_first {
                port.sum += added;
                port.squares += u128::from(added).pow(2);
            }
        }
        let latency = latency_of(recorder);
        let added = latency.since(std::mem::replace(&mut self.last, latency));
        if !is_first {
            self.latencies.push(added);
            self.cells.push(IterationCells::added(&self.jobs, &recorder.jobs));
        }
        self.jobs.clone_from(&recorder.jobs);
    }

    /// Half width of the 95 % interval of the bytes of each port, if the sample stands for `skipped` iterations.
    pub(crate) fn half_width_bytes(&self, skipped: u64) -> Vec<u64> {
        let count = self.latencies.len();
        let half_width = |port: &PortSpread| half_width_of_sums(count, port.sum, port.squares, skipped);
        self.ports.iter().map(half_width).collect()
    }

    /// Latencies, and cells of their histograms, by iteration.
    pub(crate) fn into_iterations(self) -> (Vec<IterationLatency>, Vec<IterationCells>) {
        (self.latencies, self.cells)
    }
}

/// Packets so far, and their latency.
fn latency_of(recorder: &Recorder) -> IterationLatency {
    let all = recorder.jobs.iter().map(|job| &job.latency);
    all.fold(IterationLatency::default(), |sum, latency| IterationLatency {
        packets: sum.packets + latency.count(),
        latency_ps: sum.latency_ps + latency.sum() as u64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fast_forward::half_width_of_total;

    /// By hand: 10, 14, 12 bytes have the deviation 2; t of 19 and more iterations is not used here.
    #[test]
    fn ports_have_the_interval_of_their_iterations() {
        let port = PortSpread { last: 36, sum: 36, squares: 100 + 196 + 144 };
        let spread = IterationSpread {
            ports: vec![port, PortSpread::default()],
            latencies: vec![IterationLatency::default(); 3],
            ..IterationSpread::default()
        };
        let expected = half_width_of_total(2.0, 3, 50).ceil() as u64;
        assert_eq!(spread.half_width_bytes(50), [expected, 0]);
    }
}
