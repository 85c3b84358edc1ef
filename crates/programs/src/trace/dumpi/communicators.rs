//! Communicators and groups of a DUMPI set. Their numbers are local to a rank, so they are matched by the order in which
//! the ranks of a communicator create others from it.

use odonata_trace::dumpi::{kind_name, Record};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Numbers that have a meaning in every file.
const NULL: u16 = 1;
const WORLD: u16 = 2;
const SELF: u16 = 3;
const EMPTY_GROUP: u16 = 2;

/// What a rank does to its communicators and groups.
#[derive(Debug)]
enum Action {
    /// Creates a communicator: from `old`, by all its ranks.
    Create {
        old: u16,
        new: u16,
        how: Create,
    },
    /// A communicator with other jobs, or of two groups.
    Foreign {
        new: u16,
    },
    Free {
        communicator: u16,
    },
    /// A group from others.
    Group {
        new: u16,
        how: Group,
    },
}

#[derive(Debug)]
enum Create {
    Duplicate,
    Split { color: i64, key: i64 },
    Group { group: u16 },
    Grid { sizes: Vec<i64> },
    SubGrid { kept: Vec<i64> },
    First { ranks: i64 },
}

impl Create {
    fn word(&self) -> &'static str {
        match self {
            Self::Duplicate => "MPI_Comm_dup",
            Self::Split { .. } => "MPI_Comm_split",
            Self::Group { .. } => "MPI_Comm_create",
            Self::Grid { .. } => "MPI_Cart_create",
            Self::SubGrid { .. } => "MPI_Cart_sub",
            Self::First { .. } => "MPI_Graph_create",
        }
    }
}

#[derive(Debug)]
enum Group {
    Of { communicator: u16 },
    Ranks { group: u16, ranks: Vec<i64>, are_kept: bool },
    Ranges { group: u16, ranges: Vec<i64>, are_kept: bool },
    Two { first: u16, second: u16, is_member: fn(bool, bool) -> bool },
}

/// An action and the number of its record.
#[derive(Debug)]
pub(super) struct CommunicatorAction {
    record: u64,
    action: Action,
}

impl CommunicatorAction {
    /// The communicator that it creates, if that cannot be replayed.
    pub(super) fn foreign(&self) -> Option<u16> {
        match self.action {
            Action::Foreign { new } => Some(new),
            Action::Create { .. } | Action::Free { .. } | Action::Group { .. } => None,
        }
    }
}

/// The action of a record, if it has one.
pub(super) fn action_of(record: &Record) -> Option<CommunicatorAction> {
    let number = |at: usize| record.numbers.get(at).copied().unwrap_or(0);
    let handle = |at: usize| number(at) as u16;
    let create = |old: usize, new: usize, how| Action::Create { old: handle(old), new: handle(new), how };
    let group = |new: usize, how| Action::Group { new: handle(new), how };
    let two = |is_member| Group::Two { first: handle(0), second: handle(1), is_member };
    let ranks = |are_kept| Group::Ranks { group: handle(0), ranks: record.list(0).to_vec(), are_kept };
    let ranges = |are_kept| Group::Ranges { group: handle(0), ranges: record.list(0).to_vec(), are_kept };
    let action = match &kind_name(record.kind)[4..] {
        "Comm_dup" => create(0, 1, Create::Duplicate),
        "Comm_split" => create(0, 3, Create::Split { color: number(1), key: number(2) }),
        "Comm_create" => create(0, 2, Create::Group { group: handle(1) }),
        "Cart_create" => create(0, 3, Create::Grid { sizes: record.list(0).to_vec() }),
        "Cart_sub" => create(1, 2, Create::SubGrid { kept: record.list(0).to_vec() }),
        "Graph_create" => create(1, 4, Create::First { ranks: number(2) }),
        "Intercomm_create" => Action::Foreign { new: handle(5) },
        "Intercomm_merge" => Action::Foreign { new: handle(2) },
        "Comm_accept" | "Comm_connect" | "Comm_spawn" => Action::Foreign { new: handle(3) },
        "Comm_spawn_multiple" => Action::Foreign { new: handle(4) },
        "Comm_join" => Action::Foreign { new: handle(1) },
        "Comm_get_parent" if handle(0) > NULL => Action::Foreign { new: handle(0) },
        "Comm_free" | "Comm_disconnect" => Action::Free { communicator: handle(0) },
        "Comm_group" => group(1, Group::Of { communicator: handle(0) }),
        "Group_incl" => group(2, ranks(true)),
        "Group_excl" => group(2, ranks(false)),
        "Group_range_incl" => group(2, ranges(true)),
        "Group_range_excl" => group(2, ranges(false)),
        "Group_union" => group(2, two(|first, second| first || second)),
        "Group_intersection" => group(2, two(|first, second| first && second)),
        "Group_difference" => group(2, two(|first, second| first && !second)),
        _ => return None,
    };
    Some(CommunicatorAction { record: record.number, action })
}

/// What a creation gives a rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NewCommunicator {
    /// A rank of communicator `number`, created by the `event`-th creation of the job.
    Member { number: u32, event: u32, ranks: u32, rank: u32 },
    /// In none of the new communicators.
    Excluded,
    /// The rank alone: a communicator created from `MPI_COMM_SELF`.
    Own,
    /// One that cannot be replayed.
    Foreign,
}

/// A communicator of the job.
struct Global {
    /// Ranks of the job.
    members: Arc<Vec<u32>>,
    /// Sizes of its grid.
    grid: Vec<i64>,
}

/// A communicator of a rank.
#[derive(Clone, Copy)]
enum Local {
    Global(usize),
    Own,
    Foreign,
}

/// A rank between two of its actions.
struct Walker {
    actions: std::vec::IntoIter<CommunicatorAction>,
    communicators: HashMap<u16, Local>,
    groups: HashMap<u16, Arc<Vec<u32>>>,
    created: Vec<NewCommunicator>,
}

/// A rank that waits for the others of a communicator.
struct WaitingRank {
    rank: u32,
    record: u64,
    new: u16,
    how: Create,
}

/// Most ranks of all groups together, 4 B each. Groups of a communicator share its ranks.
const MAX_GROUP_RANKS: usize = 1 << 28;

/// Resolves the actions of all ranks. Returns what each creation gives each rank, in order.
///
/// # Errors
/// Ranks that do not agree; says which record of which rank.
pub(super) fn resolve(actions: Vec<Vec<CommunicatorAction>>) -> Result<Vec<Vec<NewCommunicator>>, String> {
    let ranks = actions.len() as u32;
    let world = Global { members: Arc::new((0..ranks).collect()), grid: Vec::new() };
    let mut globals = vec![world];
    let mut walkers: Vec<Walker> = actions
        .into_iter()
        .map(|actions| Walker {
            actions: actions.into_iter(),
            communicators: HashMap::from([(WORLD, Local::Global(0)), (SELF, Local::Own)]),
            groups: HashMap::from([(EMPTY_GROUP, Arc::default())]),
            created: Vec::new(),
        })
        .collect();
    let mut waiting: BTreeMap<usize, Vec<WaitingRank>> = BTreeMap::new();
    let (mut events, mut group_ranks) = (0, 0);
    let mut ready: Vec<u32> = (0..ranks).rev().collect();
    while let Some(rank) = ready.pop() {
        let walker = &mut walkers[rank as usize];
        let Some((old, at)) = walker
            .walk(rank, &globals, &mut group_ranks)
            .map_err(|(record, reason)| format!("rank {rank}, record {record}: {reason}"))?
        else {
            continue;
        };
        let all = waiting.entry(old).or_default();
        all.push(at);
        if all.len() < globals[old].members.len() {
            continue;
        }
        let mut all = waiting.remove(&old).expect("it was just there");
        all.sort_unstable_by_key(|at| at.rank);
        if let Some(other) = all.iter().find(|at| at.how.word() != all[0].how.word()) {
            return Err(format!(
                "rank {}, record {}: {}, but record {} of rank {} on the same communicator is {}",
                other.rank,
                other.record,
                other.how.word(),
                all[0].record,
                all[0].rank,
                all[0].how.word()
            ));
        }
        events += 1;
        create(events, old, &all, &mut globals, &mut walkers)?;
        ready.extend(all.iter().rev().map(|at| at.rank));
    }
    if let Some((old, at)) = waiting.iter().find_map(|(old, all)| Some((old, all.first()?))) {
        let (of, calls) = (globals[*old].members.len(), waiting[old].len());
        return Err(format!(
            "rank {}, record {}: {} is called by {calls} of the {of} ranks of its communicator; expected all of them",
            at.rank,
            at.record,
            at.how.word()
        ));
    }
    Ok(walkers.into_iter().map(|walker| walker.created).collect())
}

type Mistake = (u64, String);

impl Walker {
    /// Acts up to the next creation that waits for others. Returns the communicator on which it waits.
    fn walk(
        &mut self,
        rank: u32,
        globals: &[Global],
        group_ranks: &mut usize,
    ) -> Result<Option<(usize, WaitingRank)>, Mistake> {
        while let Some(CommunicatorAction { record, action }) = self.actions.next() {
            match action {
                Action::Create { old, new, how } => match self.communicators.get(&old) {
                    Some(&Local::Global(old)) => return Ok(Some((old, WaitingRank { rank, record, new, how }))),
                    Some(other) => {
                        self.created.push(if matches!(other, Local::Own) {
                            NewCommunicator::Own
                        } else {
                            NewCommunicator::Foreign
                        });
                        let other = *other;
                        self.communicators.insert(new, other);
                    }
                    None => return Err((record, unknown(old))),
                },
                Action::Foreign { new } => {
                    self.communicators.insert(new, Local::Foreign);
                    self.created.push(NewCommunicator::Foreign);
                }
                Action::Free { communicator } => drop(self.communicators.remove(&communicator)),
                Action::Group { new, how } => {
                    let group = self.group(rank, how, globals).map_err(|reason| (record, reason))?;
                    if Arc::strong_count(&group) == 1 {
                        *group_ranks += group.len();
                    }
                    if *group_ranks > MAX_GROUP_RANKS {
                        return Err((record, format!("the groups have more than {MAX_GROUP_RANKS} ranks together")));
                    }
                    self.groups.insert(new, group);
                }
            }
        }
        Ok(None)
    }

    fn group(&self, rank: u32, how: Group, globals: &[Global]) -> Result<Arc<Vec<u32>>, String> {
        let known = |group: u16| {
            let unknown = || format!("group {group}; expected one that an earlier record made");
            self.groups.get(&group).ok_or_else(unknown)
        };
        Ok(match how {
            Group::Of { communicator } => match self.communicators.get(&communicator) {
                Some(Local::Global(of)) => Arc::clone(&globals[*of].members),
                Some(Local::Own) => Arc::new(vec![rank]),
                // Its ranks are not known; a communicator of them is.
                Some(Local::Foreign) => Arc::default(),
                None => return Err(unknown(communicator)),
            },
            Group::Ranks { group, ranks, are_kept } => chosen(known(group)?, &ranks, are_kept)?,
            Group::Ranges { group, ranges, are_kept } => {
                let of = known(group)?;
                let mut ranks = Vec::new();
                for range in ranges.chunks_exact(3) {
                    let (first, last, step) = (range[0], range[1], range[2]);
                    let count = (last - first).checked_div(step).filter(|&count| count >= 0);
                    let count = count.ok_or_else(|| format!("a range from {first} to {last} in steps of {step}"))?;
                    if count >= of.len() as i64 {
                        return Err(format!("a range of {} ranks of a group of {}", count + 1, of.len()));
                    }
                    ranks.extend((0..=count).map(|place| first + place * step));
                }
                chosen(of, &ranks, are_kept)?
            }
            Group::Two { first, second, is_member } => {
                let (first, second) = (known(first)?, known(second)?);
                let sorted = |group: &[u32]| {
                    let mut ranks = group.to_vec();
                    ranks.sort_unstable();
                    ranks
                };
                let (of_first, of_second) = (sorted(first), sorted(second));
                let is_in = |ranks: &[u32], rank| ranks.binary_search(rank).is_ok();
                let kept = first.iter().filter(|rank| is_member(true, is_in(&of_second, rank)));
                let rest = second.iter().filter(|rank| !is_in(&of_first, rank) && is_member(false, true));
                Arc::new(kept.chain(rest).copied().collect())
            }
        })
    }
}

/// Ranks of a group by their places in it, or all others.
fn chosen(of: &[u32], places: &[i64], are_kept: bool) -> Result<Arc<Vec<u32>>, String> {
    let place = |at: &i64| {
        let place = usize::try_from(*at).ok().filter(|&place| place < of.len());
        place.ok_or_else(|| format!("rank {at} of a group of {} ranks", of.len()))
    };
    let places = places.iter().map(place).collect::<Result<Vec<_>, _>>()?;
    if are_kept {
        return Ok(Arc::new(places.into_iter().map(|place| of[place]).collect()));
    }
    let mut left_out = vec![false; of.len()];
    places.into_iter().for_each(|place| left_out[place] = true);
    Ok(Arc::new(of.iter().zip(left_out).filter(|(_, out)| !out).map(|(rank, _)| *rank).collect()))
}

/// What the ranks of a new communicator have in common: the colour, and the group for `MPI_Comm_create`.
type Part = (i64, Arc<Vec<u32>>);

/// Creates the communicators of one event: of all ranks of `old`.
fn create(
    event: u32,
    old: usize,
    all: &[WaitingRank],
    globals: &mut Vec<Global>,
    walkers: &mut [Walker],
) -> Result<(), String> {
    let mut parts: BTreeMap<Part, Vec<(i64, usize, &WaitingRank)>> = BTreeMap::new();
    let mut grids = BTreeMap::new();
    let members = Arc::clone(&globals[old].members);
    let mut places: HashMap<u32, usize> = HashMap::with_capacity(members.len());
    places.extend(members.iter().enumerate().map(|(place, rank)| (*rank, place)));
    for at in all {
        let wrong = |reason: String| format!("rank {}, record {}: {}: {reason}", at.rank, at.record, at.how.word());
        let place = places[&at.rank];
        // The colour of the rank and its key, if it is in a new communicator.
        let mut group = Arc::default();
        let found = match &at.how {
            Create::Duplicate => Some((0, 0)),
            Create::Split { color, key } => (at.new != NULL).then_some((*color, *key)),
            Create::Group { group: number } => {
                let known = walkers[at.rank as usize].groups.get(number);
                let of = known.ok_or_else(|| wrong(format!("group {number}; expected one of an earlier record")))?;
                group = Arc::clone(of);
                of.iter().position(|&rank| rank == at.rank).map(|place| (0, place as i64))
            }
            Create::Grid { sizes } => {
                let points = sizes.iter().try_fold(1i64, |product, &size| product.checked_mul(size.max(1)));
                let points = points.filter(|&points| points <= members.len() as i64).ok_or_else(|| {
                    wrong(format!("a grid of {sizes:?} points; expected at most {} ranks", members.len()))
                })?;
                grids.insert(0, sizes.clone());
                ((place as i64) < points).then_some((0, 0))
            }
            Create::SubGrid { kept } => {
                let grid = &globals[old].grid;
                if grid.len() != kept.len() || grid.is_empty() {
                    return Err(wrong(format!("{} dimensions of a grid of {}", kept.len(), grid.len())));
                }
                // Row-major: the last dimension is the fastest.
                let (mut rest, mut color, mut key, mut of_color, mut of_key) = (place as i64, 0, 0, 1, 1);
                for (&size, &is_kept) in grid.iter().zip(kept).rev() {
                    let size = size.max(1);
                    let at = rest % size;
                    rest /= size;
                    let (sum, unit) = if is_kept != 0 { (&mut key, &mut of_key) } else { (&mut color, &mut of_color) };
                    *sum += at * *unit;
                    *unit *= size;
                }
                let sizes = grid.iter().zip(kept).filter(|(_, &is_kept)| is_kept != 0).map(|(&size, _)| size);
                grids.insert(color, sizes.collect());
                Some((color, key))
            }
            Create::First { ranks } => ((place as i64) < *ranks).then_some((0, 0)),
        };
        match found {
            Some((color, key)) => parts.entry((color, group)).or_default().push((key, place, at)),
            None => walkers[at.rank as usize].created.push(NewCommunicator::Excluded),
        }
    }
    for ((color, _), mut part) in parts {
        part.sort_unstable_by_key(|(key, place, _)| (*key, *place));
        let number = globals.len() as u32;
        let members = part.iter().map(|(_, _, at)| at.rank).collect();
        globals.push(Global { members: Arc::new(members), grid: grids.get(&color).cloned().unwrap_or_default() });
        let ranks = part.len() as u32;
        for (rank, (_, _, at)) in (0..).zip(part) {
            let walker = &mut walkers[at.rank as usize];
            walker.communicators.insert(at.new, Local::Global(number as usize));
            walker.created.push(NewCommunicator::Member { number, event, ranks, rank });
        }
    }
    Ok(())
}

fn unknown(communicator: u16) -> String {
    format!("communicator {communicator}; expected MPI_COMM_WORLD (2), MPI_COMM_SELF (3) or one that an earlier record made")
}
