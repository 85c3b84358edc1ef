//! Programs on nodes with rails.
//!
//! To the network each rail of a node is a node, an *end* ([`odonata_machine::rails`]). A program has nodes with
//! several NICs. This adapter converts the numbers of NICs, and the source and destination of packets.

use crate::endpoint::{
    Arrival, Departure, Endpoints, Nics, Offer, OutgoingPacket, Program, Socket, Subscription, UnfinishedEndpoint,
};
use crate::rail_map::RailMap;
use odonata_units::NodeId;

pub(super) struct RailEndpoints {
    program: Box<dyn Endpoints>,
    rail_map: RailMap,
    /// Number of nodes of the machine.
    count: u32,
}

odonata_checkpoint::state!(RailEndpoints { nested: program; rebuilt: rail_map, count });

impl RailEndpoints {
    pub(super) fn new(program: &dyn Program, jobs: &[u16], nics: &Nics<'_>) -> Self {
        let rail_map = nics.rail_map();
        let program = program.endpoints(jobs, &nics.with_rail_map(&rail_map));
        Self { program, rail_map, count: nics.host_count() }
    }

    /// The packet as the network sees it: each rail of a node is a node.
    fn to_rail(&self, packet: OutgoingPacket) -> OutgoingPacket {
        let destination = NodeId(packet.destination.0 + u32::from(packet.nic) * self.count);
        OutgoingPacket { destination, nic: 0, ..packet }
    }
}

impl Endpoints for RailEndpoints {
    fn next_created_ps(&mut self, nic: u32) -> Option<u64> {
        self.program.next_created_ps(self.rail_map.program_nic(nic))
    }

    fn take(&mut self, nic: u32, leaves_ps: u64) -> OutgoingPacket {
        let packet = self.program.take(self.rail_map.program_nic(nic), leaves_ps);
        self.to_rail(packet)
    }

    fn next_created_in(&mut self, nic: u32, class: u8) -> Option<u64> {
        self.program.next_created_in(self.rail_map.program_nic(nic), class)
    }

    fn take_in(&mut self, nic: u32, class: u8, leaves_ps: u64) -> OutgoingPacket {
        let packet = self.program.take_in(self.rail_map.program_nic(nic), class, leaves_ps);
        self.to_rail(packet)
    }

    fn hold(&mut self, nic: u32, job: u16) {
        self.program.hold(self.rail_map.program_nic(nic), job);
    }

    fn release(&mut self, nic: u32, job: u16, leaves_ps: u64) {
        self.program.release(self.rail_map.program_nic(nic), job, leaves_ps);
    }

    fn has_coupled_offers(&self) -> bool {
        self.program.has_coupled_offers()
    }

    fn subscription(&self, nic: u32) -> Subscription {
        self.program.subscription(self.rail_map.program_nic(nic))
    }

    fn on_start(&mut self, nic: u32, socket: &mut Socket) {
        self.program.on_start(self.rail_map.program_nic(nic), socket);
    }

    fn on_departure(&mut self, nic: u32, departure: &Departure, socket: &mut Socket) -> Offer {
        self.program.on_departure(self.rail_map.program_nic(nic), departure, socket)
    }

    fn on_arrival(&mut self, nic: u32, arrival: &Arrival, socket: &mut Socket) -> Offer {
        let arrival = Arrival { source: NodeId(arrival.source.0 % self.count), ..*arrival };
        self.program.on_arrival(self.rail_map.program_nic(nic), &arrival, socket)
    }

    fn on_timer(&mut self, nic: u32, socket: &mut Socket) -> Offer {
        self.program.on_timer(self.rail_map.program_nic(nic), socket)
    }

    fn has_work(&self, before_ps: u64) -> bool {
        self.program.has_work(before_ps)
    }

    fn will_act(&self, now_ps: u64) -> bool {
        self.program.will_act(now_ps)
    }

    fn memory_bytes(&self) -> usize {
        self.program.memory_bytes() + self.rail_map.memory_bytes()
    }

    fn on_end(&mut self, end_ps: u64) -> Vec<UnfinishedEndpoint> {
        self.program.on_end(end_ps)
    }
}
