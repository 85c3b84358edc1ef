//! Minimal paths of any graph.
//!
//! Minimal and direct: at every router, a uniformly random link among those that lead one hop nearer; each parallel
//! link counts (equal-cost multi-path). On a fat tree this is up/down routing over all common ancestors. Indirect:
//! direct to a uniformly random other router ([`Intermediate`]), then direct to the target. Oblivious loads are exact
//! for minimal and direct paths, and the mean over 256 draws per demand for indirect ones.

use super::rule::{draw_other, spread_by_draws};
use super::{Demand, Draws, Intermediate, Oblivious, PathError, PathRule};
use odonata_machine::Machine;
use odonata_units::{LinkId, RouterId};

/// Largest table of distances, one byte per ordered pair of routers. It keeps a wrong machine from exhausting the
/// memory.
const TABLE_LIMIT: usize = 4 << 30;
/// Draws per demand for the expected load of indirect paths. More draws are slower and less noisy.
const INDIRECT_DRAWS: u32 = 256;
const UNREACHED: u8 = u8::MAX;

/// Hop-by-hop minimal paths from a table of all distances.
pub struct GraphPaths<'m> {
    machine: &'m Machine,
    /// Hops from s to t at `distance[t * routers + s]`.
    distance: Vec<u8>,
    /// Possible intermediate routers: those that are up.
    intermediates: Vec<RouterId>,
    rule: Intermediate,
}

impl<'m> GraphPaths<'m> {
    /// Computes all distances, one breadth-first search per router.
    ///
    /// # Errors
    /// See [`super::path_rule`].
    pub fn new(machine: &'m Machine, rule: Intermediate) -> Result<Self, PathError> {
        let routers = machine.router_count();
        let needed = routers * routers;
        if needed > TABLE_LIMIT {
            return Err(PathError::TooLarge { routers, needed_mib: needed >> 20, limit_mib: TABLE_LIMIT >> 20 });
        }
        let mut distance = vec![UNREACHED; needed];
        let mut queue = Vec::with_capacity(routers);
        for target in machine.routers().filter(|&r| machine.router_up(r)) {
            // Cables have two directions, so distances are symmetric.
            let row = &mut distance[target.index() * routers..(target.index() + 1) * routers];
            search(machine, target, row, &mut queue);
        }
        let intermediates: Vec<_> = machine.routers().filter(|&r| machine.router_up(r)).collect();
        let cut = |r: &&RouterId| distance[intermediates[0].index() * routers + r.index()] == UNREACHED;
        if let Some(&lost) = intermediates.iter().find(|r| !machine.nodes_of(**r).is_empty() && cut(r)) {
            let (from, to) = (machine.router_name(intermediates[0]), machine.router_name(lost));
            return Err(PathError::Unreachable { from, to });
        }
        Ok(Self { machine, distance, intermediates, rule })
    }

    fn row(&self, target: RouterId) -> &[u8] {
        let n = self.machine.router_count();
        &self.distance[target.index() * n..(target.index() + 1) * n]
    }

    /// Splits the amounts for `target` over all minimal paths: farthest routers first, each passes on equal shares.
    fn spread_to(&self, target: RouterId, amount: &mut [f64], order: &mut Vec<RouterId>, loads: &mut [f64]) {
        let row = self.row(target);
        order.clear();
        order.extend(self.intermediates.iter().filter(|r| row[r.index()] != UNREACHED));
        order.sort_unstable_by_key(|r| std::cmp::Reverse((row[r.index()], r.0)));
        for &router in order.iter() {
            let all = std::mem::take(&mut amount[router.index()]);
            if all == 0.0 || router == target {
                continue;
            }
            let nearer = |target: RouterId| row[target.index()] + 1 == row[router.index()];
            let bundles = self.machine.bundles_from(router);
            let links: u32 = bundles.iter().filter(|b| nearer(b.target)).map(|b| b.count).sum();
            let share = all / f64::from(links);
            for bundle in bundles.iter().filter(|b| nearer(b.target)) {
                for link in 0..bundle.count {
                    loads[(bundle.first.0 + link) as usize] += share;
                }
                amount[bundle.target.index()] += share * f64::from(bundle.count);
            }
        }
    }
}

fn search(machine: &Machine, start: RouterId, distance: &mut [u8], queue: &mut Vec<RouterId>) {
    queue.clear();
    queue.push(start);
    distance[start.index()] = 0;
    let mut head = 0;
    while let Some(&router) = queue.get(head) {
        head += 1;
        let next = distance[router.index()] + 1;
        assert!(next < UNREACHED, "distances below 255 hops");
        for bundle in machine.bundles_from(router) {
            if distance[bundle.target.index()] == UNREACHED {
                distance[bundle.target.index()] = next;
                queue.push(bundle.target);
            }
        }
    }
}

impl PathRule for GraphPaths<'_> {
    fn minimal(&self, source: RouterId, target: RouterId, draws: &mut Draws, path: &mut Vec<LinkId>) {
        self.direct(source, target, draws, path);
    }

    fn direct(&self, source: RouterId, target: RouterId, draws: &mut Draws, path: &mut Vec<LinkId>) {
        let row = self.row(target);
        let mut at = source;
        while at != target {
            let nearer = |b: &&odonata_machine::Bundle| row[b.target.index()] < row[at.index()];
            let bundles = self.machine.bundles_from(at);
            let links: u32 = bundles.iter().filter(nearer).map(|b| b.count).sum();
            let mut pick = draws.any(links as usize) as u32;
            let bundle = bundles
                .iter()
                .filter(nearer)
                .find(|b| {
                    let here = pick < b.count;
                    if !here {
                        pick -= b.count;
                    }
                    here
                })
                .expect("a reachable router has a link that leads nearer");
            path.push(LinkId(bundle.first.0 + pick));
            at = bundle.target;
        }
    }

    fn indirect(&self, source: RouterId, target: RouterId, draws: &mut Draws, path: &mut Vec<LinkId>) {
        let intermediate = match self.rule {
            Intermediate::Any => self.intermediates[draws.turn(self.intermediates.len())],
            Intermediate::Third if self.intermediates.len() < 3 => return self.direct(source, target, draws, path),
            Intermediate::Third => draw_other(&self.intermediates, source, target, draws),
        };
        if self.row(intermediate)[source.index()] == UNREACHED {
            return self.direct(source, target, draws, path);
        }
        self.direct(source, intermediate, draws, path);
        self.direct(intermediate, target, draws, path);
    }

    fn spread(&self, demands: &[Demand], rule: Oblivious, loads: &mut [f64]) {
        if rule == Oblivious::Indirect {
            let draw = |s, t, draws: &mut Draws, path: &mut Vec<LinkId>| self.indirect(s, t, draws, path);
            return spread_by_draws(demands, loads, INDIRECT_DRAWS, draw);
        }
        let mut by_target: Vec<Demand> = demands.to_vec();
        by_target.sort_by_key(|d| (d.target, d.source));
        let mut amount = vec![0.0; self.machine.router_count()];
        let mut order = Vec::new();
        for group in by_target.chunk_by(|a, b| a.target == b.target) {
            for demand in group {
                amount[demand.source.index()] += demand.amount;
            }
            self.spread_to(group[0].target, &mut amount, &mut order, loads);
        }
    }

    fn distance(&self, source: RouterId, target: RouterId) -> u32 {
        u32::from(self.row(target)[source.index()])
    }
}
