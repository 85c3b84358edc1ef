//! State of the endpoints with subscriptions: timers, messages within nodes, departures to report.

use crate::endpoint::{Arrival, Departure, Socket};
use odonata_checkpoint::Snapshot;
use std::collections::BTreeMap;

/// State of the endpoints with subscriptions. Lists by NIC are empty if there are none.
pub(super) struct Listeners {
    pub(super) socket: Socket,
    /// Expiry of the timer of each NIC; `u64::MAX` if it is not set.
    timers: Vec<u64>,
    /// Number of timers that are set, and the last expiry.
    timers_set: usize,
    last_timer: u64,
    /// Messages within nodes, by NIC, time and order of delivery.
    on_node: BTreeMap<(u32, u64, u64), Arrival>,
    delivered: u64,
    /// Packet of each NIC whose departure is to be notified.
    pub(super) departures: Vec<Option<Departure>>,
}

odonata_checkpoint::state!(Listeners {
    value: timers_set, last_timer, on_node, delivered;
    same_length: timers, departures;
    rebuilt: socket
});

impl Listeners {
    /// Creates the state of `nics` NICs; 0 without subscriptions.
    pub(super) fn new(nics: usize) -> Self {
        Self {
            socket: Socket::new(0, None),
            timers: vec![u64::MAX; nics],
            timers_set: 0,
            last_timer: 0,
            on_node: BTreeMap::new(),
            delivered: 0,
            departures: vec![None; nics],
        }
    }

    /// Expiry of the timer of NIC `n`; `u64::MAX` if it is not set.
    #[inline]
    pub(super) fn timer(&self, n: usize) -> u64 {
        self.timers[n]
    }

    #[inline]
    fn set_timer(&mut self, n: usize, at: u64) {
        let before = std::mem::replace(&mut self.timers[n], at);
        self.timers_set = self.timers_set + usize::from(at != u64::MAX) - usize::from(before != u64::MAX);
    }

    /// Sets the timer of NIC `n` and stores the messages that were delivered within its node.
    pub(super) fn store_requests(&mut self, n: usize, timer: u64) {
        self.set_timer(n, timer);
        for arrival in self.socket.take_deliveries() {
            self.on_node.insert((n as u32, arrival.at_ps, self.delivered), arrival);
            // The counter keeps messages of one time in order.
            self.delivered += 1;
        }
    }

    /// First message of NIC `n` to its own node.
    #[inline]
    fn first_on_node(&self, n: usize) -> Option<(u32, u64, u64)> {
        // Nearly always empty, and every event of a node asks.
        if self.on_node.is_empty() {
            return None;
        }
        self.on_node.range((n as u32, 0, 0)..(n as u32 + 1, 0, 0)).next().map(|(&key, _)| key)
    }

    /// Time of the next timer or message within the node of NIC `n`; `u64::MAX` if there is none.
    #[inline]
    pub(super) fn next_due(&self, n: usize) -> u64 {
        self.timers[n].min(self.first_on_node(n).map_or(u64::MAX, |(_, at, _)| at))
    }

    /// Takes a message within the node of NIC `n` that has arrived by `now`.
    #[inline]
    pub(super) fn take_on_node(&mut self, n: usize, now: u64) -> Option<Arrival> {
        let key = self.first_on_node(n).filter(|&(_, at, _)| at <= now)?;
        self.on_node.remove(&key)
    }

    /// Stops the timer of NIC `n` if it has expired by `now`; returns whether it has.
    #[inline]
    pub(super) fn take_expired(&mut self, n: usize, now: u64) -> bool {
        let has_expired = self.timers[n] <= now;
        if has_expired {
            self.set_timer(n, u64::MAX);
            self.last_timer = now;
        }
        has_expired
    }

    /// Adds the timers and the messages within nodes to a snapshot. `add` adds a message.
    pub(super) fn snapshot(&self, into: &mut Snapshot, mut add: impl FnMut(&Arrival, &mut Snapshot)) {
        let Self { socket: _, timers, timers_set: _, last_timer: _, on_node, delivered: _, departures } = self;
        timers.iter().for_each(|at| into.time(*at));
        into.put(&(on_node.len(), departures));
        for ((nic, at, _), arrival) in on_node {
            into.put(nic);
            into.time(*at);
            add(arrival, into);
        }
    }

    /// Whether endpoints wait for a timer or a message within a node.
    pub(super) fn has_timers(&self) -> bool {
        self.timers_set > 0 || !self.on_node.is_empty()
    }

    /// Time of the last expired timer.
    pub(super) fn last_timer(&self) -> u64 {
        self.last_timer
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.timers.capacity() * size_of::<u64>()
            + self.departures.capacity() * size_of::<Option<Departure>>()
            + self.on_node.len() * size_of::<((u32, u64, u64), Arrival)>()
    }
}
