//! Packets followed hop by hop through every algorithm, without an engine.

use odonata_machine::{presets, Machine};
use odonata_routing::algorithm::{
    AdaptiveSettings, Algorithm, Decision, Discipline, Feedback, Goal, Header, Leg, Memory, ParSettings, QSettings,
    RouteState, Routing, RoutingChoice,
};
use odonata_routing::next_hop::NextHops;
use odonata_routing::view::{IdleView, LoadView};
use odonata_units::{NodeId, RouterId, Stream};
use std::sync::Arc;

fn machine(preset: &str) -> Machine {
    presets::builder(preset).unwrap().build().unwrap()
}

/// Routers and channels of one packet's path.
struct WalkedPath {
    routers: Vec<RouterId>,
    channels: Vec<u8>,
    non_minimal: bool,
}

fn walk(
    routing: &dyn Routing,
    hops: &NextHops,
    load: &dyn LoadView,
    random: &mut Stream,
    (source, destination): (u32, u32),
) -> WalkedPath {
    let mut packet = Header { source: NodeId(source), destination: NodeId(destination), state: RouteState::default() };
    let mut at = hops.router_of(packet.source);
    let mut path = WalkedPath { routers: vec![at], channels: Vec::new(), non_minimal: false };
    while at != hops.router_of(packet.destination) {
        let mut memory: Memory = routing.memory(at);
        let load = if routing.reads_load(&packet) { load } else { &UnreadableView };
        let mut decision = Decision::new(at, load, random, &mut memory);
        let hop = routing.decide(&mut decision, &mut packet);
        assert!(hop.vc < routing.virtual_channels());
        at = hops.neighbour(at, hop.port);
        packet.state.hops += 1;
        packet.state.vc = hop.vc;
        path.routers.push(at);
        path.channels.push(hop.vc);
        assert!(path.channels.len() <= 16, "the path is too long: {:?}", path.routers);
    }
    path.non_minimal = packet.state.path_kind.is_non_minimal();
    path
}

/// The view for an algorithm that declares not to read the load, as in the packet engine.
struct UnreadableView;

impl LoadView for UnreadableView {
    fn port_bytes(&self, _port: u16) -> u64 {
        panic!("declared not to read the load")
    }

    fn channel_bytes(&self, port: u16, _vc: u8) -> u64 {
        self.port_bytes(port)
    }

    fn has_room(&self, port: u16, _vc: u8) -> bool {
        self.port_bytes(port) == 0
    }
}

/// One queued packet on every port with an even number, so that some paths look shorter.
struct Uneven;

impl LoadView for Uneven {
    fn port_bytes(&self, port: u16) -> u64 {
        512 * u64::from(port % 2 == 0) * u64::from(port)
    }

    fn channel_bytes(&self, port: u16, vc: u8) -> u64 {
        self.port_bytes(port) * u64::from(vc == 0)
    }

    fn has_room(&self, _port: u16, _vc: u8) -> bool {
        true
    }
}

/// Hops of the longest path of these legs on the canonical dragonfly, from leg `first` on. To a group it is a local and
/// a global hop: l g l minimal; l g l g l; one more with an intermediate router; one more with a second decision.
fn longest(legs: &[Leg], first: usize) -> usize {
    let own = if legs[first].goal == Goal::Group { 2 } else { 1 };
    own + legs[first].next.iter().map(|&next| longest(legs, next)).max().unwrap_or(0)
}

/// The algorithm, with this exploration if it is `q-adaptive`.
fn exploring(name: &str, exploration: f64) -> RoutingChoice {
    match name {
        "q-adaptive" => RoutingChoice::with(name, QSettings { exploration, ..Default::default() }),
        _ => name.parse(),
    }
    .unwrap()
}

#[test]
fn paths_have_the_hops_of_their_legs_on_increasing_vcs() {
    let machine = machine("dragonfly-1056");
    let hops = Arc::new(NextHops::new(&machine).unwrap());
    for name in Algorithm::on(&hops).map(|algorithm| algorithm.name) {
        // Q-adaptive takes its longest paths only by exploration.
        let choice = exploring(name, 0.5);
        let routing = choice.build(Arc::clone(&hops)).unwrap_or_else(|error| panic!("{name}: {error}"));
        let known = match routing.discipline() {
            Discipline::Legs(legs) => (0..legs.len()).filter(|&i| legs[i].is_first).map(|i| longest(&legs, i)).max(),
            // The channel counts the hops.
            Discipline::Increasing => Some(usize::from(routing.virtual_channels())),
            Discipline::Relation(_) | Discipline::Bubble(_) => None,
        };
        // Its channels may decrease; the check of its relation is exact.
        let by_relation = matches!(routing.discipline(), Discipline::Relation(_));
        let mut random = Stream::new(7, "test", &[]);
        let mut seen = 0;
        for _ in 0..20_000 {
            let pair = (random.below(1056) as u32, random.below(1056) as u32);
            for load in [&Uneven as &dyn LoadView, &IdleView] {
                let load = if choice.algorithm.needs.load { load } else { &UnreadableView };
                let path = walk(&*routing, &hops, load, &mut random, pair);
                if let Some(longest) = known {
                    assert!(path.channels.len() <= longest, "{name}: {:?}", path.routers);
                }
                assert!(by_relation || path.channels.is_sorted(), "{name}: channels {:?} increase", path.channels);
                seen = seen.max(path.channels.len());
            }
        }
        if let Some(longest) = known {
            assert_eq!(seen, longest, "{name} reaches its longest path");
        }
    }
}

/// Valiant visits one third group; all 31 are equally likely (chi-square, 30 degrees of freedom, 0.1 % point 59.7).
#[test]
fn valiant_spreads_over_all_third_groups() {
    let machine = machine("dragonfly-1056");
    let hops = Arc::new(NextHops::new(&machine).unwrap());
    for name in ["valiant-g", "valiant-n"] {
        let routing = name.parse::<RoutingChoice>().unwrap().build(Arc::clone(&hops)).unwrap();
        let mut random = Stream::new(11, "test", &[]);
        let mut visits = vec![0f64; 33];
        const WALKS: usize = 15_500;
        for _ in 0..WALKS {
            let path = walk(&*routing, &hops, &IdleView, &mut random, (0, 40));
            assert!(path.non_minimal);
            let mut groups: Vec<u32> = path.routers.iter().map(|&r| hops.group_of(r).0).collect();
            groups.dedup();
            assert_eq!((groups.len(), groups[0], groups[2]), (3, 0, 1));
            visits[groups[1] as usize] += 1.0;
        }
        let mean = WALKS as f64 / 31.0;
        let chi2: f64 = (2..33).map(|g| (visits[g] - mean).powi(2) / mean).sum();
        assert!(chi2 < 59.7, "{name}: chi-square {chi2}");
    }
}

/// Without load, adaptive algorithms stay minimal. Without learning, so does Q-adaptive, except for its exploration.
#[test]
fn idle_machines_are_crossed_minimally() {
    let machine = machine("dragonfly-1056");
    let hops = Arc::new(NextHops::new(&machine).unwrap());
    for name in ["ugal-g", "ugal-n", "par", "piggyback", "q-adaptive"] {
        let routing = exploring(name, 0.0).build(Arc::clone(&hops)).unwrap();
        let mut random = Stream::new(3, "test", &[]);
        for _ in 0..5_000 {
            let pair = (random.below(1056) as u32, random.below(1056) as u32);
            let path = walk(&*routing, &hops, &IdleView, &mut random, pair);
            assert!(!path.non_minimal && path.channels.len() <= 3, "{name}");
        }
    }
}

/// The comparison by hand: with q(minimal) = 512, q(other) = 255 and threshold 2, 512 > 510 goes non-minimal. With
/// q(other) = 256 the packet stays minimal; with 255 and a bias of 2 bytes, too.
#[test]
fn the_threshold_decides_as_stated() {
    struct Queues {
        minimal: u16,
        other: u64,
    }
    impl LoadView for Queues {
        fn port_bytes(&self, port: u16) -> u64 {
            if port == self.minimal {
                512
            } else {
                self.other
            }
        }
        fn channel_bytes(&self, _: u16, _: u8) -> u64 {
            0
        }
        fn has_room(&self, _: u16, _: u8) -> bool {
            true
        }
    }
    let machine = machine("dragonfly-1056");
    let hops = Arc::new(NextHops::new(&machine).unwrap());
    let minimal = hops.ports_to_group(RouterId(0), odonata_units::GroupId(5))[0];
    for (other, bias, detour) in [(255, 0, true), (256, 0, false), (255, 2, false), (255, 1, true)] {
        let bias = Some(odonata_units::Bytes(bias));
        let settings = AdaptiveSettings { bias, non_minimal_candidates: 2, ..Default::default() };
        let routing = RoutingChoice::with("ugal-g", settings).unwrap().build(Arc::clone(&hops)).unwrap();
        let mut random = Stream::new(3, "test", &[]);
        let mut detours = 0;
        for _ in 0..100 {
            let mut packet = Header { source: NodeId(0), destination: NodeId(5 * 32), state: RouteState::default() };
            let load = Queues { minimal, other };
            let mut memory = Memory::default();
            let mut decision = Decision::new(RouterId(0), &load, &mut random, &mut memory);
            routing.decide(&mut decision, &mut packet);
            detours += u32::from(packet.state.path_kind.is_non_minimal());
        }
        // Two candidates share the minimal port only if both draws do: probability at most (3/31)^2.
        assert!(if detour { detours > 90 } else { detours == 0 }, "{other}, {bias:?}: {detours}");
    }
}

/// The hysteretic update, by hand. Q = 330; r + e = 230 is good news (330 - 0.2 x 100 = 310), then 430 is bad news
/// (310 + 0.04 x 120 = 314.8). The row is (group, slot): index 4 (group 5 without the own group 0), slot 2.
#[test]
fn q_values_follow_the_hysteretic_rule() {
    let machine = machine("dragonfly-1056");
    let hops = Arc::new(NextHops::new(&machine).unwrap());
    let routing = "q-adaptive".parse::<RoutingChoice>().unwrap().build(Arc::clone(&hops)).unwrap();
    let mut memory = routing.memory(RouterId(0));
    assert_eq!(memory.size(), (128, 11));
    let at = (4 * 4 + 2) * 11 + 3;
    let initial = routing.estimates(RouterId(0), &memory);
    let direct = initial.iter().filter(|&&q| q == 300.0).count();
    // Router 0 has 4 global cables: one direct port for 4 of 32 groups, for each of 4 slots.
    assert_eq!(direct, 16);
    assert_eq!(initial[at], 330.0);
    let mut learn = |elapsed_ns: f32| {
        let feedback =
            Feedback { source: NodeId(2), destination: NodeId(5 * 32), elapsed_ns, estimate_ns: 100.0, note: 0 };
        routing.learn(RouterId(0), &mut memory, 4 + 3, &feedback);
        routing.estimates(RouterId(0), &memory)[at]
    };
    assert!((learn(130.0) - 310.0).abs() < 1e-3);
    assert!((learn(330.0) - 314.8).abs() < 1e-3);
    // Only that row is stored.
    assert!((0..128).all(|row| memory.row(row).is_some() == (row == 4 * 4 + 2)));
}

#[test]
fn errors_explain_wrong_words() {
    let hops = Arc::new(NextHops::new(&machine("dragonfly-1056")).unwrap());
    let unknown = |name: &str| name.parse::<RoutingChoice>().unwrap_err().to_string();
    assert_eq!(unknown("ugal_g"), "unknown routing algorithm 'ugal_g'; did you mean 'ugal-g'?");
    assert!(unknown("minimal").contains("'min'"), "{}", unknown("minimal"));
    assert!(unknown("something else entirely").contains("; known: min, valiant-g, "));
    let choice = AdaptiveSettings { threshold: -1.0, ..Default::default() };
    for wrong in [
        RoutingChoice::with("ugal-n", choice),
        RoutingChoice::with("par", ParSettings { choice, ..Default::default() }),
    ] {
        let error = wrong.unwrap().build(Arc::clone(&hops)).err().expect("an error").to_string();
        assert!(error.starts_with("routing.threshold: expected a number") && error.contains("-1"), "{error}");
    }
    let eos = Arc::new(NextHops::new(&machine("eos")).unwrap());
    let error = "valiant-g".parse::<RoutingChoice>().unwrap().build(eos).err().expect("an error").to_string();
    assert!(error.contains("intermediate group, but the machine has 2 groups"), "{error}");
}
