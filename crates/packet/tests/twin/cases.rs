//! Random cases: a small machine, settings with zeros, buffers of one packet and huge packets, faults, odd rates, a
//! random program.

use super::chatter::Behavior;
use odonata_machine::edit::{self, Edit};
use odonata_machine::topology::{Arrangement, Dragonfly, FatTree, LinkFigures, Torus};
use odonata_machine::{Machine, MachineBuilder, Shape};
use odonata_packet::{
    Arbitration, ClassSettings, ControlName, ControlRule, ControlSettings, JobClass, PacketSettings, QueueEstimate,
    TrafficClass, TrafficClasses,
};
use odonata_routing::algorithm::{
    BubbleOrder, DeadlockAvoidance, DeterministicSettings, DynamicSettings, MessageRoute, Route, RoutingChoice, Rule,
    Ties, TorusSettings, Zone,
};
use odonata_units::{Bytes, LinkClassId, NodeId, Rate, RouterId, Stream, Time};

#[derive(Debug)]
pub struct Case {
    pub seed: u64,
    pub machine: Machine,
    pub routing: RoutingChoice,
    pub settings: PacketSettings,
    pub behavior: Behavior,
}

fn pick<T: Clone>(random: &mut Stream, of: &[T]) -> T {
    of[random.index(of.len())].clone()
}

impl Case {
    /// The case of a seed; `None` if its machine is not connected.
    pub fn new(seed: u64) -> Option<Self> {
        let mut random = Stream::new(seed, "case", &[]);
        let random = &mut random;
        let builder = match random.below(4) {
            0 | 1 => dragonfly(random),
            2 => torus(random),
            _ if random.chance(0.4) => FatTree { k: 4, ..fat_tree(random) }.builder().unwrap(),
            _ => graph(random),
        };
        let faults = ["fail 15% global", "fail 40% global", "fail 10% local", "fail 30% local", "fail 5% routers"];
        let faults: Vec<&str> = faults.into_iter().filter(|_| random.chance(0.12)).collect();
        let edits: Vec<Edit> = faults.iter().map(|text| Edit::parse(text).unwrap()).collect();
        // Not every machine has a class "global".
        let builder = edit::apply(builder, &edits, seed).ok()?;
        let machine = builder.build().ok()?;
        let nodes: Vec<NodeId> = machine.nodes().filter(|&n| machine.node_up(n)).collect();
        if nodes.len() < 2 {
            return None;
        }
        let mut settings = settings(random);
        // Every path takes some time.
        let instant = machine.terminal().latency == Time::ZERO;
        if instant {
            settings.input_latency = settings.input_latency.max(Time(1));
        }
        if instant || machine.links().any(|link| machine.latency(link) == Time::ZERO) {
            settings.output_latency = settings.output_latency.max(Time(1));
        }
        if settings.nics_per_node == 1 {
            settings.control = control(&mut Stream::new(seed, "control", &[]), settings.packet.0);
        }
        let packet_ps = machine.terminal().bandwidth.serialisation_time(settings.packet).ps();
        let most = 4 + random.below(28) as u32;
        let behavior = Behavior {
            seed,
            first: 1 + random.below(u64::from(most)),
            most,
            spread_ps: packet_ps * u64::from(most) * pick(random, &[0, 1, 3, 30]) + 1,
            small: pick(random, &[0.0, 0.2, 0.9]),
            answers: pick(random, &[0.1, 0.4, 0.6]),
            nodes,
        };
        let routing = pick(random, &crate::common::routings_on(&machine));
        let order = pick(random, &[BubbleOrder::FirstToLast, BubbleOrder::LongestFirst]);
        let deterministic = DeterministicSettings { order, ..Default::default() };
        let dynamic = DynamicSettings {
            bubble: DeterministicSettings { order, ties: pick(random, &[Ties::Parity, Ties::Drawn]) },
            zone: Zone::Numbered(random.below(4) as u8),
            route: route(random, settings.packet),
            dynamic_channels: 1 + random.below(2) as u8,
            stay_on_bubble: random.chance(0.3),
        };
        let has_bubbles = ["torus-deterministic", "torus-dynamic"].contains(&routing) || random.chance(0.5);
        if has_bubbles && matches!(machine.shape(), Shape::Torus { .. }) {
            settings.output_buffer = settings.output_buffer.max(Bytes(2 * settings.packet.0));
        }
        let routing = match routing {
            "torus-deterministic" => RoutingChoice::with(routing, deterministic),
            "torus-dynamic" => RoutingChoice::with(routing, dynamic),
            "dimension-order" | "torus-adaptive" if has_bubbles => {
                RoutingChoice::with(routing, TorusSettings { deadlock_avoidance: DeadlockAvoidance::Bubble })
            }
            _ => routing.parse(),
        };
        Some(Self { seed, machine, routing: routing.expect("a known name"), settings, behavior })
    }

    /// The case with acknowledgements and notices as packets, in four of ten cases.
    pub fn with_control_packets(mut self) -> Self {
        let random = &mut Stream::new(self.seed, "control packets", &[]);
        let bytes = random.chance(0.4).then(|| Bytes(1 + random.below(self.settings.packet.0)));
        self.settings.control.control_bytes = bytes;
        for class in &mut self.settings.classes.list {
            class.settings.control.iter_mut().for_each(|control| control.control_bytes = bytes);
        }
        self
    }

    /// The same case, for two of three seeds with traffic classes, each job in a random one. A class has the control of
    /// the case or its own. The twin knows no classes.
    pub fn with_classes(mut self) -> Self {
        let random = &mut Stream::new(self.seed, "traffic classes", &[]);
        let count = 1 + random.below(3);
        if count == 1 || self.settings.injection.is_some() {
            return self;
        }
        let (packet, can_control) = (self.settings.packet.0, self.settings.nics_per_node == 1);
        let class = |number: u64, random: &mut Stream| TrafficClass {
            name: format!("class{number}"),
            settings: ClassSettings {
                priority: random.below(2) as u32,
                minimum_share: pick(random, &[None, Some(0.1), Some(0.3)]),
                maximum_share: pick(random, &[1.0, 1.0, 0.5, 0.3]),
                burst: Bytes(random.below(4) * packet),
                control: (can_control && random.chance(0.6)).then(|| control(random, packet)),
                ..ClassSettings::default()
            },
        };
        let mut list: Vec<TrafficClass> = (0..count).map(|number| class(number, random)).collect();
        // Packets cannot follow each other with routings that learn or reserve space.
        if ["min", "valiant-n", "ugal-g", "ugal-n", "par"].contains(&self.routing.algorithm.name) {
            let random = &mut Stream::new(self.seed, "flows", &[]);
            for class in &mut list {
                class.settings.ordered = random.chance(0.4);
                class.settings.flow_gap = Time(random.below(3) * 200_000);
            }
        }
        let job = |random: &mut Stream| JobClass {
            class: random.below(count) as u8,
            large: random.chance(0.3).then(|| (Bytes(1_000), random.below(count) as u8)),
        };
        self.settings.classes = TrafficClasses { list, of_job: (0..4).map(|_| job(random)).collect() };
        self
    }
}

/// All messages alike, as in PAMI; or small messages deterministically and the others by distance.
fn route(random: &mut Stream, packet: Bytes) -> Route {
    let zone = |random: &mut Stream| MessageRoute::Dynamic(Zone::Numbered(random.below(4) as u8));
    match random.below(3) {
        0 => Route::Zone,
        1 => Route::Pami,
        _ => {
            let rule = Rule {
                up_to: None,
                line: false,
                flexibility: None,
                route: MessageRoute::Deterministic,
                otherwise: None,
            };
            let small = Rule { up_to: Some(Bytes(packet.0 / 2)), line: random.chance(0.3), ..rule.clone() };
            let (route, otherwise) = (zone(random), random.chance(0.7).then(|| zone(random)));
            Route::Rules(vec![small, Rule { flexibility: Some([0.2, 0.8]), route, otherwise, ..rule }])
        }
    }
}

/// Latencies from zero to some packet times, and rates that divide no time.
fn figures(random: &mut Stream) -> LinkFigures {
    let latency =
        pick(random, &[Time::ZERO, Time(1), Time(1_337), Time::from_ns(10), Time::from_ns(30), Time::from_ns(300)]);
    let speed = pick(random, &[25_000_000_000, 25_000_000_000, 12_500_000_000, 9_400_000_001, 1_333_333_333]);
    LinkFigures { bandwidth: Rate::from_bytes_per_s(speed), latency }
}

fn dragonfly(random: &mut Stream) -> MachineBuilder {
    let (a, h) = (2 + random.below(3) as u32, 1 + random.below(2) as u32);
    let dragonfly = Dragonfly {
        p: 1 + random.below(2) as u32,
        a,
        h,
        g: 2 + random.below(u64::from((a * h).min(5))) as u32,
        arrangement: pick(random, &[Arrangement::Absolute, Arrangement::Relative, Arrangement::PalmTree]),
        global_cables: pick(random, &[None, Some(1)]),
        local_cables: 1 + u32::from(random.chance(0.2)),
        local: figures(random),
        global: figures(random),
        terminal: figures(random),
        ..Dragonfly::default()
    };
    dragonfly.builder().unwrap()
}

fn torus(random: &mut Stream) -> MachineBuilder {
    let dims: Vec<u32> = (0..1 + random.below(3)).map(|_| pick(random, &[2, 2, 3, 3, 3, 4])).collect();
    let torus = Torus {
        wrap: dims.iter().map(|_| random.chance(0.6)).collect::<Vec<_>>().into(),
        dims,
        nodes_per_router: 1 + random.below(2) as u32,
        links_per_direction: 1 + u32::from(random.chance(0.2)),
        local: figures(random),
        terminal: figures(random),
        ..Torus::default()
    };
    torus.builder().unwrap()
}

fn fat_tree(random: &mut Stream) -> FatTree {
    FatTree { local: figures(random), global: figures(random), terminal: figures(random), ..FatTree::default() }
}

/// A ring with some chords.
fn graph(random: &mut Stream) -> MachineBuilder {
    let routers = 3 + random.below(6) as u32;
    let mut builder = crate::common::graph(routers, 1 + random.below(3) as u32);
    let (local, global, terminal) = (figures(random), figures(random), figures(random));
    for (class, figures) in builder.classes.iter_mut().zip([local, global]) {
        (class.bandwidth, class.latency) = (figures.bandwidth, figures.latency);
    }
    (builder.terminal.bandwidth, builder.terminal.latency) = (terminal.bandwidth, terminal.latency);
    for r in 0..routers {
        let class = LinkClassId(random.below(2) as u32);
        builder.add_cables(RouterId(r), RouterId((r + 1) % routers), class, 1 + random.below(2) as u32);
        let far = random.below(u64::from(routers)) as u32;
        if far != r && random.chance(0.5) {
            builder.add_cables(RouterId(r), RouterId(far), class, 1);
        }
    }
    builder
}

/// The largest flit that divides a packet.
fn largest_flit(packet: u64) -> u64 {
    (1..=packet.min(128)).rev().find(|flit| packet % flit == 0).expect("1 divides all")
}

/// No control, or one with thresholds and windows of a few packets and timers of a few round trips.
pub fn control(random: &mut Stream, packet: u64) -> ControlSettings {
    let packets = |random: &mut Stream, of: &[u64]| Bytes(packet * pick(random, of));
    // In packet times of 25 GB/s.
    let times = |random: &mut Stream, of: &[u64]| Time(40 * packet * pick(random, of)).max(Time::from_ns(1));
    let q_hi = packets(random, &[1, 2, 5, 20]);
    let name = pick(random, &[ControlName::None, ControlName::Pair, ControlName::Window, ControlName::Window]);
    let rule = match name {
        ControlName::None => None,
        ControlName::Pair => pick(random, &[None, Some(ControlRule::Credit), Some(ControlRule::Merlin)]),
        ControlName::Window => Some(pick(
            random,
            &[ControlRule::Fixed, ControlRule::Dctcp, ControlRule::Nscc, ControlRule::Dcqcn, ControlRule::Cct],
        )),
    };
    ControlSettings {
        name,
        control_bytes: None,
        rule,
        q_hi,
        q_lo: Bytes(q_hi.0 * pick(random, &[0, 1, 3]) / 4),
        credit: pick(random, &[1, 1, 3]),
        sources_min: pick(random, &[1, 2, 6]),
        first_window: Some(packets(random, &[1, 2, 4, 30])),
        window: pick(random, &[None, Some(Bytes(packet)), Some(Bytes(5 * packet + packet / 2))]),
        min_window: pick(random, &[Bytes(packet), Bytes(packet.div_ceil(2)), Bytes(packet.div_ceil(5))]),
        mark_above: packets(random, &[1, 1, 3]),
        mark_full: pick(random, &[None, Some(Bytes(6 * packet))]),
        gain: pick(random, &[None, Some(0.5), Some(1.0)]),
        target_delay: times(random, &[5, 20, 50]),
        notice_interval: times(random, &[5, 30, 100]),
        alpha_timer: times(random, &[15, 50]),
        rate_timer: times(random, &[10, 50]),
        byte_counter: packets(random, &[3, 10, 1_000]),
        rate_increase: pick(random, &[0.001, 0.02, 0.1]),
        min_rate: pick(random, &[0.1, 0.3]),
        cct_increase: pick(random, &[1, 2]),
        cct_timer: times(random, &[10, 50, 200]),
        cct_limit: pick(random, &[3, 9]),
    }
}

fn settings(random: &mut Stream) -> PacketSettings {
    // A packet of one byte, an odd number, and the largest possible one among the usual ones.
    let packet = pick(random, &[1, 64, 96, 96, 512, 512, 1000, 12_345, 1 << 20]);
    let buffer = |random: &mut Stream| {
        let packets = pick(random, &[2, 2, 3, 5, 8, 60]);
        Bytes(packet * packets / 2)
    };
    let latency = |random: &mut Stream| pick(random, &[Time::ZERO, Time(1), Time::from_ns(10), Time::from_ns(70)]);
    // With a header, a packet has several flits.
    let with_header = packet % 8 == 0 && packet <= 1_000 && random.chance(0.4);
    let (flit, header) = if with_header { (8, pick(random, &[1, 16, 40])) } else { (largest_flit(packet), 0) };
    PacketSettings {
        packet: Bytes(packet),
        flit: Bytes(flit),
        header: Bytes(header),
        wire_overhead: Bytes(pick(random, &[0, 0, 1, 24])),
        input_buffer: buffer(random),
        output_buffer: buffer(random),
        crossbar_speedup: pick(random, &[1.0, 1.37, 4.0, 10.0]),
        input_latency: latency(random),
        output_latency: latency(random),
        arbitration: pick(
            random,
            &[Arbitration::LeastRecentlyUsed, Arbitration::RoundRobin, Arbitration::TransitFirst],
        ),
        transit_limit: pick(random, &[None, Some(1), Some(3)]),
        estimate: pick(random, &[QueueEstimate::Output, QueueEstimate::Downstream, QueueEstimate::DownstreamArrived]),
        nics_per_node: pick(random, &[1, 1, 1, 2, 3]),
        ..PacketSettings::study()
    }
}
