//! Sending side of a NIC.
//!
//! ```text
//! hosts, answers to gets ─► waiting, by time ─► queue, first in first out ─┐ packet by packet   ┌─────────────────┐
//!                                          └──► gets ─────────────────────┴─► merge ──────────► │ prepared, buffer │ ─► link
//!                                                                                               └─────────────────┘
//! ```
//! All packets of a message are sent before the next message starts. A get request overtakes messages, but not the
//! packets that are prepared or in the buffer. These two lists are not stored: a get request records how many packets
//! precede it.

use crate::relative::{put_envelope, put_sequence, NicPlace};
use crate::wire::{MessageKind, PacketSizes};
use odonata_checkpoint::{state, DecodeError, Reader, Snapshot, State, Writer};
use odonata_packet::{Envelope, OutgoingPacket};
use odonata_units::NodeId;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A message to send.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct OutboundMessage {
    /// Time when the NIC has it.
    pub(crate) ready_ps: u64,
    pub(crate) job: u16,
    pub(crate) node: NodeId,
    /// NIC of the destination node.
    pub(crate) nic: u8,
    pub(crate) envelope: Envelope,
    /// Bytes on the wire.
    pub(crate) wire: u64,
}

impl OutboundMessage {
    fn snapshot(&self, into: &mut Snapshot) {
        let Self { ready_ps, job, node, nic, envelope, wire } = self;
        into.time(*ready_ps);
        into.put(&(job, node, nic, wire));
        put_envelope(Some(envelope), into);
    }
}

/// The message that is being sent.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct ActiveSend {
    message: OutboundMessage,
    left: u64,
    /// Number of the pair of NICs, from the first packet on.
    pair: Option<u32>,
}

#[derive(Debug)]
pub(crate) struct Outbox {
    sizes: PacketSizes,
    /// Number among the outboxes of its node: of the NIC, then of the traffic class.
    lane: u16,
    waiting: VecDeque<OutboundMessage>,
    queue: VecDeque<ActiveSend>,
    /// Get requests, each with the number of packets ever taken that precede it.
    gets: VecDeque<(u64, OutboundMessage)>,
    /// Packets of the queue that were taken, and packets still in it.
    taken: u64,
    backlog: u64,
    /// Packets that precede a new get request.
    packets_before_get: u64,
    /// Departure times of the last packets, up to the size of the buffer.
    buffer_packets: usize,
    departures: VecDeque<u64>,
    /// Next sequence number to each other NIC.
    pairs: NicPairs<u32>,
}

state!(Outbox {
    value: waiting, queue, gets, taken, backlog, departures;
    nested: pairs;
    rebuilt: sizes, lane, packets_before_get, buffer_packets
});

/// State for each pair of this NIC and another one.
#[derive(Debug)]
pub(crate) struct NicPairs<T> {
    indices: rustc_hash::FxHashMap<(NodeId, u16), u32>,
    states: Vec<T>,
}

impl<T> Default for NicPairs<T> {
    fn default() -> Self {
        Self { indices: rustc_hash::FxHashMap::default(), states: Vec::new() }
    }
}

/// Saved in the order of their numbers.
impl<T: Serialize + DeserializeOwned> State for NicPairs<T> {
    fn save(&self, into: &mut Writer) {
        let mut nics: Vec<_> = self.indices.iter().map(|(nic, place)| (*place, *nic)).collect();
        nics.sort_unstable();
        into.put(&(nics, &self.states));
    }

    fn load(&mut self, from: &mut Reader<'_>) -> Result<(), DecodeError> {
        let nics: Vec<(u32, (NodeId, u16))> = from.get()?;
        let states: Vec<T> = from.get()?;
        if nics.iter().map(|(place, _)| *place).ne(0..states.len() as u32) {
            return Err(DecodeError("pairs of NICs are not numbered".into()));
        }
        self.indices = nics.into_iter().map(|(place, nic)| (nic, place)).collect();
        self.states = states;
        Ok(())
    }
}

impl<T: Default> NicPairs<T> {
    /// Number of the pair with a NIC or an outbox of another node.
    pub(crate) fn index_of(&mut self, node: NodeId, nic: u16) -> u32 {
        let states = &mut self.states;
        *self.indices.entry((node, nic)).or_insert_with(|| {
            states.push(T::default());
            states.len() as u32 - 1
        })
    }

    pub(crate) fn state_mut(&mut self, place: u32) -> &mut T {
        &mut self.states[place as usize]
    }

    /// The other NICs with their states, in the order of their numbers.
    pub(crate) fn in_order(&self) -> impl Iterator<Item = ((NodeId, u16), &T)> {
        let mut nics: Vec<_> = self.indices.iter().map(|(nic, place)| (*place, *nic)).collect();
        nics.sort_unstable();
        nics.into_iter().map(|(place, nic)| (nic, &self.states[place as usize]))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.states.iter()
    }

    /// Approximate memory.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.states.capacity() * size_of::<T>() + self.indices.capacity() * (size_of::<((NodeId, u16), u32)>() + 1)
    }
}

/// The sending outbox of a packet on its node, and the packet's sequence number.
pub(crate) fn sequence_parts(message: u32) -> (u16, u32) {
    ((message >> SEQUENCE_BITS) as u16, message & ((1 << SEQUENCE_BITS) - 1))
}

/// Bits of a sequence number. The bits above hold the sending outbox: 64 NICs of 8 traffic classes. A pair has fewer
/// packets in flight than numbers.
pub(crate) const SEQUENCE_BITS: u32 = 23;

impl Outbox {
    /// Whether packets of a job that satisfies `of` are still to be sent.
    pub(crate) fn has_message_of(&self, of: impl Fn(u16) -> bool) -> bool {
        let queue = self.queue.iter().map(|send| &send.message);
        let gets = self.gets.iter().map(|(_, message)| message);
        self.waiting.iter().chain(queue).chain(gets).any(|message| of(message.job))
    }

    pub(crate) fn new(sizes: PacketSizes, lane: u16, prepared: u32, buffer: u32) -> Self {
        Self {
            sizes,
            lane,
            waiting: VecDeque::new(),
            queue: VecDeque::new(),
            gets: VecDeque::new(),
            taken: 0,
            backlog: 0,
            packets_before_get: u64::from(prepared) + u64::from(buffer),
            buffer_packets: buffer as usize,
            departures: VecDeque::new(),
            pairs: NicPairs::default(),
        }
    }

    /// Accepts a message. Messages of equal time are ordered by job and rank, then by arrival.
    pub(crate) fn push(&mut self, message: OutboundMessage) {
        let place = |of: &OutboundMessage| (of.ready_ps, of.job, of.envelope.source);
        let after = self.waiting.iter().rev().take_while(|other| place(other) > place(&message)).count();
        self.waiting.insert(self.waiting.len() - after, message);
    }

    /// Earliest time of the next packet.
    pub(crate) fn next_ready_ps(&self) -> Option<u64> {
        let begun = self.gets.front().map(|(_, get)| get.ready_ps).into_iter();
        let begun = begun.chain(self.queue.front().map(|send| send.message.ready_ps)).min();
        begun.or(self.waiting.front().map(|message| message.ready_ps))
    }

    /// Moves the messages that are ready by `now_ps` into the queue.
    fn advance(&mut self, now_ps: u64) {
        while let Some(&message) = self.waiting.front().filter(|message| message.ready_ps <= now_ps) {
            self.waiting.pop_front();
            if MessageKind::from_code(message.envelope.kind).requests_data() {
                self.gets.push_back((self.taken + self.backlog.min(self.packets_before_get), message));
            } else {
                self.backlog += self.sizes.packets(message.wire);
                self.queue.push_back(ActiveSend { message, left: message.wire, pair: None });
            }
        }
    }

    /// Takes the packet that leaves at `leaves_ps`.
    pub(crate) fn take_packet(&mut self, leaves_ps: u64) -> OutgoingPacket {
        self.advance(leaves_ps);
        let get_is_next = match (self.gets.front(), self.queue.is_empty()) {
            (Some(&(before, _)), false) => before <= self.taken,
            (get, _) => get.is_some(),
        };
        let mut send = if get_is_next {
            let (_, message) = self.gets.pop_front().expect("a get is next");
            ActiveSend { message, left: message.wire, pair: None }
        } else {
            self.taken += 1;
            self.backlog -= 1;
            self.queue.pop_front().expect("the NIC asked for an existing packet")
        };
        let message = send.message;
        let first = send.pair.is_none();
        let pair = match send.pair {
            Some(pair) => pair,
            None => self.pairs.index_of(message.node, message.nic.into()),
        };
        let number = self.pairs.state_mut(pair);
        let tagged = u32::from(self.lane) << SEQUENCE_BITS | *number;
        *number = (*number + 1) & ((1 << SEQUENCE_BITS) - 1);
        let (size, padding) = self.sizes.next(send.left);
        send.left -= u64::from(size);
        if send.left > 0 {
            send.pair = Some(pair);
            self.queue.push_front(send);
        }
        OutgoingPacket {
            padding,
            nic: message.nic,
            job: message.job,
            message_bytes: message.wire,
            message: tagged,
            envelope: first.then_some(message.envelope),
            ..OutgoingPacket::new(self.buffer_entry_ps(message.ready_ps, leaves_ps), message.node, size)
        }
    }

    /// When a packet that leaves at `leaves_ps` entered the buffer. This is when it was ready, or when an earlier
    /// packet made space.
    fn buffer_entry_ps(&mut self, ready_ps: u64, leaves_ps: u64) -> u64 {
        let full = self.departures.len() == self.buffer_packets;
        let freed = if full { self.departures.pop_front().unwrap_or(0) } else { 0 };
        self.departures.push_back(leaves_ps);
        ready_ps.max(freed)
    }

    /// Adds the state to a snapshot. `own` is the node with the number of this outbox on it.
    pub(crate) fn snapshot(&self, own: NicPlace, into: &mut Snapshot) {
        let Self {
            sizes: _,
            lane: _,
            waiting,
            queue,
            gets,
            taken,
            backlog,
            packets_before_get: _,
            buffer_packets: _,
            departures,
            pairs,
        } = self;
        const TAKEN: &str = "packets taken";
        let owner = (own.node, u64::from(own.nic));
        into.put(&(waiting.len(), queue.len(), gets.len(), backlog));
        waiting.iter().for_each(|message| message.snapshot(into));
        for ActiveSend { message, left, pair } in queue {
            message.snapshot(into);
            into.put(&(left, pair));
        }
        for (before, message) in gets {
            into.counter(TAKEN, owner, *before);
            message.snapshot(into);
        }
        into.counter(TAKEN, owner, *taken);
        // A departure matters only if it is later than the time at which a later message was ready. The place in the
        // buffer counts from the last one, so earlier ones can be left out.
        let known = waiting.iter().chain(queue.iter().map(|send| &send.message)).chain(gets.iter().map(|(_, get)| get));
        let floor = known.map(|message| message.ready_ps).fold(into.now_ps(), u64::min);
        let later: Vec<u64> = departures.iter().copied().skip_while(|at| *at <= floor).collect();
        into.put(&later.len());
        later.into_iter().for_each(|at| into.time(at.max(floor)));
        for ((node, nic), number) in pairs.in_order() {
            put_sequence(own, NicPlace { node: node.0.into(), nic }, *number, into);
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.waiting.capacity() * size_of::<OutboundMessage>()
            + self.queue.capacity() * size_of::<ActiveSend>()
            + self.gets.capacity() * size_of::<(u64, OutboundMessage)>()
            + self.departures.capacity() * size_of::<u64>()
            + self.pairs.memory_bytes()
    }
}
