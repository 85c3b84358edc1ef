//! How an algorithm orders its virtual channels, as the deadlock check reads it.

use super::decision::Hop;
use super::grid::Grid;
use crate::hints::{Directions, Step};
use odonata_units::RouterId;
use std::sync::Arc;

/// How an algorithm orders its virtual channels.
pub enum Discipline {
    /// The VC number increases with every hop, or with every turn from a link down (to a lower router number) to a
    /// link up. No cycle is possible.
    Increasing,
    /// A packet follows legs, each with a goal and virtual channels. It starts with a leg that `is_first` and
    /// continues along the `next` lists.
    Legs(Vec<Leg>),
    /// The relation lists every possible hop; the channel dependency graph is built from it.
    Relation(Arc<dyn Relation>),
    /// The hops are the same at every router of a torus or mesh. Rings use one channel with bubbles.
    Bubble(Turns),
}

/// All hops of an algorithm on a torus or mesh, if they depend only on a packet's remaining directions.
pub struct Turns {
    pub(crate) grid: Arc<Grid>,
    /// Every possible hop; there is at least one.
    pub hops: Box<TurnHops>,
}

/// Appends possible hops (step and channel) of a packet with these remaining directions.
pub type TurnHops = dyn Fn(Directions, &mut Vec<(Step, u8)>);

/// All hops of an algorithm, if they depend only on the router, the destination's router and a phase.
pub trait Relation: Send + Sync {
    /// Number of phases; packets start in phase 0.
    fn phases(&self) -> u8;

    /// Appends every possible hop at router `at` of a packet for router `to`, with its phase after the hop.
    fn hops(&self, at: RouterId, to: RouterId, phase: u8, out: &mut Vec<(Hop, u8)>);
}

/// One leg of a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Leg {
    /// End of the leg.
    pub goal: Goal,
    /// Lowest virtual channel of the leg. On a leg to a group or router, [`NextHops::vc_offset_to_group`](crate::next_hop::NextHops::vc_offset_to_group) or
    /// [`NextHops::local_vc_offset`](crate::next_hop::NextHops::local_vc_offset) is added.
    pub vc: u8,
    /// Whether a path may start with this leg.
    pub is_first: bool,
    /// Legs that may follow.
    pub next: Vec<usize>,
}

/// The end of a leg.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Goal {
    /// Any router of another group, on minimal paths.
    Group,
    /// Another router of the same group, on minimal paths.
    Router,
    /// One hop towards a group; then the packet decides again.
    HopTowardsGroup,
    /// One hop to a router of another group.
    OtherGroup,
}
