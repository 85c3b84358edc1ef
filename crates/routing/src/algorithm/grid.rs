//! The grid of a torus or mesh: positions of routers, and the ports of every step.

use super::Refusal;
pub(super) use crate::lattice::Step;
use crate::lattice::{Lattice, Span};
use crate::next_hop::{NextHops, Port};
use odonata_units::RouterId;

/// Coordinates, and the ports of every step from every router.
pub(crate) struct Grid {
    lattice: Lattice,
    /// Ports of every step, at [`Lattice::place`].
    ports: Vec<Vec<Port>>,
}

impl Grid {
    /// The grid of a torus or mesh; an error if a step has no cable.
    pub(super) fn of(hops: &NextHops) -> Result<Self, Refusal> {
        let other = || Refusal::Machine("it needs a torus or a mesh; use 'min' or 'up-down'".into());
        let lattice = Lattice::of(hops.shape()).ok_or_else(other)?;
        let mut all = Vec::new();
        for r in (0..hops.routers()).map(RouterId) {
            for step in lattice.steps() {
                let next = lattice.neighbour(r, step);
                let ports: Vec<Port> = hops.ports(r).filter(|&port| Some(hops.neighbour(r, port)) == next).collect();
                if let (true, Some(next)) = (ports.is_empty(), next) {
                    return Err(Refusal::Machine(format!(
                        "no cable from router {} to its neighbour {} works, and dimension order can't avoid it; use \
                         'up-down' or 'min'",
                        hops.router_name(r),
                        hops.router_name(next)
                    )));
                }
                all.push(ports);
            }
        }
        Ok(Self { lattice, ports: all })
    }

    /// Like [`Grid::of`], with separate cables for the steps up and down in a ring of two. All steps along a
    /// dimension have the same number of cables, so that a ring at one router is a ring everywhere.
    ///
    /// In a ring of two, the cables up from router 0 come before the cables up from router 1, at both routers.
    pub(super) fn with_separate_rings(hops: &NextHops) -> Result<Self, Refusal> {
        let mut grid = Self::of(hops)?;
        let routers: Vec<RouterId> = (0..hops.routers()).map(RouterId).collect();
        for dimension in (0..grid.lattice.dims.len()).filter(|&d| grid.lattice.wrap[d] && grid.lattice.dims[d] == 2) {
            for &router in &routers {
                let both = grid.ports(router, Step { dimension, down: false }).to_vec();
                // If one of an even number of cables failed, the central one serves both directions.
                let (first, second) = (&both[..both.len().div_ceil(2)], &both[both.len() / 2..]);
                let (up, down) =
                    if grid.lattice.coordinate(router, dimension) == 0 { (first, second) } else { (second, first) };
                let place = grid.lattice.place(router, Step { dimension, down: false });
                (grid.ports[place], grid.ports[place + 1]) = (up.to_vec(), down.to_vec());
            }
        }
        for dimension in (0..grid.lattice.dims.len()).filter(|&d| grid.is_ring(d)) {
            let steps = [false, true].map(|down| Step { dimension, down });
            let cables = |router: RouterId| steps.map(|step| grid.ports(router, step).len());
            if let Some(&other) = routers.iter().find(|&&router| cables(router) != cables(routers[0])) {
                return Err(Refusal::Machine(format!(
                    "router {} has a different number of cables along dimension {dimension} than router {}, but each \
                     parallel cable must form a ring; repair the cables, or use 'up-down' or 'min'",
                    hops.router_name(other),
                    hops.router_name(routers[0])
                )));
            }
        }
        Ok(grid)
    }

    /// Sizes of the dimensions.
    pub(crate) fn dims(&self) -> &[u32] {
        &self.lattice.dims
    }

    /// Whether dimension `d` wraps around.
    pub(super) fn wraps_along(&self, d: usize) -> bool {
        self.lattice.wrap[d]
    }

    pub(crate) fn dimensions(&self) -> usize {
        self.lattice.dims.len()
    }

    /// Whether any dimension is a ring in which packets continue.
    pub(super) fn wraps(&self) -> bool {
        (0..self.lattice.dims.len()).any(|d| self.is_ring(d))
    }

    /// Whether a dimension is a ring in which packets continue; a ring of two is not.
    pub(crate) fn is_ring(&self, d: usize) -> bool {
        self.lattice.wrap[d] && self.lattice.dims[d] > 2
    }

    /// Most cables of one step.
    pub(super) fn most_cables(&self) -> usize {
        self.ports.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// The port that continues the ring of `port` at router `at`: the same step by the cable with the same number.
    pub(super) fn next_in_ring(&self, at: RouterId, port: Port) -> Option<Port> {
        self.lattice.steps().filter(|step| self.is_ring(step.dimension)).find_map(|step| {
            let cable = self.ports(at, step).iter().position(|&own| own == port)?;
            let next = self.lattice.neighbour(at, step)?;
            self.ports(next, step).get(cable).copied()
        })
    }

    /// The ports of a step.
    #[inline]
    pub(crate) fn ports(&self, router: RouterId, step: Step) -> &[Port] {
        &self.ports[self.lattice.place(router, step)]
    }

    /// Whether a step up and a step down lead nearer to `to` along dimension `d`. Both do if the ring is equally long
    /// in both directions.
    #[inline]
    pub(super) fn directions(&self, at: RouterId, to: RouterId, d: usize) -> (bool, bool) {
        let Span { steps, down, tie } = self.lattice.span(at, to, d);
        // In a ring of two both directions are the same cables.
        (steps > 0 && !down, steps > 0 && (down || tie && steps > 1))
    }

    /// Whether the remaining path along the step's dimension, in its direction, crosses from the last coordinate to
    /// the first or back.
    #[inline]
    pub(super) fn will_wrap(&self, at: RouterId, to: RouterId, step: Step) -> bool {
        let (x, y) = (self.lattice.coordinate(at, step.dimension), self.lattice.coordinate(to, step.dimension));
        if step.down {
            y > x
        } else {
            y < x
        }
    }
}
