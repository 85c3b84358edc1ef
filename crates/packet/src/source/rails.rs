//! Programs on nodes whose interfaces end at routers of their own.
//!
//! To the network such an interface is a node by itself, an *end* ([`odonata_machine::rails`]). A program has nodes with several interfaces
//! behind it, as everywhere; this stands between the two and changes numbers: of interfaces, of where packets go and come from.

use crate::endpoint::{
    Arrival, Departure, Endpoints, Interfaces, Listens, Offer, Outgoing, Program, Socket, Unfinished,
};
use crate::hosts::Hosts;
use odonata_units::NodeId;

pub(super) struct RailEndpoints {
    program: Box<dyn Endpoints>,
    hosts: Hosts,
    /// Nodes of the machine.
    count: u32,
}

odonata_checkpoint::state!(RailEndpoints { inside: program; built: hosts, count });

impl RailEndpoints {
    pub(super) fn new(program: &dyn Program, jobs: &[u16], interfaces: &Interfaces<'_>) -> Self {
        let hosts = interfaces.hosts();
        let program = program.endpoints(jobs, &interfaces.of_hosts(&hosts));
        Self { program, hosts, count: interfaces.of_all_hosts() }
    }
}

impl Endpoints for RailEndpoints {
    fn next_birth_ps(&mut self, nic: u32) -> Option<u64> {
        self.program.next_birth_ps(self.hosts.behind(nic))
    }

    fn take(&mut self, nic: u32, leaves_ps: u64) -> Outgoing {
        let packet = self.program.take(self.hosts.behind(nic), leaves_ps);
        let destination = NodeId(packet.destination.0 + u32::from(packet.interface) * self.count);
        Outgoing { destination, interface: 0, ..packet }
    }

    fn offers_move(&self) -> bool {
        self.program.offers_move()
    }

    fn listens(&self, nic: u32) -> Listens {
        self.program.listens(self.hosts.behind(nic))
    }

    fn begin(&mut self, nic: u32, socket: &mut Socket) {
        self.program.begin(self.hosts.behind(nic), socket);
    }

    fn left(&mut self, nic: u32, departure: &Departure, socket: &mut Socket) -> Offer {
        self.program.left(self.hosts.behind(nic), departure, socket)
    }

    fn arrived(&mut self, nic: u32, arrival: &Arrival, socket: &mut Socket) -> Offer {
        let arrival = Arrival { source: NodeId(arrival.source.0 % self.count), ..*arrival };
        self.program.arrived(self.hosts.behind(nic), &arrival, socket)
    }

    fn woken(&mut self, nic: u32, socket: &mut Socket) -> Offer {
        self.program.woken(self.hosts.behind(nic), socket)
    }

    fn owes(&self, before_ps: u64) -> bool {
        self.program.owes(before_ps)
    }

    fn goes_on(&self, now_ps: u64) -> bool {
        self.program.goes_on(now_ps)
    }

    fn memory_bytes(&self) -> usize {
        self.program.memory_bytes() + self.hosts.memory_bytes()
    }

    fn end(&mut self, end_ps: u64) -> Vec<Unfinished> {
        self.program.end(end_ps)
    }
}
