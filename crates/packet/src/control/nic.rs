//! The control at one NIC: which of its packets may enter the network.
//!
//! Each destination has a window for bytes in flight, and a time before which no packet may go. A destination behind a
//! congested port is *held*: a packet needs a credit instead. Packets that may not go wait in the queue of their destination, so they hold no others.
//!
//! A destination that has had nothing in flight for a round trip starts again, so its state is dropped.

use super::limits::{PairLimits, UNLIMITED};
use super::notice::Notice;
use super::packets::ControlPackets;
use super::pairs::{PairPlace, Pairs};
use super::rules::{Pair, Rules};
use crate::endpoint::OutgoingPacket;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// A packet that waits for the control.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct HeldPacket {
    pub(crate) packet: OutgoingPacket,
    /// Size in the network.
    pub(crate) size: u32,
    /// Since when it waits: the NIC took it from its endpoint, or the packet in front of it left.
    pub(crate) since: u64,
    /// Number in the sequence in which the NIC took packets from its endpoint.
    number: u64,
}

/// The control at one NIC.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct NicControl {
    pairs: Pairs,
    /// Packets that wait, by destination; no empty queues.
    queues: BTreeMap<u32, VecDeque<HeldPacket>>,
    /// Notices that arrive later, by arrival.
    notices: VecDeque<Notice>,
    taken: u64,
    pub(crate) packets: ControlPackets,
}

impl NicControl {
    /// Adds a notice that arrives later. Returns whether packets to its destination wait.
    pub(crate) fn add(&mut self, notice: Notice) -> bool {
        match self.notices.back() {
            Some(last) if *last > notice => {
                let after = self.notices.iter().rposition(|other| *other <= notice).map_or(0, |last| last + 1);
                self.notices.insert(after, notice);
            }
            _ => self.notices.push_back(notice),
        }
        !self.queues.is_empty() && self.queues.contains_key(&notice.destination)
    }

    /// Applies the notices that have arrived by `now`.
    pub(crate) fn apply(&mut self, now: u64, rules: &Rules) {
        while let Some(&notice) = self.notices.front().filter(|notice| notice.at <= now) {
            self.notices.pop_front();
            let Some(pair) = self.pairs.get_mut(notice.destination) else { continue };
            // As if it were dropped: whether it is must not matter.
            if !rules.is_idle(pair, notice.at) || self.queues.contains_key(&notice.destination) {
                rules.apply(pair, &notice);
            }
        }
    }

    /// Takes the oldest waiting packet that may go at `now`, and counts its departure.
    pub(crate) fn take_ready(&mut self, now: u64, rules: &Rules) -> Option<HeldPacket> {
        if self.queues.is_empty() {
            return None;
        }
        let ready = self.heads().filter(|(_, _, at)| *at <= now);
        let destination = ready.min_by_key(|(_, head, _)| head.number)?.0;
        let queue = self.queues.get_mut(&destination)?;
        let mut held = queue.pop_front()?;
        if queue.is_empty() {
            self.queues.remove(&destination);
        }
        let pair = self.pairs.get_mut(destination).expect("a packet was offered before");
        // Before, it waited for the packet in front of it.
        held.since = held.since.max(pair.last_departure);
        rules.depart(pair, held.size, now);
        Some(held)
    }

    /// First waiting packet of each destination that needs no notice, and when it may go.
    fn heads(&self) -> impl Iterator<Item = (u32, &HeldPacket, u64)> {
        self.queues.iter().filter_map(|(&destination, queue)| {
            let head = &queue[0];
            self.pairs.known(destination).next_departure(head.size).map(|at| (destination, head, at))
        })
    }

    /// When a control packet or a waiting packet may go: at a known time, at the next notice about its destination, or not as far as is known.
    pub(crate) fn next_chance(&self) -> u64 {
        let own = self.packets.next_ready();
        if self.queues.is_empty() {
            return own;
        }
        let known = self.heads().map(|(_, _, at)| at).min().map_or(own, |at| at.min(own));
        if known == 0 {
            return 0;
        }
        let mut waited_for = self.notices.iter().filter(|notice| self.queues.contains_key(&notice.destination));
        waited_for.next().map_or(known, |notice| known.min(notice.at))
    }

    /// Offers a packet that the NIC took from its endpoint at `now`. Returns it if it departs; otherwise it waits.
    pub(crate) fn offer(
        &mut self,
        packet: OutgoingPacket,
        size: u32,
        destination: u32,
        now: u64,
        rules: &Rules,
        limits: impl FnOnce() -> PairLimits,
    ) -> Option<OutgoingPacket> {
        let (queues, pairs) = (&self.queues, &mut self.pairs);
        let departs = |pair: &mut Pair| {
            let may_send = pair.may_send(size, now);
            if may_send {
                rules.depart(pair, size, now);
            }
            may_send
        };
        if !queues.contains_key(&destination) {
            let found = pairs.find(destination);
            let departed = match found {
                PairPlace::At(place) if !rules.is_idle(pairs.at(place), now) => departs(pairs.at(place)),
                _ => {
                    let mut pair = rules.pair(limits(), now);
                    let departed = departs(&mut pair);
                    let is_idle = |other, pair: &_| rules.is_idle(pair, now) && !queues.contains_key(&other);
                    pairs.insert(found, destination, pair, is_idle);
                    departed
                }
            };
            if departed {
                return Some(packet);
            }
        }
        let held = HeldPacket { packet, size, since: now, number: self.taken };
        self.taken += 1;
        self.queues.entry(destination).or_default().push_back(held);
        None
    }

    /// After a departure to `destination` at `now`: window (0 if there is none), allowed part of the rate, and whether a
    /// credit was used.
    pub(crate) fn limits_of(&self, destination: u32, size: u32, now: u64, rules: &Rules) -> (u64, f64, bool) {
        let pair = self.pairs.known(destination);
        let time = u64::from(size) * pair.limits.packet_time / rules.full();
        let gap = pair.earliest.saturating_sub(now).max(time).max(1);
        let window = if pair.window >= UNLIMITED { 0 } else { pair.window };
        (window, time.max(1) as f64 / gap as f64, pair.is_held)
    }

    /// Whether packets of some jobs wait that were created before `before`.
    pub(crate) fn has_packets(&self, before: u64, jobs: &[usize]) -> bool {
        let mut held = self.queues.values().flatten().map(|held| &held.packet);
        held.any(|packet| packet.created_ps < before && jobs.contains(&packet.job.into()))
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        let held: usize = self.queues.values().map(VecDeque::capacity).sum();
        let notices = self.notices.capacity() * size_of::<Notice>();
        self.pairs.memory_bytes() + held * size_of::<HeldPacket>() + notices + self.packets.memory_bytes()
    }
}
