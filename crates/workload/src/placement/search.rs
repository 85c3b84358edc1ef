//! Search for a mapping of ranks to the places of a torus with few byte-hops.
//!
//! The objective is the sum of bytes times hops over all pairs of ranks. [`bisect`] makes a first mapping: it
//! repeatedly cuts the ranks and the box of the nodes in two. [`improve`] exchanges ranks by simulated annealing
//! (Kirkpatrick, Gelatt and Vecchi, Science 1983) with a temperature that falls to zero.

use super::cell::{cell, place};
use odonata_units::Stream;
use std::collections::BinaryHeap;

/// Places of a torus or a mesh. Nodes are in row-major order of their coordinates, each with the same number of places.
/// Place p is on node p / `per_node`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TorusPlaces {
    /// Nodes along each axis.
    pub sizes: Vec<u32>,
    /// Whether each axis is a ring.
    pub wraps: Vec<bool>,
    /// Places of a node.
    pub per_node: u32,
}

/// Bytes exchanged between ranks, both directions together. The partners of rank r are from `starts[r]` to `starts[r +
/// 1]`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RankGraph {
    /// First partner of each rank, and the end.
    pub starts: Vec<usize>,
    /// Partners.
    pub partners: Vec<u32>,
    /// Bytes exchanged with each partner.
    pub bytes: Vec<u64>,
}

impl RankGraph {
    /// Number of ranks.
    pub fn ranks(&self) -> u32 {
        (self.starts.len() - 1) as u32
    }

    fn of(&self, rank: u32) -> impl Iterator<Item = (u32, u64)> + '_ {
        let range = self.starts[rank as usize]..self.starts[rank as usize + 1];
        self.partners[range.clone()].iter().copied().zip(self.bytes[range].iter().copied())
    }
}

impl TorusPlaces {
    /// Number of places.
    pub fn count(&self) -> u32 {
        self.sizes.iter().product::<u32>() * self.per_node
    }

    fn coordinates(&self) -> Vec<u32> {
        let nodes: u32 = self.sizes.iter().product();
        (0..nodes).flat_map(|node| place(&self.sizes, node)).collect()
    }
}

/// Coordinates of all nodes, and hops between nodes.
struct Hops<'p> {
    places: &'p TorusPlaces,
    coordinates: Vec<u32>,
}

impl<'p> Hops<'p> {
    fn new(places: &'p TorusPlaces) -> Self {
        Self { places, coordinates: places.coordinates() }
    }

    fn of_node(&self, node: u32) -> &[u32] {
        let axes = self.places.sizes.len();
        &self.coordinates[node as usize * axes..][..axes]
    }

    fn between(&self, a: u32, b: u32) -> u32 {
        let (a, b) = (self.of_node(a / self.places.per_node), self.of_node(b / self.places.per_node));
        let axes = a.iter().zip(b).zip(&self.places.sizes).zip(&self.places.wraps);
        axes.map(|(((&a, &b), &size), &wraps)| {
            let apart = a.abs_diff(b);
            if wraps {
                apart.min(size - apart)
            } else {
                apart
            }
        })
        .sum()
    }

    /// A place on the node of `place` or on a neighbouring node.
    fn near(&self, place: u32, stream: &mut Stream) -> u32 {
        let (sizes, per_node) = (&self.places.sizes, self.places.per_node);
        let on_node = stream.below(per_node.into()) as u32;
        let mut at = self.of_node(place / per_node).to_vec();
        // The same node is as likely as each step.
        let step = stream.index(2 * sizes.len() + 1);
        if let Some(size) = sizes.get(step / 2) {
            let to = (at[step / 2] + if step % 2 == 0 { 1 } else { size - 1 }) % size;
            at[step / 2] = to;
        }
        cell(sizes, &at) * per_node + on_node
    }
}

/// Sum of bytes times hops of a mapping, each pair of ranks once.
pub fn hop_bytes(places: &TorusPlaces, graph: &RankGraph, place_of_rank: &[u32]) -> u128 {
    let hops = Hops::new(places);
    let of_rank = |rank: u32| -> u128 {
        let here = place_of_rank[rank as usize];
        let each = graph.of(rank).filter(|&(partner, _)| partner > rank);
        each.map(|(partner, bytes)| u128::from(hops.between(here, place_of_rank[partner as usize])) * u128::from(bytes))
            .sum()
    };
    (0..graph.ranks()).map(of_rank).sum()
}

/// A mapping by recursive bisection. The box of the nodes is cut across its longest axis. The ranks are divided into a
/// part that grows from a rank at the rim, and the rest. Each step adds the rank with the most bytes to the part.
///
/// # Panics
/// If there are more ranks than places.
pub fn bisect(places: &TorusPlaces, graph: &RankGraph) -> Vec<u32> {
    assert!(graph.ranks() <= places.count(), "a place for each rank");
    let mut bisection = Bisection {
        places,
        graph,
        place_of_rank: vec![0; graph.ranks() as usize],
        part: vec![0; graph.ranks() as usize],
        parts: 0,
    };
    let low = vec![0; places.sizes.len()];
    bisection.divide((0..graph.ranks()).collect(), &low, &places.sizes);
    bisection.place_of_rank
}

struct Bisection<'a> {
    places: &'a TorusPlaces,
    graph: &'a RankGraph,
    place_of_rank: Vec<u32>,
    /// The current part of each rank.
    part: Vec<u32>,
    parts: u32,
}

impl Bisection<'_> {
    /// Puts ranks on the nodes of a part of the box.
    fn divide(&mut self, ranks: Vec<u32>, low: &[u32], sizes: &[u32]) {
        let longest = (0..sizes.len()).rev().max_by_key(|&axis| sizes[axis]).expect("a torus has axes");
        if sizes[longest] == 1 {
            let node = cell(&self.places.sizes, low);
            for (&rank, on_node) in ranks.iter().zip(0..) {
                self.place_of_rank[rank as usize] = node * self.places.per_node + on_node;
            }
            return;
        }
        let half = sizes[longest] / 2;
        let (whole, first) = (u64::from(sizes[longest]), u64::from(half));
        let count = (ranks.len() as u64 * first).div_ceil(whole) as usize;
        let (near, far) = self.grow(ranks, count);
        let (mut first_sizes, mut rest_sizes, mut rest_low) = (sizes.to_vec(), sizes.to_vec(), low.to_vec());
        first_sizes[longest] = half;
        rest_sizes[longest] -= half;
        rest_low[longest] += half;
        self.divide(near, low, &first_sizes);
        self.divide(far, &rest_low, &rest_sizes);
    }

    /// `count` ranks that belong together, and the rest.
    fn grow(&mut self, ranks: Vec<u32>, count: usize) -> (Vec<u32>, Vec<u32>) {
        if count == 0 || count == ranks.len() {
            return if count == 0 { (Vec::new(), ranks) } else { (ranks, Vec::new()) };
        }
        // The farthest rank from the farthest rank: a rank at the rim.
        let middle = *self.take(&ranks, ranks[0], ranks.len(), false).last().expect("there are ranks");
        let rim = *self.take(&ranks, middle, ranks.len(), false).last().expect("there are ranks");
        let near = self.take(&ranks, rim, count, true);
        let mut is_near: Vec<u32> = near.clone();
        is_near.sort_unstable();
        let far = ranks.into_iter().filter(|rank| is_near.binary_search(rank).is_err()).collect();
        (near, far)
    }

    /// Takes `count` ranks from `start`. The next one is the rank with the most bytes to the taken ones, or if not
    /// `heaviest`, the rank that was reached first. If there is no partner, it is the first of the rest.
    fn take(&mut self, ranks: &[u32], start: u32, count: usize, heaviest: bool) -> Vec<u32> {
        self.parts += 2;
        let (inside, done) = (self.parts - 1, self.parts);
        ranks.iter().for_each(|&rank| self.part[rank as usize] = inside);
        let mut gain = std::collections::HashMap::new();
        let (mut taken, mut rest) = (Vec::with_capacity(count), ranks.iter());
        // Most bytes first, then the rank that was reached first.
        let mut queue = BinaryHeap::from([(0u64, u64::MAX, start)]);
        let mut reached = u64::MAX;
        while taken.len() < count {
            let next = queue.pop().map(|(_, _, rank)| rank);
            let next = next.or_else(|| rest.find(|&&rank| self.part[rank as usize] == inside).copied());
            let rank = next.expect("there are ranks left");
            if self.part[rank as usize] != inside {
                continue;
            }
            self.part[rank as usize] = done;
            taken.push(rank);
            for (partner, bytes) in self.graph.of(rank).filter(|&(partner, _)| self.part[partner as usize] == inside) {
                reached -= 1;
                if heaviest {
                    let all: &mut u64 = gain.entry(partner).or_default();
                    *all = all.saturating_add(bytes);
                    queue.push((*all, reached, partner));
                } else {
                    queue.push((0, reached, partner));
                }
            }
        }
        taken
    }
}

/// Improves a mapping by exchanges. In each of `tries`, a rank moves next to one of its partners and the rank there
/// takes its place. The exchange is accepted if the sum of bytes times hops does not grow. Otherwise it is accepted
/// with probability exp(-change / (heat x bytes of a rank)). The heat falls to zero along a parabola; with `heat` 0 no
/// worse mapping is accepted. Returns the best mapping of the search. The result depends only on the arguments.
///
/// # Panics
/// If a place is beyond the torus.
pub fn improve(
    places: &TorusPlaces,
    graph: &RankGraph,
    mut place_of_rank: Vec<u32>,
    seed: u64,
    tries: u64,
    heat: f64,
) -> Vec<u32> {
    const NOBODY: u32 = u32::MAX;
    let hops = Hops::new(places);
    let mut rank_of_place = vec![NOBODY; places.count() as usize];
    place_of_rank.iter().zip(0..).for_each(|(&place, rank)| rank_of_place[place as usize] = rank);
    let mut stream = Stream::new(seed, "placement/mapping/search", &[]);
    if graph.partners.is_empty() {
        return place_of_rank;
    }
    let bytes_of_rank = graph.bytes.iter().map(|&bytes| bytes as f64).sum::<f64>() / f64::from(graph.ranks());
    let (mut best, mut now, mut least) = (place_of_rank.clone(), 0i128, 0i128);
    for tried in 0..tries {
        let left = 1.0 - tried as f64 / tries as f64;
        let warmth = heat * bytes_of_rank * left * left;
        let rank = stream.below(graph.ranks().into()) as u32;
        let range = graph.starts[rank as usize]..graph.starts[rank as usize + 1];
        if range.is_empty() {
            continue;
        }
        let partner = graph.partners[range.start + stream.index(range.len())];
        let (here, there) = (place_of_rank[rank as usize], hops.near(place_of_rank[partner as usize], &mut stream));
        if here / places.per_node == there / places.per_node {
            continue;
        }
        let other = rank_of_place[there as usize];
        let change = |moved: u32, from: u32, to: u32, except: u32| -> i128 {
            let each = graph.of(moved).filter(|&(partner, _)| partner != except && partner != moved);
            each.map(|(partner, bytes)| {
                let at = place_of_rank[partner as usize];
                i128::from(bytes) * (i128::from(hops.between(to, at)) - i128::from(hops.between(from, at)))
            })
            .sum()
        };
        // The distance between the two exchanged ranks stays the same.
        let mut sum = change(rank, here, there, other);
        if other != NOBODY {
            sum += change(other, there, here, rank);
        }
        if sum <= 0 || (warmth > 0.0 && stream.unit() < (-(sum as f64) / warmth).exp()) {
            now += sum;
            place_of_rank[rank as usize] = there;
            rank_of_place.swap(here as usize, there as usize);
            if other != NOBODY {
                place_of_rank[other as usize] = here;
            }
        }
        // Checked once per rank, because a copy takes as long as that many tries.
        if now < least && (tried % u64::from(graph.ranks()) == 0 || tried + 1 == tries) {
            least = now;
            best.clone_from(&place_of_rank);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ring of ranks, each with its two neighbours, numbered by multiples of `step`.
    fn ring(ranks: u32, step: u32) -> RankGraph {
        let at = |place: u32| place % ranks * step % ranks;
        let mut partners_of = vec![Vec::new(); ranks as usize];
        for place in 0..ranks {
            partners_of[at(place) as usize] = vec![at(place + 1), at(place + ranks - 1)];
        }
        let starts = (0..=ranks as usize).map(|rank| 2 * rank).collect();
        RankGraph { starts, partners: partners_of.concat(), bytes: vec![10; 2 * ranks as usize] }
    }

    fn line(nodes: u32) -> TorusPlaces {
        TorusPlaces { sizes: vec![nodes], wraps: vec![true], per_node: 1 }
    }

    /// A ring of 16 ranks on a ring of 16 nodes has at best one hop each: 16 x 10 byte hops. Numbered in steps of
    /// seven, neighbours are 7 apart.
    #[test]
    fn sums_by_hand() {
        let graph = ring(16, 7);
        assert_eq!(hop_bytes(&line(16), &graph, &(0..16).collect::<Vec<u32>>()), 16 * 7 * 10);
        let found = improve(&line(16), &graph, bisect(&line(16), &graph), 1, 10_000, 0.0);
        assert_eq!(hop_bytes(&line(16), &graph, &found), 160);
    }

    /// On a mesh of two nodes with two places each, a ring of four needs two crossings, and bisection finds them.
    #[test]
    fn bisection_keeps_partners_together() {
        let places = TorusPlaces { sizes: vec![2], wraps: vec![false], per_node: 2 };
        assert_eq!(hop_bytes(&places, &ring(4, 1), &bisect(&places, &ring(4, 1))), 20);
        // Pairs that only communicate with each other, initially apart.
        let pairs = RankGraph { starts: vec![0, 1, 2, 3, 4], partners: vec![2, 3, 0, 1], bytes: vec![1; 4] };
        assert_eq!(hop_bytes(&places, &pairs, &bisect(&places, &pairs)), 0);
        assert_eq!(hop_bytes(&places, &pairs, &improve(&places, &pairs, vec![0, 1, 2, 3], 1, 100, 0.0)), 0);
    }

    /// Each rank has its own place, exchanges never increase the sum, and equal seeds give equal results.
    #[test]
    fn exchanges_keep_all_ranks() {
        let places = TorusPlaces { sizes: vec![3, 4], wraps: vec![true, false], per_node: 3 };
        let graph = ring(31, 12);
        let begun = bisect(&places, &graph);
        let found = improve(&places, &graph, begun.clone(), 5, 3_000, 0.5);
        for mapping in [&begun, &found] {
            let mut held = mapping.clone();
            held.sort_unstable();
            held.dedup();
            assert_eq!((held.len(), held.iter().all(|&place| place < 36)), (31, true));
        }
        assert!(hop_bytes(&places, &graph, &found) <= hop_bytes(&places, &graph, &begun));
        assert_eq!(found, improve(&places, &graph, begun, 5, 3_000, 0.5));
    }
}
