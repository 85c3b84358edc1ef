//! A program as a tree of loops, and the blocks of a rank.

use super::piece::{blocks, find, rounds, Piece, Variables};
use super::repetition::{repetition, representatives};
use super::statement::{Action, CompletionMode, Message, Slot, Statement};
use crate::call::{Call, ANY, BLOCKING, OUTSIDE};
use crate::code::Code;
use crate::rank_program::RankProgram;
use crate::repetition::Repetition;
use crate::representatives::Representatives;
use odonata_expression::Expression;
use odonata_units::{Bytes, Time};
use std::sync::OnceLock;

/// A range of ranks with the same program.
#[derive(Clone, Debug)]
pub(super) struct Role {
    pub(super) first: u32,
    pub(super) last: u32,
    /// Index of the body.
    pub(super) body: usize,
}

/// A program read from a text.
#[derive(Clone, Debug)]
pub struct TextProgram {
    pub(super) ranks: u32,
    /// Ascending, without gaps.
    pub(super) roles: Vec<Role>,
    pub(super) bodies: Vec<Vec<Piece>>,
    pub(super) phases: Vec<String>,
    /// Bytes of vector collectives by sender and receiver, with their lines.
    pub(super) sizes: Vec<(u32, Expression)>,
    /// Named slots. Unnamed ones follow.
    pub(super) named_slots: u32,
    pub(super) streams: u8,
    /// Blocks that stand for all, once somebody asked: each rank is looked at.
    pub(super) representatives: OnceLock<Option<Representatives>>,
}

impl TextProgram {
    pub(super) fn body(&self, rank: u32) -> &[Piece] {
        let role = self.roles.partition_point(|role| role.last < rank);
        &self.bodies[self.roles[role].body]
    }

    /// Generates a block, and the line of each call.
    fn write(&self, rank: u32, index: u64, code: &mut Code, lines: Option<&mut Vec<u32>>) {
        let mut variables = Variables::default();
        variables[0] = rank.into();
        if let Some(statements) = find(self.body(rank), index, &mut variables) {
            Writer { program: self, code, lines, unnamed: 0 }.all(statements, &mut variables);
        }
    }
}

impl RankProgram for TextProgram {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn blocks(&self, rank: u32) -> u64 {
        let mut variables = Variables::default();
        variables[0] = rank.into();
        blocks(self.body(rank), &variables)
    }

    fn block(&self, rank: u32, index: u64, code: &mut Code) {
        self.write(rank, index, code, None);
    }

    fn repetition(&self, rank: u32) -> Option<Repetition> {
        let mut variables = Variables::default();
        variables[0] = rank.into();
        repetition(self.body(rank), &variables)
    }

    fn representatives(&self) -> Option<Representatives> {
        self.representatives.get_or_init(|| representatives(self)).clone()
    }

    fn size(&self, sizes: u32, from: u32, to: u32) -> Bytes {
        let size = self.sizes.get(sizes as usize).and_then(|(_, size)| size.of(&[from.into(), to.into()]).ok());
        Bytes(size.and_then(|size| u64::try_from(size).ok()).unwrap_or(0))
    }

    fn splits(&self) -> bool {
        self.bodies.iter().any(|body| splits(body))
    }

    fn streams(&self) -> u8 {
        self.streams
    }

    fn phases(&self) -> Vec<String> {
        self.phases.clone()
    }

    fn line(&self, rank: u32, index: u64, place: usize) -> Option<u32> {
        let (mut code, mut lines) = (Code::default(), Vec::new());
        self.write(rank, index, &mut code, Some(&mut lines));
        lines.get(place).copied()
    }
}

/// Whether any piece splits a communicator.
fn splits(pieces: &[Piece]) -> bool {
    pieces.iter().any(|piece| match piece {
        Piece::Straight(statements) => divides(statements),
        Piece::Loop { body, .. } => splits(body),
    })
}

fn divides(statements: &[Statement]) -> bool {
    statements.iter().any(|statement| match &statement.action {
        Action::Split { .. } => true,
        Action::Repeat { body, .. } | Action::OnStream { body, .. } => divides(body),
        Action::If { then, otherwise, .. } => divides(then) || divides(otherwise),
        _ => false,
    })
}

/// Generates the calls of statements.
struct Writer<'a> {
    program: &'a TextProgram,
    code: &'a mut Code,
    lines: Option<&'a mut Vec<u32>>,
    /// Unnamed requests since the last `waitall`.
    unnamed: u32,
}

impl Writer<'_> {
    fn all(&mut self, statements: &[Statement], variables: &mut Variables) {
        for Statement { line, action } in statements {
            match action {
                Action::Repeat { times, variable, body } => {
                    for round in 0..rounds(times, variables) {
                        variables[*variable] = round as i64;
                        self.all(body, variables);
                    }
                }
                Action::If { condition, then, otherwise } => {
                    let holds = condition.of(variables).is_ok_and(|truth| truth != 0);
                    self.all(if holds { then } else { otherwise }, variables);
                }
                Action::OnStream { stream, body } => {
                    self.push(Call::Stream { stream: *stream }, *line);
                    self.all(body, variables);
                    self.push(Call::Stream { stream: 0 }, *line);
                }
                single => {
                    if let Some(call) = self.call(single, variables) {
                        self.push(call, *line);
                    }
                }
            }
        }
    }

    fn push(&mut self, call: Call, line: u32) {
        self.code.push(call);
        if let Some(lines) = &mut self.lines {
            lines.push(line);
        }
    }

    fn call(&mut self, action: &Action, variables: &Variables) -> Option<Call> {
        let number = |expression: &Expression| expression.of(variables).ok();
        let rank = |expression: &Expression| {
            let rank = number(expression).and_then(|rank| u32::try_from(rank).ok());
            rank.map_or(OUTSIDE, |rank| rank.min(OUTSIDE))
        };
        let natural = |expression: &Expression| number(expression).map_or(0, |n| n.max(0) as u64);
        let short = |expression: &Expression| natural(expression).min(u64::from(OUTSIDE)) as u32;
        Some(match action {
            Action::Message(message) => self.message(message, variables),
            Action::Wait(slot) => Call::Wait { request: request(slot, variables) },
            Action::Test(slot) => Call::Test { request: request(slot, variables) },
            Action::WaitAllUnnamed => {
                let count = std::mem::take(&mut self.unnamed);
                if count == 0 {
                    return None;
                }
                Call::WaitAll { first: self.program.named_slots, count }
            }
            Action::WaitAll(slots) => Call::WaitAll { first: slots.first, count: slots.count },
            Action::WaitAny(slots) => Call::WaitAny { first: slots.first, count: slots.count },
            Action::WaitSome(slots) => Call::WaitSome { first: slots.first, count: slots.count },
            Action::Compute(time) => Call::Compute { time: Time(natural(time)) },
            Action::Sleep(time) => Call::Sleep { time: Time(natural(time)) },
            Action::WaitUntil(time) => Call::WaitUntil { time: Time(natural(time)) },
            Action::Mark(phase) => Call::Mark { phase: *phase },
            &Action::Collective { operation, ref root, ref bytes, sizes, communicator, ref waiting } => {
                let (root, bytes) = (rank(root), Bytes(natural(bytes)));
                let request = self.request(waiting, variables).unwrap_or(BLOCKING);
                Call::Collective { operation, root, bytes, sizes, communicator, request }
            }
            &Action::Split { communicator, new, ref color, ref key } => {
                Call::CommSplit { communicator, new, color: short(color), key: short(key) }
            }
            &Action::Create { communicator, new, ref first, ref count, ref stride } => {
                Call::CommCreate { communicator, new, first: rank(first), count: short(count), stride: short(stride) }
            }
            Action::Free(communicator) => Call::CommFree { communicator: *communicator },
            Action::Record(event) => Call::Record { event: *event },
            Action::Await(event) => Call::Await { event: *event },
            Action::Repeat { .. } | Action::If { .. } | Action::OnStream { .. } => {
                unreachable!("its parts are generated")
            }
        })
    }

    fn message(&mut self, message: &Message, variables: &Variables) -> Call {
        let number = |expression: &Expression| expression.of(variables).ok();
        let natural = |expression: &Expression| number(expression).and_then(|n| u32::try_from(n).ok());
        let peer = message.peer.as_ref().map_or(ANY, |peer| natural(peer).unwrap_or(OUTSIDE).min(OUTSIDE));
        let tag = message.tag.as_ref().map_or(ANY, |tag| natural(tag).unwrap_or(0).min(OUTSIDE));
        let bytes = Bytes(number(&message.bytes).map_or(0, |n| n.max(0) as u64));
        let communicator = message.communicator;
        match (message.sends, self.request(&message.waiting, variables)) {
            (true, None) => Call::Send { to: peer, bytes, tag, communicator },
            (false, None) => Call::Recv { from: peer, bytes, tag, communicator },
            (true, Some(request)) => Call::Isend { to: peer, bytes, tag, communicator, request },
            (false, Some(request)) => Call::Irecv { from: peer, bytes, tag, communicator, request },
        }
    }

    /// The request slot of a call that does not block.
    fn request(&mut self, waiting: &CompletionMode, variables: &Variables) -> Option<u32> {
        match waiting {
            CompletionMode::Blocking => None,
            CompletionMode::Named(slot) => Some(request(slot, variables)),
            CompletionMode::Unnamed => {
                self.unnamed += 1;
                Some(self.program.named_slots + self.unnamed - 1)
            }
        }
    }
}

fn request(slot: &Slot, variables: &Variables) -> u32 {
    let index = slot.index.of(variables).unwrap_or(0);
    slot.slots.first + index.rem_euclid(slot.slots.count.into()) as u32
}
