//! The machine as the engine runs it: ports in flat arrays, with times that follow from rates and settings.
//!
//! Routers stand in a line, group by group, so that related routers form a range of the line. A plain
//! router number is a place in this line; [`RouterId`] is the number in the machine. Every port has a
//! number, too. The ports of a router are consecutive, and its node ports come first. A port sends and
//! receives over the same cable, so one number names both directions. NICs are numbered in the order of
//! their routers. Therefore any range of routers is a range of ports and of NICs.

use crate::injection::FifoSelector;
use crate::settings::PacketSettings;
use odonata_machine::Machine;
use odonata_units::{Bytes, NodeId, Rate, RouterId};
use std::ops::Range;
use std::sync::Arc;

/// Maximum number of virtual channels per port. Bits of a 64-bit word mark the occupied ones.
pub(crate) const CHANNELS_MAX: u8 = 64;

/// Immutable arrays of one machine with one set of settings. Times are in ps.
#[derive(Debug)]
pub(crate) struct Fabric {
    pub(crate) settings: PacketSettings,
    /// NICs per node. With injection FIFOs these are the torus FIFOs of a node, and packets arrive at the first
    /// one.
    pub(crate) nics_per_node: u32,
    /// Injection FIFOs, if nodes have them.
    pub(crate) selector: Option<Arc<FifoSelector>>,
    /// NICs of a node at different routers. The network treats each of them as a node.
    pub(crate) rails: u32,
    /// Injection rate of each NIC; empty if it equals the rate of the port.
    nic_rate: Vec<Rate>,
    /// Machine number of every router in the line, and the inverse.
    pub(crate) line: Vec<RouterId>,
    pub(crate) place: Vec<u32>,
    /// Group of every router and of every node.
    group_of: Vec<u32>,
    node_group: Vec<u32>,
    /// First router of every group.
    pub(crate) first_of_group: Vec<u32>,
    /// Ports of router r are `first_port[r]..first_port[r + 1]`.
    pub(crate) first_port: Vec<u32>,
    /// NICs of router r are `first_nic[r]..first_nic[r + 1]`.
    pub(crate) first_nic: Vec<u32>,
    pub(crate) port_router: Vec<u32>,
    /// First port of every router in the port numbering of results, which follows the machine's router numbers.
    first_number: Vec<u32>,
    /// Port of every link.
    pub(crate) link_port: Vec<u32>,
    /// Port at the other end of a link port; NIC of a node port.
    pub(crate) peer: Vec<u32>,
    pub(crate) rate: Vec<Rate>,
    /// Cable latency.
    pub(crate) cable: Vec<u64>,
    /// Time of a full packet on the link.
    pub(crate) full_time: Vec<u64>,
    /// Time of a full packet in the crossbar of each router.
    pub(crate) crossbar_time: Vec<u64>,
    pub(crate) crossbar_rate: Vec<Rate>,
    pub(crate) nic_node: Vec<u32>,
    /// First NIC of each node.
    pub(crate) node_nic: Vec<u32>,
    pub(crate) nic_port: Vec<u32>,
}

impl Fabric {
    pub(crate) fn new(machine: &Machine, settings: &PacketSettings) -> Self {
        let routers = machine.router_count();
        let injection = settings.injection.as_ref();
        let nics_per_node = injection.map_or(settings.nics_per_node, |injection| injection.fifos);
        let mut line: Vec<RouterId> = machine.routers().collect();
        // The same group of all planes stands together, since nodes have NICs in each plane.
        let in_plane = (machine.group_count() as u32 / machine.rails().planes).max(1);
        line.sort_by_key(|&router| {
            let group = machine.group_of(router).0;
            (group % in_plane, group / in_plane)
        });
        let mut place = vec![0; routers];
        let (mut first_port, mut first_nic) = (vec![0], vec![0]);
        for (at, &router) in (0..).zip(&line) {
            // The inverse permutation.
            place[router.index()] = at;
            let nics = machine.nodes_of(router).len() as u32 * nics_per_node;
            // Prefix sums: a range of routers is a range of ports.
            first_port.push(first_port[at as usize] + nics + machine.links_from(router).len() as u32);
            first_nic.push(first_nic[at as usize] + nics);
        }
        let group_of: Vec<u32> = line.iter().map(|&router| machine.group_of(router).0).collect();
        let first_of_group = (0..routers).filter(|&at| at == 0 || group_of[at] != group_of[at - 1]).map(|at| at as u32);
        let first_of_group = first_of_group.collect();
        let (ports, nics) = (first_port[routers] as usize, first_nic[routers] as usize);
        let mut fabric = Self {
            settings: settings.clone(),
            nics_per_node,
            selector: injection.map(|injection| Arc::new(FifoSelector::new(machine, injection))),
            rails: machine.rails().of_node(),
            nic_rate: Vec::new(),
            first_number: vec![0; routers],
            link_port: vec![0; machine.link_count()],
            first_of_group,
            group_of,
            node_group: vec![0; machine.node_count()],
            line: Vec::new(),
            place: Vec::new(),
            first_port,
            first_nic,
            port_router: Vec::with_capacity(ports),
            peer: Vec::with_capacity(ports),
            rate: Vec::with_capacity(ports),
            cable: Vec::with_capacity(ports),
            full_time: Vec::with_capacity(ports),
            crossbar_time: Vec::with_capacity(routers),
            crossbar_rate: Vec::with_capacity(routers),
            nic_node: Vec::with_capacity(nics),
            node_nic: vec![0; machine.node_count()],
            nic_port: Vec::with_capacity(nics),
        };
        let mut number = 0;
        for router in machine.routers() {
            let at = place[router.index()] as usize;
            fabric.first_number[at] = number;
            number += fabric.first_port[at + 1] - fabric.first_port[at];
        }
        (fabric.line, fabric.place) = (line, place);
        for at in 0..routers as u32 {
            fabric.add_router(machine, at);
        }
        fabric
    }

    fn add_router(&mut self, machine: &Machine, at: u32) {
        let router = self.line[at as usize];
        let terminal = machine.terminal();
        for &node in machine.nodes_of(router) {
            let first = self.nic_node.len() as u32;
            self.node_nic[node.index()] = first;
            self.node_group[node.index()] = self.group_of[at as usize];
            for nic in first..first + self.nics_per_node {
                self.nic_node.push(node.0);
                self.nic_port.push(self.port_router.len() as u32);
                self.add_port(at, nic, terminal.bandwidth, terminal.latency.ps());
            }
        }
        for l in machine.links_from(router) {
            let link = odonata_units::LinkId::from_index(l);
            // A port serves both directions of its cable.
            let back = machine.reverse(link);
            let far = self.place[machine.source(back).index()];
            let peer = self.link_ports_from(far) + machine.port(back);
            self.link_port[l] = self.port_router.len() as u32;
            self.add_port(at, peer, machine.bandwidth(link), machine.latency(link).ps());
        }
        // The crossbar is a multiple of the router's fastest link.
        let own = self.first_port[at as usize] as usize..self.port_router.len();
        let fastest = self.rate[own].iter().copied().max().unwrap_or(terminal.bandwidth);
        let rate = fastest.scaled(self.settings.crossbar_speedup);
        if self.selector.is_some() {
            let of_links = machine.links_from(router).map(|l| machine.bandwidth(odonata_units::LinkId::from_index(l)));
            let rate = of_links.max().unwrap_or(terminal.bandwidth);
            self.nic_rate.resize(self.nic_node.len(), rate);
        }
        self.crossbar_rate.push(rate);
        self.crossbar_time.push(rate.serialisation_time(self.settings.packet).ps());
    }

    fn add_port(&mut self, router: u32, peer: u32, rate: Rate, cable_ps: u64) {
        self.port_router.push(router);
        self.peer.push(peer);
        self.rate.push(rate);
        self.cable.push(cable_ps);
        self.full_time.push(rate.serialisation_time(self.settings.packet + self.settings.wire_overhead).ps());
    }

    pub(crate) fn routers(&self) -> usize {
        self.line.len()
    }

    /// First port number that the machine's link ports count from. The machine counts one port per node, even
    /// if the node has more NICs here.
    pub(crate) fn link_ports_from(&self, router: u32) -> u32 {
        let r = router as usize;
        let nics = self.first_nic[r + 1] - self.first_nic[r];
        self.first_port[r] + nics - nics / self.nics_per_node
    }

    pub(crate) fn ports(&self) -> usize {
        self.peer.len()
    }

    /// Number of nodes, whatever their number of rails.
    pub(crate) fn hosts(&self) -> u32 {
        self.node_nic.len() as u32 / self.rails
    }

    /// First NICs of all ends of the node that a NIC belongs to.
    pub(crate) fn host_nics(&self, nic: u32) -> impl Iterator<Item = u32> + '_ {
        let host = self.nic_node[nic as usize] % self.hosts();
        self.node_nic[host as usize..].iter().step_by(self.hosts() as usize).copied()
    }

    pub(crate) fn nics(&self) -> usize {
        self.nic_node.len()
    }

    /// Whether a port leads to a node.
    #[inline]
    pub(crate) fn is_node_port(&self, port: u32) -> bool {
        let router = self.port_router[port as usize] as usize;
        port - self.first_port[router] < self.first_nic[router + 1] - self.first_nic[router]
    }

    /// Group at the other end of a port that leads to a router.
    pub(crate) fn far_group(&self, port: u32) -> u32 {
        self.group_of_port(self.peer[port as usize])
    }

    /// Whether a port leads to a router of another group.
    pub(crate) fn is_between_groups(&self, port: u32) -> bool {
        !self.is_node_port(port) && self.far_group(port) != self.group_of_port(port)
    }

    /// The group of a node.
    #[inline]
    pub(crate) fn group_of_node(&self, node: NodeId) -> u32 {
        self.node_group[node.index()]
    }

    fn group_of_port(&self, port: u32) -> u32 {
        self.group_of[self.port_router[port as usize] as usize]
    }

    /// Port number as used in results.
    pub(crate) fn number(&self, port: u32) -> u32 {
        let router = self.port_router[port as usize] as usize;
        self.first_number[router] + port - self.first_port[router]
    }

    /// Ports of a range of routers.
    pub(crate) fn ports_of(&self, routers: &Range<u32>) -> Range<u32> {
        self.first_port[routers.start as usize]..self.first_port[routers.end as usize]
    }

    /// NICs of a range of routers.
    pub(crate) fn nics_of(&self, routers: &Range<u32>) -> Range<u32> {
        self.first_nic[routers.start as usize]..self.first_nic[routers.end as usize]
    }

    /// Time of a packet of `size` bytes on the link of `port`. Cold: most packets are full, and their time is
    /// stored.
    #[cold]
    #[inline(never)]
    pub(crate) fn link_time(&self, port: u32, size: u32) -> u64 {
        self.rate[port as usize].serialisation_time(Bytes(u64::from(size)) + self.settings.wire_overhead).ps()
    }

    /// Time of a packet of `size` bytes from NIC `nic` to its router.
    #[cold]
    #[inline(never)]
    pub(crate) fn injection_time(&self, nic: u32, size: u32) -> u64 {
        let port = self.nic_port[nic as usize];
        let rate = self.nic_rate.get(nic as usize).copied().unwrap_or(self.rate[port as usize]);
        rate.serialisation_time(Bytes(u64::from(size)) + self.settings.wire_overhead).ps()
    }

    /// Time of a packet of `size` bytes on the incoming link of `port`.
    #[inline]
    pub(crate) fn incoming_time(&self, port: u32, size: u32) -> u64 {
        // Without torus FIFOs a NIC sends at the rate of its link.
        if self.nic_rate.is_empty() || !self.is_node_port(port) {
            self.link_time(port, size)
        } else {
            self.injection_time(self.peer[port as usize], size)
        }
    }

    /// NICs of a node at which packets arrive.
    pub(crate) fn arrival_nics(&self) -> u32 {
        if self.selector.is_some() {
            1
        } else {
            self.nics_per_node
        }
    }

    /// Buffer space at the router for the packets of a NIC.
    pub(crate) fn injection_room(&self) -> u32 {
        let room = |selector: &Arc<FifoSelector>| u64::from(selector.fifos.fifo_packets) * self.settings.packet.0;
        self.selector.as_ref().map_or(self.settings.input_buffer.0, room) as u32
    }

    /// Bytes of a packet in addition to `payload` bytes of a message: its header and the padding of the last
    /// flit. Zero without a header.
    #[inline]
    pub(crate) fn overhead(&self, payload: u32) -> u32 {
        let (header, flit) = (self.settings.header.0 as u32, self.settings.flit.0 as u32);
        if header == 0 {
            0
        } else {
            (payload + header).next_multiple_of(flit) - payload
        }
    }

    /// Time of `size` bytes in the crossbar of `router`.
    #[cold]
    #[inline(never)]
    pub(crate) fn transfer_time(&self, router: u32, size: u32) -> u64 {
        self.crossbar_rate[router as usize].serialisation_time(Bytes(u64::from(size))).ps()
    }

    /// Time from the start of sending at `port` to the arrival of the head at the next input queue or at the
    /// node.
    pub(crate) fn forward_latency(&self, port: u32) -> u64 {
        let out = self.settings.output_latency.ps() + self.cable[port as usize];
        if self.is_node_port(port) {
            out
        } else {
            out + self.settings.input_latency.ps()
        }
    }

    /// Time from the start of sending at the NIC of `port` to the arrival of the head at the port's input
    /// queue.
    pub(crate) fn injection_latency(&self, port: u32) -> u64 {
        self.cable[port as usize] + self.settings.input_latency.ps()
    }

    /// Latency of a credit for the buffer at `port`: the latency of its cable. It is at least 1 ps, so that no
    /// event affects another router at the same instant.
    pub(crate) fn credit_latency(&self, port: u32) -> u64 {
        self.cable[port as usize].max(1)
    }

    pub(crate) fn node_of(&self, nic: u32) -> NodeId {
        NodeId(self.nic_node[nic as usize])
    }
}
