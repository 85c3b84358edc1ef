//! What the engine hands back.

use odonata_units::{JobId, LinkId};
use odonata_workload::volumes::Volumes;

/// Traffic of jobs on links: parallel columns sorted by (link, job), only where there is any.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LinkJobs {
    /// Link.
    pub link: Vec<LinkId>,
    /// Job.
    pub job: Vec<JobId>,
    /// Bytes of the job on the link.
    pub bytes: Vec<f64>,
}

/// Whether and how the iteration ended.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Convergence {
    /// Whether the stated condition was met.
    pub converged: bool,
    /// Iterations done.
    pub iterations: u32,
    /// Share of the last iteration in all that was granted.
    pub residual: f64,
}

/// What one job sends and what it is granted.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct JobResult {
    /// What it sends. What stays within a router loads network interfaces but no link; within a node, nothing.
    pub volumes: Volumes,
    /// Sum of this job's bytes over all links.
    pub link_bytes: f64,
    /// Sum of the bandwidth granted to its messages between nodes, bytes per second.
    pub bandwidth_bytes_per_s: f64,
    /// Time until the slowest pair of nodes has sent its bytes at the granted bandwidth, seconds.
    pub slowest_pair_s: f64,
    /// Mean over bytes of the time of their pair of nodes, seconds.
    pub pair_time_mean_s: f64,
    /// `slowest_pair_s` when the job runs alone on the same nodes, if asked for.
    pub slowest_pair_alone_s: Option<f64>,
    /// `bandwidth_bytes_per_s` when the job runs alone on the same nodes, if asked for.
    pub bandwidth_alone_bytes_per_s: Option<f64>,
}

impl JobResult {
    /// `slowest_pair_s / slowest_pair_alone_s`: 2 means that the other jobs double its time.
    pub fn slowdown(&self) -> Option<f64> {
        self.slowest_pair_alone_s.map(|alone| if alone > 0.0 { self.slowest_pair_s / alone } else { 1.0 })
    }

    /// Router-to-router hops of a byte, bytes that stay on their router included.
    pub fn byte_hops_mean(&self) -> f64 {
        match self.volumes.bytes() {
            0 => 0.0,
            bytes => self.link_bytes / bytes as f64,
        }
    }
}

/// How low the maximum link load could be under any routing, and how tight that is known.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LoadBound {
    /// No routing brings the most loaded link below this many seconds (bytes over capacity): certified.
    pub lower_s: f64,
    /// A routing that splits freely reaches this: the best found.
    pub upper_s: f64,
    /// `(upper_s - lower_s) / upper_s`.
    pub gap: f64,
    /// Passes done.
    pub passes: u32,
}

impl LoadBound {
    /// The same, where a routing is known that reaches `link_time_max_s`.
    ///
    /// # Panics
    /// If that is below what no routing can reach.
    pub(crate) fn tightened_by(self, link_time_max_s: f64) -> Self {
        let upper_s = self.upper_s.min(link_time_max_s);
        assert!(upper_s >= self.lower_s * (1.0 - 1e-6), "{link_time_max_s} s reached, {} s the least", self.lower_s);
        Self { upper_s, gap: (1.0 - self.lower_s / upper_s).max(0.0), ..self }
    }

    /// That it is not as tight as was asked for.
    pub(crate) fn notice(&self, asked: f64) -> Option<String> {
        let (has, asked_percent, passes) = (100.0 * self.gap, 100.0 * asked, self.passes);
        let open = self.gap > asked;
        open.then(|| {
            format!("the bound has a gap of {has:.2} % after {passes} passes, not of {asked_percent:.2} % as asked for")
        })
    }
}

/// The steady state.
#[derive(Clone, PartialEq, Debug)]
pub struct FlowResult {
    /// Bytes on each link.
    pub link_bytes: Vec<f64>,
    /// The same by job.
    pub link_jobs: LinkJobs,
    /// Bytes out of each node's network interface.
    pub node_injected_bytes: Vec<f64>,
    /// Bytes into each node's network interface.
    pub node_ejected_bytes: Vec<f64>,
    /// Capacity of each link as used, bytes per second.
    pub link_capacity_bytes_per_s: Vec<f64>,
    /// Capacity of each network interface as used, bytes per second.
    pub nic_capacity_bytes_per_s: f64,
    /// Per job.
    pub jobs: Vec<JobResult>,
    /// How the iteration ended.
    pub convergence: Convergence,
    /// How low the maximum load could be, if asked for.
    pub bound: Option<LoadBound>,
    /// About how much memory the run was thought to take beyond that of machine and workload.
    pub memory_bytes: u64,
    /// What a user should know; empty if nothing.
    pub notices: Vec<String>,
}

impl FlowResult {
    /// Time of the busiest link at full speed, seconds.
    pub fn link_time_max_s(&self) -> f64 {
        let times =
            self.link_bytes.iter().zip(&self.link_capacity_bytes_per_s).map(|(bytes, capacity)| bytes / capacity);
        times.fold(0.0, f64::max)
    }
}
