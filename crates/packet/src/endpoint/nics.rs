//! The NICs that a program gets.

use crate::fabric::Fabric;
use crate::injection::{FifoSelector, InjectionFifos};
use crate::rail_map::RailMap;
use crate::traffic_class::JobClass;
use odonata_units::NodeId;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Selects the memory FIFOs of messages.
#[derive(Clone, Debug)]
pub struct MemoryFifos {
    selector: Arc<FifoSelector>,
    /// Number of messages sent, by node.
    numbers: BTreeMap<NodeId, u64>,
}

odonata_checkpoint::state!(MemoryFifos { value: numbers; rebuilt: selector });

impl MemoryFifos {
    /// Memory FIFO of the next message from `source` to `destination`.
    pub fn select(&mut self, source: NodeId, destination: NodeId) -> u32 {
        let number = self.numbers.entry(source).or_default();
        *number += 1;
        self.selector.select(source, destination, *number - 1)
    }
}

/// NICs of one part of a machine, numbered from 0. NICs of a node have consecutive numbers. All rails of a node are
/// in one part: programs see nodes, while the network sees each rail as a node.
#[derive(Clone, Copy, Debug)]
pub struct Nics<'a> {
    fabric: &'a Fabric,
    first: u32,
    count: u32,
    /// NICs in the network: of these nodes, or their torus FIFOs.
    in_network: u32,
    seed: u64,
    /// Set if these are NICs of nodes with rails.
    rail_map: Option<&'a RailMap>,
}

impl<'a> Nics<'a> {
    pub(crate) fn new(fabric: &'a Fabric, nics: &Range<u32>, seed: u64) -> Self {
        let in_network = nics.end - nics.start;
        let all = Self { fabric, first: nics.start, count: 0, in_network, seed, rail_map: None };
        Self { count: in_network / fabric.nics_per_node * all.per_node(), ..all }
    }

    /// Number of NICs.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The same NICs, node by node.
    pub(crate) fn with_rail_map(self, rail_map: &'a RailMap) -> Self {
        Self { rail_map: Some(rail_map), ..self }
    }

    /// Map from rails to nodes.
    pub(crate) fn rail_map(&self) -> RailMap {
        RailMap::new(self.fabric, self.first..self.first + self.in_network)
    }

    /// Whether nodes have rails.
    pub(crate) fn has_rails(&self) -> bool {
        self.fabric.rails > 1
    }

    /// Number of nodes of the machine.
    pub(crate) fn host_count(&self) -> u32 {
        self.fabric.hosts()
    }

    /// NICs per node; with injection FIFOs, memory FIFOs per node.
    pub fn per_node(&self) -> u32 {
        if self.rail_map.is_some() {
            return self.fabric.rails;
        }
        self.fabric.selector.as_ref().map_or(self.fabric.nics_per_node, |selector| selector.fifos.map.len() as u32)
    }

    /// Number of traffic classes.
    pub fn class_count(&self) -> usize {
        self.fabric.settings.classes.count()
    }

    /// Traffic classes of the messages of a job.
    pub fn classes_of(&self, job: u16) -> JobClass {
        self.fabric.settings.classes.of_job(job)
    }

    pub(crate) fn fifos(&self) -> Option<&InjectionFifos> {
        self.fabric.selector.as_ref().map(|selector| &selector.fifos)
    }

    pub(crate) fn selector(&self) -> Option<Arc<FifoSelector>> {
        self.fabric.selector.clone()
    }

    /// Whether NICs are memory FIFOs. Then [`Self::memory_fifos`] selects the one for a message, and all packets
    /// arrive at the first NIC of a node.
    pub fn are_memory_fifos(&self) -> bool {
        self.fabric.selector.is_some()
    }

    /// Selector of memory FIFOs, if NICs are memory FIFOs.
    pub fn memory_fifos(&self) -> Option<MemoryFifos> {
        self.selector().map(|selector| MemoryFifos { selector, numbers: BTreeMap::new() })
    }

    /// NIC of the network for a NIC of a program: the same one, or the first one of its node.
    fn network_nic(&self, nic: u32) -> u32 {
        if let Some(rail_map) = self.rail_map {
            return self.first + rail_map.network_nic(nic);
        }
        self.first
            + nic / self.per_node() * self.fabric.nics_per_node
            + if self.are_memory_fifos() { 0 } else { nic % self.per_node() }
    }

    /// Node of a NIC.
    pub fn node(&self, nic: u32) -> NodeId {
        let end = self.fabric.node_of(self.network_nic(nic));
        if self.rail_map.is_some() {
            return NodeId(end.0 % self.fabric.hosts());
        }
        end
    }

    /// First NIC of a node, if the node is in this part.
    pub fn first_of(&self, node: NodeId) -> Option<u32> {
        let nic = self.fabric.node_nic.get(node.index())?.wrapping_sub(self.first);
        // Every part looks at all messages, so messages of other parts must not cost a division.
        if nic >= self.in_network {
            return None;
        }
        if let Some(rail_map) = self.rail_map {
            return Some(rail_map.program_nic(nic));
        }
        Some(if self.are_memory_fifos() { nic / self.fabric.nics_per_node * self.per_node() } else { nic })
    }

    /// Bytes of a message in a full packet.
    pub fn payload(&self) -> u32 {
        self.fabric.settings.payload().0 as u32
    }

    /// Granularity of packet sizes in bytes. 1 if packets have headers, since these pad the last flit.
    pub fn flit(&self) -> u32 {
        if self.fabric.settings.header.0 > 0 {
            1
        } else {
            self.fabric.settings.flit.0 as u32
        }
    }

    /// Time in ps of a packet with `bytes` of a message on the link of a NIC.
    pub fn time_ps(&self, nic: u32, bytes: u32) -> u64 {
        let size = bytes + self.fabric.overhead(bytes);
        self.fabric.link_time(self.fabric.nic_port[self.network_nic(nic) as usize], size)
    }

    /// Seed of the run for named random streams.
    pub fn seed(&self) -> u64 {
        self.seed
    }
}
