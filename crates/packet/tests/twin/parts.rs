//! Parts of the twin: packets, ports, and the load that a routing algorithm sees.

use super::control_packets::Content;
use super::{Queues, Waits};
use odonata_packet::{ControlPacketCount, OutgoingPacket, PacketRecord, PacketSettings, QueueEstimate};
use odonata_routing::algorithm::{Header, RouteState, RouterReport};
use odonata_routing::view::LoadView;
use odonata_units::{GroupId, NodeId};
use std::collections::VecDeque;

/// Results of the twin.
pub struct TwinResult {
    pub packets: Vec<PacketRecord>,
    /// Waits by blocking job.
    pub waits: Waits,
    /// Input queues.
    pub queues: Queues,
    pub control_packets: ControlPacketCount,
}

#[derive(Clone, Debug)]
pub struct Packet {
    pub what: OutgoingPacket,
    /// Bytes in the network.
    pub bytes: u64,
    pub header: Header,
    pub injected: u64,
    /// Time at which the router of its node took it.
    pub entered: u64,
    pub arrived: u64,
    pub previous: u64,
    pub port: usize,
    pub vc: usize,
    /// Whether `port` and `vc` were chosen by its current router.
    pub decided: bool,
    /// Earliest departure from its output.
    pub ready: u64,
    /// Report of the last router that decided.
    pub report: Option<RouterReport>,
    /// Space in the output channel, required space there, and space that it took in the previous one.
    pub room: u64,
    pub needs: u64,
    pub took: u64,
    /// It left a long queue.
    pub is_marked: bool,
    /// Content of a control packet.
    pub notice: Option<Content>,
    /// Groups of the next routers on its path, in order.
    pub groups: Vec<GroupId>,
}

impl Packet {
    pub fn size(&self) -> u64 {
        self.bytes
    }
}

#[derive(Default)]
pub struct Port {
    pub wire: VecDeque<Packet>,
    pub inputs: Vec<VecDeque<Packet>>,
    pub outputs: Vec<VecDeque<Packet>>,
    pub credits: Vec<u64>,
    /// Jobs of the packets in the next buffer, oldest first.
    pub beyond: Vec<VecDeque<u16>>,
    pub input_free: u64,
    pub output_free: u64,
    pub link_free: u64,
    /// Job of the last sent packet.
    pub sending: u16,
    pub next_vc: usize,
    /// Last crossing time of each input channel.
    pub served: Vec<u64>,
    /// By VC: packets from other routers that passed its head at the head's output.
    pub passed: Vec<u32>,
    /// Output channels in turn, and by channel the router's input channels; the next one to serve is at the front.
    pub turns: VecDeque<usize>,
    pub order: Vec<VecDeque<(usize, usize)>>,
}

impl Port {
    pub fn queued(&self, vc: usize) -> u64 {
        self.outputs[vc].iter().map(|p| p.room).sum()
    }
}

/// Ports of a router, and the packets on each outgoing wire.
pub struct Loads<'a> {
    pub ports: &'a [Port],
    /// Bytes by port and channel.
    pub on_wire: Vec<Vec<u64>>,
    pub settings: &'a PacketSettings,
    /// Node ports that the machine does not count.
    pub extra: usize,
}

impl Loads<'_> {
    /// Heads of all input queues. Those that were routed to an output have not crossed to it yet.
    fn heads(&self) -> impl Iterator<Item = &Packet> {
        self.ports.iter().flat_map(|port| port.inputs.iter().filter_map(VecDeque::front))
    }
}

impl LoadView for Loads<'_> {
    fn port_bytes(&self, port: u16) -> u64 {
        (0..self.ports[0].outputs.len()).map(|vc| self.channel_bytes(port, vc as u8)).sum()
    }

    fn channel_bytes(&self, port: u16, vc: u8) -> u64 {
        let (o, vc) = (usize::from(port) + self.extra, usize::from(vc));
        let port = &self.ports[o];
        let queued = port.queued(vc);
        let in_use = self.settings.input_buffer.0 - port.credits[vc];
        match self.settings.estimate {
            QueueEstimate::Output => queued,
            QueueEstimate::Downstream => queued + in_use,
            QueueEstimate::DownstreamArrived => queued + in_use - self.on_wire[o][vc],
        }
    }

    fn packet_bytes(&self) -> u64 {
        self.settings.packet.0
    }

    fn waiting_bytes(&self, port: u16) -> u64 {
        let o = usize::from(port) + self.extra;
        self.heads().filter(|p| p.decided && p.port == o).map(Packet::size).sum()
    }

    fn has_room(&self, o: u16, vc: u8) -> bool {
        self.tokens(o, vc).is_some()
    }

    fn tokens(&self, o: u16, vc: u8) -> Option<u64> {
        let (o, vc) = (usize::from(o) + self.extra, usize::from(vc));
        let promised: u64 = self.heads().filter(|p| p.decided && p.port == o && p.vc == vc).map(Packet::size).sum();
        let needed = self.ports[o].queued(vc) + promised + self.settings.packet.0;
        let fits = needed <= self.settings.output_buffer.0 && needed <= self.ports[o].credits[vc];
        fits.then(|| self.ports[o].credits[vc] - (needed - self.settings.packet.0))
    }
}

/// Bytes of a packet in the network. With a header it is a whole number of flits.
pub fn in_network(settings: &PacketSettings, payload: u32) -> u64 {
    let (header, flit, mut bytes) = (settings.header.0, settings.flit.0, u64::from(payload) + settings.header.0);
    while header > 0 && bytes % flit != 0 {
        bytes += 1;
    }
    bytes
}

/// A packet that is injected at `now` and reaches its router at `arrives`.
pub fn set_out(
    (what, bytes): (OutgoingPacket, u64),
    source: NodeId,
    state: RouteState,
    now: u64,
    arrives: u64,
) -> Packet {
    let header = Header { source, destination: what.destination, state };
    let (port, vc) = (0, 0);
    Packet {
        what,
        bytes,
        header,
        injected: now,
        entered: 0,
        arrived: arrives,
        previous: now,
        port,
        vc,
        decided: false,
        ready: 0,
        report: None,
        room: 0,
        needs: 0,
        took: 0,
        is_marked: false,
        notice: None,
        groups: Vec::new(),
    }
}
