//! `min` is the same hop by hop and as expected load: tests against a plain twin of its definition, against closed
//! forms, and the deadlock check.

use odonata_machine::topology::{Cascade, Dragonfly, FatTree, Torus};
use odonata_machine::{GroupInterior, Machine, MachineBuilder, Shape};
use odonata_routing::algorithm::{Decision, Discipline, Goal, Header, Leg, Memory, RouteState, Routing, RoutingChoice};
use odonata_routing::deadlock;
use odonata_routing::next_hop::NextHops;
use odonata_routing::paths::{path_rule, Demand, Draws, Intermediate, Oblivious};
use odonata_routing::view::IdleView;
use odonata_units::{LinkClassId, LinkId, NodeId, RouterId, Stream};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

fn dragonfly(a: u32, h: u32, g: u32) -> MachineBuilder {
    Dragonfly { p: 1, a, h, g, ..Dragonfly::default() }.builder().unwrap()
}

fn cascade(groups: u32, rows: u32, columns: u32) -> MachineBuilder {
    Cascade { groups, rows, columns, nodes_per_router: 1, ..Cascade::default() }.builder().unwrap()
}

fn torus(dims: &[u32], wrap: bool) -> MachineBuilder {
    Torus { dims: dims.to_vec(), wrap: vec![wrap; dims.len()].into(), ..Torus::default() }.builder().unwrap()
}

/// Cuts every cable with a probability.
fn cut(mut builder: MachineBuilder, class: Option<&str>, share: f64, seed: u64) -> MachineBuilder {
    let class = class.map(|name| builder.classes.iter().position(|c| c.name == name).unwrap());
    let mut random = Stream::new(seed, "cut", &[]);
    builder.cables.retain(|c| class.is_some_and(|class| c.class.index() != class) || !random.chance(share));
    builder
}

/// Groups in a ring, each joined to the next by cables between different routers, one of them doubled.
fn ring_of_groups() -> MachineBuilder {
    let (a, groups) = (4, 7);
    let mut builder = cut(dragonfly(a, 2, groups), Some("global"), 1.0, 1);
    let global = LinkClassId::from_index(builder.classes.iter().position(|c| c.name == "global").unwrap());
    builder.classes.iter_mut().for_each(|class| class.ports_per_router = None);
    builder.ports = None;
    for g in 0..groups {
        for (from, to, count) in [(0, 1, 1), (2, 3, 2), (1, 2, 1)] {
            builder.add_cables(RouterId(g * a + from), RouterId((g + 1) % groups * a + to), global, count);
        }
    }
    builder
}

/// Many machines: one or several cables between two groups, bundled or not; failed routers; groups without a cable
/// between them; grids with and without holes; tori, meshes, fat trees; parallel cables anywhere.
fn machines() -> Vec<(&'static str, MachineBuilder)> {
    let mut failed = dragonfly(6, 2, 4);
    for r in [3, 8, 9, 20] {
        failed.router_up[r] = false;
        failed.cables.retain(|c| c.a.index() != r && c.b.index() != r);
    }
    let mut doubled = cut(dragonfly(4, 1, 3), Some("global"), 0.3, 4);
    let again: Vec<_> = doubled.cables.iter().step_by(2).cloned().collect();
    doubled.cables.extend(again);
    doubled.classes.iter_mut().for_each(|class| class.ports_per_router = None);
    doubled.ports = None;
    let pairs = Dragonfly { p: 1, a: 5, h: 2, g: 3, global_cables: Some(3), ..Dragonfly::default() };
    vec![
        ("two cables per pair", dragonfly(4, 1, 3)),
        ("three cables per pair", pairs.builder().unwrap()),
        ("many cables per pair", dragonfly(6, 2, 4)),
        ("unequal numbers of cables", cut(dragonfly(6, 3, 4), Some("global"), 0.3, 1)),
        ("failed routers", failed),
        ("parallel cables", doubled),
        ("canonical", dragonfly(4, 2, 9)),
        ("groups without a cable", cut(dragonfly(4, 2, 9), Some("global"), 0.2, 3)),
        ("groups far apart", cut(dragonfly(3, 2, 7), Some("global"), 0.6, 7)),
        ("ring of groups", ring_of_groups()),
        ("cascade", cascade(3, 2, 4)),
        ("cascade of one group", cascade(1, 3, 4)),
        ("cascade with holes", cut(cascade(3, 3, 4), None, 0.15, 2)),
        ("torus", torus(&[5, 4], true)),
        ("torus of two", torus(&[2, 6, 3], true)),
        ("mesh", torus(&[4, 3], false)),
        ("torus with a hole", cut(torus(&[4, 4], true), None, 0.1, 1)),
        ("fat tree", FatTree { k: 4, ..FatTree::default() }.builder().unwrap()),
        ("broken fat tree", cut(FatTree { k: 4, ..FatTree::default() }.builder().unwrap(), None, 0.1, 2)),
    ]
}

fn tables(machine: &Machine) -> Arc<NextHops> {
    Arc::new(NextHops::new(machine).unwrap())
}

fn min(hops: &Arc<NextHops>) -> Box<dyn Routing> {
    "min".parse::<RoutingChoice>().unwrap().build(Arc::clone(hops)).unwrap()
}

/// A plain form of the definition: tables of all pairs, and shares passed on router by router.
struct Twin<'m> {
    machine: &'m Machine,
    grouped: bool,
    /// Hops between groups and hops in total of the minimal path from router s to router t, at [s][t].
    cost: Vec<Vec<(u32, u32)>>,
    /// Hops from s to t that stay in their group.
    inside: Vec<Vec<u32>>,
}

const FAR: u32 = 1 << 20;

impl<'m> Twin<'m> {
    fn new(machine: &'m Machine) -> Self {
        let grouped = matches!(machine.shape(), Shape::Grouped { .. });
        let n = machine.router_count();
        let mut twin = Self { machine, grouped, cost: vec![vec![(FAR, FAR); n]; n], inside: vec![vec![FAR; n]; n] };
        for s in 0..n {
            (twin.cost[s][s], twin.inside[s][s]) = ((0, 0), 0);
            // Relax all links until nothing changes.
            let mut changed = true;
            while changed {
                changed = false;
                for link in machine.links() {
                    let (a, b) = (machine.source(link).index(), machine.target(link).index());
                    let across = twin.across(link);
                    let through = (twin.cost[s][a].0 + u32::from(across), twin.cost[s][a].1 + 1);
                    if through < twin.cost[s][b] {
                        (twin.cost[s][b], changed) = (through, true);
                    }
                    if !across && twin.inside[s][a] + 1 < twin.inside[s][b] {
                        (twin.inside[s][b], changed) = (twin.inside[s][a] + 1, true);
                    }
                }
            }
        }
        twin
    }

    fn across(&self, link: LinkId) -> bool {
        self.grouped
            && self.machine.group_of(self.machine.source(link)) != self.machine.group_of(self.machine.target(link))
    }

    fn links(&self, at: RouterId) -> Vec<LinkId> {
        self.machine.links_from(at).map(|l| LinkId(l as u32)).collect()
    }

    /// Links of `at` that a packet for `to`, a router of its group, may take next; all are equally likely.
    fn next(&self, at: RouterId, to: RouterId) -> Vec<LinkId> {
        let target = |l: &LinkId| self.machine.target(*l);
        let nearer = |l: &LinkId| {
            !self.across(*l) && self.inside[target(l).index()][to.index()] + 1 == self.inside[at.index()][to.index()]
        };
        let links: Vec<LinkId> = self.links(at).into_iter().filter(nearer).collect();
        let Shape::Grouped { interior: GroupInterior::Grid { .. }, .. } = self.machine.shape() else { return links };
        // Coordinates are group, row, column.
        let place = |r: RouterId| self.machine.coordinates().of(r).to_vec();
        let row: Vec<LinkId> = links.iter().copied().filter(|l| place(target(l))[1] == place(at)[1]).collect();
        if place(at)[2] != place(to)[2] && !row.is_empty() {
            row
        } else {
            links
        }
    }

    fn add_inside(&self, at: RouterId, to: RouterId, amount: f64, loads: &mut [f64]) {
        if at == to {
            return;
        }
        let next = self.next(at, to);
        for link in &next {
            let share = amount / next.len() as f64;
            loads[link.index()] += share;
            self.add_inside(self.machine.target(*link), to, share, loads);
        }
    }

    /// Adds the load from `at` to `to`.
    fn add(&self, at: RouterId, to: RouterId, amount: f64, loads: &mut [f64]) {
        if let Shape::Torus { dims, wrap } = self.machine.shape() {
            let neighbours = self.machine.routers().map(|r| self.machine.bundles_from(r).len());
            if neighbours.min() == Some(fewest_neighbours(dims, wrap)) {
                return self.add_in_order(dims, at, to, amount, loads);
            }
        }
        if !self.grouped || self.machine.group_of(at) == self.machine.group_of(to) {
            return self.add_inside(at, to, amount, loads);
        }
        let (from, goal) = (at.index(), to.index());
        let on_shortest = |l: &LinkId| {
            let (a, b) = (self.machine.source(*l).index(), self.machine.target(*l).index());
            let behind = self.cost[b][goal];
            self.across(*l)
                && self.inside[from][a] < FAR
                && (behind.0 + 1, self.inside[from][a] + 1 + behind.1) == self.cost[from][goal]
        };
        let links: Vec<LinkId> = self.machine.links().filter(on_shortest).collect();
        for link in &links {
            let share = amount / links.len() as f64;
            self.add_inside(at, self.machine.source(*link), share, loads);
            loads[link.index()] += share;
            self.add(self.machine.target(*link), to, share, loads);
        }
    }

    /// First dimension first, in the shorter direction; half in each direction if both are equally long.
    fn add_in_order(&self, dims: &[u32], at: RouterId, to: RouterId, amount: f64, loads: &mut [f64]) {
        let place = |r: RouterId| self.machine.coordinates().of(r).to_vec();
        let (x, y) = (place(at), place(to));
        let Some(d) = (0..dims.len()).find(|&d| x[d] != y[d]) else { return };
        // Targets along dimension d that are one step nearer within it.
        let within = |from: &[u32]| {
            let mut end = from.to_vec();
            end[d] = y[d];
            let end = self.machine.routers().find(|&r| place(r) == end).unwrap();
            let start = self.machine.routers().find(|&r| place(r) == from).unwrap();
            self.inside[start.index()][end.index()]
        };
        let along = |l: &LinkId| {
            let z = place(self.machine.target(*l));
            (0..dims.len()).all(|e| e == d || z[e] == x[e]) && within(&z) + 1 == within(&x)
        };
        let links: Vec<LinkId> = self.links(at).into_iter().filter(along).collect();
        // A packet keeps its direction, because the other one is now longer.
        for link in &links {
            let share = amount / links.len() as f64;
            loads[link.index()] += share;
            self.add_in_order(dims, self.machine.target(*link), to, share, loads);
        }
    }
}

/// Neighbours of the router with the fewest, in a whole torus or mesh.
fn fewest_neighbours(dims: &[u32], wrap: &[bool]) -> usize {
    dims.iter().zip(wrap).map(|(&n, &wrap)| if n == 1 { 0 } else { 1 + usize::from(wrap && n > 2) }).sum()
}

/// Links of a packet's path under `min`. On a machine with groups, the channel is the number of hops between groups
/// so far, and the last one in the destination group.
fn walk(routing: &dyn Routing, hops: &NextHops, random: &mut Stream, from: NodeId, to: NodeId) -> Vec<LinkId> {
    let mut packet = Header { source: from, destination: to, state: RouteState::default() };
    let mut at = hops.router_of(from);
    let (mut path, mut across) = (Vec::new(), 0);
    while at != hops.router_of(to) {
        let mut memory = Memory::default();
        let mut decision = Decision::new(at, &IdleView, random, &mut memory);
        let hop = routing.decide(&mut decision, &mut packet);
        assert!(hop.vc < routing.virtual_channels());
        packet.state.hops += 1;
        packet.state.vc = hop.vc;
        path.push(hops.link(at, hop.port));
        let next = hops.neighbour(at, hop.port);
        if hops.groups() > 1 {
            let arrived = hops.group_of(at) == hops.group_of(hops.router_of(to));
            assert_eq!(hop.vc, if arrived { routing.virtual_channels() - 1 } else { across });
            across += u8::from(hops.group_of(at) != hops.group_of(next));
        }
        at = next;
        assert!(path.len() < 64, "the path is too long");
    }
    path
}

fn nodes(machine: &Machine) -> Vec<NodeId> {
    machine.nodes().filter(|&n| machine.node_up(n)).collect()
}

#[test]
fn every_path_is_minimal_hop_by_hop_and_whole() {
    for (what, builder) in machines() {
        let machine = builder.build().unwrap();
        let (twin, hops) = (Twin::new(&machine), tables(&machine));
        let (routing, (rule, _)) = (min(&hops), path_rule(&machine, Intermediate::Third).unwrap());
        let mut random = Stream::new(5, "test", &[]);
        for &from in &nodes(&machine) {
            for &to in &nodes(&machine) {
                let (source, target) = (machine.router_of(from), machine.router_of(to));
                if source == target {
                    continue;
                }
                let expected = twin.cost[source.index()][target.index()];
                let cost =
                    |path: &[LinkId]| (path.iter().filter(|l| twin.across(**l)).count() as u32, path.len() as u32);
                assert_eq!(rule.distance(source, target), expected.1, "{what}: {from:?} to {to:?}");
                for turn in 0..3 {
                    let packet = walk(&*routing, &hops, &mut random, from, to);
                    assert_eq!(cost(&packet), expected, "{what}: {from:?} to {to:?}");
                    let mut path = Vec::new();
                    rule.minimal(source, target, &mut Draws::new(1, from.0.into(), turn), &mut path);
                    assert_eq!(cost(&path), expected, "{what}: {from:?} to {to:?}");
                }
            }
        }
    }
}

/// Expected loads equal the loads of the definition. Packets and drawn paths have them as their means: 10,000 draws
/// have a standard error of at most 0.5 / 100 per link, and 5 of them are allowed.
#[test]
fn expected_loads_packets_and_drawn_paths_agree() {
    const WALKS: u32 = 10_000;
    for (what, builder) in machines() {
        let machine = builder.build().unwrap();
        let (twin, hops) = (Twin::new(&machine), tables(&machine));
        let (routing, (rule, _)) = (min(&hops), path_rule(&machine, Intermediate::Third).unwrap());
        let mut random = Stream::new(11, "test", &[]);
        let nodes = nodes(&machine);
        for i in 0..5usize {
            let (from, to) = (nodes[i * 3 % nodes.len()], nodes[nodes.len() - 1 - i * 2 % nodes.len()]);
            let (source, target) = (machine.router_of(from), machine.router_of(to));
            let mut exact = vec![0.0; machine.link_count()];
            twin.add(source, target, 1.0, &mut exact);
            let mut spread = vec![0.0; machine.link_count()];
            rule.spread(&[Demand { source, target, amount: 1.0 }], Oblivious::Minimal, &mut spread);
            let (mut packets, mut paths) = (vec![0.0; machine.link_count()], vec![0.0; machine.link_count()]);
            for turn in 0..WALKS {
                let share = 1.0 / f64::from(WALKS);
                let walked = walk(&*routing, &hops, &mut random, from, to);
                walked.iter().for_each(|l| packets[l.index()] += share);
                let mut path = Vec::new();
                rule.minimal(source, target, &mut Draws::new(7, i as u64, turn), &mut path);
                path.iter().for_each(|l| paths[l.index()] += share);
            }
            for link in machine.links() {
                let l = link.index();
                let place = format!("{what}: {source:?} to {target:?}, {}", machine.link_name(link));
                assert!((spread[l] - exact[l]).abs() < 1e-9, "{place}: {} for {}", spread[l], exact[l]);
                assert!((packets[l] - exact[l]).abs() < 0.025, "{place}: packets {} for {}", packets[l], exact[l]);
                assert!((paths[l] - exact[l]).abs() < 0.025, "{place}: paths {} for {}", paths[l], exact[l]);
            }
        }
    }
}

/// Two cables join two groups of four routers, s1 to d1 and s2 to d2. A packet from s1 to d2 has two paths of two
/// hops: over its own cable, or over the other. A packet from a third router to d2 has one path of two hops, over the
/// cable of s2: both cables are equally near, but only one ends at d2.
#[test]
fn the_far_end_of_a_cable_counts() {
    let machine = dragonfly(4, 1, 3).build().unwrap();
    let across: Vec<LinkId> =
        machine.links().filter(|&l| machine.source(l).0 < 4 && (4..8).contains(&machine.target(l).0)).collect();
    assert_eq!(across.len(), 2);
    let [(s1, _), (s2, d2)] = [0, 1].map(|i| (machine.source(across[i]), machine.target(across[i])));
    let third = machine.routers().find(|r| ![s1, s2].contains(r)).unwrap();
    let hops = tables(&machine);
    let (routing, (rule, _)) = (min(&hops), path_rule(&machine, Intermediate::Third).unwrap());
    let mut random = Stream::new(2, "test", &[]);
    for (source, share) in [(s1, 0.5), (third, 0.0), (s2, 0.0)] {
        let mut loads = vec![0.0; machine.link_count()];
        rule.spread(&[Demand { source, target: d2, amount: 1.0 }], Oblivious::Minimal, &mut loads);
        assert_eq!((loads[across[0].index()], loads[across[1].index()]), (share, 1.0 - share));
        let paths = (0..1000).map(|_| walk(&*routing, &hops, &mut random, NodeId(source.0), NodeId(d2.0)));
        let first = paths.filter(|path| path.contains(&across[0])).count() as f64 / 1000.0;
        assert!((first - share).abs() < 0.08, "{source:?}: {first}");
    }
}

/// All pairs of a dragonfly with a routers per group, whose groups are joined by n cables between different routers
/// at both ends. Of the a^2 pairs of routers of two groups, n are one hop apart, the (a-n)^2 without a cable three,
/// all others two. Inside a group all a (a-1) pairs are one hop apart. For a = 4, n = 2 and three groups: 1.818 hops.
/// (Over the nearest cable it would be 1.909.)
#[test]
fn mean_hops_have_their_closed_form() {
    for (a, h, g, n) in [(4, 1, 3, 2), (6, 2, 4, 4), (6, 1, 3, 3), (4, 2, 9, 1)] {
        let machine = dragonfly(a, h, g).build().unwrap();
        let mut ends: BTreeMap<(u32, u32), Vec<(u32, u32)>> = BTreeMap::new();
        for link in machine.links() {
            let (s, t) = (machine.source(link).0, machine.target(link).0);
            if s / a != t / a {
                ends.entry((s / a, t / a)).or_default().push((s, t));
            }
        }
        let distinct = |ends: &Vec<(u32, u32)>| {
            let mut both = [ends.iter().map(|e| e.0).collect::<Vec<_>>(), ends.iter().map(|e| e.1).collect()];
            both.iter_mut().for_each(|e| e.sort_unstable());
            both.iter().all(|e| e.len() == n as usize && e.windows(2).all(|w| w[0] < w[1]))
        };
        assert!(ends.len() as u32 == g * (g - 1) && ends.values().all(distinct), "the machine of the formula");
        let between = n + 3 * (a - n) * (a - n) + 2 * (a * a - n - (a - n) * (a - n));
        let all = g * a * (g * a - 1);
        let mean = f64::from(g * a * (a - 1) + g * (g - 1) * between) / f64::from(all);
        let pairs = machine.routers().flat_map(|s| machine.routers().map(move |t| (s, t))).filter(|(s, t)| s != t);
        let demands: Vec<Demand> = pairs.map(|(source, target)| Demand { source, target, amount: 1.0 }).collect();
        let mut loads = vec![0.0; machine.link_count()];
        path_rule(&machine, Intermediate::Third).unwrap().0.spread(&demands, Oblivious::Minimal, &mut loads);
        assert!((loads.iter().sum::<f64>() / f64::from(all) - mean).abs() < 1e-9, "a = {a}, n = {n}: {mean}");
        let hops = tables(&machine);
        let mut random = Stream::new(3, "test", &[]);
        let walked = |d: &Demand| walk(&*min(&hops), &hops, &mut random, NodeId(d.source.0), NodeId(d.target.0)).len();
        let sum: usize = demands.iter().map(walked).sum();
        assert!((sum as f64 / f64::from(all) - mean).abs() < 1e-9, "packets: a = {a}, n = {n}: {mean}");
        if (a, n) == (4, 2) {
            assert!((mean - 20.0 / 11.0).abs() < 1e-12);
        }
    }
}

/// The legs of a path over the nearest cable, on two channels.
fn nearest_cable() -> Discipline {
    Discipline::Legs(vec![
        Leg { goal: Goal::Group, vc: 0, is_first: true, next: vec![1] },
        Leg { goal: Goal::Router, vc: 1, is_first: true, next: vec![] },
    ])
}

fn proven(hops: &Arc<NextHops>) -> bool {
    let routing = min(hops);
    deadlock::check(hops, &routing.discipline(), routing.virtual_channels(), routing.reserved_from(), routing.rings())
        .is_ok()
}

#[test]
fn no_path_can_deadlock() {
    for (what, builder) in machines() {
        let hops = tables(&builder.build().unwrap());
        if what == "cascade with holes" {
            // Inside a group with holes, minimal paths may form a cycle, also those inside the destination group.
            assert!(!proven(&hops) && deadlock::check(&hops, &nearest_cable(), 2, u8::MAX, None).is_err());
        } else {
            assert!(proven(&hops), "{what}");
        }
    }
}

/// If groups are joined only via third ones, the VC number increases with every group. The path over the nearest
/// cable, on two channels, closes a cycle there.
#[test]
fn vcs_increase_from_group_to_group() {
    let hops = tables(&cut(dragonfly(4, 2, 9), Some("global"), 0.2, 3).build().unwrap());
    assert!(deadlock::check(&hops, &nearest_cable(), 2, u8::MAX, None).is_err());
    assert!(proven(&hops));
    assert_eq!(min(&hops).virtual_channels(), 3);
    assert_eq!(min(&tables(&dragonfly(4, 1, 3).build().unwrap())).virtual_channels(), 2);
    // With one channel too few there is a cycle: the check reads more than the number of channels.
    let Discipline::Legs(mut legs) = min(&hops).discipline() else { panic!("legs") };
    legs.iter_mut().for_each(|leg| leg.vc = leg.vc.saturating_sub(1));
    assert!(deadlock::check(&hops, &Discipline::Legs(legs), 2, u8::MAX, None).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// `min` is proven on every machine on which the path over the nearest cable is proven.
    #[test]
    fn what_was_proven_is_proven(pick in 0usize..5, share in 0.0f64..0.4, local in any::<bool>(), seed in 0u64..1000) {
        let builder = match pick {
            0 => dragonfly(4, 1, 3),
            1 => dragonfly(6, 2, 4),
            2 => dragonfly(4, 2, 9),
            3 => cascade(3, 2, 4),
            _ => cascade(5, 3, 3),
        };
        let class = builder.classes.len() - 1;
        let name = builder.classes[class].name.clone();
        let Ok(machine) = cut(builder, (!local).then_some(&name), share, seed).build() else { return Ok(()) };
        let Ok(hops) = NextHops::new(&machine).map(Arc::new) else { return Ok(()) };
        let before = deadlock::check(&hops, &nearest_cable(), 2, u8::MAX, None).is_ok();
        prop_assert!(proven(&hops) || !before);
    }
}
