//! Dragonfly+, or Megafly: groups that are trees of two levels, joined at their tops.
//!
//! Shpiner, Haramaty, Eliad, Zdornov, Gafni, Zahavi: "Dragonfly+: low cost topology for scaling datacenters", HiPINEB
//! 2017; Flajslik, Borch, Parker: "Megafly: a topology for exascale systems", ISC 2018. In a group, every leaf router
//! is joined to every spine router. Only leaves have nodes; only spines have cables to other groups. Two nodes of a
//! group are at most 2 router-to-router hops apart, nodes of different groups 3, since each leaf reaches the spine of
//! any cable.

use super::{at_least_one, product, times, Extent, LinkFigures, Topology};
use crate::error::wrong;
use crate::{Coordinates, GroupInterior, MachineBuilder, MachineError, Shape};
use odonata_declare::{parameters, Choice, Kind};
use odonata_units::{GroupId, LinkClassId, RouterId};

parameters! {
    /// A Dragonfly+. The default has 9 groups of 8 leaves with 8 nodes each and 8 spines with 8 global ports: 576 nodes.
    #[derive(PartialEq, Eq)]
    pub struct DragonflyPlus {
        /// Nodes of each leaf router; spines have none.
        pub p: u32 = 8, Kind::COUNT;
        /// Leaf routers of each group.
        pub leaves: u32 = 8, Kind::COUNT;
        /// Spine routers of each group.
        pub spines: u32 = 8, Kind::COUNT;
        /// Global ports of each spine router.
        pub h: u32 = 8, Kind::count(0);
        /// Groups; at most spines h + 1. By default 9, or this maximum if it is less.
        pub g: u32 = 9, Kind::COUNT;
        /// Cables between every two groups.
        pub global_cables: Option<u32> = None, Kind::WordOr(FILL, &Kind::COUNT);
        /// Parallel cables between each leaf and each spine of a group.
        pub local_cables: u32 = 1, Kind::COUNT;
        /// Links inside a group.
        pub local: LinkFigures = LinkFigures::new(25_000_000_000, 30), no key;
        /// Links between groups.
        pub global: LinkFigures = LinkFigures::new(25_000_000_000, 300), no key;
        /// Links between nodes and routers.
        pub terminal: LinkFigures = LinkFigures::new(25_000_000_000, 10), no key;
        /// Cores of each node.
        pub cores_per_node: u32 = 1, no key;
    }
}

const FILL: &Choice = &Choice { name: "fill", doc: "as many as the ports allow, the same for all pairs" };

const LOCAL: LinkClassId = LinkClassId(0);
const GLOBAL: LinkClassId = LinkClassId(1);

impl Topology for DragonflyPlus {
    fn fit_defaults(&mut self, is_given: &dyn Fn(&str) -> bool) {
        if !is_given("g") {
            self.g = self.g.min(self.spines.saturating_mul(self.h).saturating_add(1));
        }
    }

    fn extent(&self) -> Extent {
        let Self { p, leaves, spines, h, g, local_cables, .. } = *self;
        Extent {
            routers: times(&[g, leaves]).saturating_add(times(&[g, spines])),
            nodes: times(&[g, leaves, p]),
            cables: times(&[g, leaves, spines, local_cables]).saturating_add(times(&[g, spines, h]) / 2),
        }
    }

    fn lay_out(&self) -> Result<MachineBuilder, MachineError> {
        self.builder()
    }
}

impl DragonflyPlus {
    /// Lists routers, nodes and cables. Router = group * (leaves + spines) + index in the group, leaves first; nodes
    /// are attached to the leaves in order. Cables to other groups fill the spines in blocks, round by round over all
    /// other groups.
    ///
    /// # Errors
    /// A parameter of zero, more groups than can be joined, or more global cables than ports.
    pub fn builder(&self) -> Result<MachineBuilder, MachineError> {
        let Self { p, leaves, spines, h, g, local_cables, .. } = *self;
        at_least_one(&[("p", p), ("leaves", leaves), ("spines", spines), ("g", g), ("local_cables", local_cables)])?;
        let a = leaves.saturating_add(spines);
        let routers = product("routers", &[g, a])?;
        let nodes = product("nodes", &[g, leaves, p])?;
        product("local cables", &[g, leaves, spines, local_cables])?;
        product("global cables", &[g, spines, h.max(1)])?;
        let rounds = self.cables_per_group_pair()?;
        let nodes = (0..nodes).map(|node| RouterId(node / (leaves * p) * a + node / p % leaves)).collect();
        let mut builder = MachineBuilder::without_cables(
            format!("dragonfly-plus-p{p}-l{leaves}-s{spines}-h{h}-g{g}"),
            Shape::Grouped { groups: g, routers_per_group: a, interior: GroupInterior::Other },
            Coordinates::grid(&["group", "router_in_group"], &[g, a]),
            (0..routers).map(|router| GroupId(router / a)).collect(),
            nodes,
            self.terminal.class("terminal", Some(p)),
            self.cores_per_node,
        );
        let local_ports = leaves.max(spines).saturating_mul(local_cables);
        builder.classes = vec![self.local.class("local", Some(local_ports)), self.global.class("global", Some(h))];
        for first in (0..g).map(|group| group * a) {
            for leaf in 0..leaves {
                for spine in leaves..a {
                    builder.add_cables(RouterId(first + leaf), RouterId(first + spine), LOCAL, local_cables);
                }
            }
        }
        self.add_global(&mut builder, rounds);
        Ok(builder)
    }

    /// Cables between every two groups.
    fn cables_per_group_pair(&self) -> Result<u32, MachineError> {
        let Self { spines, h, g, .. } = *self;
        if g == 1 {
            return Ok(0);
        }
        let most = spines * h / (g - 1);
        if most == 0 {
            let groups = spines * h + 1;
            return wrong("g", format!("{g} groups; expected at most spines h + 1 = {spines} x {h} + 1 = {groups}"));
        }
        match self.global_cables {
            None => Ok(most),
            Some(n) if (1..=most).contains(&n) => Ok(n),
            Some(n) => wrong("global_cables", format!("{n} cables per group pair; expected 1 to {most}")),
        }
    }

    fn add_global(&self, builder: &mut MachineBuilder, rounds: u32) {
        let Self { leaves, spines, g, .. } = *self;
        let channels = u64::from(rounds) * u64::from(g - 1);
        let spine = |group: u32, other: u32, round: u32| {
            let peer = if other < group { other } else { other - 1 };
            let channel = u64::from(round) * u64::from(g - 1) + u64::from(peer);
            RouterId(group * (leaves + spines) + leaves + (channel * u64::from(spines) / channels) as u32)
        };
        for round in 0..rounds {
            for group in 0..g {
                for other in group + 1..g {
                    builder.add_cables(spine(group, other, round), spine(other, group, round), GLOBAL, 1);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::tests::distances;
    use odonata_units::LinkId;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn closed_forms(p in 1u32..4, leaves in 1u32..5, spines in 1u32..5, h in 1u32..5, g in 1u32..8) {
            prop_assume!(g - 1 <= spines * h);
            let plus = DragonflyPlus { p, leaves, spines, h, g, ..DragonflyPlus::default() };
            let machine = plus.builder().unwrap().build().unwrap();
            let a = leaves + spines;
            let rounds = if g > 1 { spines * h / (g - 1) } else { 0 };
            prop_assert_eq!(machine.router_count() as u32, g * a);
            prop_assert_eq!(machine.node_count() as u32, g * leaves * p);
            prop_assert_eq!(machine.link_count() as u32, 2 * g * leaves * spines + g * (g - 1) * rounds);
            let is_leaf = |router: RouterId| router.0 % a < leaves;
            for node in machine.nodes() {
                prop_assert!(is_leaf(machine.router_of(node)));
            }
            for router in machine.routers() {
                let global = machine.links_from(router).filter(|&l| machine.class(LinkId::from_index(l)) == GLOBAL).count() as u32;
                let most = if is_leaf(router) { 0 } else { h };
                prop_assert!(global <= most);
            }
            let all = distances(&machine);
            for (i, from) in machine.routers().enumerate().filter(|(_, r)| is_leaf(*r)) {
                for (j, to) in machine.routers().enumerate().filter(|(_, r)| is_leaf(*r)) {
                    let expected = if i == j { 0 } else if from.0 / a == to.0 / a { 2 } else { 3 };
                    prop_assert_eq!(all[i][j], expected);
                }
            }
        }
    }

    #[test]
    fn invalid_input_is_refused() {
        let wrong = |plus: DragonflyPlus| plus.builder().unwrap_err().to_string();
        assert!(wrong(DragonflyPlus { g: 66, ..DragonflyPlus::default() }).contains("expected at most spines h + 1"));
        assert!(wrong(DragonflyPlus { global_cables: Some(9), ..DragonflyPlus::default() }).contains("expected 1 to 8"));
    }
}
