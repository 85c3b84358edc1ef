//! Tasks of a graph as columns.

use super::values::{place_word, Number, Values};
use odonata_trace::{BlockFile, Column, Dependency, Event, RankTasks, Task, TaskGraph, Work, ANY};

const KIND: usize = 0;
const PEER: usize = 1;
const BYTES: usize = 2;
const TAG: usize = 3;
const COMMUNICATOR: usize = 4;
const TIME: usize = 5;
const LANE: usize = 6;
const NIC: usize = 7;
const WAITS: usize = 8;
const ON: usize = 9;
const EVENT: usize = 10;
const PLACE: usize = 11;
const COLUMNS: usize = 12;

const SEND: u64 = 0;
const RECEIVE: u64 = 1;
const COMPUTE: u64 = 2;

/// Columns of the tasks from number `first` on.
pub(super) fn encode(tasks: &RankTasks, first: usize, count: usize) -> [Column; COLUMNS] {
    let mut columns: [Column; COLUMNS] = Default::default();
    for (number, task) in (first..).zip(&tasks.tasks()[first..first + count]) {
        let kind = match task.work {
            Work::Send { to: peer, bytes, tag, communicator }
            | Work::Receive { from: peer, bytes, tag, communicator } => {
                columns[PEER].push(peer.number());
                columns[BYTES].push(bytes.number());
                columns[TAG].push(tag.number());
                columns[COMMUNICATOR].push(communicator.number());
                if matches!(task.work, Work::Send { .. }) {
                    SEND
                } else {
                    RECEIVE
                }
            }
            Work::Compute { time } => {
                columns[TIME].push(time.number());
                COMPUTE
            }
        };
        columns[KIND].push(kind);
        columns[LANE].push(task.lane.number());
        columns[NIC].push(task.nic.number());
        let waits = tasks.dependencies(number as u32);
        columns[WAITS].push(waits.len() as u64);
        for wait in waits {
            columns[ON].push(wait.on.into());
            columns[EVENT].push(u64::from(wait.event == Event::Start));
        }
        // 0 for an unknown place.
        columns[PLACE].push(tasks.place(number as u32).map_or(0, |place| place.saturating_add(1)));
    }
    columns
}

/// The task graph of a file. `place`: what places of its tasks count.
pub(super) fn read(file: &BlockFile, place: &str) -> Result<TaskGraph, String> {
    let ranks = file.ranks();
    let mut graph = TaskGraph { place_word: place_word(place), ..TaskGraph::default() };
    for rank in 0..ranks {
        let (mut tasks, mut waits, mut places) = (Vec::new(), Vec::new(), Vec::new());
        let count = file.records(rank);
        for index in 0..file.blocks(rank) {
            file.block(rank, index, |records, columns| {
                let mut values = Values::<COLUMNS>::new(columns);
                for _ in 0..records {
                    let number = tasks.len() as u32;
                    let task = task(&mut values, ranks)?;
                    tasks.push(task);
                    for _ in 0..values.value(WAITS)? {
                        let on = values.value(ON)?;
                        let known = u32::try_from(on).ok().filter(|_| on < count);
                        let on = known.ok_or_else(|| format!("task {number} waits for task {on} of {count}"))?;
                        let event = match values.value(EVENT)? {
                            0 => Event::End,
                            _ => Event::Start,
                        };
                        waits.push((number, Dependency { on, event }));
                    }
                    places.push(values.value(PLACE)?.checked_sub(1));
                }
                values.end()
            })?;
        }
        graph.ranks.push(RankTasks::new(tasks, &waits).with_places(places));
    }
    Ok(graph)
}

fn task(values: &mut Values<COLUMNS>, ranks: u32) -> Result<Task, String> {
    let kind = values.value(KIND)?;
    let work = if kind == COMPUTE {
        Work::Compute { time: values.next(TIME)? }
    } else {
        let (peer, bytes, tag, communicator) =
            (values.next(PEER)?, values.next(BYTES)?, values.next(TAG)?, values.next(COMMUNICATOR)?);
        if peer >= ranks && !(kind == RECEIVE && peer == ANY) {
            return Err(format!("rank {peer}; expected one of the {ranks} ranks, which count from 0"));
        }
        match kind {
            SEND => Work::Send { to: peer, bytes, tag, communicator },
            RECEIVE => Work::Receive { from: peer, bytes, tag, communicator },
            _ => return Err(format!("a task of kind {kind}, which this version does not know")),
        }
    };
    Ok(Task { work, lane: values.next(LANE)?, nic: values.next(NIC)? })
}
