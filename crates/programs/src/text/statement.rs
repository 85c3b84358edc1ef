//! Statements of a program.

use crate::call::Operation;
use odonata_expression::Expression;

/// A line with its nested lines.
#[derive(Clone, Debug)]
pub(super) struct Statement {
    pub(super) line: u32,
    pub(super) action: Action,
}

/// A named slot: number `index`, modulo the number of slots.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub(super) slots: Slots,
    pub(super) index: Expression,
}

/// Slots with one name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Slots {
    pub(super) first: u32,
    pub(super) count: u32,
}

/// Completion of a message or a collective.
#[derive(Clone, Debug)]
pub(super) enum CompletionMode {
    /// By the call itself.
    Blocking,
    /// By the next plain `waitall`.
    Unnamed,
    /// By a named request.
    Named(Slot),
}

/// A send or a receive.
#[derive(Clone, Debug)]
pub(super) struct Message {
    pub(super) sends: bool,
    /// `None` is a wildcard.
    pub(super) peer: Option<Expression>,
    pub(super) bytes: Expression,
    /// `None` is a wildcard.
    pub(super) tag: Option<Expression>,
    pub(super) communicator: u16,
    pub(super) waiting: CompletionMode,
}

#[derive(Clone, Debug)]
pub(super) enum Action {
    Message(Message),
    Wait(Slot),
    Test(Slot),
    /// All unnamed requests.
    WaitAllUnnamed,
    WaitAll(Slots),
    WaitAny(Slots),
    WaitSome(Slots),
    Compute(Expression),
    Sleep(Expression),
    WaitUntil(Expression),
    Mark(u32),
    Collective {
        operation: Operation,
        root: Expression,
        bytes: Expression,
        sizes: u32,
        communicator: u16,
        waiting: CompletionMode,
    },
    Split {
        communicator: u16,
        new: u16,
        color: Expression,
        key: Expression,
    },
    Create {
        communicator: u16,
        new: u16,
        first: Expression,
        count: Expression,
        stride: Expression,
    },
    Free(u16),
    OnStream {
        stream: u8,
        body: Vec<Statement>,
    },
    Record(u32),
    Await(u32),
    Repeat {
        times: Expression,
        variable: usize,
        body: Vec<Statement>,
    },
    If {
        condition: Expression,
        then: Vec<Statement>,
        otherwise: Vec<Statement>,
    },
}
