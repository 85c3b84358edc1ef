//! Closed-loop sources: every node sends a list of messages, as fast as the network takes them.
//!
//! A node takes turns among its messages, one packet each, as a NIC with one queue per destination does. A message may
//! be sent several times, once in each round; a round starts when the node has sent all of the one before. The last
//! packet of a message carries the remainder.

use crate::endpoint::{Endpoints, Injection as Packet};
use crate::fabric::Fabric;
use odonata_units::{Bytes, NodeId};
use std::ops::Range;

/// One message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Message {
    /// Sending node.
    pub source: NodeId,
    /// Receiving node, another one.
    pub destination: NodeId,
    /// Bytes, above zero.
    pub bytes: Bytes,
    /// Job it belongs to.
    pub job: u16,
    /// How often it is sent.
    pub rounds: u32,
}

/// The messages of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClosedLoop {
    /// All messages; those of a node are sent in this order, packet by packet in turn.
    pub messages: Vec<Message>,
    /// Number of jobs.
    pub jobs: usize,
}

struct Sender {
    /// Its messages are `messages[first..end]`.
    first: u32,
    end: u32,
    /// Position of the next turn.
    turn: u32,
    /// Messages of this round not yet sent in full.
    unfinished: u32,
    round: u32,
    rounds: u32,
}

impl Sender {
    const fn has_more(&self) -> bool {
        self.round < self.rounds
    }
}

pub(super) struct ClosedEndpoints {
    messages: Vec<Message>,
    /// Bytes left of each message in this round.
    left: Vec<u64>,
    senders: Vec<Sender>,
    packet: u64,
}

impl ClosedEndpoints {
    pub(super) fn new(closed: &ClosedLoop, fabric: &Fabric, nics: &Range<u32>) -> Self {
        let nic = |m: &Message| fabric.node_nic[m.source.index()];
        let mut messages: Vec<Message> = closed
            .messages
            .iter()
            .filter(|m| nics.contains(&nic(m)) && m.bytes.0 > 0 && m.rounds > 0)
            .copied()
            .collect();
        messages.sort_by_key(nic);
        let mut senders = Vec::with_capacity(nics.len());
        let mut cursor = 0;
        for n in nics.clone() {
            let first = cursor;
            while messages.get(cursor).is_some_and(|m| nic(m) == n) {
                cursor += 1;
            }
            let rounds = messages[first..cursor].iter().map(|m| m.rounds).max().unwrap_or(0);
            senders.push(Sender {
                first: first as u32,
                end: cursor as u32,
                turn: first as u32,
                unfinished: (cursor - first) as u32,
                round: 0,
                rounds,
            });
        }
        let left = messages.iter().map(|m| m.bytes.0).collect();
        Self { messages, left, senders, packet: fabric.settings.packet.0 }
    }
}

impl Endpoints for ClosedEndpoints {
    fn next_birth_ps(&mut self, nic: u32) -> Option<u64> {
        self.senders[nic as usize].has_more().then_some(0)
    }

    fn take(&mut self, nic: u32) -> Packet {
        let sender = &mut self.senders[nic as usize];
        while self.left[sender.turn as usize] == 0 {
            sender.turn = if sender.turn + 1 == sender.end { sender.first } else { sender.turn + 1 };
        }
        let m = sender.turn as usize;
        sender.turn = if sender.turn + 1 == sender.end { sender.first } else { sender.turn + 1 };
        let message = self.messages[m];
        let size = self.left[m].min(self.packet);
        self.left[m] -= size;
        if self.left[m] == 0 {
            sender.unfinished -= 1;
            if sender.unfinished == 0 {
                sender.round += 1;
                for i in sender.first as usize..sender.end as usize {
                    if self.messages[i].rounds > sender.round {
                        self.left[i] = self.messages[i].bytes.0;
                        sender.unfinished += 1;
                    }
                }
            }
        }
        Packet { birth_ps: 0, destination: message.destination, size: size as u32, job: message.job, message: m as u32 }
    }

    fn exhausted(&self) -> bool {
        !self.senders.iter().any(Sender::has_more)
    }

    fn born_before(&self, _time: u64) -> bool {
        !self.exhausted()
    }
}
