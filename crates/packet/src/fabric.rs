//! The machine as the engine runs it: ports in flat arrays, with the times that follow from rates and settings.
//!
//! Routers stand in a line, group by group, so that what belongs together is a range of it; "router" is a place in
//! this line wherever it is a plain number, and [`RouterId`] is the machine's. Every port of every router has a number, too; the
//! ports of a router are consecutive, its nodes' ports first. A port sends and receives over the same cable, so one number
//! names both directions. Network nics_per_node (NICs) are numbered in the order of their routers, so that any range of
//! routers is a range of ports and of NICs.

use crate::injection::FifoSelector;
use crate::settings::PacketSettings;
use odonata_machine::Machine;
use odonata_units::{Bytes, NodeId, Rate, RouterId};
use std::ops::Range;
use std::sync::Arc;

/// Immutable arrays of one machine under one set of settings. Times are in ps.
#[derive(Debug)]
pub(crate) struct Fabric {
    pub(crate) settings: PacketSettings,
    /// Network nics_per_node of each node; where it has injection FIFOs they are its torus FIFOs, and packets arrive at the first.
    pub(crate) nics_per_node: u32,
    /// What injection FIFOs there are.
    pub(crate) selector: Option<Arc<FifoSelector>>,
    /// Interfaces of a node at routers of their own: to the network each is a node.
    pub(crate) rails: u32,
    /// Rate at which each NIC sends; empty if it is that of its port.
    nic_rate: Vec<Rate>,
    /// The machine's number of every router, and the router that has it.
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
    /// The first port of every router if ports were numbered by the machine's numbers of routers, as those that a run hands
    /// out are.
    first_number: Vec<u32>,
    /// Port of every link.
    pub(crate) link_port: Vec<u32>,
    /// Port at the other end of a link port; NIC of a node port.
    pub(crate) peer: Vec<u32>,
    pub(crate) rate: Vec<Rate>,
    /// Latency of the cable.
    pub(crate) cable: Vec<u64>,
    /// Time of a full packet on the link.
    pub(crate) full_time: Vec<u64>,
    /// Time of a full packet in the crossbar of each router.
    pub(crate) crossbar_time: Vec<u64>,
    pub(crate) crossbar_rate: Vec<Rate>,
    pub(crate) nic_node: Vec<u32>,
    /// The first interface of each node.
    pub(crate) node_nic: Vec<u32>,
    pub(crate) nic_port: Vec<u32>,
}

impl Fabric {
    pub(crate) fn new(machine: &Machine, settings: &PacketSettings) -> Self {
        let routers = machine.router_count();
        let injection = settings.injection.as_ref();
        let nics_per_node = injection.map_or(settings.nics_per_node, |injection| injection.fifos);
        let mut line: Vec<RouterId> = machine.routers().collect();
        // What is the same group in all planes stands together: nodes have nics_per_node in each.
        let in_plane = (machine.group_count() as u32 / machine.rails().planes).max(1);
        line.sort_by_key(|&router| {
            let group = machine.group_of(router).0;
            (group % in_plane, group / in_plane)
        });
        let mut place = vec![0; routers];
        let (mut first_port, mut first_nic) = (vec![0], vec![0]);
        for (at, &router) in (0..).zip(&line) {
            place[router.index()] = at;
            let nics = machine.nodes_of(router).len() as u32 * nics_per_node;
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
            let back = machine.reverse(link);
            let far = self.place[machine.source(back).index()];
            let peer = self.link_ports_from(far) + machine.port(back);
            self.link_port[l] = self.port_router.len() as u32;
            self.add_port(at, peer, machine.bandwidth(link), machine.latency(link).ps());
        }
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

    /// The number that the machine's port numbers of links are counted from at a router: the machine has one port for each
    /// node, whatever nics_per_node it has here.
    pub(crate) fn link_ports_from(&self, router: u32) -> u32 {
        let r = router as usize;
        let nics = self.first_nic[r + 1] - self.first_nic[r];
        self.first_port[r] + nics - nics / self.nics_per_node
    }

    pub(crate) fn ports(&self) -> usize {
        self.peer.len()
    }

    /// Nodes, whatever rails they have.
    pub(crate) fn hosts(&self) -> u32 {
        self.node_nic.len() as u32 / self.rails
    }

    /// The first nics_per_node of all ends of the node that an interface belongs to.
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

    /// The group at the other end of a port that leads to a router.
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

    /// The number of a port as a run hands it out.
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

    /// Time of a packet of `size` bytes on the link of `port`; out of the way, since most packets are full and their time is known.
    #[cold]
    #[inline(never)]
    pub(crate) fn link_time(&self, port: u32, size: u32) -> u64 {
        self.rate[port as usize].serialisation_time(Bytes(u64::from(size)) + self.settings.wire_overhead).ps()
    }

    /// Time of a packet of `size` bytes on the way from the NIC `nic` to its router.
    #[cold]
    #[inline(never)]
    pub(crate) fn injection_time(&self, nic: u32, size: u32) -> u64 {
        let port = self.nic_port[nic as usize];
        let rate = self.nic_rate.get(nic as usize).copied().unwrap_or(self.rate[port as usize]);
        rate.serialisation_time(Bytes(u64::from(size)) + self.settings.wire_overhead).ps()
    }

    /// Time of a packet of `size` bytes on the link that comes in at `port`.
    #[inline]
    pub(crate) fn incoming_time(&self, port: u32, size: u32) -> u64 {
        if self.nic_rate.is_empty() || !self.is_node_port(port) {
            self.link_time(port, size)
        } else {
            self.injection_time(self.peer[port as usize], size)
        }
    }

    /// Interfaces of a node at which packets arrive.
    pub(crate) fn arrival_nics(&self) -> u32 {
        if self.selector.is_some() {
            1
        } else {
            self.nics_per_node
        }
    }

    /// Room for the packets of a NIC at its router.
    pub(crate) fn injection_room(&self) -> u32 {
        let room = |selector: &Arc<FifoSelector>| u64::from(selector.fifos.fifo_packets) * self.settings.packet.0;
        self.selector.as_ref().map_or(self.settings.input_buffer.0, room) as u32
    }

    /// Bytes that a packet with `payload` bytes of a message has beside these: its header and, where it has one, what fills up the last
    /// flit.
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

    /// Time from the start of sending at `port` to the arrival of the head at the input queue of the next router,
    /// or at the node.
    pub(crate) fn forward_latency(&self, port: u32) -> u64 {
        let out = self.settings.output_latency.ps() + self.cable[port as usize];
        if self.is_node_port(port) {
            out
        } else {
            out + self.settings.input_latency.ps()
        }
    }

    /// Time from the start of sending at the NIC at `port` to the arrival of the head at the port's input queue.
    pub(crate) fn injection_latency(&self, port: u32) -> u64 {
        self.cable[port as usize] + self.settings.input_latency.ps()
    }

    /// Time that a credit for the buffer at `port` takes to go back: that of the cable. Where the cable takes none it is 1 ps, so that
    /// nothing has an effect elsewhere at the instant at which it happens.
    pub(crate) fn credit_latency(&self, port: u32) -> u64 {
        self.cable[port as usize].max(1)
    }

    pub(crate) fn node_of(&self, nic: u32) -> NodeId {
        NodeId(self.nic_node[nic as usize])
    }
}
