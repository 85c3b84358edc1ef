//! Algorithms that draw parallel cables evenly, on machines where some of them are unequal ([`crate::cable_shares`]).

use super::{Decision, Discipline, Feedback, Header, Hop, Memory, Rings, RouteState, Routing};
use crate::cable_shares::CableShares;
use crate::next_hop::{NextHops, Port};
use odonata_units::{NodeId, RouterId};
use std::sync::Arc;

/// An algorithm whose ports are drawn a second time.
struct ByBandwidth {
    even: Box<dyn Routing>,
    hops: Arc<NextHops>,
    shares: Arc<CableShares>,
}

/// The algorithm with parallel cables drawn by bandwidth; the same one if all of them are equal, or if each is a ring of
/// its own, which a packet must not leave.
pub(super) fn by_bandwidth(hops: &Arc<NextHops>, even: Box<dyn Routing>) -> Box<dyn Routing> {
    match hops.cable_shares() {
        Some(shares) if even.rings().is_none() => {
            Box::new(ByBandwidth { even, hops: Arc::clone(hops), shares: Arc::clone(shares) })
        }
        _ => even,
    }
}

impl Routing for ByBandwidth {
    fn virtual_channels(&self) -> u8 {
        self.even.virtual_channels()
    }

    /// Parallel cables lead to the same router on the same channel, so no other hop becomes possible.
    fn discipline(&self) -> Discipline {
        self.even.discipline()
    }

    fn reserved_from(&self) -> u8 {
        self.even.reserved_from()
    }

    fn initial_state(&self, source: NodeId, destination: NodeId, message_bytes: u64) -> RouteState {
        self.even.initial_state(source, destination, message_bytes)
    }

    fn rings(&self) -> Option<&dyn Rings> {
        None
    }

    fn reads_load(&self, packet: &Header) -> bool {
        self.even.reads_load(packet)
    }

    fn decide(&self, decision: &mut Decision<'_>, packet: &mut Header) -> Hop {
        let Hop { port, vc } = self.even.decide(decision, packet);
        let link = self.shares.redraw(self.hops.link(decision.router, port), || decision.random.unit());
        Hop { port: self.hops.port_of(decision.router, link), vc }
    }

    fn memory(&self, router: RouterId) -> Memory {
        self.even.memory(router)
    }

    fn learn(&self, router: RouterId, memory: &mut Memory, port: Port, feedback: &Feedback) -> Option<f32> {
        self.even.learn(router, memory, port, feedback)
    }

    fn estimates(&self, router: RouterId, memory: &Memory) -> Vec<f32> {
        self.even.estimates(router, memory)
    }

    fn report_arrival(&self, decision: &mut Decision<'_>, packet: &Header) {
        self.even.report_arrival(decision, packet);
    }
}
