//! Every routing on every connected machine with groups: failed cables, groups of unequal size, groups with no or
//! several cables between them, and groups that are not fully connected inside, or not connected at all. Buffers hold
//! one packet and traffic exceeds the capacity, so any possible deadlock happens.

use crate::common::{self, closed, run, schedule};
use odonata_machine::edit::{self, Edit};
use odonata_machine::topology::{Cascade, Dragonfly, FatTree, Torus};
use odonata_machine::{presets, GroupInterior, Machine, MachineBuilder, Shape};
use odonata_packet::{Ending, PacketEngine, PacketSettings, RunOptions};
use odonata_routing::algorithm::{Machines, ALGORITHMS};
use odonata_routing::next_hop::NextHops;
use odonata_units::{GroupId, LinkClassId, RouterId, Stream};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// The routings that declare these machines.
fn declaring(machines: Machines) -> impl Iterator<Item = &'static str> {
    let hops = ALGORITHMS.iter().filter(|algorithm| algorithm.has_hops());
    hops.filter(move |algorithm| algorithm.machines == machines).map(|algorithm| algorithm.name)
}

/// The routings that accept machines with groups.
fn routings() -> Vec<&'static str> {
    [Machines::Any, Machines::Groups, Machines::WithIntermediate].into_iter().flat_map(declaring).collect()
}

/// Groups of `size` routers without cables, one node per router.
fn groups(groups: u32, size: u32) -> MachineBuilder {
    let mut builder = common::graph(groups * size, 1);
    builder.shape = Shape::Grouped { groups, routers_per_group: size, interior: GroupInterior::Other };
    builder.group_of = (0..groups * size).map(|r| GroupId(r / size)).collect();
    builder
}

/// Joins the routers `pairs` of every group by local cables.
fn inside(builder: &mut MachineBuilder, size: u32, pairs: &[(u32, u32)]) {
    for first in (0..builder.router_up.len() as u32).step_by(size as usize) {
        for &(a, b) in pairs {
            builder.add_cables(RouterId(first + a), RouterId(first + b), LinkClassId(0), 1);
        }
    }
}

/// Joins two groups by `count` cables between random routers of them.
fn across(builder: &mut MachineBuilder, size: u32, (a, b): (u32, u32), count: u32, random: &mut Stream) {
    for _ in 0..count {
        let mut end = |group: u32| RouterId(group * size + random.below(u64::from(size)) as u32);
        builder.add_cables(end(a), end(b), LinkClassId(1), 1);
    }
}

fn every_two(n: u32) -> Vec<(u32, u32)> {
    (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b))).collect()
}

/// 9 groups of 4, each pair joined by one cable, one node per router.
fn canonical() -> MachineBuilder {
    Dragonfly { p: 1, a: 4, h: 2, g: 9, ..Dragonfly::default() }.builder().unwrap()
}

fn failed(builder: MachineBuilder, faults: &[&str], seed: u64) -> MachineBuilder {
    let edits: Vec<Edit> = faults.iter().map(|text| Edit::parse(text).unwrap()).collect();
    edit::apply(builder, &edits, seed).unwrap()
}

/// 7 groups, each pair joined by one or two cables; inside, routers are joined by `pairs`.
fn groups_joined_inside_by(size: u32, pairs: &[(u32, u32)], seed: u64) -> MachineBuilder {
    let mut random = Stream::new(seed, "groups", &[]);
    let mut builder = groups(7, size);
    inside(&mut builder, size, pairs);
    for pair in every_two(7) {
        let count = 1 + random.below(2) as u32;
        across(&mut builder, size, pair, count, &mut random);
    }
    builder
}

/// A chain of groups with two cables each, closed to a ring if `closed`.
fn row_of_groups(n: u32, closed: bool, seed: u64) -> MachineBuilder {
    let mut random = Stream::new(seed, "groups", &[]);
    let mut builder = groups(n, 3);
    inside(&mut builder, 3, &every_two(3));
    for g in 0..if closed { n } else { n - 1 } {
        across(&mut builder, 3, (g, (g + 1) % n), 2, &mut random);
    }
    builder
}

/// Groups of 2 to 5 working routers; the others failed.
fn of_unequal_size(seed: u64) -> MachineBuilder {
    let mut random = Stream::new(seed, "groups", &[]);
    let mut builder = groups(6, 5);
    inside(&mut builder, 5, &every_two(5));
    every_two(6).into_iter().for_each(|pair| across(&mut builder, 5, pair, 3, &mut random));
    for g in 0..6 {
        for r in 0..random.below(4) as u32 {
            builder.router_up[(5 * g + r) as usize] = false;
        }
    }
    let up = builder.router_up.clone();
    builder.cables.retain(|c| up[c.a.index()] && up[c.b.index()]);
    builder
}

/// Machines of a seed, without those that faults divide.
fn machines(seed: u64) -> Vec<(&'static str, Machine)> {
    let without_pairs = |shares: f64| {
        let mut random = Stream::new(seed, "pairs", &[]);
        let gone: Vec<bool> = every_two(9).iter().map(|_| random.chance(shares)).collect();
        let mut builder = canonical();
        let pair = |a: u32, b: u32| every_two(9).iter().position(|&p| p == (a.min(b) / 4, a.max(b) / 4));
        builder.cables.retain(|c| pair(c.a.0, c.b.0).is_none_or(|p| !gone[p]));
        builder
    };
    let doubled = || Dragonfly { p: 1, a: 4, h: 3, g: 5, ..Dragonfly::default() }.builder().unwrap();
    let cascade = || Cascade { groups: 4, rows: 3, columns: 4, nodes_per_router: 1, ..Cascade::default() };
    let cascade = || cascade().builder().unwrap();
    let builders = vec![
        ("whole", canonical()),
        ("1% global", failed(canonical(), &["fail 1% global"], seed)),
        ("5% global", failed(canonical(), &["fail 5% global"], seed)),
        ("10% global", failed(canonical(), &["fail 10% global"], seed)),
        ("1% local", failed(canonical(), &["fail 1% local"], seed)),
        ("5% local", failed(canonical(), &["fail 5% local"], seed)),
        ("10% local", failed(canonical(), &["fail 10% local"], seed)),
        ("10% of both", failed(canonical(), &["fail 10% global", "fail 10% local"], seed)),
        ("30% local", failed(canonical(), &["fail 30% local"], seed)),
        ("unequal groups", of_unequal_size(seed)),
        ("missing pairs", without_pairs(0.2)),
        ("many missing pairs", without_pairs(0.5)),
        ("several cables per pair", doubled()),
        ("of several cables, 10% of both", failed(doubled(), &["fail 10% global", "fail 10% local"], seed)),
        ("rings inside", groups_joined_inside_by(5, &[(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)], seed)),
        ("large rings inside", groups_joined_inside_by(8, &(0..8).map(|r| (r, (r + 1) % 8)).collect::<Vec<_>>(), seed)),
        ("chains inside", groups_joined_inside_by(4, &[(0, 2), (2, 1), (1, 3)], seed)),
        ("stars inside", groups_joined_inside_by(5, &[(2, 0), (2, 1), (2, 3), (2, 4)], seed)),
        ("two parts inside", groups_joined_inside_by(4, &[(0, 1), (2, 3)], seed)),
        ("nothing inside", groups_joined_inside_by(3, &[], seed)),
        ("a ring of groups", row_of_groups(8, true, seed)),
        ("a chain of groups", row_of_groups(6, false, seed)),
        ("cascade", cascade()),
        ("cascade, 10%", failed(cascade(), &["fail 10% green", "fail 10% black", "fail 10% blue"], seed)),
        ("cascade, 30%", failed(cascade(), &["fail 30% green", "fail 30% black", "fail 30% blue"], seed)),
    ];
    let machines = builders.into_iter().map(|(what, builder)| (what, builder.build().unwrap()));
    machines.filter(|(_, machine)| NextHops::new(machine).is_ok()).collect()
}

/// All nodes send `bytes` to all others, with buffers of one packet.
fn all_to_all_arrives(what: &str, machine: &Machine, engine: &PacketEngine, bytes: u64) {
    let nodes: Vec<u32> = machine.nodes().filter(|&n| machine.node_up(n)).map(|n| n.0).collect();
    let n = nodes.len();
    let messages: Vec<(u32, u32, u64)> =
        (0..n).flat_map(|s| (1..n).map(move |k| (s, (s + k) % n))).map(|(s, d)| (nodes[s], nodes[d], bytes)).collect();
    let result = run(engine, &closed(&messages), schedule(0, 1_000_000, 0), &RunOptions::default());
    assert_eq!(result.ending, Ending::Complete, "{what}: {:?}", result.stuck);
    assert_eq!(result.jobs[0].bytes, messages.len() as u64 * bytes, "{what}");
}

fn smallest_buffers() -> PacketSettings {
    let study = PacketSettings::study();
    PacketSettings { input_buffer: study.packet, output_buffer: study.packet, ..study }
}

#[test]
fn every_routing_runs_on_every_connected_machine_with_groups() {
    for seed in 1..4 {
        let machines = machines(seed);
        assert!(machines.len() >= 23, "few fall apart: {}", machines.len());
        for (what, machine) in machines {
            for routing in routings() {
                let what = format!("{what}, seed {seed}, {routing}");
                let engine = PacketEngine::new(&machine, &smallest_buffers(), &routing.parse().unwrap());
                let engine = engine.unwrap_or_else(|error| panic!("{what}: {error}"));
                all_to_all_arrives(&what, &machine, &engine, 1_500);
            }
        }
    }
}

/// Virtual channels by routing.
type ChannelCounts = [(&'static str, u8); 7];

/// Channels of routings: `to_group` channels for a leg to another group, `inside` for a leg within a
/// group. A whole machine has one each. `min` has `inside` for each of `between` hops between groups, and in the last
/// group.
fn by_legs(to_group: u8, inside: u8, between: u8) -> ChannelCounts {
    let (straight, over_router) = (2 * to_group + inside, 2 * to_group + 2 * inside);
    [
        ("min", (between + 1) * inside),
        ("valiant-g", straight),
        ("valiant-n", over_router),
        ("ugal-g", straight),
        ("ugal-n", over_router),
        ("piggyback", over_router),
        ("par", 1 + over_router),
    ]
}

#[test]
fn every_routing_runs_on_the_studys_machine_with_faults() {
    run_the_studys_machine_with_faults(1..2);
}

#[test]
#[ignore = "takes a minute"]
fn every_routing_runs_on_the_studys_machine_with_other_faults() {
    run_the_studys_machine_with_faults(2..8);
}

/// Each node sends to 6 others. The seeds draw what fails.
fn run_the_studys_machine_with_faults(seeds: std::ops::Range<u64>) {
    // A third group costs one more channel towards groups. Two missing cables of one group can make paths inside turn
    // in a circle; 1 % of all local cables, 9, need not.
    let cases: [(&[&str], Option<ChannelCounts>); 7] = [
        (&[], Some(by_legs(1, 1, 1))),
        (&["fail 1% global"], Some(by_legs(2, 1, 2))),
        (&["fail 5% global"], Some(by_legs(2, 1, 2))),
        (&["fail 10% global"], Some(by_legs(2, 1, 2))),
        (&["fail 1% local"], None),
        (&["fail 5% local"], Some(by_legs(2, 2, 1))),
        (&["fail 10% global", "fail 10% local"], None),
    ];
    for seed in seeds {
        for (faults, expected) in cases {
            let machine = failed(presets::builder("dragonfly-1056").unwrap(), faults, seed).build().unwrap();
            let mut random = Stream::new(seed, "messages", &[]);
            let mut message = |from: u32| (from, (from + 1 + random.below(1_055) as u32) % 1_056, 1_500);
            let messages: Vec<(u32, u32, u64)> = (0..6 * 1_056).map(|i| message(i % 1_056)).collect();
            let mut channels = BTreeMap::new();
            for routing in routings() {
                let what = format!("{faults:?}, seed {seed}, {routing}");
                let engine = PacketEngine::new(&machine, &smallest_buffers(), &routing.parse().unwrap());
                let engine = engine.unwrap_or_else(|error| panic!("{what}: {error}"));
                let result = run(&engine, &closed(&messages), schedule(0, 1_000_000, 0), &RunOptions::default());
                assert_eq!(result.ending, Ending::Complete, "{what}: {:?}", result.stuck);
                assert_eq!(result.jobs[0].bytes, messages.len() as u64 * 1_500, "{what}");
                channels.insert(routing, engine.virtual_channels());
            }
            for (routing, expected) in expected.into_iter().flatten() {
                assert_eq!(channels[routing], expected, "{faults:?}, seed {seed}, {routing}");
            }
            assert!(channels.values().all(|&n| n <= 11), "{faults:?}, seed {seed}: {channels:?}");
        }
    }
}

/// A ring of 24 groups has paths of 12 hops between groups. That needs too many channels, except with `min` and with
/// `q-adaptive`, which counts turns.
#[test]
fn too_many_groups_on_a_path_are_an_error() {
    let machine = row_of_groups(24, true, 1).build().unwrap();
    for (routing, needed) in [("valiant-g", 25), ("valiant-n", 26), ("ugal-g", 25), ("ugal-n", 26), ("par", 27)] {
        let error = PacketEngine::new(&machine, &smallest_buffers(), &routing.parse().unwrap());
        let text = error.err().expect("an error").to_string();
        let words = format!("'{routing}' needs {needed} virtual channels on this machine; expected at most 16");
        assert!(text.contains(&words), "{text}");
    }
    // With these cables, paths to a group have up to 18 hops, and `q-adaptive` has 5 more.
    for (routing, plain_channels, groups) in [("min", None, Some(13)), ("q-adaptive", Some(23), None)] {
        let engine = PacketEngine::new(&machine, &smallest_buffers(), &routing.parse().unwrap()).unwrap();
        assert_eq!(engine.plain_channels(), plain_channels, "{routing}");
        // n hops have at most n / 2 turns.
        let expected = groups.or(plain_channels.map(|hops| hops / 2 + 1));
        assert_eq!(Some(engine.virtual_channels()), expected, "{routing}");
        all_to_all_arrives(routing, &machine, &engine, 600);
    }
}

/// On machines without groups each routing runs or returns an error.
#[test]
fn other_machines_run_or_return_an_error() {
    let torus = Torus { dims: vec![4, 3], wrap: vec![true; 2].into(), ..Torus::default() };
    let tree = FatTree { k: 4, ..FatTree::default() };
    let random_graph = |seed: u64| {
        let mut random = Stream::new(seed, "graph", &[]);
        let mut builder = common::graph(20, 1);
        for r in 1..20 {
            builder.add_cables(RouterId(random.below(r) as u32), RouterId(r as u32), LinkClassId(0), 1);
            let other = random.below(20) as u32;
            if u64::from(other) != r {
                builder.add_cables(RouterId(other), RouterId(r as u32), LinkClassId(1), 1);
            }
        }
        builder
    };
    let with_a_hole = failed(torus.builder().unwrap(), &["fail 10% local"], 1);
    let no_groups = "it needs an intermediate group, but the machine has 1 group; use 'min'";
    let not_a_torus = "it needs a torus or a mesh";
    let broken = "use 'up-down' or 'min'";
    let on =
        |torus: &'static str, graph: &'static str| [torus, if torus.is_empty() { graph } else { torus }, graph, graph];
    for seed in 1..4 {
        let machines = [
            ("torus", torus.builder().unwrap()),
            ("torus with a hole", with_a_hole.clone()),
            ("fat tree", tree.builder().unwrap()),
            ("random graph", random_graph(seed)),
        ];
        let mut rows: Vec<(&str, [&str; 4])> = declaring(Machines::Groups).map(|name| (name, [no_groups; 4])).collect();
        let anywhere = declaring(Machines::Any).chain(declaring(Machines::WithIntermediate));
        rows.extend(anywhere.map(|name| (name, on("", ""))));
        rows.extend(["dimension-order", "torus-adaptive"].map(|name| (name, ["", broken, not_a_torus, not_a_torus])));
        for (routing, answers) in rows {
            for ((what, builder), answer) in machines.iter().zip(answers) {
                let machine = builder.clone().build().unwrap();
                let engine = PacketEngine::new(&machine, &smallest_buffers(), &routing.parse().unwrap());
                match (engine, answer) {
                    (Ok(engine), "") => all_to_all_arrives(&format!("{what}, {routing}"), &machine, &engine, 1_500),
                    (Ok(_), _) => panic!("{routing} runs on {what}"),
                    (Err(error), "") => panic!("{routing} on {what}: {error}"),
                    (Err(error), words) => assert!(error.to_string().contains(words), "{routing} on {what}: {error}"),
                }
            }
        }
    }
}

/// Groups of any size, joined at random inside and between, some routers without nodes or failed.
fn random_groups(seed: u64, n: u32, size: u32, (local, global): (f64, f64), failing: f64) -> Machine {
    let mut random = Stream::new(seed, "machine", &[]);
    let mut builder = groups(n, size);
    let routers = n * size;
    for (a, b) in every_two(routers) {
        let (share, class) = if a / size == b / size { (local, 0) } else { (global / f64::from(size), 1) };
        if random.chance(share) {
            let count = 1 + u32::from(random.chance(0.2));
            builder.add_cables(RouterId(a), RouterId(b), LinkClassId(class), count);
        }
    }
    builder.router_up = (0..routers).map(|_| !random.chance(failing)).collect();
    let up = builder.router_up.clone();
    builder.cables.retain(|c| up[c.a.index()] && up[c.b.index()]);
    builder.build().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Every connected machine runs, or needs more channels than possible.
    #[test]
    fn connected_machines_run(
        (seed, n, size) in (0u64..1 << 32, 3u32..8, 1u32..7),
        (local, global, failing) in (0.0f64..1.0, 0.1f64..0.8, 0.0f64..0.2),
        pick in 0..routings().len(),
    ) {
        let machine = random_groups(seed, n, size, (local, global), failing);
        let Ok(hops) = NextHops::new(&machine) else { return Ok(()) };
        prop_assume!(hops.working_groups().len() >= 3);
        let routing = routings()[pick];
        let what = format!("seed {seed}, {n} groups of {size}, {routing}");
        match PacketEngine::new(&machine, &smallest_buffers(), &routing.parse().unwrap()) {
            Ok(engine) => all_to_all_arrives(&what, &machine, &engine, 1_500),
            Err(error) => prop_assert!(error.to_string().contains("virtual channels on this machine"), "{what}: {error}"),
        }
    }
}
