//! State of ports, channels and network interfaces.

use crate::credit::Ring;
use crate::division::Division;
use crate::fabric::Fabric;
use crate::packet::{Fifo, Packet, NONE};
use odonata_checkpoint::state;
use odonata_routing::algorithm::Routing;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// What ports have in common, and few kinds of ports differ in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Kind {
    /// From the start of sending to the arrival at the next input queue or node.
    pub(super) latency: u64,
    /// Time of a full packet on the link, on the one that comes in, and in the crossbar.
    pub(super) full_time: u64,
    pub(super) incoming_time: u64,
    pub(super) crossbar_time: u64,
    /// Time that a credit takes to go back.
    pub(super) credit_latency: u64,
    /// From the start of sending at the other end, if that is a node, to the arrival at the input queue here.
    pub(super) injection_latency: u64,
}

/// The kinds of the ports `own`, and which each port has.
pub(super) fn kinds(fabric: &Fabric, own: &Range<u32>) -> (Vec<Kind>, Vec<u32>) {
    let kind = |port: u32| Kind {
        latency: fabric.forward_latency(port),
        full_time: fabric.full_time[port as usize],
        incoming_time: fabric.incoming_time(port, fabric.settings.packet.0 as u32),
        crossbar_time: fabric.crossbar_time[fabric.port_router[port as usize] as usize],
        credit_latency: fabric.credit_latency(port),
        injection_latency: fabric.injection_latency(port),
    };
    let mut kinds: Vec<Kind> = own.clone().map(kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds.shrink_to_fit();
    let which = own.clone().map(|port| kinds.binary_search(&kind(port)).expect("every port has a kind") as u32);
    let which = which.collect();
    (kinds, which)
}

/// For each of the ports `own`, the one (of the partition) by which the ring goes on that comes in there, and whether the port
/// sends in a ring; both empty without rings.
pub(super) fn rings(fabric: &Fabric, routing: &dyn Routing, own: &Range<u32>) -> (Vec<u32>, Vec<bool>) {
    let Some(rings) = routing.rings() else { return (Vec::new(), Vec::new()) };
    // The port by which the ring of a port's link goes on at the link's end, as that router counts its ports.
    let next_in_ring = |port: u32| {
        let router = fabric.port_router[port as usize];
        let number = (port - fabric.link_ports_from(router)) as u16;
        rings.next_in_ring(fabric.line[router as usize], number)
    };
    let links = |port: &u32| !fabric.is_node_port(*port);
    let stays = own.clone().map(|port| {
        let next = links(&port).then(|| next_in_ring(fabric.peer[port as usize])).flatten();
        let from = fabric.link_ports_from(fabric.port_router[port as usize]) - own.start;
        next.map_or(NONE, |next| from + u32::from(next))
    });
    let in_ring = own.clone().map(|port| links(&port) && next_in_ring(port).is_some());
    (stays.collect(), in_ring.collect())
}

/// The sending side of a port; one line of the cache.
#[repr(align(64))]
pub(super) struct OutPort {
    /// Until when the link is busy.
    pub(super) link_free: u64,
    /// Until when this output of the crossbar is busy.
    pub(super) crossbar_free: u64,
    /// Credits on their way here, by arrival.
    pub(super) credits: Ring,
    /// Number of its [`Kind`].
    pub(super) kind: u32,
    /// Global port, port of the partition if it is there, or NIC of the partition, at the other end.
    pub(super) peer: u32,
    /// First of the input channels whose heads want this output.
    pub(super) first_waiter: u32,
    /// Bytes in the output buffer, over all channels.
    pub(super) queued_bytes: u32,
    /// Credits in use, in bytes, over all channels.
    pub(super) downstream_bytes: u32,
    /// Bit vc: channel vc holds packets.
    pub(super) occupied: u16,
    /// Partition at the other end.
    pub(super) part: u16,
    /// Channel after the one that the link served last.
    pub(super) next_vc: u8,
    /// The channel that the crossbar served last.
    pub(super) crossed_vc: u8,
    pub(super) end: End,
    /// `STALLED`, `UNREADY`, `DEFERRED`, `INTER_GROUP`.
    flags: u8,
}

/// Packets wait for a credit while the link is free.
pub(super) const STALLED: u8 = 1;
/// Packets with credit wait until they may leave while the link is free, so that a credit may let another one go before.
pub(super) const UNREADY: u8 = 4;
/// Packets will leave, the first when the link gets free, without an event: see `Partition::catch_up`.
pub(super) const DEFERRED: u8 = 2;
/// The port leads to another group, always.
pub(super) const INTER_GROUP: u8 = 8;

/// What is at the other end of a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum End {
    /// A router of this partition.
    Local,
    /// A router of another partition.
    Remote,
    /// A node, which takes everything.
    Node,
}

const _: () = assert!(size_of::<OutPort>() == 64);

/// A packet that has just set out: what the port and its channel had to tell of it, so that nobody looks them up again.
#[derive(Clone, Copy)]
pub(super) struct Trip {
    pub(super) now: u64,
    /// For how long it keeps the link busy.
    pub(super) busy: u64,
    /// When its head arrived here, and when it arrives at the other end.
    pub(super) before: u64,
    pub(super) arrives: u64,
    pub(super) peer: u32,
    pub(super) part: u16,
    pub(super) end: End,
    pub(super) vc: u8,
    /// It goes to another group.
    pub(super) inter_group: bool,
}

/// What is at the other end of a port: its number as the partition names it, its kind, its partition.
fn end(fabric: &Fabric, port: u32, own: &Range<u32>, first_nic: u32, division: &Division) -> (u32, End, u16) {
    let peer = fabric.peer[port as usize];
    if fabric.is_node_port(port) {
        (peer - first_nic, End::Node, 0)
    } else if own.contains(&peer) {
        (peer - own.start, End::Local, 0)
    } else {
        (peer, End::Remote, division.part_of(fabric.port_router[peer as usize]) as u16)
    }
}

state!(OutPort {
    value: link_free, crossbar_free, credits, first_waiter, queued_bytes, downstream_bytes, occupied, next_vc, crossed_vc, flags;
    rebuilt: kind, peer, part, end
});

impl OutPort {
    pub(super) fn new(
        fabric: &Fabric,
        port: u32,
        own: &Range<u32>,
        first_nic: u32,
        division: &Division,
        kind: u32,
    ) -> Self {
        let (peer, end, part) = end(fabric, port, own, first_nic, division);
        Self {
            kind,
            link_free: 0,
            crossbar_free: 0,
            credits: Ring::default(),
            first_waiter: NONE,
            peer,
            queued_bytes: 0,
            downstream_bytes: 0,
            occupied: 0,
            next_vc: 0,
            crossed_vc: 0,
            end,
            part,
            flags: if fabric.is_between_groups(port) { INTER_GROUP } else { 0 },
        }
    }

    /// A packet, which has credit, sets out at `now`, takes the link for `busy` and reaches the other end `latency`
    /// later.
    #[inline(always)]
    pub(super) fn start(
        &mut self,
        packet: &mut Packet,
        channel: &mut OutChannel,
        room: u32,
        (now, busy, latency): (u64, u64, u64),
    ) -> Trip {
        let (vc, before, arrives) = (packet.out_vc(), packet.arrived, now + latency);
        self.next_vc = vc + 1;
        self.link_free = now + busy;
        if self.end != End::Node {
            self.downstream_bytes += room;
            channel.credit -= room;
            packet.arrived = arrives;
            packet.header.state.hops += 1;
            packet.header.state.vc = vc;
        }
        let (inter_group, peer, part, end) = (self.has_flag(INTER_GROUP), self.peer, self.part, self.end);
        Trip { now, busy, before, arrives, peer, part, end, vc, inter_group }
    }

    #[inline]
    pub(super) fn has_flag(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    #[inline]
    pub(super) fn set_flag(&mut self, flag: u8) {
        self.flags |= flag;
    }

    #[inline]
    pub(super) fn clear_flag(&mut self, flag: u8) {
        self.flags &= !flag;
    }
}

/// One virtual channel of the sending side.
#[derive(Serialize, Deserialize)]
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

/// One virtual channel of the receiving side.
pub(super) struct InChannel {
    pub(super) queue: Fifo,
    /// The next input channel whose head wants the same output.
    pub(super) next_waiter: u32,
    /// Its port (of the partition).
    pub(super) port: u32,
}

state!(InChannel { value: queue, next_waiter; rebuilt: port });

impl InChannel {
    pub(super) fn new(port: u32) -> Self {
        Self { queue: Fifo::default(), next_waiter: NONE, port }
    }
}

/// The receiving side of a port; one line of the cache.
#[repr(align(64))]
pub(super) struct InPort {
    /// Packets on the link to this port, by arrival.
    pub(super) flight: Fifo,
    /// Until when this input of the crossbar is busy.
    pub(super) crossbar_free: u64,
    /// Number of its [`Kind`].
    pub(super) kind: u32,
    /// Sender: a port of the partition, a global port if it is remote, or a NIC of the partition.
    pub(super) peer: u32,
    /// Router (of the partition), and this port among its ports.
    pub(super) router: u32,
    pub(super) place: u16,
    /// Bit vc: packets wait in channel vc.
    pub(super) occupied: u16,
    pub(super) end: End,
    /// The sender, a port of this partition, has deferred its next departures.
    pub(super) deferred: bool,
    /// Partition of the sender.
    pub(super) part: u16,
}

state!(InPort {
    value: flight, crossbar_free, occupied, deferred;
    rebuilt: kind, peer, router, place, end, part
});

impl InPort {
    pub(super) fn new(
        fabric: &Fabric,
        port: u32,
        own: &Range<u32>,
        first_nic: u32,
        division: &Division,
        kind: u32,
    ) -> Self {
        let (peer, end, part) = end(fabric, port, own, first_nic, division);
        let router = fabric.port_router[port as usize];
        Self {
            flight: Fifo::default(),
            crossbar_free: 0,
            occupied: 0,
            kind,
            peer,
            router: router - fabric.port_router[own.start as usize],
            place: (port - fabric.first_port[router as usize]) as u16,
            end,
            deferred: false,
            part,
        }
    }
}

/// A network interface; one line of the cache.
#[repr(align(64))]
pub(super) struct Nic {
    pub(super) link_free: u64,
    /// When the next packet is made and the link free; `u64::MAX` if none is in sight.
    pub(super) next_ready: u64,
    /// When the next packet leaves; `u64::MAX` if that is not known.
    pub(super) leaves: u64,
    /// Credits on their way here, by arrival.
    pub(super) credits: Ring,
    pub(super) credit: u32,
    /// Port of the partition at the other end.
    pub(super) port: u32,
    /// Packets on their way to a node whose endpoint reports_arrivals, by arrival of their last byte.
    pub(super) incoming: Fifo,
    /// Number of the kind of the port at the other end.
    pub(super) kind: u32,
    /// The next packet waits for credit that nobody has sent yet.
    pub(super) stalled: bool,
    /// Whether its endpoint is told of what arrives, and of what left.
    pub(super) reports_arrivals: bool,
    pub(super) reports_departures: bool,
    /// Whether every packet has an event when it leaves.
    pub(super) has_departure_events: bool,
}

const _: () = assert!(size_of::<Nic>() == 64);

state!(Nic {
    value: link_free, next_ready, leaves, credits, credit, incoming, stalled;
    rebuilt: port, kind, reports_arrivals, reports_departures, has_departure_events
});

impl Nic {
    pub(super) fn new(fabric: &Fabric, nic: u32, first_port: u32, kind: u32) -> Self {
        Self {
            link_free: 0,
            credits: Ring::default(),
            credit: fabric.injection_room(),
            stalled: false,
            reports_arrivals: false,
            reports_departures: false,
            has_departure_events: false,
            next_ready: u64::MAX,
            leaves: u64::MAX,
            port: fabric.nic_port[nic as usize] - first_port,
            incoming: Fifo::default(),
            kind,
        }
    }
}
