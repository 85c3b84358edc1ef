//! State of NICs.

use super::listeners::Listeners;
use super::section::Section;
use crate::credit::{Credit, Credits, Ring};
use crate::endpoint::{Endpoints, Subscription};
use crate::packet::Fifo;
use odonata_checkpoint::state;

/// Endpoints of the NICs of a partition.
pub(crate) struct EndpointSet {
    pub(crate) endpoints: Box<dyn Endpoints>,
    /// Whether packets may come from programs.
    pub(crate) has_programs: bool,
}

/// What the endpoints of a partition need, in addition to what the kinds before need.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum EndpointKind {
    /// Sources of this crate: their packets are valid.
    Sources,
    /// Programs: their packets are checked, and may have envelopes.
    Programs,
    /// Endpoints with subscriptions, or whose offers depend on each other: events at NICs.
    Listeners,
}

impl EndpointKind {
    fn of(endpoints: &dyn Endpoints, nics: u32, has_programs: bool) -> Self {
        let listens = |nic| endpoints.subscription(nic) > Subscription::Nothing;
        if endpoints.has_coupled_offers() || (0..nics).any(listens) {
            Self::Listeners
        } else if has_programs {
            Self::Programs
        } else {
            Self::Sources
        }
    }
}

/// NICs of a partition.
pub(super) struct NicStates {
    pub(super) list: Vec<Nic>,
    pub(super) listeners: Listeners,
    kind: EndpointKind,
}

state!(NicStates { nested: list, listeners; rebuilt: kind });

impl NicStates {
    pub(super) fn new(section: &Section, endpoints: &dyn Endpoints, has_programs: bool) -> Self {
        let count = section.nics.len();
        let kind = EndpointKind::of(endpoints, count as u32, has_programs);
        let nic = |nic: u32| Nic::new(section, nic, endpoints);
        Self {
            list: section.nics.clone().map(nic).collect(),
            listeners: Listeners::new(if kind == EndpointKind::Listeners { count } else { 0 }),
            kind,
        }
    }

    #[inline]
    pub(super) fn have_programs(&self) -> bool {
        self.kind >= EndpointKind::Programs
    }

    #[inline]
    pub(super) fn have_listeners(&self) -> bool {
        self.kind == EndpointKind::Listeners
    }
}

/// A NIC; one cache line.
#[repr(align(64))]
pub(super) struct Nic {
    pub(super) link_free: u64,
    /// Time at which the next packet exists and the link is free; `u64::MAX` if no packet is known.
    pub(super) next_ready: u64,
    /// Injection time of the next packet; `u64::MAX` if it is not known.
    pub(super) leaves: u64,
    /// Credits in flight to this NIC, by arrival.
    pub(super) credits: Ring,
    pub(super) credit: u32,
    /// Port of the partition at the other end.
    pub(super) port: u32,
    /// Packets in flight to a node with a subscription, by arrival of their last byte.
    pub(super) incoming: Fifo,
    /// Number of the [`Kind`](super::section::Kind) of the port at the other end.
    pub(super) kind: u32,
    /// The next packet waits for a credit that is not sent yet.
    pub(super) is_stalled: bool,
    /// Whether its endpoint is notified of arrivals, and of departures.
    pub(super) reports_arrivals: bool,
    pub(super) reports_departures: bool,
    /// Whether every injection has an event.
    pub(super) has_departure_events: bool,
}

const _: () = assert!(size_of::<Nic>() == 64);

state!(Nic {
    value: link_free, next_ready, leaves, credits, credit, incoming, is_stalled;
    rebuilt: port, kind, reports_arrivals, reports_departures, has_departure_events
});

impl Nic {
    fn new(section: &Section, nic: u32, endpoints: &dyn Endpoints) -> Self {
        let fabric = &section.fabric;
        let port = fabric.nic_port[nic as usize];
        let subscription = endpoints.subscription(nic - section.nics.start);
        let reports_arrivals = subscription >= Subscription::Arrivals;
        let reports_departures = subscription >= Subscription::Departures;
        let several = fabric.nics_per_node > 1 || fabric.rails > 1;
        Self {
            link_free: 0,
            credits: Ring::default(),
            credit: fabric.injection_room(),
            is_stalled: false,
            reports_arrivals,
            reports_departures,
            has_departure_events: reports_departures || reports_arrivals && several || endpoints.has_coupled_offers(),
            next_ready: u64::MAX,
            leaves: u64::MAX,
            port: port - section.ports.start,
            incoming: Fifo::default(),
            kind: section.kind_of(port),
        }
    }

    /// Applies the credits that have arrived by `leaves`.
    #[inline]
    pub(super) fn collect_credits(&mut self, credits: &Credits, leaves: u64) {
        while let Some(Credit { at, bytes, .. }) = credits.front(self.credits) {
            if at > leaves {
                break;
            }
            Credits::pop(&mut self.credits);
            self.credit += bytes;
        }
    }

    /// Sets the time at which it injects its next packet: created, link free, and space at the router. Returns whether
    /// the time is known.
    #[inline]
    pub(super) fn schedule(&mut self, credits: &Credits, full: u32) -> bool {
        self.leaves = self.next_ready;
        self.is_stalled = false;
        if self.next_ready == u64::MAX {
            return false;
        }
        // The size is known only when the packet is taken, so this requires space for a full one.
        self.credit >= full || self.wait_for_credits(credits, full)
    }

    /// Schedules the injection for the arrival of the credits that are missing. Returns whether they are on the cable.
    fn wait_for_credits(&mut self, credits: &Credits, full: u32) -> bool {
        let mut room = self.credit;
        let mut credits = credits.iter(self.credits);
        while room < full {
            let Some(credit) = credits.next() else {
                self.is_stalled = true;
                self.leaves = u64::MAX;
                return false;
            };
            room += credit.bytes;
            self.leaves = self.leaves.max(credit.at);
        }
        true
    }
}
