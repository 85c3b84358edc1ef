//! The input and output of a routing decision, and the reports between routers.

use super::Memory;
use crate::next_hop::Port;
use crate::view::LoadView;
use odonata_units::{NodeId, RouterId, Stream};
use serde::{Deserialize, Serialize};
use zerocopy::{Immutable, IntoBytes, TryFromBytes};

/// A router's report about a packet. The previous router receives it over the reverse link as [`Feedback`] when the
/// packet leaves. The next router receives it with the packet as [`ReceivedReport`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RouterReport {
    /// Estimated remaining time from this router on, in ns.
    pub estimate_ns: f32,
    /// Data of the algorithm for its neighbours, for example one bit per cable.
    pub note: u64,
}

/// The previous router's report about a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReceivedReport {
    /// Port of this router at which the packet arrived.
    pub port: Port,
    /// [`RouterReport::note`].
    pub note: u64,
}

/// The next router's report about a packet, received by the previous router over the reverse link.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, TryFromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub struct Feedback {
    /// Source node of the packet.
    pub source: NodeId,
    /// Destination node of the packet.
    pub destination: NodeId,
    /// Time from the arrival at the previous router to the arrival at the next, in ns.
    pub elapsed_ns: f32,
    /// The next router's estimate of the remaining time, in ns, when it decided.
    pub estimate_ns: f32,
    /// The next router's note.
    pub note: u64,
}

/// The input of a routing decision, and its output besides the hop.
pub struct Decision<'a> {
    /// Deciding router.
    pub router: RouterId,
    /// Time in ps; 0 without a clock, as in the deadlock check.
    pub now_ps: u64,
    /// Load at the router's ports.
    pub load: &'a dyn LoadView,
    /// Random stream of the router.
    pub random: &'a mut Stream,
    /// Estimates and notes of the router, which no other router sees.
    pub memory: &'a mut Memory,
    /// The previous router's report about the packet. `None` for a packet from a node, for a packet without a report,
    /// and if the algorithm needs no reports.
    pub received: Option<ReceivedReport>,
    /// This router's report about the packet, set by an algorithm that needs reports; `None` for no report.
    pub report: Option<RouterReport>,
}

impl<'a> Decision<'a> {
    /// A decision at time 0 about a packet without a report.
    pub fn new(router: RouterId, load: &'a dyn LoadView, random: &'a mut Stream, memory: &'a mut Memory) -> Self {
        Self { router, now_ps: 0, load, random, memory, received: None, report: None }
    }
}

/// The next hop of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hop {
    /// Port of the router that decides.
    pub port: Port,
    /// Virtual channel on the link of that port.
    pub vc: u8,
}

/// A uniformly random port of a list. A list of one needs no draw.
#[inline]
pub(crate) fn any(ports: &[Port], random: &mut Stream) -> Port {
    match ports {
        [only] => *only,
        _ => ports[random.index(ports.len())],
    }
}
