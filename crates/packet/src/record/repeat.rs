//! Records of iterations that a run skips: what some iterations added, several times.

use super::recorder::Recorder;
use super::{Histogram, JobRecord, PortRecord};

/// A record of which the part of some iterations can be added again.
pub(crate) trait Repeat {
    /// Adds `times` times what was added between the states `from` and `to` of the record. Maxima stay.
    fn repeat(&mut self, from: &Self, to: &Self, times: u64);
}

impl Repeat for u64 {
    fn repeat(&mut self, from: &Self, to: &Self, times: u64) {
        *self += times * (to - from);
    }
}

impl<A: Repeat, B: Repeat> Repeat for (A, B) {
    fn repeat(&mut self, from: &Self, to: &Self, times: u64) {
        self.0.repeat(&from.0, &to.0, times);
        self.1.repeat(&from.1, &to.1, times);
    }
}

impl<T: Repeat, const N: usize> Repeat for [T; N] {
    fn repeat(&mut self, from: &Self, to: &Self, times: u64) {
        self.iter_mut().zip(from).zip(to).for_each(|((all, from), to)| all.repeat(from, to, times));
    }
}

/// Entries that a state does not have yet are zero. Lists only grow.
impl<T: Repeat + Default> Repeat for Vec<T> {
    fn repeat(&mut self, from: &Self, to: &Self, times: u64) {
        let zero = T::default();
        for (i, (all, to)) in self.iter_mut().zip(to).enumerate() {
            all.repeat(from.get(i).unwrap_or(&zero), to, times);
        }
    }
}

/// Implements [`Repeat`] for a struct: sums, and fields that stay as they are.
macro_rules! repeat {
    ($type:ty { sums: $($sum:ident),+; kept: $($kept:ident),* }) => {
        impl Repeat for $type {
            fn repeat(&mut self, from: &Self, to: &Self, times: u64) {
                let Self { $($sum,)+ $($kept: _,)* } = self;
                $($sum.repeat(&from.$sum, &to.$sum, times);)+
            }
        }
    };
}

// Skipped iterations have the peaks of the others. The run adds the skipped time to the last arrival.
repeat!(PortRecord { sums: bytes, packets, busy_ps, stall_ps; kept: peak_bytes });
repeat!(JobRecord {
    sums: delay_ps, packets, bytes, delivered_bytes, delivered_by_batch, latency_by_batch, latency, network_latency,
        source_wait_ps, hops, byte_hops, on_router_bytes, non_minimal, via_intermediate_group, all_packets;
    kept: injected_packets, injected_bytes, last_arrival_ps
});

/// Counts what skipped iterations delivered as injected. An iteration may have more packets in flight at one boundary
/// than at another, and their difference would count several times.
fn inject_delivered(all: &mut JobRecord, from: &JobRecord, to: &JobRecord, times: u64) {
    all.injected_packets.repeat(&from.packets, &to.packets, times);
    all.injected_bytes.repeat(&from.bytes, &to.bytes, times);
}

impl Repeat for Histogram {
    fn repeat(&mut self, from: &Self, to: &Self, times: u64) {
        self.add_difference(from, to, times);
    }
}

/// The sums of a recorder at a time.
#[derive(Clone)]
pub(crate) struct RecordSums {
    jobs: Vec<JobRecord>,
    full_packets: Vec<u64>,
    ports: Vec<PortRecord>,
    nic_bytes: Vec<u64>,
    nic_stall_ps: Vec<u64>,
}

impl Recorder {
    /// The sums so far. Optional records are not among them.
    pub(crate) fn sums(&self) -> RecordSums {
        RecordSums {
            jobs: self.jobs.clone(),
            full_packets: self.full_packets.clone(),
            ports: self.ports.clone(),
            nic_bytes: self.nic_bytes.clone(),
            nic_stall_ps: self.nic_stall_ps.clone(),
        }
    }

    /// Adds `times` times what was recorded between two times.
    pub(crate) fn repeat(&mut self, from: &RecordSums, to: &RecordSums, times: u64) {
        self.jobs.repeat(&from.jobs, &to.jobs, times);
        for (all, (from, to)) in self.jobs.iter_mut().zip(from.jobs.iter().zip(&to.jobs)) {
            inject_delivered(all, from, to, times);
        }
        self.full_packets.repeat(&from.full_packets, &to.full_packets, times);
        self.ports.repeat(&from.ports, &to.ports, times);
        self.nic_bytes.repeat(&from.nic_bytes, &to.nic_bytes, times);
        self.nic_stall_ps.repeat(&from.nic_stall_ps, &to.nic_stall_ps, times);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_repeated_and_maxima_stay() {
        let port = |n: u64| PortRecord { bytes: n, packets: 2 * n, busy_ps: 3 * n, stall_ps: 4 * n, peak_bytes: n };
        let mut all = port(9);
        all.repeat(&port(2), &port(7), 10);
        assert_eq!(all, PortRecord { peak_bytes: 9, ..port(59) });
        let histogram = |values: &[u64]| {
            let mut histogram = Histogram::default();
            values.iter().for_each(|value| histogram.add(*value));
            histogram
        };
        let mut all = histogram(&[5, 700, 9, 700]);
        all.repeat(&histogram(&[5]), &histogram(&[5, 700, 9]), 2);
        assert_eq!(all, histogram(&[5, 700, 9, 700, 700, 9, 700, 9]));
    }
}
