//! Jobs whose ranks run programs: what they take along, and the tables of their ranks.

use super::calls::{CALLS, PHASE_TIMES, WAITS};
use super::columns::FinishedRun;
use super::keys::Records;
use super::messages::MESSAGES;
use super::program_records::{phase_names, ProgramRecords};
use super::rank_memory::RankMemory;
use crate::record::ids::{JOB, RANK};
use crate::scenario::Scenario;
use odonata_declare::Type::{Bool, Coded, F64, U32, U64};
use odonata_declare::Unit::{Bytes as InBytes, BytesPerS, Count, Ns, Plain, Ps};
use odonata_declare::{Column, FilledColumn, FilledTable, Frame, Table, Values};
use odonata_packet::{PacketSettings, Program};
use odonata_transport::{wire_volume, CallKind, PhaseRecord, RankJob, RankRecord, RankWork, Ranks};
use odonata_units::Time;
use odonata_workload::rails::JobRails;
use odonata_workload::{Job, TrafficKind};
use std::sync::Arc;

/// The ranks of all jobs that are programs.
#[derive(Clone, Debug)]
pub(super) struct Programs {
    pub(super) ranks: Arc<Ranks>,
    /// Packets and bytes that they put on the wires.
    pub(super) packets: u64,
    pub(super) bytes: u64,
    /// Memory that the ranks take, and what is recorded of their messages.
    pub(super) memory_bytes: u64,
}

impl Programs {
    /// The programs of a workload, if there are any.
    pub(super) fn of(scenario: &Scenario, settings: &PacketSettings, records: &Records) -> Option<Self> {
        let mut jobs = Vec::new();
        let (mut packets, mut bytes, mut memory_bytes) = (0u64, 0u64, 0u64);
        for (number, job) in (0..).zip(&scenario.workload.jobs) {
            let TrafficKind::Program(execution) = &job.traffic else { continue };
            let mut memory = RankMemory::default();
            let work = match (&job.program, &job.graph) {
                (Some(program), _) => {
                    job.rank_ids().for_each(|rank| memory.add_rank(program, rank));
                    RankWork::Calls(program.clone())
                }
                (None, Some(graph)) => {
                    graph.ranks.iter().for_each(|tasks| memory.add_tasks(tasks, scenario.mpi.task_window));
                    RankWork::Tasks(Arc::clone(graph))
                }
                (None, None) => continue,
            };
            jobs.push(RankJob {
                job: number,
                work,
                node_of_rank: Arc::new(job.node_of_rank.clone()),
                rails: scenario.machine.has_rails().then(|| Arc::new(JobRails::new(&scenario.machine, job))),
                start: execution.start,
                background: execution.background,
            });
            let rounds = u64::from(job.iterations);
            let sent = job.counts();
            memory.add_messages(&sent, rounds * u64::from(records.messages), rounds * u64::from(records.calls));
            for (size, messages) in sent.by_size() {
                let (wire, count) = wire_volume(&scenario.mpi, settings.payload(), size);
                let times = messages.saturating_mul(rounds);
                bytes = bytes.saturating_add(wire.saturating_mul(times));
                packets = packets.saturating_add(count.saturating_mul(times));
            }
            memory_bytes += memory.bytes();
        }
        if jobs.is_empty() {
            return None;
        }
        let machine = &scenario.machine;
        let routers = machine.nodes().take(machine.host_count()).map(|node| machine.router_of(node)).collect();
        let ranks = Ranks::new(jobs, scenario.mpi.clone()).with_routers(routers);
        let ranks = if records.messages { ranks.with_messages() } else { ranks };
        let ranks = if records.calls { ranks.with_calls() } else { ranks };
        Some(Self { ranks: Arc::new(ranks), packets, bytes, memory_bytes })
    }

    /// The same, whose loops are followed.
    ///
    /// # Errors
    /// They have no loop that can be skipped.
    pub(super) fn with_loops(self) -> Result<Self, String> {
        Ok(Self { ranks: Arc::new(Ranks::clone(&self.ranks).with_loops()?), ..self })
    }

    /// As the engine runs them.
    pub(super) fn program(&self) -> Arc<dyn Program> {
        Arc::clone(&self.ranks) as Arc<dyn Program>
    }
}

/// The declarations, in the order of the reference.
pub(super) fn tables() -> Vec<Table> {
    vec![
        RANKS.declaration(),
        PHASES.declaration(),
        MESSAGES.declaration(),
        CALLS.declaration(),
        WAITS.declaration(),
        PHASE_TIMES.declaration(),
    ]
}

/// Those that the run has.
pub(super) fn frames(ran: &ProgramRecords) -> Vec<(&'static str, Frame)> {
    if ran.ranks.is_empty() {
        return Vec::new();
    }
    let mut frames = vec![RANKS.of(ran)];
    frames.extend(phases(ran).next().is_some().then(|| PHASES.of(ran)));
    frames.extend(ran.records_messages.then(|| MESSAGES.of(ran)));
    if ran.records_calls {
        frames.extend([CALLS.of(ran), WAITS.of(ran)]);
        frames.extend((!ran.recorded.phases.is_empty()).then(|| PHASE_TIMES.of(ran)));
    }
    frames
}

const UNDER: &str = "program";

/// A time of a rank's calls.
const fn in_calls(name: &'static str, label: &'static str, doc: &'static str) -> Column {
    Column::sum(name, U64, Ps, label, doc)
}

fn of_ranks<T>(ran: &ProgramRecords, get: impl Fn(&RankRecord) -> T) -> Values
where
    Values: FromIterator<T>,
{
    ran.ranks.iter().map(get).collect()
}

const RANKS: FilledTable<'_, ProgramRecords> = FilledTable {
    name: "ranks",
    row: "rank of a job with a program",
    sorted_by: &["job", "rank"],
    under: Some(UNDER),
    doc: "Activity of the ranks, each on its own clock. Time in calls is communication. A collective is one call.",
    columns: &[
        JOB.by(|ran| of_ranks(ran, |r| u32::from(r.job))),
        RANK.by(|ran| of_ranks(ran, |r| r.rank)),
        Column::attribute("node", U32, Plain, "Node", "Node of the rank.")
            .of("nodes")
            .by(|ran| of_ranks(ran, |r| r.node.0)),
        Column::attribute("start_ps", U64, Ps, "Start", "Start of the rank.").by(|ran| of_ranks(ran, |r| r.start.ps())),
        Column::attribute("finished", Bool, Plain, "Finished", "Whether the rank reached the end of its program.")
            .by(|ran| of_ranks(ran, |r| r.end.is_some())),
        Column::max(
            "end_ps",
            U64,
            Ps,
            "End",
            "End of the program of the rank, or of the run if the program did not end.",
        )
        .by(|ran| of_ranks(ran, |r| end(ran, r).ps())),
        Column::sum("communication_ps", U64, Ps, "Communication", "Time in calls.")
            .headline()
            .by(|ran| of_ranks(ran, |r| r.communication.ps())),
        Column::sum("compute_ps", U64, Ps, "Computation", "Time in computation.")
            .by(|ran| of_ranks(ran, |r| r.compute.ps())),
        in_calls("send_ps", "Sends", "Time in sends, blocking or not.").by(|ran| calls(ran, CallKind::Send)),
        in_calls("receive_ps", "Receives", "Time in receives, blocking or not.")
            .by(|ran| calls(ran, CallKind::Receive)),
        in_calls("wait_ps", "Waits", "Time in waits and tests.").by(|ran| calls(ran, CallKind::Wait)),
        in_calls("collective_ps", "Collectives", "Time in collectives and in calls about communicators.")
            .by(|ran| calls(ran, CallKind::Collective)),
        in_calls("blocked_ps", "Blocked", "Part of the time in calls in which the rank was blocked.")
            .by(|ran| of_ranks(ran, |r| r.blocked.iter().map(|time| time.ps()).sum::<u64>())),
        Column::sum("calls", U64, Count, "Calls", "Calls of the rank.").by(|ran| of_ranks(ran, |r| r.calls)),
        Column::sum("messages", U64, Count, "Messages", "Sent messages, including messages of collectives.")
            .by(|ran| of_ranks(ran, |r| r.messages)),
        Column::sum("bytes", U64, InBytes, "Payload", "Payload of these messages.")
            .by(|ran| of_ranks(ran, |r| r.bytes)),
        Column::sum(
            "wire_bytes",
            U64,
            InBytes,
            "On wires",
            "Wire bytes of the messages to other nodes: their payload and the headers of protocols, without padding.",
        )
        .by(|ran| of_ranks(ran, |r| r.wire_bytes)),
        Column::sum("received_bytes", U64, InBytes, "Received", "Payload of received messages.")
            .by(|ran| of_ranks(ran, |r| r.received_bytes)),
    ],
};

fn calls(ran: &ProgramRecords, kind: CallKind) -> Values {
    of_ranks(ran, |rank| rank.in_calls[kind as usize].ps())
}

fn end(ran: &ProgramRecords, rank: &RankRecord) -> Time {
    rank.end.unwrap_or(ran.end)
}

/// Every phase of every rank that has it, with its number.
fn phases(ran: &ProgramRecords) -> impl Iterator<Item = (&RankRecord, usize, &PhaseRecord)> {
    ran.ranks
        .iter()
        .flat_map(|rank| rank.phases.iter().enumerate().map(move |(phase, record)| (rank, phase, record)))
        .filter(|(_, _, record)| record.count > 0)
}

const PHASES: FilledTable<'_, ProgramRecords> = FilledTable {
    name: "phases",
    row: "rank and phase of its program",
    sorted_by: &["job", "rank", "phase_number"],
    under: Some(UNDER),
    doc: "Sums over all occurrences of the phases that programs mark. A rank has no row for a phase that it never entered.",
    columns: &[
        JOB
            .by(|ran| phases(ran).map(|(rank, _, _)| u32::from(rank.job)).collect()),
        RANK
            .by(|ran| phases(ran).map(|(rank, _, _)| rank.rank).collect()),
        Column::key("phase_number", U32, Plain, "Phase number", "Number of the phase in its program.")
            .by(|ran| phases(ran).map(|(_, phase, _)| phase as u32).collect()),
        Column::attribute("phase", Coded, Plain, "Phase", "Name of the phase.")
            .by(|ran| phase_names(ran, phases(ran).map(|(rank, phase, _)| (rank.job, phase)))),
        Column::attribute(
            "program",
            U32,
            Plain,
            "Program",
            "Number of the program in the job, from 0.",
        )
        .by(|ran| {
            let of = |(rank, phase, _): (&RankRecord, usize, _)| {
                ran.program_of.get(ran.first_phase[usize::from(rank.job)] + phase).copied().unwrap_or(0)
            };
            phases(ran).map(of).collect()
        }),
        Column::sum("count", U64, Count, "Count", "Occurrences of the phase.")
            .by(|ran| phases(ran).map(|(_, _, record)| record.count).collect()),
        Column::sum("phase_time_ps", U64, Ps, "Time", "Total time from start to end.")
            .by(|ran| phases(ran).map(|(_, _, record)| record.time.ps()).collect()),
        Column::sum("communication_ps", U64, Ps, "Communication", "Part of this time in calls.")
            .by(|ran| phases(ran).map(|(_, _, record)| record.communication.ps()).collect()),
    ],
};

impl<'a> FinishedRun<'a> {
    /// What programs add to the table of jobs.
    pub(super) const OF_PROGRAMS: &'a [FilledColumn<Self>] = &[
        of_job(
            "repetitions",
            Count,
            "Repetitions",
            "Completed executions of the program by all ranks; a background job repeats until the other jobs end.",
        )
        .by_if(|run| of_jobs(run, |job, _, ranks| repetitions(job, ranks))),
        of_job("communication_mean_ns", Ns, "Communication", "Time in calls, mean over the ranks.")
            .headline()
            .by_if(|run| of_jobs(run, |_, _, ranks| moments(ranks).0)),
        of_job(
            "communication_deviation_ns",
            Ns,
            "Deviation of communication",
            "Time in calls, standard deviation over the ranks.",
        )
        .by_if(|run| of_jobs(run, |_, _, ranks| moments(ranks).1)),
        of_job("communication_min_ns", Ns, "Least communication", "Time in calls, minimum over the ranks.")
            .by_if(|run| of_jobs(run, |_, _, ranks| quantile(ranks, 0.0))),
        of_job("communication_p95_ns", Ns, "Communication, 95 %", "Time in calls, 95th percentile over the ranks.")
            .by_if(|run| of_jobs(run, |_, _, ranks| quantile(ranks, 0.95))),
        of_job("communication_max_ns", Ns, "Most communication", "Time in calls, maximum over the ranks.")
            .by_if(|run| of_jobs(run, |_, _, ranks| quantile(ranks, 1.0))),
        of_job(
            "injection_bytes_per_s",
            BytesPerS,
            "Injection rate",
            "`ranks.wire_bytes`, summed over the ranks, over the time from the start of the job to its end.",
        )
        .by_if(|run| {
            of_jobs(run, |_, ran, ranks| {
                let start = ranks.iter().map(|rank| rank.start).min().unwrap_or(Time::ZERO);
                let end = ranks.iter().map(|rank| end(ran, rank)).max().unwrap_or(Time::ZERO);
                ranks.iter().map(|rank| rank.wire_bytes).sum::<u64>() as f64 / (end - start).as_s_f64()
            })
        }),
    ];
}

const fn of_job(name: &'static str, unit: odonata_declare::Unit, label: &'static str, doc: &'static str) -> Column {
    Column::attribute(name, F64, unit, label, doc).under(UNDER).missing("the job has no program")
}

/// A figure of each job that is a program, if any is.
fn of_jobs(run: &FinishedRun<'_>, figure: impl Fn(&Job, &ProgramRecords, &[RankRecord]) -> f64) -> Option<Values> {
    let ran = run.ran;
    let own = |number: usize| {
        let ranks = ran.ranks_of(number);
        if ranks.is_empty() {
            f64::NAN
        } else {
            figure(&run.scenario.workload.jobs[number], ran, ranks)
        }
    };
    (!ran.ranks.is_empty()).then(|| (0..run.scenario.workload.jobs.len()).map(own).collect())
}

/// Rounds of a job that all its ranks are through with. Ranks of an endless program that do nothing are at their end.
fn repetitions(job: &Job, ranks: &[RankRecord]) -> f64 {
    let endless = job.is_background();
    let of = |rank: &RankRecord| match rank.end {
        Some(_) if endless => None,
        Some(_) => Some(u64::from(job.iterations)),
        None => Some(rank.rounds),
    };
    ranks.iter().filter_map(of).min().unwrap_or(0) as f64
}

/// Mean and population standard deviation of the time in calls, in ns.
fn moments(ranks: &[RankRecord]) -> (f64, f64) {
    let times = || ranks.iter().map(|rank| rank.communication.as_ns_f64());
    let mean = times().sum::<f64>() / ranks.len() as f64;
    let squares = times().map(|time| (time - mean).powi(2)).sum::<f64>();
    (mean, (squares / ranks.len() as f64).sqrt())
}

/// The smallest time in calls, in ns, that a share of the ranks does not exceed.
fn quantile(ranks: &[RankRecord], share: f64) -> f64 {
    let mut times: Vec<u64> = ranks.iter().map(|rank| rank.communication.ps()).collect();
    times.sort_unstable();
    let place = (share * times.len() as f64).ceil() as usize;
    Time(times[place.saturating_sub(1)]).as_ns_f64()
}
