//! What a rank has posted, received and not completed.

use crate::matching::Label;
use crate::requests::Slot;
use crate::wire::MessageKind;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// A notice that the host must handle.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Notice {
    /// A message: eager data, a rendezvous header, or a message on the node.
    Message { kind: MessageKind, label: Label, bytes: u64, transfer: u32 },
    /// The data of a rendezvous arrived.
    DataArrived { transfer: u32 },
    /// A send is complete.
    Complete { transfer: u32 },
}

/// A posted receive.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct PostedReceive {
    pub(super) bytes: u64,
    pub(super) slot: Slot,
    /// Number of its call.
    pub(super) call: u64,
}

/// A message that the host knows, before its match.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct ReceivedMessage {
    pub(super) kind: MessageKind,
    pub(super) bytes: u64,
    pub(super) transfer: u32,
}

/// The other end of a one-sided transfer does not know it.
pub(super) const NO_REMOTE: u32 = u32::MAX;

/// A rendezvous after its header, or a one-sided transfer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Transfer {
    pub(super) peer: u32,
    pub(super) bytes: u64,
    pub(super) slot: Slot,
    /// Number of the message within its sender.
    pub(super) number: u64,
    /// Its number at the other end, or [`NO_REMOTE`].
    pub(super) remote: u32,
}

/// Transfers by number. The lowest free number is used first, so numbers repeat if transfers do.
#[derive(Default, Debug, Serialize, Deserialize)]
pub(super) struct Transfers {
    pub(super) list: Vec<Transfer>,
    pub(super) free: BinaryHeap<Reverse<u32>>,
}

impl Transfers {
    pub(super) fn add(&mut self, transfer: Transfer) -> u32 {
        if let Some(Reverse(number)) = self.free.pop() {
            self.list[number as usize] = transfer;
            return number;
        }
        self.list.push(transfer);
        self.list.len() as u32 - 1
    }

    /// The other end of the transfer of a request.
    pub(super) fn peer_of(&self, slot: Slot) -> Option<u32> {
        self.open().map(|(_, transfer)| transfer).find(|transfer| transfer.slot == slot).map(|transfer| transfer.peer)
    }

    /// Open transfers, by number.
    pub(super) fn open(&self) -> impl Iterator<Item = (u32, &Transfer)> {
        let free: BTreeSet<u32> = self.free.iter().map(|Reverse(number)| *number).collect();
        (0..).zip(&self.list).filter(move |(number, _)| !free.contains(number))
    }

    pub(super) fn capacity(&self) -> usize {
        self.list.capacity()
    }

    pub(super) fn remove(&mut self, number: u32) -> Transfer {
        self.free.push(Reverse(number));
        self.list[number as usize]
    }
}
