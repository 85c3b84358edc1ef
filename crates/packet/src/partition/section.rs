//! The part of the fabric that a partition advances; immutable.

use crate::control::{MarkThresholds, PathLatencies};
use crate::division::Division;
use crate::fabric::{Fabric, CHANNELS_MAX};
use std::ops::Range;
use std::sync::Arc;

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

impl Kind {
    fn of(fabric: &Fabric, port: u32) -> Self {
        Self {
            latency: fabric.forward_latency(port),
            full_time: fabric.full_time[port as usize],
            incoming_time: fabric.incoming_time(port, fabric.settings.packet.0 as u32),
            crossbar_time: fabric.crossbar_time[fabric.port_router[port as usize] as usize],
            credit_latency: fabric.credit_latency(port),
            injection_latency: fabric.injection_latency(port),
        }
    }
}

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

/// The other end of a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct FarEnd {
    /// Global port if it is remote, port of the partition if it is local, or NIC of the partition.
    pub(super) peer: u32,
    pub(super) end: End,
    /// Its partition.
    pub(super) part: u16,
}

/// Routers, ports and NICs of a partition. All arrays of a partition count from their starts.
pub(crate) struct Section {
    pub(super) fabric: Arc<Fabric>,
    pub(super) latencies: Arc<PathLatencies>,
    /// By global number.
    pub(super) routers: Range<u32>,
    pub(super) ports: Range<u32>,
    pub(super) nics: Range<u32>,
    /// Virtual channels of a port, one class after the other.
    pub(super) channels: usize,
    /// Virtual channels of a class, as the routing algorithm numbers them.
    pub(super) class_channels: u8,
    has_classes: bool,
    /// Number of traffic classes.
    pub(super) classes: usize,
    /// Class of each channel.
    class_of: [u8; CHANNELS_MAX as usize],
    /// Size of a full packet.
    pub(super) full: u32,
    /// Capacity of an output channel.
    pub(super) output_room: u32,
    /// Which departing packets a congestion control marks, by class.
    pub(super) marking: Vec<MarkThresholds>,
    /// Few different kinds exist, so ports share one entry per kind and stay small. Sorted.
    kinds: Vec<Kind>,
}

impl Section {
    /// Creates the section of some routers, with the channels of a class.
    pub(crate) fn new(
        fabric: Arc<Fabric>,
        latencies: Arc<PathLatencies>,
        routers: Range<u32>,
        class_channels: u8,
    ) -> Self {
        let classes = fabric.settings.classes.count();
        let class_of = |vc: usize| (vc / usize::from(class_channels.max(1))).min(classes - 1) as u8;
        let (ports, nics) = (fabric.ports_of(&routers), fabric.nics_of(&routers));
        let mut kinds: Vec<Kind> = ports.clone().map(|port| Kind::of(&fabric, port)).collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds.shrink_to_fit();
        Self {
            channels: usize::from(class_channels) * classes,
            class_channels,
            has_classes: fabric.settings.classes.has_effect(),
            classes,
            class_of: std::array::from_fn(class_of),
            full: fabric.settings.packet.0 as u32,
            output_room: fabric.settings.output_buffer.0 as u32,
            marking: (0..classes).map(|class| fabric.settings.control_of(class).marking()).collect(),
            fabric,
            latencies,
            routers,
            ports,
            nics,
            kinds,
        }
    }

    /// Number of the kind of a global port.
    pub(super) fn kind_of(&self, port: u32) -> u32 {
        self.kinds.binary_search(&Kind::of(&self.fabric, port)).expect("every port has a kind") as u32
    }

    #[inline]
    pub(super) fn kind(&self, number: u32) -> &Kind {
        &self.kinds[number as usize]
    }

    /// The other end of a global port.
    pub(super) fn far_end(&self, port: u32, division: &Division) -> FarEnd {
        let peer = self.fabric.peer[port as usize];
        if self.fabric.is_node_port(port) {
            FarEnd { peer: peer - self.nics.start, end: End::Node, part: 0 }
        } else if self.ports.contains(&peer) {
            FarEnd { peer: peer - self.ports.start, end: End::Local, part: 0 }
        } else {
            let part = division.part_of(self.fabric.port_router[peer as usize]) as u16;
            FarEnd { peer, end: End::Remote, part }
        }
    }

    /// Whether packets differ by their traffic class, or the only one has properties of its own.
    #[inline]
    pub(super) fn has_classes(&self) -> bool {
        self.has_classes
    }

    /// Traffic class of channel `vc`.
    #[inline]
    pub(super) fn class_of(&self, vc: u8) -> usize {
        self.class_of[usize::from(vc)].into()
    }

    /// First channel of a class.
    pub(super) fn first_channel(&self, class: usize) -> u8 {
        class as u8 * self.class_channels
    }

    /// First channel of the class of channel `vc`. Routing algorithms count from it.
    #[inline]
    pub(super) fn first_channel_of(&self, vc: u8) -> u8 {
        if self.has_classes() {
            self.first_channel(self.class_of(vc))
        } else {
            0
        }
    }

    /// Channels of the class of channel `vc`.
    pub(super) fn channels_of(&self, vc: u8) -> Range<u8> {
        let first = self.first_channel_of(vc);
        first..first + self.class_channels
    }

    /// Channels of a class, as a set.
    #[inline]
    pub(super) fn channel_set(&self, class: usize) -> u64 {
        // At most 32 channels: several classes share 64.
        ((1 << self.class_channels) - 1) << self.first_channel(class)
    }

    /// Set of the channels that a routing algorithm numbers `channels`, in all classes.
    pub(super) fn in_all_classes(&self, channels: Range<u8>) -> u64 {
        let first = (0..self.classes).map(|class| self.first_channel(class));
        first.flat_map(|first| channels.clone().map(move |vc| 1 << (first + vc))).sum()
    }

    /// Number of channel `vc` of a port.
    #[inline]
    pub(super) fn channel(&self, port: usize, vc: u8) -> usize {
        port * self.channels + usize::from(vc)
    }

    /// Time of `size` bytes on the link of port `o`, which is of this kind.
    #[inline]
    pub(super) fn link_time(&self, o: usize, kind: &Kind, size: u32) -> u64 {
        if size == self.full {
            kind.full_time
        } else {
            self.fabric.link_time(self.ports.start + o as u32, size)
        }
    }
}
