//! A packet as an algorithm sees it, with the routing state that it carries.

use odonata_units::NodeId;
use serde::{Deserialize, Serialize};
use zerocopy::{Immutable, IntoBytes, TryFromBytes};

/// Routing state of one packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, TryFromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub struct RouteState {
    /// Intermediate group or router, as the algorithm uses it.
    pub via: u32,
    /// Phase of the path, as the algorithm numbers it.
    pub phase: u8,
    /// Router-to-router hops so far.
    pub hops: u8,
    /// Virtual channel on which the packet arrived.
    pub vc: u8,
    /// Kind of the path so far.
    pub path_kind: PathKind,
}

/// The kind of a packet's path: minimal or not, and whether it visited an intermediate group (neither the source's
/// nor the destination's). A minimal path does so if no working cable joins the two groups.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, TryFromBytes, IntoBytes, Immutable)]
#[repr(u8)]
pub enum PathKind {
    /// Minimal, without an intermediate group.
    #[default]
    Minimal,
    /// Minimal, via an intermediate group.
    MinimalViaGroup,
    /// Non-minimal, without an intermediate group.
    NonMinimal,
    /// Non-minimal, via an intermediate group.
    NonMinimalViaGroup,
}

const _: () = assert!(size_of::<RouteState>() == 8);

impl PathKind {
    /// Whether the packet has left the minimal paths.
    #[inline]
    pub fn is_non_minimal(self) -> bool {
        matches!(self, Self::NonMinimal | Self::NonMinimalViaGroup)
    }

    /// Whether the packet has been in an intermediate group.
    #[inline]
    pub fn is_via_intermediate_group(self) -> bool {
        matches!(self, Self::MinimalViaGroup | Self::NonMinimalViaGroup)
    }

    /// Records that the packet leaves the minimal paths.
    #[inline]
    pub fn mark_non_minimal(&mut self) {
        *self = if self.is_via_intermediate_group() { Self::NonMinimalViaGroup } else { Self::NonMinimal };
    }

    /// Records that the packet enters an intermediate group. The engine calls this for every such hop, whatever the
    /// algorithm.
    #[inline]
    pub fn mark_intermediate_group(&mut self) {
        *self = if self.is_non_minimal() { Self::NonMinimalViaGroup } else { Self::MinimalViaGroup };
    }
}

/// A packet as a routing algorithm sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, TryFromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub struct Header {
    /// Source node.
    pub source: NodeId,
    /// Destination node.
    pub destination: NodeId,
    /// State written at earlier routers.
    pub state: RouteState,
}
