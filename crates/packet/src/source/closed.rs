//! Closed-loop sources: every node sends a list of messages as fast as the network accepts them.
//!
//! A node sends one packet of each message in turn, like a NIC with one queue per destination. A message may be sent
//! several times, once per round. A round of a job starts when the node has completed the round before. The last
//! packet of a message carries the remainder. The messages of all closed jobs of a node take turns together; jobs
//! that have not started are skipped. A memory FIFO sends its messages one after the other instead, and has its own
//! rounds.

use crate::endpoint::{Activity, Endpoints, Nics, OutgoingPacket, UnfinishedEndpoint};
use crate::traffic_class::JobClass;
use odonata_checkpoint::state;
use odonata_units::{Bytes, NodeId, Time};
use std::ops::Range;
use std::sync::Arc;

/// One message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NodeMessage {
    /// Source node.
    pub source: NodeId,
    /// Destination node, different from the source.
    pub destination: NodeId,
    /// Size; an empty message is not sent.
    pub bytes: Bytes,
    /// Number of times that it is sent.
    pub rounds: u32,
}

impl NodeMessage {
    /// Whether it is sent.
    pub(super) const fn is_sent(&self) -> bool {
        self.bytes.0 > 0 && self.rounds > 0
    }
}

/// A job that sends a list of messages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClosedJob {
    /// All messages. A node sends its messages in this order, packet by packet in turn.
    pub messages: Arc<Vec<NodeMessage>>,
    /// Start of the first round; its packets are created then.
    pub start: Time,
}

impl ClosedJob {
    /// A job that starts at time 0.
    pub fn new(messages: Vec<NodeMessage>) -> Self {
        Self { messages: Arc::new(messages), start: Time::ZERO }
    }

    /// Its messages in a traffic class. Each class has rounds of its own.
    pub(super) fn in_class(&self, class: u8, classes: JobClass) -> Self {
        let own = |message: &&NodeMessage| classes.of_message(message.bytes.0) == class;
        Self { messages: Arc::new(self.messages.iter().filter(own).copied().collect()), start: self.start }
    }
}

/// Messages of one job at one node.
struct JobShare {
    job: u16,
    node: NodeId,
    start: u64,
    /// Its messages.
    messages: Range<u32>,
    /// Incomplete messages of this round.
    unfinished: u32,
    round: u32,
    rounds: u32,
}

impl JobShare {
    const fn has_more(&self) -> bool {
        self.round < self.rounds
    }
}

/// Messages of all jobs at one node.
struct NicSender {
    shares: Range<u32>,
    messages: Range<u32>,
    /// Next message in turn.
    turn: u32,
}

struct MessageProgress {
    message: NodeMessage,
    share: u32,
    /// Bytes left in this round.
    left: u64,
}

pub(super) struct ClosedEndpoints {
    messages: Vec<MessageProgress>,
    shares: Vec<JobShare>,
    /// By NIC.
    senders: Vec<NicSender>,
    packet: u64,
    /// Whether messages are sent one after the other: if NICs are memory FIFOs.
    in_order: bool,
}

state!(JobShare { value: unfinished, round; rebuilt: job, node, start, messages, rounds });
state!(NicSender { value: turn; rebuilt: shares, messages });
state!(MessageProgress { value: left; rebuilt: message, share });
state!(ClosedEndpoints { nested: messages, shares, senders; rebuilt: packet, in_order });

impl ClosedEndpoints {
    pub(super) fn new(jobs: &[(u16, &ClosedJob)], nics: &Nics<'_>) -> Self {
        let mut here: Vec<(u32, usize, NodeMessage)> = Vec::new();
        for (j, (_, job)) in jobs.iter().enumerate() {
            let sent = job.messages.iter().filter(|m| m.is_sent());
            let mut fifos = nics.memory_fifos();
            here.extend(sent.filter_map(|&m| {
                let first = nics.first_of(m.source)?;
                let fifo = fifos.as_mut().map_or(0, |fifos| fifos.select(m.source, m.destination));
                Some((first + fifo, j, m))
            }));
        }
        here.sort_by_key(|&(nic, j, _)| (nic, j));
        let mut endpoints = Self {
            messages: Vec::with_capacity(here.len()),
            shares: Vec::new(),
            senders: Vec::with_capacity(nics.count() as usize),
            packet: u64::from(nics.payload()),
            in_order: nics.are_memory_fifos(),
        };
        let mut rest = here.as_slice();
        for nic in 0..nics.count() {
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
            self.messages.extend(share.iter().map(|&(_, _, message)| MessageProgress {
                message,
                share: index,
                left: message.bytes.0,
            }));
            self.shares.push(JobShare {
                job: number,
                node: share[0].2.source,
                start: job.start.ps(),
                messages: start..self.messages.len() as u32,
                unfinished: share.len() as u32,
                round: 0,
                rounds: share.iter().map(|(_, _, m)| m.rounds).max().unwrap_or(0),
            });
        }
        self.senders.push(NicSender {
            shares: first_share..self.shares.len() as u32,
            messages: first..self.messages.len() as u32,
            turn: first,
        });
    }

    /// Starts the next round of share `s`, whose messages are all sent.
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
    fn next_created_ps(&mut self, nic: u32) -> Option<u64> {
        let Range { start, end } = self.senders[nic as usize].shares.clone();
        let shares = &self.shares[start as usize..end as usize];
        shares.iter().filter(|share| share.has_more()).map(|share| share.start).min()
    }

    fn take(&mut self, nic: u32, leaves_ps: u64) -> OutgoingPacket {
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
        let is_finished = sending.left == 0;
        if self.in_order && !is_finished {
            sender.turn = m as u32;
        }
        let share = &mut self.shares[s];
        let (job, created_ps) = (share.job, share.start);
        if is_finished {
            share.unfinished -= 1;
            if share.unfinished == 0 {
                self.next_round(s);
            }
        }
        OutgoingPacket { job, message_bytes, ..OutgoingPacket::new(created_ps, destination, size as u32) }
    }

    fn has_work(&self, _: u64) -> bool {
        self.shares.iter().any(JobShare::has_more)
    }

    fn on_end(&mut self, _: u64) -> Vec<UnfinishedEndpoint> {
        let unfinished = self.shares.iter().filter(|share| share.has_more());
        let state = |share: &JobShare| {
            let messages = share.messages.clone().map(|m| {
                let sending = &self.messages[m as usize];
                u64::from(sending.left > 0) + u64::from(sending.message.rounds.saturating_sub(share.round + 1))
            });
            let activity = Activity::Sending { messages: messages.sum() };
            UnfinishedEndpoint { job: share.job, rank: None, node: share.node, activity }
        };
        unfinished.map(state).collect()
    }
}
