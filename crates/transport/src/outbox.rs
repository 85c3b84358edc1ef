//! What an interface sends, in which order.
//!
//! ```text
//! hosts, answers to gets ─► waiting, by time ─► queue, first in first out ─┐ packet by packet   ┌─────────────────┐
//!                                          └──► gets ─────────────────────┴─► merge ──────────► │ prepared, buffer │ ─► link
//!                                                                                               └─────────────────┘
//! ```
//! A message is sent to its last packet before the next begins. A get overtakes messages, but not the packets that were handed
//! down before it: as many as are prepared and in the buffer. Neither list exists here: a get notes how many packets go before it.

use crate::wire::{MessageKind, PacketSizes};
use odonata_checkpoint::{state, DecodeError, Reader, State, Writer};
use odonata_packet::{Envelope, OutgoingPacket};
use odonata_units::NodeId;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A message that an interface is to send.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct OutboundMessage {
    /// When the interface has it.
    pub(crate) ready_ps: u64,
    pub(crate) job: u16,
    pub(crate) node: NodeId,
    /// The interface of that node.
    pub(crate) interface: u8,
    pub(crate) envelope: Envelope,
    /// Bytes on the wire.
    pub(crate) wire: u64,
}

/// A message that is being sent.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct ActiveSend {
    message: OutboundMessage,
    left: u64,
    /// Number of the pair of interfaces, once its first packet has left.
    pair: Option<u32>,
}

#[derive(Debug)]
pub(crate) struct Outbox {
    sizes: PacketSizes,
    /// This interface's number on its node.
    interface: u8,
    waiting: VecDeque<OutboundMessage>,
    queue: VecDeque<ActiveSend>,
    /// With the packets of the queue that go before each, of all ever taken.
    gets: VecDeque<(u64, OutboundMessage)>,
    /// Packets of the queue that were taken, and those that were not.
    taken: u64,
    backlog: u64,
    /// Packets that are handed down before a get.
    packets_before_get: u64,
    /// When the last packets left, so many as the buffer holds; the oldest is overwritten next.
    buffer_packets: usize,
    departures: VecDeque<u64>,
    /// Next number of a packet to each other interface.
    pairs: NicPairs<u32>,
}

state!(Outbox {
    value: waiting, queue, gets, taken, backlog, departures;
    nested: pairs;
    rebuilt: sizes, interface, packets_before_get, buffer_packets
});

/// State of pairs of this interface and another one.
#[derive(Debug)]
pub(crate) struct NicPairs<T> {
    indices: rustc_hash::FxHashMap<(NodeId, u8), u32>,
    states: Vec<T>,
}

impl<T> Default for NicPairs<T> {
    fn default() -> Self {
        Self { indices: rustc_hash::FxHashMap::default(), states: Vec::new() }
    }
}

/// In the order of their numbers.
impl<T: Serialize + DeserializeOwned> State for NicPairs<T> {
    fn save(&self, into: &mut Writer) {
        let mut interfaces: Vec<_> = self.indices.iter().map(|(interface, place)| (*place, *interface)).collect();
        interfaces.sort_unstable();
        into.put(&(interfaces, &self.states));
    }

    fn load(&mut self, from: &mut Reader<'_>) -> Result<(), DecodeError> {
        let interfaces: Vec<(u32, (NodeId, u8))> = from.get()?;
        let states: Vec<T> = from.get()?;
        if interfaces.iter().map(|(place, _)| *place).ne(0..states.len() as u32) {
            return Err(DecodeError("pairs of interfaces that are not numbered".into()));
        }
        self.indices = interfaces.into_iter().map(|(place, interface)| (interface, place)).collect();
        self.states = states;
        Ok(())
    }
}

impl<T: Default> NicPairs<T> {
    /// Number of the pair with an interface of a node.
    pub(crate) fn index_of(&mut self, node: NodeId, interface: u8) -> u32 {
        let states = &mut self.states;
        *self.indices.entry((node, interface)).or_insert_with(|| {
            states.push(T::default());
            states.len() as u32 - 1
        })
    }

    pub(crate) fn state_mut(&mut self, place: u32) -> &mut T {
        &mut self.states[place as usize]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.states.iter()
    }

    /// Memory of so many entries, about.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.states.capacity() * size_of::<T>() + self.indices.capacity() * (size_of::<((NodeId, u8), u32)>() + 1)
    }
}

/// Bits of the number of a packet; above them is the interface that sends it.
pub(crate) const SEQUENCE_BITS: u32 = 26;

impl Outbox {
    /// Whether a message of a job for which `of` holds is not sent to its last packet.
    pub(crate) fn has_message_of(&self, of: impl Fn(u16) -> bool) -> bool {
        let queue = self.queue.iter().map(|send| &send.message);
        let gets = self.gets.iter().map(|(_, message)| message);
        self.waiting.iter().chain(queue).chain(gets).any(|message| of(message.job))
    }

    pub(crate) fn new(sizes: PacketSizes, interface: u8, prepared: u32, buffer: u32) -> Self {
        Self {
            sizes,
            interface,
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

    /// Takes a message. Of those of one time the one of the job and rank with the least number goes first, and of one rank the one
    /// that came first.
    pub(crate) fn push(&mut self, message: OutboundMessage) {
        let place = |of: &OutboundMessage| (of.ready_ps, of.job, of.envelope.source);
        let after = self.waiting.iter().rev().take_while(|other| place(other) > place(&message)).count();
        self.waiting.insert(self.waiting.len() - after, message);
    }

    /// When the next packet can be had at the earliest.
    pub(crate) fn next_ready_ps(&self) -> Option<u64> {
        let begun = self.gets.front().map(|(_, get)| get.ready_ps).into_iter();
        let begun = begun.chain(self.queue.front().map(|send| send.message.ready_ps)).min();
        begun.or(self.waiting.front().map(|message| message.ready_ps))
    }

    /// Takes over what is ready by then.
    fn advance(&mut self, now_ps: u64) {
        while let Some(&message) = self.waiting.front().filter(|message| message.ready_ps <= now_ps) {
            self.waiting.pop_front();
            if MessageKind::from_code(message.envelope.kind) == MessageKind::GetRequest {
                self.gets.push_back((self.taken + self.backlog.min(self.packets_before_get), message));
            } else {
                self.backlog += self.sizes.packets(message.wire);
                self.queue.push_back(ActiveSend { message, left: message.wire, pair: None });
            }
        }
    }

    /// The packet that leaves then.
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
            self.queue.pop_front().expect("the interface asked for a packet that is there")
        };
        let message = send.message;
        let first = send.pair.is_none();
        let pair = match send.pair {
            Some(pair) => pair,
            None => self.pairs.index_of(message.node, message.interface),
        };
        let number = self.pairs.state_mut(pair);
        let tagged = u32::from(self.interface) << SEQUENCE_BITS | *number;
        *number = (*number + 1) & ((1 << SEQUENCE_BITS) - 1);
        let (taken, size) = self.sizes.next(send.left);
        send.left -= taken;
        if send.left > 0 {
            send.pair = Some(pair);
            self.queue.push_front(send);
        }
        OutgoingPacket {
            interface: message.interface,
            job: message.job,
            message_bytes: message.wire,
            message: tagged,
            envelope: first.then_some(message.envelope),
            ..OutgoingPacket::new(self.buffer_entry_ps(message.ready_ps, leaves_ps), message.node, size)
        }
    }

    /// When a packet that leaves then entered the buffer: when it was ready, or when the packet that many before it left.
    fn buffer_entry_ps(&mut self, ready_ps: u64, leaves_ps: u64) -> u64 {
        let full = self.departures.len() == self.buffer_packets;
        let freed = if full { self.departures.pop_front().unwrap_or(0) } else { 0 };
        self.departures.push_back(leaves_ps);
        ready_ps.max(freed)
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.waiting.capacity() * size_of::<OutboundMessage>()
            + self.queue.capacity() * size_of::<ActiveSend>()
            + self.gets.capacity() * size_of::<(u64, OutboundMessage)>()
            + self.departures.capacity() * size_of::<u64>()
            + self.pairs.memory_bytes()
    }
}
