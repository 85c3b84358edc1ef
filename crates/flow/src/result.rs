//! Result of the flow engine.

use crate::job_loads::JobLoads;
use crate::path_sets::PathSetChoice;
use odonata_units::{JobId, LinkId};
use odonata_workload::volumes::Volumes;

/// Traffic of jobs on links: parallel columns sorted by (link, job), without empty entries.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LinkJobs {
    /// Link.
    pub link: Vec<LinkId>,
    /// Job.
    pub job: Vec<JobId>,
    /// Bytes of the job on the link.
    pub bytes: Vec<f64>,
}

impl LinkJobs {
    /// Sums of all jobs on `links` links, and the traffic of jobs, from loads by job.
    pub(crate) fn of(loads: &[JobLoads], links: usize) -> (Vec<f64>, Self) {
        let mut sums = vec![0.0; links];
        let mut rows = Vec::new();
        for (job, loads) in loads.iter().enumerate() {
            for (link, bytes) in loads.iter() {
                sums[link.index()] += bytes;
                rows.push((link, JobId::from_index(job), bytes));
            }
        }
        // Stable: the jobs of a link stay in order.
        rows.sort_by_key(|(link, _, _)| *link);
        let link_jobs = Self {
            link: rows.iter().map(|(link, _, _)| *link).collect(),
            job: rows.iter().map(|(_, job, _)| *job).collect(),
            bytes: rows.iter().map(|(_, _, bytes)| *bytes).collect(),
        };
        (sums, link_jobs)
    }
}

/// How the iteration ended.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Convergence {
    /// Whether the stopping criterion was met.
    pub converged: bool,
    /// Number of iterations.
    pub iterations: u32,
    /// Share of the last iteration in all grants.
    pub residual: f64,
}

/// Traffic and grants of one job.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct JobResult {
    /// Its messages. Messages within a router load NICs but no link; messages within a node load nothing.
    pub volumes: Volumes,
    /// Sum of this job's bytes over all links.
    pub link_bytes: f64,
    /// Sum of the bandwidth granted to its messages between nodes, bytes per second.
    pub bandwidth_bytes_per_s: f64,
    /// Time until its last byte has arrived, seconds, if requested; NaN if it sends nothing.
    pub completion_s: Option<f64>,
    /// `completion_s` of the job alone on the same nodes, if requested.
    pub completion_alone_s: Option<f64>,
    /// `bandwidth_bytes_per_s` of the job alone on the same nodes, if requested.
    pub bandwidth_alone_bytes_per_s: Option<f64>,
}

impl JobResult {
    /// A job with these messages and these bytes on each link, without times.
    pub(crate) fn of(volumes: Volumes, loads: &JobLoads) -> Self {
        Self { volumes, link_bytes: loads.total(), ..Self::default() }
    }

    /// `completion_s / completion_alone_s`: 2 means that the other jobs double its time. NaN if it sends nothing.
    pub fn slowdown(&self) -> Option<f64> {
        let (time, alone) = (self.completion_s?, self.completion_alone_s?);
        Some(time / alone)
    }
}

/// Bounds of the lowest possible maximum link load, and their gap.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LoadBound {
    /// Certified: no routing gives the busiest link less than this many seconds (bytes over capacity).
    pub lower_s: f64,
    /// Best found value of a routing that splits freely.
    pub upper_s: f64,
    /// `(upper_s - lower_s) / upper_s`.
    pub gap: f64,
    /// Number of passes.
    pub passes: u32,
}

impl LoadBound {
    /// Tightens the bound with a routing that reaches `link_time_max_s`.
    ///
    /// # Panics
    /// If that is below the certified limit.
    pub(crate) fn tightened_by(self, link_time_max_s: f64) -> Self {
        let upper_s = self.upper_s.min(link_time_max_s);
        assert!(upper_s >= self.lower_s * (1.0 - 1e-6), "{link_time_max_s} s reached, {} s the least", self.lower_s);
        Self { upper_s, gap: (1.0 - self.lower_s / upper_s).max(0.0), ..self }
    }

    /// Notice that the gap is larger than requested.
    pub(crate) fn notice(&self, asked: f64) -> Option<String> {
        let (has, asked_percent, passes) = (100.0 * self.gap, 100.0 * asked, self.passes);
        let open = self.gap > asked;
        open.then(|| {
            format!("the bound has a gap of {has:.2} % after {passes} passes; {asked_percent:.2} % was requested")
        })
    }
}

/// The steady state.
#[derive(Clone, PartialEq, Debug)]
pub struct FlowResult {
    /// Bytes on each link.
    pub link_bytes: Vec<f64>,
    /// Bytes on each link by job.
    pub link_jobs: LinkJobs,
    /// Bytes injected by each node.
    pub node_injected_bytes: Vec<f64>,
    /// Bytes ejected to each node.
    pub node_ejected_bytes: Vec<f64>,
    /// Used capacity of each link, bytes per second.
    pub link_capacity_bytes_per_s: Vec<f64>,
    /// Used capacity of each NIC, bytes per second.
    pub nic_capacity_bytes_per_s: f64,
    /// Results by job.
    pub jobs: Vec<JobResult>,
    /// How the iteration ended.
    pub convergence: Convergence,
    /// The number of path sets, if it follows from an error.
    pub path_sets: Option<PathSetChoice>,
    /// Bound of the maximum load, if requested.
    pub bound: Option<LoadBound>,
    /// Estimated memory of the run in addition to machine and workload.
    pub memory_bytes: u64,
    /// Notices for the user.
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
