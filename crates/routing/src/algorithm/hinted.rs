//! Ways of packets that carry their directions from where they set out, as on Blue Gene: what routings of them share.
//!
//! The *bubble channel* is number 0. In it a packet goes along one dimension after the other, in a fixed order, and enters a ring only
//! where it leaves room for another ([`Rings`]). Of parallel cables each number is a ring of its own, and a packet keeps to the number that it
//! drew. What a packet may do depends on the directions that it has left and on nothing else, so it is the same at every router
//! ([`Turns`]).

use super::by_message::Classes;
use super::grid::Grid;
use super::zones::{self, BubbleOrder};
use super::{Decision, Header, Hop, RouteState, RoutingError};
use crate::algorithm::{Rings, Turns};
use crate::hints::{Compass, Directions, Step, MAX_DIMENSIONS};
use crate::next_hop::{NextHops, Port};
use odonata_declare::words;
use odonata_units::RouterId;
use std::sync::Arc;

words! {
    /// Which way a packet goes where both ways round a ring are equally long.
    #[derive(Default)]
    pub enum Ties {
        #[default]
        Parity = "parity": "up from an even coordinate, down from an odd one, as the hardware does",
        Drawn = "drawn": "each packet draws one where it sets out: in a ring of two both cables are used",
    }
}

/// The bubble channel.
pub(super) const BUBBLE: u8 = 0;

/// In state.via: the directions below it are fixed.
const FIXED: u32 = 1 << 31;

/// Parallel cables among which a packet draws one to keep to.
const MAX_CABLES: usize = 200;

/// Directions, and the way in the bubble channel.
pub(super) struct HintedRouting {
    pub(super) hops: Arc<NextHops>,
    pub(super) grid: Grid,
    pub(super) compass: Compass,
    /// Dimensions in the order in which the bubble channel takes them.
    order: Vec<usize>,
    ties: Ties,
    /// Most cables of one step.
    cables: usize,
}

impl HintedRouting {
    pub(super) fn of(
        algorithm: &str,
        hops: Arc<NextHops>,
        (order, ties): (BubbleOrder, Ties),
    ) -> Result<Self, RoutingError> {
        let grid = Grid::with_separate_rings(algorithm, &hops)?;
        let compass = Compass::of(hops.shape()).ok_or_else(|| RoutingError::Machine {
            algorithm: algorithm.to_owned(),
            reason: format!("it takes at most {MAX_DIMENSIONS} dimensions; this machine has {}", grid.dimensions()),
        })?;
        let order = zones::ordered_dimensions(order, &grid);
        Ok(Self { cables: grid.most_cables().min(MAX_CABLES), compass, order, ties, grid, hops })
    }

    /// The rings of the bubble channel, if there are any.
    pub(super) fn rings(&self) -> Option<&dyn Rings> {
        self.grid.wraps().then_some(self)
    }

    /// The directions that a packet has left at the router that decides; where it sets out they are fixed, and its cable is drawn.
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

    /// Draws a direction along each dimension where both are equally long.
    #[cold]
    fn draw(&self, decision: &mut Decision<'_>, directions: Directions, to: RouterId) -> Directions {
        let mut drawn = directions;
        for step in directions.within(self.compass.ties(decision.router, to)) {
            drawn.set(Step { down: decision.random.chance(0.5), ..step });
        }
        drawn
    }

    /// The next step in the bubble channel of a packet with these directions left.
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

/// Appends hops of a packet with these directions left.
pub(super) type ExtraHops = Box<dyn Fn(Directions, &mut Vec<(Step, u8)>)>;

/// What packets may do, at any router.
pub(super) struct UniformTurns {
    pub(super) hinted: Arc<HintedRouting>,
    /// What they may do beside the bubble channel.
    pub(super) extra_hops: ExtraHops,
}

impl Turns for UniformTurns {
    fn dimensions(&self) -> usize {
        self.hinted.grid.dimensions()
    }

    fn is_ring(&self, dimension: usize) -> bool {
        self.hinted.grid.is_ring(dimension)
    }

    fn has_steps(&self, dimension: usize) -> bool {
        self.hinted.grid.dims()[dimension] > 1
    }

    fn ports(&self, at: RouterId, step: Step) -> &[Port] {
        self.hinted.grid.ports(at, step)
    }

    fn hops(&self, left: Directions, out: &mut Vec<(Step, u8)>) {
        out.push((self.hinted.step(left), BUBBLE));
        (self.extra_hops)(left, out);
    }
}
