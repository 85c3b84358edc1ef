//! The VC order of a machine and the VC offsets of its legs; [`super::vc_order`] computes the offsets.

/// No path, or not computed yet.
pub(super) const UNKNOWN: u8 = u8::MAX;

/// When the VC number increases within a leg.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum VcOrder {
    /// Never: one channel per leg.
    #[default]
    PerLeg,
    /// With every group that is entered before the last one.
    PerGroup,
    /// With every such group, and with every turn from a link down to a link up.
    PerTurn,
}

/// VC offsets of one kind of leg.
#[derive(Clone, Debug, Default)]
pub(super) struct Offsets {
    /// Offset from the lowest channel of the leg, by router and goal; empty if all are 0.
    offsets: Vec<u8>,
    pub(super) most: u8,
}

impl Offsets {
    /// Converts remaining increments to offsets.
    pub(super) fn from_increments(mut increments: Vec<u8>) -> Self {
        let most = increments.iter().copied().filter(|&steps| steps != UNKNOWN).max().unwrap_or(0);
        if most == 0 {
            return Self::default();
        }
        increments.iter_mut().for_each(|steps| *steps = most.saturating_sub(*steps));
        Self { offsets: increments, most }
    }

    #[inline]
    pub(super) fn get(&self, i: impl Fn() -> usize) -> u8 {
        if self.most == 0 {
            0
        } else {
            self.offsets[i()]
        }
    }
}

/// The VC offsets of all legs.
#[derive(Clone, Debug, Default)]
pub(super) struct VcOffsets {
    pub(super) order: VcOrder,
    pub(super) to_group: Offsets,
    pub(super) inside: Offsets,
}
