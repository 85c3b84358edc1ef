//! Bandwidth between two halves of a machine.
//!
//! The bisection bandwidth is the smallest bandwidth, in one direction, between two sets of routers with half of the
//! usable nodes each (as nearly as whole routers allow). The general problem is NP-hard, so *structured cuts* are
//! tried. The routers are ordered by number and by each coordinate axis, and cut where half of the nodes are before
//! the cut. Routers without nodes go to the side that cuts less. The smallest of these cuts is an upper bound. It is
//! exact in the cases of [`BisectionMethod`].

use super::fat_tree_rate::rate_per_node;
use super::torus::CompleteTorus;
use super::usable_nodes;
use crate::{GroupInterior, Machine, Shape};
use odonata_units::LinkId;

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
    /// The smallest structured cut: an upper bound.
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
    /// Order of the cut: `by number`, or `along` an axis.
    pub cut: String,
    /// Exact, or an upper bound.
    pub method: BisectionMethod,
}

pub(super) fn bisection(machine: &Machine) -> Bisection {
    let nodes = usable_nodes(machine);
    let axes = &machine.coordinates().axes;
    let orders = std::iter::once(("by number".to_owned(), None))
        .chain(axes.iter().enumerate().map(|(i, axis)| (format!("along {axis}"), Some(i))));
    let best = orders
        .map(|(cut, axis)| {
            let sides = halves(machine, &nodes, axis);
            let (bytes_per_s, cables) = across(machine, &sides);
            let on = |side: bool| nodes.iter().zip(&sides).filter(|(_, &s)| s == side).map(|(&n, _)| n as usize).sum();
            Bisection { bytes_per_s, cables, nodes: (on(false), on(true)), cut, method: BisectionMethod::UpperBound }
        })
        .min_by(|x, y| x.bytes_per_s.total_cmp(&y.bytes_per_s))
        .expect("at least one order");
    Bisection { method: method(machine, &nodes, &best), ..best }
}

/// The side of each router for a cut in the order of an axis (or of the numbers).
fn halves(machine: &Machine, nodes: &[u32], axis: Option<usize>) -> Vec<bool> {
    let mut order: Vec<_> = machine.routers().collect();
    if let Some(axis) = axis {
        order.sort_by_key(|&router| machine.coordinates().of(router)[axis]);
    }
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
    use crate::topology::{Dragonfly, FatTree, Torus, Xgft};
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
}
