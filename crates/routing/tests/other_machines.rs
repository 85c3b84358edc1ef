//! Algorithms for tori, meshes, fat trees and any graph, followed hop by hop and checked for deadlock.

use odonata_machine::topology::{ExpressMesh, FatTree, HyperX, Jellyfish, PolarFly, SlimFly, Torus};
use odonata_machine::{presets, Machine, MachineBuilder, Shape};
use odonata_routing::algorithm::{
    Algorithm, DeadlockAvoidance, Decision, Discipline, Header, Hop, Memory, Relation, Rings, RouteState, Routing,
    RoutingChoice, TorusSettings,
};
use odonata_routing::deadlock;
use odonata_routing::next_hop::NextHops;
use odonata_routing::view::{IdleView, LoadView};
use odonata_units::{NodeId, RouterId, Stream};
use std::sync::Arc;

fn torus(dims: &[u32], wrap: &[bool]) -> MachineBuilder {
    Torus { dims: dims.to_vec(), wrap: wrap.to_vec().into(), ..Torus::default() }.builder().unwrap()
}

fn tables(builder: MachineBuilder) -> (Machine, Arc<NextHops>) {
    let machine = builder.build().unwrap();
    let hops = Arc::new(NextHops::new(&machine).unwrap());
    (machine, hops)
}

fn routing(name: &str, hops: &Arc<NextHops>) -> Box<dyn Routing> {
    name.parse::<RoutingChoice>().unwrap().build(Arc::clone(hops)).unwrap()
}

fn refusal(name: &str, hops: &Arc<NextHops>) -> String {
    name.parse::<RoutingChoice>().unwrap().build(Arc::clone(hops)).err().expect("an error").to_string()
}

/// No room in any reserved channel.
struct Full;

impl LoadView for Full {
    fn port_bytes(&self, port: u16) -> u64 {
        512 * u64::from(port % 3)
    }
    fn channel_bytes(&self, _: u16, _: u8) -> u64 {
        0
    }
    fn has_room(&self, _: u16, _: u8) -> bool {
        false
    }
}

/// Routers and hops of the path from one node to another.
fn walk(
    routing: &dyn Routing,
    hops: &NextHops,
    load: &dyn LoadView,
    random: &mut Stream,
    (source, destination): (u32, u32),
) -> (Vec<RouterId>, Vec<Hop>) {
    let mut packet = Header { source: NodeId(source), destination: NodeId(destination), state: RouteState::default() };
    let mut path = (vec![hops.router_of(packet.source)], Vec::new());
    while path.0[path.0.len() - 1] != hops.router_of(packet.destination) {
        let router = path.0[path.0.len() - 1];
        let mut memory = Memory::default();
        let mut decision = Decision::new(router, load, random, &mut memory);
        let hop = routing.decide(&mut decision, &mut packet);
        assert!(hop.vc < routing.virtual_channels());
        (packet.state.hops, packet.state.vc) = (packet.state.hops + 1, hop.vc);
        path.0.push(hops.neighbour(router, hop.port));
        path.1.push(hop);
        assert!(path.1.len() <= 100, "the path is too long: {:?}", path.0);
    }
    path
}

fn check(hops: &NextHops, routing: &dyn Routing) -> Result<(), deadlock::Cycle> {
    deadlock::check(hops, &routing.discipline(), routing.virtual_channels(), routing.reserved_from(), routing.rings())
}

/// Grids with rings of odd and even length, of two, meshes, and a dimension of one.
fn grids() -> Vec<MachineBuilder> {
    vec![
        torus(&[5, 4, 3], &[true; 3]),
        torus(&[6, 4], &[true, false]),
        torus(&[4, 5], &[false; 2]),
        torus(&[2, 7, 1], &[true; 3]),
        torus(&[9], &[true]),
    ]
}

#[test]
fn dimension_order_takes_minimal_paths_in_order() {
    for builder in grids() {
        let Shape::Torus { dims, .. } = builder.shape.clone() else { panic!("a torus") };
        let (machine, hops) = tables(builder);
        let routing = routing("dimension-order", &hops);
        let mut random = Stream::new(1, "test", &[]);
        let coordinates = |r: RouterId| -> Vec<u32> {
            let mut rest = r.0;
            let mut x: Vec<u32> = dims.iter().rev().map(|n| (rest % n, rest /= n).0).collect();
            x.reverse();
            x
        };
        for _ in 0..2_000 {
            let nodes = machine.node_count() as u64;
            let pair = (random.below(nodes) as u32, random.below(nodes) as u32);
            let (routers, path) = walk(&*routing, &hops, &IdleView, &mut random, pair);
            // The tables' distances come from a search over the cables, without coordinates.
            let shortest = hops.local_distance(routers[0], routers[routers.len() - 1]);
            assert_eq!(path.len(), usize::from(shortest));
            let moved = routers.windows(2).map(|pair| {
                let (a, b) = (coordinates(pair[0]), coordinates(pair[1]));
                (0..a.len()).filter(|&d| a[d] != b[d]).collect::<Vec<_>>()
            });
            let moved: Vec<Vec<usize>> = moved.collect();
            assert!(moved.iter().all(|m| m.len() == 1) && moved.is_sorted(), "{routers:?}");
        }
    }
}

#[test]
fn grids_are_free_of_deadlock() {
    for builder in grids() {
        let (machine, hops) = tables(builder);
        for name in ["dimension-order", "torus-adaptive", "up-down", "up-down-adaptive"] {
            let routing = routing(name, &hops);
            assert_eq!(check(&hops, &*routing), Ok(()), "{name} on {}", machine.name());
        }
    }
}

/// A relation on fewer channels than it needs.
struct OneChannel(Arc<dyn Relation>);

impl Relation for OneChannel {
    fn phases(&self) -> u8 {
        self.0.phases()
    }
    fn hops(&self, at: RouterId, to: RouterId, phase: u8, out: &mut Vec<(Hop, u8)>) {
        self.0.hops(at, to, phase, out);
        out.iter_mut().for_each(|(hop, _)| hop.vc = 0);
    }
}

/// Without its dateline, a ring of 5 closes a cycle; a mesh has no cycle.
#[test]
fn rings_need_the_dateline() {
    let cycle = |builder: MachineBuilder| {
        let (_, hops) = tables(builder);
        let Discipline::Relation(relation) = routing("dimension-order", &hops).discipline() else {
            panic!("a relation")
        };
        deadlock::check(&hops, &Discipline::Relation(Arc::new(OneChannel(relation))), 1, u8::MAX, None)
    };
    let found = cycle(torus(&[5], &[true])).unwrap_err();
    assert_eq!(found.channels.len(), 5, "{found}");
    for (i, link) in found.channels.iter().enumerate() {
        assert_eq!(link.1, found.channels[(i + 1) % 5].0);
    }
    assert_eq!(cycle(torus(&[5, 4], &[false; 2])), Ok(()));
}

/// The adaptive channel has cycles; it is safe only because no packet waits for it.
#[test]
fn the_adaptive_channel_must_be_reserved() {
    let (_, hops) = tables(torus(&[4, 4], &[true; 2]));
    let routing = routing("torus-adaptive", &hops);
    assert_eq!((routing.virtual_channels(), routing.reserved_from()), (3, 2));
    assert!(deadlock::check(&hops, &routing.discipline(), 3, u8::MAX, None).is_err());
    assert_eq!(deadlock::check(&hops, &routing.discipline(), 3, 2, None), Ok(()));
}

#[test]
fn torus_adaptive_is_minimal_and_escapes_in_dimension_order() {
    let (machine, hops) = tables(torus(&[5, 4, 3], &[true; 3]));
    let (adaptive, order) = (routing("torus-adaptive", &hops), routing("dimension-order", &hops));
    let nodes = machine.node_count() as u64;
    let mut random = Stream::new(1, "test", &[]);
    for _ in 0..2_000 {
        let pair = (random.below(nodes) as u32, random.below(nodes) as u32);
        let (routers, path) = walk(&*adaptive, &hops, &IdleView, &mut random, pair);
        assert_eq!(path.len(), usize::from(hops.local_distance(routers[0], routers[routers.len() - 1])));
        assert!(path.iter().all(|hop| hop.vc == 2));
        // With the same random numbers, both escape alike.
        let dice = Stream::new(random.next_u64(), "test", &[]);
        let escape = walk(&*adaptive, &hops, &Full, &mut dice.clone(), pair);
        assert_eq!(escape, walk(&*order, &hops, &IdleView, &mut dice.clone(), pair));
    }
}

/// On a fat tree: up to a common ancestor, then down, over minimal paths; every router of the level above is used.
#[test]
fn fat_trees_are_crossed_up_and_down() {
    let (machine, hops) = tables(FatTree { k: 6, ..FatTree::default() }.builder().unwrap());
    let Shape::FatTree { level_of, .. } = machine.shape() else { panic!("a fat tree") };
    let nodes = machine.node_count() as u64;
    for name in ["up-down", "up-down-adaptive"] {
        let routing = routing(name, &hops);
        assert_eq!(check(&hops, &*routing), Ok(()));
        let mut random = Stream::new(2, "test", &[]);
        let mut tops = std::collections::BTreeSet::new();
        for _ in 0..5_000 {
            let pair = (random.below(nodes) as u32, random.below(nodes) as u32);
            let (routers, path) = walk(&*routing, &hops, &IdleView, &mut random, pair);
            assert_eq!(path.len(), usize::from(hops.local_distance(routers[0], routers[routers.len() - 1])));
            let levels: Vec<u8> = routers.iter().map(|r| level_of[r.index()]).collect();
            let top = levels.iter().position(|l| l == levels.iter().max().unwrap()).unwrap();
            assert!(levels[..=top].is_sorted() && levels[top..].is_sorted_by(|a, b| a >= b), "{levels:?}");
            if levels[top] == 2 {
                tops.insert(routers[top]);
            }
        }
        // k^2/4 core routers.
        assert_eq!(tops.len(), 9);
    }
}

/// A dragonfly with a twentieth of its cables broken, as any graph: all pairs are reached over one channel, and no
/// path turns up again.
#[test]
fn up_down_avoids_faults() {
    let mut builder = presets::builder("dragonfly-1056").unwrap();
    let mut random = Stream::new(3, "test", &[]);
    builder.cables.retain(|_| !random.chance(0.05));
    builder.shape = Shape::Graph;
    let (_, hops) = tables(builder);
    let routing = routing("up-down", &hops);
    assert_eq!((routing.virtual_channels(), check(&hops, &*routing)), (1, Ok(())));
    for _ in 0..5_000 {
        let pair = (random.below(1056) as u32, random.below(1056) as u32);
        let (_, path) = walk(&*routing, &hops, &IdleView, &mut random, pair);
        assert!(path.len() <= 6, "{}", path.len());
    }
}

#[test]
fn machines_that_do_not_fit_are_named() {
    let (_, dragonfly) = tables(presets::builder("dragonfly-1056").unwrap());
    for name in ["dimension-order", "torus-adaptive"] {
        let error = refusal(name, &dragonfly);
        assert!(error.starts_with(&format!("routing '{name}': it needs a torus or a mesh")), "{error}");
    }
    let mut broken = torus(&[4, 4], &[true; 2]);
    broken.cables.remove(0);
    let (_, hops) = tables(broken);
    let error = refusal("torus-adaptive", &hops);
    assert!(error.contains("neighbour x1_0 works") || error.contains("neighbour x0_1 works"), "{error}");
    // Up/down routing works where dimension order does not.
    assert_eq!(check(&hops, &*routing("up-down", &hops)), Ok(()));
}

/// Fat tree of k = 4. Edge router 0 keeps only its cable to one aggregation router, which loses its cables to the
/// cores. The edge router is connected, but only by a path down and up again.
#[test]
fn fat_trees_cut_between_levels_are_reported() {
    let mut builder = FatTree { k: 4, ..FatTree::default() }.builder().unwrap();
    let of = |c: &odonata_machine::Cable| (c.a.0, c.b.0);
    let (edge, first_core) = (0, 16);
    let aggregation = builder.cables.iter().map(of).find(|c| c.0 == edge).unwrap().1;
    builder.cables.retain(|c| {
        let (a, b) = of(c);
        !(a == edge && b != aggregation || a == aggregation && b >= first_core)
    });
    let (_, hops) = tables(builder);
    let error = refusal("up-down", &hops);
    assert!(error.contains("by up and then down links") && error.contains("use 'min'"), "{error}");
}

fn with_bubbles(name: &str, hops: &Arc<NextHops>) -> Box<dyn Routing> {
    let parameters = TorusSettings { deadlock_avoidance: DeadlockAvoidance::Bubble };
    RoutingChoice::with(name, parameters).unwrap().build(Arc::clone(hops)).unwrap()
}

/// A ring with bubbles on one channel has no deadlock, also with several cables. Without the bubbles it is a cycle.
#[test]
fn rings_of_bubbles_need_no_dateline() {
    let cables = |n| {
        let torus = Torus { dims: vec![4, 3], links_per_direction: n, ..Torus::default() };
        torus.builder().unwrap()
    };
    for builder in grids().into_iter().chain([cables(2), cables(3)]) {
        let wraps = matches!(&builder.shape, Shape::Torus { wrap, .. } if wrap.contains(&true));
        let (_, hops) = tables(builder);
        for (name, channels) in [("dimension-order", 1), ("torus-adaptive", 2)] {
            let routing = with_bubbles(name, &hops);
            assert_eq!((routing.virtual_channels(), routing.rings().is_some()), (channels, wraps));
            assert_eq!(check(&hops, &*routing), Ok(()), "{name}");
            let unaware = deadlock::check(&hops, &routing.discipline(), channels, routing.reserved_from(), None);
            assert_eq!(unaware.is_err(), wraps, "{name}");
        }
    }
}

/// Only one ring of one channel is accepted: not dimensions in both orders, nor a ring that is entered from itself.
#[test]
fn a_cycle_beyond_one_ring_is_refused() {
    struct BothRelations(Arc<dyn Relation>);
    impl Relation for BothRelations {
        fn phases(&self) -> u8 {
            1
        }
        // All nearer hops, on the channel of the rings.
        fn hops(&self, at: RouterId, to: RouterId, phase: u8, out: &mut Vec<(Hop, u8)>) {
            self.0.hops(at, to, phase, out);
            out.iter_mut().for_each(|(hop, _)| hop.vc = 0);
        }
    }
    let (_, hops) = tables(torus(&[4, 4], &[true; 2]));
    let routing = with_bubbles("torus-adaptive", &hops);
    let Discipline::Relation(relation) = routing.discipline() else { panic!("a relation") };
    let any_order = Discipline::Relation(Arc::new(BothRelations(relation)));
    assert!(deadlock::check(&hops, &any_order, 1, u8::MAX, routing.rings()).is_err());

    // Packets draw one of two cables again at every router, so the rings of the two cables wait for each other.
    let two = Torus { dims: vec![5], links_per_direction: 2, ..Torus::default() };
    let (_, hops) = tables(two.builder().unwrap());
    let drawn = routing_of_datelines(&hops);
    let one_channel = Discipline::Relation(Arc::new(OneChannel(drawn)));
    let routing = with_bubbles("dimension-order", &hops);
    assert!(deadlock::check(&hops, &one_channel, 1, u8::MAX, routing.rings()).is_err());

    // A ring that ends at one of its routers is not a ring.
    struct Ending<'a>(&'a dyn Rings, u32);
    impl Rings for Ending<'_> {
        fn channel(&self) -> u8 {
            0
        }
        fn next_in_ring(&self, at: RouterId, port: u16) -> Option<u16> {
            (at.0 != self.1).then(|| self.0.next_in_ring(at, port)).flatten()
        }
    }
    let (_, hops) = tables(torus(&[5], &[true]));
    let routing = with_bubbles("dimension-order", &hops);
    let broken = Ending(routing.rings().unwrap(), 3);
    let found = deadlock::check(&hops, &routing.discipline(), 1, u8::MAX, Some(&broken)).unwrap_err();
    assert_eq!(found.channels.len(), 5, "{found}");
}

fn routing_of_datelines(hops: &Arc<NextHops>) -> Arc<dyn Relation> {
    let Discipline::Relation(relation) = routing("dimension-order", hops).discipline() else { panic!("a relation") };
    relation
}

fn express_mesh() -> MachineBuilder {
    let gap = odonata_declare::OneOrEach::Each(vec![3, 2]);
    ExpressMesh { dims: vec![8, 5], gap, nodes_per_router: 1, ..ExpressMesh::default() }.builder().unwrap()
}

fn without_groups() -> Vec<(&'static str, MachineBuilder)> {
    vec![
        ("hyperx", HyperX { dims: vec![4, 3, 3], nodes_per_router: 1, ..HyperX::default() }.builder().unwrap()),
        ("slim-fly", SlimFly { q: 5, nodes_per_router: 1, ..SlimFly::default() }.builder().unwrap()),
        ("polarfly", PolarFly { q: 5, nodes_per_router: 1, ..PolarFly::default() }.builder().unwrap()),
        (
            "jellyfish",
            Jellyfish { routers: 40, degree: 4, nodes_per_router: 1, ..Jellyfish::default() }.builder().unwrap(),
        ),
        ("express-mesh", express_mesh()),
        ("torus", torus(&[5, 4], &[true, true])),
    ]
}

/// Without load and without room in any reserved channel, packets of every algorithm that takes the machine arrive.
#[test]
fn every_algorithm_arrives_without_groups() {
    for (what, builder) in without_groups() {
        let (machine, hops) = tables(builder);
        for algorithm in Algorithm::on(&hops) {
            let proven = deadlock::prove(&algorithm.with_defaults(), NextHops::clone(&hops), 16);
            let routing = proven.unwrap_or_else(|error| panic!("{} on {what}: {error}", algorithm.name)).routing;
            let mut random = Stream::new(5, "walk", &[]);
            for source in 0..machine.node_count() as u32 {
                let destination = random.below(machine.node_count() as u64) as u32;
                walk(&*routing, &hops, &Full, &mut random, (source, destination));
            }
        }
    }
}

/// Every path reaches its end over minimal paths to one router and on, with one more channel at every hop. It is
/// marked minimal iff it has no more hops than a minimal path.
#[test]
fn paths_via_a_router() {
    for (what, builder) in without_groups() {
        let (machine, hops) = tables(builder);
        for name in ["valiant", "ugal-l"] {
            let routing = routing(name, &hops);
            let proof = deadlock::check(
                &hops,
                &routing.discipline(),
                routing.virtual_channels(),
                routing.reserved_from(),
                None,
            );
            assert_eq!(proof, Ok(()), "{name} on {what}");
            let mut random = Stream::new(3, "walk", &[]);
            let mut over = 0;
            let mut intermediates = vec![0; machine.router_count()];
            for round in 0..4000u32 {
                let source = round % machine.node_count() as u32;
                let destination = random.below(machine.node_count() as u64) as u32;
                let (routers, path) = walk(&*routing, &hops, &Full, &mut random, (source, destination));
                let (from, to) = (routers[0], routers[routers.len() - 1]);
                let inside = |a, b| usize::from(hops.local_distance(a, b));
                let split = (0..routers.len())
                    .any(|i| inside(from, routers[i]) == i && inside(routers[i], to) == path.len() - i);
                assert!(split, "{name} on {what}: {routers:?}");
                assert!(path.windows(2).all(|w| w[0].vc < w[1].vc) || what == "torus", "{name} on {what}: {path:?}");
                assert!(path.iter().all(|hop| hop.vc < routing.virtual_channels()));
                over += usize::from(path.len() > inside(from, to));
                routers.iter().for_each(|router| intermediates[router.index()] += 1);
            }
            assert!(over > 400, "{name} on {what}: {over} detours");
            assert!(intermediates.iter().all(|&n| n > 0), "{name} on {what}: all routers are visited");
        }
    }
}

/// Queues of 3 kB at one port and of some bytes at all others.
struct One(u16, u64);

impl LoadView for One {
    fn port_bytes(&self, port: u16) -> u64 {
        if port == self.0 {
            3000
        } else {
            self.1
        }
    }
    fn channel_bytes(&self, _: u16, _: u8) -> u64 {
        0
    }
    fn has_room(&self, _: u16, _: u8) -> bool {
        true
    }
}

/// In a line of routers that are all joined, the minimal path has one hop and every other two. At threshold 2, a
/// packet leaves it iff its queue is more than twice as long.
#[test]
fn ugal_l_weighs_queues_by_hops() {
    let (_, hops) = tables(HyperX { dims: vec![8], nodes_per_router: 1, ..HyperX::default() }.builder().unwrap());
    let routing = routing("ugal-l", &hops);
    let minimal = hops.local_ports(RouterId(0), RouterId(1))[0];
    for (others, detour) in [(0, true), (1499, true), (1500, false), (3000, false)] {
        let mut random = Stream::new(1, "walk", &[]);
        for _ in 0..50 {
            let (routers, _) = walk(&*routing, &hops, &One(minimal, others), &mut random, (0, 1));
            assert_eq!(routers.len() == 3, detour, "{others} B at the others: {routers:?}");
        }
    }
}

#[test]
fn valiant_needs_a_third_router_and_no_groups() {
    let (_, hops) = tables(HyperX { dims: vec![2], ..HyperX::default() }.builder().unwrap());
    assert!(refusal("valiant", &hops).contains("a third router, but the machine has 2"));
    let (_, hops) = tables(presets::builder("dragonfly-1056").unwrap());
    assert!(
        refusal("ugal-l", &hops).contains("it works only on machines without groups; this one has 33. Use 'ugal-n'")
    );
}
