//! Jellyfish: a random regular graph of routers.
//!
//! Singla, Hong, Popa, Godfrey: "Jellyfish: networking data centers randomly", NSDI 2012. Two routers that have free
//! ports and are not joined are drawn and joined, until there are none. Two remaining free ports then take the two
//! ends of a drawn cable between other routers. If routers times ports is odd, one port stays free.

use super::{at_least_one, empty_grid, product, times, Extent, LinkFigures, Topology};
use crate::error::wrong;
use crate::parts::parts;
use crate::{Coordinates, MachineBuilder, MachineError, Shape};
use odonata_declare::{parameters, Kind};
use odonata_units::{GroupId, LinkClassId, RouterId, Stream};

parameters! {
    /// A Jellyfish. The default has 98 routers of 11 ports and 6 nodes each, as the default Slim Fly.
    #[derive(PartialEq, Eq)]
    pub struct Jellyfish {
        /// Routers.
        pub routers: u32 = 98, Kind::COUNT;
        /// Ports of each router to other routers.
        pub degree: u32 = 11, Kind::COUNT;
        /// Nodes of each router.
        pub nodes_per_router: u32 = 6, Kind::COUNT;
        /// Seed of the random graph.
        pub graph_seed: Option<u64> = None, Kind::Seed, else "the seed of the run";
        /// All links between routers, `local`.
        pub local: LinkFigures = LinkFigures::new(25_000_000_000, 100), no key;
        /// Links between nodes and routers.
        pub terminal: LinkFigures = LinkFigures::new(25_000_000_000, 10), no key;
        /// Cores of each node.
        pub cores_per_node: u32 = 1, no key;
    }
}

impl Topology for Jellyfish {
    fn take_seed(&mut self, seed: u64) {
        self.graph_seed.get_or_insert(seed);
    }

    fn extent(&self) -> Extent {
        Extent {
            routers: self.routers.into(),
            nodes: times(&[self.routers, self.nodes_per_router]),
            cables: times(&[self.routers, self.degree]) / 2,
        }
    }

    fn lay_out(&self) -> Result<MachineBuilder, MachineError> {
        self.builder()
    }
}

/// Graphs drawn in search of a connected one. More tries make a very low degree slower to refuse.
const TRIES: u64 = 100;

impl Jellyfish {
    /// Lists routers, nodes and cables.
    ///
    /// # Errors
    /// A degree that is not below the number of routers, or so low that no connected graph is found.
    pub fn builder(&self) -> Result<MachineBuilder, MachineError> {
        let Self { routers, degree, nodes_per_router, .. } = *self;
        at_least_one(&[("routers", routers), ("degree", degree), ("nodes_per_router", nodes_per_router)])?;
        if degree >= routers && routers > 1 {
            return wrong("degree", format!("{degree}; expected less than the {routers} routers"));
        }
        product("nodes", &[routers, nodes_per_router])?;
        product("cables", &[routers, degree])?;
        let seed = self.graph_seed.unwrap_or_default();
        let graphs = (0..TRIES).map(|again| draw(routers, degree, &mut Stream::new(seed, "jellyfish", &[again])));
        let Some(cables) = graphs.into_iter().find(|cables| connected(routers, cables)) else {
            return wrong("degree", format!("{degree}: none of {TRIES} graphs of {routers} routers was connected"));
        };
        let mut builder = empty_grid(
            format!("jellyfish-{routers}-{degree}"),
            Shape::Graph,
            Coordinates::grid(&["router"], &[routers]),
            vec![GroupId(0); routers as usize],
            nodes_per_router,
            self.cores_per_node,
            self.terminal,
        );
        builder.classes = vec![self.local.class("local", Some(degree))];
        for (a, b) in cables {
            builder.add_cables(RouterId(a), RouterId(b), LinkClassId(0), 1);
        }
        Ok(builder)
    }
}

/// Cables of a random graph of this degree, each from the lower to the higher router, sorted.
fn draw(routers: u32, degree: u32, random: &mut Stream) -> Vec<(u32, u32)> {
    let mut neighbours: Vec<Vec<u32>> = vec![Vec::new(); routers as usize];
    let free = |neighbours: &[Vec<u32>], router: u32| degree as usize - neighbours[router as usize].len();
    let mut open: Vec<u32> = (0..routers).collect();
    // Consecutive draws of two routers that are joined already.
    let mut in_vain = 0;
    while open.len() > 1 {
        if in_vain > 10 * open.len() && !can_join(&neighbours, &open) {
            break;
        }
        let a = open[random.below(open.len() as u64) as usize];
        let b = open[random.below(open.len() as u64) as usize];
        if a == b || neighbours[a as usize].contains(&b) {
            in_vain += 1;
            continue;
        }
        in_vain = 0;
        join(&mut neighbours, a, b);
        open.retain(|&router| free(&neighbours, router) > 0);
    }
    let ends: Vec<u32> =
        open.iter().flat_map(|&router| std::iter::repeat_n(router, free(&neighbours, router))).collect();
    for ends in ends.chunks_exact(2) {
        insert(&mut neighbours, ends[0], ends[1], random);
    }
    let of = |(a, others): (usize, &Vec<u32>)| {
        others.iter().map(|&b| (a as u32, b)).filter(|(a, b)| a < b).collect::<Vec<_>>()
    };
    let mut cables: Vec<(u32, u32)> = neighbours.iter().enumerate().flat_map(of).collect();
    cables.sort_unstable();
    cables
}

fn join(neighbours: &mut [Vec<u32>], a: u32, b: u32) {
    neighbours[a as usize].push(b);
    neighbours[b as usize].push(a);
}

/// Whether two of the routers are not joined.
fn can_join(neighbours: &[Vec<u32>], open: &[u32]) -> bool {
    open.iter().enumerate().any(|(i, a)| open[i + 1..].iter().any(|b| !neighbours[*a as usize].contains(b)))
}

/// Joins two free ports, of one router or of two joined ones, to the two ends of a cable between others, if no pair
/// is then joined twice.
fn insert(neighbours: &mut [Vec<u32>], u: u32, v: u32, random: &mut Stream) {
    let joins = |x: u32, to: u32| x != to && !neighbours[to as usize].contains(&x);
    let cables: Vec<(u32, u32)> = (0..neighbours.len() as u32)
        .filter(|&a| a != v && joins(a, u))
        .flat_map(|a| neighbours[a as usize].iter().map(move |&b| (a, b)))
        .filter(|&(_, b)| b != u && joins(b, v))
        .collect();
    if cables.is_empty() {
        return;
    }
    let (a, b) = cables[random.below(cables.len() as u64) as usize];
    neighbours[a as usize].retain(|&x| x != b);
    neighbours[b as usize].retain(|&x| x != a);
    join(neighbours, u, a);
    join(neighbours, v, b);
}

fn connected(routers: u32, cables: &[(u32, u32)]) -> bool {
    parts(routers as usize, cables.iter().copied()).iter().all(|&part| part == 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::tests::distances;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        /// No cable twice, none from a router to itself, and every port used except one if their number is odd. The
        /// diameter is within the bound for almost all of these graphs, and another seed gives another graph.
        #[test]
        fn random_and_regular(routers in 5u32..60, degree in 3u32..8, seed in 0u64..1000) {
            prop_assume!(degree < routers);
            let of = |seed| Jellyfish { routers, degree, graph_seed: Some(seed), ..Jellyfish::default() };
            let machine = of(seed).builder().unwrap().build().unwrap();
            let missing: u32 = machine.routers().map(|r| degree - machine.links_from(r).count() as u32).sum();
            prop_assert_eq!(missing, routers * degree % 2);
            for router in machine.routers() {
                for bundle in machine.bundles_from(router) {
                    prop_assert!(bundle.count == 1 && bundle.target != router);
                }
            }
            let diameter = *distances(&machine).iter().flatten().max().unwrap();
            let tree = f64::from(routers).ln() / f64::from(degree - 1).ln();
            prop_assert!(f64::from(diameter) <= 2.0 * tree + 3.0, "{diameter} of {routers} x {degree}");
            let other = of(seed + 1).builder().unwrap();
            prop_assert!(routers < 12 || other.cables != of(seed).builder().unwrap().cables);
        }
    }

    /// In 200 draws, every pair of 8 routers of degree 3 is joined in 3 of 7, within four standard deviations.
    #[test]
    fn every_pair_is_as_likely() {
        let mut count = std::collections::BTreeMap::new();
        for seed in 0..2000 {
            for cable in draw(8, 3, &mut Stream::new(seed, "jellyfish", &[0])) {
                *count.entry(cable).or_insert(0) += 1;
            }
        }
        let expected = 2000.0 * 3.0 / 7.0;
        let deviation = (2000.0f64 * 3.0 / 7.0 * 4.0 / 7.0).sqrt();
        assert_eq!(count.len(), 28);
        for (cable, n) in count {
            assert!((f64::from(n) - expected).abs() < 4.0 * deviation, "{cable:?}: {n} for {expected}");
        }
    }

    #[test]
    fn invalid_input_is_refused() {
        let wrong =
            |routers, degree| Jellyfish { routers, degree, ..Jellyfish::default() }.builder().unwrap_err().to_string();
        assert!(wrong(10, 10).contains("less than the 10 routers"));
        assert!(wrong(50, 1).contains("none of 100 graphs"));
    }
}
