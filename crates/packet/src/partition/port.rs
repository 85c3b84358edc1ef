//! State of ports, channels and NICs.
//!
//! ```text
//! States of an output port:
//!
//!                  ┌──────┐
//!                  │ idle │ ◄────────────┐
//!                  └──────┘              │ queue empty
//!                      │ packet enters   │
//!                      ▼                 │
//!             ┌────────────────┐ ────────┘
//! ┌─────────► │ link is free:  │ ── credit, ready ──► ┌─────────────────┐
//! │           │ next packet?   │                      │ busy (DEFERRED) │
//! │           └────────────────┘ ◄── end of packet ── └─────────────────┘
//! │     no credit │    │ credit, not `ready`
//! │               ▼    ▼
//! │      ┌─────────┐  ┌─────────┐
//! │      │ STALLED │  │ UNREADY │
//! │      └─────────┘  └─────────┘
//! │            │           │
//! └────────────┴───────────┘ credit arrives, or `ready` is reached
//! ```
//! In every state, heads of input channels may wait for the crossbar (`first_waiter`). They need a free crossbar
//! output, a free input and space in the output buffer. The end of a transfer or a departure serves them.
//!
//! A busy port with packets is DEFERRED if no head waits for it: its departures need no events (`Partition::defer`).

use crate::credit::Ring;
use crate::division::Division;
use crate::fabric::Fabric;
use crate::packet::{Fifo, Packet, NONE};
use odonata_checkpoint::state;
use odonata_routing::algorithm::Routing;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Properties shared by many ports. Few kinds of ports differ in them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Kind {
    /// Time from the start of sending to the arrival at the next input queue or node.
    pub(super) latency: u64,
    /// Time of a full packet on the link, on the incoming link, and in the crossbar.
    pub(super) full_time: u64,
    pub(super) incoming_time: u64,
    pub(super) crossbar_time: u64,
    /// Latency of a returning credit.
    pub(super) credit_latency: u64,
    /// Time from the start of sending at a node's NIC to the arrival at the input queue here.
    pub(super) injection_latency: u64,
}

/// Kinds of the ports `own`, and the kind of each port.
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
    // Sorted, so that every port finds its kind by binary search.
    kinds.sort_unstable();
    kinds.dedup();
    kinds.shrink_to_fit();
    let which = own.clone().map(|port| kinds.binary_search(&kind(port)).expect("every port has a kind") as u32);
    let which = which.collect();
    (kinds, which)
}

/// For each of the ports `own`: the output (in the partition) that continues the ring of its incoming link, and
/// whether the port sends in a ring. Both are empty without rings.
pub(super) fn rings(fabric: &Fabric, routing: &dyn Routing, own: &Range<u32>) -> (Vec<u32>, Vec<bool>) {
    let Some(rings) = routing.rings() else { return (Vec::new(), Vec::new()) };
    // The port that continues the ring at the far end of a port's link, in the numbering of that router.
    let next_in_ring = |port: u32| {
        let router = fabric.port_router[port as usize];
        let number = (port - fabric.link_ports_from(router)) as u16;
        rings.next_in_ring(fabric.line[router as usize], number)
    };
    let links = |port: &u32| !fabric.is_node_port(*port);
    let stays = own.clone().map(|port| {
        let next = links(&port).then(|| next_in_ring(fabric.peer[port as usize])).flatten();
        // Routing numbers links only, the partition numbers all ports.
        let from = fabric.link_ports_from(fabric.port_router[port as usize]) - own.start;
        next.map_or(NONE, |next| from + u32::from(next))
    });
    let in_ring = own.clone().map(|port| links(&port) && next_in_ring(port).is_some());
    (stays.collect(), in_ring.collect())
}

/// Sending side of a port; one cache line.
#[repr(align(64))]
pub(super) struct OutPort {
    /// The link is busy until then.
    pub(super) link_free: u64,
    /// This output of the crossbar is busy until then.
    pub(super) crossbar_free: u64,
    /// Credits in flight to this port, by arrival.
    pub(super) credits: Ring,
    /// Number of its [`Kind`].
    pub(super) kind: u32,
    /// Other end: global port, port of the partition, or NIC of the partition.
    pub(super) peer: u32,
    /// First of the input channels that wait for this output.
    pub(super) first_waiter: u32,
    /// Bytes in the output buffer, all channels.
    pub(super) queued_bytes: u32,
    /// Bytes of credit in use, all channels.
    pub(super) downstream_bytes: u32,
    /// Bit vc: channel vc holds packets.
    pub(super) occupied: u16,
    /// Partition at the other end.
    pub(super) part: u16,
    /// Channel after the last one that the link served.
    pub(super) next_vc: u8,
    /// Last channel that the crossbar served.
    pub(super) crossed_vc: u8,
    pub(super) end: End,
    /// `STALLED`, `UNREADY`, `DEFERRED`, `INTER_GROUP`.
    flags: u8,
}

/// The link is free, and no packet has a credit.
pub(super) const STALLED: u8 = 1;
/// The link is free, and packets with credit wait until `ready`. A credit may let another packet go first.
pub(super) const UNREADY: u8 = 4;
/// Packets depart without events, the first when the link is free: see `Partition::catch_up`.
pub(super) const DEFERRED: u8 = 2;
/// The port leads to another group. Constant.
pub(super) const INTER_GROUP: u8 = 8;

/// Kind of the other end of a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum End {
    /// A router of this partition.
    Local,
    /// A router of another partition.
    Remote,
    /// A node, which accepts everything.
    Node,
}

const _: () = assert!(size_of::<OutPort>() == 64);

/// A packet that has just departed, with all that its port knows about it. Saves looking it up again.
#[derive(Clone, Copy)]
pub(super) struct Trip {
    pub(super) now: u64,
    /// Time for which the link is busy.
    pub(super) busy: u64,
    /// Arrival of its head here, and at the other end.
    pub(super) before: u64,
    pub(super) arrives: u64,
    pub(super) peer: u32,
    pub(super) part: u16,
    pub(super) end: End,
    pub(super) vc: u8,
    /// It leaves its group.
    pub(super) inter_group: bool,
}

/// The other end of a port: its number for this partition, its kind, its partition.
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

    /// Starts sending a packet with credit at `now`. The link is busy for `busy`, and the other end is `latency`
    /// away.
    #[inline(always)]
    pub(super) fn start(
        &mut self,
        packet: &mut Packet,
        channel: &mut OutChannel,
        room: u32,
        (now, busy, latency): (u64, u64, u64),
    ) -> Trip {
        let (vc, before, arrives) = (packet.out_vc(), packet.arrived, now + latency);
        // Round-robin over the channels.
        self.next_vc = vc + 1;
        self.link_free = now + busy;
        // A node needs no credits: it accepts everything.
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
    /// Free space in the next input buffer, as far as known.
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
    /// Next input channel that waits for the same output.
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

/// Receiving side of a port; one cache line.
#[repr(align(64))]
pub(super) struct InPort {
    /// Packets on the link to this port, by arrival.
    pub(super) flight: Fifo,
    /// This input of the crossbar is busy until then.
    pub(super) crossbar_free: u64,
    /// Number of its [`Kind`].
    pub(super) kind: u32,
    /// Sender: port of the partition, global port if it is remote, or NIC of the partition.
    pub(super) peer: u32,
    /// Router (of the partition), and position of this port among its ports.
    pub(super) router: u32,
    pub(super) place: u16,
    /// Bit vc: packets wait in channel vc.
    pub(super) occupied: u16,
    pub(super) end: End,
    /// The sender, a port of this partition, has deferred departures.
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

/// A NIC; one cache line.
#[repr(align(64))]
pub(super) struct Nic {
    pub(super) link_free: u64,
    /// Time at which the next packet exists and the link is free; `u64::MAX` if no packet is known.
    pub(super) next_ready: u64,
    /// Injection time of the next packet; `u64::MAX` if it is not known.
    pub(super) leaves: u64,
    /// Credits in flight to this NIC, by arrival.
    pub(super) credits: Ring,
    pub(super) credit: u32,
    /// Port of the partition at the other end.
    pub(super) port: u32,
    /// Packets in flight to a node with a subscription, by arrival of their last byte.
    pub(super) incoming: Fifo,
    /// Number of the [`Kind`] of the port at the other end.
    pub(super) kind: u32,
    /// The next packet waits for a credit that is not sent yet.
    pub(super) stalled: bool,
    /// Whether its endpoint is notified of arrivals, and of departures.
    pub(super) reports_arrivals: bool,
    pub(super) reports_departures: bool,
    /// Whether every injection has an event.
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
