//! `torus-deterministic` and `torus-dynamic`: directions fixed at the source, orders, zones, and the deadlock check
//! on one router.

use odonata_machine::topology::Torus;
use odonata_machine::{presets, Machine, MachineBuilder};
use odonata_routing::algorithm::{
    BubbleOrder, Decision, DeterministicSettings, Discipline, DynamicSettings, Header, Hop, Memory, RouteState,
    Routing, RoutingChoice, Zone,
};
use odonata_routing::deadlock;
use odonata_routing::hints::{Directions, Step};
use odonata_routing::next_hop::{NextHops, Port};
use odonata_routing::view::LoadView;
use odonata_units::{NodeId, RouterId, Stream};
use std::sync::Arc;

fn torus(dims: &[u32], wrap: &[bool], cables: u32) -> MachineBuilder {
    let torus =
        Torus { dims: dims.to_vec(), wrap: wrap.to_vec().into(), links_per_direction: cables, ..Torus::default() };
    torus.builder().unwrap()
}

fn places(builder: MachineBuilder) -> (Machine, Arc<NextHops>) {
    let machine = builder.build().unwrap();
    let hops = Arc::new("torus-dynamic".parse::<RoutingChoice>().unwrap().next_hops(&machine).unwrap());
    (machine, hops)
}

fn longest() -> DeterministicSettings {
    DeterministicSettings { order: BubbleOrder::LongestFirst, ..Default::default() }
}

fn in_zone(zone: Zone) -> RoutingChoice {
    RoutingChoice::with("torus-dynamic", DynamicSettings { bubble: longest(), zone, ..Default::default() }).unwrap()
}

/// Both routings, the longest dimension first.
fn longest_first() -> [RoutingChoice; 2] {
    [RoutingChoice::with("torus-deterministic", longest()).unwrap(), in_zone(Zone::Numbered(0))]
}

fn build(choice: &RoutingChoice, hops: &Arc<NextHops>) -> Box<dyn Routing> {
    choice.build(Arc::clone(hops)).unwrap_or_else(|error| panic!("{error}"))
}

fn check(hops: &NextHops, routing: &dyn Routing) -> Result<(), deadlock::Cycle> {
    let channels = routing.virtual_channels();
    deadlock::check(hops, &routing.discipline(), channels, routing.reserved_from(), routing.rings())
}

/// Tokens as a function of port and channel.
struct Tokens<F>(F);

impl<F: Fn(u16, u8) -> Option<u64>> LoadView for Tokens<F> {
    fn port_bytes(&self, _: u16) -> u64 {
        panic!("tokens decide")
    }
    fn channel_bytes(&self, _: u16, _: u8) -> u64 {
        panic!("tokens decide")
    }
    fn has_room(&self, _: u16, _: u8) -> bool {
        panic!("tokens decide")
    }
    fn tokens(&self, port: u16, vc: u8) -> Option<u64> {
        (self.0)(port, vc)
    }
}

/// Steps and channels of a packet's path: the dimension's name with `+` or `-`, and the channel.
fn walk(
    machine: &Machine,
    routing: &dyn Routing,
    (from, to): (u32, u32),
    tokens: &dyn Fn(u16, u8) -> Option<u64>,
) -> Vec<(String, u8)> {
    let mut random = Stream::new(3, "test", &[]);
    let mut header = Header { source: NodeId(from), destination: NodeId(to), state: RouteState::default() };
    let (mut at, mut path) = (RouterId(from), Vec::new());
    while at != RouterId(to) {
        let (load, mut memory) = (Tokens(tokens), Memory::default());
        let mut decision = Decision::new(at, &load, &mut random, &mut memory);
        let Hop { port, vc } = routing.decide(&mut decision, &mut header);
        let link = machine.links_from(at).start + usize::from(port) - machine.nodes_of(at).len();
        let next = machine.target(odonata_units::LinkId::from_index(link));
        let coordinates = machine.coordinates();
        let value =
            |router: RouterId, d: usize| i64::from(coordinates.values[router.index() * coordinates.axes.len() + d]);
        let d = (0..coordinates.axes.len()).find(|&d| value(at, d) != value(next, d)).unwrap();
        let up = value(next, d) - value(at, d) == 1 || value(next, d) - value(at, d) < -1;
        path.push((format!("{}{}", coordinates.axes[d], if up { '+' } else { '-' }), vc));
        (at, header.state.hops, header.state.vc) = (next, header.state.hops + 1, vc);
    }
    path
}

fn names(path: &[(String, u8)]) -> String {
    path.iter().map(|(step, _)| step.as_str()).collect()
}

#[test]
fn paths_follow_the_directions_fixed_at_the_source() {
    let (machine, hops) = places(presets::builder("bgp-midplane").unwrap());
    let routing = build(&"torus-deterministic".parse().unwrap(), &hops);
    let router = |x: u32, y: u32, z: u32| x * 64 + y * 8 + z;
    let path = |from, to| names(&walk(&machine, &*routing, (from, to), &|_, _| None));
    assert_eq!(path(router(0, 0, 0), router(3, 6, 1)), "X+X+X+Y-Y-Z+");
    // Half a ring, by parity of the source; the other direction is equally long at every router of the path.
    assert_eq!(path(router(2, 0, 0), router(6, 0, 0)), "X+X+X+X+");
    assert_eq!(path(router(3, 1, 0), router(7, 5, 0)), "X-X-X-X-Y-Y-Y-Y-");
}

/// Order of the firmware: Mira is (8, 12, 16, 16, 2), a midplane (4, 4, 4, 4, 2).
#[test]
fn the_longest_dimension_goes_first() {
    for (preset, expected) in [("mira", "C+D+B+A+E+"), ("bgq-midplane", "A+B+C+D+E+")] {
        let (machine, hops) = places(presets::builder(preset).unwrap());
        let routing = build(&longest_first()[0], &hops);
        let one_of_each = machine.routers().find(|&router| {
            let coordinates = machine.coordinates();
            (0..5).all(|d| coordinates.values[router.index() * 5 + d] == 1)
        });
        let to = one_of_each.unwrap().0;
        assert_eq!(names(&walk(&machine, &*routing, (0, to), &|_, _| None)), expected, "{preset}");
    }
}

/// The cables of a ring of two: a message along it leaves node 0 up and node 1 down, which is the same cable.
#[test]
fn both_directions_of_a_ring_of_two_are_one_cable() {
    let (machine, hops) = places(torus(&[2], &[true], 1));
    let routing = build(&"torus-deterministic".parse().unwrap(), &hops);
    let link = |from: u32| {
        let mut random = Stream::new(1, "test", &[]);
        let (load, mut memory) = (Tokens(|_, _| None), Memory::default());
        let router = RouterId(from);
        let mut decision = Decision::new(router, &load, &mut random, &mut memory);
        let (source, destination) = (NodeId(from), NodeId(1 - from));
        let hop = routing.decide(&mut decision, &mut Header { source, destination, state: RouteState::default() });
        odonata_units::LinkId::from_index(machine.links_from(router).start + usize::from(hop.port) - 1)
    };
    assert_eq!(machine.reverse(link(0)), link(1));
}

/// Tokens decide among directions and channels. Without room, the packet takes the bubble channel and later returns
/// from it.
#[test]
fn dynamic_packets_take_the_port_with_most_tokens() {
    let (machine, hops) = places(presets::builder("bgp-midplane").unwrap());
    let routing = build(&"torus-dynamic".parse().unwrap(), &hops);
    let to = 2 * 64 + 2 * 8 + 2;
    let most = |best: Port| move |port: u16, vc: u8| Some(if (port, vc) == (best, 2) { 900 } else { u64::from(vc) });
    // Neighbours of router 0, in the order of their numbers: Z+ 1, Z- 7, Y+ 8, Y- 56, X+ 64, X- 448; port 0 is the
    // node's.
    let z_first = |port: u16, vc: u8| most([1, 2, 3, 4, 5, 6][0])(port, vc);
    assert_eq!(walk(&machine, &*routing, (0, to), &z_first)[0], ("Z+".into(), 2));
    assert_eq!(walk(&machine, &*routing, (0, to), &|port, vc| most(3)(port, vc))[0], ("Y+".into(), 2));
    let full = walk(&machine, &*routing, (0, to), &|_, _| None);
    assert_eq!((names(&full).as_str(), full.iter().map(|hop| hop.1).max()), ("X+X+Y+Y+Z+Z+", Some(0)));
    // Room only in the second dynamic channel of port Z, and nowhere else: one hop along Z, then bubbles.
    let some = walk(&machine, &*routing, (0, 64 + 1), &|port, vc| (port == 1 && vc == 1).then_some(1));
    assert_eq!(some, [("Z+".into(), 1), ("X+".into(), 0)]);
}

#[test]
fn a_packet_stays_on_the_bubble_channel_if_configured() {
    let (machine, hops) = places(torus(&[4, 4], &[true, true], 1));
    let path = |stay_on_bubble: bool| {
        let settings = DynamicSettings { stay_on_bubble, ..Default::default() };
        let routing = build(&RoutingChoice::with("torus-dynamic", settings).unwrap(), &hops);
        // Only router 0 has no room; the ports there are those to (0, 1), (0, 3), (1, 0), (3, 0).
        let asked = std::cell::Cell::new(0);
        let tokens = |_: u16, _: u8| {
            asked.set(asked.get() + 1);
            (asked.get() > 4).then_some(1)
        };
        let path = walk(&machine, &*routing, (0, 2 * 4 + 1), &tokens);
        path.into_iter().map(|(_, vc)| u8::from(vc > 0)).collect::<Vec<_>>()
    };
    assert_eq!(path(false), [0, 1, 1]);
    assert_eq!(path(true), [0, 0, 0]);
}

/// Mira, one hop along each dimension: the possible first, second, ... hops if every channel has room.
#[test]
fn zones_free_one_mask_after_the_other() {
    let (machine, hops) = places(presets::builder("mira").unwrap());
    let values = &machine.coordinates().values;
    let to = machine.routers().find(|r| values[r.index() * 5..][..5] == [1, 1, 1, 1, 1]).unwrap().0;
    // Paths under random tokens: for each hop the dimensions seen.
    let seen = |zone: Zone| {
        let routing = build(&in_zone(zone), &hops);
        let random = std::cell::RefCell::new(Stream::new(5, "test", &[]));
        let tokens = |_: u16, _: u8| Some(random.borrow_mut().below(1_000));
        let mut seen = vec![std::collections::BTreeSet::new(); 5];
        for _ in 0..2_000 {
            let path = walk(&machine, &*routing, (0, to), &tokens);
            seen.iter_mut().zip(path).for_each(|(seen, (step, _))| {
                seen.insert(step.trim_end_matches('+').to_owned());
            });
        }
        seen.into_iter().map(|names| names.into_iter().collect::<String>()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(seen(Zone::Numbered(0)), "CD CD B A E");
    assert_eq!(seen(Zone::Numbered(1)), "ABCDE ABCDE ABCDE ABCDE ABCDE");
    assert_eq!(seen(Zone::Numbered(2)), "C D B A E");
    assert_eq!(seen(Zone::Numbered(3)), "CE CDE BDE ABE AE");
    assert_eq!(seen(Zone::Masks(vec!["AE".into(), "BCD".into()])), "AE AE BCD BCD BCD");
}

#[test]
fn errors_explain_wrong_zones() {
    let (_, hops) = places(presets::builder("bgq-midplane").unwrap());
    let wrong = |masks: &[&str]| {
        let zone = Zone::Masks(masks.iter().map(|&mask| mask.into()).collect());
        in_zone(zone).build(Arc::clone(&hops)).err().unwrap().to_string()
    };
    assert!(wrong(&["AB", "CD"]).starts_with("routing.zone: no mask has dimension E; expected all of"));
    assert!(wrong(&["AB", "CX", "DE"]).contains("mask 'CX': unknown dimension 'X'; did you mean 'A'?"));
    assert!(wrong(&["A", "B", "C", "D", "E", "A"]).contains("6 masks; a zone has 1 to 5"));
    let (_, plain) = places(torus(&[3, 3, 3], &[true; 3], 1));
    let error = in_zone(Zone::Masks(vec!["02".into()])).build(plain).err().unwrap().to_string();
    assert!(error.contains("no mask has dimension 1"), "{error}");
}

#[test]
fn other_machines_are_refused() {
    let (_, hops) = places(presets::builder("dragonfly-1056").unwrap());
    for name in ["torus-deterministic", "torus-dynamic"] {
        let error = name.parse::<RoutingChoice>().unwrap().build(Arc::clone(&hops)).err().unwrap().to_string();
        assert!(error.contains("needs a torus or a mesh"), "{error}");
    }
    // Two cables between two neighbours, one between all others.
    let mut builder = torus(&[4], &[true], 1);
    builder.add_cables(RouterId(0), RouterId(1), odonata_units::LinkClassId(0), 1);
    builder.classes[0].ports_per_router = None;
    let (_, hops) = places(builder);
    let error = "torus-dynamic".parse::<RoutingChoice>().unwrap().build(hops).err().unwrap().to_string();
    assert!(error.contains("each parallel cable must form a ring"), "{error}");
}

#[test]
fn tori_and_meshes_are_free_of_cycles() {
    for (dims, wrap, cables) in [
        (&[8, 8, 8][..], &[true; 3][..], 1),
        (&[4, 4, 4, 4, 2], &[true; 5], 1),
        (&[5, 4], &[true, false], 2),
        (&[3, 2, 1, 4], &[true, false, true, false], 3),
    ] {
        let (machine, hops) = places(torus(dims, wrap, cables));
        let by_default = ["torus-deterministic", "torus-dynamic"].map(|name| name.parse().unwrap());
        for choice in by_default.into_iter().chain(longest_first()) {
            let routing = build(&choice, &hops);
            assert_eq!(check(&hops, &*routing), Ok(()), "{choice:?} on {}", machine.name());
        }
    }
}

/// Everything except a single ring of the bubble channel is found: two dimensions in either order, a ring in another
/// channel, no rings.
#[test]
fn rings_without_bubbles_are_cycles() {
    let (_, hops) = places(torus(&[4, 3], &[true, true], 1));
    let routing = build(&"torus-deterministic".parse().unwrap(), &hops);
    let found = |of: fn(Directions, &mut Vec<(Step, u8)>), channels, with_rings: bool| {
        let Discipline::Bubble(mut turns) = routing.discipline() else { panic!("a torus") };
        turns.hops = Box::new(of);
        let discipline = Discipline::Bubble(turns);
        let rings = if with_rings { routing.rings() } else { None };
        deadlock::check(&hops, &discipline, channels, u8::MAX, rings)
    };
    let in_order: fn(Directions, &mut Vec<(Step, u8)>) =
        |left, out| out.extend(left.within(!0).take(1).map(|s| (s, 0)));
    assert_eq!(found(in_order, 1, true), Ok(()));
    let ring = found(in_order, 1, false).unwrap_err();
    assert_eq!(ring.channels.len(), 4, "the whole first ring: {ring}");
    assert!(found(|left, out| out.extend(left.within(!0).map(|s| (s, 0))), 1, true).is_err(), "either order");
    let other = found(|left, out| out.extend(left.within(!0).take(1).map(|s| (s, 1))), 2, true).unwrap_err();
    assert!(other.channels.iter().all(|link| link.2 == 1), "{other}");
    // A mesh has no ring.
    let (_, mesh) = places(torus(&[4, 3], &[false, false], 1));
    let routing = build(&"torus-deterministic".parse().unwrap(), &mesh);
    assert!(routing.rings().is_none());
    assert_eq!(check(&mesh, &*routing), Ok(()));
}

/// 49,152 routers: neither tables of next hops nor a search over all pairs.
#[test]
fn a_large_torus_needs_no_tables() {
    let (_, hops) = places(presets::builder("mira").unwrap());
    let routing = build(&longest_first()[1], &hops);
    assert_eq!(check(&hops, &*routing), Ok(()));
}
