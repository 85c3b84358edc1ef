//! Bandwidth between two halves of a machine.
//!
//! The bisection bandwidth is the smallest bandwidth, in one direction, between two sets of routers with half of the
//! usable nodes each (as nearly as whole routers allow). The general problem is NP-hard, so *structured cuts* are
//! tried. The routers are ordered by number and by each coordinate axis, and cut where half of the nodes are before
//! the cut. Routers without nodes go to the side that cuts less. The smallest of these cuts is an upper bound. It is
//! exact in the cases of [`BisectionMethod`]. In other cases a [search](super::cut_search) tries to lower it.

use super::cut_search::CutSearch;
use super::fat_tree_rate::rate_per_node;
use super::torus::CompleteTorus;
use super::usable_nodes;
use crate::{GroupInterior, Machine, Shape};
use odonata_units::{LinkId, RouterId};
use std::collections::VecDeque;

/// Number of routers, and largest number of places on an axis, from which the search begins.
const STARTS: usize = 16;

/// Evidence for the bandwidth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BisectionMethod {
    /// Exact. Torus or mesh, complete and uniform, largest dimension k even: 2 N/k cables (N/k of a mesh). Aroca,
    /// Fernández Anta, "Bisection (band)width of product networks with application to data centers", TPDS 2014.
    Torus,
    /// Exact. Fat tree: the smallest cut equals the rate between the halves when every router spreads its traffic
    /// evenly over its up links.
    FatTree,
    /// Exact. All-to-all with the same number of nodes and cables everywhere: all halves are equivalent.
    AllToAll,
    /// The smallest cut found: an upper bound.
    UpperBound,
}

/// The smallest cut found.
#[derive(Clone, PartialEq, Debug)]
pub struct Bisection {
    /// Bandwidth from one half to the other, in one direction.
    pub bytes_per_s: f64,
    /// Links across the cut in one direction, so the number of cables.
    pub cables: usize,
    /// Usable nodes of the two halves.
    pub nodes: (usize, usize),
    /// How it was found: `by number`, `along` an axis, or `by search`.
    pub cut: String,
    /// Exact, or an upper bound.
    pub method: BisectionMethod,
}

pub(super) fn bisection(machine: &Machine) -> Bisection {
    let nodes = usable_nodes(machine);
    let axes = &machine.coordinates().axes;
    let orders = std::iter::once(("by number".to_owned(), None))
        .chain(axes.iter().enumerate().map(|(i, axis)| (format!("along {axis}"), Some(i))));
    let structured: Vec<(Bisection, Vec<bool>)> = orders
        .map(|(cut, axis)| {
            let mut order: Vec<_> = machine.routers().collect();
            if let Some(axis) = axis {
                order.sort_by_key(|&router| machine.coordinates().of(router)[axis]);
            }
            let sides = halves(machine, &nodes, &order);
            (of_sides(machine, &nodes, &sides, cut), sides)
        })
        .collect();
    let best = structured.iter().map(|(cut, _)| cut).min_by(|x, y| x.bytes_per_s.total_cmp(&y.bytes_per_s));
    let best = best.expect("at least one order").clone();
    match method(machine, &nodes, &best) {
        BisectionMethod::UpperBound => searched(machine, &nodes, best, structured.into_iter().map(|(_, sides)| sides)),
        exact => Bisection { method: exact, ..best },
    }
}

/// The smallest cut that the search finds from structured cuts, and from halves that grow around single routers.
fn searched(
    machine: &Machine,
    nodes: &[u32],
    mut best: Bisection,
    structured: impl Iterator<Item = Vec<bool>>,
) -> Bisection {
    let mut search = CutSearch::new(machine, nodes, best.nodes.0.abs_diff(best.nodes.1) as u64);
    let orders = grown_orders(machine).chain(shifted_orders(machine));
    for mut sides in structured.chain(orders.map(|order| halves(machine, nodes, &order))) {
        if search.is_over() {
            break;
        }
        if search.refine(&mut sides) {
            let found = of_sides(machine, nodes, &sides, "by search".to_owned());
            if found.bytes_per_s < best.bytes_per_s {
                best = found;
            }
        }
    }
    best
}

/// Routers along each axis, from several places on: on a ring, halves may begin anywhere.
fn shifted_orders(machine: &Machine) -> impl Iterator<Item = Vec<RouterId>> + '_ {
    let coordinates = machine.coordinates();
    let places = (0..coordinates.axes.len()).flat_map(|axis| {
        let size = coordinates.sizes[axis];
        (1..size).step_by(size.div_ceil(STARTS as u32) as usize).map(move |first| (axis, size, first))
    });
    places.map(|(axis, size, first)| {
        let mut order: Vec<_> = machine.routers().collect();
        order.sort_by_key(|&router| (coordinates.of(router)[axis] + size - first) % size);
        order
    })
}

/// Routers by their distance from one router, for several routers far from each other in number.
fn grown_orders(machine: &Machine) -> impl Iterator<Item = Vec<RouterId>> + '_ {
    let step = machine.router_count().div_ceil(STARTS).max(1);
    machine.routers().step_by(step).map(|start| {
        let mut seen = vec![false; machine.router_count()];
        let mut order = Vec::with_capacity(seen.len());
        // What the start does not reach follows, in the order of numbers.
        for start in std::iter::once(start).chain(machine.routers()) {
            let mut waiting = VecDeque::from([start]);
            while let Some(router) = waiting.pop_front() {
                if std::mem::replace(&mut seen[router.index()], true) {
                    continue;
                }
                order.push(router);
                waiting.extend(machine.bundles_from(router).iter().map(|bundle| bundle.target));
            }
        }
        order
    })
}

fn of_sides(machine: &Machine, nodes: &[u32], sides: &[bool], cut: String) -> Bisection {
    let (bytes_per_s, cables) = across(machine, sides);
    let on = |side: bool| nodes.iter().zip(sides).filter(|(_, &s)| s == side).map(|(&n, _)| n as usize).sum();
    Bisection { bytes_per_s, cables, nodes: (on(false), on(true)), cut, method: BisectionMethod::UpperBound }
}

/// The side of each router if the first routers of an order are cut off.
fn halves(machine: &Machine, nodes: &[u32], order: &[RouterId]) -> Vec<bool> {
    let total: u64 = nodes.iter().map(|&n| u64::from(n)).sum();
    let mut sides = vec![true; order.len()];
    let mut before = 0u64;
    for router in order {
        let here = u64::from(nodes[router.index()]);
        // The router at the cut goes to the side that makes the halves more equal.
        if 2 * before + here > total {
            break;
        }
        before += here;
        sides[router.index()] = false;
    }
    assign_routers_without_nodes(machine, nodes, &mut sides);
    sides
}

/// Moves routers without nodes to the side that cuts less, until no move improves the cut. Every move lowers the cut.
fn assign_routers_without_nodes(machine: &Machine, nodes: &[u32], sides: &mut [bool]) {
    let free: Vec<_> = machine.routers().filter(|r| nodes[r.index()] == 0 && machine.router_up(*r)).collect();
    loop {
        let mut moved = false;
        for &router in &free {
            let mut to = [0u64; 2];
            for link in machine.links_from(router).map(LinkId::from_index) {
                to[usize::from(sides[machine.target(link).index()])] += machine.bandwidth(link).bits_per_s();
            }
            let side = usize::from(sides[router.index()]);
            if to[1 - side] > to[side] {
                sides[router.index()] = side == 0;
                moved = true;
            }
        }
        if !moved {
            return;
        }
    }
}

/// Bandwidth and links from the first side to the second.
fn across(machine: &Machine, sides: &[bool]) -> (f64, usize) {
    let crossing =
        machine.links().filter(|&link| !sides[machine.source(link).index()] && sides[machine.target(link).index()]);
    crossing.fold((0.0, 0), |(sum, n), link| (sum + machine.bandwidth(link).bytes_per_s_f64(), n + 1))
}

fn method(machine: &Machine, nodes: &[u32], best: &Bisection) -> BisectionMethod {
    let uniform_nodes = nodes.windows(2).all(|pair| pair[0] == pair[1]);
    let uniform_links = machine.links().all(|link| machine.bandwidth(link) == machine.bandwidth(LinkId(0)));
    let close = |x: f64, y: f64| (x - y).abs() <= 1e-9 * y.abs();
    match machine.shape() {
        Shape::Torus { .. } if uniform_nodes && uniform_links => {
            let known = CompleteTorus::of(machine).and_then(|torus| torus.bisection_cables());
            (known == Some(best.cables)).then_some(BisectionMethod::Torus)
        }
        Shape::FatTree { levels, level_of } => {
            let rate = rate_per_node(machine, nodes, *levels, level_of);
            let flow = rate * best.nodes.0.min(best.nodes.1) as f64;
            close(best.bytes_per_s, flow).then_some(BisectionMethod::FatTree)
        }
        Shape::Grouped { groups: 1, interior: GroupInterior::AllToAll, .. } if uniform_nodes && uniform_links => {
            let n = machine.router_count();
            let bundles = machine.bundles();
            let uniform = bundles.iter().all(|bundle| bundle.count == bundles[0].count);
            (uniform && bundles.len() == n * (n - 1)).then_some(BisectionMethod::AllToAll)
        }
        _ => None,
    }
    .unwrap_or(BisectionMethod::UpperBound)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::{apply, Edit};
    use crate::presets;
    use crate::topology::{Dragonfly, FatTree, Jellyfish, LinkFigures, Torus, Xgft};
    use crate::MachineBuilder;

    fn of(builder: MachineBuilder) -> Bisection {
        bisection(&builder.build().unwrap())
    }

    /// A Blue Gene/Q midplane, 4 x 4 x 4 x 4 x 2: 2 x 512/4 = 256 cables of 2 GB/s.
    #[test]
    fn torus_has_the_closed_form() {
        let found = of(presets::builder("bgq-midplane").unwrap());
        assert_eq!((found.cables, found.nodes, found.method), (256, (256, 256), BisectionMethod::Torus));
        assert!((found.bytes_per_s - 512e9).abs() < 1.0);
    }

    /// A 4 x 6 mesh, cut across the long side: 4 cables. Without one cable the formula does not apply.
    #[test]
    fn mesh_has_the_closed_form() {
        let mesh = Torus { dims: vec![4, 6], wrap: vec![false; 2].into(), ..Torus::default() };
        let found = of(mesh.builder().unwrap());
        assert_eq!((found.cables, found.method), (4, BisectionMethod::Torus));
        let fault = [Edit::parse("fail x0_0>x0_1:local.0").unwrap()];
        assert_eq!(of(apply(mesh.builder().unwrap(), &fault, 0).unwrap()).method, BisectionMethod::UpperBound);
    }

    /// Full bisection: k^3/8 cables. Tapered 3:1 with k = 8 (6 nodes and 2 up ports at an edge router, 8 pods of 4
    /// edge routers): 192 nodes, a third of the injection of one half, 32 cables.
    #[test]
    fn fat_tree_has_the_closed_form() {
        let found = of(FatTree { k: 8, ..FatTree::default() }.builder().unwrap());
        assert_eq!((found.cables, found.method), (64, BisectionMethod::FatTree));
        let found = of(FatTree { k: 8, oversubscription: 3, ..FatTree::default() }.builder().unwrap());
        assert_eq!((found.cables, found.nodes, found.method), (32, (96, 96), BisectionMethod::FatTree));
        // Two levels, two parallel cables to each of two spines: 4 leaves of 4 nodes, 4 up cables each.
        let figures = FatTree::default().local;
        let leaf_spine = Xgft {
            children: vec![4, 4],
            parents: vec![1, 2],
            parallel: vec![2].into(),
            local: figures,
            global: figures,
            terminal: figures,
            cores_per_node: 1,
        };
        let found = of(leaf_spine.builder().unwrap());
        assert_eq!((found.cables, found.method), (8, BisectionMethod::FatTree));
    }

    /// 16 of 32 groups on each side: 256 global cables. Not proven to be minimal, so an upper bound.
    #[test]
    fn dragonfly_is_cut_between_groups() {
        let dragonfly = Dragonfly { g: 32, ..Dragonfly::default() };
        let found = of(dragonfly.builder().unwrap());
        assert_eq!((found.cables, found.nodes), (256, (512, 512)));
        assert_eq!(found.method, BisectionMethod::UpperBound);
    }

    /// Eight routers, all joined: 4 x 4 cables for any half.
    #[test]
    fn all_to_all_has_the_closed_form() {
        let found = of(Dragonfly { g: 1, ..Dragonfly::default() }.builder().unwrap());
        assert_eq!((found.cables, found.method), (16, BisectionMethod::AllToAll));
    }

    /// Smallest number of cables between halves that differ by at most `difference` nodes, by trying all.
    fn smallest(machine: &Machine, difference: u32) -> usize {
        let nodes = usable_nodes(machine);
        let total: u32 = nodes.iter().sum();
        let all = 0..1u32 << machine.router_count();
        let sides = all.map(|set| (0..nodes.len()).map(|router| set >> router & 1 == 1).collect::<Vec<bool>>());
        let halves = sides.filter(|sides| {
            let on: u32 = nodes.iter().zip(sides).filter(|(_, &side)| side).map(|(&nodes, _)| nodes).sum();
            (2 * on).abs_diff(total) <= difference
        });
        halves.map(|sides| across(machine, &sides).1).min().unwrap()
    }

    /// 60 random graphs of 9 to 14 routers, every second one with failed nodes: the smallest of all cuts.
    #[test]
    fn search_finds_the_smallest_cut_of_small_graphs() {
        for seed in 0..60 {
            let routers = 9 + seed as u32 % 6;
            let graph =
                Jellyfish { routers, degree: 3 + seed as u32 % 2, graph_seed: Some(seed), ..Jellyfish::default() };
            let failed = ["fail node r0n0", "fail node r1n0", "fail node r1n1", "fail node r2n3", "fail node r5n0"];
            let edits: Vec<Edit> = failed.iter().map(|text| Edit::parse(text).unwrap()).collect();
            let edits = if seed % 2 == 0 { &[] } else { &edits[..] };
            let machine = apply(graph.builder().unwrap(), edits, seed).unwrap().build().unwrap();
            let found = bisection(&machine);
            let difference = found.nodes.0.abs_diff(found.nodes.1) as u32;
            assert_eq!(found.cables, smallest(&machine, difference), "seed {seed}: {found:?}");
        }
    }

    /// The sum of many cables of 1 PB/s is beyond 64 bits.
    #[test]
    fn search_counts_the_fastest_cables() {
        let figures = LinkFigures::new(1_000_000_000_000_000, 100);
        let graph = Jellyfish { routers: 40, degree: 20, local: figures, ..Jellyfish::default() };
        let mut builder = graph.builder().unwrap();
        builder.classes[0].ports_per_router = None;
        builder.cables = builder.cables.iter().flat_map(|&cable| std::iter::repeat_n(cable, 200)).collect();
        let found = of(builder);
        assert_eq!((found.cables % 200, found.cut.as_str()), (0, "by search"));
        assert!((found.bytes_per_s / (found.cables as f64 * 1e15) - 1.0).abs() < 1e-9);
    }

    /// Even and odd routers are joined among themselves, and by a single cable.
    #[test]
    fn search_finds_a_cut_that_no_order_has() {
        let whole = Dragonfly { g: 1, a: 16, ..Dragonfly::default() };
        let mut builder = whole.builder().unwrap();
        builder.cables.retain(|cable| cable.a.0 % 2 == cable.b.0 % 2 || (cable.a.0 + cable.b.0) == 1);
        let found = of(builder);
        assert_eq!((found.cables, found.cut.as_str(), found.method), (1, "by search", BisectionMethod::UpperBound));
        assert_eq!(found.nodes.0, found.nodes.1);
    }
}
