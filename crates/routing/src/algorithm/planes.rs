//! An algorithm on each plane of a machine.
//!
//! Packets never change planes. The channel dependency graph is therefore a separate graph per plane, and each is
//! proven separately ([`crate::deadlock::prove`]). The algorithm of a plane sees router and node numbers within its
//! plane; port numbers are the same.

use super::{Decision, Discipline, Feedback, Header, Hop, Memory, Rings, RouteState, Routing};
use crate::next_hop::Port;
use odonata_machine::Machine;
use odonata_units::{NodeId, RouterId};

/// The routing of all planes.
pub struct PlaneRouting {
    planes: Vec<Box<dyn Routing>>,
    /// Routers and NICs of each plane.
    routers: u32,
    nodes: u32,
}

impl PlaneRouting {
    /// Combines the routings of the planes, in order.
    ///
    /// # Errors
    /// Faults give the planes different reserved channels; the message names them.
    ///
    /// # Panics
    /// If the number of routings is not the number of planes.
    pub fn new(machine: &Machine, planes: Vec<Box<dyn Routing>>) -> Result<Self, String> {
        assert_eq!(planes.len(), machine.planes().len(), "one for each plane");
        let reserved = |number: usize| planes[number].reserved_from();
        if let Some(other) = (1..planes.len()).find(|&number| reserved(number) != reserved(0)) {
            return Err(format!(
                "faults make the planes differ: reserved channels start at {} in plane 0 and at {} in plane \
                 {other}; repair a fault, or use 'up-down', which has no reserved channels",
                reserved(0),
                reserved(other)
            ));
        }
        let count = planes.len();
        Ok(Self {
            planes,
            routers: (machine.router_count() / count) as u32,
            nodes: (machine.node_count() / count) as u32,
        })
    }

    /// The plane of a router, and the router's number there.
    #[inline]
    fn of(&self, router: RouterId) -> (&dyn Routing, RouterId) {
        (&*self.planes[(router.0 / self.routers) as usize], RouterId(router.0 % self.routers))
    }

    #[inline]
    fn local_node(&self, end: NodeId) -> NodeId {
        NodeId(end.0 % self.nodes)
    }

    fn header(&self, packet: &Header) -> Header {
        Header {
            source: self.local_node(packet.source),
            destination: self.local_node(packet.destination),
            state: packet.state,
        }
    }

    fn of_packet(&self, packet: &Header) -> &dyn Routing {
        &*self.planes[(packet.source.0 / self.nodes) as usize]
    }
}

impl Routing for PlaneRouting {
    /// The largest number of any plane.
    fn virtual_channels(&self) -> u8 {
        self.planes.iter().map(|plane| plane.virtual_channels()).max().expect("several planes")
    }

    /// The discipline of one plane, since each is proven separately.
    fn discipline(&self) -> Discipline {
        self.planes[0].discipline()
    }

    fn reserved_from(&self) -> u8 {
        self.planes[0].reserved_from()
    }

    fn initial_state(&self, source: NodeId, destination: NodeId, message_bytes: u64) -> RouteState {
        let plane = &self.planes[(source.0 / self.nodes) as usize];
        plane.initial_state(self.local_node(source), self.local_node(destination), message_bytes)
    }

    fn rings(&self) -> Option<&dyn Rings> {
        self.planes[0].rings().map(|_| self as &dyn Rings)
    }

    fn reads_load(&self, packet: &Header) -> bool {
        self.of_packet(packet).reads_load(&self.header(packet))
    }

    fn decide(&self, decision: &mut Decision<'_>, packet: &mut Header) -> Hop {
        let (plane, router) = self.of(decision.router);
        let mut own = self.header(packet);
        let mut here = Decision { router, random: &mut *decision.random, memory: &mut *decision.memory, ..*decision };
        let hop = plane.decide(&mut here, &mut own);
        decision.report = here.report;
        packet.state = own.state;
        hop
    }

    fn memory(&self, router: RouterId) -> Memory {
        let (plane, router) = self.of(router);
        plane.memory(router)
    }

    fn learn(&self, router: RouterId, memory: &mut Memory, port: Port, feedback: &Feedback) -> Option<f32> {
        let (plane, router) = self.of(router);
        let (source, destination) = (self.local_node(feedback.source), self.local_node(feedback.destination));
        plane.learn(router, memory, port, &Feedback { source, destination, ..*feedback })
    }

    fn estimates(&self, router: RouterId, memory: &Memory) -> Vec<f32> {
        let (plane, router) = self.of(router);
        plane.estimates(router, memory)
    }

    fn report_arrival(&self, decision: &mut Decision<'_>, packet: &Header) {
        let (plane, router) = self.of(decision.router);
        let mut here = Decision { router, random: &mut *decision.random, memory: &mut *decision.memory, ..*decision };
        plane.report_arrival(&mut here, &self.header(packet));
        decision.report = here.report;
    }
}

impl Rings for PlaneRouting {
    fn channel(&self) -> u8 {
        self.planes[0].rings().expect("only called if there are rings").channel()
    }

    fn next_in_ring(&self, at: RouterId, port: Port) -> Option<Port> {
        let (plane, at) = self.of(at);
        plane.rings().expect("the same on every plane").next_in_ring(at, port)
    }
}
