//! State of ports, channels and network interfaces.

use crate::fabric::Fabric;
use crate::packet::Fifo;
use std::collections::VecDeque;
use std::ops::Range;

/// Room that comes back to a sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Credit {
    /// When it arrives at the sender.
    pub(crate) at: u64,
    pub(crate) bytes: u32,
    pub(crate) vc: u8,
}

/// The packet at the head of an input channel, waiting for an output port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Waiter {
    /// Input port (of the partition).
    pub(super) input: u32,
    pub(super) vc: u8,
}

/// The sending side of a port. What the fabric knows of it is repeated here, so that a hop reads few cache lines.
pub(super) struct OutPort {
    /// Until when the link is busy.
    pub(super) link_free: u64,
    /// Time of the pending event of the link; `u64::MAX` if there is none.
    pub(super) send_at: u64,
    /// Until when this output of the crossbar is busy.
    pub(super) crossbar_free: u64,
    /// Time of the pending event of the crossbar output.
    pub(super) crossbar_at: u64,
    /// Credits on their way here, by arrival.
    pub(super) credits: VecDeque<Credit>,
    /// Heads of input channels that want this output.
    pub(super) waiters: Vec<Waiter>,
    /// From the start of sending to the arrival at the next input queue or node.
    pub(super) latency: u64,
    /// Since when packets wait without credit; `u64::MAX` if they do not.
    pub(super) stalled_since: u64,
    /// Global port, or NIC, at the other end.
    pub(super) peer: u32,
    /// Bytes in the output buffer, over all channels.
    pub(super) queued_bytes: u32,
    /// Credits in use, in bytes, over all channels.
    pub(super) downstream_bytes: u32,
    /// Bit vc: channel vc holds packets.
    pub(super) occupied: u16,
    /// Channel after the one served last.
    pub(super) next_vc: u8,
    /// Leads to a node, which takes everything.
    pub(super) ejects: bool,
    /// The other end belongs to another partition.
    pub(super) remote: bool,
    /// Packets wait for a credit while the link is free.
    pub(super) starved: bool,
    /// Will be settled at the end of this instant.
    pub(super) noted: bool,
    /// Input port, among those of the router, served last, for round-robin arbitration.
    pub(super) last_input: u32,
    /// Time of a full packet on the link and in the crossbar.
    pub(super) full_time: u64,
    pub(super) crossbar_time: u64,
    /// Router, its first port and its first entry of the table of services (all of the partition), and its ports.
    pub(super) router: u32,
    pub(super) first_sibling: u32,
    pub(super) first_served: u32,
    pub(super) siblings: u32,
}

impl OutPort {
    pub(super) fn new(fabric: &Fabric, port: u32, own: &Range<u32>, first_served: u32) -> Self {
        let ejects = fabric.is_node_port(port);
        let peer = fabric.peer[port as usize];
        let router = fabric.port_router[port as usize] as usize;
        let first = fabric.first_port[router];
        Self {
            full_time: fabric.full_time[port as usize],
            crossbar_time: fabric.crossbar_time[router],
            router: router as u32 - fabric.port_router[own.start as usize],
            first_sibling: first - own.start,
            first_served,
            siblings: fabric.first_port[router + 1] - first,
            link_free: 0,
            send_at: u64::MAX,
            crossbar_free: 0,
            crossbar_at: u64::MAX,
            credits: VecDeque::new(),
            waiters: Vec::new(),
            latency: fabric.forward_latency(port),
            stalled_since: u64::MAX,
            peer,
            queued_bytes: 0,
            downstream_bytes: 0,
            occupied: 0,
            next_vc: 0,
            ejects,
            remote: !ejects && !own.contains(&peer),
            starved: false,
            noted: false,
            last_input: 0,
        }
    }
}

/// One virtual channel of the sending side.
pub(super) struct OutChannel {
    pub(super) queue: Fifo,
    /// Bytes in the output buffer.
    pub(super) bytes: u32,
    /// Room known to be left in the next input buffer.
    pub(super) credit: u32,
}

impl OutChannel {
    pub(super) fn new(room: u32) -> Self {
        Self { queue: Fifo::default(), bytes: 0, credit: room }
    }
}

/// The receiving side of a port.
pub(super) struct InPort {
    /// Packets on the link to this port, by arrival.
    pub(super) flight: Fifo,
    /// Until when this input of the crossbar is busy.
    pub(super) crossbar_free: u64,
    /// Latency of the cable, which a credit takes to go back.
    pub(super) cable: u64,
    /// Time of a full packet on the link.
    pub(super) full_time: u64,
    /// Sender: a port of the partition, a global port if it is remote, or a NIC of the partition.
    pub(super) peer: u32,
    /// Router (of the partition).
    pub(super) router: u32,
    pub(super) sender: Sender,
}

/// Who is at the other end of an input port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sender {
    Local,
    Remote,
    Nic,
}

impl InPort {
    pub(super) fn new(fabric: &Fabric, port: u32, own: &Range<u32>, first_nic: u32) -> Self {
        let peer = fabric.peer[port as usize];
        let (peer, sender) = if fabric.is_node_port(port) {
            (peer - first_nic, Sender::Nic)
        } else if own.contains(&peer) {
            (peer - own.start, Sender::Local)
        } else {
            (peer, Sender::Remote)
        };
        Self {
            flight: Fifo::default(),
            crossbar_free: 0,
            cable: fabric.cable[port as usize],
            full_time: fabric.full_time[port as usize],
            peer,
            router: fabric.port_router[port as usize] - fabric.port_router[own.start as usize],
            sender,
        }
    }
}

/// A network interface.
pub(super) struct Nic {
    pub(super) link_free: u64,
    pub(super) send_at: u64,
    pub(super) credits: VecDeque<Credit>,
    pub(super) credit: u32,
    pub(super) starved: bool,
    pub(super) stalled_since: u64,
    /// Port of the partition at the other end.
    pub(super) port: u32,
    pub(super) latency: u64,
    /// Packets on their way to a node whose endpoint listens, by arrival of their last byte.
    pub(super) incoming: Fifo,
}

impl Nic {
    pub(super) fn new(fabric: &Fabric, nic: u32, first_port: u32) -> Self {
        Self {
            link_free: 0,
            send_at: u64::MAX,
            credits: VecDeque::new(),
            credit: fabric.settings.input_buffer.0 as u32,
            starved: false,
            stalled_since: u64::MAX,
            port: fabric.nic_port[nic as usize] - first_port,
            latency: fabric.injection_latency(nic),
            incoming: Fifo::default(),
        }
    }
}
