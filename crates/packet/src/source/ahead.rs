//! Open-loop sources in front of several memory FIFOs.
//!
//! A source makes one packet after the other, each for the memory FIFO that its message is picked for. What is made for one FIFO while
//! another asks waits in a queue here: all that is made by the time of the last departure from the node and, beyond it, at most
//! [`AHEAD`] packets.

use crate::endpoint::{Endpoints, Interfaces, Outgoing, Unfinished};
use crate::injection::Picker;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::sync::Arc;

/// Packets of a node that are drawn before their time, at most.
const AHEAD: usize = 64;

/// What one node has drawn.
#[derive(Clone, Default, Serialize, Deserialize)]
struct Drawn {
    /// By memory FIFO.
    queues: Vec<VecDeque<Outgoing>>,
    waiting: usize,
    number: u64,
    /// When a packet last left.
    left_ps: u64,
}

pub(super) struct AheadEndpoints {
    /// Sources whose packets are all at the first interface of a node, and that listen to nothing.
    sources: Box<dyn Endpoints>,
    picker: Arc<Picker>,
    memory: u32,
    nodes: Vec<Drawn>,
    node: Vec<odonata_units::NodeId>,
}

odonata_checkpoint::state!(AheadEndpoints { fixed: nodes; inside: sources; built: picker, memory, node });

impl AheadEndpoints {
    pub(super) fn new(sources: Box<dyn Endpoints>, picker: Arc<Picker>, interfaces: &Interfaces<'_>) -> Self {
        let memory = interfaces.per_node();
        let drawn = Drawn { queues: vec![VecDeque::new(); memory as usize], ..Drawn::default() };
        let nodes = interfaces.count() / memory;
        let node = (0..nodes).map(|n| interfaces.node(n * memory)).collect();
        Self { sources, picker, memory, nodes: vec![drawn; nodes as usize], node }
    }

    /// Draws packets until there is one for memory FIFO `fifo` of node `n`, or enough.
    fn draw(&mut self, n: usize, fifo: usize) {
        let (drawn, first) = (&mut self.nodes[n], n as u32 * self.memory);
        while drawn.queues[fifo].is_empty() {
            let Some(birth) = self.sources.next_birth_ps(first) else { return };
            if birth > drawn.left_ps && drawn.waiting >= AHEAD {
                return;
            }
            let packet = self.sources.take(first, birth);
            let fifo = self.picker.pick(self.node[n], packet.destination, drawn.number);
            drawn.queues[fifo as usize].push_back(packet);
            drawn.number += 1;
            drawn.waiting += 1;
        }
    }
}

impl Endpoints for AheadEndpoints {
    fn next_birth_ps(&mut self, nic: u32) -> Option<u64> {
        let (n, fifo) = ((nic / self.memory) as usize, (nic % self.memory) as usize);
        self.draw(n, fifo);
        self.nodes[n].queues[fifo].front().map(|packet| packet.birth_ps)
    }

    fn take(&mut self, nic: u32, leaves_ps: u64) -> Outgoing {
        let (n, fifo) = ((nic / self.memory) as usize, (nic % self.memory) as usize);
        self.draw(n, fifo);
        let drawn = &mut self.nodes[n];
        drawn.left_ps = drawn.left_ps.max(leaves_ps);
        drawn.waiting -= 1;
        drawn.queues[fifo].pop_front().expect("the network asked for a packet that is there")
    }

    fn offers_move(&self) -> bool {
        true
    }

    fn owes(&self, before_ps: u64) -> bool {
        let first = |drawn: &Drawn| drawn.queues.iter().flatten().any(|packet| packet.birth_ps < before_ps);
        self.sources.owes(before_ps) || self.nodes.iter().any(first)
    }

    fn memory_bytes(&self) -> usize {
        let queues = self.nodes.iter().flat_map(|drawn| &drawn.queues);
        self.sources.memory_bytes() + queues.map(|queue| queue.capacity() * size_of::<Outgoing>()).sum::<usize>()
    }

    fn end(&mut self, end_ps: u64) -> Vec<Unfinished> {
        self.sources.end(end_ps)
    }
}
