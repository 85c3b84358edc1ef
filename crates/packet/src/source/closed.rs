//! Closed-loop sources: every node sends a list of messages, as fast as the network takes them.
//!
//! A node takes turns among its messages, one packet each, as a NIC with one queue per destination does. A message may
//! be sent several times, once in each round; a round of a job starts when the node has sent all of the one before. The
//! last packet of a message carries the remainder. The messages of all closed jobs at a node take turns together; those of
//! a job that has not started are passed over. In a memory FIFO messages are sent one after the other instead, and rounds are the
//! FIFO's own.

use crate::endpoint::{Activity, Endpoints, Interfaces, Outgoing, Unfinished};
use odonata_checkpoint::state;
use odonata_units::{Bytes, NodeId, Time};
use std::ops::Range;
use std::sync::Arc;

/// One message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NodeMessage {
    /// Sending node.
    pub source: NodeId,
    /// Receiving node, another one.
    pub destination: NodeId,
    /// Bytes; of none, nothing is sent.
    pub bytes: Bytes,
    /// How often it is sent.
    pub rounds: u32,
}

impl NodeMessage {
    /// Whether it is sent at all.
    pub(super) const fn is_sent(&self) -> bool {
        self.bytes.0 > 0 && self.rounds > 0
    }
}

/// A job that sends a list of messages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClosedJob {
    /// All messages; those of a node are sent in this order, packet by packet in turn.
    pub messages: Arc<Vec<NodeMessage>>,
    /// When the messages of the first round are made, and their packets with them.
    pub start: Time,
}

impl ClosedJob {
    /// A job that starts at time 0.
    pub fn new(messages: Vec<NodeMessage>) -> Self {
        Self { messages: Arc::new(messages), start: Time::ZERO }
    }
}

/// The messages of one job at one node.
struct Share {
    job: u16,
    node: NodeId,
    start: u64,
    /// Its messages.
    messages: Range<u32>,
    /// Messages of this round not yet sent in full.
    unfinished: u32,
    round: u32,
    rounds: u32,
}

impl Share {
    const fn has_more(&self) -> bool {
        self.round < self.rounds
    }
}

/// The messages of all jobs at one node.
struct Sender {
    shares: Range<u32>,
    messages: Range<u32>,
    /// The message whose turn it is.
    turn: u32,
}

struct Sending {
    message: NodeMessage,
    share: u32,
    /// Bytes left in this round.
    left: u64,
}

pub(super) struct ClosedEndpoints {
    messages: Vec<Sending>,
    shares: Vec<Share>,
    /// By interface.
    senders: Vec<Sender>,
    packet: u64,
    /// Whether a message is sent to its last packet before the next: where interfaces are memory FIFOs.
    in_order: bool,
}

state!(Share { whole: unfinished, round; built: job, node, start, messages, rounds });
state!(Sender { whole: turn; built: shares, messages });
state!(Sending { whole: left; built: message, share });
state!(ClosedEndpoints { inside: messages, shares, senders; built: packet, in_order });

impl ClosedEndpoints {
    pub(super) fn new(jobs: &[(u16, &ClosedJob)], interfaces: &Interfaces<'_>) -> Self {
        let mut here: Vec<(u32, usize, NodeMessage)> = Vec::new();
        for (j, (_, job)) in jobs.iter().enumerate() {
            let sent = job.messages.iter().filter(|m| m.is_sent());
            let mut fifos = interfaces.memory_fifos();
            here.extend(sent.filter_map(|&m| {
                let first = interfaces.first_of(m.source)?;
                let fifo = fifos.as_mut().map_or(0, |fifos| fifos.pick(m.source, m.destination));
                Some((first + fifo, j, m))
            }));
        }
        here.sort_by_key(|&(nic, j, _)| (nic, j));
        let mut endpoints = Self {
            messages: Vec::with_capacity(here.len()),
            shares: Vec::new(),
            senders: Vec::with_capacity(interfaces.count() as usize),
            packet: u64::from(interfaces.packet()),
            in_order: interfaces.are_fifos(),
        };
        let mut rest = here.as_slice();
        for nic in 0..interfaces.count() {
            let (own, later) = rest.split_at(rest.partition_point(|m| m.0 == nic));
            endpoints.add_sender(own, jobs);
            rest = later;
        }
        endpoints
    }

    fn add_sender(&mut self, own: &[(u32, usize, NodeMessage)], jobs: &[(u16, &ClosedJob)]) {
        let (first_share, first) = (self.shares.len() as u32, self.messages.len() as u32);
        for share in own.chunk_by(|a, b| a.1 == b.1) {
            let (number, job) = jobs[share[0].1];
            let (start, index) = (self.messages.len() as u32, self.shares.len() as u32);
            self.messages.extend(share.iter().map(|&(_, _, message)| Sending {
                message,
                share: index,
                left: message.bytes.0,
            }));
            self.shares.push(Share {
                job: number,
                node: share[0].2.source,
                start: job.start.ps(),
                messages: start..self.messages.len() as u32,
                unfinished: share.len() as u32,
                round: 0,
                rounds: share.iter().map(|(_, _, m)| m.rounds).max().unwrap_or(0),
            });
        }
        self.senders.push(Sender {
            shares: first_share..self.shares.len() as u32,
            messages: first..self.messages.len() as u32,
            turn: first,
        });
    }

    /// All messages of a round of share `s` are sent: the next one begins.
    fn next_round(&mut self, s: usize) {
        let share = &mut self.shares[s];
        share.round += 1;
        for m in share.messages.clone() {
            let sending = &mut self.messages[m as usize];
            if sending.message.rounds > share.round {
                sending.left = sending.message.bytes.0;
                share.unfinished += 1;
            }
        }
    }
}

impl Endpoints for ClosedEndpoints {
    fn next_birth_ps(&mut self, nic: u32) -> Option<u64> {
        let Range { start, end } = self.senders[nic as usize].shares.clone();
        let shares = &self.shares[start as usize..end as usize];
        shares.iter().filter(|share| share.has_more()).map(|share| share.start).min()
    }

    fn take(&mut self, nic: u32, leaves_ps: u64) -> Outgoing {
        let sender = &mut self.senders[nic as usize];
        let m = loop {
            let m = sender.turn as usize;
            sender.turn = if sender.turn + 1 == sender.messages.end { sender.messages.start } else { sender.turn + 1 };
            let sending = &self.messages[m];
            if sending.left > 0 && self.shares[sending.share as usize].start <= leaves_ps {
                break m;
            }
        };
        let sending = &mut self.messages[m];
        let (destination, size, s) =
            (sending.message.destination, sending.left.min(self.packet), sending.share as usize);
        sending.left -= size;
        let message_bytes = sending.message.bytes.0;
        let emptied = sending.left == 0;
        if self.in_order && !emptied {
            sender.turn = m as u32;
        }
        let share = &mut self.shares[s];
        let (job, birth_ps) = (share.job, share.start);
        if emptied {
            share.unfinished -= 1;
            if share.unfinished == 0 {
                self.next_round(s);
            }
        }
        Outgoing { job, message_bytes, ..Outgoing::new(birth_ps, destination, size as u32) }
    }

    fn owes(&self, _: u64) -> bool {
        self.shares.iter().any(Share::has_more)
    }

    fn end(&mut self, _: u64) -> Vec<Unfinished> {
        let unfinished = self.shares.iter().filter(|share| share.has_more());
        let state = |share: &Share| {
            let messages = share.messages.clone().map(|m| {
                let sending = &self.messages[m as usize];
                u64::from(sending.left > 0) + u64::from(sending.message.rounds.saturating_sub(share.round + 1))
            });
            let activity = Activity::Sending { messages: messages.sum() };
            Unfinished { job: share.job, rank: None, node: share.node, activity }
        };
        unfinished.map(state).collect()
    }
}
