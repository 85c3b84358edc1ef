//! State of the sending sides of ports.
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

use super::section::{End, FarEnd, Section};
use crate::control::ControlName;
use crate::credit::{Credit, Credits, Ring};
use crate::division::Division;
use crate::packet::{Fifo, Packet, NONE};
use crate::settings::QueueEstimate;
use odonata_checkpoint::{state, Snapshot};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::ops::Range;

/// Sending sides of the ports of a partition.
pub(super) struct Outputs {
    pub(super) ports: Vec<OutPort>,
    /// Credits in flight to the ports and NICs.
    pub(super) credits: Credits,
}

state!(Outputs { nested: ports, credits });

impl Outputs {
    pub(super) fn new(section: &Section, division: &Division) -> Self {
        let port = |port| OutPort::new(section, port, division);
        Self { ports: section.ports.clone().map(port).collect(), credits: Credits::default() }
    }

    /// The first credit in flight to port `o`.
    #[inline]
    pub(super) fn first_credit(&self, o: usize) -> Option<Credit> {
        self.credits.front(self.ports[o].credits)
    }
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
    /// Number of its [`Kind`](super::section::Kind).
    pub(super) kind: u32,
    /// Other end, as in [`FarEnd`].
    pub(super) peer: u32,
    /// First of the input channels that wait for this output.
    pub(super) first_waiter: u32,
    /// Bytes in the output buffer, all channels.
    pub(super) queued_bytes: u32,
    /// Bytes of credit in use, all channels.
    pub(super) downstream_bytes: u32,
    /// Bit vc: channel vc holds packets.
    pub(super) occupied: u64,
    pub(super) part: u16,
    /// Channel after the last one that the link served.
    pub(super) next_vc: u8,
    /// Last channel that the crossbar served.
    pub(super) crossed_vc: u8,
    pub(super) end: End,
    /// `STALLED`, `UNREADY`, `DEFERRED`, and the constant ones.
    pub(super) flags: u8,
}

/// The link is free, and no packet has a credit.
pub(super) const STALLED: u8 = 1;
/// The link is free, and packets with credit wait until `ready`. A credit may let another packet go first.
pub(super) const UNREADY: u8 = 4;
/// Packets depart without events, the first when the link is free: see `Partition::catch_up`.
pub(super) const DEFERRED: u8 = 2;
/// The port leads to another group. Constant.
const INTER_GROUP: u8 = 8;
/// A congestion control marks departing packets. Constant.
pub(super) const MARKS: u8 = 16;
/// The port leads to a node, and a congestion control sends notices when packets depart. Constant.
pub(super) const NOTIFIES: u8 = 32;

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

state!(OutPort {
    value: link_free, crossbar_free, credits, first_waiter, queued_bytes, downstream_bytes, occupied, next_vc, crossed_vc, flags;
    rebuilt: kind, peer, part, end
});

impl OutPort {
    fn new(section: &Section, port: u32, division: &Division) -> Self {
        let FarEnd { peer, end, part } = section.far_end(port, division);
        let fabric = &section.fabric;
        let mut controls = (0..section.classes).map(|class| fabric.settings.control_of(class));
        let flag = |flag: u8, is_set: bool| if is_set { flag } else { 0 };
        Self {
            kind: section.kind_of(port),
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
            flags: flag(INTER_GROUP, fabric.is_between_groups(port))
                | flag(MARKS, controls.any(|control| control.name == ControlName::Window))
                | flag(NOTIFIES, fabric.settings.has_control() && end == End::Node),
        }
    }

    pub(super) fn far_end(&self) -> FarEnd {
        FarEnd { peer: self.peer, end: self.end, part: self.part }
    }

    /// Starts sending a packet with credit at `now`. The link is busy for `busy`, and the other end is `latency`
    /// away.
    #[inline(always)]
    pub(super) fn start(
        &mut self,
        packet: &mut Packet,
        channel: &mut OutChannel,
        room: u32,
        now: u64,
        busy: u64,
        latency: u64,
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

/// Output queues of the ports of a partition.
pub(super) struct OutputQueues {
    /// Start of the stall of each port that is `STALLED`.
    pub(super) stalled_since: Vec<u64>,
    /// By [`Section::channel`].
    pub(super) channels: Vec<OutChannel>,
}

state!(OutputQueues { same_length: stalled_since, channels });

impl OutputQueues {
    pub(super) fn new(section: &Section) -> Self {
        let (ports, room) = (section.ports.len(), section.fabric.settings.input_buffer.0 as u32);
        let channel = |_| OutChannel { queue: Fifo::default(), bytes: 0, credit: room };
        Self { stalled_since: vec![0; ports], channels: (0..ports * section.channels).map(channel).collect() }
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

/// Packets on the link of each port, by arrival; empty unless the queue estimate excludes them.
pub(super) struct OnLink {
    by_port: Vec<VecDeque<Credit>>,
}

state!(OnLink { same_length: by_port });

impl OnLink {
    pub(super) fn new(section: &Section) -> Self {
        let counts = section.fabric.settings.estimate == QueueEstimate::DownstreamArrived;
        Self { by_port: vec![VecDeque::new(); if counts { section.ports.len() } else { 0 }] }
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.by_port.is_empty()
    }

    /// Stores what departs from port `o` at `now`.
    #[cold]
    pub(super) fn add(&mut self, o: usize, packet: Credit, now: u64) {
        let sent = &mut self.by_port[o];
        // Entries that have arrived no longer count as on the link.
        while sent.front().is_some_and(|s| s.at <= now) {
            sent.pop_front();
        }
        sent.push_back(packet);
    }

    /// Adds the packets that are on links to a snapshot.
    pub(super) fn snapshot(&self, now: u64, into: &mut Snapshot) {
        let Self { by_port } = self;
        for (o, packet) in by_port.iter().enumerate().flat_map(|(o, sent)| sent.iter().map(move |packet| (o, packet))) {
            if packet.at > now {
                into.put(&(o, packet.bytes, packet.vc));
                into.time(packet.at);
            }
        }
    }

    /// Bytes on the link of port `o` at `now` in some channels.
    pub(super) fn bytes(&self, o: usize, channels: &Range<u8>, now: u64) -> u64 {
        let still = self.by_port[o].iter().rev().take_while(|s| s.at > now);
        still.filter(|s| channels.contains(&s.vc)).map(|s| u64::from(s.bytes)).sum()
    }
}
