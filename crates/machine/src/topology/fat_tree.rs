//! Fat trees: the k-ary fat tree of switches with k ports, and the general extended one.
//!
//! Öhring, Ibel, Das, Kumar: "On generalized fat trees", IPPS 1995. XGFT(L; m_1..m_L; w_1..w_L) has L levels of
//! routers above the nodes. A vertex of level l has m_l children at level l-1, and a vertex of level l-1 has w_l
//! parents at level l. Here w_1 = 1: a node has one NIC. The label of a router of level l (counting routers from 0)
//! is its position among the subtrees above it and a copy number. Two routers of adjacent levels are joined if their
//! labels agree except for the digit of that level.

use super::{at_least_one, product, times, Extent, LinkFigures, Topology};
use crate::error::wrong;
use crate::{Coordinates, MachineBuilder, MachineError, RouterPorts, Shape};
use odonata_declare::{parameters, Kind, OneOrEach};
use odonata_units::{GroupId, LinkClassId, RouterId};

/// Links between routers.
const LINKS: LinkFigures = LinkFigures::new(25_000_000_000, 100);
/// Links between nodes and routers.
const TERMINAL: LinkFigures = LinkFigures::new(25_000_000_000, 10);

parameters! {
    /// A k-ary fat tree: routers of k ports, half of them down. The default has k = 16 and three levels: 1,024 nodes.
    ///
    /// Three levels without oversubscription are the fat tree of Al-Fares, Loukissas, Vahdat, "A scalable, commodity
    /// data center network architecture", SIGCOMM 2008. It has k^3/4 nodes, k pods of k/2 edge and k/2 aggregation
    /// routers, and k^2/4 core routers.
    #[derive(PartialEq, Eq)]
    pub struct FatTree {
        /// Ports of each router; even.
        pub k: u32 = 16, Kind::count(2);
        /// Levels of routers.
        pub levels: u32 = 3, Kind::count(2);
        // 1 is full bisection, 3 a 3:1 taper.
        /// Down ports for each up port of an edge router; this number plus 1 must divide k.
        pub oversubscription: u32 = 1, Kind::COUNT;
        /// Links inside a pod (below the top level).
        pub local: LinkFigures = LINKS, no key;
        /// Links to the top level.
        pub global: LinkFigures = LINKS, no key;
        /// Links between nodes and routers.
        pub terminal: LinkFigures = TERMINAL, no key;
        /// Cores of each node.
        pub cores_per_node: u32 = 1, no key;
    }
}

impl Topology for FatTree {
    fn extent(&self) -> Extent {
        self.tree().map_or(Extent::default(), |tree| tree.extent())
    }

    fn lay_out(&self) -> Result<MachineBuilder, MachineError> {
        self.builder()
    }
}

impl FatTree {
    /// Lists routers, nodes and cables; see [`Xgft::builder`] for the numbering.
    ///
    /// # Errors
    /// An odd or zero k, fewer than two levels, or an oversubscription that does not divide the ports.
    pub fn builder(&self) -> Result<MachineBuilder, MachineError> {
        let Self { k, levels, .. } = *self;
        let mut builder = self.tree()?.builder()?;
        builder.name = format!("fat-tree-k{k}-l{levels}");
        builder.ports = Some(RouterPorts::of_all(k));
        Ok(builder)
    }

    /// The parameters as an extended generalised fat tree.
    fn tree(&self) -> Result<Xgft, MachineError> {
        let Self { k, levels, oversubscription, .. } = *self;
        at_least_one(&[("k", k), ("oversubscription", oversubscription)])?;
        if k % 2 != 0 {
            return wrong("k", format!("{k} is odd; half of a router's ports lead up and half down"));
        }
        if !(2..=20).contains(&levels) {
            return wrong("levels", format!("{levels}; expected 2 to 20 levels of routers"));
        }
        if oversubscription >= k || k % (oversubscription + 1) != 0 {
            return wrong(
                "oversubscription",
                format!("{oversubscription}: {k} ports do not split into {oversubscription} down for each one up"),
            );
        }
        let edge_up = k / (oversubscription + 1);
        let mut children = vec![k / 2; levels as usize];
        children[0] = k - edge_up;
        children[levels as usize - 1] = k;
        let mut parents = vec![k / 2; levels as usize];
        (parents[0], parents[1]) = (1, edge_up);
        let Self { local, global, terminal, cores_per_node, .. } = *self;
        Ok(Xgft { children, parents, parallel: OneOrEach::One(1), local, global, terminal, cores_per_node })
    }
}

parameters! {
    /// An extended generalised fat tree.
    #[derive(PartialEq, Eq)]
    pub struct Xgft {
        // m_1, m_2, …
        /// Nodes of an edge router, then children of a router of each higher level.
        pub children: Vec<u32> = vec![8, 8, 16], Kind::List(&Kind::COUNT);
        // w_1, w_2, …
        /// Routers of a node, always 1, then parents of a router of each level but the top.
        pub parents: Vec<u32> = vec![1, 8, 8], Kind::List(&Kind::COUNT);
        /// Parallel cables from a level of routers to the next: one number for all, or a list with one for each.
        pub parallel: OneOrEach<u32> = OneOrEach::One(1), Kind::Any(&[Kind::COUNT, Kind::List(&Kind::COUNT)]);
        /// Links below the top level.
        pub local: LinkFigures = LINKS, no key;
        /// Links to the top level.
        pub global: LinkFigures = LINKS, no key;
        /// Links between nodes and routers.
        pub terminal: LinkFigures = TERMINAL, no key;
        /// Cores of each node.
        pub cores_per_node: u32 = 1, no key;
    }
}

impl Topology for Xgft {
    fn extent(&self) -> Extent {
        let Ok((levels, parallel)) = self.check() else { return Extent::default() };
        let mut extent = Extent { nodes: times(&self.children), ..Extent::default() };
        for level in 0..levels {
            let routers = times(&self.children[level + 1..]).saturating_mul(times(&self.parents[1..=level]));
            let up =
                times(&[self.parents.get(level + 1).copied().unwrap_or(0), parallel.get(level).copied().unwrap_or(1)]);
            extent.routers = extent.routers.saturating_add(routers);
            extent.cables = extent.cables.saturating_add(routers.saturating_mul(up));
        }
        extent
    }

    fn lay_out(&self) -> Result<MachineBuilder, MachineError> {
        self.builder()
    }
}

impl Xgft {
    /// Lists routers, nodes and cables.
    ///
    /// Routers are numbered level by level from the edge; within a level, pod by pod. A pod is a part that stays
    /// connected without the top level, and is the group. The routers of the top level are the last group.
    /// Coordinates are `level`, `pod`, `index` in the pod. Nodes are attached to level 0 in order.
    ///
    /// # Errors
    /// A count of zero, lists of different lengths, or w_1 other than 1.
    pub fn builder(&self) -> Result<MachineBuilder, MachineError> {
        let (levels, parallel) = self.check()?;
        let tree = Levels::new(&self.children, &self.parents, &parallel)?;
        let pods = self.children[levels - 1];
        let mut coordinates = Coordinates {
            axes: vec!["level".into(), "pod".into(), "index".into()],
            sizes: vec![levels as u32, pods + 1, 0],
            values: Vec::new(),
            ..Coordinates::default()
        };
        let (mut group_of, mut level_of) = (Vec::new(), Vec::new());
        for level in 0..levels {
            let count = tree.routers(level);
            let per_pod = if level + 1 == levels { count } else { count / pods };
            coordinates.sizes[2] = coordinates.sizes[2].max(per_pod);
            for i in 0..count {
                let pod = if level + 1 == levels { pods } else { i / per_pod };
                coordinates.values.extend([level as u32, pod, i % per_pod]);
                group_of.push(GroupId(pod));
                level_of.push(level as u8);
            }
        }
        let shape = Shape::FatTree { levels: levels as u32, level_of };
        let name = format!("xgft-{:?}-{:?}", self.children, self.parents).replace(", ", "x").replace(['[', ']'], "");
        let each = self.children[0];
        let nodes = (0..tree.routers(0) * each).map(|node| RouterId(node / each)).collect();
        let terminal = self.terminal.class("terminal", Some(each));
        let mut builder =
            MachineBuilder::without_cables(name, shape, coordinates, group_of, nodes, terminal, self.cores_per_node);
        builder.classes = vec![self.local.class("local", None), self.global.class("global", None)];
        for (level, &cables) in parallel.iter().enumerate() {
            let class = LinkClassId(u32::from(level + 2 == levels));
            for child in 0..tree.routers(level) {
                for parent in tree.parents(level, child) {
                    let (child, parent) = (tree.first[level] + child, tree.first[level + 1] + parent);
                    builder.add_cables(RouterId(child), RouterId(parent), class, cables);
                }
            }
        }
        Ok(builder)
    }

    /// Checks the parameters; returns the number of router levels, and the cables from each level to the next.
    fn check(&self) -> Result<(usize, Vec<u32>), MachineError> {
        let levels = self.children.len();
        if !(1..=20).contains(&levels) {
            return wrong("children", format!("{levels} values; expected 1 to 20 levels of routers"));
        }
        let parallel = self.parallel.expand(levels - 1);
        if self.parents.len() != levels || parallel.len() != levels - 1 {
            return wrong(
                "parents",
                format!(
                    "{} values, and {} of parallel; {levels} levels of routers need {levels} and {}",
                    self.parents.len(),
                    parallel.len(),
                    levels - 1
                ),
            );
        }
        if self.parents[0] != 1 {
            return wrong("parents", format!("a node has one router, not {}", self.parents[0]));
        }
        for (name, values) in [("children", &self.children), ("parents", &self.parents), ("parallel", &parallel)] {
            at_least_one(&values.iter().map(|&value| (name, value)).collect::<Vec<_>>())?;
        }
        Ok((levels, parallel))
    }
}

/// The arithmetic of the labels. A router of level l is (subtree, copy): the subtree among the m_{l+2} … m_L subtrees
/// of its height, the copy among the w_2 … w_{l+1} routers at its top. Its index is subtree * copies + copy.
struct Levels<'a> {
    children: &'a [u32],
    parents: &'a [u32],
    /// First router id of each level.
    first: Vec<u32>,
}

impl<'a> Levels<'a> {
    fn new(children: &'a [u32], parents: &'a [u32], parallel: &[u32]) -> Result<Self, MachineError> {
        let mut levels = Self { children, parents, first: vec![0] };
        product("nodes", children)?;
        for level in 0..children.len() {
            let factors: Vec<u32> = children[level + 1..].iter().chain(&parents[1..=level]).copied().collect();
            let count = product("routers", &factors)?;
            let upward = parents.get(level + 1).copied().unwrap_or(1);
            product("cables", &[count, upward, parallel.get(level).copied().unwrap_or(1)])?;
            levels.first.push(levels.first[level] + count);
        }
        Ok(levels)
    }

    fn routers(&self, level: usize) -> u32 {
        self.first[level + 1] - self.first[level]
    }

    fn copies(&self, level: usize) -> u32 {
        self.parents[1..=level].iter().product()
    }

    /// Indices, within the next level, of the parents of a router: the subtree above, and every copy that has the
    /// child's copy as its lower digits.
    fn parents(&self, level: usize, child: u32) -> impl Iterator<Item = u32> {
        let copies = self.copies(level);
        let (subtree, copy) = (child / copies, child % copies);
        let above = subtree / self.children[level + 1];
        let upward = self.parents[level + 1];
        (0..upward).map(move |digit| above * copies * upward + copy * upward + digit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Machine;
    use proptest::prelude::*;

    fn build(k: u32, levels: u32, oversubscription: u32) -> Machine {
        FatTree { k, levels, oversubscription, ..FatTree::default() }.builder().unwrap().build().unwrap()
    }

    /// k = 4 of Al-Fares et al., Figure 3: 16 nodes, 8 edge, 8 aggregation and 4 core routers, 32 cables. Aggregation
    /// router 0 of each pod leads to cores 0 and 1, router 1 to cores 2 and 3.
    #[test]
    fn four_ary_is_the_papers() {
        let machine = build(4, 3, 1);
        assert_eq!((machine.node_count(), machine.router_count(), machine.link_count()), (16, 20, 64));
        for (router, parents) in [("l0p2i1", ["l1p2i0", "l1p2i1"]), ("l1p3i0", ["l2p4i0", "l2p4i1"])] {
            let router = machine.router_named(router).unwrap();
            let up: Vec<String> = machine
                .bundles_from(router)
                .iter()
                .filter(|bundle| bundle.target > router)
                .map(|bundle| machine.router_name(bundle.target))
                .collect();
            assert_eq!(up, parents);
        }
        assert_eq!(machine.group_count(), 5, "four pods and the core");
    }

    #[test]
    fn mistakes_name_the_parameter() {
        let message = |tree: FatTree| tree.builder().unwrap_err().to_string();
        assert!(message(FatTree { k: 5, ..FatTree::default() }).starts_with("k: 5 is odd"));
        assert!(message(FatTree { levels: 1, ..FatTree::default() }).starts_with("levels: 1"));
        let tapered = FatTree { oversubscription: 2, ..FatTree::default() };
        assert_eq!(message(tapered), "oversubscription: 2: 16 ports do not split into 2 down for each one up");
        assert!(message(FatTree { k: 4096, levels: 5, ..FatTree::default() }).contains("multiply to more than"));
    }

    proptest! {
        /// 2 (k/2)^n nodes; (2n-1) (k/2)^(n-1) routers of k ports, all in use.
        #[test]
        fn counts_have_the_closed_form(half in 1u32..5, levels in 2u32..5) {
            let machine = build(2 * half, levels, 1);
            prop_assert_eq!(machine.node_count() as u32, 2 * half.pow(levels));
            prop_assert_eq!(machine.router_count() as u32, (2 * levels - 1) * half.pow(levels - 1));
            for router in machine.routers() {
                let ports = machine.links_from(router).len() + machine.nodes_of(router).len();
                prop_assert_eq!(ports as u32, 2 * half);
            }
        }
    }
}
