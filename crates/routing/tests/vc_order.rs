//! VC ordering within a leg: when it is needed, where the VC number increases, and that paths stay minimal on
//! machines with cut groups.

use odonata_machine::topology::Dragonfly;
use odonata_machine::{GroupInterior, Machine, MachineBuilder, Shape};
use odonata_routing::algorithm::{Decision, Header, RouteState, Routing, RoutingChoice};
use odonata_routing::deadlock::{self, ProofError, ProvenRouting};
use odonata_routing::next_hop::{NextHops, VcOrder};
use odonata_routing::view::IdleView;
use odonata_units::{LinkClassId, NodeId, RouterId, Stream};
use std::sync::Arc;

const BY_LEGS: [&str; 7] = ["min", "valiant-g", "valiant-n", "ugal-g", "ugal-n", "par", "piggyback"];

/// 9 groups of 4, every two joined by one cable, without the cables between pairs of routers or groups.
fn without(inside: &[(u32, u32)], between: &[(u32, u32)]) -> Machine {
    let mut builder = Dragonfly { p: 1, a: 4, h: 2, g: 9, ..Dragonfly::default() }.builder().unwrap();
    let among = |pairs: &[(u32, u32)], a: u32, b: u32| pairs.contains(&(a, b)) || pairs.contains(&(b, a));
    builder.cables.retain(|c| !among(inside, c.a.0, c.b.0) && !among(between, c.a.0 / 4, c.b.0 / 4));
    builder.build().unwrap()
}

fn tables(machine: &Machine) -> NextHops {
    NextHops::new(machine).unwrap()
}

fn prove(name: &str, hops: NextHops) -> ProvenRouting {
    let proven = deadlock::prove(&name.parse().unwrap(), hops, 16);
    proven.unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Whether one channel per leg is free of cycles.
fn one_vc_per_leg_is_enough(name: &str, hops: &Arc<NextHops>) -> bool {
    let routing = name.parse::<RoutingChoice>().unwrap().build(Arc::clone(hops)).unwrap();
    deadlock::check(hops, &routing.discipline(), routing.virtual_channels(), u8::MAX, None).is_ok()
}

/// A group of four without two cables that share no router is a ring of four: minimal paths around it form a cycle. A
/// group without one cable has none. Groups that are joined only to their neighbours are a ring of groups.
#[test]
fn vcs_increase_only_where_one_per_leg_has_a_cycle() {
    let whole = without(&[], &[]);
    let one_inside = without(&[(0, 1)], &[]);
    let ring_inside = without(&[(0, 1), (2, 3)], &[]);
    let not_next: Vec<(u32, u32)> =
        (0..9).flat_map(|a| (a + 2..9).map(move |b| (a, b))).filter(|p| *p != (0, 8)).collect();
    let between = without(&[], &not_next);
    let both = without(&[(0, 1), (2, 3)], &not_next);
    for (machine, order, min_order) in [
        (whole, VcOrder::PerLeg, VcOrder::PerLeg),
        (one_inside, VcOrder::PerLeg, VcOrder::PerLeg),
        (ring_inside, VcOrder::PerTurn, VcOrder::PerTurn),
        // `min` counts groups anyway.
        (between, VcOrder::PerGroup, VcOrder::PerLeg),
        (both, VcOrder::PerTurn, VcOrder::PerTurn),
    ] {
        let hops = tables(&machine);
        for name in BY_LEGS {
            let expected = if name == "min" { min_order } else { order };
            assert_eq!(one_vc_per_leg_is_enough(name, &Arc::new(hops.clone())), expected == VcOrder::PerLeg, "{name}");
            assert_eq!(prove(name, hops.clone()).vc_order, expected, "{name}");
        }
        // The hop count increases anyway.
        assert_eq!(prove("q-adaptive", hops).vc_order, VcOrder::PerLeg);
    }
}

/// A packet leaves a chain of routers upwards or downwards, without a turn. On the ring 0-2-1-3, the path from 2 to 3
/// goes down and up again, and so does the path from 3 to 2. One turn needs one more channel.
#[test]
fn only_turns_need_more_vcs_inside_a_group() {
    let (chain, ring) = (without(&[(0, 2), (0, 3), (1, 3)], &[]), without(&[(0, 1), (2, 3)], &[]));
    for (machine, channels) in [(chain, 1), (ring, 2)] {
        let mut hops = tables(&machine);
        hops.set_vc_order(VcOrder::PerTurn);
        assert_eq!(hops.local_channels(), channels);
    }
}

/// Groups that are stars, chains or bare routers, joined at random: `size` routers each, cut in parts or not.
fn ragged(seed: u64) -> Option<Machine> {
    let mut random = Stream::new(seed, "ragged", &[]);
    let (groups, size) = (4 + random.below(3) as u32, 2 + random.below(4) as u32);
    let whole = Dragonfly { p: 1, a: size, h: groups, g: groups, ..Dragonfly::default() };
    let mut builder: MachineBuilder = whole.builder().unwrap();
    let (local, global) = (0.3 + 0.5 * random.unit(), 0.1 + 0.4 * random.unit());
    builder.cables.retain(|c| random.chance(if c.a.0 / size == c.b.0 / size { local } else { global }));
    builder.shape = Shape::Grouped { groups, routers_per_group: size, interior: GroupInterior::Other };
    let machine = builder.build().unwrap();
    let hops = NextHops::new(&machine).ok()?;
    (hops.working_groups().len() >= 3).then_some(machine)
}

/// Routers and channels of a packet's path.
fn walk(routing: &dyn Routing, hops: &NextHops, random: &mut Stream, from: u32, to: u32) -> (Vec<RouterId>, Vec<u8>) {
    let mut packet = Header { source: NodeId(from), destination: NodeId(to), state: RouteState::default() };
    let mut at = hops.router_of(NodeId(from));
    let (mut routers, mut channels) = (vec![at], Vec::new());
    while at != hops.router_of(NodeId(to)) {
        let mut memory = routing.memory(at);
        let mut decision = Decision::new(at, &IdleView, random, &mut memory);
        let hop = routing.decide(&mut decision, &mut packet);
        assert!(hop.vc < routing.virtual_channels(), "channel {} of {}", hop.vc, routing.virtual_channels());
        at = hops.neighbour(at, hop.port);
        packet.state.hops += 1;
        packet.state.vc = hop.vc;
        routers.push(at);
        channels.push(hop.vc);
        assert!(channels.len() < 64, "the path is too long");
    }
    (routers, channels)
}

/// Along every path, VC numbers never decrease. With VC order per turn, they increase after every hop between groups,
/// and at every turn from a link down to a link up inside a group.
#[test]
fn vcs_increase_where_declared() {
    let (mut raised, mut turns) = (0, 0);
    for machine in (0..300).filter_map(ragged) {
        for name in BY_LEGS.into_iter().chain(["q-adaptive"]) {
            let mut hops = tables(&machine);
            let Ok(proven) = deadlock::prove(&name.parse().unwrap(), hops.clone(), 24) else { continue };
            hops.set_vc_order(proven.vc_order);
            raised += u32::from(proven.vc_order != VcOrder::PerLeg);
            let mut random = Stream::new(3, "test", &[]);
            for _ in 0..60 {
                let (from, to) = (random.below(hops.nodes().into()) as u32, random.below(hops.nodes().into()) as u32);
                let (routers, channels) = walk(&*proven.routing, &hops, &mut random, from, to);
                assert!(channels.is_sorted(), "{name}: {channels:?}");
                if proven.vc_order != VcOrder::PerTurn {
                    continue;
                }
                let crosses = |i: usize| hops.group_of(routers[i]) != hops.group_of(routers[i + 1]);
                for i in 1..channels.len() {
                    let turn = routers[i - 1] > routers[i] && routers[i] < routers[i + 1] && !crosses(i);
                    turns += u32::from(turn);
                    if crosses(i - 1) || turn {
                        assert!(channels[i] > channels[i - 1], "{name}: {routers:?} on {channels:?}");
                    }
                }
            }
        }
    }
    assert!(raised > 300 && turns > 1_000, "{raised} algorithms with more channels, {turns} turns");
}

/// Hops between groups and hops in total of the minimal path, from every router to every other: all links relaxed
/// until nothing changes.
fn costs(machine: &Machine) -> Vec<Vec<(u32, u32)>> {
    let n = machine.router_count();
    let mut cost = vec![vec![(u32::MAX, u32::MAX); n]; n];
    (0..n).for_each(|s| cost[s][s] = (0, 0));
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for link in machine.links() {
            let (a, b) = (machine.source(link), machine.target(link));
            let across = u32::from(machine.group_of(a) != machine.group_of(b));
            for row in &mut cost {
                let (between, all) = row[a.index()];
                let through = (between.saturating_add(across), all.saturating_add(1));
                if through < row[b.index()] {
                    (row[b.index()], changed) = (through, true);
                }
            }
        }
    }
    cost
}

/// Also if a group is cut, and paths between its parts pass through other groups.
#[test]
fn min_is_shortest_on_ragged_machines() {
    let mut cut = 0;
    for machine in (0..200).filter_map(ragged) {
        let (hops, cost) = (tables(&machine), costs(&machine));
        cut += u32::from(hops.groups() as usize > machine.group_count());
        let Ok(proven) = deadlock::prove(&"min".parse().unwrap(), hops.clone(), 64) else { continue };
        let mut random = Stream::new(7, "test", &[]);
        for from in 0..hops.nodes() {
            for to in 0..hops.nodes() {
                let (routers, _) = walk(&*proven.routing, &hops, &mut random, from, to);
                let across = |w: &[RouterId]| machine.group_of(w[0]) != machine.group_of(w[1]);
                let between = routers.windows(2).filter(|w| across(w)).count() as u32;
                let found = (between, routers.len() as u32 - 1);
                assert_eq!(found, cost[routers[0].index()][routers[routers.len() - 1].index()], "{routers:?}");
            }
        }
    }
    assert!(cut > 50, "{cut} machines have a group in parts");
}

/// Missing channels are counted. A chain of 8 routers has paths of 7 hops, of which 3 may turn up.
#[test]
fn missing_channels_are_counted() {
    let mut builder = Dragonfly { p: 1, a: 8, h: 1, g: 1, ..Dragonfly::default() }.builder().unwrap();
    builder.cables.clear();
    builder.classes.iter_mut().for_each(|class| class.ports_per_router = None);
    builder.ports = None;
    for r in 1..8 {
        builder.add_cables(RouterId(r - 1), RouterId(r), LinkClassId(0), 1);
    }
    builder.shape = Shape::Graph;
    let hops = tables(&builder.build().unwrap());
    let of = |most: u8| deadlock::prove(&"min".parse().unwrap(), hops.clone(), most);
    assert_eq!(of(3).err(), Some(ProofError::Channels { needed: 4, most: 3 }));
    let proven = of(4).unwrap();
    assert_eq!((proven.routing.virtual_channels(), proven.vc_order, proven.plain_channels), (4, VcOrder::PerTurn, 7));
}
