//! Costs of every rank of every job, as rows and columns.

use crate::message::{rank_costs, MessagePrices, RankCost, RankMessage};
use crate::pricing::{PricingError, IDLE, TIME};
use crate::HopCounts;
use odonata_declare::Type::{F64, U32, U64};
use odonata_declare::Unit::{Bytes, Count, Plain, S};
use odonata_declare::{Column, FilledColumn, FilledTable, Values};
use odonata_machine::Machine;
use odonata_units::NodeId;
use odonata_workload::volumes::Messages;
use odonata_workload::{Job, Workload};

/// Costs of the ranks of all jobs in one iteration.
pub(crate) struct Costs<'a> {
    jobs: &'a [Job],
    /// Node of every rank, job by job, and the first rank of each job.
    nodes: Vec<NodeId>,
    first: Vec<usize>,
    costs: Vec<RankCost>,
}

const GENERAL: &str = "form = \"max-rate\", \"postal\" or \"loggp\"";

impl<'a> Costs<'a> {
    /// Prices all jobs in one step, because ranks of different jobs on a node share its rate.
    pub(crate) fn of(
        prices: &MessagePrices,
        machine: &Machine,
        workload: &'a Workload,
        progress: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Self, PricingError> {
        let jobs = &workload.jobs;
        let (mut nodes, mut first, mut messages) = (Vec::new(), vec![0], Vec::new());
        for job in jobs {
            let start = nodes.len() as u32;
            let mut sent = Messages::new(machine, job);
            for rank in job.rank_ids() {
                nodes.push(job.node_of(rank));
                messages.extend(sent.of(rank).map(|message| RankMessage {
                    source: start + message.source.0,
                    destination: start + message.target.0,
                    bytes: message.bytes.0,
                }));
            }
            first.push(nodes.len());
        }
        if !progress(0.5) {
            return Err(PricingError::Interrupted);
        }
        let numbers: Vec<u32> = nodes.iter().map(|node| node.0).collect();
        let (mut hops, mut missing) = (HopCounts::new(machine), None);
        let extra = |a: u32, b: u32| {
            // On a rail that works at both nodes. Minimal paths are equally long on all rails, except for faults.
            let common = machine.working_rails(NodeId(a)) & machine.working_rails(NodeId(b));
            let rail = if machine.has_rails() { common.trailing_zeros() } else { 0 };
            hops.between(machine.end(NodeId(a), rail), machine.end(NodeId(b), rail)).unwrap_or_else(|error| {
                missing.get_or_insert(error);
                0
            })
        };
        let costs = rank_costs(&messages, &numbers, extra, prices)?;
        match missing {
            Some(error) => Err(error.into()),
            None => Ok(Self { jobs, nodes, first, costs }),
        }
    }

    /// Columns of jobs: slowest rank and mean.
    pub(crate) const JOBS: &'a [FilledColumn<Self>] = &[
        TIME.by(|costs| costs.slowest(RankCost::total_s)),
        Column::mean("rank_time_mean_s", F64, S, "Mean time", "Mean time of the ranks of a job.")
            .weighted_by("ranks")
            .missing(IDLE)
            .under(GENERAL)
            .headline()
            .by(Self::means),
        Column::attribute("startup_s", F64, S, "Start-up", "Start-ups, overheads and latency of its slowest rank.")
            .missing(IDLE)
            .under(GENERAL)
            .headline()
            .by(|costs| costs.slowest(|cost| cost.startup_s)),
        Column::attribute("hops_s", F64, S, "Hops", "Time for further hops of the messages of the slowest rank.")
            .missing(IDLE)
            .under(GENERAL)
            .headline()
            .by(|costs| costs.slowest(|cost| cost.hops_s)),
        Column::attribute(
            "bandwidth_s",
            F64,
            S,
            "Bandwidth",
            "Time for the bytes of the slowest rank at its bandwidth.",
        )
        .missing(IDLE)
        .under(GENERAL)
        .headline()
        .by(|costs| costs.slowest(|cost| cost.bandwidth_s)),
        Column::attribute("matching_s", F64, S, "Matching", "Time for the queue search of the slowest rank.")
            .missing(IDLE)
            .under(GENERAL)
            .headline()
            .by(|costs| costs.slowest(|cost| cost.matching_s)),
    ];

    /// Table of ranks, all iterations together.
    pub(crate) const RANKS: FilledTable<'a, Self> = FilledTable {
        name: "rank_costs",
        row: "job and rank",
        sorted_by: &["job", "rank"],
        under: Some(GENERAL),
        doc: "",
        columns: &[
            Column::key("job", U32, Plain, "Job", "Number of the job.")
                .of("jobs")
                .by(|costs| costs.ranks().map(|(job, _, _)| job as u32).collect()),
            Column::key("rank", U32, Plain, "Rank", "Number of the rank within its job.")
                .by(|costs| costs.ranks().map(|(_, rank, _)| rank as u32).collect()),
            Column::attribute("node", U32, Plain, "Node", "Node of the rank.")
                .of("nodes")
                .by(|costs| costs.nodes.iter().map(|node| node.0).collect()),
            Column::sum("sends", U64, Count, "Sends", "Messages to other ranks.")
                .by(|costs| costs.counts(|cost| cost.sends.into())),
            Column::sum("receives", U64, Count, "Receives", "Messages from other ranks.")
                .by(|costs| costs.counts(|cost| cost.receives.into())),
            Column::sum("bytes", U64, Bytes, "Payload", "Payload of messages to other ranks.")
                .by(|costs| costs.counts(|cost| cost.bytes)),
            Column::max("startup_s", F64, S, "Start-up", "Start-ups, overheads and latency.")
                .by(|costs| costs.times(|cost| cost.startup_s)),
            Column::max("hops_s", F64, S, "Hops", "Time for further hops of its messages.")
                .by(|costs| costs.times(|cost| cost.hops_s)),
            Column::max("bandwidth_s", F64, S, "Bandwidth", "Time for its bytes at its bandwidth.")
                .by(|costs| costs.times(|cost| cost.bandwidth_s)),
            Column::max("matching_s", F64, S, "Matching", "Time for its queue search.")
                .by(|costs| costs.times(|cost| cost.matching_s)),
            Column::max("rank_time_s", F64, S, "Time", "Sum of the four times.")
                .by(|costs| costs.times(RankCost::total_s)),
        ],
    };

    fn of_job(&self, job: usize) -> &[RankCost] {
        &self.costs[self.first[job]..self.first[job + 1]]
    }

    fn rounds(&self, job: usize) -> f64 {
        f64::from(self.jobs[job].iterations)
    }

    /// A time of each job; NaN for idle ones.
    fn of_jobs(&self, get: impl Fn(usize) -> f64) -> Values {
        let time = |job: usize| if self.jobs[job].idle { f64::NAN } else { self.rounds(job) * get(job) };
        (0..self.jobs.len()).map(time).collect()
    }

    fn slowest(&self, get: fn(&RankCost) -> f64) -> Values {
        self.of_jobs(|job| get(&slowest(self.of_job(job))))
    }

    fn means(&self) -> Values {
        self.of_jobs(|job| {
            let costs = self.of_job(job);
            costs.iter().map(RankCost::total_s).sum::<f64>() / costs.len().max(1) as f64
        })
    }

    /// Job, rank and costs.
    fn ranks(&self) -> impl Iterator<Item = (usize, usize, &RankCost)> {
        (0..self.jobs.len())
            .flat_map(|job| self.of_job(job).iter().enumerate().map(move |(rank, cost)| (job, rank, cost)))
    }

    fn counts(&self, get: fn(&RankCost) -> u64) -> Values {
        self.ranks().map(|(job, _, cost)| u64::from(self.jobs[job].iterations) * get(cost)).collect()
    }

    fn times(&self, get: fn(&RankCost) -> f64) -> Values {
        self.ranks().map(|(job, _, cost)| self.rounds(job) * get(cost)).collect()
    }
}

/// Costs of the slowest rank; among equals, of the first one.
fn slowest(ranks: &[RankCost]) -> RankCost {
    let mut worst = RankCost::default();
    for cost in ranks {
        if cost.total_s() > worst.total_s() {
            worst = *cost;
        }
    }
    worst
}
