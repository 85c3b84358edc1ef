//! Tori and meshes: one dimension after the other.
//!
//! * **Minimal**: dimension order, first dimension first, in the shorter direction. If both are equally long, each
//!   gets one half. Parallel links get equal shares. Exact.
//! * **Direct**: dimension by dimension, in a random order of the dimensions. The oblivious load is the mean over 64
//!   draws per demand.
//! * **Indirect**: direct to a uniformly random other router ([`Intermediate`]), then direct to the target. The
//!   oblivious load is the mean over 256 draws per demand.

use super::rule::spread_by_draws;
use super::{Demand, Draws, Intermediate, Oblivious, PathRule};
use crate::lattice::{Lattice, Span, Step};
use odonata_machine::{Bundle, Machine};
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
    lattice: Lattice,
    /// Bundle of every step, at [`Lattice::place`]; `u32::MAX` where no step leads.
    bundles: Vec<u32>,
    intermediate: Intermediate,
}

impl<'m> TorusPaths<'m> {
    /// Finds the links of every step, or returns `None` if one is missing.
    pub fn new(machine: &'m Machine, intermediate: Intermediate) -> Option<Self> {
        let lattice = Lattice::of(machine.shape()).filter(|lattice| lattice.dims.len() <= MAX_DIMS)?;
        let mut bundles = Vec::new();
        for router in machine.routers() {
            for step in lattice.steps() {
                let bundle = match lattice.neighbour(router, step) {
                    None => u32::MAX,
                    Some(next) => {
                        let mut range = machine.bundle_range(router);
                        range.find(|&bundle| machine.bundles()[bundle].target == next)? as u32
                    }
                };
                bundles.push(bundle);
            }
        }
        Some(Self { machine, lattice, bundles, intermediate })
    }

    #[inline]
    fn bundle(&self, router: RouterId, dimension: usize, down: bool) -> &Bundle {
        let place = self.lattice.place(router, Step { dimension, down });
        &self.machine.bundles()[self.bundles[place] as usize]
    }

    /// The path along a dimension. In a ring of two, both directions lead to the same router, so there is no tie.
    #[inline]
    fn span(&self, from: RouterId, to: RouterId, d: usize) -> Span {
        let span = self.lattice.span(from, to, d);
        Span { tie: span.tie && span.steps > 1, ..span }
    }

    fn walk(&self, at: &mut RouterId, to: RouterId, d: usize, draws: &mut Draws, path: &mut Vec<LinkId>) {
        let axis = self.span(*at, to, d);
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
        for d in 0..self.lattice.dims.len() {
            let axis = self.span(at, demand.target, d);
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
        (0..self.lattice.dims.len()).for_each(|d| self.walk(&mut at, target, d, draws, path));
    }

    fn direct(&self, source: RouterId, target: RouterId, draws: &mut Draws, path: &mut Vec<LinkId>) {
        let n = self.lattice.dims.len();
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
        (0..self.lattice.dims.len()).map(|d| self.span(source, target, d).steps).sum()
    }
}
