//! Jobs, and the workload that they form.

mod built_work;

use crate::pattern::PatternContext;
use crate::placement::{FreeNodes, IoRanks, NodeAssignment, PlacementRequest};
use crate::rail_choice::RailChoice;
use crate::silent::SilentPattern;
use crate::{
    Execution, MissingMessages, Pattern, PatternRule, PatternSpec, PlacementSpec, TrafficKind, TrafficSpec,
    WorkloadError,
};
use built_work::{ranks_work, BuiltWork, Checks};
use odonata_declare::{parameters, Choice, Kind};
use odonata_machine::Machine;
use odonata_programs::collective::Collectives;
use odonata_programs::expansion::JobProgram;
use odonata_programs::mistakes::{Examination, ExaminationCache, MAX_CALLS};
use odonata_programs::{MessageCounts, ProgramContext, ProgramSpec};
use odonata_trace::TaskGraph;
use odonata_units::{Bytes, JobId, NodeId, RankId, Stream};
use std::collections::HashSet;
use std::sync::{Arc, LazyLock};

/// Specification of a job.
#[derive(Clone, Debug)]
pub struct JobSpec {
    /// Name, unique in the workload. It also names the random streams of the job.
    pub name: String,
    /// Number of ranks.
    pub ranks: u32,
    /// Work of its ranks.
    pub work: Work,
    /// Placement.
    pub placement: PlacementSpec,
    /// Other keys.
    pub settings: JobSettings,
}

const CORES: &Choice = &Choice { name: "cores", doc: "one rank on each core" };

parameters! {
    /// Keys of every job whose values need no file and no machine.
    #[derive(PartialEq, Eq)]
    pub struct JobSettings {
        /// Consecutive ranks on each node; the last node may have fewer.
        #[decides(result)]
        pub ranks_per_node: Option<u32> = None, Kind::WordOr(CORES, &Kind::COUNT);
        /// Whether the job holds its nodes but sends nothing. The other jobs run on the same nodes as with it.
        pub idle: bool = false;
        /// Whether the job is left out of the run. Other jobs may get its nodes.
        pub absent: bool = false;
        /// Traffic class of its messages.
        pub traffic_class: Option<String> = None, Kind::Text, else "the first `[[traffic_class]]`";
        /// Traffic class of messages of `large_from` or more.
        pub large_class: Option<String> = None, Kind::Text, else "`traffic_class`";
        /// Size from which messages are in `large_class`. For programs, bytes on the wire: a rendezvous header is small.
        pub large_from: Option<Bytes> = None, Kind::Bytes, else "no message is large";
        /// Colour in pictures.
        pub color: Option<String> = None, Kind::Color, else "one of a palette, by the number of the job";
    }
}

impl JobSpec {
    /// The nodes that its placement lists, ascending, if it lists any. `index` is the position of the job in the
    /// experiment.
    pub fn given_nodes(&self, index: usize, machine: &Machine) -> Vec<NodeId> {
        let mut nodes = self.placement.rule().given_nodes(&request(self, index, 0), machine);
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    /// Its colour in pictures: the given one, or one of the palette.
    pub fn color(&self, index: usize) -> String {
        self.settings.color.clone().unwrap_or_else(|| COLORS[index % COLORS.len()].clone())
    }
}

/// The work of a job's ranks.
#[derive(Clone, Debug)]
pub enum Work {
    /// Messages of a pattern.
    Pattern {
        /// The pattern.
        pattern: PatternSpec,
        /// The traffic.
        traffic: TrafficSpec,
    },
    /// A program.
    Program {
        /// The programs, run one after the other; at least one.
        programs: Vec<ProgramSpec>,
        /// Collective algorithms.
        collectives: Arc<Collectives>,
        /// Start and repetitions.
        execution: Execution,
    },
}

impl Work {
    /// Messages of a pattern as closed traffic.
    pub fn pattern(pattern: PatternSpec) -> Self {
        Self::Pattern { pattern, traffic: TrafficSpec::default() }
    }
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
    /// Ranks on each node except the last.
    pub ranks_per_node: u32,
    /// Whether it occupies its nodes without sending. Then `pattern` is silent.
    pub idle: bool,
    /// Messages of each rank in one iteration.
    pub pattern: Arc<dyn Pattern>,
    /// The rule of the pattern, for users of more than its messages. `None` for a program.
    pub rule: Option<Arc<dyn PatternRule>>,
    /// How often every rank sends its messages. 1 for a background program.
    pub iterations: u32,
    /// Traffic.
    pub traffic: TrafficKind,
    /// The program, if the job has one that is a sequence of calls. Then `pattern` has its messages.
    pub program: Option<JobProgram>,
    /// The task graph, if the job has one. Then `program` is `None`, and `pattern` has its messages.
    pub graph: Option<Arc<TaskGraph>>,
    /// Results of the check before the run.
    pub examined: Examination,
    /// Node of each rank.
    pub node_of_rank: Vec<NodeId>,
    /// Rail selection of its messages.
    pub rails: RailChoice,
    /// Name of the pattern or program.
    pub pattern_name: String,
    /// Name of the placement.
    pub placement_name: String,
}

impl Job {
    /// Whether its program repeats until the other jobs have ended.
    pub fn is_background(&self) -> bool {
        matches!(self.traffic, TrafficKind::Program(Execution { background: true, .. }))
    }

    /// Messages of one iteration, by a formula. Of drawn messages the expectation, of long programs an estimate.
    pub fn counts(&self) -> MessageCounts {
        self.pattern.counts()
    }

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

/// Placed jobs. Jobs do not share cores.
#[derive(Clone, Debug, Default)]
pub struct Workload {
    /// The jobs by `JobId`.
    pub jobs: Vec<Job>,
}

/// Default colours of jobs: the palette of Okabe and Ito (2008) for colour-blind readers, black last.
static COLORS: LazyLock<Vec<String>> = LazyLock::new(|| {
    #[derive(serde::Deserialize)]
    struct Colors {
        okabe_ito: Vec<String>,
        then: Then,
    }
    #[derive(serde::Deserialize)]
    struct Then {
        jobs: Vec<String>,
    }
    let shared = include_str!("../../../python/odonata/colors.json");
    let Colors { okabe_ito, then } = serde_json::from_str(shared).expect("the colours are JSON");
    [okabe_ito, then.jobs].concat()
});

impl Workload {
    /// Places all jobs in order and builds their patterns. Absent jobs are left out; they keep their positions for the
    /// colours and files of the others.
    ///
    /// # Errors
    /// A job without a name or with the name of another job, without ranks, with more ranks on a node than cores, or
    /// with more nodes than are free. An error of a pattern or placement. A program with an invalid call
    /// ([`odonata_programs::mistakes`]).
    pub fn build(machine: &Machine, jobs: &[JobSpec], seed: u64) -> Result<Self, WorkloadError> {
        Self::build_with_cache(machine, jobs, seed, &mut ExaminationCache::default())
    }

    /// Like [`Self::build`], for callers that build many workloads. The cache avoids checking a program twice.
    ///
    /// # Errors
    /// Errors of [`Self::build`].
    pub fn build_with_cache(
        machine: &Machine,
        jobs: &[JobSpec],
        seed: u64,
        known: &mut ExaminationCache,
    ) -> Result<Self, WorkloadError> {
        let mut free = FreeNodes::new(machine);
        let mut begun = Vec::with_capacity(jobs.len());
        let present = || jobs.iter().enumerate().filter(|(_, spec)| !spec.settings.absent);
        let mut names = HashSet::new();
        for (index, spec) in jobs.iter().enumerate() {
            let is_new = names.insert(spec.name.as_str());
            if spec.settings.absent {
                continue;
            }
            if !is_new {
                return Err(WorkloadError::job(&spec.name, "name", "another job has this name; names are unique"));
            }
            if spec.ranks == 0 {
                return Err(WorkloadError::job(&spec.name, "ranks", "0, expected at least one rank"));
            }
            begun.push(spec.placement.rule().begin(&request(spec, index, seed), &mut free)?);
        }
        let programs = present().filter(|(_, spec)| matches!(spec.work, Work::Program { .. })).count() as u64;
        let calls_max = (MAX_CALLS / programs.max(1)).max(CALLS_OF_JOB_MIN);
        let mut checks = Checks { known, calls_max };
        let mut finished = Vec::with_capacity(jobs.len());
        for ((index, spec), begun) in present().zip(begun) {
            let request = request(spec, index, seed);
            let placed = begun.finish(&request, &mut free)?;
            finished.push(job(spec, &request, placed, machine, &mut checks)?);
        }
        Ok(Self { jobs: finished })
    }

    /// Checks that the messages of all jobs are known, for engines that need each message.
    ///
    /// # Errors
    /// The first job with unknown messages, and the reason.
    pub fn check_messages(&self) -> Result<(), (JobId, WorkloadError)> {
        for (number, job) in self.jobs.iter().enumerate() {
            if let Some(MissingMessages { parameter, reason }) = job.pattern.missing_messages() {
                let owner = format!("job '{}': pattern '{}'", job.name, job.pattern_name);
                return Err((JobId::from_index(number), WorkloadError::parameter(owner, parameter, reason.as_str())));
            }
        }
        Ok(())
    }
}

/// Limit on checked calls of each of many jobs: few enough for 1,000 long programs in a second.
const CALLS_OF_JOB_MIN: u64 = 10_000;

fn request(spec: &JobSpec, index: usize, seed: u64) -> PlacementRequest<'_> {
    let JobSpec { name: job, ranks, placement, settings, .. } = spec;
    let ranks_per_node = settings.ranks_per_node;
    let io_ranks = io_ranks(&spec.work, *ranks);
    PlacementRequest { job, placement: placement.name(), index, ranks: *ranks, ranks_per_node, seed, io_ranks }
}

/// The I/O ranks of a job. Its programs run on the same ranks, so the program with the most I/O ranks counts.
fn io_ranks(work: &Work, ranks: u32) -> IoRanks<'_> {
    let Work::Program { programs, .. } = work else { return IoRanks::default() };
    let all = programs.iter().map(|program| IoRanks { program: program.name(), count: program.rule().io_ranks() });
    let most = all.max_by_key(|io| io.count).unwrap_or_default();
    // The program refuses more servers than ranks.
    IoRanks { count: most.count.min(ranks), ..most }
}

fn job(
    spec: &JobSpec,
    request: &PlacementRequest<'_>,
    placed: NodeAssignment,
    machine: &Machine,
    checks: &mut Checks<'_>,
) -> Result<Job, WorkloadError> {
    let NodeAssignment { node_of_rank, ranks_per_node } = placed;
    let JobSpec { name, ranks, settings: JobSettings { idle, .. }, .. } = spec;
    // Named by the job, so the seed does not depend on other jobs.
    let seed = |what: &str| Stream::new(request.seed, &format!("{what}/{name}"), &[]).next_u64();
    let done = match &spec.work {
        Work::Pattern { pattern, traffic } => {
            let (seed, node_of_rank) = (seed("pattern"), node_of_rank.as_slice());
            let context = PatternContext { machine, job: name, ranks: *ranks, seed, node_of_rank };
            BuiltWork {
                pattern: pattern.rule().build(&context).map_err(|mistake| pattern.error(name, mistake))?,
                rule: Some(Arc::clone(pattern.rule())),
                iterations: pattern.common().iterations,
                traffic: traffic.rule().traffic().map_err(|mistake| traffic.error(name, mistake))?,
                program: None,
                graph: None,
                examined: Examination::default(),
                name: pattern.name().into(),
            }
        }
        Work::Program { programs, collectives, execution } => {
            let context = ProgramContext { job: name, ranks: *ranks, seed: seed("program") };
            ranks_work(programs, collectives, execution, &context, checks)?
        }
    };
    let silent = |pattern| if *idle { Arc::new(SilentPattern { ranks: *ranks }) as Arc<dyn Pattern> } else { pattern };
    Ok(Job {
        name: name.clone(),
        idle: *idle,
        color: spec.color(request.index),
        ranks: *ranks,
        ranks_per_node,
        pattern: silent(done.pattern),
        rule: done.rule,
        iterations: done.iterations,
        // An idle job runs nothing.
        traffic: if *idle && (done.program.is_some() || done.graph.is_some()) {
            TrafficKind::default()
        } else {
            done.traffic
        },
        program: done.program.filter(|_| !idle),
        graph: done.graph.filter(|_| !idle),
        examined: if *idle { done.examined.with_no_messages() } else { done.examined },
        node_of_rank,
        rails: RailChoice::default(),
        pattern_name: done.name,
        placement_name: spec.placement.name().into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_machines::cascade;
    use serde_json::json;

    fn spec(name: &str, ranks: u32, pattern: &str, placement: &str) -> JobSpec {
        JobSpec {
            name: name.into(),
            ranks,
            settings: JobSettings::default(),
            work: Work::pattern(PatternSpec::parse(pattern).unwrap()),
            placement: PlacementSpec::parse(placement).unwrap(),
        }
    }

    fn sends(job: &Job) -> Vec<Vec<crate::SentMessage>> {
        let mut all = Vec::new();
        for rank in job.rank_ids() {
            let mut sends = Vec::new();
            job.pattern.sends(rank, &mut sends);
            all.push(sends);
        }
        all
    }

    /// 2 groups x 2 x 4 routers x 2 nodes x 4 cores = 128 cores.
    fn machine() -> Machine {
        cascade(2, 2, 4, 2, 4)
    }

    #[test]
    fn ranks_fill_nodes_in_blocks_and_nodes_are_exclusive() {
        let jobs = [spec("a", 10, "uniform", "compact"), spec("b", 6, "stencil-2d", "compact")];
        let workload = Workload::build(&machine(), &jobs, 1).unwrap();
        let nodes = |job: usize| workload.jobs[job].node_of_rank.iter().map(|node| node.0).collect::<Vec<_>>();
        assert_eq!(nodes(0), [0, 0, 0, 0, 1, 1, 1, 1, 2, 2]);
        assert_eq!(nodes(1), [3, 3, 3, 3, 4, 4]);
        assert_ne!(workload.jobs[0].color, workload.jobs[1].color);
    }

    /// The neighbours of a job do not depend on other jobs. They and its nodes follow the seed.
    #[test]
    fn a_job_keeps_its_neighbours_and_nodes() {
        let jobs = [
            spec("a", 30, "spread", "non-uniform"),
            spec("b", 20, "umesh", "random-nodes"),
            spec("c", 30, "hotspot", "random-routers"),
        ];
        let together = Workload::build(&machine(), &jobs, 1).unwrap();
        let without_a = Workload::build(&machine(), &jobs[1..], 1).unwrap();
        assert_eq!(sends(&without_a.jobs[0]), sends(&together.jobs[1]));
        assert_eq!(sends(&without_a.jobs[1]), sends(&together.jobs[2]));
        let other_seed = Workload::build(&machine(), &jobs, 2).unwrap();
        assert_ne!(sends(&other_seed.jobs[1]), sends(&together.jobs[1]));
        assert_ne!(other_seed.jobs[1].node_of_rank, together.jobs[1].node_of_rank);
    }

    #[test]
    fn an_idle_job_holds_its_nodes_and_is_silent() {
        let mut jobs = [spec("a", 30, "spread", "non-uniform"), spec("b", 20, "umesh", "random-nodes")];
        let busy = Workload::build(&machine(), &jobs, 1).unwrap();
        jobs[0].settings.idle = true;
        let idle = Workload::build(&machine(), &jobs, 1).unwrap();
        for job in 0..2 {
            assert_eq!(idle.jobs[job].node_of_rank, busy.jobs[job].node_of_rank);
        }
        assert!(sends(&idle.jobs[0]).iter().all(Vec::is_empty));
        assert_eq!(sends(&idle.jobs[1]), sends(&busy.jobs[1]));
    }

    #[test]
    fn mistakes_say_what_is_wrong() {
        let message = |jobs: &[JobSpec]| Workload::build(&machine(), jobs, 1).unwrap_err().to_string();
        assert_eq!(
            message(&[spec("a", 100, "uniform", "compact"), spec("b", 33, "uniform", "random-nodes")]),
            "job 'b' needs 9 nodes (33 ranks, 4 on each), but only 7 of the 32 usable nodes of test are free: 2 too few"
        );
        let mut crowded = spec("a", 8, "uniform", "compact");
        crowded.settings.ranks_per_node = Some(5);
        assert_eq!(
            message(&[crowded.clone()]),
            "job 'a': ranks_per_node: 5, but a node of test has 4 cores: 1 too many"
        );
        crowded.settings.ranks_per_node = Some(0);
        assert!(message(&[crowded]).contains("at least one rank"));
        assert!(message(&[spec("a", 0, "uniform", "compact")]).starts_with("job 'a': ranks: 0"));
        let twice = [spec("a", 1, "uniform", "compact"), spec("a", 1, "uniform", "compact")];
        assert!(message(&twice).contains("names are unique"));
        let mut grid = spec("a", 12, "stencil-2d", "compact");
        let mut stencil = PatternSpec::parse("stencil-2d").unwrap();
        stencil.set("dims", json!([5, 2])).unwrap();
        grid.work = Work::pattern(stencil);
        assert!(message(&[grid]).starts_with("job 'a': pattern 'stencil-2d': dims: 5 x 2 makes 10 points"));
    }
}
