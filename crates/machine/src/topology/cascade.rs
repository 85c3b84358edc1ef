//! Cray Cascade (XC30, XC40, XC50) with Aries routers: groups of rows x columns.
//!
//! Faanes et al.: "Cray Cascade: a scalable HPC system based on a Dragonfly network", SC 2012. A group is two
//! cabinets: 6 chassis (rows) of 16 slots (columns). Green cables join every two routers of a row, black cables every
//! two of a column, blue (optical) cables join groups. An Aries has 40 network tiles: 15 green, 15 black, 10 blue.
//!
//! # Blue wiring
//!
//! Two neighbouring columns of a row form a *gateway*, since one optical cable carries the links of both routers. The
//! peers of group a are the other groups in order: group b is peer k(a,b) = b if b < a, else b - 1. Every peer gets
//! `gateway_columns` gateway columns of a, and a gateway column serves its peers on R rows:
//!
//! * unit u = k `gateway_columns` + i, for i = 0 .. `gateway_columns`, uses gateway column u mod (columns / 2). These
//!   are the router columns 2 (u mod (columns/2)) + p with p = 0, 1;
//! * its t-th of R rows is row (m R + t) mod rows with m = floor(u / (columns/2));
//! * unit k(a,b), row t of a is joined to unit k(b,a), row t of b, p to p, with `blue` parallel cables;
//! * R = min(rows, floor(rows S / M)). S = floor(blue_ports / blue) peers fit at one router. M is the number of units
//!   per gateway column: all units divided by columns / 2, rounded up. Units of one gateway column take its rows in
//!   turn, so no router serves more than ceil(M R / rows) <= S of them.
//!
//! With 15 groups of 6 x 16 and 2 cables, R = 6. The rule is then Edison's wiring: gateway columns 2 (k mod 8) and 2
//! (k mod 8) + 1 in all rows, with the same row at both ends. With 241 groups R = 1, and every router uses all of its
//! 10 blue ports: the largest Cascade.

use super::{at_least_one, empty_grid, product, times, Extent, LinkFigures, Topology};
use crate::error::wrong;
use crate::{Coordinates, GroupInterior, MachineBuilder, MachineError, RouterPorts, Shape};
use odonata_declare::{parameters, Choice, Kind, OneOrEach};
use odonata_units::{GroupId, LinkClassId, RouterId};

parameters! {
    /// A Cascade. The default is Edison's cabling, with all 5,760 nodes usable; the preset has its bandwidths.
    #[derive(PartialEq, Eq)]
    pub struct Cascade {
        /// Groups (pairs of cabinets).
        pub groups: u32 = 15, Kind::COUNT;
        /// Rows (chassis) of a group.
        pub rows: u32 = 6, Kind::COUNT;
        /// Columns (slots of a chassis).
        pub columns: u32 = 16, Kind::COUNT;
        /// Nodes of each router.
        pub nodes_per_router: u32 = 4, Kind::COUNT;
        /// Nodes that jobs can use; the others are service nodes at evenly spaced routers.
        pub usable_nodes: Option<u32> = None, Kind::WordOr(ALL, &Kind::COUNT);
        /// Parallel green cables between two routers of a row.
        pub green: u32 = 1, Kind::count(0);
        /// Parallel black cables between two routers of a column.
        pub black: u32 = 3, Kind::count(0);
        /// Parallel blue cables between two joined routers of different groups.
        pub blue: u32 = 2, Kind::count(0);
        /// Gateway columns, of two router columns each, to every other group.
        pub gateway_columns: u32 = 1, Kind::COUNT;
        /// Green ports of a router.
        pub green_ports: u32 = 15, no key;
        /// Black ports of a router.
        pub black_ports: u32 = 15, no key;
        /// Blue ports of a router.
        pub blue_ports: u32 = 10, no key;
        /// Links along a row.
        pub green_figures: LinkFigures = LinkFigures::new(25_000_000_000, 100), no key;
        /// Links along a column.
        pub black_figures: LinkFigures = LinkFigures::new(25_000_000_000, 100), no key;
        /// Links between groups.
        pub blue_figures: LinkFigures = LinkFigures::new(25_000_000_000, 100), no key;
        /// Links between nodes and routers.
        pub terminal: LinkFigures = LinkFigures::new(25_000_000_000, 100), no key;
        /// Cores of each node.
        pub cores_per_node: u32 = 24, no key;
    }
}

const ALL: &Choice = &Choice { name: "all", doc: "no service nodes" };

impl Topology for Cascade {
    /// The blue ports determine the number of rows between two groups, so they are needed before the cabling.
    fn take_ports(&mut self, ports: &dyn Fn(&str) -> Option<u32>) {
        let of_classes =
            [("green", &mut self.green_ports), ("black", &mut self.black_ports), ("blue", &mut self.blue_ports)];
        for (class, known) in of_classes {
            *known = ports(class).unwrap_or(*known);
        }
    }

    fn extent(&self) -> Extent {
        let Self { groups, rows, columns, nodes_per_router, green, black, .. } = *self;
        let green = times(&[groups, rows, columns, columns.saturating_sub(1), green]) / 2;
        let black = times(&[groups, rows, columns, rows.saturating_sub(1), black]) / 2;
        let blue = times(&[groups, rows, columns, self.blue_ports]) / 2;
        Extent {
            routers: times(&[groups, rows, columns]),
            nodes: times(&[groups, rows, columns, nodes_per_router]),
            cables: green.saturating_add(black).saturating_add(blue),
        }
    }

    fn lay_out(&self) -> Result<MachineBuilder, MachineError> {
        self.builder()
    }
}

const GREEN: LinkClassId = LinkClassId(0);
const BLACK: LinkClassId = LinkClassId(1);
const BLUE: LinkClassId = LinkClassId(2);

impl Cascade {
    /// The default with the bandwidths of Aries routers (Cray XC).
    pub fn aries() -> Self {
        Self {
            green_figures: LinkFigures::new(5_250_000_000, 100),
            black_figures: LinkFigures::new(5_250_000_000, 100),
            blue_figures: LinkFigures::new(4_700_000_000, 100),
            terminal: LinkFigures::new(16_000_000_000, 100),
            ..Self::default()
        }
    }

    /// Lists routers, nodes and cables. Router = (group * rows + row) * columns + column; node = router *
    /// nodes_per_router + slot.
    ///
    /// # Errors
    /// A size of zero, more usable nodes than nodes, or more groups than the blue ports can join. More green or black
    /// cables than ports are found when the machine is built.
    pub fn builder(&self) -> Result<MachineBuilder, MachineError> {
        let Self { groups, rows, columns, nodes_per_router, .. } = *self;
        at_least_one(&[
            ("groups", groups),
            ("rows", rows),
            ("columns", columns),
            ("nodes_per_router", nodes_per_router),
        ])?;
        let routers = product("routers", &[groups, rows, columns])?;
        let nodes = product("nodes", &[routers, nodes_per_router])?;
        product("green cables", &[routers, columns, self.green.max(1)])?;
        product("black cables", &[routers, rows, self.black.max(1)])?;
        let served_rows = self.rows_per_unit()?;
        let mut builder = empty_grid(
            format!("cascade-{groups}x{rows}x{columns}"),
            Shape::Grouped {
                groups,
                routers_per_group: rows * columns,
                interior: GroupInterior::Grid { rows, columns },
            },
            Coordinates::grid(&["group", "row", "column"], &[groups, rows, columns]),
            (0..routers).map(|router| GroupId(router / (rows * columns))).collect(),
            nodes_per_router,
            self.cores_per_node,
            self.terminal,
        );
        builder.classes = vec![
            self.green_figures.class("green", Some(self.green_ports)),
            self.black_figures.class("black", Some(self.black_ports)),
            self.blue_figures.class("blue", Some(self.blue_ports)),
        ];
        let network = self.green_ports.saturating_add(self.black_ports).saturating_add(self.blue_ports);
        builder.ports = Some(RouterPorts { per_nic: OneOrEach::One(0), ..RouterPorts::of_all(network) });
        self.add_inside_groups(&mut builder);
        self.add_between_groups(&mut builder, served_rows);
        self.mark_service_nodes(&mut builder, nodes)?;
        Ok(builder)
    }

    fn router(&self, group: u32, row: u32, column: u32) -> RouterId {
        RouterId((group * self.rows + row) * self.columns + column)
    }

    fn add_inside_groups(&self, builder: &mut MachineBuilder) {
        for group in 0..self.groups {
            for row in 0..self.rows {
                for column in 0..self.columns {
                    let here = self.router(group, row, column);
                    for other in column + 1..self.columns {
                        builder.add_cables(here, self.router(group, row, other), GREEN, self.green);
                    }
                    for other in row + 1..self.rows {
                        builder.add_cables(here, self.router(group, other, column), BLACK, self.black);
                    }
                }
            }
        }
    }

    /// Gateway columns of a group and the router columns of each.
    fn gateways(&self) -> (u32, u32) {
        if self.columns == 1 {
            (1, 1)
        } else {
            (self.columns / 2, 2)
        }
    }

    /// R of the blue wiring: the number of rows on which a unit is cabled.
    fn rows_per_unit(&self) -> Result<u32, MachineError> {
        if self.groups == 1 || self.blue == 0 {
            return Ok(0);
        }
        at_least_one(&[("gateway_columns", self.gateway_columns)])?;
        let (gateways, _) = self.gateways();
        if self.gateway_columns > gateways {
            return wrong(
                "gateway_columns",
                format!("{}; expected 1 to {gateways}, two router columns each", self.gateway_columns),
            );
        }
        let peers_per_router = u64::from(self.blue_ports / self.blue);
        let units = u64::from(self.groups - 1) * u64::from(self.gateway_columns);
        let units_per_gateway = units.div_ceil(u64::from(gateways));
        let served = (peers_per_router * u64::from(self.rows) / units_per_gateway).min(u64::from(self.rows));
        if served == 0 {
            let units = peers_per_router * u64::from(self.rows) * u64::from(gateways);
            let most = units / u64::from(self.gateway_columns) + 1;
            return wrong(
                "groups",
                format!(
                    "{} groups, but {} blue ports per router with {} cables per router pair join at most {most}",
                    self.groups, self.blue_ports, self.blue
                ),
            );
        }
        // The most blue cables of a router, so it limits the cables of a pair.
        let per_router = units_per_gateway.min(peers_per_router) as u32;
        product("blue cables", &[self.groups, self.rows, self.columns, per_router, self.blue])?;
        Ok(served as u32)
    }

    fn add_between_groups(&self, builder: &mut MachineBuilder, served_rows: u32) {
        let (gateways, width) = self.gateways();
        let units = if served_rows == 0 { 0 } else { self.gateway_columns };
        let peer = |of: u32, other: u32| if other < of { other } else { other - 1 };
        let place = |group: u32, unit: u32, t: u32, p: u32| {
            let row = (unit / gateways * served_rows + t) % self.rows;
            self.router(group, row, unit % gateways * width + p)
        };
        for a in 0..self.groups {
            for b in a + 1..self.groups {
                for i in 0..units {
                    let (unit_a, unit_b) = (peer(a, b) * units + i, peer(b, a) * units + i);
                    for t in 0..served_rows {
                        for p in 0..width {
                            builder.add_cables(place(a, unit_a, t, p), place(b, unit_b, t, p), BLUE, self.blue);
                        }
                    }
                }
            }
        }
    }

    /// Marks the nodes beyond `usable_nodes` as service nodes: whole routers at even distances, and the last slots of
    /// one more.
    fn mark_service_nodes(&self, builder: &mut MachineBuilder, nodes: u32) -> Result<(), MachineError> {
        let Some(usable) = self.usable_nodes else { return Ok(()) };
        if usable > nodes {
            return wrong("usable_nodes", format!("{usable}, but there are {nodes} nodes"));
        }
        let service = nodes - usable;
        let per_router = self.nodes_per_router;
        let routers = nodes / per_router;
        let hosts = service.div_ceil(per_router);
        for host in 0..hosts {
            let router = (u64::from(host) * u64::from(routers) / u64::from(hosts)) as u32;
            let count = per_router.min(service - host * per_router);
            for slot in per_router - count..per_router {
                builder.node_up[(router * per_router + slot) as usize] = false;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::presets;
    use proptest::prelude::*;

    /// Cables between every two groups, or the first two pairs that differ.
    fn cables_per_group_pair(cascade: &Cascade) -> Result<usize, String> {
        let builder = cascade.builder().map_err(|error| error.to_string())?;
        let groups = cascade.groups as usize;
        let mut count = vec![0usize; groups * groups];
        for cable in builder.cables.iter().filter(|cable| cable.class == BLUE) {
            let (a, b) = (builder.group_of[cable.a.index()], builder.group_of[cable.b.index()]);
            count[a.min(b).index() * groups + a.max(b).index()] += 1;
        }
        builder.build().map_err(|error| error.to_string())?;
        let pairs = (0..groups).flat_map(|a| (a + 1..groups).map(move |b| a * groups + b));
        let mut counts: Vec<usize> = pairs.map(|pair| count[pair]).collect();
        counts.sort_unstable();
        counts.dedup();
        match counts[..] {
            [n] => Ok(n),
            _ => Err(format!("group pairs have different numbers of cables: {counts:?}")),
        }
    }

    /// Edison's closed form: router (a, r, 2 (k(a,b) mod 8) + p) to (b, r, 2 (k(b,a) mod 8) + p).
    #[test]
    fn fifteen_groups_are_edisons_closed_form() {
        let mut expected = Vec::new();
        for a in 0..15u32 {
            for b in a + 1..15 {
                let (k_ab, k_ba) = (b - 1, a);
                for r in 0..6 {
                    for p in 0..2 {
                        let here = a * 96 + r * 16 + 2 * (k_ab % 8) + p;
                        let there = b * 96 + r * 16 + 2 * (k_ba % 8) + p;
                        expected.extend([(here, there); 2]);
                    }
                }
            }
        }
        let builder = Cascade::default().builder().unwrap();
        let blue = builder.cables.iter().filter(|cable| cable.class == BLUE);
        let mut found: Vec<(u32, u32)> = blue.map(|cable| (cable.a.0, cable.b.0)).collect();
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected);
    }

    /// 96 routers x 10 ports / 240 other groups = 4 cables per group pair, and no port is free.
    #[test]
    fn the_largest_uses_every_port() {
        assert_eq!(cables_per_group_pair(&Cascade { groups: 241, ..Cascade::default() }), Ok(4));
        let machine = presets::builder("cascade-241").unwrap().build().unwrap();
        assert!(machine.routers().all(|router| machine.links_from(router).len() == 40));
        let error = Cascade { groups: 242, ..Cascade::default() }.builder().unwrap_err().to_string();
        assert_eq!(
            error,
            "groups: 242 groups, but 10 blue ports per router with 2 cables per router pair join at most 241"
        );
    }

    /// Five cables per router pair leave room for two peers at a router; 14 peers need two at eight gateway columns.
    #[test]
    fn more_parallel_cables_join_fewer_groups() {
        assert_eq!(cables_per_group_pair(&Cascade { blue: 5, ..Cascade::default() }), Ok(60));
        assert!(Cascade { blue: 11, ..Cascade::default() }.builder().is_err());
        // 96 routers with two peers each, two routers per gateway: at most 96 peers.
        assert_eq!(cables_per_group_pair(&Cascade { blue: 5, groups: 97, ..Cascade::default() }), Ok(10));
        assert!(Cascade { blue: 5, groups: 98, ..Cascade::default() }.builder().is_err());
    }

    #[test]
    fn service_nodes_fill_whole_routers_at_even_distances() {
        let builder = Cascade { usable_nodes: Some(5570), ..Cascade::default() }.builder().unwrap();
        assert_eq!(builder.node_up.iter().filter(|&&up| up).count(), 5570);
        let down = |router: usize| (0..4).filter(|slot| !builder.node_up[4 * router + slot]).count();
        let hosts: Vec<(usize, usize)> =
            (0..1440).map(|router| (router, down(router))).filter(|&(_, n)| n > 0).collect();
        assert_eq!(hosts.len(), 48, "190 service nodes are 47 routers of four and one of two");
        assert!(hosts.iter().enumerate().all(|(i, &(router, n))| router == i * 30 && n == if i == 47 { 2 } else { 4 }));
        assert!(Cascade { usable_nodes: Some(5761), ..Cascade::default() }.builder().is_err());
    }

    #[test]
    fn absurd_numbers_are_errors() {
        let many = Cascade { blue: 4_000_000_000, blue_ports: u32::MAX, ..Cascade::default() };
        assert!(many.builder().unwrap_err().to_string().contains("multiply to more than"));
        let ports = Cascade { blue_ports: u32::MAX, ..Cascade::default() };
        assert_eq!(ports.builder().unwrap().ports.unwrap().count, OneOrEach::One(u32::MAX));
    }

    #[test]
    fn too_many_green_cables_name_the_router() {
        let error = Cascade { green: 2, ..Cascade::default() }.builder().unwrap().build().unwrap_err().to_string();
        assert!(error.starts_with("router g0r0c0 needs 30 green ports but has 15"), "{error}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        /// Every machine that can be listed can be built: the rule respects the blue ports, and treats all groups
        /// alike.
        #[test]
        fn every_two_groups_are_joined_equally(
            groups in 2u32..60, rows in 1u32..8, columns in 1u32..18, blue in 1u32..6, gateway_columns in 1u32..4
        ) {
            let cascade = Cascade { groups, rows, columns, blue, gateway_columns, green: 0, black: 0, ..Cascade::default() };
            match cascade.builder() {
                Ok(_) => prop_assert!(cables_per_group_pair(&cascade).unwrap() >= blue as usize),
                Err(error) => {
                    let error = error.to_string();
                    prop_assert!(error.contains("join at most") || error.contains("gateway_columns"), "{}", error);
                }
            }
        }
    }
}
