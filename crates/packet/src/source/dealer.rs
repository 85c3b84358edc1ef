//! What deals packets from memory FIFOs to torus FIFOs ([`crate::injection`]).
//!
//! The endpoints behind it have an interface for each memory FIFO, the network has one for each torus FIFO. A torus FIFO that can take a packet
//! takes turns, packet by packet, among the memory FIFOs that may feed it and have one. What arrives, and a node's timer, belong to
//! the first interfaces of the node, in front and behind.

use crate::endpoint::{Arrival, Departure, Endpoints, Listens, Offer, Outgoing, Socket, Unfinished};
use crate::injection::InjectionFifos;

pub(super) struct Dealer {
    behind: Box<dyn Endpoints>,
    fifos: u32,
    memory: u32,
    /// Memory FIFOs that may feed each torus FIFO.
    fed_by: Vec<Vec<u32>>,
    /// By interface of the network: the memory FIFO that it took a packet from last.
    last: Vec<u32>,
    moves: bool,
}

odonata_checkpoint::state!(Dealer { fixed: last; inside: behind; built: fifos, memory, fed_by, moves });

impl Dealer {
    /// For so many nodes.
    pub(super) fn new(behind: Box<dyn Endpoints>, fifos: &InjectionFifos, nodes: u32) -> Self {
        let feeds = |torus: u32| {
            let memory = (0..).zip(&fifos.map).filter(|(_, mask)| *mask >> torus & 1 == 1);
            memory.map(|(memory, _)| memory).collect()
        };
        let memory = fifos.map.len() as u32;
        Self {
            fed_by: (0..fifos.fifos).map(feeds).collect(),
            last: vec![memory - 1; (nodes * fifos.fifos) as usize],
            moves: fifos.share() || behind.offers_move(),
            fifos: fifos.fifos,
            memory,
            behind,
        }
    }

    /// The first interface behind of the node of an interface of the network.
    fn first(&self, nic: u32) -> u32 {
        nic / self.fifos * self.memory
    }
}

impl Endpoints for Dealer {
    fn next_birth_ps(&mut self, nic: u32) -> Option<u64> {
        let first = self.first(nic);
        let memory = &self.fed_by[(nic % self.fifos) as usize];
        memory.iter().filter_map(|&memory| self.behind.next_birth_ps(first + memory)).min()
    }

    fn take(&mut self, nic: u32, leaves_ps: u64) -> Outgoing {
        let (first, last) = (self.first(nic), self.last[nic as usize]);
        let memory = &self.fed_by[(nic % self.fifos) as usize];
        let after = memory.partition_point(|&memory| memory <= last);
        let mut turns = memory[after..].iter().chain(&memory[..after]).copied();
        let behind = &mut self.behind;
        let made = |memory: &u32| behind.next_birth_ps(first + memory).is_some_and(|birth| birth <= leaves_ps);
        let chosen = turns.find(made).expect("something was made before it leaves");
        self.last[nic as usize] = chosen;
        self.behind.take(first + chosen, leaves_ps)
    }

    fn offers_move(&self) -> bool {
        self.moves
    }

    fn listens(&self, nic: u32) -> Listens {
        let first = self.first(nic);
        (first..first + self.memory).map(|nic| self.behind.listens(nic)).max().unwrap_or_default()
    }

    fn begin(&mut self, nic: u32, socket: &mut Socket) {
        if nic % self.fifos == 0 {
            self.behind.begin(self.first(nic), socket);
        }
    }

    fn left(&mut self, nic: u32, departure: &Departure, socket: &mut Socket) -> Offer {
        let memory = self.first(nic) + self.last[nic as usize];
        self.behind.left(memory, departure, socket)
    }

    fn arrived(&mut self, nic: u32, arrival: &Arrival, socket: &mut Socket) -> Offer {
        self.behind.arrived(self.first(nic), arrival, socket)
    }

    fn woken(&mut self, nic: u32, socket: &mut Socket) -> Offer {
        self.behind.woken(self.first(nic), socket)
    }

    fn owes(&self, before_ps: u64) -> bool {
        self.behind.owes(before_ps)
    }

    fn goes_on(&self, now_ps: u64) -> bool {
        self.behind.goes_on(now_ps)
    }

    fn memory_bytes(&self) -> usize {
        self.behind.memory_bytes() + 4 * self.last.capacity()
    }

    fn end(&mut self, end_ps: u64) -> Vec<Unfinished> {
        self.behind.end(end_ps)
    }
}
