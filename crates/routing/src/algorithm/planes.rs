//! One algorithm on each plane of a machine by itself.
//!
//! Packets never change planes, so the channel dependency graph falls into those of the planes, and each is proven by itself
//! ([`crate::deadlock::prove`]). What decides sees a router and nodes by their numbers in its plane; ports are the same.

use super::{Decision, Discipline, Feedback, Header, Hop, Memory, Rings, RouteState, Routing};
use crate::next_hop::Port;
use odonata_machine::Machine;
use odonata_units::{NodeId, RouterId};

/// What routes on all planes.
pub struct PlaneRouting {
    planes: Vec<Box<dyn Routing>>,
    /// Routers and ends of each plane.
    routers: u32,
    nodes: u32,
}

impl PlaneRouting {
    /// What routes on the planes of a machine, in their order.
    ///
    /// # Errors
    /// Faults make planes differ in which virtual channels are reserved: says where.
    ///
    /// # Panics
    /// If there is not one for each plane.
    pub fn new(machine: &Machine, planes: Vec<Box<dyn Routing>>) -> Result<Self, String> {
        assert_eq!(planes.len(), machine.planes().len(), "one for each plane");
        let reserved = |number: usize| planes[number].reserved_from();
        if let Some(other) = (1..planes.len()).find(|&number| reserved(number) != reserved(0)) {
            return Err(format!(
                "faults make the planes differ: its reserved channels begin at {} in plane 0 and at {} in plane {other}; take back a \
                 fault, or route by 'up-down', which has none",
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

    /// The plane of a router, and its number there.
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
    /// As many as the plane that needs most, after faults.
    fn virtual_channels(&self) -> u8 {
        self.planes.iter().map(|plane| plane.virtual_channels()).max().expect("several planes")
    }

    /// That of a plane: each was proven by itself.
    fn discipline(&self) -> Discipline {
        self.planes[0].discipline()
    }

    fn reserved_from(&self) -> u8 {
        self.planes[0].reserved_from()
    }

    fn distinguishes_messages(&self) -> bool {
        self.planes[0].distinguishes_messages()
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

    fn reads_any_load(&self) -> bool {
        self.planes.iter().any(|plane| plane.reads_any_load())
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

    fn has_feedback(&self) -> bool {
        self.planes[0].has_feedback()
    }
}

impl Rings for PlaneRouting {
    fn channel(&self) -> u8 {
        self.planes[0].rings().expect("asked only if there are some").channel()
    }

    fn next_in_ring(&self, at: RouterId, port: Port) -> Option<Port> {
        let (plane, at) = self.of(at);
        plane.rings().expect("the same on every plane").next_in_ring(at, port)
    }
}
