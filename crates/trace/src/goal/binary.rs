//! The binary form: little endian, without padding.
//!
//! | offset | content |
//! |---|---|
//! | 0 | u64 4223 |
//! | 8 | u32 ranks; u8 highest cpu; u8 highest nic |
//! | 14 | per rank u64 start, u64 end, counted from byte 8 |
//! | rank | u32 nodes n; u32 roots r; r x u32 root numbers; n x 39 bytes; then the appendix of u32 |
//! | node | u32 dependencies; i8 kind; u32 partner; u64 size; u32 tag; u8 cpu; u8 nic; u32 number and u32 first place in the appendix of those that wait for its end; the same for its start |

use super::operation::{Kind, Operation};
use crate::input::Fields;
use crate::task::{Dependency, Event, RankTasks, Task, TaskGraph};
use std::io::BufRead;

const MAGIC: u64 = 4223;
/// Of a file that a run of LogGOPSim with `--save-mem` has overwritten.
const SPENT: u64 = 2342;

/// Offsets of ranks are counted from here.
const BASE: u64 = 8;

/// Whether a file begins with either magic number.
pub(super) fn is_binary(start: &[u8]) -> bool {
    start.first_chunk().is_some_and(|first| [MAGIC, SPENT].contains(&u64::from_le_bytes(*first)))
}

pub(super) fn read(label: &str, input: &mut dyn BufRead) -> Result<TaskGraph, String> {
    let mut fields = Fields::new(label, input);
    if fields.u64("a magic number")? == SPENT {
        return Err(
            fields.mistake("a run with --save-mem has overwritten the file; convert the text with txt2bin again")
        );
    }
    let ranks = fields.u32("the number of ranks")?;
    let [_highest_cpu, _highest_nic] = fields.bytes("the highest cpu and nic")?;
    let mut places = Vec::new();
    for rank in 0..ranks {
        let what = format!("the place of rank {rank} of {ranks}");
        places.push((fields.u64(&what)?, fields.u64(&what)?));
    }
    let mut graph = TaskGraph::default();
    for (rank, (start, end)) in places.into_iter().enumerate() {
        if fields.offset - BASE != start {
            let at = fields.offset - BASE;
            return Err(fields.mistake(&format!("rank {rank} starts at {start} + {BASE}; expected {at} + {BASE}")));
        }
        let tasks = read_rank(&mut fields, ranks, end).map_err(|error| match error {
            RankError::File(reason) => reason,
            RankError::Content(reason) => fields.mistake(&format!("rank {rank}: {reason}")),
        })?;
        graph.ranks.push(tasks);
    }
    Ok(graph)
}

/// A mistake with its place, or without.
enum RankError {
    File(String),
    Content(String),
}

impl From<String> for RankError {
    fn from(reason: String) -> Self {
        Self::File(reason)
    }
}

/// Tasks that wait for an event of a node: a part of the appendix.
struct Dependents {
    on: u32,
    event: Event,
    first: u32,
    count: u32,
}

/// Reads the rank that ends at `end`. Lists grow with the bytes that are there, so a wrong number takes no memory.
fn read_rank(fields: &mut Fields<'_>, ranks: u32, end: u64) -> Result<RankTasks, RankError> {
    let content = |reason: String| RankError::Content(reason);
    let (nodes, roots) = (fields.u32("the number of nodes")?, fields.u32("the number of roots")?);
    for _ in 0..roots {
        fields.u32("the number of a root")?;
    }
    let (mut tasks, mut missing, mut dependents): (Vec<Task>, Vec<u32>, Vec<Dependents>) = Default::default();
    for on in 0..nodes {
        missing.push(fields.u32("a node")?);
        let [kind] = fields.bytes("the kind of a node")?;
        let kind = match kind {
            1 => Kind::Send,
            2 => Kind::Receive,
            3 => Kind::Compute,
            other => return Err(content(format!("node {on} is of kind {other}; expected 1, 2 or 3"))),
        };
        let peer = fields.u32("a partner")?;
        let size = fields.u64("a size")?;
        let tag = fields.u32("a tag")?;
        let [cpu, nic] = fields.bytes("a cpu and a nic")?;
        let operation = Operation { kind, size, peer, tag, cpu, nic };
        tasks.push(operation.task(ranks).map_err(|reason| content(format!("node {on}: {reason}")))?);
        for event in [Event::End, Event::Start] {
            let (count, first) = (fields.u32("dependent nodes")?, fields.u32("dependent nodes")?);
            dependents.push(Dependents { on, event, first, count });
        }
    }
    let left = end.saturating_add(BASE).checked_sub(fields.offset).filter(|left| left % 4 == 0);
    let left = left
        .ok_or_else(|| content(format!("the rank ends at {end} + {BASE}; expected whole numbers after its nodes")))?;
    let mut appendix = Vec::new();
    for _ in 0..left / 4 {
        appendix.push(fields.u32("the number of a dependent node")?);
    }
    let mut waits = Vec::new();
    for Dependents { on, event, first, count } in dependents {
        let range = first as usize..(first as usize).saturating_add(count as usize);
        let Some(waiting) = appendix.get(range) else {
            return Err(content(format!("node {on} names places beyond its {} dependent nodes", appendix.len())));
        };
        // A list that several nodes claim could grow beyond the file.
        if waits.len() + waiting.len() > appendix.len() {
            return Err(content(format!("node {on} names places of other nodes")));
        }
        for &task in waiting {
            let Some(missing) = missing.get_mut(task as usize).filter(|missing| **missing > 0) else {
                return Err(content(format!(
                    "node {task} waits for node {on}, which its number of dependencies excludes"
                )));
            };
            *missing -= 1;
            waits.push((task, Dependency { on, event }));
        }
    }
    if let Some(node) = missing.iter().position(|missing| *missing > 0) {
        return Err(content(format!(
            "node {node} has {} more dependencies than nodes that it waits for",
            missing[node]
        )));
    }
    Ok(RankTasks::new(tasks, &waits))
}
