//! Destination modulo k on trees whose levels are regular (Zahavi, "D-Mod-K routing providing non-blocking traffic
//! for shift permutations on real life fat trees", 2010), without a table of all nodes.
//!
//! The destinations are numbered leaf by leaf, in the order of the tree; every leaf counts with the nodes of the
//! largest. A router of level l has w_l parents over p_l cables each. Destination number d takes, at every router of
//! level l that has it not below,
//!
//! ```text
//! q = floor(d / (w_0 w_1 .. w_(l-1))) mod (w_l p_l),  parent q mod w_l,  cable floor(q / w_l)
//! ```
//!
//! with parents in the order of their numbers. Downwards it takes the same cable number of each bundle.

use super::ends::Ends;
use super::ForwardingRule;
use crate::next_hop::{NextHops, Port};
use odonata_units::{NodeId, RouterId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// No child.
const NONE: u16 = u16::MAX;

/// A neighbour and the ports of the cables to it, ascending.
pub(crate) type Bundle = (RouterId, Vec<Port>);

/// A tree by levels, with its destinations in order.
pub(crate) struct Tree {
    pub(crate) hops: Arc<NextHops>,
    pub(crate) level_of: Vec<u8>,
    pub(crate) ends: Ends,
    /// Neighbours of each router one level up, and one level down, in the order of their numbers.
    pub(crate) parents: Vec<Vec<Bundle>>,
    pub(crate) children: Vec<Vec<Bundle>>,
    /// Numbers of the ends in the order of the tree.
    pub(crate) order: Vec<usize>,
    /// Destinations of a leaf: the nodes of the largest.
    pub(crate) per_leaf: usize,
}

impl Tree {
    /// The tree of a machine whose routers have these levels.
    ///
    /// # Errors
    /// A router above level 0 has nodes.
    pub(crate) fn of(hops: &Arc<NextHops>, level_of: &[u8]) -> Result<Self, RouterId> {
        let ends = Ends::of(hops);
        if let Some(&high) = ends.routers.iter().find(|router| level_of[router.index()] > 0) {
            return Err(high);
        }
        let neighbours = |at: RouterId, level: i16| {
            let mut bundles: BTreeMap<RouterId, Vec<Port>> = BTreeMap::new();
            for port in hops.ports(at) {
                let next = hops.neighbour(at, port);
                if i16::from(level_of[next.index()]) == i16::from(level_of[at.index()]) + level {
                    bundles.entry(next).or_default().push(port);
                }
            }
            bundles.into_iter().collect()
        };
        let routers = || (0..hops.routers()).map(RouterId);
        let parents = routers().map(|at| neighbours(at, 1)).collect();
        let children = routers().map(|at| neighbours(at, -1)).collect();
        let (per_leaf, level_of) = (ends.most_nodes(), level_of.to_vec());
        let mut tree = Self { hops: Arc::clone(hops), level_of, ends, parents, children, order: Vec::new(), per_leaf };
        tree.order = tree.leaves_in_order();
        Ok(tree)
    }

    /// Number of levels.
    pub(crate) fn levels(&self) -> usize {
        self.level_of.iter().map(|&level| usize::from(level) + 1).max().unwrap_or(0)
    }

    /// The leaves, sorted by the subtrees that contain them, from large to small. A subtree is a part that is
    /// connected below some level, and has the number of its first leaf.
    fn leaves_in_order(&self) -> Vec<usize> {
        let mut keys: Vec<Vec<u32>> = vec![Vec::new(); self.ends.routers.len()];
        for top in (0..self.levels()).rev() {
            let mut part = vec![u32::MAX; self.level_of.len()];
            for &leaf in &self.ends.routers {
                let mut stack = vec![leaf];
                while let Some(at) = stack.pop() {
                    if part[at.index()] != u32::MAX {
                        continue;
                    }
                    part[at.index()] = leaf.0;
                    let above = self.parents[at.index()].iter().filter(|(next, _)| self.level(*next) <= top);
                    stack.extend(above.chain(&self.children[at.index()]).map(|(next, _)| *next));
                }
            }
            keys.iter_mut().zip(&self.ends.routers).for_each(|(key, leaf)| key.push(part[leaf.index()]));
        }
        let mut order: Vec<usize> = (0..self.ends.routers.len()).collect();
        order.sort_by_key(|&end| &keys[end]);
        order
    }

    pub(crate) fn level(&self, router: RouterId) -> usize {
        usize::from(self.level_of[router.index()])
    }
}

/// Parents and cables of the routers of one level.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Level {
    parents: u32,
    cables: u32,
    /// Product of the parents of all levels below.
    step: u32,
}

/// D-mod-k by arithmetic.
pub(crate) struct DModK {
    hops: Arc<NextHops>,
    level_of: Vec<u8>,
    levels: Vec<Level>,
    /// Port of cable c to parent i of router r at `up[r][c * parents + i]`: by q.
    up: Vec<Vec<Port>>,
    /// Ports of the cables to child i of router r at `down[r][i * cables + c]`.
    down: Vec<Vec<Port>>,
    /// Number of each node in the order of the tree.
    number: Vec<u32>,
    leaf_of: Vec<u32>,
    leaves: usize,
    /// Child of router r with leaf l below it at `r * leaves + l`.
    child: Vec<u16>,
}

impl DModK {
    /// The routing of a tree; `None` if its levels are not regular.
    pub(crate) fn of(tree: &Tree) -> Option<Self> {
        let levels = levels(tree)?;
        let leaves = tree.order.len();
        let mut dmodk = Self {
            hops: Arc::clone(&tree.hops),
            level_of: tree.level_of.clone(),
            up: tree.parents.iter().map(|parents| by_cable(parents)).collect(),
            down: tree.children.iter().map(|children| by_child(children)).collect(),
            number: vec![0; tree.hops.nodes() as usize],
            leaf_of: vec![0; tree.hops.nodes() as usize],
            leaves,
            child: vec![NONE; tree.level_of.len() * leaves],
            levels,
        };
        for (leaf, &end) in tree.order.iter().enumerate() {
            for (slot, node) in tree.ends.nodes(end).iter().enumerate() {
                dmodk.number[node.index()] = (leaf * tree.per_leaf + slot) as u32;
                dmodk.leaf_of[node.index()] = leaf as u32;
            }
            dmodk.climb(tree, leaf, tree.ends.routers[end])?;
        }
        dmodk.reaches_all(tree).then_some(dmodk)
    }

    /// Records the children above a leaf; `None` if a router has it below two children.
    fn climb(&mut self, tree: &Tree, leaf: usize, router: RouterId) -> Option<()> {
        let mut stack = vec![router];
        while let Some(at) = stack.pop() {
            for (above, _) in &tree.parents[at.index()] {
                let place = tree.children[above.index()].iter().position(|(child, _)| *child == at)?;
                let child = &mut self.child[above.index() * self.leaves + leaf];
                if *child == NONE {
                    *child = u16::try_from(place).ok()?;
                    stack.push(*above);
                } else if usize::from(*child) != place {
                    return None;
                }
            }
        }
        Some(())
    }

    /// Whether every flow that goes up meets a router above its destination. Flows that differ only in the source's
    /// leaf join soon, so every (router, destination) is followed once.
    fn reaches_all(&self, tree: &Tree) -> bool {
        let mut seen = vec![u32::MAX; tree.level_of.len()];
        (0..).zip(&tree.order).all(|(leaf, &end)| {
            let to = tree.ends.routers[end];
            tree.ends.nodes(end).iter().all(|&node| {
                tree.ends.routers.iter().all(|&from| {
                    let mut at = from;
                    while at != to && self.child[at.index() * self.leaves + leaf] == NONE && seen[at.index()] != node.0
                    {
                        seen[at.index()] = node.0;
                        if self.up[at.index()].is_empty() {
                            return false;
                        }
                        at = self.hops.neighbour(at, self.port(at, node, node));
                    }
                    true
                })
            })
        })
    }

    /// The number of the cable and parent of destination number `d` above routers of level `l`.
    #[inline]
    fn up_link(&self, l: usize, d: u32) -> u32 {
        let Level { parents, cables, step } = self.levels[l];
        d / step % (parents * cables)
    }
}

/// Parents and cables by level; `None` if they differ within a level.
fn levels(tree: &Tree) -> Option<Vec<Level>> {
    let mut levels: Vec<Option<Level>> = vec![None; tree.levels()];
    let working = (0..tree.hops.routers()).map(RouterId).filter(|&r| tree.hops.router_up(r));
    for at in working {
        let (level, parents) = (tree.level(at), &tree.parents[at.index()]);
        let cables = parents.first().map_or(1, |(_, ports)| ports.len());
        if parents.iter().any(|(_, ports)| ports.len() != cables) {
            return None;
        }
        let own = Level { parents: parents.len() as u32, cables: cables as u32, step: 1 };
        match levels[level] {
            Some(other) if other != own => return None,
            _ => levels[level] = Some(own),
        }
    }
    let mut step = 1u32;
    let mut of = |level: Option<Level>| {
        let level = Level { step, ..level? };
        // A destination number below 2^32 has no digits above.
        step = step.saturating_mul(level.parents.max(1));
        Some(level)
    };
    levels.into_iter().map(&mut of).collect()
}

/// Ports in the order of q: the first cable to every parent, then the second.
fn by_cable(bundles: &[Bundle]) -> Vec<Port> {
    let cables = bundles.first().map_or(0, |(_, ports)| ports.len());
    (0..cables).flat_map(|cable| bundles.iter().filter_map(move |(_, ports)| ports.get(cable).copied())).collect()
}

fn by_child(bundles: &[Bundle]) -> Vec<Port> {
    bundles.iter().flat_map(|(_, ports)| ports.iter().copied()).collect()
}

impl ForwardingRule for DModK {
    #[inline]
    fn port(&self, at: RouterId, _: NodeId, destination: NodeId) -> Port {
        let level = usize::from(self.level_of[at.index()]);
        let (d, leaf) = (self.number[destination.index()], self.leaf_of[destination.index()]);
        match self.child[at.index() * self.leaves + leaf as usize] {
            NONE => self.up[at.index()][self.up_link(level, d) as usize],
            child => {
                let below = self.levels[level - 1];
                let cable = self.up_link(level - 1, d) / below.parents;
                self.down[at.index()][usize::from(child) * below.cables as usize + cable as usize]
            }
        }
    }

    fn ports(&self, at: RouterId, destination: NodeId, out: &mut Vec<Port>) {
        let to = self.hops.router_of(destination);
        let leaf = self.leaf_of[destination.index()] as usize;
        let is_on_path = !self.up[at.index()].is_empty() || self.child[at.index() * self.leaves + leaf] != NONE;
        if at != to && is_on_path {
            out.push(self.port(at, destination, destination));
        }
    }

    fn by_node(&self) -> bool {
        true
    }
}
