//! The records of a trace as rows of a table.

use super::{Content, Recording};
use crate::call::{Call, Operation, ANY, BLOCKING};
use crate::collective::Collectives;
use crate::expansion::{CallExpander, JobProgram};
use odonata_declare::Type::{Coded, Lists, U32, U64};
use odonata_declare::Unit::{Bytes as InBytes, Plain, Ps};
use odonata_declare::{Column, FilledColumn, Frame, Values};
use odonata_trace::chakra::{Node, NodeKind};
use odonata_trace::{Event, RankTasks, Work};
use odonata_units::{Bytes, Time};
use std::collections::BTreeMap;
use std::sync::Arc;

/// No value.
const NONE: u64 = u64::MAX;
/// Any rank or any tag.
const ANYTHING: u64 = u64::MAX - 1;

/// Rows of some records.
#[derive(Default)]
struct Rows {
    ranks: Vec<u32>,
    records: Vec<u64>,
    operations: Vec<String>,
    peers: Vec<u64>,
    bytes: Vec<u64>,
    tags: Vec<u64>,
    communicators: Vec<u64>,
    requests: Vec<u64>,
    times: Vec<u64>,
    lanes: Vec<u64>,
    places: Vec<u64>,
    /// Ends of the lists of dependencies, and their values: of ends, of starts.
    dependencies: [Dependencies; 2],
}

/// Lists of records, one for each row.
#[derive(Default)]
struct Dependencies {
    ends: Vec<i32>,
    values: Vec<u32>,
}

/// One record.
struct Row {
    operation: String,
    peer: u64,
    bytes: u64,
    tag: u64,
    communicator: u64,
    request: u64,
    time: u64,
    lane: u64,
    place: u64,
}

impl Default for Row {
    fn default() -> Self {
        let operation = String::new();
        Self {
            operation,
            peer: NONE,
            bytes: NONE,
            tag: NONE,
            communicator: NONE,
            request: NONE,
            time: NONE,
            lane: NONE,
            place: NONE,
        }
    }
}

/// The columns.
pub(crate) const COLUMNS: &[FilledColumn<RowsOfTrace>] = &[
    Column::key("rank", U32, Plain, "Rank", "Rank of the job.").by(|rows: &RowsOfTrace| rows.0.ranks.clone().into()),
    Column::key("record", U64, Plain, "Record", "Number of the record in its rank, from 0.")
        .by(|rows| rows.0.records.clone().into()),
    Column::attribute("operation", Coded, Plain, "Operation", "The call, task or node.")
        .by(|rows| coded(&rows.0.operations)),
    Column::attribute("peer", U64, Plain, "Peer", "The other rank of the job, or the root.")
        .by(|rows| rows.0.peers.clone().into()),
    Column::attribute("bytes", U64, InBytes, "Bytes", "Size of the message.").by(|rows| rows.0.bytes.clone().into()),
    Column::attribute("tag", U64, Plain, "Tag", "Tag of the message.").by(|rows| rows.0.tags.clone().into()),
    Column::attribute("communicator", U64, Plain, "Communicator", "Communicator or group.")
        .by(|rows| rows.0.communicators.clone().into()),
    Column::attribute("request", U64, Plain, "Request", "Slot of the request.")
        .by(|rows| rows.0.requests.clone().into()),
    Column::attribute("compute_ps", U64, Ps, "Computation", "Time of a computation or sleep.")
        .by(|rows| rows.0.times.clone().into()),
    Column::attribute("lane", U64, Plain, "Lane", "Lane of a task.").by(|rows| rows.0.lanes.clone().into()),
    Column::attribute("place", U64, Plain, "Place", "Line, record or node of the original.")
        .by(|rows| rows.0.places.clone().into()),
    Column::attribute("after_end_of", Lists, Plain, "After the end of", "Records whose end it waits for.")
        .by(|rows| lists(&rows.0.dependencies[0])),
    Column::attribute("after_start_of", Lists, Plain, "After the start of", "Records whose start it waits for.")
        .by(|rows| lists(&rows.0.dependencies[1])),
];

/// Rows for [`COLUMNS`].
pub(crate) struct RowsOfTrace(Rows);

fn coded(operations: &[String]) -> Values {
    let mut numbers = BTreeMap::new();
    let mut texts = Vec::new();
    let codes = operations.iter().map(|operation| {
        *numbers.entry(operation).or_insert_with(|| {
            texts.push(operation.clone());
            texts.len() as i32 - 1
        })
    });
    Values::Text { codes: codes.collect(), texts }
}

fn lists(dependencies: &Dependencies) -> Values {
    let Dependencies { ends, values } = dependencies;
    Values::Lists { offsets: std::iter::once(0).chain(ends.iter().copied()).collect(), values: values.clone() }
}

fn or_any(number: u32) -> u64 {
    if number == ANY {
        ANYTHING
    } else {
        number.into()
    }
}

fn size(bytes: Bytes) -> u64 {
    if bytes.0 == u64::MAX {
        ANYTHING
    } else {
        bytes.0
    }
}

impl Rows {
    fn push(&mut self, rank: u32, record: u64, row: Row) {
        self.ranks.push(rank);
        self.records.push(record);
        self.operations.push(row.operation);
        self.peers.push(row.peer);
        self.bytes.push(row.bytes);
        self.tags.push(row.tag);
        self.communicators.push(row.communicator);
        self.requests.push(row.request);
        self.times.push(row.time);
        self.lanes.push(row.lane);
        self.places.push(row.place);
        for Dependencies { ends, values } in &mut self.dependencies {
            ends.push(values.len() as i32);
        }
    }

    /// Adds a dependency of the next record.
    fn wait(&mut self, event: Event, on: u32) {
        self.dependencies[usize::from(event == Event::Start)].values.push(on);
    }
}

/// The records of a trace, some at a time.
pub struct TraceRecords {
    recording: Arc<Recording>,
    /// The program of calls.
    program: Option<JobProgram>,
    /// The position.
    rank: u32,
    next: u64,
    code: Option<CallExpander>,
}

impl TraceRecords {
    /// The records of a trace from the first.
    pub fn new(recording: Recording) -> Self {
        let recording = Arc::new(recording);
        let program = match &recording.content {
            Content::Calls(trace) => Some(JobProgram::new(Arc::clone(trace) as _, Arc::new(Collectives::study()))),
            Content::Tasks(..) | Content::Nodes(..) => None,
        };
        Self { recording, program, rank: 0, next: 0, code: None }
    }

    /// The next `most` records, with columns of `docs/models/programs.md`. None at the end.
    ///
    /// # Errors
    /// An invalid call, or a file that changed.
    pub fn next_rows(&mut self, most: usize) -> Result<Option<Frame>, String> {
        let mut rows = Rows::default();
        let recording = Arc::clone(&self.recording);
        while rows.ranks.len() < most && self.rank < recording.ranks() {
            let more = match &recording.content {
                Content::Calls(_) => self.call(&mut rows).map_err(|reason| format!("{}: {reason}", recording.path))?,
                Content::Tasks(graph, _) => {
                    let tasks = &graph.ranks[self.rank as usize];
                    let is_there = self.next < tasks.tasks().len() as u64;
                    if is_there {
                        task(tasks, self.rank, self.next as u32, &mut rows);
                    }
                    is_there
                }
                Content::Nodes(nodes, _) => {
                    let of_rank = nodes.nodes(self.rank).get(self.next as usize);
                    if let Some(of_rank) = of_rank {
                        let number = nodes.group_number(of_rank);
                        let waits = nodes.waits(self.rank, self.next as u32);
                        waits.for_each(|on| rows.wait(Event::End, on));
                        let time = nodes.times(self.rank)[self.next as usize];
                        rows.push(self.rank, self.next, node(of_rank, time, number));
                    }
                    of_rank.is_some()
                }
            };
            if more {
                self.next += 1;
            } else {
                (self.rank, self.next, self.code) = (self.rank + 1, 0, None);
            }
        }
        Ok((!rows.ranks.is_empty()).then(|| Frame::of(COLUMNS, &RowsOfTrace(rows))))
    }

    /// Adds the next call of the rank. Returns whether there is one.
    fn call(&mut self, rows: &mut Rows) -> Result<bool, String> {
        let shared = self.program.as_ref().expect("a program of calls");
        let ranks = shared.program.ranks();
        let code = self.code.get_or_insert_with(|| CallExpander::new(ranks, self.rank));
        let step = code.next_call(shared, None::<fn(&Call)>);
        let call = step.map_err(|reason| format!("rank {}, {}: {reason}", self.rank, code.place(shared)))?;
        if let Some(reason) = shared.program.failure() {
            return Err(reason);
        }
        let Some(call) = call else { return Ok(false) };
        let place = code.line(shared).map_or(NONE, u64::from);
        let mut row = Row { operation: call.name().into(), place, ..Row::default() };
        match call {
            Call::Send { to: peer, bytes, tag, communicator } | Call::Recv { from: peer, bytes, tag, communicator } => {
                (row.peer, row.bytes, row.tag) = (or_any(peer), size(bytes), or_any(tag));
                row.communicator = communicator.into();
            }
            Call::Isend { to: peer, bytes, tag, communicator, request }
            | Call::Irecv { from: peer, bytes, tag, communicator, request } => {
                (row.peer, row.bytes, row.tag) = (or_any(peer), size(bytes), or_any(tag));
                (row.communicator, row.request) = (communicator.into(), request.into());
            }
            Call::Collective { operation, root, communicator, request, .. } => {
                use Operation::{Broadcast, Gather, Reduce, Scatter};
                if matches!(operation, Broadcast | Reduce | Gather | Scatter) {
                    row.peer = code.communicators().job_rank(communicator, root)?.into();
                }
                let (_, bytes) = super::report::collective_size(code, shared, self.rank, &call)?;
                (row.bytes, row.communicator) = (bytes, communicator.into());
                row.request = if request == BLOCKING { NONE } else { request.into() };
            }
            Call::Wait { request } | Call::Test { request } => row.request = request.into(),
            Call::WaitAll { first, .. } | Call::WaitAny { first, .. } | Call::WaitSome { first, .. } => {
                row.request = first.into();
            }
            Call::Compute { time } | Call::Sleep { time } => row.time = time.0,
            Call::CommSplit { new, .. } | Call::CommCreate { new, .. } => row.communicator = new.into(),
            Call::CommFree { communicator } => row.communicator = communicator.into(),
            Call::WaitUntil { .. } | Call::Mark { .. } | Call::Round => {}
            Call::Put { to: peer, bytes, .. } | Call::Get { from: peer, bytes, .. } => {
                (row.peer, row.bytes) = (or_any(peer), size(bytes));
            }
            Call::Stream { .. } | Call::Record { .. } | Call::Await { .. } => {}
        }
        rows.push(self.rank, self.next, row);
        Ok(true)
    }
}

fn task(tasks: &RankTasks, rank: u32, number: u32, rows: &mut Rows) {
    let task = tasks.tasks()[number as usize];
    let mut row = Row { lane: task.lane.into(), ..Row::default() };
    match task.work {
        Work::Send { to: peer, bytes, tag, .. } | Work::Receive { from: peer, bytes, tag, .. } => {
            let is_send = matches!(task.work, Work::Send { .. });
            row.operation = if is_send { "send" } else { "recv" }.into();
            (row.peer, row.bytes, row.tag) = (or_any(peer), size(bytes), or_any(tag));
        }
        Work::Compute { time } => (row.operation, row.time) = ("compute".into(), time.0),
    }
    row.place = tasks.place(number).unwrap_or(NONE);
    tasks.dependencies(number).iter().for_each(|wait| rows.wait(wait.event, wait.on));
    rows.push(rank, number.into(), row);
}

fn node(node: &Node, time: Time, group: Option<u16>) -> Row {
    let mut row = Row { operation: super::chakra::kind_name(node), place: node.id, ..Row::default() };
    row.lane = super::graph::lane(node).into();
    row.bytes = node.bytes.unwrap_or(NONE);
    match node.kind {
        NodeKind::Send | NodeKind::Receive => {
            (row.peer, row.tag) = (node.peer.map_or(NONE, u64::from), or_any(node.tag));
        }
        NodeKind::Collective(_) => row.communicator = group.map_or(NONE, u64::from),
        _ => row.time = time.0,
    }
    row
}
