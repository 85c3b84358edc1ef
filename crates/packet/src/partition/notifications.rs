//! Notifications of endpoints with subscriptions, and their requests.
//!
//! Before every notification of a node, all packets depart that can depart by then. So an endpoint always knows what
//! it has sent, although a departure has no event.

use super::Partition;
use crate::endpoint::{Arrival, Departure, Endpoints, InjectionTimes, Offer, OutgoingPacket, Socket, Subscription};
use crate::packet::NONE;
use crate::queue::Key;
use std::collections::BTreeMap;
use std::sync::Arc;

/// State of the endpoints with subscriptions. Lists by NIC are empty if there are none.
pub(super) struct ListenerState {
    socket: Socket,
    /// Expiry of the timer of each NIC; `u64::MAX` if it is not set.
    timers: Vec<u64>,
    /// Number of timers that are set, and the last expiry.
    timers_set: usize,
    last_timer: u64,
    /// Messages within nodes, by NIC, time and order of delivery.
    on_node: BTreeMap<(u32, u64, u64), Arrival>,
    delivered: u64,
    /// Packet of each NIC whose departure is to be notified.
    departures: Vec<Option<Departure>>,
}

odonata_checkpoint::state!(ListenerState {
    value: timers_set, last_timer, on_node, delivered;
    same_length: timers, departures;
    rebuilt: socket
});

impl ListenerState {
    /// Creates the state of `nics` NICs if `any` endpoint has a subscription.
    pub(super) fn new(nics: usize, any: bool) -> Self {
        let nics = if any { nics } else { 0 };
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

    fn set_timer(&mut self, n: usize, at: u64) {
        let before = std::mem::replace(&mut self.timers[n], at);
        self.timers_set = self.timers_set + usize::from(at != u64::MAX) - usize::from(before != u64::MAX);
    }

    /// First message of NIC `n` to its own node.
    fn first_on_node(&self, n: usize) -> Option<(u32, u64, u64)> {
        // Nearly always empty, and every event of a node asks.
        if self.on_node.is_empty() {
            return None;
        }
        self.on_node.range((n as u32, 0, 0)..(n as u32 + 1, 0, 0)).next().map(|(&key, _)| key)
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

impl Partition {
    /// Starts the endpoints and asks each for its first packet.
    pub(crate) fn start(&mut self) {
        for n in 0..self.nic.len() {
            if self.nic[n].reports_arrivals {
                self.notify(n, |endpoints, nic, socket| {
                    endpoints.on_start(nic, socket);
                    Offer::Changed
                });
            } else {
                self.arm_nic(n);
            }
        }
    }

    /// Handles an event that an endpoint has subscribed to.
    #[inline(never)]
    pub(super) fn endpoint_event(&mut self, key: Key) {
        if key < self.keys.deliver {
            self.injection_event((key - self.keys.injection) as usize);
        } else if key < self.keys.timer {
            self.delivery_event((key - self.keys.deliver) as usize);
        } else {
            self.wakeup_event((key - self.keys.timer) as usize);
        }
    }

    /// Notifies the endpoint of NIC `n`, applies its requests, and asks for the new offers of its node.
    #[inline]
    fn notify(&mut self, n: usize, what: impl FnOnce(&mut dyn Endpoints, u32, &mut Socket) -> Offer) {
        let Self { endpoints, listeners, now, .. } = self;
        // The endpoint may change its timer during the call.
        let timer = listeners.timers[n];
        listeners.socket.turn_to(*now, timer);
        let offer = what(&mut **endpoints, n as u32, &mut listeners.socket);
        let wanted = listeners.socket.timer_ps().unwrap_or(u64::MAX);
        if wanted != timer || !listeners.socket.deliveries().is_empty() {
            self.store_requests(n, wanted);
        }
        // All NICs of the node offer packets of one endpoint.
        if offer == Offer::Changed {
            self.each_of_node(n, Self::refresh_offer);
        }
    }

    /// Calls `each` for all NICs of the node of NIC `n`.
    #[inline]
    fn each_of_node(&mut self, n: usize, mut each: impl FnMut(&mut Self, usize)) {
        let per_node = self.fabric.nics_per_node as usize;
        if self.fabric.rails > 1 {
            let fabric = Arc::clone(&self.fabric);
            let first = self.nics.start;
            fabric.host_nics(first + n as u32).for_each(|nic| {
                (0..per_node).for_each(|i| each(self, (nic - first) as usize + i));
            });
            return;
        }
        let first = n - n % per_node;
        (first..first + per_node).for_each(|m| each(self, m));
    }

    /// Sets the timer of NIC `n` and stores the messages that were delivered within its node.
    #[cold]
    fn store_requests(&mut self, n: usize, timer: u64) {
        let listeners = &mut self.listeners;
        listeners.set_timer(n, timer);
        for arrival in std::mem::take(listeners.socket.deliveries()) {
            listeners.on_node.insert((n as u32, arrival.at_ps, listeners.delivered), arrival);
            // The counter keeps messages of one time in order.
            listeners.delivered += 1;
        }
        self.schedule_wakeup(n);
    }

    /// Schedules the next timer or message within the node of NIC `n`.
    fn schedule_wakeup(&mut self, n: usize) {
        let on_node = self.listeners.first_on_node(n).map_or(u64::MAX, |(_, at, _)| at);
        let due = self.listeners.timers[n].min(on_node);
        if due != u64::MAX {
            self.events.wake(due, self.keys.timer + n as Key);
        }
    }

    /// Notifies the endpoint of NIC `n` of a message within the node or of its expired timer, one of them per event.
    fn wakeup_event(&mut self, n: usize) {
        let now = self.now;
        let first = self.listeners.first_on_node(n).filter(|&(_, at, _)| at <= now);
        if let Some(arrival) = first.and_then(|key| self.listeners.on_node.remove(&key)) {
            self.send_due_packets(n);
            self.notify(n, |endpoints, nic, socket| endpoints.on_arrival(nic, &arrival, socket));
        } else if self.listeners.timers[n] <= now {
            self.listeners.set_timer(n, u64::MAX);
            self.listeners.last_timer = now;
            self.send_due_packets(n);
            self.notify(n, |endpoints, nic, socket| endpoints.on_timer(nic, socket));
        }
        self.schedule_wakeup(n);
    }

    /// Sends everything that NIC `n` can send by now, before its endpoint is notified.
    #[inline]
    fn send_due_packets(&mut self, n: usize) {
        while self.nic[n].leaves <= self.now {
            self.send_from_node(n);
        }
    }

    /// Sends the next packet of NIC `n` to the router. Its arrival already has an event unless its departure had one.
    fn send_from_node(&mut self, n: usize) {
        let port = self.nic[n].port as usize;
        let slot = self.inject_packet(n);
        self.inputs[port].flight.push(slot, &mut self.pool);
        if self.nic[n].has_departure_events {
            let arrives = self.pool.get(slot).arrived;
            self.events.wake(arrives, port as Key);
        }
    }

    /// Asks for the offer of NIC `n` again: packet and time may have changed.
    fn refresh_offer(&mut self, n: usize) {
        let created = self.endpoints.next_created_ps(n as u32).unwrap_or(u64::MAX);
        let (now, nic) = (self.now, &self.nic[n]);
        let since = nic.next_ready;
        // The NIC was out of credits until now.
        if since <= now {
            if created <= now {
                // It still waits for credit.
                return;
            }
            self.recorder.record_nic_stall(n, since, now);
        }
        let nic = &mut self.nic[n];
        let wanted = if created == u64::MAX { created } else { created.max(nic.link_free).max(now) };
        if wanted != since {
            nic.next_ready = wanted;
            self.schedule(n);
        }
    }

    /// Completes the injection of a program's packet at NIC `n`: stores its envelope, schedules the notification of
    /// its departure, and asks for the offers of the node's other NICs.
    pub(super) fn finish_injection(&mut self, n: usize, slot: u32, packet: &OutgoingPacket) {
        self.pool.get_mut(slot).nic = packet.nic;
        if let Some(envelope) = packet.envelope {
            self.pool.set_envelope(slot, envelope);
        }
        let nic = &self.nic[n];
        // Costs an event, so only on request.
        if packet.notifies_departure && nic.reports_departures {
            let departure = Departure { at_ps: nic.link_free, job: packet.job, message: packet.message };
            self.listeners.departures[n] = Some(departure);
            self.events.wake(departure.at_ps, self.keys.injection + n as Key);
        }
        if nic.has_departure_events {
            self.each_of_node(n, |partition, m| {
                if m != n {
                    partition.refresh_offer(m);
                }
            });
        }
    }

    /// Notifies the endpoint of a departure from NIC `n`, or sends its next packet.
    fn injection_event(&mut self, n: usize) {
        // A departure before the next injection: both may be due now.
        let left = self.listeners.departures[n].take_if(|departure| departure.at_ps <= self.now);
        if let Some(departure) = left {
            self.notify(n, |endpoints, nic, socket| endpoints.on_departure(nic, &departure, socket));
        } else if self.nic[n].leaves <= self.now {
            self.send_from_node(n);
        }
        let nic = &self.nic[n];
        let next = self.listeners.departures[n].map_or(nic.leaves, |departure| departure.at_ps);
        if next != u64::MAX {
            self.events.wake(next, self.keys.injection + n as Key);
        }
    }

    /// Notifies the endpoint of NIC `n` of an arrived packet.
    fn delivery_event(&mut self, n: usize) {
        let incoming = &mut self.nic[n].incoming;
        let slot = incoming.head;
        // The event may be early: a deferred departure can be computed late.
        if slot != NONE {
            let packet = self.pool.get(slot);
            if packet.arrived <= self.now {
                incoming.head = packet.next;
                let injection_times = self.pool.entered(slot).map(|injected_ps| InjectionTimes {
                    created_ps: packet.created,
                    taken_ps: packet.injected,
                    injected_ps,
                });
                let arrival = Arrival {
                    at_ps: packet.arrived,
                    source: packet.header.source,
                    size: packet.payload(),
                    job: packet.job,
                    message: packet.message,
                    envelope: self.pool.envelope(slot),
                    injection_times,
                };
                // Freed before the notification, which may inject a packet.
                self.pool.free(slot);
                self.send_due_packets(n);
                self.notify(n, |endpoints, nic, socket| endpoints.on_arrival(nic, &arrival, socket));
            }
        }
        let nic = &self.nic[n];
        // Nothing is in flight, but the port may have deferred departures.
        if nic.incoming.is_empty() {
            self.expect_deferred(n, nic.port as usize);
        } else {
            self.events.wake(self.pool.get(nic.incoming.head).arrived, self.keys.deliver + n as Key);
        }
    }

    /// Schedules the arrival of the first deferred packet from port `o` to NIC `n`, if none is in flight.
    #[inline]
    fn expect_deferred(&mut self, n: usize, o: usize) {
        // If the link takes any time, the next packet has departed already and its arrival gets an event here.
        self.catch_up_to(o, self.now);
        if !self.nic[n].incoming.is_empty() {
            return;
        }
        if let Some((slot, leaves)) = self.next_deferred(o) {
            let size = self.pool.get(slot).size();
            let arrives = leaves + self.kinds[self.out[o].kind as usize].latency + self.link_busy(o, size);
            self.events.wake(arrives, self.keys.deliver + n as Key);
        }
    }

    /// Stores the subscriptions of the endpoints in their NICs.
    pub(super) fn store_subscriptions(&mut self) {
        let several = self.fabric.nics_per_node > 1 || self.fabric.rails > 1;
        let moves = self.endpoints.has_coupled_offers();
        for (n, nic) in self.nic.iter_mut().enumerate() {
            let subscription = self.endpoints.subscription(n as u32);
            nic.reports_arrivals = subscription >= Subscription::Arrivals;
            nic.reports_departures = subscription >= Subscription::Departures;
            nic.has_departure_events = nic.reports_departures || nic.reports_arrivals && several || moves;
        }
    }
}
