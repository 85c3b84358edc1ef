//! What a trace has: ranks, messages, collectives, computation, and which records count.

use super::{Content, Recording, TraceFormat};
use crate::call::{Call, Operation, EQUAL};
use crate::collective::Collectives;
use crate::expansion::{CallExpander, JobProgram};
use odonata_declare::Reader;
use odonata_trace::chakra::NodeKind;
use odonata_trace::{Survey, Work};
use odonata_units::Time;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Messages from one rank to another, of one tag.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Pair {
    /// Messages.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Collectives of one kind, on communicators of one size.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct CollectiveTotal {
    /// Calls of all ranks.
    pub calls: u64,
    /// Bytes of all calls, as each names them; of vector forms, all that the rank sends.
    pub bytes: u64,
}

/// What a trace has.
#[derive(Debug)]
pub struct TraceReport {
    /// Format.
    pub format: TraceFormat,
    /// The format of the original of a trace file, else the same.
    pub source: TraceFormat,
    /// Number of ranks.
    pub ranks: u32,
    /// Messages of the program by source, target and tag, without messages of collectives.
    pub pairs: BTreeMap<(u32, u32, u32), Pair>,
    /// Collectives by name and number of ranks.
    pub collectives: BTreeMap<(&'static str, u32), CollectiveTotal>,
    /// Calls of all ranks without computation; of a graph, its tasks or nodes.
    pub calls: u64,
    /// Computation of each rank.
    pub compute: Vec<Time>,
    /// Records by kind, and what is missing.
    pub survey: Survey,
}

/// Reads a trace, of which `format` and the number of ranks follow from its files.
///
/// # Errors
/// A mistake in a file: its place and what was expected.
pub fn trace_report(path: &str, format: Option<TraceFormat>, files: &mut dyn Reader) -> Result<TraceReport, String> {
    let recording = Recording::open(path, format, None, None, files)?;
    let ranks = recording.ranks();
    let mut report = TraceReport {
        format: recording.format,
        source: recording.source,
        ranks,
        pairs: BTreeMap::new(),
        collectives: BTreeMap::new(),
        calls: 0,
        compute: vec![Time::ZERO; ranks as usize],
        survey: recording.survey().clone(),
    };
    match recording.content {
        Content::Calls(trace) => {
            let shared = JobProgram::new(trace, Arc::new(Collectives::study()));
            for rank in 0..ranks {
                report.follow(&shared, rank).map_err(|reason| format!("{path}: rank {rank}, {reason}"))?;
            }
        }
        Content::Tasks(graph, _) => {
            for (rank, tasks) in (0..).zip(&graph.ranks) {
                for task in tasks.tasks() {
                    report.calls += 1;
                    match task.work {
                        Work::Send { to, bytes, tag, .. } => report.send(rank, to, tag, bytes.0),
                        Work::Receive { .. } => {}
                        Work::Compute { time } => report.compute(rank, time),
                    }
                }
            }
        }
        Content::Nodes(nodes, _) => {
            for rank in 0..ranks {
                for (node, time) in nodes.nodes(rank).iter().zip(nodes.times(rank)) {
                    report.calls += 1;
                    match (node.kind, node.peer) {
                        (NodeKind::Send, Some(to)) => report.send(rank, to, node.tag, node.bytes.unwrap_or(0)),
                        (NodeKind::Collective(kind), _) => {
                            report.collective(kind.name(), nodes.group_size(node), node.bytes.unwrap_or(0));
                        }
                        _ => report.compute(rank, *time),
                    }
                }
            }
        }
    }
    Ok(report)
}

impl TraceReport {
    fn send(&mut self, from: u32, to: u32, tag: u32, bytes: u64) {
        let pair = self.pairs.entry((from, to, tag)).or_default();
        pair.messages += 1;
        pair.bytes = pair.bytes.saturating_add(bytes);
    }

    fn compute(&mut self, rank: u32, time: Time) {
        let sum = &mut self.compute[rank as usize];
        *sum = Time(sum.0.saturating_add(time.0));
    }

    fn collective(&mut self, name: &'static str, ranks: u32, bytes: u64) {
        let total = self.collectives.entry((name, ranks)).or_default();
        total.calls += 1;
        total.bytes = total.bytes.saturating_add(bytes);
    }

    /// Adds the calls of a rank.
    fn follow(&mut self, shared: &JobProgram, rank: u32) -> Result<(), String> {
        let mut code = CallExpander::new(self.ranks, rank);
        loop {
            let step = code.next_call(shared, None::<fn(&Call)>);
            let Some(call) = step.map_err(|reason| format!("{}: {reason}", code.place(shared)))? else {
                return shared.program.failure().map_or(Ok(()), Err);
            };
            match call {
                Call::Mark { .. } => continue,
                Call::Compute { time } => {
                    self.compute(rank, time);
                    continue;
                }
                Call::Send { to, bytes, tag, .. } | Call::Isend { to, bytes, tag, .. } => {
                    self.send(rank, to, tag, bytes.0)
                }
                Call::Collective { operation, .. } => {
                    let (size, bytes) = collective_size(&code, shared, rank, &call)?;
                    self.collective(operation.name(), size, bytes);
                }
                _ => {}
            }
            self.calls += 1;
        }
    }
}

/// Ranks and bytes of a collective: as it names them; of vector forms, all that the rank sends, or in a gather its block.
pub(super) fn collective_size(
    code: &CallExpander,
    shared: &JobProgram,
    rank: u32,
    call: &Call,
) -> Result<(u32, u64), String> {
    let Call::Collective { operation, bytes, sizes, communicator, .. } = *call else { return Ok((0, 0)) };
    let communicators = code.communicators();
    let (size, _) = communicators.size_and_rank(communicator)?;
    if sizes == EQUAL {
        return Ok((size, bytes.0));
    }
    let to = |of| communicators.job_rank(communicator, of);
    let of = |peer: u32| Ok::<u64, String>(shared.program.size(sizes, rank, to(peer)?).0);
    let bytes = match operation {
        Operation::Gather | Operation::Allgather => of(0)?,
        _ => (0..size).map(of).try_fold(0u64, |sum, bytes| Ok::<_, String>(sum.saturating_add(bytes?)))?,
    };
    Ok((size, bytes))
}
