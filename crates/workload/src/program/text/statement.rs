//! What a line says.

use super::expression::Expression;
use crate::program::Operation;

/// A line and what belongs to it.
#[derive(Clone, Debug)]
pub(super) struct Statement {
    pub(super) line: u32,
    pub(super) action: Action,
}

/// Slots that have a name: the `index`th of them, modulo their number.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub(super) slots: Slots,
    pub(super) index: Expression,
}

/// Slots under one name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Slots {
    pub(super) first: u32,
    pub(super) count: u32,
}

/// How a message is waited for.
#[derive(Clone, Debug)]
pub(super) enum CompletionMode {
    /// By the call itself.
    Blocking,
    /// By the next plain `waitall`.
    Unnamed,
    /// By a name.
    Named(Slot),
}

/// A message of either end.
#[derive(Clone, Debug)]
pub(super) struct Message {
    pub(super) sends: bool,
    /// `None`: any.
    pub(super) peer: Option<Expression>,
    pub(super) bytes: Expression,
    /// `None`: any.
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
    Mark(u32),
    Collective {
        operation: Operation,
        root: Expression,
        bytes: Expression,
        sizes: u32,
        communicator: u16,
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
