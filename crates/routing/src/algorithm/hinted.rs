//! Shared parts of routings whose packets have fixed directions from the source on, as on Blue Gene.
//!
//! The *bubble channel* is number 0. In it, a packet takes the dimensions in a fixed order, and enters a ring only if
//! it leaves room for another packet ([`Rings`]). Each number of parallel cables is a separate ring, and a packet
//! keeps the cable number that it drew. The possible hops depend only on the remaining directions, so they are the
//! same at every router ([`Turns`]).

use super::by_message::Classes;
use super::grid::Grid;
use super::zones::{self, BubbleOrder};
use super::{Decision, Header, Hop, Refusal, Rings, RouteState, Turns};
use crate::hints::{Compass, Directions, Step, MAX_DIMENSIONS};
use crate::next_hop::{NextHops, Port};
use odonata_declare::words;
use odonata_units::RouterId;
use std::sync::Arc;

words! {
    /// Direction of a packet if both directions of a ring are equally long.
    pub enum Ties {
        Parity = "parity": "up from an even coordinate, down from an odd one, as the hardware does",
        Drawn = "drawn": "each packet draws one at the source; a ring of two uses both cables",
    }
}

/// The bubble channel.
pub(super) const BUBBLE: u8 = 0;

/// Flag in `state.via`: the directions in the lower bits are fixed.
const FIXED: u32 = 1 << 31;

/// Most parallel cables that a packet draws from. The phase byte holds the cable number.
const MAX_CABLES: usize = 200;

/// Directions, and hops in the bubble channel.
pub(super) struct HintedRouting {
    pub(super) hops: Arc<NextHops>,
    pub(super) grid: Arc<Grid>,
    pub(super) compass: Compass,
    /// Dimensions in the order of the bubble channel.
    order: Vec<usize>,
    ties: Ties,
    /// Most cables of one step.
    cables: usize,
}

impl HintedRouting {
    pub(super) fn of(hops: Arc<NextHops>, order: BubbleOrder, ties: Ties) -> Result<Self, Refusal> {
        let grid = Grid::with_separate_rings(&hops)?;
        let compass = Compass::of(hops.shape()).ok_or_else(|| {
            let most = MAX_DIMENSIONS;
            Refusal::Machine(format!("it supports at most {most} dimensions; this machine has {}", grid.dimensions()))
        })?;
        let order = zones::ordered_dimensions(order, &grid);
        Ok(Self { cables: grid.most_cables().min(MAX_CABLES), compass, order, ties, grid: Arc::new(grid), hops })
    }

    /// The rings of the bubble channel, if there are any.
    pub(super) fn rings(&self) -> Option<&dyn Rings> {
        self.grid.wraps().then_some(self)
    }

    /// The hops that are possible at any router; `extra` appends those outside the bubble channel.
    pub(super) fn turns(self: &Arc<Self>, extra: impl Fn(Directions, &mut Vec<(Step, u8)>) + 'static) -> Turns {
        let hinted = Arc::clone(self);
        let hops = move |left: Directions, out: &mut Vec<(Step, u8)>| {
            out.push((hinted.step(left), BUBBLE));
            extra(left, out);
        };
        Turns { grid: Arc::clone(&self.grid), hops: Box::new(hops) }
    }

    /// The remaining directions of a packet at the deciding router. At the source they are fixed, and the cable
    /// number is drawn.
    #[inline]
    pub(super) fn remaining_directions(&self, decision: &mut Decision<'_>, packet: &mut Header) -> Directions {
        let (at, to, state) = (decision.router, self.hops.router_of(packet.destination), &mut packet.state);
        let left = if state.via & FIXED == 0 {
            if self.cables > 1 {
                state.phase = 1 + decision.random.index(self.cables) as u8;
            }
            let directions = self.compass.directions(at, to);
            match self.ties {
                Ties::Parity => directions,
                Ties::Drawn => self.draw(decision, directions, to),
            }
        } else {
            self.compass.remaining(at, to, Directions::from_bits(state.via))
        };
        state.via = FIXED | Classes::bits(state.via) | left.bits();
        left
    }

    /// Draws a direction along each dimension in which both are equally long.
    #[cold]
    fn draw(&self, decision: &mut Decision<'_>, directions: Directions, to: RouterId) -> Directions {
        let mut drawn = directions;
        for step in directions.within(self.compass.ties(decision.router, to)) {
            drawn.set(Step { down: decision.random.chance(0.5), ..step });
        }
        drawn
    }

    /// The next step in the bubble channel for these remaining directions.
    #[inline]
    fn step(&self, left: Directions) -> Step {
        self.order.iter().find_map(|&d| left.along(d)).expect("the packet is not at its destination's router")
    }

    /// The next hop in the bubble channel.
    #[inline]
    pub(super) fn bubble_hop(&self, at: RouterId, left: Directions, state: &RouteState) -> Hop {
        let ports = self.grid.ports(at, self.step(left));
        let port = match ports {
            [only] => *only,
            _ => ports[usize::from(state.phase.saturating_sub(1)) % ports.len()],
        };
        Hop { port, vc: BUBBLE }
    }
}

impl Rings for HintedRouting {
    fn channel(&self) -> u8 {
        BUBBLE
    }

    fn next_in_ring(&self, at: RouterId, port: Port) -> Option<Port> {
        self.grid.next_in_ring(at, port)
    }
}
