//! UGAL and PAR against a plain twin: the possible hops at every router, and their probabilities.
//!
//! The twin follows docs/models/routing in the simplest form and shares no code with the algorithms. It finds paths
//! on the machine's links itself, and enumerates all draws instead of drawing candidates. Its result is the
//! distribution of the answers. The algorithm, called many times in one situation, must give each answer as often,
//! and no other answer. Only two things come from the tables: the groups of routers if groups are cut, and the VC
//! offsets within a leg.

use odonata_machine::{
    BeforeEdits, Coordinates, ForwardingKind, GroupInterior, LinkClass, Machine, MachineBuilder, Shape,
};
use odonata_routing::algorithm::{
    AdaptiveSettings, Decision, Header, Memory, ParSettings, RouteState, Routing, RoutingChoice, SecondIntermediate,
};
use odonata_routing::deadlock::{self, ProvenRouting};
use odonata_routing::next_hop::{NextHops, VcOrder};
use odonata_routing::view::LoadView;
use odonata_units::{Bytes, GroupId, LinkClassId, LinkId, NodeId, Rate, RouterId, Stream, Time};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Calls of the algorithm in each situation.
const ASKED: u32 = 200;

/// A port, a virtual channel, and the intermediate group or router if the packet leaves the minimal path here.
type Answer = (u16, u8, Option<u32>);

/// Bytes queued at the deciding router, by port and channel.
struct Queues(Vec<[u64; 16]>);

impl LoadView for Queues {
    fn port_bytes(&self, port: u16) -> u64 {
        self.0[usize::from(port)].iter().sum()
    }

    fn channel_bytes(&self, port: u16, vc: u8) -> u64 {
        self.0[usize::from(port)][usize::from(vc)]
    }

    fn has_room(&self, _: u16, _: u8) -> bool {
        true
    }
}

/// State of a packet, as in the pages.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Course {
    /// At its source router.
    New,
    /// On the minimal path, or past its intermediate.
    Minimal,
    /// To the intermediate group (ugal-g) or router.
    Around(u32),
}

/// The virtual channels of an algorithm, named as in its page.
struct Channels {
    first_minimal: u8,
    source_group: u8,
    intermediate_group: u8,
    onward: u8,
    destination_group: u8,
}

/// The twin of one algorithm on one machine.
struct Plain<'a> {
    machine: &'a Machine,
    hops: &'a NextHops,
    name: &'static str,
    settings: AdaptiveSettings,
}

impl Plain<'_> {
    fn channels(&self) -> Channels {
        let of = |first_minimal, source_group, intermediate_group, onward, destination_group| Channels {
            first_minimal,
            source_group,
            intermediate_group,
            onward,
            destination_group,
        };
        let (s, w) = (self.hops.channels_to_group(), self.hops.local_channels());
        match self.name {
            "ugal-g" => of(s, 0, s, s, 2 * s),
            "ugal-n" => of(s + w, 0, s, s + w, 2 * s + w),
            _ => of(0, 1, 1 + s, 1 + s + w, 1 + 2 * s + w),
        }
    }

    fn group(&self, router: RouterId) -> u32 {
        self.hops.group_of(router).0
    }

    /// Ports on the paths from `at` to a router for which `there` holds, with the fewest hops between groups and,
    /// among these, the fewest in total; inside a group only, if requested. Relaxes all links until nothing changes.
    fn ports(&self, at: RouterId, inside: bool, there: impl Fn(RouterId) -> bool) -> Vec<u16> {
        let links = || self.machine.links().filter(|&l| !inside || self.hop(l) == (0, 1));
        let mut cost = vec![(u32::MAX, u32::MAX); self.machine.router_count()];
        self.machine.routers().filter(|&r| there(r)).for_each(|r| cost[r.index()] = (0, 0));
        let over = |cost: &[(u32, u32)], l| {
            let (after, hop) = (cost[self.machine.target(l).index()], self.hop(l));
            (after.0.saturating_add(hop.0), after.1.saturating_add(hop.1))
        };
        for _ in self.machine.routers() {
            for l in links() {
                let source = self.machine.source(l).index();
                cost[source] = cost[source].min(over(&cost, l));
            }
        }
        let first = self.machine.links_from(at).start;
        links()
            .filter(|&l| self.machine.source(l) == at && over(&cost, l) == cost[at.index()])
            .map(|l| (self.machine.nodes_of(at).len() + l.index() - first) as u16)
            .collect()
    }

    /// One hop over a link: (between groups, in total).
    fn hop(&self, link: LinkId) -> (u32, u32) {
        (u32::from(self.group(self.machine.source(link)) != self.group(self.machine.target(link))), 1)
    }

    fn towards(&self, at: RouterId, group: u32) -> Vec<u16> {
        self.ports(at, false, |r| self.group(r) == group)
    }

    /// Possible hops of the packet at `at` and their probabilities: the whole page in one function.
    fn answers(
        &self,
        course: Course,
        at: RouterId,
        to: RouterId,
        (second, kept): (bool, Option<u32>),
        load: &Queues,
    ) -> BTreeMap<Answer, f64> {
        let (here, target) = (self.group(at), self.group(to));
        let channels = self.channels();
        let mut answers = BTreeMap::new();
        let mut plain = |ports: Vec<u16>, vc: u8| {
            let share = 1.0 / ports.len() as f64;
            ports.iter().for_each(|&port| *answers.entry((port, vc, None)).or_default() += share);
        };
        let vc_offset = |group: u32| self.hops.vc_offset_to_group(at, GroupId(group));
        let inside = |router: RouterId| (self.ports(at, true, |r| r == router), self.hops.local_vc_offset(at, router));
        let mut leg = |(ports, vc_offset), lowest: u8| plain(ports, lowest + vc_offset);
        let group_of_via = |via: u32| if self.name == "ugal-g" { via } else { self.group(RouterId(via)) };
        match course {
            _ if here == target => leg(inside(to), channels.destination_group),
            // PAR's first hop has a channel of its own.
            Course::New if self.name == "par" => return self.decide(at, target, channels.first_minimal, None, load),
            Course::New => return self.decide(at, target, channels.first_minimal + vc_offset(target), None, load),
            Course::Minimal if second && self.name == "par" => {
                return self.decide(at, target, channels.onward + vc_offset(target), kept, load);
            }
            Course::Minimal => leg((self.towards(at, target), vc_offset(target)), channels.onward),
            Course::Around(via) if self.name != "ugal-g" && group_of_via(via) == here => {
                leg(inside(RouterId(via)), channels.intermediate_group);
            }
            Course::Around(via) => {
                let group = group_of_via(via);
                leg((self.towards(at, group), vc_offset(group)), channels.source_group);
            }
        }
        answers
    }

    /// The comparison, over all draws.
    fn decide(
        &self,
        at: RouterId,
        target: u32,
        minimal_vc: u8,
        kept: Option<u32>,
        load: &Queues,
    ) -> BTreeMap<Answer, f64> {
        let ports = self.towards(at, target);
        let minimal: Vec<(Answer, f64)> =
            ports.iter().map(|&port| ((port, minimal_vc, None), 1.0 / ports.len() as f64)).collect();
        let other = self.detours(at, target, kept);
        let mut answers = BTreeMap::new();
        for (m, how_likely_m) in shortest(&minimal, self.settings.minimal_candidates, load) {
            for (o, how_likely_o) in shortest(&other, self.settings.non_minimal_candidates, load) {
                let (queue_m, queue_o) = if m.0 == o.0 {
                    (load.channel_bytes(m.0, m.1), load.channel_bytes(o.0, o.1))
                } else {
                    (load.port_bytes(m.0), load.port_bytes(o.0))
                };
                let around = queue_m as f64
                    > self.settings.threshold * queue_o as f64 + self.settings.bias.expect("a bias").0 as f64;
                *answers.entry(if around { o } else { m }).or_default() += how_likely_m * how_likely_o;
            }
        }
        answers
    }

    /// Every first hop to a random third group or to a random router of one, or to the stored one.
    fn detours(&self, at: RouterId, target: u32, kept: Option<u32>) -> Vec<(Answer, f64)> {
        let lowest = self.channels().source_group;
        let working = |group: u32| -> Vec<RouterId> {
            self.machine.routers().filter(|&r| self.group(r) == group && self.machine.router_up(r)).collect()
        };
        let thirds: Vec<u32> =
            (0..self.hops.groups()).filter(|&g| g != self.group(at) && g != target && !working(g).is_empty()).collect();
        let mut paths = Vec::new();
        for &third in &thirds {
            let goals: Vec<u32> =
                if self.name == "ugal-g" { vec![third] } else { working(third).iter().map(|r| r.0).collect() };
            let ports = self.towards(at, third);
            let vc = lowest + self.hops.vc_offset_to_group(at, GroupId(third));
            let share = 1.0 / (thirds.len() * goals.len() * ports.len()) as f64;
            for &via in &goals {
                paths.extend(ports.iter().map(|&port| ((port, vc, Some(via)), share)));
            }
        }
        if let Some(kept) = kept {
            paths.retain(|((_, _, via), _)| *via == Some(kept));
            let share = 1.0 / paths.len() as f64;
            paths.iter_mut().for_each(|path| path.1 = share);
        }
        paths
    }
}

/// The candidate with the shortest queue among `draws` draws, each with its probability; of equal ones, the first
/// drawn.
fn shortest(paths: &[(Answer, f64)], draws: u32, load: &Queues) -> Vec<(Answer, f64)> {
    let mut best: BTreeMap<Answer, f64> = paths.iter().copied().collect();
    for _ in 1..draws {
        let mut next = BTreeMap::new();
        for (&a, p) in &best {
            for &(b, q) in paths {
                let kept = if load.port_bytes(b.0) < load.port_bytes(a.0) { b } else { a };
                *next.entry(kept).or_default() += p * q;
            }
        }
        best = next;
    }
    best.into_iter().collect()
}

/// Routers in groups without any cable, two nodes at each.
fn grouped(groups: u32, size: u32) -> MachineBuilder {
    let class = |name: &str| LinkClass {
        name: name.into(),
        bandwidth: Rate::from_bytes_per_s(25_000_000_000),
        latency: Time::from_ns(30),
        ports_per_router: None,
    };
    let routers = groups * size;
    MachineBuilder {
        name: "groups".into(),
        shape: Shape::Grouped { groups, routers_per_group: size, interior: GroupInterior::Other },
        coordinates: Coordinates::default(),
        group_of: (0..routers).map(|r| GroupId(r / size)).collect(),
        classes: vec![class("local"), class("global")],
        terminal: class("terminal"),
        cores_per_node: 1,
        ports: None,
        assumptions: Vec::new(),
        reading: Vec::new(),
        subnet: None,
        forwarding: ForwardingKind::default(),
        rails: Default::default(),
        node_router: (0..2 * routers).map(|n| RouterId(n / 2)).collect(),
        node_up: vec![true; 2 * routers as usize],
        before_edits: BeforeEdits::default(),
        storage: Vec::new(),
        node_names: Vec::new(),
        router_up: vec![true; routers as usize],
        cables: Vec::new(),
    }
}

/// Groups of connected routers, most of them joined by one to four cables anywhere, with a few failed routers. So
/// groups have unequal sizes or several parts, some routers have no cable to another group, and some paths pass
/// through third groups.
fn random_machine(random: &mut Stream) -> (Machine, NextHops) {
    loop {
        let (groups, size) = (4 + random.below(3) as u32, 2 + random.below(3) as u32);
        let routers = groups * size;
        let mut builder = grouped(groups, size);
        builder.router_up = (0..routers).map(|_| !random.chance(0.1)).collect();
        for a in 0..routers {
            for b in (a + 1..routers).filter(|b| b / size == a / size) {
                let count = if b == a + 1 { 1 } else { random.below(2) as u32 };
                builder.add_cables(RouterId(a), RouterId(b), LinkClassId(0), count);
            }
        }
        for g in 0..groups {
            for other in g + 1..groups {
                let places = if random.chance(0.1) { 0 } else { 1 + random.below(2) };
                for _ in 0..places {
                    let mut end = |group: u32| RouterId(group * size + random.below(u64::from(size)) as u32);
                    let (a, b) = (end(g), end(other));
                    builder.add_cables(a, b, LinkClassId(1), 1 + random.below(2) as u32);
                }
            }
        }
        let machine = builder.build().unwrap();
        // If failures cut the machine in pieces, try another one.
        if let Ok(hops) = NextHops::new(&machine) {
            if hops.working_groups().len() >= 3 {
                return (machine, hops);
            }
        }
    }
}

fn random_queues(machine: &Machine, at: RouterId, random: &mut Stream) -> Queues {
    let ports = machine.nodes_of(at).len() + machine.links_from(at).len();
    // Few different lengths, so that equal queues and close comparisons are frequent.
    let mut bytes = || if random.chance(0.5) { 0 } else { 256 * random.below(6) };
    Queues((0..ports).map(|_| std::array::from_fn(|_| bytes())).collect())
}

/// Calls the algorithm many times in one situation and compares with the twin. Returns one of its answers and the
/// header that it wrote.
fn compare(
    routing: &dyn Routing,
    expected: &BTreeMap<Answer, f64>,
    at: RouterId,
    header: Header,
    load: &Queues,
    random: &mut Stream,
) -> (Answer, Header) {
    let total: f64 = expected.values().sum();
    assert!((total - 1.0).abs() < 1e-9, "the twin's answers are all: {total}");
    let mut seen: BTreeMap<Answer, u32> = BTreeMap::new();
    let mut last = None;
    for _ in 0..ASKED {
        let (mut memory, mut packet) = (Memory::default(), header);
        let mut decision = Decision::new(at, load, random, &mut memory);
        let hop = routing.decide(&mut decision, &mut packet);
        let left_here = packet.state.path_kind.is_non_minimal() && !header.state.path_kind.is_non_minimal();
        let answer = (hop.port, hop.vc, left_here.then_some(packet.state.via));
        *seen.entry(answer).or_default() += 1;
        last = Some((answer, packet));
    }
    for (answer, count) in &seen {
        assert!(expected.contains_key(answer), "{answer:?} {count} times, but the twin has only {expected:?}");
    }
    for (answer, p) in expected {
        let (count, mean) = (f64::from(*seen.get(answer).unwrap_or(&0)), p * f64::from(ASKED));
        // Five standard deviations plus a margin: a few of 10^5 comparisons come near.
        let margin = 5.0 * (mean * (1.0 - p)).max(0.0).sqrt() + 4.0;
        assert!((count - mean).abs() <= margin, "{answer:?}: {count} of {ASKED}, expected {mean:.1} of {expected:?}");
    }
    last.expect("called at least once")
}

/// Packets followed from router to router on random machines under random loads, with random settings.
#[test]
fn ugal_and_par_decide_as_their_plain_twin() {
    let mut random = Stream::new(2009, "decisions", &[]);
    let (mut decisions, mut detours, mut revised, mut one_port, mut vc_offset) = (0, 0, 0, 0, 0);
    for case in 0..5_700u64 {
        let (machine, mut hops) = random_machine(&mut random);
        let name = ["ugal-g", "ugal-n", "par"][(case % 3) as usize];
        let settings = AdaptiveSettings {
            threshold: [0.5, 1.0, 2.0, 3.5][random.index(4)],
            bias: Some(Bytes([0, 0, 256, 1000][random.index(4)])),
            minimal_candidates: 1 + random.below(3) as u32,
            non_minimal_candidates: 1 + random.below(3) as u32,
            ..Default::default()
        };
        let second_intermediate = if random.chance(0.5) { SecondIntermediate::Same } else { SecondIntermediate::New };
        let choice = match name {
            "par" => RoutingChoice::with(name, ParSettings { choice: settings, second_intermediate }),
            _ => RoutingChoice::with(name, settings),
        };
        let ProvenRouting { routing, vc_order, .. } = deadlock::prove(&choice.unwrap(), hops.clone(), 16).unwrap();
        hops.set_vc_order(vc_order);
        vc_offset += u32::from(vc_order != VcOrder::PerLeg);
        let twin = Plain { machine: &machine, hops: &hops, name, settings };
        let working: Vec<NodeId> = machine.nodes().filter(|&n| machine.router_up(machine.router_of(n))).collect();
        let (source, destination) = (working[random.index(working.len())], working[random.index(working.len())]);
        let (mut at, to) = (machine.router_of(source), machine.router_of(destination));
        let start = twin.group(at);
        let mut packet = Header { source, destination, state: RouteState::default() };
        let mut course = Course::New;
        while at != to {
            let load = random_queues(&machine, at, &mut random);
            let second = packet.state.hops == 1 && twin.group(at) == start;
            course = match course {
                Course::Around(via) if via == if name == "ugal-g" { twin.group(at) } else { at.0 } => Course::Minimal,
                other => other,
            };
            let kept = (second_intermediate == SecondIntermediate::Same).then_some(packet.state.via);
            let expected = twin.answers(course, at, to, (second, kept), &load);
            let (answer, after) = compare(&*routing, &expected, at, packet, &load, &mut random);
            let decides = expected.keys().any(|a| a.2.is_some());
            decisions += u32::from(decides);
            detours += u32::from(answer.2.is_some());
            revised += u32::from(answer.2.is_some() && course == Course::Minimal);
            let minimal_port = |port| expected.keys().any(|a| a.2.is_none() && a.0 == port);
            one_port += u32::from(expected.keys().any(|a| a.2.is_some() && minimal_port(a.0)));
            course = match (answer.2, course) {
                (Some(via), _) => Course::Around(via),
                (None, Course::New) => Course::Minimal,
                (None, other) => other,
            };
            packet = after;
            packet.state.hops += 1;
            packet.state.vc = answer.1;
            let link = machine.links_from(at).start + usize::from(answer.0) - machine.nodes_of(at).len();
            at = machine.target(LinkId(link as u32));
            assert!(packet.state.hops < 32, "{name}: the path is too long");
        }
    }
    // Check that the cases cover what they should.
    assert!(decisions > 2_000 && detours > 1_000, "{decisions} decisions, {detours} detours");
    assert!(vc_offset > 500, "{vc_offset} of 4,000 machines need more channels");
    assert!(revised > 50 && one_port > 150, "{revised} revised, {one_port} where both paths share a port");
}

/// Four groups of two routers. All cables between groups are at the second router, so every path out of the first
/// router uses its one link, port 2. That port holds 100 or 450 bytes in channel 0, for detours, and 900 in channel
/// 1, for minimal packets. With threshold 2, a packet of UGALg takes a detour iff 900 > 2 x 100; 900 = 2 x 450 keeps
/// it minimal. A comparison of whole ports (1,000 against twice 1,000) would never give a detour.
#[test]
fn candidates_on_one_port_are_compared_by_their_channels() {
    let mut builder = grouped(4, 2);
    for group in 0..4 {
        builder.add_cables(RouterId(2 * group), RouterId(2 * group + 1), LinkClassId(0), 1);
        for other in group + 1..4 {
            builder.add_cables(RouterId(2 * group + 1), RouterId(2 * other + 1), LinkClassId(1), 1);
        }
    }
    let machine = builder.build().unwrap();
    let hops = Arc::new(NextHops::new(&machine).unwrap());
    let routing = "ugal-g".parse::<RoutingChoice>().unwrap().build(hops).unwrap();
    let mut random = Stream::new(1, "decisions", &[]);
    for (other, around) in [(100, true), (450, false)] {
        let mut queued = [0; 16];
        queued[..2].copy_from_slice(&[other, 900]);
        let load = Queues(vec![[0; 16], [0; 16], queued]);
        for _ in 0..20 {
            let mut packet = Header { source: NodeId(0), destination: NodeId(4), state: RouteState::default() };
            let mut memory = Memory::default();
            let mut decision = Decision::new(RouterId(0), &load, &mut random, &mut memory);
            let hop = routing.decide(&mut decision, &mut packet);
            assert_eq!((hop.port, hop.vc), (2, u8::from(!around)));
            assert_eq!(packet.state.path_kind.is_non_minimal(), around);
        }
    }
}
