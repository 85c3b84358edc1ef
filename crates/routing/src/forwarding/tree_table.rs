//! Destination modulo k by counting, for trees with missing cables or routers.
//!
//! The destinations come in the order of the tree; a leaf with fewer nodes than the largest counts as full. For each
//! destination:
//!
//! 1. The *trunk* leads from its leaf up to the top. At each level it takes the cable with the fewest destinations
//!    downwards so far; of several, the one to the parent with the fewest destinations (then the first cable, then
//!    the first parent).
//! 2. Other routers above the leaf go down by the shortest path. Only packets that failed cables keep from the trunk
//!    meet them.
//! 3. All others go up, to a router from which the rest of the path is shortest; of several, to one that leads to the
//!    trunk, over the cable with the trunk's number. Without one, over the cable with the fewest destinations that
//!    were kept from their trunks.
//!
//! On a regular tree these are the paths of [`super::tree::DModK`], if the nodes of every subtree are a multiple of the
//! links above one of its routers. OpenSM's `ftree` counts like this.

use super::candidates::{UnreachedPair, UNREACHED};
use super::table::ForwardingTable;
use super::tree::{Bundle, Tree};
use crate::next_hop::Port;
use odonata_units::{NodeId, RouterId};

/// State of the tables under construction.
struct TreeTables<'a> {
    tree: &'a Tree,
    /// Destinations of each link so far.
    counts: Vec<u32>,
    /// Routers in the order of their levels, from the top.
    from_top: Vec<RouterId>,
    /// Hops to the destination; of the routers above its leaf by links down only.
    hops_left: Vec<u32>,
    /// Whether the path joins the trunk.
    on_trunk: Vec<bool>,
    /// Trunks through each router so far.
    trunks: Vec<u32>,
    /// Number of the trunk's cable above each level.
    trunk_cables: Vec<usize>,
}

/// Tables of a tree.
pub(crate) fn tables(tree: &Tree) -> Result<ForwardingTable, UnreachedPair> {
    let routers = tree.level_of.len();
    let mut from_top: Vec<RouterId> = (0..routers as u32).map(RouterId).collect();
    from_top.sort_by_key(|&r| std::cmp::Reverse(tree.level(r)));
    let mut tables = TreeTables {
        tree,
        counts: vec![0; tree.hops.link_count()],
        from_top,
        hops_left: vec![UNREACHED; routers],
        on_trunk: vec![false; routers],
        trunks: vec![0; routers],
        trunk_cables: vec![0; tree.levels()],
    };
    let mut table = ForwardingTable::empty(&tree.hops);
    for &end in &tree.order {
        let (leaf, nodes) = (tree.ends.routers[end], tree.ends.nodes(end));
        for slot in 0..tree.per_leaf {
            tables.route(leaf, nodes.get(slot).copied(), &mut table);
        }
        let cut = |from: &&RouterId| tables.hops_left[from.index()] == UNREACHED;
        if let Some(&from) = tree.ends.routers.iter().find(cut) {
            return Err(UnreachedPair { from, to: leaf });
        }
    }
    Ok(table)
}

impl TreeTables<'_> {
    /// Adds the entries for a node of a leaf, or counts a node that the leaf lacks.
    fn route(&mut self, leaf: RouterId, node: Option<NodeId>, table: &mut ForwardingTable) {
        let tree = self.tree;
        self.hops_left.fill(UNREACHED);
        self.on_trunk.fill(false);
        self.hops_left[leaf.index()] = 0;
        self.grow_trunk(leaf, node, table);
        for at in self.from_top.clone().into_iter().rev() {
            if at != leaf && self.hops_left[at.index()] == UNREACHED {
                self.choose(at, &tree.children[at.index()], node, table);
            }
        }
        for at in self.from_top.clone() {
            if self.hops_left[at.index()] == UNREACHED {
                self.choose(at, &tree.parents[at.index()], node, table);
            }
        }
    }

    /// Step 1.
    fn grow_trunk(&mut self, leaf: RouterId, node: Option<NodeId>, table: &mut ForwardingTable) {
        let hops = &self.tree.hops;
        let mut at = leaf;
        self.on_trunk[leaf.index()] = true;
        loop {
            let mut best = None;
            for (above, _) in &self.tree.parents[at.index()] {
                let down = self.tree.children[above.index()].iter().find(|(child, _)| *child == at);
                let (_, ports) = down.expect("cables have two directions");
                for (cable, &port) in ports.iter().enumerate() {
                    let count = self.counts[hops.link(*above, port).index()];
                    let option = (count, self.trunks[above.index()], cable, *above, port);
                    best = Some(best.map_or(option, |best| option.min(best)));
                }
            }
            let Some((_, _, cable, above, port)) = best else { return };
            self.counts[hops.link(above, port).index()] += 1;
            set(table, above, node, port);
            self.trunks[above.index()] += 1;
            self.trunk_cables[self.tree.level(at)] = cable;
            self.hops_left[above.index()] = self.hops_left[at.index()] + 1;
            self.on_trunk[above.index()] = true;
            at = above;
        }
    }

    /// Steps 2 and 3: the best port of a router to one of these neighbours.
    fn choose(&mut self, at: RouterId, neighbours: &[Bundle], node: Option<NodeId>, table: &mut ForwardingTable) {
        let wanted = self.trunk_cables[self.tree.level(at)];
        let mut best = None;
        for (next, ports) in neighbours.iter().filter(|(next, _)| self.hops_left[next.index()] != UNREACHED) {
            for (cable, &port) in ports.iter().enumerate() {
                let off_trunk = !self.on_trunk[next.index()];
                let count = if off_trunk { self.counts[self.tree.hops.link(at, port).index()] } else { 0 };
                let is_other = cable != wanted % ports.len();
                let option = (self.hops_left[next.index()], off_trunk, count, is_other, *next, port);
                best = Some(best.map_or(option, |best| option.min(best)));
            }
        }
        let Some((left, off_trunk, _, _, next, port)) = best else { return };
        self.hops_left[at.index()] = left + 1;
        let goes_up = self.tree.level(next) > self.tree.level(at);
        self.on_trunk[at.index()] = goes_up && !off_trunk;
        if goes_up && off_trunk {
            self.counts[self.tree.hops.link(at, port).index()] += 1;
        }
        set(table, at, node, port);
    }
}

fn set(table: &mut ForwardingTable, at: RouterId, node: Option<NodeId>, port: Port) {
    if let Some(node) = node {
        table.set(at, node, port);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tree::DModK;
    use super::super::{path, ForwardingRule};
    use super::*;
    use crate::next_hop::NextHops;
    use odonata_declare::OneOrEach;
    use odonata_machine::topology::Xgft;
    use odonata_machine::Shape;
    use std::sync::Arc;

    /// Arithmetic and counting give the same paths on regular trees.
    #[test]
    fn counting_equals_arithmetic_on_regular_trees() {
        let trees: [(&[u32], &[u32], u32); 6] = [
            (&[4, 8], &[1, 4], 1),
            (&[3, 4, 6], &[1, 3, 4], 1),
            (&[6, 4], &[1, 3], 2),
            (&[4, 4, 3], &[1, 2, 4], 2),
            (&[4, 3, 4], &[1, 2, 3], 1),
            (&[2, 3, 2, 3], &[1, 2, 3, 2], 1),
        ];
        for (children, parents, parallel) in trees {
            let tree = Xgft { children: children.to_vec(), parents: parents.to_vec(), ..Xgft::default() };
            let tree = Xgft { parallel: OneOrEach::One(parallel), ..tree };
            let machine = tree.builder().unwrap().build().unwrap();
            let hops = Arc::new(NextHops::without_tables(&machine));
            let Shape::FatTree { level_of, .. } = machine.shape() else { unreachable!() };
            let tree = Tree::of(&hops, level_of).unwrap();
            let (regular, counted) = (DModK::of(&tree).expect("regular"), tables(&tree).unwrap());
            let of = |forwarding: &dyn ForwardingRule, from: NodeId, to: NodeId| {
                let mut links = Vec::new();
                path(&hops, forwarding, from, to, &mut links);
                links
            };
            for from in machine.nodes() {
                for to in machine.nodes() {
                    assert_eq!(of(&regular, from, to), of(&counted, from, to), "{children:?} {parents:?}: {from} {to}");
                }
            }
        }
    }
}
