//! Hops between all routers: breadth-first search from 512 sources at once.
//!
//! Then et al., "The more the merrier: efficient multi-source graph traversal", VLDB 2014. Every router has a mask
//! with the sources of a batch that have reached it. A level is one pass over the neighbours of the routers reached
//! last; it ORs masks instead of using a queue per source. Sources of a batch have neighbouring numbers, so they are
//! mostly near each other in the network, and their searches share most of their paths. All sums are integers, so the
//! result does not depend on threads. A complete torus, whose searches would take long, has a closed form.

use super::torus::CompleteTorus;
use super::usable_nodes;
use crate::Machine;
use rayon::prelude::*;

/// Words of a mask: 64 bytes, one cache line.
const WORDS: usize = 8;
const BATCH: usize = 64 * WORDS;
type Mask = [u64; WORDS];

/// Hops of minimal paths in the graph of working routers.
#[derive(Clone, PartialEq, Debug)]
pub struct Distances {
    /// Most hops between two connected routers.
    pub diameter: u32,
    /// Ordered pairs of different working routers by hops: `pairs_by_hops[h]`; `[0]` is 0.
    pub pairs_by_hops: Vec<u64>,
    /// Mean hops over these pairs; 0 without any.
    pub router_hops_mean: f64,
    /// Mean router-to-router hops over ordered pairs of different, connected usable nodes. Two nodes of one router
    /// are 0 hops apart. 0 without any pair.
    pub node_hops_mean: f64,
    /// Ordered pairs of different working routers without a path.
    pub unreachable_pairs: u64,
}

/// Hops from one batch of sources, or from all.
#[derive(Clone, Default)]
struct HopCounts {
    pairs_by_hops: Vec<u64>,
    /// Sum of hops over pairs of nodes, and the number of these pairs.
    node_hops: u64,
    node_pairs: u64,
}

impl HopCounts {
    fn add(mut self, other: Self) -> Self {
        if self.pairs_by_hops.len() < other.pairs_by_hops.len() {
            self.pairs_by_hops.resize(other.pairs_by_hops.len(), 0);
        }
        for (sum, n) in self.pairs_by_hops.iter_mut().zip(other.pairs_by_hops) {
            *sum += n;
        }
        self.node_hops += other.node_hops;
        self.node_pairs += other.node_pairs;
        self
    }
}

/// Distances of all planes together; no pair of routers lies in different planes.
pub(super) fn distances(planes: &[Machine]) -> Distances {
    let (mut reached, mut all_pairs, mut together) = (HopCounts::default(), 0, 0);
    for machine in planes {
        let nodes = usable_nodes(machine);
        reached = reached.add(in_torus(machine, &nodes).unwrap_or_else(|| search_all(machine, &nodes)));
        let routers_up = machine.routers().filter(|&router| machine.router_up(router)).count() as u64;
        all_pairs += routers_up * routers_up.saturating_sub(1);
        // Pairs at one router: 0 hops.
        together += nodes.iter().map(|&n| u64::from(n) * u64::from(n.saturating_sub(1))).sum::<u64>();
    }
    let mut pairs_by_hops = reached.pairs_by_hops;
    if pairs_by_hops.is_empty() {
        pairs_by_hops.push(0);
    }
    let pairs: u64 = pairs_by_hops.iter().sum();
    let hops: u64 = pairs_by_hops.iter().zip(0u64..).map(|(n, h)| n * h).sum();
    let mean = |sum: u64, n: u64| if n == 0 { 0.0 } else { sum as f64 / n as f64 };
    Distances {
        diameter: pairs_by_hops.len() as u32 - 1,
        router_hops_mean: mean(hops, pairs),
        node_hops_mean: mean(reached.node_hops, reached.node_pairs + together),
        unreachable_pairs: all_pairs - pairs,
        pairs_by_hops,
    }
}

/// The closed form of a complete torus or mesh with the same number of nodes at every router.
fn in_torus(machine: &Machine, nodes: &[u32]) -> Option<HopCounts> {
    let torus = CompleteTorus::of(machine)?;
    if nodes.iter().any(|&n| n != nodes[0]) {
        return None;
    }
    let mut pairs_by_hops = torus.pairs_by_hops();
    pairs_by_hops[0] = 0;
    let node_pairs_per_pair = u64::from(nodes[0]) * u64::from(nodes[0]);
    let hops: u64 = pairs_by_hops.iter().zip(0u64..).map(|(n, h)| n * h).sum();
    Some(HopCounts {
        node_pairs: node_pairs_per_pair * pairs_by_hops.iter().sum::<u64>(),
        node_hops: node_pairs_per_pair * hops,
        pairs_by_hops,
    })
}

/// Searches from every working router.
fn search_all(machine: &Machine, nodes: &[u32]) -> HopCounts {
    let graph = Graph::new(machine);
    let mut sources: Vec<u32> = machine.routers().filter(|&r| machine.router_up(r)).map(|r| r.0).collect();
    // A batch counts pairs of nodes by popcounts, so its sources have the same number of nodes.
    sources.sort_by_key(|&router| nodes[router as usize]);
    let batches: Vec<&[u32]> = sources
        .chunk_by(|&x, &y| nodes[x as usize] == nodes[y as usize])
        .flat_map(|alike| alike.chunks(BATCH))
        .collect();
    batches
        .into_par_iter()
        .map_init(|| Search::new(machine.router_count()), |search, batch| search.run(&graph, nodes, batch))
        .reduce(HopCounts::default, HopCounts::add)
}

/// Distinct neighbours of each router.
struct Graph {
    first: Vec<u32>,
    neighbours: Vec<u32>,
}

impl Graph {
    fn new(machine: &Machine) -> Self {
        let (mut first, mut neighbours) = (vec![0], Vec::with_capacity(machine.bundles().len()));
        let mut here: Vec<u32> = Vec::new();
        for router in machine.routers() {
            here.clear();
            here.extend(machine.bundles_from(router).iter().map(|bundle| bundle.target.0));
            here.sort_unstable();
            here.dedup();
            neighbours.extend_from_slice(&here);
            first.push(neighbours.len() as u32);
        }
        Self { first, neighbours }
    }

    fn of(&self, router: u32) -> &[u32] {
        let r = router as usize;
        &self.neighbours[self.first[r] as usize..self.first[r + 1] as usize]
    }
}

/// Buffers of one search, reused for every batch of a thread.
struct Search {
    /// Sources that have reached each router.
    seen: Vec<Mask>,
    /// Sources that reached it in the last level.
    frontier: Vec<Mask>,
    /// Sources that reach it in this level; zero between levels.
    next: Vec<Mask>,
    /// Routers with a frontier; routers with a `next`.
    active: Vec<u32>,
    touched: Vec<u32>,
    is_touched: Vec<bool>,
}

impl Search {
    fn new(routers: usize) -> Self {
        let masks = || vec![[0; WORDS]; routers];
        Self {
            seen: masks(),
            frontier: masks(),
            next: masks(),
            active: Vec::new(),
            touched: Vec::new(),
            is_touched: vec![false; routers],
        }
    }

    fn run(&mut self, graph: &Graph, nodes: &[u32], sources: &[u32]) -> HopCounts {
        self.seen.fill([0; WORDS]);
        self.active.clear();
        for (bit, &source) in sources.iter().enumerate() {
            let mut mask = [0; WORDS];
            mask[bit / 64] = 1 << (bit % 64);
            self.seen[source as usize] = mask;
            self.frontier[source as usize] = mask;
            self.active.push(source);
        }
        let source_nodes = u64::from(nodes[sources[0] as usize]);
        let mut reached = HopCounts { pairs_by_hops: vec![0], ..HopCounts::default() };
        for hops in 1.. {
            self.spread(graph);
            let mut pairs = 0;
            for &router in &self.touched {
                let r = router as usize;
                self.is_touched[r] = false;
                let next = std::mem::replace(&mut self.next[r], [0; WORDS]);
                let mut new = 0;
                for ((fresh, seen), next) in self.frontier[r].iter_mut().zip(&mut self.seen[r]).zip(next) {
                    *fresh = next & !*seen;
                    *seen |= next;
                    new += u64::from(fresh.count_ones());
                }
                if new > 0 {
                    self.active.push(router);
                    pairs += new;
                    let node_pairs = new * source_nodes * u64::from(nodes[r]);
                    reached.node_pairs += node_pairs;
                    reached.node_hops += node_pairs * hops;
                }
            }
            if pairs == 0 {
                break;
            }
            reached.pairs_by_hops.push(pairs);
        }
        reached
    }

    /// ORs the frontier into `next` of all neighbours, and clears the active list.
    fn spread(&mut self, graph: &Graph) {
        self.touched.clear();
        for router in self.active.drain(..) {
            let from = self.frontier[router as usize];
            for &neighbour in graph.of(router) {
                let n = neighbour as usize;
                for (into, from) in self.next[n].iter_mut().zip(from) {
                    *into |= from;
                }
                if !self.is_touched[n] {
                    self.is_touched[n] = true;
                    self.touched.push(neighbour);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{Cascade, Dragonfly, FatTree, Torus};
    use crate::MachineBuilder;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    fn of(builder: MachineBuilder) -> Distances {
        distances(std::slice::from_ref(&builder.build().unwrap()))
    }

    /// The slow twin: a queue per source.
    fn one_by_one(machine: &Machine) -> Vec<u64> {
        let mut pairs_by_hops = vec![0u64];
        for source in machine.routers().filter(|&r| machine.router_up(r)) {
            let mut hops = vec![u32::MAX; machine.router_count()];
            hops[source.index()] = 0;
            let mut queue = VecDeque::from([source]);
            while let Some(router) = queue.pop_front() {
                for bundle in machine.bundles_from(router) {
                    if hops[bundle.target.index()] == u32::MAX {
                        hops[bundle.target.index()] = hops[router.index()] + 1;
                        queue.push_back(bundle.target);
                    }
                }
            }
            for &h in hops.iter().filter(|&&h| h != u32::MAX && h > 0) {
                if pairs_by_hops.len() <= h as usize {
                    pairs_by_hops.resize(h as usize + 1, 0);
                }
                pairs_by_hops[h as usize] += 1;
            }
        }
        pairs_by_hops
    }

    /// A ring of even size k has mean distance k/4 over all ordered pairs, including a router with itself. Hops of
    /// the dimensions are summed: (4 + 6 + 8)/4 = 4.5 over N^2 pairs, times N/(N-1) over different ones.
    #[test]
    fn torus_has_the_closed_form() {
        let torus = Torus { dims: vec![4, 6, 8], wrap: vec![true; 3].into(), nodes_per_router: 2, ..Torus::default() };
        let found = of(torus.builder().unwrap());
        assert_eq!(found.diameter, 2 + 3 + 4);
        assert!((found.router_hops_mean - 4.5 * 192.0 / 191.0).abs() < 1e-12);
        // Of the 383 other nodes one is on the same router.
        assert!((found.node_hops_mean - 4.5 * 384.0 / 383.0).abs() < 1e-12);
    }

    #[test]
    fn closed_form_of_the_torus_equals_the_search() {
        for (dims, wrap) in [
            (vec![4, 6, 8], vec![true; 3]),
            (vec![5, 7], vec![false; 2]),
            (vec![2, 3, 1, 5], vec![true, false, true, true]),
            (vec![2, 2, 2], vec![true, false, true]),
            (vec![1], vec![true]),
        ] {
            let machine = Torus { dims, wrap: wrap.into(), ..Torus::default() }.builder().unwrap().build().unwrap();
            let nodes = usable_nodes(&machine);
            let (closed, searched) = (in_torus(&machine, &nodes).unwrap(), search_all(&machine, &nodes));
            assert_eq!(closed.pairs_by_hops, searched.pairs_by_hops, "{}", machine.name());
            assert_eq!((closed.node_hops, closed.node_pairs), (searched.node_hops, searched.node_pairs));
        }
    }

    /// A path of k routers has mean distance (k^2 - 1)/(3k) over all ordered pairs.
    #[test]
    fn mesh_has_the_closed_form() {
        let mesh = Torus { dims: vec![5, 7], wrap: vec![false; 2].into(), ..Torus::default() };
        let found = of(mesh.builder().unwrap());
        assert_eq!(found.diameter, 4 + 6);
        let mean = 24.0 / 15.0 + 48.0 / 21.0;
        assert!((found.router_hops_mean - mean * 35.0 / 34.0).abs() < 1e-12);
    }

    /// Node pairs of a three-level fat tree: 0 hops on one edge router, 2 in a pod, 4 otherwise. k = 8: of 127 others
    /// 3, 12 and 112.
    #[test]
    fn fat_tree_has_the_closed_form() {
        let found = of(FatTree { k: 8, ..FatTree::default() }.builder().unwrap());
        assert_eq!(found.diameter, 4);
        assert!((found.node_hops_mean - (12.0 * 2.0 + 112.0 * 4.0) / 127.0).abs() < 1e-12);
    }

    /// One Cascade group: 15 + 5 routers 1 hop away, the other 75 two.
    #[test]
    fn cascade_group_has_the_closed_form() {
        let found = of(Cascade { groups: 1, ..Cascade::default() }.builder().unwrap());
        assert_eq!(found.pairs_by_hops, [0, 96 * 20, 96 * 75]);
    }

    /// p = 4, a = 8, h = 4, g = 33: 7 + 4 routers are 1 hop away. Local-global and global-local paths reach at most
    /// 28 + 28 more in two hops. The other 196 are three hops away, except those that two global hops reach: a
    /// router's 4 global neighbours have 3 other global ports each, so at most 12.
    #[test]
    fn dragonfly_has_three_hops_at_most() {
        let found = of(Dragonfly::default().builder().unwrap());
        let [0, one, two, three] = found.pairs_by_hops[..] else { panic!("{:?}", found.pairs_by_hops) };
        assert_eq!(one, 264 * 11);
        assert!((264 * 56..=264 * 68).contains(&two), "{two}");
        assert_eq!(one + two + three, 264 * 263);
        assert_eq!(found.unreachable_pairs, 0);
    }

    /// The exact numbers. The wiring is written out (channel q = 4 r + i of group G leads to group q, or q + 1 from G
    /// on), and followed for one, two and three steps from every router.
    #[test]
    fn dragonfly_has_the_hops_of_its_written_wiring() {
        let neighbours = |(group, router): (u32, u32)| {
            let local = (0..8).filter(move |&r| r != router).map(move |r| (group, r));
            let global = (4 * router..4 * router + 4).map(move |q| {
                let other = if q < group { q } else { q + 1 };
                let channel_back = if group < other { group } else { group - 1 };
                (other, channel_back / 4)
            });
            local.chain(global)
        };
        let mut expected = vec![0u64; 4];
        for source in (0..33).flat_map(|group| (0..8).map(move |router| (group, router))) {
            let mut seen = std::collections::BTreeSet::from([source]);
            let mut last = vec![source];
            for count in &mut expected[1..] {
                last = last.iter().flat_map(|&router| neighbours(router)).filter(|&next| seen.insert(next)).collect();
                *count += last.len() as u64;
            }
        }
        assert_eq!(of(Dragonfly::default().builder().unwrap()).pairs_by_hops, expected);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn equals_its_slow_twin(a in 2u32..6, h in 1u32..4, g in 2u32..8, failed in proptest::collection::vec(0usize..12, 0..4)) {
            let g = g.min(a * h + 1);
            let mut builder = Dragonfly { p: 1, a, h, g, ..Dragonfly::default() }.builder().unwrap();
            for router in failed {
                let routers = builder.router_up.len();
                builder.router_up[router % routers] = false;
            }
            let machine = builder.build().unwrap();
            prop_assert_eq!(distances(std::slice::from_ref(&machine)).pairs_by_hops, one_by_one(&machine));
        }
    }

    /// More sources than one batch holds, and routers with different numbers of nodes.
    #[test]
    fn equals_its_slow_twin_over_batches() {
        let machine =
            Cascade { groups: 7, usable_nodes: Some(2500), ..Cascade::default() }.builder().unwrap().build().unwrap();
        let found = distances(std::slice::from_ref(&machine));
        assert_eq!(found.pairs_by_hops, one_by_one(&machine));
        assert!(machine.router_count() > BATCH);
    }
}
