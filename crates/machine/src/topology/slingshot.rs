//! Slingshot dragonflies with groups of several kinds and unequal sizes.
//!
//! De Sensi, Di Girolamo, McMahon, Roweth, Hoefler: "An in-depth analysis of the Slingshot interconnect", SC 2020;
//! Atchley et al., "Frontier: exploring exascale", SC 2023. Switches have 64 ports. The switches of a group are all
//! joined to each other by one or more cables. The number of cables between two groups depends on their kinds:
//! compute, storage, service.
//!
//! The cables of a group to others are counted round by round over its peers in order. With C of them, cable c sits
//! at switch floor(c a / C) of a group of a switches. This distributes them evenly, as in [`super::Dragonfly`].

use super::{empty_grid, product, times, Extent, LinkFigures, Topology};
use crate::error::wrong;
use crate::{Coordinates, GroupInterior, MachineBuilder, MachineError, RouterPorts, Shape};
use odonata_declare::{parameters, Kind, OneOrEach};
use odonata_units::{GroupId, LinkClassId, RouterId};

parameters! {
    /// A dragonfly of groups of several kinds. The default has 16 groups of 32 switches with 16 nodes each and 2 groups
    /// of 16 switches with 8 nodes, which jobs can't use.
    #[derive(PartialEq, Eq)]
    pub struct Slingshot {
        /// Groups of each kind, for instance compute, storage, service.
        pub groups: Vec<u32> = vec![16, 2], Kind::List(&Kind::COUNT);
        /// Switches of each group: one number, or a list with one for each kind.
        pub switches: OneOrEach<u32> = OneOrEach::Each(vec![32, 16]), COUNTS;
        /// Nodes of each switch: one number, or a list with one for each kind.
        pub nodes: OneOrEach<u32> = OneOrEach::Each(vec![16, 8]), COUNTS_FROM_0;
        /// Ports of a switch that a node takes: one number, or one for each kind.
        pub ports_per_node: OneOrEach<u32> = OneOrEach::One(1), COUNTS;
        /// Number of kinds, from the first on, whose nodes jobs can use.
        pub usable_kinds: u32 = 1, Kind::COUNT;
        /// Cables between every two switches of a group: one number, or one for each kind.
        pub local_cables: OneOrEach<u32> = OneOrEach::One(1), COUNTS;
        /// Cables between every two groups: one number, or one for each pair of kinds (of three: 0-0, 0-1, 0-2, 1-1,
        /// 1-2, 2-2).
        pub global_cables: OneOrEach<u32> = OneOrEach::Each(vec![4, 2, 2]), COUNTS_FROM_0;
        /// Ports of a switch.
        pub ports: u32 = 64, Kind::COUNT;
        // As in the presets: about 350 ns through a switch, added to the link after it; 2 m and 20 m of cable.
        /// Links inside a group.
        pub local: LinkFigures = LinkFigures::new(25_000_000_000, 360), no key;
        /// Links between groups.
        pub global: LinkFigures = LinkFigures::new(25_000_000_000, 450), no key;
        /// Links between nodes and switches.
        pub terminal: LinkFigures = LinkFigures::new(25_000_000_000, 10), no key;
        /// Cores of each node.
        pub cores_per_node: u32 = 1, no key;
    }
}

const COUNTS: Kind = Kind::Any(&[Kind::count(1), Kind::List(&Kind::count(1))]);
const COUNTS_FROM_0: Kind = Kind::Any(&[Kind::count(0), Kind::List(&Kind::count(0))]);

const LOCAL: LinkClassId = LinkClassId(0);
const GLOBAL: LinkClassId = LinkClassId(1);

/// The parameters of each kind, and the groups in order.
struct Kinds {
    switches: Vec<u32>,
    nodes: Vec<u32>,
    ports_per_node: Vec<u32>,
    local_cables: Vec<u32>,
    /// Cables between two groups, at kind * kinds + kind.
    global_cables: Vec<u32>,
    /// Kind of each group.
    of_group: Vec<usize>,
    /// First router of each group.
    first: Vec<u32>,
}

impl Kinds {
    fn between(&self, a: usize, b: usize) -> u32 {
        self.global_cables[self.of_group[a] * self.switches.len() + self.of_group[b]]
    }
}

impl Topology for Slingshot {
    fn extent(&self) -> Extent {
        let kinds = self.groups.len();
        let (switches, nodes) = (self.switches.expand(kinds), self.nodes.expand(kinds));
        let local = self.local_cables.expand(kinds);
        let most_global = self.global_cables.expand(1).into_iter().max().unwrap_or(0);
        let each = self.groups.iter().zip(&switches);
        let groups = self.groups.iter().fold(0u64, |sum, &n| sum + u64::from(n));
        let between = groups.saturating_mul(groups) / 2;
        Extent {
            routers: each.clone().fold(0, |sum, (&g, &a)| times(&[g, a]).saturating_add(sum)),
            nodes: each.clone().zip(&nodes).fold(0, |sum, ((&g, &a), &p)| times(&[g, a, p]).saturating_add(sum)),
            cables: each
                .zip(&local)
                .fold(0, |sum: u64, ((&g, &a), &n)| (times(&[g, a, a.saturating_sub(1), n]) / 2).saturating_add(sum))
                .saturating_add(between.saturating_mul(u64::from(most_global))),
        }
    }

    fn lay_out(&self) -> Result<MachineBuilder, MachineError> {
        self.builder()
    }
}

impl Slingshot {
    /// Lists routers, nodes and cables: groups kind by kind, the switches of each in order, their nodes in order.
    ///
    /// # Errors
    /// Lists of the wrong length, a number of zero where none is allowed, or more cables and nodes at a switch than
    /// ports.
    pub fn builder(&self) -> Result<MachineBuilder, MachineError> {
        let kinds = self.kinds()?;
        let groups = kinds.of_group.len();
        let size = |group: usize| kinds.switches[kinds.of_group[group]];
        let routers = kinds.first[groups];
        let group_of = (0..groups).flat_map(|g| (0..size(g)).map(move |_| GroupId::from_index(g))).collect();
        let most = kinds.switches.iter().copied().max().unwrap_or(1);
        let written: Vec<String> =
            self.groups.iter().zip(&kinds.switches).map(|(groups, switches)| format!("{groups}x{switches}")).collect();
        let mut builder = empty_grid(
            format!("slingshot-{}", written.join("-")),
            Shape::Grouped { groups: groups as u32, routers_per_group: most, interior: GroupInterior::AllToAll },
            Coordinates {
                axes: vec!["group".into(), "router_in_group".into()],
                sizes: vec![groups as u32, most],
                values: (0..groups).flat_map(|g| (0..size(g)).flat_map(move |i| [g as u32, i])).collect(),
                ..Coordinates::default()
            },
            group_of,
            1,
            self.cores_per_node,
            self.terminal,
        );
        builder.node_router.clear();
        builder.node_up.clear();
        for router in 0..routers {
            let kind = kinds.of_group[builder.group_of[router as usize].index()];
            let nodes = kinds.nodes[kind] as usize;
            builder.node_router.extend(std::iter::repeat_n(RouterId(router), nodes));
            builder.node_up.extend(std::iter::repeat_n(kind < self.usable_kinds as usize, nodes));
        }
        builder.terminal.ports_per_router = kinds.nodes.iter().copied().max();
        builder.classes = vec![self.local.class("local", None), self.global.class("global", None)];
        let per_nic = builder.group_of.iter().map(|group| kinds.ports_per_node[kinds.of_group[group.index()]]);
        builder.ports =
            Some(RouterPorts { count: OneOrEach::One(self.ports), per_nic: OneOrEach::Each(per_nic.collect()) });
        for group in 0..groups {
            let cables = kinds.local_cables[kinds.of_group[group]];
            for a in kinds.first[group]..kinds.first[group + 1] {
                for b in a + 1..kinds.first[group + 1] {
                    builder.add_cables(RouterId(a), RouterId(b), LOCAL, cables);
                }
            }
        }
        self.add_global(&mut builder, &kinds)?;
        Ok(builder)
    }

    fn kinds(&self) -> Result<Kinds, MachineError> {
        let n = self.groups.len();
        if n == 0 || self.groups.contains(&0) {
            return wrong("groups", format!("{:?}; expected one number of at least 1 for each kind", self.groups));
        }
        let pairs = n * (n + 1) / 2;
        let each = |name: &str, values: &OneOrEach<u32>, count: usize, what: &str, least: u32| {
            let values = values.expand(count);
            if values.len() != count || values.iter().any(|&value| value < least) {
                let reason =
                    format!("{values:?}; expected a number of at least {least}, or one for each of {count} {what}");
                return wrong(name, reason);
            }
            Ok(values)
        };
        let upper = each("global_cables", &self.global_cables, pairs, "pairs of kinds", 0)?;
        let mut global_cables = vec![0; n * n];
        let mut next = upper.into_iter();
        for a in 0..n {
            for b in a..n {
                let cables = next.next().expect("a number for each pair");
                global_cables[a * n + b] = cables;
                global_cables[b * n + a] = cables;
            }
        }
        let switches = each("switches", &self.switches, n, "kinds", 1)?;
        let mut routers = 0u32;
        for (&groups, &switches) in self.groups.iter().zip(&switches) {
            routers = product("routers", &[product("routers", &[groups, switches])? + routers])?;
        }
        let of_group: Vec<usize> = self
            .groups
            .iter()
            .enumerate()
            .flat_map(|(kind, &groups)| std::iter::repeat_n(kind, groups as usize))
            .collect();
        let mut first = vec![0];
        first.extend(of_group.iter().scan(0, |at, &kind| {
            *at += switches[kind];
            Some(*at)
        }));
        let kinds = Kinds {
            nodes: each("nodes", &self.nodes, n, "kinds", 0)?,
            ports_per_node: each("ports_per_node", &self.ports_per_node, n, "kinds", 1)?,
            local_cables: each("local_cables", &self.local_cables, n, "kinds", 1)?,
            switches,
            global_cables,
            of_group,
            first,
        };
        product("nodes", &[routers, kinds.nodes.iter().copied().max().unwrap_or(0).max(1)])?;
        self.check_ports(&kinds)?;
        Ok(kinds)
    }

    /// Refuses switches with more nodes and cables than ports.
    fn check_ports(&self, kinds: &Kinds) -> Result<(), MachineError> {
        for (kind, &switches) in kinds.switches.iter().enumerate() {
            let to = |other: usize| {
                let groups = u64::from(self.groups[other]) - u64::from(kind == other);
                groups * u64::from(kinds.global_cables[kind * kinds.switches.len() + other])
            };
            let global: u64 = (0..kinds.switches.len()).map(to).sum();
            let global = global.div_ceil(u64::from(switches));
            let local = times(&[switches - 1, kinds.local_cables[kind]]);
            let nodes = times(&[kinds.nodes[kind], kinds.ports_per_node[kind]]);
            if nodes.saturating_add(local).saturating_add(global) > u64::from(self.ports) {
                return wrong(
                    "ports",
                    format!(
                        "a switch of kind {kind} needs {nodes} ports for nodes, {local} inside its group and {global} to other groups, \
                         but has {}",
                        self.ports
                    ),
                );
            }
        }
        Ok(())
    }

    fn add_global(&self, builder: &mut MachineBuilder, kinds: &Kinds) -> Result<(), MachineError> {
        let groups = kinds.of_group.len();
        let of_group = |a: usize| (0..groups).filter(|&b| b != a).map(|b| u64::from(kinds.between(a, b))).sum();
        let channels: Vec<u64> = (0..groups).map(of_group).collect();
        if channels.iter().sum::<u64>() / 2 > u64::from(crate::builder::LIMIT) {
            return wrong("global_cables", format!("more than {} cables", crate::builder::LIMIT));
        }
        let rounds = kinds.global_cables.iter().copied().max().unwrap_or(0);
        // Channel of a group's cable to a peer: by round, then by peer.
        let mut next = vec![0u64; groups];
        let mut channel = vec![0u64; groups * groups];
        for round in 0..rounds {
            for a in 0..groups {
                for b in (0..groups).filter(|&b| b != a && kinds.between(a, b) > round) {
                    channel[a * groups + b] = next[a];
                    next[a] += 1;
                }
            }
            let switch = |a: usize, b: usize| {
                let size = u64::from(kinds.switches[kinds.of_group[a]]);
                RouterId(kinds.first[a] + (channel[a * groups + b] * size / channels[a]) as u32)
            };
            for a in 0..groups {
                for b in (a + 1..groups).filter(|&b| kinds.between(a, b) > round) {
                    builder.add_cables(switch(a, b), switch(b, a), GLOBAL, 1);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Dragonfly;
    use proptest::prelude::*;

    /// Groups, switches, nodes and local cables of a kind.
    type KindParameters = (u32, u32, u32, u32);

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(80))]

        /// Counts by kind: the requested cables between every two groups, all switches joined inside, evenly
        /// distributed over the switches.
        #[test]
        fn closed_forms(kinds in proptest::collection::vec((1u32..4, 1u32..6, 0u32..3, 1u32..3), 1..4), cables in proptest::collection::vec(0u32..4, 6)) {
            let n = kinds.len();
            let list = |of: fn(&KindParameters) -> u32| kinds.iter().map(of).collect::<Vec<u32>>();
            let slingshot = Slingshot {
                groups: list(|k| k.0),
                switches: list(|k| k.1).into(),
                nodes: list(|k| k.2).into(),
                local_cables: list(|k| k.3).into(),
                global_cables: cables[..n * (n + 1) / 2].to_vec().into(),
                ports: 1000,
                ..Slingshot::default()
            };
            let machine = slingshot.builder().unwrap().build().unwrap();
            prop_assert_eq!(machine.router_count() as u32, kinds.iter().map(|k| k.0 * k.1).sum::<u32>());
            prop_assert_eq!(machine.node_count() as u32, kinds.iter().map(|k| k.0 * k.1 * k.2).sum::<u32>());
            let usable = machine.nodes().filter(|&node| machine.node_up(node)).count() as u32;
            prop_assert_eq!(usable, kinds[0].0 * kinds[0].1 * kinds[0].2);
            let extent = slingshot.extent();
            prop_assert_eq!((extent.routers, extent.nodes), (machine.router_count() as u64, machine.node_count() as u64));
            prop_assert!(extent.cables >= machine.link_count() as u64 / 2);
            let kind_of: Vec<usize> = kinds.iter().enumerate().flat_map(|(i, k)| vec![i; k.0 as usize]).collect();
            // The pairs of kinds before the pair of `low` with itself: n + (n - 1) + ...
            let wanted = |low: usize, high: usize| cables[low * (2 * n + 1 - low) / 2 + high - low];
            for a in 0..machine.group_count() {
                let members: Vec<RouterId> = machine.routers().filter(|&r| machine.group_of(r).index() == a).collect();
                let mut ends = Vec::new();
                for &r in &members {
                    let mut to = vec![0; machine.group_count()];
                    for bundle in machine.bundles_from(r) {
                        let other = machine.group_of(bundle.target).index();
                        to[other] += bundle.count;
                        prop_assert_eq!(bundle.class == LOCAL, other == a);
                    }
                    prop_assert_eq!(to[a], (kinds[kind_of[a]].1 - 1) * kinds[kind_of[a]].3);
                    to[a] = 0;
                    ends.push(to);
                }
                for b in (0..machine.group_count()).filter(|&b| b != a) {
                    let found: u32 = ends.iter().map(|to| to[b]).sum();
                    prop_assert_eq!(found, wanted(kind_of[a].min(kind_of[b]), kind_of[a].max(kind_of[b])));
                }
                let loads: Vec<u32> = ends.iter().map(|to| to.iter().sum()).collect();
                prop_assert!(loads.iter().max().unwrap() - loads.iter().min().unwrap() <= 1);
            }
        }
    }

    /// With one kind, it equals the canonical dragonfly with the absolute arrangement, cable by cable.
    #[test]
    fn one_kind_is_a_dragonfly() {
        let dragonfly = Dragonfly { p: 2, a: 4, h: 4, g: 5, global_cables: Some(3), ..Dragonfly::default() };
        let slingshot = Slingshot {
            groups: vec![5],
            switches: OneOrEach::One(4),
            nodes: OneOrEach::One(2),
            global_cables: OneOrEach::One(3),
            local: dragonfly.local,
            global: dragonfly.global,
            ..Slingshot::default()
        };
        let cables = |builder: MachineBuilder| crate::builder::in_link_order(builder.cables);
        assert_eq!(cables(slingshot.builder().unwrap()), cables(dragonfly.builder().unwrap()));
    }

    #[test]
    fn invalid_input_is_refused() {
        let wrong = |slingshot: Slingshot| slingshot.builder().unwrap_err().to_string();
        let few = wrong(Slingshot { ports: 48, ..Slingshot::default() });
        assert_eq!(
            few,
            "ports: a switch of kind 0 needs 16 ports for nodes, 31 inside its group and 2 to other groups, but has 48"
        );
        let pairs = wrong(Slingshot { global_cables: vec![4, 2].into(), ..Slingshot::default() });
        assert!(pairs.contains("one for each of 3 pairs of kinds"), "{pairs}");
        assert!(wrong(Slingshot { groups: vec![], ..Slingshot::default() }).contains("groups"));
        assert!(wrong(Slingshot { switches: vec![0, 1].into(), ..Slingshot::default() }).contains("switches"));
        assert!(wrong(Slingshot { groups: vec![u32::MAX, 1], ..Slingshot::default() }).contains("multiply"));
    }
}
