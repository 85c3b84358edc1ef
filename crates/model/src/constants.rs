//! Measured constants of a machine, and the division of a node's cores among processes and threads.

use crate::error::{at_least, positive};
use crate::figures::NetworkFigures;
use crate::ModelError;

/// Measured constants of a machine. [`Constants::check`] lists the requirements.
#[derive(Debug, Clone, PartialEq)]
pub struct Constants {
    /// alpha(h_m): time to start a message to the nearest other node.
    pub alpha_s: f64,
    /// beta: time per 8-byte value.
    pub beta_s_per_value: f64,
    /// gamma: time per further hop.
    pub gamma_s: f64,
    /// t_0, t_1, ...: time per floating-point operation of a sparse product on each level. The last value holds for all
    /// coarser levels.
    pub flop_s: Vec<f64>,
    /// Memory bandwidth per thread, bytes per second, for ascending numbers of threads from one.
    pub thread_bandwidth: Vec<(u32, f64)>,
    /// B_max: hardware bandwidth between two nodes, bytes per second.
    pub node_bandwidth: f64,
    /// Cores of a node.
    pub cores_per_node: u32,
    /// Cache shared by the processes of a node, bytes.
    pub cache_bytes_per_node: f64,
    /// Hops and links of the network.
    pub network: NetworkFigures,
}

impl Constants {
    /// Checks that every constant is usable.
    ///
    /// # Errors
    /// A constant that is infinite, negative, or a divisor of zero; lists that are empty or not ascending.
    pub fn check(&self) -> Result<(), ModelError> {
        at_least("alpha", self.alpha_s, 0.0)?;
        positive("beta", self.beta_s_per_value)?;
        at_least("gamma", self.gamma_s, 0.0)?;
        if self.flop_s.is_empty() {
            return Err(ModelError::Length { what: "time per flop", got: 0, expected: "one level or more".into() });
        }
        for (i, &t) in self.flop_s.iter().enumerate() {
            at_least(&format!("time per flop on level {i}"), t, 0.0)?;
        }
        if self.thread_bandwidth.first().is_none_or(|&(threads, _)| threads != 1) {
            return Err(ModelError::Length {
                what: "thread bandwidths",
                got: self.thread_bandwidth.len(),
                expected: "the bandwidth of one thread first".into(),
            });
        }
        for pair in self.thread_bandwidth.windows(2) {
            positive(&format!("number of threads after {}", pair[0].0), f64::from(pair[1].0) - f64::from(pair[0].0))?;
        }
        for &(threads, bandwidth) in &self.thread_bandwidth {
            positive(&format!("bandwidth of {threads} threads"), bandwidth)?;
        }
        positive("node bandwidth", self.node_bandwidth)?;
        at_least("cores per node", f64::from(self.cores_per_node), 1.0)?;
        at_least("cache per node", self.cache_bytes_per_node, 0.0)?;
        Ok(())
    }

    /// t_i.
    #[must_use]
    pub fn flop_s_at(&self, level: usize) -> f64 {
        self.flop_s[level.min(self.flop_s.len() - 1)]
    }

    /// B = 8 / beta, the measured bandwidth, bytes per second.
    #[must_use]
    pub fn measured_bandwidth(&self) -> f64 {
        8.0 / self.beta_s_per_value
    }

    /// D - h_m.
    #[must_use]
    pub fn extra_hops(&self) -> f64 {
        f64::from(self.network.diameter().saturating_sub(self.network.min_hops()))
    }

    /// b_1 / b_j: slowdown of a thread when `threads` threads share a process's memory. Between measured values, the
    /// logarithm of the ratio is linear in the logarithm of the threads.
    ///
    /// # Errors
    /// More threads than were measured, or none.
    pub fn thread_slowdown(&self, threads: u32) -> Result<f64, ModelError> {
        let table = &self.thread_bandwidth;
        let single = table[0].1;
        let after = table.partition_point(|&(n, _)| n < threads);
        if threads == 0 || after == table.len() {
            return Err(ModelError::OutOfRange {
                what: "number of threads".into(),
                value: f64::from(threads),
                expected: "between 1 and the largest measured number of threads",
            });
        }
        let (n1, b1) = table[after];
        if n1 == threads {
            return Ok(single / b1);
        }
        let (n0, b0) = table[after - 1];
        let share = (f64::from(threads) / f64::from(n0)).ln() / (f64::from(n1) / f64::from(n0)).ln();
        Ok(single / (b0.ln() + share * (b1 / b0).ln()).exp())
    }
}

/// MPI tasks per node and OpenMP threads per task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mix {
    /// t, MPI tasks on each node.
    pub tasks_per_node: u32,
    /// j, threads of each task.
    pub threads: u32,
}

impl Mix {
    /// Nodes for `ranks` tasks.
    #[must_use]
    pub fn nodes(self, ranks: u32) -> u32 {
        ranks.div_ceil(self.tasks_per_node)
    }

    /// Checks that the tasks and threads fit on a node.
    ///
    /// # Errors
    /// Zero tasks or threads, or more than cores.
    pub fn check(self, constants: &Constants) -> Result<(), ModelError> {
        let used = u64::from(self.tasks_per_node) * u64::from(self.threads);
        if used == 0 || used > u64::from(constants.cores_per_node) {
            return Err(ModelError::OutOfRange {
                what: format!("tasks x threads per node ({} x {})", self.tasks_per_node, self.threads),
                value: used as f64,
                expected: "between 1 and the cores of a node",
            });
        }
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::figures::DragonflyFigures;

    /// Eos from Tables 1 and 2 of the paper, with two 20 MB caches per node (Xeon E5-2670).
    pub(crate) fn eos() -> Constants {
        Constants {
            alpha_s: 0.238e-6,
            beta_s_per_value: 0.858e-9,
            gamma_s: 0.416e-6,
            flop_s: vec![1.59e-9, 0.806e-9, 0.545e-9],
            thread_bandwidth: vec![(1, 11106e6), (2, 5335.5e6), (4, 2755.0e6), (8, 1374.8e6), (16, 678.56e6)],
            node_bandwidth: 16e9,
            cores_per_node: 16,
            cache_bytes_per_node: 40e6,
            network: NetworkFigures::Dragonfly(DragonflyFigures::aries(2)),
        }
    }

    #[test]
    fn eos_constants() {
        let eos = eos();
        eos.check().unwrap();
        assert_eq!(eos.extra_hops(), 5.0);
        assert_eq!(eos.flop_s_at(1), 0.806e-9);
        assert_eq!(eos.flop_s_at(9), 0.545e-9);
        assert!((eos.thread_slowdown(16).unwrap() - 11106.0 / 678.56).abs() < 1e-12);
        assert_eq!(eos.thread_slowdown(1).unwrap(), 1.0);
        // Three threads: on the line through (2, 5335.5) and (4, 2755) in logarithms.
        let share = 1.5_f64.ln() / 2.0_f64.ln();
        let expected = 11106.0 / (5335.5 * (2755.0_f64 / 5335.5).powf(share));
        assert!((eos.thread_slowdown(3).unwrap() - expected).abs() < 1e-12);
        assert!(eos.thread_slowdown(32).is_err());
        assert!(eos.thread_slowdown(0).is_err());
    }

    #[test]
    fn unusable_constants_are_named() {
        let error = Constants { beta_s_per_value: 0.0, ..eos() }.check().unwrap_err();
        assert_eq!(error.to_string(), "beta is 0; expected a finite number above zero");
        assert!(Constants { thread_bandwidth: vec![(2, 1.0)], ..eos() }.check().is_err());
        assert!(Constants { thread_bandwidth: vec![(1, 1.0), (1, 2.0)], ..eos() }.check().is_err());
        assert!(Mix { tasks_per_node: 8, threads: 4 }.check(&eos()).is_err());
        assert!(Mix { tasks_per_node: 4, threads: 4 }.check(&eos()).is_ok());
    }
}
