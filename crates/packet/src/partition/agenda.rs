//! The events of a partition by component, and its clock.

use super::section::Section;
use crate::queue::{EventQueue, Key};
use odonata_checkpoint::state;

/// Times of a partition.
pub(super) struct Clock {
    pub(super) now: u64,
    /// No known event lies before this time. 0 if that is unknown because something happened or arrived.
    pub(super) quiet_until: u64,
    /// Latest time at which the last byte of a packet leaves a NIC, or one of a control packet reaches one.
    pub(super) last_departure: u64,
    /// Events so far.
    pub(super) events: u64,
}

state!(Clock { value: now, quiet_until, last_departure, events });

impl Clock {
    pub(super) const START: Self = Self { now: 0, quiet_until: 0, last_departure: 0, events: 0 };
}

/// An event of a component.
pub(super) enum Event {
    /// A packet's head reaches the input queue of a port.
    Input(usize),
    /// An output port acts.
    Output(usize),
    Node(NodeEvent),
}

/// An event of a NIC. These exist only if endpoints have subscriptions.
pub(super) enum NodeEvent {
    /// A packet leaves the NIC.
    Injection(usize),
    /// A packet's tail reaches the node.
    Delivery(usize),
    /// A timer expires, or a message within the node arrives.
    Timer(usize),
}

/// First keys of each kind of event; inputs have the keys from 0. Key ranges replace a tag: the queue stores a single
/// 32-bit number per event. The order of the kinds is their order within one instant: input, output, injection,
/// delivery, timer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Keys {
    output: Key,
    injection: Key,
    delivery: Key,
    timer: Key,
}

impl Keys {
    fn new(ports: usize, nics: usize) -> Self {
        let (output, injection, nics) = (ports as Key, 2 * ports as Key, nics as Key);
        Self { output, injection, delivery: injection + nics, timer: injection + 2 * nics }
    }

    #[inline]
    pub(super) fn event(&self, key: Key) -> Event {
        if key < self.output {
            Event::Input(key as usize)
        } else if key < self.injection {
            Event::Output((key - self.output) as usize)
        } else if key < self.delivery {
            Event::Node(NodeEvent::Injection((key - self.injection) as usize))
        } else if key < self.timer {
            Event::Node(NodeEvent::Delivery((key - self.delivery) as usize))
        } else {
            Event::Node(NodeEvent::Timer((key - self.timer) as usize))
        }
    }
}

/// Pending events. Each component has at most one, and an earlier time replaces a later one.
pub(super) struct Agenda {
    pub(super) queue: EventQueue,
    pub(super) keys: Keys,
}

state!(Agenda { nested: queue; rebuilt: keys });

/// Width of a bucket in mean times between events. Wider buckets sort more entries. Narrower ones gained
/// nothing (README.md).
const WIDTH: u64 = 2;

impl Agenda {
    /// Creates the time wheel. Its buckets hold about one event in a busy network, and it spans the longest
    /// latency. The owner of a port's events is its router. Events of NICs have no owner, since routers need
    /// not wait for them.
    pub(super) fn new(section: &Section, has_listeners: bool) -> Self {
        let Section { fabric, routers, ports, nics, .. } = section;
        let packet_time = nics.clone().map(|n| fabric.full_time[fabric.nic_port[n as usize] as usize]).min();
        // At half load a NIC sends every second packet time, and a packet takes about six events.
        let per_event = packet_time.unwrap_or(1_000) / (3 * nics.len() as u64).max(1);
        let shift = (WIDTH * per_event).max(1).ilog2().clamp(2, 24);
        // The wheel must span the longest arrival, or events go through the slower heap.
        let reach = ports.clone().map(|p| fabric.forward_latency(p) + fabric.full_time[p as usize]).max();
        let buckets = (reach.unwrap_or(1) >> shift).max(1).ilog2() + 1;
        let of_ports = ports.clone().map(|p| fabric.port_router[p as usize] - routers.start);
        let of_nics = if has_listeners { 3 * nics.len() } else { 0 };
        let owners = of_ports.clone().chain(of_ports).chain(std::iter::repeat_n(u32::MAX, of_nics));
        Self { queue: EventQueue::new(shift, buckets.clamp(6, 20), owners), keys: Keys::new(ports.len(), nics.len()) }
    }

    #[inline]
    pub(super) fn wake_input(&mut self, i: usize, at: u64) {
        self.queue.wake(at, i as Key);
    }

    #[inline]
    pub(super) fn wake_output(&mut self, o: usize, at: u64) {
        self.queue.wake(at, self.keys.output + o as Key);
    }

    #[inline]
    pub(super) fn wake_injection(&mut self, n: usize, at: u64) {
        self.queue.wake(at, self.keys.injection + n as Key);
    }

    #[inline]
    pub(super) fn wake_delivery(&mut self, n: usize, at: u64) {
        self.queue.wake(at, self.keys.delivery + n as Key);
    }

    #[inline]
    pub(super) fn wake_timer(&mut self, n: usize, at: u64) {
        self.queue.wake(at, self.keys.timer + n as Key);
    }
}
