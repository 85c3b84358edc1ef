//! The slow twin: the same model, written plainly.
//!
//! It has one binary heap and an event for every credit, arrival and end of a transfer. Queues contain copies, and
//! least-recently-used lists are lists. At every instant it looks at every output of every router with an event, and
//! asks all endpoints again. It shares only the routing algorithms with the engine.

pub mod cases;
pub mod chatter;
mod control;
mod control_packets;
mod lines;
mod nodes;
mod parts;
mod queues;
mod rules;
mod waits;

use nodes::{per_node, Node};
use odonata_machine::Machine;
use odonata_packet::{Arbitration, Endpoints, PacketEngine, PacketRecord, PacketSettings, QueueEstimate};
use odonata_routing::algorithm::{Decision, Feedback, Memory, ReceivedReport, RouterReport, Routing, RoutingChoice};
use odonata_routing::deadlock;
use odonata_routing::next_hop::NextHops;
use odonata_units::{Bytes, LinkId, Rate, RouterId, Stream};
use parts::{Loads, Packet, Port, TwinResult};
pub use queues::Queues;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};
pub use waits::Waits;

/// Event at a time. The order of the variants is the order within one time.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Event {
    /// A credit for a packet returns to (router, port, vc, bytes).
    Credit(usize, usize, usize, u64),
    /// A credit returns to a NIC.
    NodeCredit(usize, u64),
    /// Feedback number n reaches a router.
    Learn(usize),
    /// The next packet on the wire to (router, port).
    Arrive(usize, usize),
    /// A resource of a router becomes free: look again.
    Look(usize),
    /// An event of a node.
    Node(usize),
}

pub struct Twin<'a> {
    machine: &'a Machine,
    settings: &'a PacketSettings,
    routing: Box<dyn Routing>,
    channels: usize,
    /// Channel of the bubble rings, and these rings.
    bubble: Option<usize>,
    rings: Vec<Vec<LinkId>>,
    ports: Vec<Vec<Port>>,
    crossbar: Vec<Rate>,
    memory: Vec<Memory>,
    random: Vec<Stream>,
    nodes: Vec<Node>,
    endpoints: Box<dyn Endpoints>,
    events: BinaryHeap<Reverse<(u64, Event)>>,
    touched: BTreeSet<usize>,
    touched_nodes: BTreeSet<usize>,
    feedback: Vec<(usize, usize, Feedback)>,
    now: u64,
    found: Vec<PacketRecord>,
    waits: Waits,
    queues: Queues,
    control: control::Control,
}

impl<'a> Twin<'a> {
    /// Creates the twin of `engine`. `endpoints` belong to all NICs of the machine.
    pub fn new(
        machine: &'a Machine,
        settings: &'a PacketSettings,
        routing: &RoutingChoice,
        seed: u64,
        (engine, endpoints): (&PacketEngine, Box<dyn Endpoints>),
    ) -> Self {
        let hops = NextHops::new(machine).unwrap();
        let proven = deadlock::prove(routing, hops, 16);
        let routing = proven.unwrap_or_else(|error| panic!("{routing:?}: {error}")).routing;
        let channels = usize::from(routing.virtual_channels());
        let bubble = routing.rings().map(|rings| usize::from(rings.channel()));
        assert_eq!(channels, usize::from(engine.virtual_channels()));
        // As if channel 0 of input 0 had been served into channel 0.
        let order = |radix: usize| {
            let mut order: VecDeque<_> = (0..radix).flat_map(|i| (0..channels).map(move |vc| (i, vc))).collect();
            order.rotate_left(1);
            order
        };
        let port = |radix: usize| Port {
            inputs: vec![VecDeque::new(); channels],
            outputs: vec![VecDeque::new(); channels],
            credits: vec![settings.input_buffer.0; channels],
            beyond: vec![VecDeque::new(); channels],
            served: vec![0; channels],
            passed: vec![0; channels],
            turns: (0..channels).map(|vc| (vc + 1) % channels).collect(),
            order: vec![order(radix); channels],
            ..Port::default()
        };
        let nics_per_node = per_node(settings);
        let radix = |r: RouterId| machine.nodes_of(r).len() * nics_per_node + machine.links_from(r).len();
        let fastest = |r: RouterId| {
            let links = machine.links_from(r).map(|l| machine.bandwidth(LinkId::from_index(l)));
            let node = (!machine.nodes_of(r).is_empty()).then(|| machine.terminal().bandwidth);
            links.chain(node).max().unwrap_or(machine.terminal().bandwidth)
        };
        let nodes = Node::all(machine, settings, &engine.nics(seed), &*endpoints);
        Self {
            ports: machine.routers().map(|r| (0..radix(r)).map(|_| port(radix(r))).collect()).collect(),
            crossbar: machine.routers().map(|r| fastest(r).scaled(settings.crossbar_speedup)).collect(),
            memory: machine.routers().map(|r| routing.memory(r)).collect(),
            random: machine.routers().map(|r| Stream::new(seed, "routing", &[u64::from(r.0)])).collect(),
            nodes,
            endpoints,
            events: BinaryHeap::new(),
            touched: BTreeSet::new(),
            touched_nodes: BTreeSet::new(),
            feedback: Vec::new(),
            now: 0,
            found: Vec::new(),
            waits: Waits::new(),
            queues: Queues::new(),
            control: control::Control::default(),
            machine,
            settings,
            routing,
            channels,
            rings: if bubble.is_some() { lines::rings(machine) } else { Vec::new() },
            bubble,
        }
    }

    fn at(&mut self, time: u64, event: Event) {
        self.events.push(Reverse((time, event)));
    }

    /// Runs until no event is left. Returns all packets, sorted by record.
    pub fn run(self) -> Vec<PacketRecord> {
        self.run_with_queues().packets
    }

    /// Also returns what else the twin counts.
    pub fn run_with_queues(mut self) -> TwinResult {
        self.start();
        while let Some(Reverse((time, _))) = self.events.peek() {
            assert!(*time > self.now || self.now == 0, "every path takes time");
            let time = *time;
            self.wait(time);
            self.stand(time);
            self.now = time;
            while let Some(Reverse((time, _))) = self.events.peek() {
                if *time > self.now {
                    break;
                }
                let Reverse((_, event)) = self.events.pop().unwrap();
                self.handle(event);
            }
            while let Some(node) = self.touched_nodes.pop_first() {
                self.at_node(node);
            }
            while let Some(router) = self.touched.pop_first() {
                for port in 0..self.ports[router].len() {
                    let granted = self.arbitrate(router, port);
                    if self.send(router, port) && !granted {
                        self.arbitrate(router, port);
                    }
                }
                self.serve_idle(router);
            }
            self.check_rings();
        }
        self.endpoints.on_end(self.now);
        self.found.sort_unstable();
        let (packets, control_packets) = (self.found, self.control.sent);
        TwinResult { packets, waits: self.waits, queues: self.queues, control_packets }
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Credit(router, port, vc, bytes) => {
                self.ports[router][port].credits[vc] += bytes;
                self.ports[router][port].beyond[vc].pop_front();
                self.touched.insert(router);
            }
            Event::NodeCredit(nic, bytes) => {
                self.nodes[nic].credit += bytes;
                self.touched_nodes.insert(self.first_of(nic));
            }
            Event::Learn(n) => {
                let (router, port, feedback) = self.feedback[n];
                let port = port - self.extra(router);
                self.routing.learn(RouterId(router as u32), &mut self.memory[router], port as u16, &feedback);
            }
            Event::Arrive(router, port) => {
                let packet = self.ports[router][port].wire.pop_front().unwrap();
                let vc = usize::from(packet.header.state.vc);
                self.ports[router][port].inputs[vc].push_back(packet.clone());
                self.control_arrival(router, &packet);
                self.joined(router, port, vc);
                if self.ports[router][port].inputs[vc].len() == 1 {
                    self.route(router, port, vc);
                }
                self.touched.insert(router);
            }
            Event::Look(router) => {
                self.touched.insert(router);
            }
            Event::Node(nic) => {
                self.touched_nodes.insert(self.first_of(nic));
            }
        }
    }

    /// Ports of a router that the machine does not count.
    fn extra(&self, r: usize) -> usize {
        self.machine.nodes_of(RouterId(r as u32)).len() * (per_node(self.settings) - 1)
    }

    /// Ports of a router that lead to nodes.
    fn node_ports(&self, r: usize) -> usize {
        self.machine.nodes_of(RouterId(r as u32)).len() * per_node(self.settings)
    }

    fn rate(&self, r: usize, port: usize) -> Rate {
        if port < self.node_ports(r) {
            self.machine.terminal().bandwidth
        } else {
            self.machine.bandwidth(self.link(r, port))
        }
    }

    /// Time of `bytes` on the link of a port, in either direction.
    fn link_time(&self, r: usize, port: usize, bytes: u64) -> u64 {
        self.rate(r, port).serialisation_time(Bytes(bytes + self.settings.wire_overhead.0)).ps()
    }

    /// Time on the incoming link of a port. Torus FIFOs send at the rate of the router's fastest link.
    fn incoming_time(&self, r: usize, port: usize, bytes: u64) -> u64 {
        if port >= self.node_ports(r) || self.settings.injection.is_none() {
            return self.link_time(r, port, bytes);
        }
        let links = self.machine.links_from(RouterId(r as u32)).map(LinkId::from_index);
        let rate = links.map(|link| self.machine.bandwidth(link)).max().unwrap_or(self.machine.terminal().bandwidth);
        rate.serialisation_time(Bytes(bytes + self.settings.wire_overhead.0)).ps()
    }

    fn cable(&self, r: usize, port: usize) -> u64 {
        if port < self.node_ports(r) {
            self.machine.terminal().latency.ps()
        } else {
            self.machine.latency(self.link(r, port)).ps()
        }
    }

    /// The other end of a port that leads to a router.
    fn far(&self, r: usize, port: usize) -> (usize, usize) {
        let link = self.link(r, port);
        let far = self.machine.target(link).index();
        (far, self.machine.port(self.machine.reverse(link)) as usize + self.extra(far))
    }

    /// Decides the output of the head of an input channel.
    fn route(&mut self, r: usize, port: usize, vc: usize) {
        let router = RouterId(r as u32);
        let mut packet = self.ports[r][port].inputs[vc][0].clone();
        let destination = packet.header.destination;
        let (extra, from_node) = (self.extra(r), port < self.node_ports(r));
        let on_wire = self.on_wire(r);
        let loads = Loads { ports: &self.ports[r], on_wire, settings: self.settings, extra };
        let mut decision = Decision::new(router, &loads, &mut self.random[r], &mut self.memory[r]);
        decision.now_ps = self.now;
        if !from_node {
            decision.received =
                packet.report.map(|report| ReceivedReport { port: (port - extra) as u16, note: report.note });
        }
        if self.machine.router_of(destination) == router {
            self.routing.report_arrival(&mut decision, &packet.header);
            packet.report = decision.report;
            packet.port =
                self.machine.slot_of(destination) as usize * per_node(self.settings) + usize::from(packet.what.nic);
            packet.vc = vc;
        } else {
            let hop = self.routing.decide(&mut decision, &mut packet.header);
            packet.report = decision.report;
            packet.port = usize::from(hop.port) + extra;
            packet.vc = usize::from(hop.vc);
        }
        packet.decided = true;
        let whole = Some(packet.vc) == self.bubble && packet.port >= self.node_ports(r);
        packet.room = if whole { self.settings.packet.0 } else { packet.size() };
        let enters = whole && self.enters(r, (port, vc), packet.port);
        packet.needs = packet.room + if enters { self.settings.packet.0 } else { 0 };
        self.ports[r][port].inputs[vc][0] = packet;
    }

    /// Whether a packet from input channel `from` enters a ring by output `o`.
    fn enters(&self, r: usize, from: (usize, usize), o: usize) -> bool {
        let out = self.link(r, o);
        if lines::ahead(self.machine, out).is_none() {
            return false;
        }
        let came = (from.0 >= self.node_ports(r)).then(|| self.machine.reverse(self.link(r, from.0)));
        Some(from.1) != self.bubble || came.and_then(|link| lines::ahead(self.machine, link)) != Some(out)
    }

    /// Checks that each ring has space for another packet. Packets on wires count at their destination.
    fn check_rings(&self) {
        let full = self.settings.packet.0;
        let vc = self.bubble.unwrap_or(0);
        for ring in &self.rings {
            let (mut packets, mut room) = (0, 0);
            for &link in ring {
                let r = self.machine.source(link).index();
                let o = self.machine.port(link) as usize + self.extra(r);
                let (far, input) = self.far(r, o);
                let there = &self.ports[far][input];
                let on_wire = there.wire.iter().filter(|p| usize::from(p.header.state.vc) == vc).count();
                packets += self.ports[r][o].outputs[vc].len() + on_wire + there.inputs[vc].len();
                room += (self.settings.output_buffer.0 / full + self.settings.input_buffer.0 / full) as usize;
            }
            assert!(packets < room, "a ring of {room} packets is full");
        }
    }

    /// Bytes on the wires that leave a router, by port and channel; only if the estimate needs them.
    fn on_wire(&self, r: usize) -> Vec<Vec<u64>> {
        let mut bytes = vec![vec![0; self.channels]; self.ports[r].len()];
        if self.settings.estimate == QueueEstimate::DownstreamArrived {
            for (port, bytes) in bytes.iter_mut().enumerate().skip(self.node_ports(r)) {
                let (far, input) = self.far(r, port);
                for packet in self.ports[far][input].wire.iter().filter(|p| p.arrived > self.now) {
                    bytes[usize::from(packet.header.state.vc)] += packet.took;
                }
            }
        }
        bytes
    }

    fn arbitrate(&mut self, r: usize, o: usize) -> bool {
        let ports = &self.ports[r];
        if ports[o].output_free > self.now {
            return false;
        }
        let room = self.settings.output_buffer.0;
        let fits = |i: usize, vc: usize| {
            let head = ports[i].inputs[vc].front();
            ports[i].input_free <= self.now
                && head.is_some_and(|p| p.port == o && ports[o].queued(p.vc) + p.needs <= room)
        };
        let chosen = match self.settings.arbitration {
            Arbitration::LeastRecentlyUsed => (0..ports.len())
                .flat_map(|i| (0..self.channels).map(move |vc| (i, vc)))
                .filter(|&(i, vc)| fits(i, vc))
                .min_by_key(|&(i, vc)| (ports[i].served[vc], i, vc)),
            Arbitration::TransitFirst => (0..ports.len())
                .flat_map(|i| (0..self.channels).map(move |vc| (i, vc)))
                .filter(|&(i, vc)| fits(i, vc))
                .min_by_key(|&(i, vc)| {
                    let waited = self.settings.transit_limit.is_some_and(|limit| ports[i].passed[vc] >= limit);
                    (i < self.node_ports(r) && !waited, ports[i].served[vc], i, vc)
                }),
            Arbitration::RoundRobin => ports[o].turns.iter().find_map(|&into| {
                let wants = |i: usize, vc: usize| fits(i, vc) && ports[i].inputs[vc][0].vc == into;
                ports[o].order[into].iter().copied().find(|&(i, vc)| wants(i, vc))
            }),
        };
        let Some((i, vc)) = chosen else { return false };
        self.grant(r, o, i, vc);
        true
    }

    fn grant(&mut self, r: usize, o: usize, i: usize, vc: usize) {
        let mut packet = self.ports[r][i].inputs[vc].pop_front().unwrap();
        let until = self.now + self.crossbar[r].serialisation_time(Bytes(packet.size())).ps();
        self.ports[r][i].input_free = until;
        self.ports[r][o].output_free = until;
        self.ports[r][i].served[vc] = self.now;
        self.ports[r][i].passed[vc] = 0;
        if i >= self.node_ports(r) {
            for port in &mut self.ports[r] {
                for (head, passed) in port.inputs.iter().map(|queue| queue.front()).zip(&mut port.passed) {
                    *passed += u32::from(head.is_some_and(|head| head.port == o));
                }
            }
        }
        let Port { turns, order, .. } = &mut self.ports[r][o];
        while turns.back() != Some(&packet.vc) {
            turns.rotate_left(1);
        }
        while order[packet.vc].back() != Some(&(i, vc)) {
            order[packet.vc].rotate_left(1);
        }
        self.at(until, Event::Look(r));
        let last_byte = packet.arrived + self.incoming_time(r, i, packet.size());
        packet.ready = self.now.max(last_byte.saturating_sub(self.link_time(r, o, packet.size())));
        if packet.ready > self.now {
            self.at(packet.ready, Event::Look(r));
        }
        // No effect at another router in the same instant, over any cable.
        let at = self.now + self.cable(r, i).max(1);
        if i < self.node_ports(r) {
            packet.entered = self.now;
            self.at(at, Event::NodeCredit(self.nic(r, i), packet.size()));
        } else {
            let (from, port) = self.far(r, i);
            self.at(at, Event::Credit(from, port, vc, packet.took));
            if let Some(RouterReport { estimate_ns, note }) = packet.report {
                let feedback = Feedback {
                    source: packet.header.source,
                    destination: packet.header.destination,
                    elapsed_ns: (packet.arrived - packet.previous) as f32 / 1e3,
                    estimate_ns,
                    note,
                };
                self.feedback.push((from, port, feedback));
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
        LinkId((self.machine.links_from(router).start + port - self.node_ports(r)) as u32)
    }

    fn send(&mut self, r: usize, o: usize) -> bool {
        let to_node = o < self.node_ports(r);
        let port = &self.ports[r][o];
        if port.link_free > self.now {
            return false;
        }
        let mut turns = (0..self.channels).map(|k| (port.next_vc + k) % self.channels);
        let leaves = |&vc: &usize| {
            let head = port.outputs[vc].front();
            head.is_some_and(|p| p.ready <= self.now && (to_node || port.credits[vc] >= p.room))
        };
        let Some(vc) = turns.find(leaves) else { return false };
        let (latency, settings) = (self.cable(r, o), self.settings);
        let queued: u64 = self.ports[r][o].outputs.iter().flatten().map(|p| p.room).sum();
        let mut packet = self.ports[r][o].outputs[vc].pop_front().unwrap();
        packet.is_marked |= self.marks(queued, packet.injected, packet.header.source);
        let size = packet.size();
        let free = self.now + self.link_time(r, o, size);
        let port = &mut self.ports[r][o];
        (port.next_vc, port.link_free, port.sending) = (vc + 1, free, packet.what.job);
        let out = settings.output_latency.ps() + latency;
        if to_node {
            self.depart_to_node(self.nic(r, o), &packet, free + out);
        } else {
            port.credits[vc] -= packet.room;
            port.beyond[vc].push_back(packet.what.job);
            packet.took = packet.room;
            packet.decided = false;
            packet.previous = packet.arrived;
            packet.arrived = self.now + out + settings.input_latency.ps();
            packet.header.state.hops += 1;
            packet.header.state.vc = vc as u8;
            let to = self.far(r, o);
            packet.groups.push(self.machine.group_of(RouterId(to.0 as u32)));
            self.at(packet.arrived, Event::Arrive(to.0, to.1));
            self.ports[to.0][to.1].wire.push_back(packet);
        }
        self.at(free, Event::Look(r));
        true
    }

    pub(super) fn record(&mut self, packet: &Packet, delivered_ps: u64) {
        let state = packet.header.state;
        let group = |node| self.machine.group_of(self.machine.router_of(node));
        let ends = [group(packet.header.source), group(packet.header.destination)];
        let via_intermediate_group = packet.groups.iter().any(|group| !ends.contains(group));
        self.found.push(PacketRecord {
            delivered_ps,
            source: packet.header.source.0,
            destination: packet.header.destination.0,
            created_ps: packet.what.created_ps,
            injected_ps: packet.injected,
            job: packet.what.job,
            size: packet.bytes as u32,
            hops: state.hops,
            non_minimal: state.path_kind.is_non_minimal(),
            via_intermediate_group,
        });
    }
}
