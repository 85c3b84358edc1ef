//! Communicators of a liballprof trace.
//!
//! A call shows the handle, rank and size of its communicator, but a call that makes one does not show the new handle.
//! A new handle is the oldest communicator made before with this rank and size. Handles are local to a rank, so the
//! ranks of a communicator are followed together: its n-th creation is the same for all.

use odonata_trace::allprof::{AllprofCall, AllprofCommunicator};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// `MPI_UNDEFINED` and other colours below 0 exclude a rank.
type Split = Option<(i64, i64)>;

/// What a line does to communicators.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// A communicator is in use.
    Use(AllprofCommunicator),
    /// Makes one of all ranks of the old one, by colour and key.
    Create { old: AllprofCommunicator, split: Split },
}

/// A step and its line.
pub(super) type LineStep = (u64, Step);

/// What a call makes of a communicator, if the trace shows the ranks of the new one.
pub(super) fn creation(call: &AllprofCall<'_>) -> Result<Option<Step>, String> {
    let split = match call.name {
        // The order of a grid's ranks is the order before, unless the library reorders them.
        "Comm_dup" | "Cart_create" => Some((0, 0)),
        "Comm_split" => Some((call.number(1)?, call.number(2)?)).filter(|(color, _)| *color >= 0),
        _ => return Ok(None),
    };
    Ok(Some(Step::Create { old: call.communicator(0)?, split }))
}

/// A communicator that was made, from the view of one of its ranks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct NewCommunicator {
    /// Number among all of the job, from 1. 0 is the communicator of all ranks.
    pub(super) number: u32,
    /// Number of the creation, which is the same for all ranks of the old communicator.
    pub(super) event: u32,
    pub(super) ranks: u32,
    pub(super) rank: u32,
}

/// The communicators of a rank by handle.
#[derive(Debug)]
pub(super) struct Handles {
    known: HashMap<u64, NewCommunicator>,
    /// Made, but not seen in use yet.
    open: Vec<NewCommunicator>,
}

impl Handles {
    pub(super) fn new() -> Self {
        Self { known: HashMap::new(), open: Vec::new() }
    }

    pub(super) fn add(&mut self, created: NewCommunicator) {
        self.open.push(created);
    }

    /// The communicator that a call shows to rank `rank` of `ranks`.
    pub(super) fn find(&mut self, seen: AllprofCommunicator, rank: u32, ranks: u32) -> Result<NewCommunicator, String> {
        let is_same = |of: &NewCommunicator| (of.rank, of.ranks) == (seen.rank, seen.ranks);
        if let Some(known) = self.known.get(&seen.handle).filter(|known| is_same(known)) {
            return Ok(*known);
        }
        // A handle is used again after its communicator was freed.
        let found = match self.open.iter().position(is_same) {
            Some(_) if (seen.rank, seen.ranks) == (rank, ranks) && !self.has_world() => None,
            Some(place) => Some(self.open.remove(place)),
            None => None,
        };
        // Files that are copies of one rank's, as in LogGOPSim's example, all show that rank.
        let world = NewCommunicator { number: 0, event: 0, ranks, rank };
        let found = found.or((seen.ranks == ranks).then_some(world));
        let found = found.ok_or_else(|| {
            format!(
                "communicator {} of {} ranks, which no MPI_Comm_dup, MPI_Comm_split or MPI_Cart_create before made; the \
                 trace does not say who is in it",
                seen.handle, seen.ranks
            )
        })?;
        self.known.insert(seen.handle, found);
        Ok(found)
    }

    fn has_world(&self) -> bool {
        self.known.values().any(|known| known.number == 0)
    }
}

/// A rank between two of its steps.
struct Walker {
    steps: std::vec::IntoIter<LineStep>,
    handles: Handles,
    created: Vec<Option<NewCommunicator>>,
}

/// A rank that waits for the others of a communicator.
struct WaitingRank {
    rank: u32,
    split: Split,
}

/// Resolves the steps of all ranks. Returns what each creation gives each rank, in order; `None` where it is excluded.
///
/// # Errors
/// An unknown communicator; a creation that not all of its ranks call. Says which line of which rank.
pub(super) fn resolve(steps: Vec<Vec<LineStep>>) -> Result<Vec<Vec<Option<NewCommunicator>>>, String> {
    let ranks = steps.len() as u32;
    let mut members: Vec<Arc<Vec<u32>>> = vec![Arc::new((0..ranks).collect())];
    let start =
        |steps: Vec<LineStep>| Walker { steps: steps.into_iter(), handles: Handles::new(), created: Vec::new() };
    let mut walkers: Vec<Walker> = steps.into_iter().map(start).collect();
    let mut waiting: BTreeMap<u32, Vec<WaitingRank>> = BTreeMap::new();
    let mut ready: Vec<u32> = (0..ranks).rev().collect();
    let mut events = 0;
    while let Some(rank) = ready.pop() {
        let Some((old, split)) = walkers[rank as usize].walk(rank, ranks)? else { continue };
        let all = waiting.entry(old).or_default();
        all.push(WaitingRank { rank, split });
        let of = Arc::clone(&members[old as usize]);
        if all.len() < of.len() {
            continue;
        }
        let all = waiting.remove(&old).unwrap_or_default();
        ready.extend(all.iter().rev().map(|at| at.rank));
        events += 1;
        create(events, &of, &all, &mut members, &mut walkers);
    }
    if let Some((&old, all)) = waiting.first_key_value() {
        let (calls, of) = (all.len(), members[old as usize].len());
        return Err(format!(
            "rank {}: {calls} of the {of} ranks of a communicator make a new one; expected all of them",
            all[0].rank
        ));
    }
    Ok(walkers.into_iter().map(|walker| walker.created).collect())
}

impl Walker {
    /// Walks up to the next creation. Returns the number of its old communicator.
    fn walk(&mut self, rank: u32, ranks: u32) -> Result<Option<(u32, Split)>, String> {
        for (line, step) in self.steps.by_ref() {
            let (seen, split) = match step {
                Step::Use(seen) => (seen, None),
                Step::Create { old, split } => (old, Some(split)),
            };
            let found = self.handles.find(seen, rank, ranks);
            let found = found.map_err(|reason| format!("rank {rank}, line {line}: {reason}"))?;
            if let Some(split) = split {
                return Ok(Some((found.number, split)));
            }
        }
        Ok(None)
    }
}

/// Makes the communicators of one event: one for each colour, its ranks by key, then by rank of the old one.
fn create(event: u32, old: &[u32], all: &[WaitingRank], members: &mut Vec<Arc<Vec<u32>>>, walkers: &mut [Walker]) {
    let places: HashMap<u32, usize> = old.iter().copied().zip(0..).collect();
    let mut parts: BTreeMap<i64, Vec<(i64, usize, u32)>> = BTreeMap::new();
    for at in all {
        match at.split {
            Some((color, key)) => parts.entry(color).or_default().push((key, places[&at.rank], at.rank)),
            None => walkers[at.rank as usize].created.push(None),
        }
    }
    for mut part in parts.into_values() {
        part.sort_unstable();
        let (number, ranks) = (members.len() as u32, part.len() as u32);
        for (place, (_, _, rank)) in (0..).zip(&part) {
            let created = NewCommunicator { number, event, ranks, rank: place };
            let walker = &mut walkers[*rank as usize];
            walker.created.push(Some(created));
            walker.handles.add(created);
        }
        members.push(Arc::new(part.into_iter().map(|(_, _, rank)| rank).collect()));
    }
}
