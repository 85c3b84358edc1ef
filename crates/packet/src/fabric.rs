//! The machine as the engine runs it: ports in flat arrays, with the times that follow from rates and settings.
//!
//! Every port of every router has a global number; the ports of a router are consecutive, its nodes' ports first. A
//! port sends and receives over the same cable, so one number names both directions. Network interfaces (NICs) are
//! numbered in the order of their routers, so that any range of routers is a range of ports and of NICs.

use crate::settings::PacketSettings;
use odonata_machine::Machine;
use odonata_units::{Bytes, NodeId, Rate, RouterId};
use std::ops::Range;

/// Immutable arrays of one machine under one set of settings. Times are in ps.
#[derive(Debug)]
pub(crate) struct Fabric {
    pub(crate) settings: PacketSettings,
    /// Ports of router r are `first_port[r]..first_port[r + 1]`.
    pub(crate) first_port: Vec<u32>,
    /// NICs of router r are `first_nic[r]..first_nic[r + 1]`.
    pub(crate) first_nic: Vec<u32>,
    pub(crate) port_router: Vec<u32>,
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
    pub(crate) node_nic: Vec<u32>,
    pub(crate) nic_port: Vec<u32>,
}

impl Fabric {
    pub(crate) fn new(machine: &Machine, settings: &PacketSettings) -> Self {
        let routers = machine.router_count();
        let mut first_port = vec![0u32];
        let mut first_nic = vec![0u32];
        for router in machine.routers() {
            let nodes = machine.nodes_of(router).len();
            let ports = nodes + machine.links_from(router).len();
            first_port.push(first_port[router.index()] + ports as u32);
            first_nic.push(first_nic[router.index()] + nodes as u32);
        }
        let ports = first_port[routers] as usize;
        let mut fabric = Self {
            settings: settings.clone(),
            first_port,
            first_nic,
            port_router: Vec::with_capacity(ports),
            peer: Vec::with_capacity(ports),
            rate: Vec::with_capacity(ports),
            cable: Vec::with_capacity(ports),
            full_time: Vec::with_capacity(ports),
            crossbar_time: Vec::with_capacity(routers),
            crossbar_rate: Vec::with_capacity(routers),
            nic_node: Vec::with_capacity(machine.node_count()),
            node_nic: vec![0; machine.node_count()],
            nic_port: Vec::with_capacity(machine.node_count()),
        };
        for router in machine.routers() {
            fabric.add_router(machine, router);
        }
        fabric
    }

    fn add_router(&mut self, machine: &Machine, router: RouterId) {
        let terminal = machine.terminal();
        for &node in machine.nodes_of(router) {
            let nic = self.nic_node.len() as u32;
            self.node_nic[node.index()] = nic;
            self.nic_node.push(node.0);
            self.nic_port.push(self.port_router.len() as u32);
            self.add_port(router, nic, terminal.bandwidth, terminal.latency.ps());
        }
        for l in machine.links_from(router) {
            let link = odonata_units::LinkId::from_index(l);
            let back = machine.reverse(link);
            let peer = self.first_port[machine.source(back).index()] + machine.port(back);
            self.add_port(router, peer, machine.bandwidth(link), machine.latency(link).ps());
        }
        let own = self.first_port[router.index()] as usize..self.port_router.len();
        let fastest = self.rate[own].iter().copied().max().unwrap_or(terminal.bandwidth);
        let rate = fastest.scaled(self.settings.crossbar_speedup);
        self.crossbar_rate.push(rate);
        self.crossbar_time.push(rate.serialisation_time(self.settings.packet).ps());
    }

    fn add_port(&mut self, router: RouterId, peer: u32, rate: Rate, cable_ps: u64) {
        self.port_router.push(router.0);
        self.peer.push(peer);
        self.rate.push(rate);
        self.cable.push(cable_ps);
        self.full_time.push(rate.serialisation_time(self.settings.packet).ps());
    }

    pub(crate) fn ports(&self) -> usize {
        self.peer.len()
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

    /// Ports of a range of routers.
    pub(crate) fn ports_of(&self, routers: &Range<u32>) -> Range<u32> {
        self.first_port[routers.start as usize]..self.first_port[routers.end as usize]
    }

    /// NICs of a range of routers.
    pub(crate) fn nics_of(&self, routers: &Range<u32>) -> Range<u32> {
        self.first_nic[routers.start as usize]..self.first_nic[routers.end as usize]
    }

    /// Time of `size` bytes on the link of `port`; out of the way, since most packets are full and their time is known.
    #[cold]
    #[inline(never)]
    pub(crate) fn link_time(&self, port: u32, size: u32) -> u64 {
        self.rate[port as usize].serialisation_time(Bytes(u64::from(size))).ps()
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

    /// The shortest time that anything takes from one of `parts` to another: no event of one part can touch another
    /// one sooner. `None` if nothing crosses.
    pub(crate) fn lookahead(&self, part_of: impl Fn(u32) -> usize) -> Option<u64> {
        (0..self.ports() as u32)
            .filter(|&port| !self.is_node_port(port))
            .filter(|&port| {
                let far = self.port_router[self.peer[port as usize] as usize];
                part_of(self.port_router[port as usize]) != part_of(far)
            })
            .map(|port| self.cable[port as usize])
            .min()
    }

    pub(crate) fn node_of(&self, nic: u32) -> NodeId {
        NodeId(self.nic_node[nic as usize])
    }
}
