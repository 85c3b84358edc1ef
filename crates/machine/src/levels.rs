//! Finds the levels of a tree in its cables.
//!
//! Level 0 is the routers with nodes, and the level of another router is its distance from them. These are the levels
//! of a tree if every cable joins two neighbouring levels, and if every two routers with nodes have a path that goes
//! up and then down. Some cables may be missing or parallel, and routers may have different numbers of nodes.
//!
//! A few nodes may be at higher levels, such as a subnet manager at a spine. If the levels fail, routers with very few
//! nodes no longer count as level 0.

use crate::parts::parts;
use crate::{Cable, Coordinates, MachineBuilder, Shape};
use odonata_units::{GroupId, RouterId};
use std::collections::{HashMap, VecDeque};

/// Most levels. A chain of routers is no tree; the deepest fat trees in use have four levels.
const LEVELS_MAX: u32 = 20;

/// Routers with less than this share of the median of nodes hold a few special nodes. A larger share would take the
/// last, half-filled leaf for a spine.
const FEW_NODES: f64 = 0.25;

/// Phrase of a reading without levels.
const NO_LEVELS: &str = "no levels of a tree";

/// Why the routers have no levels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum NoLevels {
    /// Every router with cables has nodes.
    NodesEverywhere,
    /// A cable joins two routers of the same level.
    SameLevel(RouterId, RouterId),
    /// No path between two routers with nodes goes up and then down.
    NoPath(RouterId, RouterId),
    /// Routers without any path to nodes, or more levels than a tree has.
    Other,
}

/// The level of each router, for the nodes of each router.
fn find(nodes: &[u32], cables: &[Cable]) -> Result<Vec<u8>, NoLevels> {
    let neighbours = Neighbours::of(nodes.len(), cables);
    let first = levels_above(nodes, &neighbours, |count| count > 0);
    let Err(NoLevels::SameLevel(..) | NoLevels::NodesEverywhere) = first else { return first };
    let mut counts: Vec<u32> = nodes.iter().copied().filter(|&count| count > 0).collect();
    counts.sort_unstable();
    let Some(&median) = counts.get(counts.len() / 2) else { return first };
    let few = f64::from(median) * FEW_NODES;
    levels_above(nodes, &neighbours, |count| count > 0 && f64::from(count) >= few).or(first)
}

/// The neighbours of each router, in arrays.
struct Neighbours {
    first: Vec<usize>,
    all: Vec<u32>,
}

impl Neighbours {
    fn of(routers: usize, cables: &[Cable]) -> Self {
        let mut pairs: Vec<(u32, u32)> = cables.iter().flat_map(|c| [(c.a.0, c.b.0), (c.b.0, c.a.0)]).collect();
        pairs.sort_unstable();
        pairs.dedup();
        let first = (0..=routers).map(|router| pairs.partition_point(|pair| (pair.0 as usize) < router)).collect();
        Self { first, all: pairs.into_iter().map(|pair| pair.1).collect() }
    }

    fn at(&self, router: usize) -> &[u32] {
        &self.all[self.first[router]..self.first[router + 1]]
    }

    /// Every pair once.
    fn pairs(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let from = |router: usize| self.at(router).iter().map(move |&to| (router as u32, to));
        (0..self.first.len() - 1).flat_map(from).filter(|(a, b)| a < b)
    }
}

fn levels_above(nodes: &[u32], neighbours: &Neighbours, is_leaf: impl Fn(u32) -> bool) -> Result<Vec<u8>, NoLevels> {
    let joined = |router: usize| !neighbours.at(router).is_empty();
    let mut level: Vec<u32> = nodes.iter().map(|&count| if is_leaf(count) { 0 } else { u32::MAX }).collect();
    if (0..nodes.len()).all(|router| level[router] == 0 || !joined(router)) {
        return Err(NoLevels::NodesEverywhere);
    }
    let mut queue: VecDeque<usize> = (0..nodes.len()).filter(|&router| level[router] == 0).collect();
    while let Some(router) = queue.pop_front() {
        for &next in neighbours.at(router) {
            if level[next as usize] == u32::MAX {
                level[next as usize] = level[router] + 1;
                queue.push_back(next as usize);
            }
        }
    }
    for (router, level) in level.iter_mut().enumerate() {
        match *level {
            // A router without cables is at no level; nothing passes it.
            u32::MAX if !joined(router) => *level = 0,
            LEVELS_MAX.. => return Err(NoLevels::Other),
            _ => {}
        }
    }
    if let Some((a, b)) = neighbours.pairs().find(|&(a, b)| level[a as usize] == level[b as usize]) {
        return Err(NoLevels::SameLevel(RouterId(a), RouterId(b)));
    }
    match without_path(nodes, neighbours, &level) {
        Some((a, b)) => Err(NoLevels::NoPath(a, b)),
        None => Ok(level.into_iter().map(|level| level as u8).collect()),
    }
}

/// Two connected routers with nodes, if there are any without a path up and then down: they have no common ancestor.
fn without_path(nodes: &[u32], neighbours: &Neighbours, level: &[u32]) -> Option<(RouterId, RouterId)> {
    let above = |router: usize| {
        neighbours.at(router).iter().map(|&next| next as usize).filter(move |&next| level[next] > level[router])
    };
    // Bits in the order of falling levels: the common ancestors of most pairs are at the top and are found first.
    let mut order: Vec<usize> = (0..nodes.len()).collect();
    order.sort_by_key(|&router| std::cmp::Reverse(level[router]));
    let mut bit = vec![0; nodes.len()];
    order.iter().enumerate().for_each(|(at, &router)| bit[router] = at);
    let part = parts(nodes.len(), neighbours.pairs());
    // Routers with the same parents have the same ancestors. Most leaves of a pod do.
    let mut ends: Vec<(u32, Vec<usize>, usize)> = (0..nodes.len())
        .filter(|&router| nodes[router] > 0 && !neighbours.at(router).is_empty())
        .map(|router| (part[router], above(router).collect(), router))
        .collect();
    ends.sort();
    ends.dedup_by(|x, y| (x.0, &x.1) == (y.0, &y.1) && !x.1.is_empty());
    let ancestors: Vec<Vec<u64>> = ends
        .iter()
        .map(|(_, _, router)| {
            let mut set = vec![0u64; nodes.len().div_ceil(64)];
            let mut stack = vec![*router];
            while let Some(router) = stack.pop() {
                let (word, mask) = (bit[router] / 64, 1 << (bit[router] % 64));
                if set[word] & mask == 0 {
                    set[word] |= mask;
                    stack.extend(above(router));
                }
            }
            set
        })
        .collect();
    let meet = |a: usize, b: usize| ancestors[a].iter().zip(&ancestors[b]).any(|(x, y)| x & y != 0);
    (0..ends.len()).find_map(|a| {
        let others = (a + 1..ends.len()).take_while(|&b| ends[b].0 == ends[a].0);
        let b = others.into_iter().find(|&b| !meet(a, b))?;
        Some((RouterId::from_index(ends[a].2), RouterId::from_index(ends[b].2)))
    })
}

impl MachineBuilder {
    /// Takes the shape of a fat tree if the cables have its levels. Without coordinates, the routers get
    /// `level` and `index`, and `pod` if there are pods. Otherwise the reading of a graph says why it has none.
    pub(crate) fn take_levels(&mut self) {
        let found = self.find_levels();
        self.reading.retain(|phrase| !phrase.starts_with(NO_LEVELS));
        let Err(reason) = found else { return };
        let name = |router: RouterId| self.coordinates.router_name(router);
        let reason = match reason {
            NoLevels::SameLevel(a, b) => format!("a cable joins {} and {} of one level", name(a), name(b)),
            NoLevels::NoPath(a, b) => format!("no path from {} up and then down to {}", name(a), name(b)),
            NoLevels::NodesEverywhere | NoLevels::Other => return,
        };
        // Families know their shapes.
        if self.shape == Shape::Graph && !self.reading.is_empty() {
            self.reading.push(format!("{NO_LEVELS}: {reason}"));
        }
    }

    fn find_levels(&mut self) -> Result<(), NoLevels> {
        let mut nodes = vec![0; self.group_of.len()];
        self.node_router.iter().for_each(|router| nodes[router.index()] += 1);
        let level_of = find(&nodes, &self.cables)?;
        let levels = level_of.iter().copied().max().map_or(1, |top| u32::from(top) + 1);
        if self.coordinates.axes.is_empty() {
            self.name_levels(&level_of, levels);
        }
        self.shape = Shape::FatTree { levels, level_of };
        Ok(())
    }

    /// Coordinates of the levels, and pods as groups: the parts that stay connected without the top level. The routers
    /// of the top level are the last group. With two levels, every leaf would be a pod, so there are none.
    fn name_levels(&mut self, level_of: &[u8], levels: u32) {
        let top = |router: RouterId| u32::from(level_of[router.index()]) + 1 == levels;
        let routers = level_of.len();
        let mut pod_of = vec![0u32; routers];
        let has_pods = levels > 2 && self.group_of.iter().all(|group| group.0 == 0);
        if has_pods {
            let below = self.cables.iter().filter(|cable| !top(cable.a) && !top(cable.b));
            let part = parts(routers, below.map(|cable| (cable.a.0, cable.b.0)));
            let is_top = |router: usize| top(RouterId::from_index(router));
            let mut known: Vec<u32> = (0..routers).filter(|&r| !is_top(r)).map(|router| part[router]).collect();
            known.sort_unstable();
            known.dedup();
            for router in 0..routers {
                pod_of[router] = match is_top(router) {
                    true => known.len() as u32,
                    false => known.binary_search(&part[router]).expect("every pod is listed") as u32,
                };
            }
            self.group_of = pod_of.iter().map(|&pod| GroupId(pod)).collect();
        }
        let mut next = HashMap::new();
        let mut values = Vec::with_capacity(3 * routers);
        for router in 0..routers {
            let index: &mut u32 = next.entry((level_of[router], pod_of[router])).or_default();
            values.push(u32::from(level_of[router]));
            values.extend(has_pods.then_some(pod_of[router]));
            values.push(*index);
            *index += 1;
        }
        let axes: &[&str] = if has_pods { &["level", "pod", "index"] } else { &["level", "index"] };
        let size = |axis| values.iter().skip(axis).step_by(axes.len()).max().map_or(1, |&most| most + 1);
        let numbered = || (0..routers as u32).map(|r| self.coordinates.router_name(RouterId(r))).collect();
        // Routers keep their names of the file, or their numbers.
        let names = if self.coordinates.names.is_empty() { numbered() } else { self.coordinates.names.clone() };
        self.coordinates = Coordinates {
            axes: axes.iter().map(|&axis| axis.to_owned()).collect(),
            sizes: (0..axes.len()).map(size).collect(),
            values,
            names,
            ..Coordinates::default()
        };
    }
}
