//! Open-loop sources with several memory FIFOs per node.
//!
//! A source creates packets in sequence, each for the memory FIFO of its message. A packet for one FIFO waits here
//! while another FIFO asks. The queues contain all packets created by the last departure of the node, and at most
//! [`PREFETCH_MAX`] later ones.

use crate::endpoint::{Endpoints, Nics, OutgoingPacket, UnfinishedEndpoint};
use crate::injection::FifoSelector;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::sync::Arc;

/// Maximum number of packets per node that are drawn ahead of time. Fewer let a FIFO run empty behind others; more
/// take memory.
const PREFETCH_MAX: usize = 64;

/// Drawn packets of one node.
#[derive(Clone, Default, Serialize, Deserialize)]
struct NodeQueues {
    /// By memory FIFO.
    queues: Vec<VecDeque<OutgoingPacket>>,
    waiting: usize,
    number: u64,
    /// Time of the last departure.
    departure_ps: u64,
}

pub(super) struct PrefetchEndpoints {
    /// Sources without subscriptions; all their packets are at the first NIC of a node.
    sources: Box<dyn Endpoints>,
    selector: Arc<FifoSelector>,
    memory: u32,
    nodes: Vec<NodeQueues>,
    node: Vec<odonata_units::NodeId>,
}

odonata_checkpoint::state!(PrefetchEndpoints { same_length: nodes; nested: sources; rebuilt: selector, memory, node });

impl PrefetchEndpoints {
    pub(super) fn new(sources: Box<dyn Endpoints>, selector: Arc<FifoSelector>, nics: &Nics<'_>) -> Self {
        let memory = nics.per_node();
        let drawn = NodeQueues { queues: vec![VecDeque::new(); memory as usize], ..NodeQueues::default() };
        let nodes = nics.count() / memory;
        let node = (0..nodes).map(|n| nics.node(n * memory)).collect();
        Self { sources, selector, memory, nodes: vec![drawn; nodes as usize], node }
    }

    /// Draws packets until memory FIFO `fifo` of node `n` has one, or the limit is reached.
    fn draw(&mut self, n: usize, fifo: usize) {
        let (drawn, first) = (&mut self.nodes[n], n as u32 * self.memory);
        while drawn.queues[fifo].is_empty() {
            let Some(created) = self.sources.next_created_ps(first) else { return };
            if created > drawn.departure_ps && drawn.waiting >= PREFETCH_MAX {
                return;
            }
            let packet = self.sources.take(first, created);
            let fifo = self.selector.select(self.node[n], packet.destination, drawn.number);
            drawn.queues[fifo as usize].push_back(packet);
            drawn.number += 1;
            drawn.waiting += 1;
        }
    }
}

impl Endpoints for PrefetchEndpoints {
    fn next_created_ps(&mut self, nic: u32) -> Option<u64> {
        let (n, fifo) = ((nic / self.memory) as usize, (nic % self.memory) as usize);
        self.draw(n, fifo);
        self.nodes[n].queues[fifo].front().map(|packet| packet.created_ps)
    }

    fn take(&mut self, nic: u32, leaves_ps: u64) -> OutgoingPacket {
        let (n, fifo) = ((nic / self.memory) as usize, (nic % self.memory) as usize);
        self.draw(n, fifo);
        let drawn = &mut self.nodes[n];
        drawn.departure_ps = drawn.departure_ps.max(leaves_ps);
        drawn.waiting -= 1;
        drawn.queues[fifo].pop_front().expect("the packet exists")
    }

    fn has_coupled_offers(&self) -> bool {
        true
    }

    fn has_work(&self, before_ps: u64) -> bool {
        let first = |drawn: &NodeQueues| drawn.queues.iter().flatten().any(|packet| packet.created_ps < before_ps);
        self.sources.has_work(before_ps) || self.nodes.iter().any(first)
    }

    fn memory_bytes(&self) -> usize {
        let queues = self.nodes.iter().flat_map(|drawn| &drawn.queues);
        self.sources.memory_bytes() + queues.map(|queue| queue.capacity() * size_of::<OutgoingPacket>()).sum::<usize>()
    }

    fn on_end(&mut self, end_ps: u64) -> Vec<UnfinishedEndpoint> {
        self.sources.on_end(end_ps)
    }
}
