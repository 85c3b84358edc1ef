//! Calls of one rank, from the lines of its trace.
//!
//! Lines name requests by sender, receiver and tag; here they are slots. A slot is reused after a wait by name or for
//! all. Only the run shows which requests a test or a wait for any freed, so their slots stay in use.

use super::actions::{ignored_why, ACTIONS};
use super::compute_times::{checked_time, ComputeTimes};
use super::line::Line;
use crate::call::{Call, Operation, ANY, BLOCKING, EQUAL, WORLD};
use odonata_trace::Survey;
use odonata_units::Bytes;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The slot of the single-rank communicator of a rank that a split excluded.
pub(super) const EXCLUDED: u16 = 1;
/// Number of other slots. All ranks use the same slot for a communicator, derived from its number in the trace.
pub(super) const SLOTS: u32 = 32_765;
/// Largest communicator number. Larger numbers identify excluded ranks.
const MAX_COMMUNICATOR: u32 = i32::MAX as u32;

/// A call and its line or record.
pub(super) type TracedCall = (Call, u32);

/// Communicator, sender, receiver and tag of a request.
type Name = (u32, u32, u32, u32);

/// A communicator from the view of one of its ranks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    /// Its number in the trace.
    pub(super) number: u32,
    /// Its number in calls.
    pub(super) slot: u16,
    pub(super) ranks: u32,
    /// The rank's number in it.
    pub(super) rank: u32,
}

/// A collective, for comparison between ranks.
#[derive(Debug)]
pub(super) struct CollectiveCall {
    pub(super) operation: Operation,
    pub(super) root: u32,
    pub(super) line: u32,
}

impl CollectiveCall {
    /// Name in error messages.
    pub(super) fn name(&self) -> String {
        match self.operation {
            Operation::Broadcast | Operation::Reduce | Operation::Gather | Operation::Scatter => {
                format!("'{}' with root {}", self.operation.name(), self.root)
            }
            operation => format!("'{}'", operation.name()),
        }
    }
}

/// One rank of a trace.
#[derive(Debug)]
pub(super) struct RankTrace {
    timing: ComputeTimes,
    /// Element size of lines without a data type.
    element: u64,
    pub(super) calls: Vec<TracedCall>,
    /// Collectives by communicator number, in order.
    pub(super) collectives: BTreeMap<u32, Vec<CollectiveCall>>,
    /// Vector collectives: the communicator, the operation, and the sizes in this rank's line, in bytes.
    pub(super) vectors: Vec<(u32, Operation, Vec<u64>)>,
    /// All communicators that it was ever in, with their lines.
    pub(super) made: BTreeMap<u32, (Member, u32)>,
    /// Its current communicators by number; the communicator of the line; free slots.
    pub(super) members: BTreeMap<u32, Member>,
    pub(super) here: Member,
    /// Request slots in use, by name, in order; free slots; the number of slots.
    taken: BTreeMap<Name, VecDeque<u32>>,
    free: BTreeSet<u32>,
    slots: u32,
    pub(super) line: u32,
    /// Whether the line starts a nonblocking collective.
    pub(super) starts: bool,
    /// Number of nonblocking collectives so far, by communicator.
    begun: BTreeMap<u32, u32>,
}

impl RankTrace {
    pub(super) fn new(rank: u32, ranks: u32, timing: ComputeTimes) -> Self {
        let all = Member { number: 0, slot: WORLD, ranks, rank };
        Self {
            timing,
            element: 1,
            calls: Vec::new(),
            collectives: BTreeMap::new(),
            vectors: Vec::new(),
            made: BTreeMap::new(),
            members: BTreeMap::from([(0, all)]),
            here: all,
            taken: BTreeMap::new(),
            free: BTreeSet::new(),
            slots: 0,
            line: 0,
            starts: false,
            begun: BTreeMap::new(),
        }
    }

    /// Whether it has no lines.
    pub(super) fn is_empty(&self) -> bool {
        self.line == 0
    }

    /// Ends the rank: a program waits for all its requests.
    pub(super) fn end(&mut self) {
        self.wait_all();
        self.calls.shrink_to_fit();
    }

    /// Handles a line.
    pub(super) fn follow(&mut self, line: &Line<'_>, survey: &mut Survey) -> Result<(), String> {
        let action = line.action()?;
        let ignored = matches!(action.as_str(), "finalize" | "comm_size" | "location" | "comm_dup")
            || (action == "comm_split" && !line.has_arguments());
        survey.count(&action, !ignored, ignored_why(&action));
        let first = self.is_empty();
        self.line = line.number;
        if first {
            self.push(Call::Mark { phase: 0 });
        }
        let number = line.communicator()?;
        let is_wait = matches!(action.as_str(), "wait" | "test");
        // A request outlives its communicator.
        let freed = self.made.get(&number).filter(|_| is_wait).map(|(member, _)| member);
        self.here = *self.members.get(&number).or(freed).ok_or_else(|| {
            let known: Vec<String> = self.members.keys().skip(1).map(u32::to_string).collect();
            let known =
                if known.is_empty() { "none was made".into() } else { format!("it is in {}", known.join(", ")) };
            format!("communicator {number}, which does not contain the rank; {known}")
        })?;
        match action.as_str() {
            "init" => self.element = if line.has_arguments() { 8 } else { 1 },
            // SimGrid does not name the new communicator.
            "comm_split" if line.has_arguments() => self.split(line)?,
            "comm_free" if number > 0 => {
                self.push(Call::CommFree { communicator: self.here.slot });
                self.members.remove(&number);
            }
            "finalize" | "comm_size" | "comm_split" | "comm_dup" | "comm_free" | "location" => {}
            "compute" => self.compute(line.amount(0, "operations")?)?,
            "sleep" => {
                let time = checked_time(line.amount(0, "seconds")? * 1e12)?;
                self.push(Call::Sleep { time });
            }
            "send" | "ssend" | "isend" | "issend" | "recv" | "irecv" | "sendrecv" => self.message(line)?,
            "test" | "wait" | "waitany" | "waitall" => self.wait(line)?,
            "start" => {
                return Err("'Start' of a persistent request, whose partner is not in the trace".into());
            }
            action => {
                let plain = action.strip_prefix('i').filter(|rest| ACTIONS.contains(rest)).unwrap_or(action);
                self.starts = plain != action;
                if !self.collective(plain, line)? && !self.vector(plain, line)? {
                    return Err(line.unknown(&ACTIONS));
                }
            }
        }
        Ok(())
    }

    /// `new ranks rank`: a rank of a new communicator. Excluded (`0 0 0`), it gets a communicator of its own, which is
    /// freed at once.
    fn split(&mut self, line: &Line<'_>) -> Result<(), String> {
        line.expect(3, 3)?;
        let (number, ranks) = (line.count(0, "communicator")?, line.count(1, "number of ranks")?);
        let communicator = self.here.slot;
        if number == 0 {
            let color = u32::MAX - 1 - self.members[&0].rank;
            self.push(Call::CommSplit { communicator, new: EXCLUDED, color, key: 0 });
            self.push(Call::CommFree { communicator: EXCLUDED });
            return Ok(());
        }
        if number > MAX_COMMUNICATOR {
            return Err(format!("communicator {number}; expected a number up to {MAX_COMMUNICATOR}"));
        }
        if let Some((_, before)) = self.made.get(&number) {
            return Err(format!("communicator {number} was created in line {before}; numbers must be unique"));
        }
        let slot = EXCLUDED + 1 + ((number - 1) % SLOTS) as u16;
        if let Some(before) = self.members.values().find(|member| member.slot == slot) {
            let before = before.number;
            return Err(format!(
                "communicator {number} is created while {before} exists; numbers must be less than {SLOTS} apart"
            ));
        }
        let rank = line.peer(2, ranks)?;
        self.push(Call::CommSplit { communicator, new: slot, color: number, key: rank });
        let member = Member { number, slot, ranks, rank };
        self.made.insert(number, (member, self.line));
        self.members.insert(number, member);
        Ok(())
    }

    pub(super) fn push(&mut self, call: Call) {
        self.calls.push((call, self.line));
    }

    fn compute(&mut self, flops: f64) -> Result<(), String> {
        self.compute_ps(flops * self.timing.ps_per_flop)
    }

    /// Computation of a time in the trace.
    pub(super) fn compute_ps(&mut self, ps: f64) -> Result<(), String> {
        let time = self.timing.of_ps(ps)?;
        if time.0 > 0 {
            self.push(Call::Compute { time });
        }
        Ok(())
    }

    /// Point to point: `partner tag size [type]`.
    fn message(&mut self, line: &Line<'_>) -> Result<(), String> {
        let action = line.action()?;
        if action == "sendrecv" {
            return self.send_and_receive(line);
        }
        line.expect(3, 4)?;
        let element = line.element(3, self.element)?;
        let (bytes, tag, communicator) = (Bytes(line.bytes(2, element)?), line.tag(1)?, self.here.slot);
        let (on, me) = (self.here.number, self.here.rank);
        if action.ends_with("send") {
            let to = line.peer(0, self.here.ranks)?;
            let call = match action.starts_with('i') {
                true => Call::Isend { to, bytes, tag, communicator, request: self.begin((on, me, to, tag)) },
                false => Call::Send { to, bytes, tag, communicator },
            };
            self.push(call);
            return Ok(());
        }
        let from = line.sender(0, self.here.ranks)?;
        // A size of 0 means unknown.
        let bytes = if bytes.0 == 0 { Bytes(u64::MAX) } else { bytes };
        let call = match action == "irecv" {
            true => Call::Irecv { from, bytes, tag, communicator, request: self.begin((on, from, me, tag)) },
            false => Call::Recv { from, bytes, tag, communicator },
        };
        self.push(call);
        Ok(())
    }

    /// `size to size from [types]`. The trace has no tags for it.
    fn send_and_receive(&mut self, line: &Line<'_>) -> Result<(), String> {
        line.expect(4, 6)?;
        let element = line.element(4, self.element)?;
        let out = Bytes(line.bytes(0, element)?);
        let into = Bytes(line.bytes(2, line.element(5, element)?)?);
        let (to, from) = (line.peer(1, self.here.ranks)?, line.sender(3, self.here.ranks)?);
        let (on, me, tag, communicator) = (self.here.number, self.here.rank, SENDRECV, self.here.slot);
        let (received, sent) = (self.begin((on, from, me, tag)), self.begin((on, me, to, tag)));
        self.push(Call::Irecv { from, bytes: into, tag, communicator, request: received });
        self.push(Call::Isend { to, bytes: out, tag, communicator, request: sent });
        for (name, request) in [((on, from, me, tag), received), ((on, me, to, tag), sent)] {
            self.push(Call::Wait { request });
            self.forget(name);
        }
        Ok(())
    }

    /// `wait from to tag`, `wait collective`, the same of `test`, `waitany count`, `waitall count`.
    fn wait(&mut self, line: &Line<'_>) -> Result<(), String> {
        match line.action()?.as_str() {
            "waitall" => {
                self.wait_all();
                return Ok(());
            }
            "waitany" => {
                if !self.taken.is_empty() {
                    self.push(Call::WaitAny { first: 0, count: self.slots });
                }
                return Ok(());
            }
            _ => {}
        }
        if line.len() == 1 {
            let (on, number) = (self.here.number, line.count(0, "number of the collective")?);
            let name = collective_name(on, number);
            let request = self.taken.get(&name).and_then(VecDeque::front).copied();
            let count = self.begun.get(&on).copied().unwrap_or(0);
            return match request {
                Some(request) => self.wait_or_test(line, name, request),
                None if number < count => Err(format!("nonblocking collective {number} has been waited for before")),
                None => Err(format!("nonblocking collective {number}, but {count} were started; they count from 0")),
            };
        }
        line.expect(3, 3)?;
        if line.is_internal(2)? {
            // SimGrid's format does not say which nonblocking collective: the oldest of the communicator.
            let on = self.here.number;
            let oldest = self.taken.range(collective_name(on, 0)..).find(|(name, _)| name.3 == COLLECTIVE);
            let oldest =
                oldest.filter(|(name, _)| name.0 == on).and_then(|(name, slots)| Some((*name, *slots.front()?)));
            if let Some((name, request)) = oldest {
                self.wait_or_test(line, name, request)?;
            }
            return Ok(());
        }
        let (from, to, tag) = (line.sender(0, self.here.ranks)?, line.sender(1, self.here.ranks)?, line.tag(2)?);
        let on = self.here.number;
        let names = [(on, from, to, tag), (on, ANY, to, tag), (on, from, to, ANY), (on, ANY, to, ANY)];
        let found = names.iter().find_map(|name| Some((*name, *self.taken.get(name)?.front()?)));
        let Some((name, request)) = found else {
            return Err(format!("no request from rank {from} to rank {to} with tag {tag} was started before"));
        };
        self.wait_or_test(line, name, request)
    }

    fn wait_or_test(&mut self, line: &Line<'_>, name: Name, request: u32) -> Result<(), String> {
        if line.action()? == "test" {
            self.push(Call::Test { request });
        } else {
            self.push(Call::Wait { request });
            self.forget(name);
        }
        Ok(())
    }

    /// Takes a free slot.
    pub(super) fn take_slot(&mut self) -> u32 {
        self.free.pop_first().unwrap_or_else(|| {
            self.slots += 1;
            self.slots - 1
        })
    }

    /// Makes slots free again.
    pub(super) fn free_slots(&mut self, slots: impl IntoIterator<Item = u32>) {
        self.free.extend(slots);
    }

    /// Takes a slot.
    fn begin(&mut self, name: Name) -> u32 {
        let slot = self.take_slot();
        self.taken.entry(name).or_default().push_back(slot);
        slot
    }

    /// Frees the oldest slot of a name.
    fn forget(&mut self, name: Name) {
        if let Some(slots) = self.taken.get_mut(&name) {
            self.free.extend(slots.pop_front());
            if slots.is_empty() {
                self.taken.remove(&name);
            }
        }
    }

    fn wait_all(&mut self) {
        if self.free.len() == self.slots as usize {
            return;
        }
        self.push(Call::WaitAll { first: 0, count: self.slots });
        self.taken.clear();
        self.free = (0..self.slots).collect();
    }

    /// A collective with blocks of one size. Returns whether `action` is one.
    fn collective(&mut self, action: &str, line: &Line<'_>) -> Result<bool, String> {
        // Positions of data type and root in the arguments, and the number of arguments.
        let (operation, kind, root, most) = match action {
            "barrier" => (Operation::Barrier, 0, None, 0),
            "bcast" => (Operation::Broadcast, 2, Some(1), 3),
            "reduce" => (Operation::Reduce, 3, Some(2), 4),
            "allreduce" => (Operation::Allreduce, 2, None, 3),
            "scan" | "exscan" => (Operation::Scan, 2, None, 3),
            "alltoall" => (Operation::Alltoall, 2, None, 4),
            "allgather" => (Operation::Allgather, 2, None, 4),
            "gather" => (Operation::Gather, 3, Some(2), 5),
            "scatter" => (Operation::Scatter, 3, Some(2), 5),
            _ => return Ok(false),
        };
        let combines = matches!(operation, Operation::Reduce | Operation::Allreduce | Operation::Scan);
        line.expect(usize::from(most > 0), most)?;
        let root = match root {
            Some(at) if at < line.len() => line.peer(at, self.here.ranks)?,
            _ => 0,
        };
        // The sent size comes first, the received size second. If data stay in place, only one of them counts.
        let received = match operation {
            Operation::Gather => self.here.rank == root,
            Operation::Scatter => self.here.rank != root,
            Operation::Allgather | Operation::Alltoall => line.len() > 1,
            _ => false,
        };
        let second = usize::from(received);
        let element = line.element(kind + second, self.element)?;
        let bytes = if operation == Operation::Barrier { 0 } else { line.bytes(second, element)? };
        self.together(operation, root, Bytes(bytes), EQUAL);
        if combines && line.len() > 1 {
            self.compute(line.amount(1, "operations")?)?;
        }
        Ok(true)
    }

    /// A vector collective. Returns whether `action` is one.
    fn vector(&mut self, action: &str, line: &Line<'_>) -> Result<bool, String> {
        let (n, ranks) = (self.here.ranks as usize, self.here.ranks);
        let typed = |at: usize| line.element(at, self.element);
        let (operation, root, sizes) = match action {
            "alltoallv" => {
                line.expect(2 * n + 2, 2 * n + 4)?;
                (Operation::Alltoall, 0, line.blocks(1, ranks, typed(2 * n + 2)?)?)
            }
            "allgatherv" => {
                line.expect(n + 1, 2 * n + 3)?;
                let kind = if line.len() > n + 3 { line.len() } else { n + 1 };
                (Operation::Allgather, 0, vec![line.bytes(0, typed(kind)?)?])
            }
            "gatherv" => {
                line.expect(n + 1, n + 4)?;
                let root = if line.len() > n + 1 { line.peer(n + 1, ranks)? } else { 0 };
                (Operation::Gather, root, vec![line.bytes(0, typed(n + 2)?)?])
            }
            "scatterv" => {
                line.expect(n + 1, n + 4)?;
                let root = if line.len() > n + 1 { line.peer(n + 1, ranks)? } else { 0 };
                (Operation::Scatter, root, line.blocks(0, ranks, typed(n + 2)?)?)
            }
            "reducescatter" => {
                line.expect(n + 1, n + 2)?;
                (Operation::ReduceScatter, 0, line.blocks(0, ranks, typed(n + 1)?)?)
            }
            _ => return Ok(false),
        };
        let number = self.vectors.len() as u32;
        self.vectors.push((self.here.number, operation, sizes));
        self.together(operation, root, Bytes(0), number);
        if operation == Operation::ReduceScatter {
            self.compute(line.amount(n, "operations")?)?;
        }
        Ok(true)
    }

    pub(super) fn together(&mut self, operation: Operation, root: u32, bytes: Bytes, sizes: u32) {
        let called = CollectiveCall { operation, root, line: self.line };
        self.collectives.entry(self.here.number).or_default().push(called);
        let communicator = self.here.slot;
        let request = if self.starts {
            let begun = self.begun.entry(self.here.number).or_default();
            let name = collective_name(self.here.number, *begun);
            *begun += 1;
            self.begin(name)
        } else {
            BLOCKING
        };
        self.push(Call::Collective { operation, root, bytes, sizes, communicator, request });
    }
}

impl RankTrace {
    /// The slot of the nonblocking collective that started last. The caller frees it.
    pub(super) fn slot_of_latest_collective(&mut self) -> u32 {
        let number = self.begun.get(&self.here.number).map_or(0, |begun| begun - 1);
        let slots = self.taken.remove(&collective_name(self.here.number, number));
        slots.and_then(|mut slots| slots.pop_front()).expect("a nonblocking collective started")
    }
}

/// The name of the request of a nonblocking collective, by its number on the communicator.
const fn collective_name(communicator: u32, number: u32) -> Name {
    (communicator, ANY, number, COLLECTIVE)
}

/// In place of a tag of a nonblocking collective. No message has this tag.
const COLLECTIVE: u32 = ANY - 2;

/// Tag of `sendrecv`, whose tags are not in a trace. A program is unlikely to use it.
const SENDRECV: u32 = ANY - 1;
