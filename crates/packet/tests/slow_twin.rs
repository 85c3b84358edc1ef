//! The engine against its slow twin: the same model written down plainly, packet for packet.
//!
//! The twin has one binary heap, an event for every credit, every arrival and every end of a transfer, queues that hold
//! copies, least-recently-used lists that are lists, and at every instant it looks at every output of every router.
//! It shares nothing with the engine but the routing algorithms. It is given when and where packets are made and
//! must find when each leaves its source and arrives, over how many hops.

mod common;

use common::{adversarial, engine, schedule, small_dragonfly, uniform};
use odonata_machine::topology::{FatTree, LinkFigures, Torus};
use odonata_machine::Machine;
use odonata_packet::{Destinations, Injection, LoadStep, OpenJob, PacketRecord, Recording, RunOptions, Traffic};
use odonata_routing::algorithm::{self, Decision, Feedback, Header, Memory, RouteState, Routing, RoutingSettings};
use odonata_routing::next_hop::NextHops;
use odonata_routing::view::LoadView;
use odonata_units::{LinkId, RouterId, Stream, Time};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;

const PACKET: u64 = 512;
const LINK_PS: u64 = 20_480;
const CROSSBAR_PS: u64 = 5_120;
const STAGE_PS: u64 = 10_000;
const BUFFER: u64 = 15_360;
const TERMINAL_PS: u64 = 10_000;

#[derive(Clone, Debug)]
struct Packet {
    id: usize,
    header: Header,
    arrived: u64,
    previous: u64,
    port: usize,
    vc: usize,
    /// Whether `port` and `vc` are the choice of the router where it is.
    decided: bool,
    feedback: Option<f32>,
}

/// What happens at a time; the order of the variants is the order at one time.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Event {
    /// Room for a packet comes back to (router, port, vc).
    Credit(usize, usize, usize),
    /// Room comes back to a node.
    NodeCredit(usize),
    /// Feedback number n reaches a router.
    Learn(usize),
    /// The next packet on the wire to (router, port).
    Arrive(usize, usize),
    /// Something gets free, or a packet is made: look again.
    Look,
}

#[derive(Default)]
struct Port {
    wire: VecDeque<Packet>,
    inputs: Vec<VecDeque<Packet>>,
    outputs: Vec<VecDeque<Packet>>,
    credits: Vec<u64>,
    input_free: u64,
    output_free: u64,
    link_free: u64,
    next_vc: usize,
    /// Inputs, the one served longest ago first.
    order: Vec<usize>,
}

struct Node {
    waiting: VecDeque<Packet>,
    link_free: u64,
    credit: u64,
}

struct Twin<'a> {
    machine: &'a Machine,
    routing: Box<dyn Routing>,
    channels: usize,
    ports: Vec<Vec<Port>>,
    memory: Vec<Memory>,
    random: Vec<Stream>,
    nodes: Vec<Node>,
    births: Vec<u64>,
    events: BinaryHeap<Reverse<(u64, Event)>>,
    feedback: Vec<(usize, usize, Feedback)>,
    now: u64,
    /// (inject, arrival, hops, non-minimal) of each packet.
    found: Vec<(u64, u64, u8, bool)>,
}

/// The ports of a router.
struct Loads<'a>(&'a [Port]);

impl LoadView for Loads<'_> {
    fn port_bytes(&self, port: u16) -> u64 {
        (0..self.0[0].outputs.len()).map(|vc| self.channel_bytes(port, vc as u8)).sum()
    }
    fn channel_bytes(&self, port: u16, vc: u8) -> u64 {
        let port = &self.0[usize::from(port)];
        port.outputs[usize::from(vc)].len() as u64 * PACKET + BUFFER - port.credits[usize::from(vc)]
    }
    fn has_room(&self, o: u16, vc: u8) -> bool {
        let o = usize::from(o);
        let vc = usize::from(vc);
        // Packets that were sent here by their decision but have not crossed yet: all heads that want this output.
        let heads = self.0.iter().flat_map(|port| port.inputs.iter().filter_map(VecDeque::front));
        let promised = heads.filter(|p| p.decided && p.port == o && p.vc == vc).count();
        let needed = (self.0[o].outputs[vc].len() + promised + 1) as u64 * PACKET;
        needed <= BUFFER && needed <= self.0[o].credits[vc]
    }
}

impl<'a> Twin<'a> {
    fn new(machine: &'a Machine, routing: &str, seed: u64, packets: &[PacketRecord]) -> Self {
        let hops = Arc::new(NextHops::new(machine).unwrap());
        let routing = algorithm::build(routing, hops, &RoutingSettings::default()).unwrap();
        let channels = usize::from(routing.virtual_channels());
        let port = |radix: usize| Port {
            inputs: vec![VecDeque::new(); channels],
            outputs: vec![VecDeque::new(); channels],
            credits: vec![BUFFER; channels],
            order: (0..radix).collect(),
            ..Port::default()
        };
        let radix = |r: RouterId| machine.nodes_of(r).len() + machine.links_from(r).len();
        let mut twin = Self {
            ports: machine.routers().map(|r| (0..radix(r)).map(|_| port(radix(r))).collect()).collect(),
            memory: machine.routers().map(|r| routing.memory(r)).collect(),
            random: machine.routers().map(|r| Stream::new(seed, "routing", &[u64::from(r.0)])).collect(),
            nodes: machine.nodes().map(|_| Node { waiting: VecDeque::new(), link_free: 0, credit: BUFFER }).collect(),
            births: packets.iter().map(|p| p.birth_ps).collect(),
            events: BinaryHeap::new(),
            feedback: Vec::new(),
            now: 0,
            found: vec![(0, 0, 0, false); packets.len()],
            machine,
            routing,
            channels,
        };
        let mut order: Vec<usize> = (0..packets.len()).collect();
        order.sort_by_key(|&i| packets[i].birth_ps);
        for id in order {
            let p = packets[id];
            let header = Header {
                source: odonata_units::NodeId(p.source),
                destination: odonata_units::NodeId(p.destination),
                state: RouteState::default(),
            };
            let packet = Packet { id, header, arrived: 0, previous: 0, port: 0, vc: 0, decided: false, feedback: None };
            twin.nodes[p.source as usize].waiting.push_back(packet);
            twin.at(p.birth_ps, Event::Look);
        }
        twin
    }

    fn at(&mut self, time: u64, event: Event) {
        self.events.push(Reverse((time, event)));
    }

    fn run(mut self) -> Vec<(u64, u64, u8, bool)> {
        while let Some(Reverse((time, _))) = self.events.peek() {
            self.now = *time;
            while let Some(Reverse((time, _))) = self.events.peek() {
                if *time > self.now {
                    break;
                }
                let Reverse((_, event)) = self.events.pop().unwrap();
                self.handle(event);
            }
            for node in 0..self.nodes.len() {
                self.inject(node);
            }
            for router in 0..self.ports.len() {
                for port in 0..self.ports[router].len() {
                    let granted = self.arbitrate(router, port);
                    if self.send(router, port) && !granted {
                        self.arbitrate(router, port);
                    }
                }
            }
        }
        self.found
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Credit(router, port, vc) => self.ports[router][port].credits[vc] += PACKET,
            Event::NodeCredit(node) => self.nodes[node].credit += PACKET,
            Event::Learn(n) => {
                let (router, port, feedback) = self.feedback[n];
                self.routing.learn(RouterId(router as u32), &mut self.memory[router], port as u16, &feedback);
            }
            Event::Arrive(router, port) => {
                let packet = self.ports[router][port].wire.pop_front().unwrap();
                let vc = usize::from(packet.header.state.vc);
                self.ports[router][port].inputs[vc].push_back(packet);
                if self.ports[router][port].inputs[vc].len() == 1 {
                    self.route(router, port, vc);
                }
            }
            Event::Look => {}
        }
    }

    fn inject(&mut self, n: usize) {
        let node = &mut self.nodes[n];
        let made = node.waiting.front().is_some_and(|p| self.births[p.id] <= self.now);
        if !made || node.link_free > self.now || node.credit < PACKET {
            return;
        }
        let mut packet = node.waiting.pop_front().unwrap();
        node.credit -= PACKET;
        node.link_free = self.now + LINK_PS;
        packet.previous = self.now;
        packet.arrived = self.now + TERMINAL_PS + STAGE_PS;
        self.found[packet.id].0 = self.now;
        let id = odonata_units::NodeId(n as u32);
        let (router, slot) = (self.machine.router_of(id).index(), self.machine.slot_of(id) as usize);
        self.at(self.now + LINK_PS, Event::Look);
        self.at(packet.arrived, Event::Arrive(router, slot));
        self.ports[router][slot].wire.push_back(packet);
    }

    /// Decides about the head of an input channel.
    fn route(&mut self, r: usize, port: usize, vc: usize) {
        let router = RouterId(r as u32);
        let mut packet = self.ports[r][port].inputs[vc][0].clone();
        let destination = packet.header.destination;
        if self.machine.router_of(destination) == router {
            packet.feedback = self.routing.feedback_at_destination(router, &packet.header);
            packet.port = self.machine.slot_of(destination) as usize;
            packet.vc = vc;
        } else {
            let loads = Loads(&self.ports[r]);
            let (random, memory) = (&mut self.random[r], &self.memory[r]);
            let mut decision = Decision { router, load: &loads, random, memory, feedback: None };
            let hop = self.routing.decide(&mut decision, &mut packet.header);
            packet.feedback = decision.feedback;
            packet.port = usize::from(hop.port);
            packet.vc = usize::from(hop.vc);
        }
        packet.decided = true;
        self.ports[r][port].inputs[vc][0] = packet;
    }

    fn arbitrate(&mut self, r: usize, o: usize) -> bool {
        let ports = &self.ports[r];
        if ports[o].output_free > self.now {
            return false;
        }
        let fits = |i: usize, vc: usize| {
            let head = ports[i].inputs[vc].front();
            ports[i].input_free <= self.now
                && head.is_some_and(|p| p.port == o && (ports[o].outputs[p.vc].len() as u64 + 1) * PACKET <= BUFFER)
        };
        let candidates = ports[o].order.iter().flat_map(|&i| (0..self.channels).map(move |vc| (i, vc)));
        let Some((i, vc)) = candidates.into_iter().find(|&(i, vc)| fits(i, vc)) else { return false };
        self.grant(r, o, i, vc);
        true
    }

    fn grant(&mut self, r: usize, o: usize, i: usize, vc: usize) {
        let packet = self.ports[r][i].inputs[vc].pop_front().unwrap();
        let until = self.now + CROSSBAR_PS;
        self.ports[r][i].input_free = until;
        self.ports[r][o].output_free = until;
        self.ports[r][o].order.retain(|&other| other != i);
        self.ports[r][o].order.push(i);
        self.at(until, Event::Look);
        let nodes = self.machine.nodes_of(RouterId(r as u32));
        if let Some(node) = nodes.get(i) {
            self.at(self.now + TERMINAL_PS, Event::NodeCredit(node.index()));
        } else {
            let link = self.link(r, i);
            let back = self.machine.reverse(link);
            let (from, port) = (self.machine.target(link).index(), self.machine.port(back) as usize);
            let at = self.now + self.machine.latency(link).ps();
            self.at(at, Event::Credit(from, port, vc));
            if let Some(estimate_ns) = packet.feedback {
                self.feedback.push((
                    from,
                    port,
                    Feedback {
                        source: packet.header.source,
                        destination: packet.header.destination,
                        elapsed_ns: (packet.arrived - packet.previous) as f32 / 1e3,
                        estimate_ns,
                    },
                ));
                self.at(at, Event::Learn(self.feedback.len() - 1));
            }
        }
        self.ports[r][o].outputs[packet.vc].push_back(packet);
        if !self.ports[r][i].inputs[vc].is_empty() {
            self.route(r, i, vc);
        }
    }

    fn link(&self, r: usize, port: usize) -> LinkId {
        let router = RouterId(r as u32);
        LinkId((self.machine.links_from(router).start + port - self.machine.nodes_of(router).len()) as u32)
    }

    fn send(&mut self, r: usize, o: usize) -> bool {
        let nodes = self.machine.nodes_of(RouterId(r as u32));
        let to_node = nodes.get(o).copied();
        let port = &mut self.ports[r][o];
        if port.link_free > self.now {
            return false;
        }
        let turns = (0..self.channels).map(|k| (port.next_vc + k) % self.channels);
        let ready = |&vc: &usize| !port.outputs[vc].is_empty() && (to_node.is_some() || port.credits[vc] >= PACKET);
        let Some(vc) = turns.into_iter().find(ready) else { return false };
        let mut packet = port.outputs[vc].pop_front().unwrap();
        port.next_vc = vc + 1;
        port.link_free = self.now + LINK_PS;
        if to_node.is_some() {
            let state = packet.header.state;
            let found = &mut self.found[packet.id];
            *found = (found.0, self.now + STAGE_PS + TERMINAL_PS + LINK_PS, state.hops, state.non_minimal);
        } else {
            port.credits[vc] -= PACKET;
            let link = self.link(r, o);
            packet.decided = false;
            packet.previous = packet.arrived;
            packet.arrived = self.now + STAGE_PS + self.machine.latency(link).ps() + STAGE_PS;
            packet.header.state.hops += 1;
            packet.header.state.vc = vc as u8;
            let to = (self.machine.target(link).index(), self.machine.port(self.machine.reverse(link)) as usize);
            self.at(packet.arrived, Event::Arrive(to.0, to.1));
            self.ports[to.0][to.1].wire.push_back(packet);
        }
        self.at(self.now + LINK_PS, Event::Look);
        true
    }
}

/// Runs the engine until everything made in the first `us` microseconds has arrived, then the twin on the same packets.
fn compare(routing: &str, adversary: bool, load: f64, us: u64) {
    let machine = small_dragonfly();
    let destinations = if adversary { adversarial(72, 8, 1) } else { uniform(72) };
    compare_on(&machine, destinations, routing, load, us);
}

fn compare_on(machine: &Machine, destinations: Arc<dyn Destinations>, routing: &str, load: f64, us: u64) {
    let step = |us: u64, load: f64| LoadStep { from: Time::from_us(us), load };
    let traffic = Traffic::Open(vec![OpenJob {
        nodes: machine.nodes().collect(),
        destinations,
        steps: vec![step(0, load), step(us, 0.0)],
        injection: Injection::Bernoulli,
        burst: 1,
    }]);
    let recording = Recording { packets: true, ..Recording::default() };
    let options = RunOptions { recording, seed: 5, ..RunOptions::default() };
    let result = common::run(&engine(machine, routing), &traffic, schedule(0, us, 1_000), &options);
    assert_eq!(result.jobs[0].packets, result.jobs[0].injected_packets);
    let twin = Twin::new(machine, routing, 5, &result.packets).run();
    let mut ordered: Vec<(PacketRecord, (u64, u64, u8, bool))> = result.packets.iter().copied().zip(twin).collect();
    ordered.sort_by_key(|(p, _)| p.inject_ps);
    for (p, found) in ordered {
        assert_eq!((p.inject_ps, p.arrival_ps, p.hops, p.non_minimal), found, "{routing}: first difference, {p:?}");
    }
}

/// A torus and a fat tree, heavily loaded: dateline channels, promised room, ways up and down.
#[test]
fn every_packet_on_other_machines_moves_as_in_the_twin() {
    let figures = LinkFigures::new(25_000_000_000, 30);
    let torus = Torus {
        dims: vec![5, 4],
        wrap: vec![true; 2].into(),
        nodes_per_router: 2,
        local: figures,
        terminal: LinkFigures::new(25_000_000_000, 10),
        ..Torus::default()
    };
    let machine = torus.builder().unwrap().build().unwrap();
    compare_on(&machine, uniform(40), "dimension-order", 0.6, 3);
    compare_on(&machine, uniform(40), "torus-adaptive", 0.8, 3);
    let tree = FatTree { k: 4, local: figures, global: figures, ..FatTree::default() };
    let machine = tree.builder().unwrap().build().unwrap();
    compare_on(&machine, uniform(16), "up-down", 0.7, 3);
    compare_on(&machine, uniform(16), "up-down-adaptive", 0.7, 3);
}

#[test]
fn every_packet_of_min_and_valiant_moves_as_in_the_twin() {
    compare("min", false, 0.7, 3);
    compare("min", true, 0.4, 3);
    compare("valiant-g", true, 0.6, 3);
    compare("valiant-n", false, 0.6, 3);
}

#[test]
fn every_packet_of_adaptive_algorithms_moves_as_in_the_twin() {
    compare("ugal-g", true, 0.5, 3);
    compare("ugal-n", false, 0.8, 3);
    compare("par", true, 0.5, 3);
}

#[test]
fn every_packet_of_q_adaptive_moves_as_in_the_twin() {
    compare("q-adaptive", true, 0.4, 4);
    compare("q-adaptive", false, 0.8, 3);
}
