//! Jobs and the workload that they make.

use crate::pattern::PatternContext;
use crate::placement::FreeNodes;
use crate::{Pattern, PatternSpec, PlacementSpec, WorkloadError};
use odonata_machine::Machine;
use odonata_units::{JobId, NodeId, RankId, Stream};
use std::sync::Arc;

/// The user's words for a job.
#[derive(Clone, PartialEq, Debug)]
pub struct JobSpec {
    /// Name, unique in the workload; the random streams of the job are named by it.
    pub name: String,
    /// Number of ranks.
    pub ranks: u32,
    /// Ranks on each node but the last; one per core if not given.
    pub ranks_per_node: Option<u32>,
    /// Who sends what to whom.
    pub pattern: PatternSpec,
    /// Which nodes.
    pub placement: PlacementSpec,
    /// Colour in pictures, as CSS writes it (`#1b9e77`); one of a palette if not given.
    pub color: Option<String>,
}

/// A placed job.
#[derive(Clone, Debug)]
pub struct Job {
    /// Name.
    pub name: String,
    /// Colour in pictures.
    pub color: String,
    /// Number of ranks.
    pub ranks: u32,
    /// Ranks on each node but the last.
    pub ranks_per_node: u32,
    /// What each rank sends in one iteration.
    pub pattern: Arc<dyn Pattern>,
    /// How often every rank sends its messages.
    pub iterations: u32,
    /// Node of each rank.
    pub node_of_rank: Vec<NodeId>,
    /// Name of the pattern.
    pub pattern_name: String,
    /// Name of the placement.
    pub placement_name: String,
}

impl Job {
    /// All ranks.
    pub fn rank_ids(&self) -> impl ExactSizeIterator<Item = RankId> + Clone {
        (0..self.ranks).map(RankId)
    }

    /// Node of a rank.
    #[inline]
    pub fn node_of(&self, rank: RankId) -> NodeId {
        self.node_of_rank[rank.index()]
    }
}

/// Placed jobs; no two share a core.
#[derive(Clone, Debug, Default)]
pub struct Workload {
    /// The jobs by `JobId`.
    pub jobs: Vec<Job>,
}

/// Colours of jobs that name none: the eight of the palette of Okabe and Ito (2008), which colour-blind readers can
/// tell apart, black last.
const PALETTE: [&str; 8] = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#000000"];

impl Workload {
    /// Places all jobs in order and builds their patterns.
    ///
    /// # Errors
    /// A job without a name or with the name of another, no ranks, more ranks on a node than cores, more nodes than
    /// are free, and whatever a pattern or placement refuses.
    pub fn build(machine: &Machine, jobs: &[JobSpec], seed: u64) -> Result<Self, WorkloadError> {
        let mut free = FreeNodes::new(machine);
        let mut placed = Vec::with_capacity(jobs.len());
        for (index, spec) in jobs.iter().enumerate() {
            if jobs[..index].iter().any(|other| other.name == spec.name) {
                return Err(WorkloadError::job(&spec.name, "name", "another job has this name; names are unique"));
            }
            placed.push(place(spec, index, &mut free, seed)?);
        }
        Ok(Self { jobs: placed })
    }

    /// Some of the jobs, on the nodes that they have here: how a job runs alone to be compared with itself among the
    /// others. The jobs are renumbered in the order given.
    ///
    /// # Panics
    /// If a job does not exist.
    pub fn only(&self, jobs: &[JobId]) -> Self {
        Self { jobs: jobs.iter().map(|job| self.jobs[job.index()].clone()).collect() }
    }

    /// The job called `name`.
    pub fn job_named(&self, name: &str) -> Option<JobId> {
        self.jobs.iter().position(|job| job.name == name).map(JobId::from_index)
    }
}

fn place(spec: &JobSpec, index: usize, free: &mut FreeNodes<'_>, seed: u64) -> Result<Job, WorkloadError> {
    let machine = free.machine();
    let wrong = |parameter: &str, reason: String| Err(WorkloadError::job(&spec.name, parameter, reason));
    if spec.ranks == 0 {
        return wrong("ranks", "a job has at least one rank".into());
    }
    let cores = machine.cores_per_node();
    let ranks_per_node = spec.ranks_per_node.unwrap_or(cores);
    if ranks_per_node == 0 || ranks_per_node > cores {
        return wrong(
            "ranks_per_node",
            format!("{ranks_per_node}, but a node of {} has {cores} cores", machine.name()),
        );
    }
    let needed = spec.ranks.div_ceil(ranks_per_node) as usize;
    let available = free.all().count();
    if needed > available {
        return Err(WorkloadError::Oversubscribed {
            job: spec.name.clone(),
            ranks: spec.ranks,
            ranks_per_node,
            needed,
            free: available,
            usable: machine.nodes().filter(|&node| machine.node_up(node)).count(),
            machine: machine.name().into(),
        });
    }
    // The streams are named by the job, so that they do not depend on the jobs beside it.
    let mut stream = Stream::new(seed, &format!("placement/{}", spec.name), &[]);
    let nodes = spec.placement.nodes(free, needed, &mut stream)?;
    assert_eq!(nodes.len(), needed, "a placement hands out as many nodes as it is asked for");
    let node_of_rank: Vec<NodeId> = (0..spec.ranks).map(|rank| nodes[(rank / ranks_per_node) as usize]).collect();
    for &node in &node_of_rank {
        free.occupy(node);
    }
    let pattern = spec.pattern.build(&PatternContext {
        machine,
        job: &spec.name,
        ranks: spec.ranks,
        seed: Stream::new(seed, &format!("pattern/{}", spec.name), &[]).next_u64(),
        node_of_rank: &node_of_rank,
    })?;
    Ok(Job {
        name: spec.name.clone(),
        color: spec.color.clone().unwrap_or_else(|| PALETTE[index % PALETTE.len()].into()),
        ranks: spec.ranks,
        ranks_per_node,
        pattern,
        iterations: spec.pattern.iterations,
        node_of_rank,
        pattern_name: spec.pattern.name().into(),
        placement_name: spec.placement.name().into(),
    })
}
