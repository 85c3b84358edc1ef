//! The grid of a torus or mesh: positions of routers, and the ports of every step.

use super::Refusal;
pub(super) use crate::hints::Step;
use crate::next_hop::{NextHops, Port};
use odonata_machine::Shape;
use odonata_units::RouterId;

/// Coordinates, and the ports of every step from every router.
pub(super) struct Grid {
    dims: Vec<u32>,
    wrap: Vec<bool>,
    /// Distance in router index of one step along each dimension.
    stride: Vec<u32>,
    /// Ports of the step along dimension d of router r, up (0) or down (1), at `(r * dims + d) * 2 + direction`.
    ports: Vec<Vec<Port>>,
}

impl Grid {
    /// The grid of a torus or mesh; an error if a step has no cable.
    pub(super) fn of(hops: &NextHops) -> Result<Self, Refusal> {
        let Shape::Torus { dims, wrap } = hops.shape() else {
            return Err(Refusal::Machine("it needs a torus or a mesh; use 'min' or 'up-down'".into()));
        };
        let mut stride = vec![1u32; dims.len()];
        for d in (0..dims.len().saturating_sub(1)).rev() {
            stride[d] = stride[d + 1] * dims[d + 1];
        }
        let mut grid = Self { dims: dims.clone(), wrap: wrap.clone(), stride, ports: Vec::new() };
        for r in (0..hops.routers()).map(RouterId) {
            for dimension in 0..dims.len() {
                for down in [false, true] {
                    let next = grid.neighbour(r, Step { dimension, down });
                    let ports: Vec<Port> =
                        hops.ports(r).filter(|&port| Some(hops.neighbour(r, port)) == next).collect();
                    if let (true, Some(next)) = (ports.is_empty(), next) {
                        return Err(Refusal::Machine(format!(
                            "no cable from router {} to its neighbour {} works, and dimension order can't avoid it; \
                             use 'up-down' or 'min'",
                            hops.router_name(r),
                            hops.router_name(next)
                        )));
                    }
                    grid.ports.push(ports);
                }
            }
        }
        Ok(grid)
    }

    /// Like [`Grid::of`], with separate cables for the steps up and down in a ring of two. All steps along a
    /// dimension have the same number of cables, so that a ring at one router is a ring everywhere.
    ///
    /// In a ring of two, the cables up from router 0 come before the cables up from router 1, at both routers.
    pub(super) fn with_separate_rings(hops: &NextHops) -> Result<Self, Refusal> {
        let mut grid = Self::of(hops)?;
        let routers: Vec<RouterId> = (0..hops.routers()).map(RouterId).collect();
        for dimension in (0..grid.dims.len()).filter(|&d| grid.wrap[d] && grid.dims[d] == 2) {
            for &router in &routers {
                let both = grid.ports(router, Step { dimension, down: false }).to_vec();
                // If one of an even number of cables failed, the central one serves both directions.
                let (first, second) = (&both[..both.len().div_ceil(2)], &both[both.len() / 2..]);
                let (up, down) =
                    if grid.coordinate(router, dimension) == 0 { (first, second) } else { (second, first) };
                let place = grid.place(router, Step { dimension, down: false });
                (grid.ports[place], grid.ports[place + 1]) = (up.to_vec(), down.to_vec());
            }
        }
        for dimension in (0..grid.dims.len()).filter(|&d| grid.is_ring(d)) {
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
    pub(super) fn dims(&self) -> &[u32] {
        &self.dims
    }

    /// Whether dimension `d` wraps around.
    pub(super) fn wraps_along(&self, d: usize) -> bool {
        self.wrap[d]
    }

    fn coordinate(&self, router: RouterId, d: usize) -> u32 {
        router.0 / self.stride[d] % self.dims[d]
    }

    /// The router one step away, or `None` at the edge of a mesh or in a dimension of size 1.
    fn neighbour(&self, router: RouterId, step: Step) -> Option<RouterId> {
        let d = step.dimension;
        let (x, n) = (self.coordinate(router, d), self.dims[d]);
        let edge = if step.down { x == 0 } else { x + 1 == n };
        if n == 1 || (edge && !self.wrap[d]) {
            return None;
        }
        let next = if step.down { (x + n - 1) % n } else { (x + 1) % n };
        Some(RouterId(router.0 - x * self.stride[d] + next * self.stride[d]))
    }

    pub(super) fn dimensions(&self) -> usize {
        self.dims.len()
    }

    /// Whether any dimension is a ring in which packets continue.
    pub(super) fn wraps(&self) -> bool {
        (0..self.dims.len()).any(|d| self.is_ring(d))
    }

    /// Whether a dimension is a ring in which packets continue; a ring of two is not.
    pub(super) fn is_ring(&self, d: usize) -> bool {
        self.wrap[d] && self.dims[d] > 2
    }

    /// Most cables of one step.
    pub(super) fn most_cables(&self) -> usize {
        self.ports.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// The port that continues the ring of `port` at router `at`: the same step by the cable with the same number.
    pub(super) fn next_in_ring(&self, at: RouterId, port: Port) -> Option<Port> {
        let rings = (0..self.dims.len()).filter(|&d| self.is_ring(d));
        let mut steps = rings.flat_map(|dimension| [false, true].map(|down| Step { dimension, down }));
        steps.find_map(|step| {
            let cable = self.ports(at, step).iter().position(|&own| own == port)?;
            let next = self.neighbour(at, step)?;
            self.ports(next, step).get(cable).copied()
        })
    }

    /// The ports of a step.
    #[inline]
    pub(super) fn ports(&self, router: RouterId, step: Step) -> &[Port] {
        &self.ports[self.place(router, step)]
    }

    #[inline]
    fn place(&self, router: RouterId, step: Step) -> usize {
        (router.index() * self.dims.len() + step.dimension) * 2 + usize::from(step.down)
    }

    /// Whether a step up and a step down lead nearer to `to` along dimension `d`. Both do if the ring is equally long
    /// in both directions.
    #[inline]
    pub(super) fn directions(&self, at: RouterId, to: RouterId, d: usize) -> (bool, bool) {
        let (x, y, n) = (self.coordinate(at, d), self.coordinate(to, d), self.dims[d]);
        if x == y {
            return (false, false);
        }
        if !self.wrap[d] {
            return (x < y, y < x);
        }
        let up = (y + n - x) % n;
        // In a ring of two both directions are the same cables.
        (2 * up <= n, 2 * up >= n && n > 2)
    }

    /// Whether the remaining path along the step's dimension, in its direction, crosses from the last coordinate to
    /// the first or back.
    #[inline]
    pub(super) fn will_wrap(&self, at: RouterId, to: RouterId, step: Step) -> bool {
        let (x, y) = (self.coordinate(at, step.dimension), self.coordinate(to, step.dimension));
        if step.down {
            y > x
        } else {
            y < x
        }
    }
}
