//! Scheduling of packets from memory FIFOs to torus FIFOs ([`crate::injection`]).
//!
//! The inner endpoints have a NIC per memory FIFO; the network has a NIC per torus FIFO. A torus FIFO serves the
//! memory FIFOs that may feed it in turn, packet by packet. Arrivals and timers belong to the first NIC of a node on
//! both sides.

use crate::endpoint::{Arrival, Departure, Endpoints, Offer, OutgoingPacket, Socket, Subscription, UnfinishedEndpoint};
use crate::injection::InjectionFifos;

pub(super) struct FifoScheduler {
    inner: Box<dyn Endpoints>,
    fifos: u32,
    memory: u32,
    /// Memory FIFOs that may feed each torus FIFO.
    fed_by: Vec<Vec<u32>>,
    /// Last served memory FIFO, by NIC of the network.
    last: Vec<u32>,
    has_coupled_offers: bool,
}

odonata_checkpoint::state!(FifoScheduler { same_length: last; nested: inner; rebuilt: fifos, memory, fed_by, has_coupled_offers });

impl FifoScheduler {
    /// Creates the scheduler of `nodes` nodes.
    pub(super) fn new(inner: Box<dyn Endpoints>, fifos: &InjectionFifos, nodes: u32) -> Self {
        let feeds = |torus: u32| {
            let memory = (0..).zip(&fifos.map).filter(|(_, mask)| *mask >> torus & 1 == 1);
            memory.map(|(memory, _)| memory).collect()
        };
        let memory = fifos.map.len() as u32;
        Self {
            fed_by: (0..fifos.fifos).map(feeds).collect(),
            last: vec![memory - 1; (nodes * fifos.fifos) as usize],
            has_coupled_offers: fifos.share() || inner.has_coupled_offers(),
            fifos: fifos.fifos,
            memory,
            inner,
        }
    }

    /// First inner NIC of the node of a network NIC.
    fn first(&self, nic: u32) -> u32 {
        nic / self.fifos * self.memory
    }
}

impl Endpoints for FifoScheduler {
    fn next_created_ps(&mut self, nic: u32) -> Option<u64> {
        let first = self.first(nic);
        let memory = &self.fed_by[(nic % self.fifos) as usize];
        memory.iter().filter_map(|&memory| self.inner.next_created_ps(first + memory)).min()
    }

    fn take(&mut self, nic: u32, leaves_ps: u64) -> OutgoingPacket {
        let (first, last) = (self.first(nic), self.last[nic as usize]);
        let memory = &self.fed_by[(nic % self.fifos) as usize];
        let after = memory.partition_point(|&memory| memory <= last);
        let mut turns = memory[after..].iter().chain(&memory[..after]).copied();
        let inner = &mut self.inner;
        let made = |memory: &u32| inner.next_created_ps(first + memory).is_some_and(|created| created <= leaves_ps);
        let chosen = turns.find(made).expect("a packet exists at its departure");
        self.last[nic as usize] = chosen;
        self.inner.take(first + chosen, leaves_ps)
    }

    fn has_coupled_offers(&self) -> bool {
        self.has_coupled_offers
    }

    fn subscription(&self, nic: u32) -> Subscription {
        let first = self.first(nic);
        (first..first + self.memory).map(|nic| self.inner.subscription(nic)).max().unwrap_or_default()
    }

    fn on_start(&mut self, nic: u32, socket: &mut Socket) {
        if nic % self.fifos == 0 {
            self.inner.on_start(self.first(nic), socket);
        }
    }

    fn on_departure(&mut self, nic: u32, departure: &Departure, socket: &mut Socket) -> Offer {
        let memory = self.first(nic) + self.last[nic as usize];
        self.inner.on_departure(memory, departure, socket)
    }

    fn on_arrival(&mut self, nic: u32, arrival: &Arrival, socket: &mut Socket) -> Offer {
        self.inner.on_arrival(self.first(nic), arrival, socket)
    }

    fn on_timer(&mut self, nic: u32, socket: &mut Socket) -> Offer {
        self.inner.on_timer(self.first(nic), socket)
    }

    fn has_work(&self, before_ps: u64) -> bool {
        self.inner.has_work(before_ps)
    }

    fn will_act(&self, now_ps: u64) -> bool {
        self.inner.will_act(now_ps)
    }

    fn memory_bytes(&self) -> usize {
        self.inner.memory_bytes() + 4 * self.last.capacity()
    }

    fn on_end(&mut self, end_ps: u64) -> Vec<UnfinishedEndpoint> {
        self.inner.on_end(end_ps)
    }
}
