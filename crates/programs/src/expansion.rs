//! Expansion of collectives: the calls of one rank as messages, waits and time.

pub(crate) mod entered;
mod snapshot;

use crate::call::{Call, Operation, ANY, BLOCKING, EQUAL, WORLD};
use crate::code::Code;
use crate::collective::{Collective, Collectives, NamedAlgorithm};
use crate::communicators::{Communicators, GroupLists, Splits};
use crate::cursor::Cursor;
use crate::excerpt::Excerpt;
use crate::rank_program::RankProgram;
use crate::sequence::{Rounds, Sequence};
use odonata_checkpoint::{DecodeError, Reader, Writer};
use odonata_units::Bytes;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The program of a job, shared by its ranks.
#[derive(Clone, Debug)]
pub struct JobProgram {
    /// The program.
    pub program: Arc<dyn RankProgram>,
    /// Collective algorithms.
    pub collectives: Arc<Collectives>,
    splits: Arc<Splits>,
}

impl JobProgram {
    /// The program with its collective algorithms.
    pub fn new(program: Arc<dyn RankProgram>, collectives: Arc<Collectives>) -> Self {
        let splits = Arc::new(Splits::of(&*program));
        Self { program, collectives, splits }
    }

    /// The same program, run several times.
    #[must_use]
    pub fn repeated(&self, rounds: Rounds) -> Self {
        // The parts of a split are the same each time.
        Self { program: Arc::new(Sequence::repeated(Arc::clone(&self.program), rounds)), ..self.clone() }
    }

    /// A shorter program of the same messages, in which a block stands for all blocks that send the same. `None` if
    /// no such blocks are known. [`Self::is_estimate`] says whether they only send about the same.
    pub(crate) fn excerpt(&self) -> Option<(Self, bool)> {
        let excerpt = Excerpt::of(&self.program)?;
        let is_estimate = excerpt.is_estimate();
        Some((Self { program: Arc::new(excerpt), ..self.clone() }, is_estimate))
    }

    /// Calls `send` with the target and the size of each message of `rank`, in the order of the calls, with collectives
    /// expanded, up to an invalid call. The check at build time leaves at most one, after the checked calls.
    pub fn each_send(&self, rank: u32, mut send: impl FnMut(u32, Bytes)) {
        self.each_counted_send(rank, |to, bytes, _| send(to, bytes));
    }

    /// The same with a number for each: how often it is sent. A block stands for all blocks that send the same, so a
    /// loop costs as much as one iteration, if the program knows that its iterations are equal.
    pub fn each_repeated_send(&self, rank: u32, send: impl FnMut(u32, Bytes, u64)) {
        match self.excerpt() {
            Some((excerpt, false)) => excerpt.each_counted_send(rank, send),
            _ => self.each_counted_send(rank, send),
        }
    }

    fn each_counted_send(&self, rank: u32, mut send: impl FnMut(u32, Bytes, u64)) {
        let mut code = CallExpander::new(self.program.ranks(), rank);
        let mut sent = Vec::new();
        loop {
            let mut look = |call: &Call| {
                if let Call::Send { to, bytes, .. } | Call::Isend { to, bytes, .. } | Call::Put { to, bytes } = *call {
                    sent.push((to, bytes));
                }
            };
            let next = code.next_call(self, Some(&mut look)).ok().flatten();
            next.iter().for_each(&mut look);
            let times = code.times(self);
            sent.drain(..).for_each(|(to, bytes)| send(to, bytes, times));
            if next.is_none() {
                break;
            }
        }
    }
}

/// A step of a rank. Peers are ranks of the job. The communicator only distinguishes messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// A call of the program that is not a collective.
    Call(Call),
    /// The start of a collective. Calls that manage communicators are collectives.
    Enter(Call),
    /// A call inside a collective. Its requests have their own slots.
    Inner(Call),
    /// The end of a collective.
    Leave,
    /// The start of a nonblocking collective. A lane makes its calls ([`CallExpander::next_of_lane`]).
    Start {
        /// The call.
        call: Call,
        /// The lane, free until now.
        lane: u16,
    },
}

/// Bit of the communicator number of messages inside collectives.
const INNER: u16 = 1 << 15;

/// The collective that a rank is in.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct ActiveCollective {
    call: Call,
    operation: Operation,
    communicator: u16,
    root: u32,
    bytes: Bytes,
    sizes: u32,
    /// Distinguishes its messages from other collectives of the communicator.
    tag: u32,
    /// Started steps, the calls of the current step, and the next of them.
    begun: u64,
    code: Code,
    next: usize,
    /// Its algorithm, once it was needed. No state: it follows from the rest.
    #[serde(skip)]
    algorithm: Option<NamedAlgorithm>,
}

/// State of a rank in its expanded program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CallExpander {
    rank: u32,
    cursor: Cursor,
    communicators: Communicators,
    inside: Option<Box<ActiveCollective>>,
    /// Nonblocking collectives, by lane.
    lanes: Vec<Option<Box<ActiveCollective>>>,
    /// Memory of a finished collective, for reuse.
    spare: Option<Box<ActiveCollective>>,
    calls: u64,
}

impl CallExpander {
    /// A rank at the start of its program.
    pub fn new(ranks: u32, rank: u32) -> Self {
        let communicators = Communicators::new(ranks, rank);
        Self { rank, cursor: Cursor::default(), communicators, inside: None, lanes: Vec::new(), spare: None, calls: 0 }
    }

    /// Number of started calls of the program.
    pub fn calls(&self) -> u64 {
        self.calls
    }

    /// The current collective: its operation, and its number on the communicator.
    pub fn collective(&self) -> Option<(Operation, u32)> {
        self.inside.as_ref().map(|inside| (inside.operation, inside.tag >> TAG_BITS))
    }

    /// The nonblocking collective of a lane: its operation, and its number on the communicator.
    pub fn collective_of_lane(&self, lane: u16) -> Option<(Operation, u32)> {
        self.lanes.get(usize::from(lane))?.as_ref().map(|of_lane| (of_lane.operation, of_lane.tag >> TAG_BITS))
    }

    /// Line of the last call, if the program was read from a file.
    pub fn line(&self, shared: &JobProgram) -> Option<u32> {
        self.cursor.line(&*shared.program, self.rank)
    }

    /// Number of the program of the last call, from 0. `None` if there is only one program.
    pub fn program(&self, shared: &JobProgram) -> Option<u32> {
        self.cursor.program(&*shared.program, self.rank)
    }

    /// The last call for messages: its number, the program (from 1) if there are several, the line.
    pub fn place(&self, shared: &JobProgram) -> String {
        let program = self.program(shared).map_or(String::new(), |number| format!(" of program {}", number + 1));
        let word = shared.program.place_word();
        let line = self.line(shared).map_or(String::new(), |line| format!(", {word} {line}"));
        format!("call {}{line}{program}", self.calls)
    }

    /// The next step. `None` at the end of the program.
    ///
    /// # Errors
    /// An invalid call, for example an unknown rank or communicator.
    pub fn next(&mut self, shared: &JobProgram) -> Result<Option<Step>, String> {
        if let Some(mut inside) = self.inside.take() {
            let step = self.next_inside(shared, &mut inside)?;
            if let Some(call) = step {
                self.inside = Some(inside);
                return self.addressed(call, true).map(|call| Some(Step::Inner(call)));
            }
            self.leave(shared, inside)?;
            return Ok(Some(Step::Leave));
        }
        let Some(call) = self.cursor.next(&*shared.program, self.rank) else { return Ok(None) };
        if call == Call::Round {
            self.communicators.begin_round();
        } else {
            self.calls += 1;
        }
        let (operation, communicator, root, bytes, sizes) = match call {
            Call::Collective { operation, root, bytes, sizes, communicator, .. } => {
                (operation, communicator, root, bytes, sizes)
            }
            // Messages of both would have the same communicator.
            Call::CommSplit { new, .. } | Call::CommCreate { new, .. } if self.is_in_use(new) => {
                return Err(format!(
                    "a nonblocking collective of communicator {new}, which was freed, is not complete; expected a wait \
                     before its number is used again"
                ));
            }
            // Every rank learns the colour and key of every other rank.
            Call::CommSplit { communicator, .. } => (Operation::Allgather, communicator, 0, Bytes(8), EQUAL),
            Call::CommCreate { communicator, .. } | Call::CommFree { communicator } => {
                (Operation::Barrier, communicator, 0, Bytes(0), EQUAL)
            }
            other => return self.addressed(other, false).map(|call| Some(Step::Call(call))),
        };
        let (size, _) = self.communicators.size_and_rank(communicator)?;
        if root >= size {
            return Err(format!(
                "{} with root {root}, but communicator {communicator} has {size} ranks",
                operation.name()
            ));
        }
        let count = self.communicators.count_collective(communicator)?;
        let tag = count << TAG_BITS | operation as u32;
        let (code, begun, next) = (self.spare.take().map(|spare| spare.code).unwrap_or_default(), 0, 0);
        let algorithm = None;
        let mut inside =
            ActiveCollective { call, operation, communicator, root, bytes, sizes, tag, begun, code, next, algorithm };
        inside.code.clear();
        if matches!(call, Call::Collective { request, .. } if request != BLOCKING) {
            return self.start_lane(inside).map(|lane| Some(Step::Start { call, lane }));
        }
        self.inside = Some(Box::new(inside));
        Ok(Some(Step::Enter(call)))
    }

    /// Gives a nonblocking collective the first free lane.
    fn start_lane(&mut self, of_lane: ActiveCollective) -> Result<u16, String> {
        let lane = self.lanes.iter().position(Option::is_none).unwrap_or(self.lanes.len());
        if lane == self.lanes.len() {
            self.lanes.push(None);
        }
        let number = u16::try_from(lane)
            .map_err(|_| "65,536 nonblocking collectives are not complete; expected fewer".to_owned())?;
        self.lanes[lane] = Some(Box::new(of_lane));
        Ok(number)
    }

    /// Whether a nonblocking collective of a communicator is not complete.
    fn is_in_use(&self, communicator: u16) -> bool {
        self.lanes.iter().flatten().any(|of_lane| of_lane.communicator == communicator)
    }

    /// The next call of the nonblocking collective of a lane. `None` at its end, which frees the lane.
    ///
    /// # Errors
    /// An invalid call.
    pub fn next_of_lane(&mut self, lane: u16, shared: &JobProgram) -> Result<Option<Call>, String> {
        let Some(mut of_lane) = self.lanes[usize::from(lane)].take() else { return Ok(None) };
        let Some(call) = self.next_inside(shared, &mut of_lane)? else {
            self.spare = Some(of_lane);
            return Ok(None);
        };
        self.lanes[usize::from(lane)] = Some(of_lane);
        self.addressed(call, true).map(Some)
    }

    /// The next call of the program; a collective is returned after its end. `None` at the end of the program. `see`
    /// receives the calls inside collectives; without it they are skipped.
    ///
    /// # Errors
    /// Errors of [`Self::next`].
    pub(crate) fn next_call(
        &mut self,
        shared: &JobProgram,
        mut see: Option<impl FnMut(&Call)>,
    ) -> Result<Option<Call>, String> {
        let entered = match self.next(shared)? {
            None => return Ok(None),
            Some(Step::Call(call)) => return Ok(Some(call)),
            Some(Step::Enter(call)) => call,
            Some(Step::Start { call, lane }) => {
                if let Some(see) = &mut see {
                    while let Some(inner) = self.next_of_lane(lane, shared)? {
                        see(&inner);
                    }
                }
                self.lanes[usize::from(lane)] = None;
                return Ok(Some(call));
            }
            Some(step) => unreachable!("{step:?} outside of a collective"),
        };
        if let Some(see) = &mut see {
            while let Some(Step::Inner(call)) = self.next(shared)? {
                see(&call);
            }
        } else {
            let inside = self.inside.take().expect("it was just entered");
            self.leave(shared, inside)?;
        }
        Ok(Some(entered))
    }

    /// The last call. Its peer is a rank of its communicator.
    pub(crate) fn last(&self) -> Option<Call> {
        self.cursor.last()
    }

    pub(crate) fn communicators(&self) -> &Communicators {
        &self.communicators
    }

    /// Ends a collective.
    fn leave(&mut self, shared: &JobProgram, inside: Box<ActiveCollective>) -> Result<(), String> {
        match inside.call {
            Call::CommFree { communicator } if communicator != WORLD && self.is_in_use(communicator) => {
                self.communicators.retire(communicator)?;
            }
            Call::CommSplit { .. } | Call::CommCreate { .. } | Call::CommFree { .. } => {
                self.communicators.apply(&inside.call, &shared.splits)?;
            }
            _ => {}
        }
        self.spare = Some(inside);
        Ok(())
    }

    fn next_inside(&self, shared: &JobProgram, inside: &mut ActiveCollective) -> Result<Option<Call>, String> {
        let (size, rank) = self.communicators.size_and_rank(inside.communicator)?;
        while inside.next == inside.code.calls().len() {
            inside.code.clear();
            inside.next = 0;
            let job_rank = |of| self.communicators.job_rank(inside.communicator, of).expect("a rank of the collective");
            let of_program = |from, to| shared.program.size(inside.sizes, job_rank(from), job_rank(to));
            let equal = inside.sizes == EQUAL;
            let collective = Collective {
                operation: inside.operation,
                rank,
                size,
                root: inside.root,
                bytes: inside.bytes,
                sizes: if equal { None } else { Some(&of_program) },
            };
            let named = *inside.algorithm.get_or_insert_with(|| shared.collectives.algorithm(&collective));
            if !named.algorithm.step(&collective, inside.begun, &mut inside.code) {
                return Ok(None);
            }
            inside.begun += 1;
        }
        inside.next += 1;
        Ok(Some(tagged(inside.code.calls()[inside.next - 1], inside)))
    }

    /// The same call with ranks of the job.
    fn addressed(&self, call: Call, inner: bool) -> Result<Call, String> {
        let peer = |communicator: u16, rank: u32| match rank {
            ANY => Ok(ANY),
            rank => self.communicators.job_rank(communicator & !INNER, rank),
        };
        let own =
            |communicator: u16| if inner || communicator & INNER == 0 { Ok(()) } else { Err(unknown(communicator)) };
        Ok(match call {
            Call::Send { to, bytes, tag, communicator } => {
                own(communicator)?;
                Call::Send { to: peer(communicator, to)?, bytes, tag, communicator }
            }
            Call::Recv { from, bytes, tag, communicator } => {
                own(communicator)?;
                Call::Recv { from: peer(communicator, from)?, bytes, tag, communicator }
            }
            Call::Isend { to, bytes, tag, communicator, request } => {
                own(communicator)?;
                Call::Isend { to: peer(communicator, to)?, bytes, tag, communicator, request }
            }
            Call::Irecv { from, bytes, tag, communicator, request } => {
                own(communicator)?;
                Call::Irecv { from: peer(communicator, from)?, bytes, tag, communicator, request }
            }
            other => other,
        })
    }

    /// Number of started blocks of the program.
    pub fn started_blocks(&self) -> u64 {
        self.cursor.place().0
    }

    /// Continues as if `blocks` more blocks had been started, which equal the ones before ([`Repetition`](crate::Repetition)).
    pub fn skip_blocks(&mut self, blocks: u64) {
        self.cursor.skip_blocks(blocks);
    }

    /// Saves the state. Group lists that several ranks share go into `lists`.
    pub fn save(&self, lists: &mut GroupLists, into: &mut Writer) {
        // Memory of finished collectives is no state.
        let Self { rank: _, cursor, communicators, inside, lanes, spare: _, calls } = self;
        into.put(&(cursor.place(), inside, lanes, calls));
        communicators.save(lists, into);
    }

    /// Loads the state.
    ///
    /// # Errors
    /// The program has no such position.
    pub fn load(&mut self, shared: &JobProgram, lists: &GroupLists, from: &mut Reader<'_>) -> Result<(), DecodeError> {
        let (next_block, next);
        ((next_block, next), self.inside, self.lanes, self.calls) = from.get()?;
        if !self.cursor.go_to(next_block, next, &*shared.program, self.rank) {
            return Err(DecodeError(format!("the program of rank {} has no such position", self.rank)));
        }
        self.communicators.load(lists, from)
    }

    /// Memory beyond the struct itself.
    pub fn memory_bytes(&self) -> usize {
        let inside = self.inside.iter().chain(&self.spare).chain(self.lanes.iter().flatten());
        self.cursor.memory_bytes()
            + inside.map(|inside| size_of::<ActiveCollective>() + inside.code.memory_bytes()).sum::<usize>()
    }
}

/// Most steps that [`find_call`] looks at: about a second. A larger limit finds calls of longer programs.
const STEPS_MAX: u64 = 20_000_000;

/// The place of the first call of a rank for which `is_wanted` holds, given the call (or one inside a collective) and
/// the number of the call of the program. `None` if there is no such call in the first execution of the program.
pub fn find_call(shared: &JobProgram, rank: u32, is_wanted: impl Fn(&Call, u64) -> bool) -> Option<String> {
    let mut code = CallExpander::new(shared.program.ranks(), rank);
    for _ in 0..STEPS_MAX {
        match code.next(shared).ok()?? {
            Step::Call(Call::Round) => return None,
            Step::Call(call) | Step::Inner(call) | Step::Enter(call) if is_wanted(&call, code.calls()) => {
                return Some(code.place(shared));
            }
            Step::Start { call, lane } => {
                let mut is_found = is_wanted(&call, code.calls());
                while let Some(inner) = code.next_of_lane(lane, shared).ok()? {
                    is_found |= is_wanted(&inner, code.calls());
                }
                if is_found {
                    return Some(code.place(shared));
                }
            }
            Step::Call(_) | Step::Inner(_) | Step::Enter(_) | Step::Leave => {}
        }
    }
    None
}

/// Identifies a message among others of its two ranks, as the program sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MessageContext {
    /// Communicator of the program.
    pub communicator: u16,
    /// Whether it belongs to a collective.
    pub collective: bool,
    /// Tag, or number of the collective on its communicator.
    pub tag: u32,
}

/// Context from the communicator and the tag of a [`Step`]'s call.
pub fn message_context(communicator: u16, tag: u32) -> MessageContext {
    let collective = communicator & INNER != 0;
    MessageContext {
        communicator: communicator & !INNER,
        collective,
        tag: if collective { tag >> TAG_BITS } else { tag },
    }
}

/// The number of a collective and the rest of the tag, for a message of a collective.
pub fn collective_of_tag(communicator: u16, tag: u32) -> Option<(u32, u32)> {
    (communicator & INNER != 0).then_some((tag >> TAG_BITS, tag & ((1 << TAG_BITS) - 1)))
}

/// Bits of a tag for the operation.
const TAG_BITS: u32 = 4;

fn unknown(communicator: u16) -> String {
    format!("there is no communicator {communicator}")
}

/// A call of a collective, with the collective's communicator and tag.
fn tagged(call: Call, inside: &ActiveCollective) -> Call {
    let (own, tag) = (inside.communicator | INNER, inside.tag);
    match call {
        Call::Send { to, bytes, .. } => Call::Send { to, bytes, tag, communicator: own },
        Call::Recv { from, bytes, .. } => Call::Recv { from, bytes, tag, communicator: own },
        Call::Isend { to, bytes, request, .. } => Call::Isend { to, bytes, tag, communicator: own, request },
        Call::Irecv { from, bytes, request, .. } => Call::Irecv { from, bytes, tag, communicator: own, request },
        other => other,
    }
}
