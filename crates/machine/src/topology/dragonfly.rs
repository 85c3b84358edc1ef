//! The canonical dragonfly: all-to-all groups of all-to-all routers.
//!
//! Kim, Dally, Scott, Abts: "Technology-driven, highly-scalable dragonfly topology", ISCA 2008. A group has `a`
//! routers with a cable between every two; a router has `p` nodes and `h` ports for global cables. There are up to `a
//! h + 1` groups, each two joined directly.
//!
//! The *arrangement* defines which global port leads to which group. The global ports of a group are counted over its
//! routers as *channels* 0, 1, 2, …; peers are the other g-1 groups. With n cables per group pair, a group uses C = n
//! (g-1) of its a h ports. Channel c = round (g-1) + i is port i of the arrangement, in each of the n rounds. It sits
//! at router floor(c a / C), so channels are evenly distributed over the routers. If all ports are used (C = a h),
//! channel c is port c mod h of router floor(c / h), as in the literature.

use super::{at_least_one, empty_grid, product, times, Extent, LinkFigures, Topology};
use crate::error::wrong;
use crate::{Coordinates, GroupInterior, MachineBuilder, MachineError, Shape};
use odonata_declare::{parameters, words, Choice, Kind};
use odonata_units::{GroupId, LinkClassId, RouterId, Stream};

words! {
    /// Mapping of a group's global channels to other groups: G is the group, q the channel, g the number of groups.
    ///
    /// Names as in Hastings et al., "Comparing global link arrangements for dragonfly networks", CLUSTER 2015. For
    /// the palm tree: Camarero, Vallejo, Beivide, "Topological characterization of Hamming and dragonfly networks",
    /// TACO 2014. Numbers are modulo g.
    pub enum Arrangement {
        Absolute = "absolute": "port q of a group leads to group q, or q + 1 from the group's own number on",
        Relative = "relative": "port q of group G leads to group G + 1 + q",
        Circulant = "circulant": "ports lead alternately to the groups after and before",
        PalmTree = "palm-tree": "port q of group G leads to group G - 1 - q",
        Random = "random": "every group's ports lead to the others in a random order, drawn with `arrangement_seed`",
    }
}

const FILL: &Choice = &Choice { name: "fill", doc: "as many as the ports allow, the same for all pairs" };

parameters! {
    /// A dragonfly. The default has 1,056 nodes, as in the interference study (p = 4, a = 8, h = 4, g = 33).
    #[derive(PartialEq, Eq)]
    pub struct Dragonfly {
        /// Nodes of each router.
        pub p: u32 = 4, Kind::COUNT;
        /// Routers of each group.
        pub a: u32 = 8, Kind::COUNT;
        /// Global ports of each router.
        pub h: u32 = 4, Kind::count(0);
        /// Groups; at most a h + 1, which is the default.
        pub g: u32 = 33, Kind::COUNT;
        /// Mapping of global ports to groups.
        pub arrangement: Arrangement = Arrangement::Absolute;
        /// Seed of the random arrangement.
        pub arrangement_seed: Option<u64> = None, Kind::Seed, else "the seed of the run";
        /// Cables between every two groups.
        pub global_cables: Option<u32> = None, Kind::WordOr(FILL, &Kind::COUNT);
        /// Parallel cables between every two routers of a group.
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

impl Topology for Dragonfly {
    fn fit_defaults(&mut self, is_given: &dyn Fn(&str) -> bool) {
        if !is_given("g") {
            self.g = self.a.saturating_mul(self.h).saturating_add(1);
        }
    }

    fn take_seed(&mut self, seed: u64) {
        if self.arrangement == Arrangement::Random {
            self.arrangement_seed.get_or_insert(seed);
        }
    }

    fn contradiction(&self) -> Option<(&'static str, String)> {
        let drawn = self.arrangement == Arrangement::Random || self.arrangement_seed.is_none();
        let reason = "'arrangement_seed' needs arrangement = \"random\"";
        (!drawn).then(|| ("arrangement_seed", reason.to_owned()))
    }

    fn extent(&self) -> Extent {
        let Self { p, a, h, g, .. } = *self;
        let local = times(&[g, a, a.saturating_sub(1), self.local_cables]) / 2;
        Extent {
            routers: times(&[g, a]),
            nodes: times(&[g, a, p]),
            cables: local.saturating_add(times(&[g, a, h]) / 2),
        }
    }

    fn lay_out(&self) -> Result<MachineBuilder, MachineError> {
        self.builder()
    }
}

const LOCAL: LinkClassId = LinkClassId(0);
const GLOBAL: LinkClassId = LinkClassId(1);

impl Dragonfly {
    /// Lists routers, nodes and cables. Router = group * a + index in the group; node = router * p + slot.
    ///
    /// # Errors
    /// A parameter of zero, more than a h + 1 groups, or more global cables than ports.
    pub fn builder(&self) -> Result<MachineBuilder, MachineError> {
        let Self { p, a, h, g, .. } = *self;
        at_least_one(&[("p", p), ("a", a), ("g", g), ("local_cables", self.local_cables)])?;
        let most = u64::from(a) * u64::from(h) + 1;
        if u64::from(g) > most {
            return wrong("g", format!("{g} groups; expected at most a h + 1 = {a} x {h} + 1 = {most}"));
        }
        let routers = product("routers", &[g, a])?;
        product("nodes", &[routers, p])?;
        product("local cables", &[routers, a, self.local_cables])?;
        product("global cables", &[routers, h.max(1)])?;
        let rounds = self.cables_per_group_pair()?;
        let mut builder = empty_grid(
            format!("dragonfly-p{p}-a{a}-h{h}-g{g}"),
            Shape::Grouped { groups: g, routers_per_group: a, interior: GroupInterior::AllToAll },
            Coordinates::grid(&["group", "router_in_group"], &[g, a]),
            (0..routers).map(|router| GroupId(router / a)).collect(),
            p,
            self.cores_per_node,
            self.terminal,
        );
        builder.classes =
            vec![self.local.class("local", Some((a - 1) * self.local_cables)), self.global.class("global", Some(h))];
        self.add_local(&mut builder);
        self.add_global(&mut builder, rounds);
        Ok(builder)
    }

    /// Cables between every two groups.
    fn cables_per_group_pair(&self) -> Result<u32, MachineError> {
        let Self { a, h, g, .. } = *self;
        if g == 1 {
            return Ok(0);
        }
        let most = a * h / (g - 1);
        match self.global_cables {
            None => Ok(most),
            Some(n) if (1..=most).contains(&n) => Ok(n),
            Some(n) => wrong(
                "global_cables",
                format!(
                    "{n} cables per group pair; expected 1 to {most}, since {a} x {h} global ports serve {} groups",
                    g - 1
                ),
            ),
        }
    }

    fn add_local(&self, builder: &mut MachineBuilder) {
        for first in (0..self.g).map(|group| group * self.a) {
            for i in 0..self.a {
                for j in i + 1..self.a {
                    builder.add_cables(RouterId(first + i), RouterId(first + j), LOCAL, self.local_cables);
                }
            }
        }
    }

    fn add_global(&self, builder: &mut MachineBuilder, rounds: u32) {
        let Self { a, g, .. } = *self;
        let peers = g - 1;
        let channels = u64::from(rounds) * u64::from(peers);
        let router = |group: u32, round: u32, port: u32| {
            let channel = u64::from(round) * u64::from(peers) + u64::from(port);
            RouterId(group * a + (channel * u64::from(a) / channels) as u32)
        };
        for round in 0..rounds {
            // port_to[group * g + other] is the port of `group` that leads to `other`.
            let mut port_to = vec![0u32; g as usize * g as usize];
            for group in 0..g {
                for (port, other) in self.order_of_peers(group, round).into_iter().enumerate() {
                    port_to[(group * g + other) as usize] = port as u32;
                }
            }
            for group in 0..g {
                for other in group + 1..g {
                    let here = router(group, round, port_to[(group * g + other) as usize]);
                    let there = router(other, round, port_to[(other * g + group) as usize]);
                    builder.add_cables(here, there, GLOBAL, 1);
                }
            }
        }
    }

    /// The groups of ports 0, 1, … of `group`.
    fn order_of_peers(&self, group: u32, round: u32) -> Vec<u32> {
        let g = self.g;
        let ports = 0..g - 1;
        match self.arrangement {
            Arrangement::Absolute => ports.map(|q| if q < group { q } else { q + 1 }).collect(),
            Arrangement::Relative => ports.map(|q| (group + 1 + q) % g).collect(),
            Arrangement::PalmTree => ports.map(|q| (group + g - 1 - q) % g).collect(),
            Arrangement::Circulant => ports
                .map(|q| if q % 2 == 0 { (group + q / 2 + 1) % g } else { (group + g - q.div_ceil(2)) % g })
                .collect(),
            Arrangement::Random => {
                let mut peers: Vec<u32> = (0..g).filter(|&other| other != group).collect();
                let indices = [u64::from(group), u64::from(round)];
                Stream::new(self.arrangement_seed.unwrap_or_default(), "arrangement", &indices).shuffle(&mut peers);
                peers
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Machine;
    use proptest::prelude::*;

    const ARRANGEMENTS: [Arrangement; 5] = [
        Arrangement::Absolute,
        Arrangement::Relative,
        Arrangement::Circulant,
        Arrangement::PalmTree,
        Arrangement::Random,
    ];

    fn global_cables(machine: &Machine, a: usize, b: usize) -> usize {
        let (a, b) = (GroupId::from_index(a), GroupId::from_index(b));
        let joins =
            |bundle: &&crate::Bundle| machine.group_of(bundle.source) == a && machine.group_of(bundle.target) == b;
        machine.bundles().iter().filter(joins).map(|bundle| bundle.count as usize).sum()
    }

    /// Groups that the global ports of each router of group 0 lead to, for a = 2, h = 2, g = 5.
    fn peers_of_group_0(arrangement: Arrangement) -> Vec<Vec<u32>> {
        let machine = Dragonfly { p: 1, a: 2, h: 2, g: 5, arrangement, ..Dragonfly::default() };
        let machine = machine.builder().unwrap().build().unwrap();
        let global = |bundle: &&crate::Bundle| bundle.class == GLOBAL;
        (0..2)
            .map(|r| {
                machine.bundles_from(RouterId(r)).iter().filter(global).map(|b| machine.group_of(b.target).0).collect()
            })
            .collect()
    }

    /// Channels 0, 1 are router 0's and 2, 3 router 1's. From group 0: absolute 1 2 | 3 4, relative the same, circulant
    /// 1 4 | 2 3, palm tree 4 3 | 2 1.
    #[test]
    fn arrangements_by_hand() {
        assert_eq!(peers_of_group_0(Arrangement::Absolute), [[1, 2], [3, 4]]);
        assert_eq!(peers_of_group_0(Arrangement::Relative), [[1, 2], [3, 4]]);
        assert_eq!(peers_of_group_0(Arrangement::Circulant), [[1, 4], [2, 3]]);
        assert_eq!(peers_of_group_0(Arrangement::PalmTree), [[3, 4], [1, 2]]);
    }

    /// Group 3 of 5 maps channels 0..3 to groups 0 1 2 4 (absolute) or 4 0 1 2 (relative). So router 0 of group 3
    /// leads to groups 0 and 1, or to 4 and 0.
    #[test]
    fn absolute_and_relative_differ_elsewhere() {
        for (arrangement, peers) in [(Arrangement::Absolute, [0, 1]), (Arrangement::Relative, [0, 4])] {
            let machine = Dragonfly { p: 1, a: 2, h: 2, g: 5, arrangement, ..Dragonfly::default() };
            let machine = machine.builder().unwrap().build().unwrap();
            let bundles = machine.bundles_from(RouterId(6)).iter().filter(|b| b.class == GLOBAL);
            let found: Vec<u32> = bundles.map(|b| machine.group_of(b.target).0).collect();
            assert_eq!(found, peers);
        }
    }

    /// The study's wiring: port i of router r in group G has index q = 4 r + i and leads to group q, or q + 1 from G
    /// on.
    #[test]
    fn absolute_is_the_studys_wiring() {
        let machine = Dragonfly::default().builder().unwrap().build().unwrap();
        for router in machine.routers() {
            let (group, r) = (router.0 / 8, router.0 % 8);
            let global = machine.bundles_from(router).iter().filter(|b| b.class == GLOBAL);
            let found: Vec<u32> = global.map(|b| machine.group_of(b.target).0).collect();
            let expected: Vec<u32> = (4 * r..4 * r + 4).map(|q| if q < group { q } else { q + 1 }).collect();
            assert_eq!(found, expected, "{}", machine.router_name(router));
        }
    }

    #[test]
    fn mistakes_name_the_parameter() {
        let message = |dragonfly: Dragonfly| dragonfly.builder().unwrap_err().to_string();
        let g = message(Dragonfly { g: 34, ..Dragonfly::default() });
        assert_eq!(g, "g: 34 groups; expected at most a h + 1 = 8 x 4 + 1 = 33");
        assert_eq!(message(Dragonfly { p: 0, ..Dragonfly::default() }), "p: is 0; expected at least 1");
        let cables = Dragonfly { g: 9, global_cables: Some(5), ..Dragonfly::default() };
        assert!(message(cables).starts_with("global_cables: 5 cables per group pair; expected 1 to 4"));
        assert!(message(Dragonfly { a: 1 << 20, h: 1 << 20, g: 1 << 20, ..Dragonfly::default() }).contains("multiply"));
    }

    proptest! {
        #[test]
        fn every_two_groups_are_joined_equally(a in 1u32..7, h in 1u32..5, g in 2u32..20, which in 0usize..5) {
            let g = g.min(a * h + 1);
            let dragonfly = Dragonfly { p: 2, a, h, g, arrangement: ARRANGEMENTS[which], ..Dragonfly::default() };
            // Building checks that no router has more than h global and a - 1 local cables.
            let machine = dragonfly.builder().unwrap().build().unwrap();
            let n = (a * h / (g - 1)) as usize;
            for x in 0..g as usize {
                for y in (0..g as usize).filter(|&y| y != x) {
                    prop_assert_eq!(global_cables(&machine, x, y), n);
                }
            }
            let ports = |r| machine.bundles_from(r).iter().filter(|b| b.class == GLOBAL).map(|b| b.count).sum::<u32>();
            let used: Vec<u32> = machine.routers().map(ports).collect();
            prop_assert!(used.iter().max().unwrap() - used.iter().min().unwrap() <= 1, "channels are evenly \
                distributed: {:?}", used);
        }
    }
}
