//! The control at one NIC: which of its packets may enter the network.
//!
//! Each destination has a window for bytes in flight. A destination behind a congested port is *held*: a packet needs
//! a credit instead. Packets that may not go wait in the queue of their destination, so they hold no others.
//!
//! A destination that has had nothing in flight for a round trip starts again, so its state is dropped.

use super::settings::{ControlName, ControlSettings, WindowRule};
use crate::endpoint::OutgoingPacket;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// Kind of a notice. The order is the order of notices of one port that arrive together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub(crate) enum NoticeKind {
    /// A packet arrived.
    Ack,
    /// A packet arrived that passed a long queue.
    MarkedAck,
    /// The port is congested: send only with credits.
    Hold,
    /// Send this many bytes.
    Credit,
    /// The port is no longer congested.
    Release,
}

impl NoticeKind {
    /// All kinds, by number.
    pub(crate) const ALL: [Self; 5] = [Self::Ack, Self::MarkedAck, Self::Hold, Self::Credit, Self::Release];
}

/// A message to a NIC about one of its destinations. Order by arrival.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub(crate) struct Notice {
    /// Arrival time in ps.
    pub(crate) at: u64,
    /// NIC of the destination.
    pub(crate) destination: u32,
    pub(crate) kind: NoticeKind,
    pub(crate) bytes: u32,
}

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

/// What follows from the machine for a pair of NICs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PairLimits {
    /// Maximum window in bytes.
    pub(crate) window_max: u64,
    /// Idle round-trip time in ps.
    pub(crate) round_trip: u64,
}

/// State towards one destination.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Pair {
    window: u64,
    window_max: u64,
    round_trip: u64,
    in_flight: u64,
    /// Whether it needs credits, and its credit. One packet may exceed it.
    is_held: bool,
    credit: i64,
    last_departure: u64,
    /// No mark has arrived yet: the window doubles in a round trip.
    starts: bool,
    /// Acknowledged and marked bytes of this window, and the smoothed share of marked bytes.
    acknowledged: u64,
    marked: u64,
    marked_share: f64,
}

impl Pair {
    fn may_send(&self, size: u32) -> bool {
        match self.is_held {
            true => self.credit > 0,
            false => self.in_flight == 0 || self.in_flight + u64::from(size) <= self.window,
        }
    }

    /// Whether a new pair would do the same from `now` on.
    fn is_idle(&self, now: u64) -> bool {
        self.in_flight == 0 && !self.is_held && self.last_departure + self.round_trip < now
    }
}

/// The control at one NIC.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct NicControl {
    pairs: BTreeMap<u32, Pair>,
    /// Packets that wait, by destination; no empty queues.
    queues: BTreeMap<u32, VecDeque<HeldPacket>>,
    /// Notices that arrive later, by arrival.
    notices: VecDeque<Notice>,
    taken: u64,
}

/// Pairs of a NIC above which idle ones are dropped. Fewer cost time, more cost memory.
const PAIRS_KEPT: usize = 64;

impl NicControl {
    /// Adds a notice that arrives later. Returns whether packets to its destination wait.
    pub(crate) fn add(&mut self, notice: Notice) -> bool {
        let after = self.notices.iter().rposition(|other| *other <= notice).map_or(0, |last| last + 1);
        self.notices.insert(after, notice);
        self.queues.contains_key(&notice.destination)
    }

    /// Applies the notices that have arrived by `now`.
    pub(crate) fn apply(&mut self, now: u64, rules: &Rules) {
        while let Some(&notice) = self.notices.front().filter(|notice| notice.at <= now) {
            self.notices.pop_front();
            let Some(pair) = self.pairs.get_mut(&notice.destination) else { continue };
            // As if it were dropped: whether it is must not matter.
            if pair.is_idle(notice.at) {
                continue;
            }
            match notice.kind {
                NoticeKind::Ack | NoticeKind::MarkedAck => {
                    rules.acknowledge(pair, notice.bytes, notice.kind == NoticeKind::MarkedAck);
                }
                NoticeKind::Hold => (pair.is_held, pair.credit) = (true, 0),
                NoticeKind::Credit => pair.credit += i64::from(notice.bytes),
                NoticeKind::Release => (pair.is_held, pair.window) = (false, rules.first_window),
            }
        }
    }

    /// Takes the oldest waiting packet that may go now.
    pub(crate) fn take_ready(&mut self) -> Option<HeldPacket> {
        let destination = self.ready()?;
        let queue = self.queues.get_mut(&destination)?;
        let mut held = queue.pop_front()?;
        if queue.is_empty() {
            self.queues.remove(&destination);
        }
        // Before, it waited for the packet in front of it.
        held.since = held.since.max(self.pairs[&destination].last_departure);
        Some(held)
    }

    /// Destination of the oldest waiting packet that may go now.
    fn ready(&self) -> Option<u32> {
        let may_go = |destination: &u32, head: &HeldPacket| self.pairs[destination].may_send(head.size);
        let heads = self.queues.iter().map(|(destination, queue)| (destination, &queue[0]));
        heads.filter(|(destination, head)| may_go(destination, head)).min_by_key(|(_, head)| head.number).map(|x| *x.0)
    }

    /// When a waiting packet may go: now (0), at the next notice about its destination, or not as far as is known.
    pub(crate) fn next_chance(&self) -> u64 {
        match (self.queues.is_empty(), self.ready()) {
            (true, _) => u64::MAX,
            (false, Some(_)) => 0,
            (false, None) => {
                let mut waited_for = self.notices.iter().filter(|notice| self.queues.contains_key(&notice.destination));
                waited_for.next().map_or(u64::MAX, |notice| notice.at)
            }
        }
    }

    /// Offers a packet that the NIC took from its endpoint at `now`. Returns it if it may go; otherwise it waits.
    pub(crate) fn offer(
        &mut self,
        packet: OutgoingPacket,
        size: u32,
        destination: u32,
        now: u64,
        rules: &Rules,
        limits: impl FnOnce() -> PairLimits,
    ) -> Option<OutgoingPacket> {
        if self.pairs.len() > PAIRS_KEPT {
            let queues = &self.queues;
            self.pairs.retain(|other, pair| !pair.is_idle(now) || queues.contains_key(other));
        }
        if self.pairs.get(&destination).is_none_or(|pair| pair.is_idle(now)) {
            self.pairs.insert(destination, rules.pair(limits()));
        }
        if !self.queues.contains_key(&destination) && self.pairs[&destination].may_send(size) {
            return Some(packet);
        }
        let held = HeldPacket { packet, size, since: now, number: self.taken };
        self.taken += 1;
        self.queues.entry(destination).or_default().push_back(held);
        None
    }

    /// Counts a packet that departs at `now`.
    pub(crate) fn depart(&mut self, destination: u32, size: u32, now: u64) {
        let pair = self.pairs.get_mut(&destination).expect("a packet was offered before it departs");
        pair.in_flight += u64::from(size);
        pair.credit -= if pair.is_held { i64::from(size) } else { 0 };
        pair.last_departure = now;
    }

    /// Whether packets of some jobs wait that were created before `before`.
    pub(crate) fn has_packets(&self, before: u64, jobs: &[usize]) -> bool {
        let mut held = self.queues.values().flatten().map(|held| &held.packet);
        held.any(|packet| packet.created_ps < before && jobs.contains(&packet.job.into()))
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        let held: usize = self.queues.values().map(VecDeque::capacity).sum();
        self.pairs.len() * size_of::<(u32, Pair)>()
            + held * size_of::<HeldPacket>()
            + self.notices.capacity() * size_of::<Notice>()
    }
}

/// Rules by which windows change.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    first_window: u64,
    full: u64,
    /// The rule of `window`; `None` with `pair`.
    window: Option<WindowRule>,
    gain: f64,
}

impl Rules {
    pub(crate) fn new(settings: &ControlSettings, full: u32) -> Self {
        Self {
            first_window: settings.first_window.0,
            full: full.into(),
            window: (settings.name == ControlName::Window).then_some(settings.rule),
            gain: settings.gain,
        }
    }

    fn pair(&self, PairLimits { window_max, round_trip }: PairLimits) -> Pair {
        let is_fixed = self.window == Some(WindowRule::Fixed);
        Pair {
            window: if is_fixed { window_max } else { self.first_window.min(window_max) },
            window_max,
            round_trip,
            in_flight: 0,
            is_held: false,
            credit: 0,
            last_departure: 0,
            starts: true,
            acknowledged: 0,
            marked: 0,
            marked_share: 1.0,
        }
    }

    fn acknowledge(&self, pair: &mut Pair, bytes: u32, is_marked: bool) {
        // Acknowledgements and departures alternate, so a window in full use is not full at every acknowledgement.
        let (bytes, is_used) = (u64::from(bytes), 2 * pair.in_flight > pair.window);
        pair.in_flight -= bytes;
        match self.window {
            Some(WindowRule::Fixed) => {}
            // A window that is not used does not grow.
            None if !pair.is_held && !is_marked && is_used => {
                pair.window = (pair.window + bytes).min(pair.window_max);
            }
            None => {}
            Some(WindowRule::Dctcp) => self.adjust(pair, bytes, is_marked, is_used),
        }
    }

    /// DCTCP: once per window, share F of marked bytes; `alpha = (1 - g) alpha + g F`; `window x (1 - alpha / 2)` if
    /// any was marked, else one packet more. Before the first mark the window grows by what is acknowledged.
    fn adjust(&self, pair: &mut Pair, bytes: u64, is_marked: bool, is_used: bool) {
        pair.acknowledged += bytes;
        pair.marked += if is_marked { bytes } else { 0 };
        if pair.starts && !is_marked {
            pair.window = if is_used { (pair.window + bytes).min(pair.window_max) } else { pair.window };
        }
        pair.starts &= !is_marked;
        if pair.acknowledged < pair.window {
            return;
        }
        let share = pair.marked as f64 / pair.acknowledged as f64;
        pair.marked_share = (1.0 - self.gain) * pair.marked_share + self.gain * share;
        if pair.marked > 0 {
            let shrunk = pair.window as f64 * (1.0 - pair.marked_share / 2.0);
            pair.window = (shrunk as u64).max(self.full);
        } else if !pair.starts && is_used {
            pair.window = (pair.window + self.full).min(pair.window_max);
        }
        (pair.acknowledged, pair.marked) = (0, 0);
    }
}
