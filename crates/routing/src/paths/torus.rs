//! Tori and meshes: one dimension after the other.
//!
//! * **Minimal**: dimension order, first dimension first, in the shorter direction. If both are equally long, each
//!   gets one half. Parallel links get equal shares. Exact.
//! * **Direct**: dimension by dimension, in a random order of the dimensions. The oblivious load is the mean over 64
//!   draws per demand.
//! * **Indirect**: direct to a uniformly random other router ([`Intermediate`]), then direct to the target. The
//!   oblivious load is the mean over 256 draws per demand.

use super::{spread_by_draws, Demand, Draws, Intermediate, Oblivious, PathRule};
use odonata_machine::{Bundle, Machine, Shape};
use odonata_units::{LinkId, RouterId};

/// Draws per demand for the expected load. More draws are slower and less noisy; direct paths vary less than indirect
/// ones.
const DIRECT_DRAWS: u32 = 64;
const INDIRECT_DRAWS: u32 = 256;
/// Most dimensions of a torus with paths; Blue Gene/Q has five. It bounds an array on the stack.
const MAX_DIMS: usize = 16;

/// Dimension-by-dimension paths.
pub struct TorusPaths<'m> {
    machine: &'m Machine,
    dims: Vec<u32>,
    wrap: Vec<bool>,
    /// Distance in router index of one step along each dimension.
    stride: Vec<u32>,
    /// Bundle from router r up (0) or down (1) along dimension d at `(r * dims + d) * 2 + direction`.
    step: Vec<u32>,
    intermediate: Intermediate,
}

/// The steps along one dimension: their number and direction, and whether both directions are equal.
struct AxisSteps {
    steps: u32,
    down: bool,
    tie: bool,
}

impl<'m> TorusPaths<'m> {
    /// Finds the links of every step, or returns `None` if one is missing.
    pub fn new(machine: &'m Machine, intermediate: Intermediate) -> Option<Self> {
        let Shape::Torus { dims, wrap } = machine.shape() else { return None };
        if dims.len() > MAX_DIMS {
            return None;
        }
        let mut stride = vec![1u32; dims.len()];
        for d in (0..dims.len().saturating_sub(1)).rev() {
            stride[d] = stride[d + 1] * dims[d + 1];
        }
        let mut rule = Self {
            machine,
            dims: dims.clone(),
            wrap: wrap.clone(),
            stride,
            step: vec![u32::MAX; machine.router_count() * dims.len() * 2],
            intermediate,
        };
        rule.find_steps().then_some(rule)
    }

    fn find_steps(&mut self) -> bool {
        for router in self.machine.routers() {
            for d in 0..self.dims.len() {
                for down in [false, true] {
                    let Some(next) = self.neighbour(router, d, down) else { continue };
                    let range = self.machine.bundle_range(router);
                    let found = self.machine.bundles()[range.clone()].iter().position(|b| b.target == next);
                    let Some(bundle) = found else { return false };
                    self.step[(router.index() * self.dims.len() + d) * 2 + usize::from(down)] =
                        (range.start + bundle) as u32;
                }
            }
        }
        true
    }

    #[inline]
    fn coordinate(&self, router: RouterId, d: usize) -> u32 {
        router.0 / self.stride[d] % self.dims[d]
    }

    /// The next router along dimension `d`, or `None` at the edge of a mesh or in a dimension of size 1.
    fn neighbour(&self, router: RouterId, d: usize, down: bool) -> Option<RouterId> {
        let (x, n) = (self.coordinate(router, d), self.dims[d]);
        let edge = if down { x == 0 } else { x + 1 == n };
        if n == 1 || (edge && !self.wrap[d]) {
            return None;
        }
        let next = if down { (x + n - 1) % n } else { (x + 1) % n };
        Some(RouterId(router.0 - x * self.stride[d] + next * self.stride[d]))
    }

    #[inline]
    fn bundle(&self, router: RouterId, d: usize, down: bool) -> &Bundle {
        &self.machine.bundles()[self.step[(router.index() * self.dims.len() + d) * 2 + usize::from(down)] as usize]
    }

    #[inline]
    fn steps_along(&self, from: RouterId, to: RouterId, d: usize) -> AxisSteps {
        let (x, y, n) = (self.coordinate(from, d), self.coordinate(to, d), self.dims[d]);
        if !self.wrap[d] {
            return AxisSteps { steps: x.abs_diff(y), down: y < x, tie: false };
        }
        let up = (y + n - x) % n;
        let down = n - up;
        // In a ring of two, both directions lead to the same router, so there is no tie.
        AxisSteps { steps: up.min(down % n), down: down < up, tie: up == down && n > 2 }
    }

    fn walk(&self, at: &mut RouterId, to: RouterId, d: usize, draws: &mut Draws, path: &mut Vec<LinkId>) {
        let axis = self.steps_along(*at, to, d);
        let down = if axis.tie { draws.any(2) == 1 } else { axis.down };
        for _ in 0..axis.steps {
            let bundle = self.bundle(*at, d, down);
            path.push(LinkId(bundle.first.0 + draws.any(bundle.count as usize) as u32));
            *at = bundle.target;
        }
    }

    /// Adds `amount` along dimension-order paths.
    fn spread_minimal(&self, demand: &Demand, loads: &mut [f64]) {
        let mut at = demand.source;
        for d in 0..self.dims.len() {
            let axis = self.steps_along(at, demand.target, d);
            let share = if axis.tie { demand.amount / 2.0 } else { demand.amount };
            let end = self.add_along(at, d, axis.down, axis.steps, share, loads);
            if axis.tie {
                self.add_along(at, d, !axis.down, axis.steps, share, loads);
            }
            at = end;
        }
    }

    fn add_along(&self, from: RouterId, d: usize, down: bool, steps: u32, amount: f64, loads: &mut [f64]) -> RouterId {
        let mut at = from;
        for _ in 0..steps {
            let bundle = self.bundle(at, d, down);
            for i in 0..bundle.count {
                loads[(bundle.first.0 + i) as usize] += amount / f64::from(bundle.count);
            }
            at = bundle.target;
        }
        at
    }
}

impl PathRule for TorusPaths<'_> {
    fn minimal(&self, source: RouterId, target: RouterId, draws: &mut Draws, path: &mut Vec<LinkId>) {
        let mut at = source;
        (0..self.dims.len()).for_each(|d| self.walk(&mut at, target, d, draws, path));
    }

    fn direct(&self, source: RouterId, target: RouterId, draws: &mut Draws, path: &mut Vec<LinkId>) {
        let n = self.dims.len();
        let mut order = [0usize; MAX_DIMS];
        for (d, slot) in order.iter_mut().enumerate().take(n) {
            *slot = d;
        }
        let mut at = source;
        for i in 0..n {
            let j = i + if i == 0 { draws.turn(n) } else { draws.any(n - i) };
            order.swap(i, j);
            self.walk(&mut at, target, order[i], draws, path);
        }
    }

    fn indirect(&self, source: RouterId, target: RouterId, draws: &mut Draws, path: &mut Vec<LinkId>) {
        let routers = self.machine.router_count();
        let intermediate = match self.intermediate {
            Intermediate::Any => RouterId::from_index(draws.turn(routers)),
            Intermediate::Third if routers < 3 => return self.direct(source, target, draws, path),
            Intermediate::Third => {
                let mut intermediate = draws.turn(routers - 2) as u32;
                intermediate += u32::from(intermediate >= source.0.min(target.0));
                intermediate += u32::from(intermediate >= source.0.max(target.0));
                RouterId(intermediate)
            }
        };
        self.direct(source, intermediate, draws, path);
        self.direct(intermediate, target, draws, path);
    }

    fn spread(&self, demands: &[Demand], rule: Oblivious, loads: &mut [f64]) {
        match rule {
            Oblivious::Minimal => demands.iter().for_each(|demand| self.spread_minimal(demand, loads)),
            Oblivious::Direct => {
                spread_by_draws(demands, loads, DIRECT_DRAWS, |s, t, draws, path| self.direct(s, t, draws, path));
            }
            Oblivious::Indirect => {
                spread_by_draws(demands, loads, INDIRECT_DRAWS, |s, t, draws, path| self.indirect(s, t, draws, path));
            }
        }
    }

    fn distance(&self, source: RouterId, target: RouterId) -> u32 {
        (0..self.dims.len()).map(|d| self.steps_along(source, target, d).steps).sum()
    }
}
