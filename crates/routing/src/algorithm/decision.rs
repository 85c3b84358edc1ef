//! What an algorithm sees when it decides, what it may keep, and what routers tell each other about packets.

use super::Memory;
use crate::next_hop::Port;
use crate::view::LoadView;
use odonata_units::{NodeId, RouterId, Stream};
use serde::{Deserialize, Serialize};
use zerocopy::{Immutable, IntoBytes, TryFromBytes};

/// What a router says about a packet, beside where it goes: to the router before, over the reverse link, when the packet
/// leaves it, as [`Feedback`]; and to the next router, with the packet, as [`ReceivedReport`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RouterReport {
    /// What it expects from here on, in ns.
    pub estimate_ns: f32,
    /// Whatever the algorithm wants neighbours to know; a bit for each of its cables, say.
    pub note: u64,
}

/// What the router before remarked about a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReceivedReport {
    /// Port of this router by which the packet came.
    pub port: Port,
    /// [`RouterReport::note`].
    pub note: u64,
}

/// What the next router tells the previous one about a packet, over the reverse link.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, TryFromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub struct Feedback {
    /// Source node of the packet.
    pub source: NodeId,
    /// Destination node of the packet.
    pub destination: NodeId,
    /// Time from the arrival at the previous router to the arrival at the next, in ns.
    pub elapsed_ns: f32,
    /// What the next router expected from there on, in ns, when it decided.
    pub estimate_ns: f32,
    /// What it noted beside that.
    pub note: u64,
}

/// Everything an algorithm sees when it decides, and what it may say and keep.
pub struct Decision<'a> {
    /// The router that decides.
    pub router: RouterId,
    /// The time, in ps; 0 where there is none, as in the check for deadlocks.
    pub now_ps: u64,
    /// Load at its ports.
    pub load: &'a dyn LoadView,
    /// Its random stream.
    pub random: &'a mut Stream,
    /// What it has learnt and noted: its history, which no other router sees.
    pub memory: &'a mut Memory,
    /// What the router before remarked about the packet: its load, piggybacked. `None` for a packet from a node, for one
    /// without a report, and where [`Routing::has_feedback`](super::Routing::has_feedback) says that there are none.
    pub received: Option<ReceivedReport>,
    /// Set by an algorithm that learns: what this router remarks about the packet. `None` says nothing.
    pub report: Option<RouterReport>,
}

impl<'a> Decision<'a> {
    /// At the beginning of time, about a packet of which nothing was received.
    pub fn new(router: RouterId, load: &'a dyn LoadView, random: &'a mut Stream, memory: &'a mut Memory) -> Self {
        Self { router, now_ps: 0, load, random, memory, received: None, report: None }
    }
}
