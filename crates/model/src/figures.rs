//! Hops and links of networks from a few figures, without knowing each cable.
//!
//! A set of constants gives these figures of its machine. They are less than a built machine. Since the router of each
//! global link is unknown, a message to another group is charged the longest path.
//!
//! A hop is a link that a message crosses, including the links between nodes and routers, as in the paper. Two nodes on
//! one router are 2 hops apart.

use crate::error::{at_least, ModelError};

/// A dragonfly with groups that are grids of routers, all-to-all along each row and column (Cray Aries), or all-to-all
/// groups (`rows` = 1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DragonflyFigures {
    /// Groups of the machine.
    pub groups: u32,
    /// Routers of a group along one dimension (Aries: 6).
    pub rows: u32,
    /// Routers of a group along the other dimension (Aries: 16).
    pub columns: u32,
    /// Nodes of a router (Aries: 4).
    pub nodes_per_router: u32,
    /// Links of ordinary bandwidth that equal the connection between two groups (Aries: 4).
    pub links_between_groups: u32,
}

impl DragonflyFigures {
    /// Cray XC: groups of 16 x 6 routers with 4 nodes each.
    #[must_use]
    pub fn aries(groups: u32) -> Self {
        Self { groups, rows: 6, columns: 16, nodes_per_router: 4, links_between_groups: 4 }
    }

    /// Nodes of a full group: 384 on Aries.
    #[must_use]
    pub fn nodes_per_group(&self) -> u32 {
        self.rows * self.columns * self.nodes_per_router
    }

    /// Router-to-router links inside a group as the paper counts them: 16 * 5 + 6 * 15 = 170 on Aries, the links of one
    /// row per row and of one column per column. (All joined pairs would be 16 * 15 + 6 * 120 = 960.)
    #[must_use]
    pub fn links_per_group(&self) -> u32 {
        self.columns * (self.rows - 1) + self.rows * (self.columns - 1)
    }

    /// Hops of the longest minimal path: node to router, up to two links to a router with a global link, the global
    /// link, up to two more links, router to node. This gives 7 on Aries, 5 with all-to-all groups, and 4 and 3 within
    /// one group.
    #[must_use]
    pub fn diameter(&self) -> u32 {
        let within = u32::from(self.rows > 1) + u32::from(self.columns > 1);
        if self.groups > 1 {
            2 + 2 * within + 1
        } else {
            2 + within
        }
    }

    /// Hops between two nodes, which are numbered router by router, group by group. Between groups it is the longest
    /// path, because the positions of the global links are unknown.
    #[must_use]
    pub fn hops(&self, a: u32, b: u32) -> u32 {
        if a == b {
            return 0;
        }
        let (ra, rb) = (a / self.nodes_per_router, b / self.nodes_per_router);
        let per_group = self.rows * self.columns;
        if ra == rb {
            2
        } else if ra / per_group == rb / per_group {
            let (ia, ib) = (ra % per_group, rb % per_group);
            let row = u32::from(ia / self.columns != ib / self.columns);
            let column = u32::from(ia % self.columns != ib % self.columns);
            2 + row + column
        } else {
            self.diameter()
        }
    }

    /// Fewest links of a job on `nodes` nodes: groups are filled one after the other.
    ///
    /// N + 170 g + 4 min(g (g - 1) / 2, G (G - 1) / 2) with g = ceil(N / 384). The third term is damaged in the paper's
    /// text. It is read as the global links among the g used groups, which matches its description.
    #[must_use]
    pub fn min_links(&self, nodes: u32) -> f64 {
        let used = nodes.div_ceil(self.nodes_per_group()).min(self.groups);
        self.links(nodes, used, f64::from(used) * (f64::from(used) - 1.0) / 2.0)
    }

    /// Most links of a job on `nodes` nodes: each node in its own group until all groups are used. N + 170 min(N, G) +
    /// 4 min(N - 1, G (G - 1) / 2).
    #[must_use]
    pub fn max_links(&self, nodes: u32) -> f64 {
        self.links(nodes, nodes.min(self.groups), f64::from(nodes) - 1.0)
    }

    fn links(&self, nodes: u32, groups_used: u32, global: f64) -> f64 {
        let all_pairs = f64::from(self.groups) * (f64::from(self.groups) - 1.0) / 2.0;
        f64::from(nodes)
            + f64::from(self.links_per_group()) * f64::from(groups_used)
            + f64::from(self.links_between_groups) * global.min(all_pairs)
    }
}

/// A tree with `levels` levels of switches and `down` children per switch. Each switch has `up` links to its parents
/// per `down` links to its children (`up` = `down`: full bisection).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FatTreeFigures {
    /// Levels of switches.
    pub levels: u32,
    /// Children of a switch: nodes at the lowest level.
    pub down: u32,
    /// Links towards the root per `down` links to the children.
    pub up: u32,
}

impl FatTreeFigures {
    /// Hops up to the lowest common switch and down.
    #[must_use]
    pub fn hops(&self, a: u32, b: u32) -> u32 {
        let (mut a, mut b, mut height) = (a, b, 0);
        while a != b && height < self.levels {
            a /= self.down;
            b /= self.down;
            height += 1;
        }
        2 * height
    }

    /// Twice the height.
    #[must_use]
    pub fn diameter(&self) -> u32 {
        2 * self.levels
    }

    /// Links below the smallest subtree with `nodes` adjacent nodes: N at the lowest level, and at each higher level
    /// `up/down` times the links of the level below.
    #[must_use]
    pub fn links(&self, nodes: u32) -> f64 {
        let (mut total, mut at_level, mut reach) = (0.0, f64::from(nodes), 1_u64);
        for _ in 0..self.levels {
            total += at_level;
            at_level *= f64::from(self.up) / f64::from(self.down);
            reach *= u64::from(self.down);
            if reach >= u64::from(nodes) {
                break;
            }
        }
        total
    }
}

/// A grid of nodes with one router each, with or without rings in every dimension (`wraps`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TorusFigures {
    /// Nodes along each dimension. The first dimension is fastest in node numbers.
    pub shape: Vec<u32>,
    /// Whether the ends of each dimension are joined.
    pub wraps: bool,
}

impl TorusFigures {
    /// Neighbours are 1 hop apart because nodes are routers, as on Blue Gene.
    #[must_use]
    pub fn hops(&self, a: u32, b: u32) -> u32 {
        let (mut a, mut b, mut hops) = (a, b, 0);
        for &length in &self.shape {
            let apart = (a % length).abs_diff(b % length);
            hops += if self.wraps { apart.min(length - apart) } else { apart };
            a /= length;
            b /= length;
        }
        hops
    }

    /// Sum over dimensions of half the ring, or of the whole line.
    #[must_use]
    pub fn diameter(&self) -> u32 {
        self.shape.iter().map(|&length| if self.wraps { length / 2 } else { length - 1 }).sum()
    }

    /// Links of a job on `nodes` nodes: the links of the whole machine scaled to the used nodes. A node owns one link
    /// per dimension. A ring of two nodes has one link, a line of k nodes k - 1.
    #[must_use]
    pub fn links(&self, nodes: u32) -> f64 {
        let all: f64 = self.shape.iter().map(|&n| f64::from(n)).product();
        let per_node: f64 = self
            .shape
            .iter()
            .map(|&length| match length {
                1 => 0.0,
                2 => 0.5,
                _ if self.wraps => 1.0,
                _ => f64::from(length - 1) / f64::from(length),
            })
            .sum();
        per_node * f64::from(nodes).min(all)
    }
}

/// Figures of a network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NetworkFigures {
    /// See [`DragonflyFigures`].
    Dragonfly(DragonflyFigures),
    /// See [`FatTreeFigures`].
    FatTree(FatTreeFigures),
    /// See [`TorusFigures`].
    Torus(TorusFigures),
}

impl NetworkFigures {
    /// The longest distance between two nodes, in hops.
    #[must_use]
    pub fn diameter(&self) -> u32 {
        match self {
            Self::Dragonfly(n) => n.diameter(),
            Self::FatTree(n) => n.diameter(),
            Self::Torus(n) => n.diameter(),
        }
    }

    /// The shortest distance between two different nodes, in hops.
    #[must_use]
    pub fn min_hops(&self) -> u32 {
        match self {
            Self::Dragonfly(_) | Self::FatTree(_) => 2,
            Self::Torus(_) => 1,
        }
    }

    /// Hops between two nodes, 0 from a node to itself.
    #[must_use]
    pub fn hops(&self, a: u32, b: u32) -> u32 {
        match self {
            Self::Dragonfly(n) => n.hops(a, b),
            Self::FatTree(n) => n.hops(a, b),
            Self::Torus(n) => n.hops(a, b),
        }
    }

    /// Hops between two nodes beyond the shortest distance.
    #[must_use]
    pub fn extra_hops(&self, a: u32, b: u32) -> u32 {
        self.hops(a, b).saturating_sub(self.min_hops())
    }

    /// Links available to a job on `nodes` nodes. On a dragonfly this is the middle between fewest and most links.
    ///
    /// # Errors
    /// `nodes` is 0.
    pub fn links(&self, nodes: u32) -> Result<f64, ModelError> {
        at_least("number of nodes", f64::from(nodes), 1.0)?;
        Ok(match self {
            Self::Dragonfly(n) => 0.5 * (n.min_links(nodes) + n.max_links(nodes)),
            Self::FatTree(n) => n.links(nodes),
            Self::Torus(n) => n.links(nodes),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aries_counts_are_the_papers() {
        let aries = DragonflyFigures::aries(2);
        assert_eq!(aries.nodes_per_group(), 384);
        assert_eq!(aries.links_per_group(), 16 * 5 + 6 * 15); // 170
        assert_eq!(aries.diameter(), 7);
        // 64 nodes in one of two groups: 64 + 170 + 4 * 0; in both: 64 + 2 * 170 + 4 * min(63, 1).
        assert_eq!(aries.min_links(64), 234.0);
        assert_eq!(aries.max_links(64), 408.0);
        assert_eq!(NetworkFigures::Dragonfly(aries).links(64).unwrap(), 321.0);
        // 512 nodes need both groups: 512 + 340 + 4 * 1 in both cases.
        assert_eq!(aries.min_links(512), 856.0);
        assert_eq!(aries.max_links(512), 856.0);
    }

    #[test]
    fn aries_hops_by_hand() {
        let aries = DragonflyFigures::aries(2);
        assert_eq!(aries.hops(0, 0), 0);
        assert_eq!(aries.hops(0, 3), 2); // one router
        assert_eq!(aries.hops(0, 4), 3); // next column
        assert_eq!(aries.hops(0, 4 * 16), 3); // next row
        assert_eq!(aries.hops(0, 4 * 17), 4); // row and column
        assert_eq!(aries.hops(0, 383), 4); // the last node of the group
        assert_eq!(aries.hops(0, 384), 7); // other group
    }

    #[test]
    fn fat_tree_by_hand() {
        // Two levels of 4: 16 nodes. Nodes 0 and 3 share a leaf switch, 0 and 4 do not.
        let tree = FatTreeFigures { levels: 2, down: 4, up: 2 };
        assert_eq!(tree.hops(0, 3), 2);
        assert_eq!(tree.hops(0, 4), 4);
        for (a, b) in (0..16).flat_map(|a| (0..16).map(move |b| (a, b))) {
            let hops = if a == b { 0 } else { 2 + 2 * u32::from(a / 4 != b / 4) };
            assert_eq!(tree.hops(a, b), hops, "{a} to {b}");
        }
        assert_eq!(tree.diameter(), 4);
        // 16 node links and, tapered 2:1, 8 above. Three nodes stay below one switch.
        assert_eq!(tree.links(16), 24.0);
        assert_eq!(tree.links(3), 3.0);
    }

    #[test]
    fn torus_by_hand() {
        let torus = TorusFigures { shape: vec![4, 4, 2], wraps: true };
        assert_eq!(torus.diameter(), 2 + 2 + 1);
        assert_eq!(torus.hops(0, 3), 1); // around the ring
        assert_eq!(torus.hops(0, 2 + 4 * 2 + 16), 5);
        // 32 nodes own one link each in the two rings of 4, and every second node one in the ring of 2.
        assert_eq!(torus.links(32), 32.0 * 2.5);
        let mesh = TorusFigures { shape: vec![4, 4], wraps: false };
        assert_eq!(mesh.diameter(), 6);
        assert_eq!(mesh.links(16), 24.0); // 2 * 4 * 3
    }

    #[test]
    fn zero_nodes_are_refused() {
        let error = NetworkFigures::Dragonfly(DragonflyFigures::aries(2)).links(0).unwrap_err().to_string();
        assert!(error.contains("a finite number of at least 1"), "{error}");
    }
}
