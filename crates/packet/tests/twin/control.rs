//! The twin's congestion control, with lists that are searched in full.

use super::nodes::per_node;
use super::parts::{in_network, Packet};
use super::{Event, Twin};
use odonata_packet::{ControlName, OutgoingPacket, WindowRule};
use std::collections::BTreeMap;

/// Order of notices that arrive at one time from one port.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Kind {
    Ack,
    MarkedAck,
    Hold,
    Credit,
    Release,
}

#[derive(Clone, Debug)]
struct Pair {
    window: u64,
    most: u64,
    round_trip: u64,
    in_flight: u64,
    held: bool,
    credit: i64,
    departed: u64,
    starts: bool,
    acknowledged: u64,
    marked: u64,
    share: f64,
}

/// A NIC: its pairs, its waiting packets in the order in which it took them, and the notices in flight.
#[derive(Clone, Default)]
struct NicState {
    pairs: BTreeMap<usize, Pair>,
    waiting: Vec<(OutgoingPacket, usize)>,
    notices: Vec<(u64, usize, Kind, u64)>,
}

/// Held sources of an ejection port in turn, each with its credits: expiry and unused bytes.
type Turns = Vec<(usize, Vec<(u64, u64)>)>;

#[derive(Default)]
pub(super) struct Control {
    nics: Vec<NicState>,
    ports: BTreeMap<usize, Turns>,
}

impl Twin<'_> {
    pub(super) fn has_control(&self) -> bool {
        self.settings.control.is_on()
    }

    /// Fastest idle latency between routers, by relaxing all links until nothing changes.
    fn between(&self, from: usize, to: usize) -> u64 {
        let mut latency = vec![u64::MAX; self.ports.len()];
        latency[from] = 0;
        let pipelines = (self.settings.output_latency + self.settings.input_latency).ps();
        loop {
            let mut changed = false;
            for link in self.machine.links() {
                let [a, b] = [self.machine.source(link).index(), self.machine.target(link).index()];
                let through = latency[a].saturating_add(self.machine.latency(link).ps() + pipelines);
                if through < latency[b] {
                    (latency[b], changed) = (through, true);
                }
            }
            if !changed {
                return latency[to];
            }
        }
    }

    /// Latency from the router of NIC `from` to NIC `to`.
    fn back(&self, from: usize, to: usize) -> u64 {
        let (a, b) = (&self.nodes[from], &self.nodes[to]);
        self.between(a.router, b.router) + self.settings.output_latency.ps() + self.cable(b.router, b.port)
    }

    fn latency(&self, from: usize, to: usize) -> u64 {
        let node = &self.nodes[from];
        self.cable(node.router, node.port) + self.settings.input_latency.ps() + self.back(from, to)
    }

    fn full_time(&self, nic: usize) -> u64 {
        self.link_time(self.nodes[nic].router, self.nodes[nic].port, self.settings.packet.0)
    }

    fn round_trip(&self, source: usize, destination: usize, served: usize) -> u64 {
        self.latency(source, destination) + self.latency(destination, source) + self.full_time(served)
    }

    fn nic_of(&self, packet: &OutgoingPacket) -> usize {
        let found = self.nodes.iter().position(|node| node.node == packet.destination).unwrap();
        assert_eq!(per_node(self.settings), 1);
        found
    }

    /// Bytes in the router of NIC `nic` for its port.
    fn queued(&self, nic: usize) -> u64 {
        let (r, destination) = (self.nodes[nic].router, self.nodes[nic].node);
        let of = |port: &super::Port| {
            let packets = port.inputs.iter().chain(&port.outputs).flatten();
            packets.filter(|packet| packet.header.destination == destination).map(Packet::size).sum::<u64>()
        };
        self.ports[r].iter().map(of).sum()
    }

    fn send_notice(&mut self, (port, source): (usize, usize), at: u64, kind: Kind, bytes: u64) {
        self.control.nics.resize(self.nodes.len(), NicState::default());
        self.control.nics[source].notices.push((at, port, kind, bytes));
        self.at(at, Event::Node(source));
    }

    fn notice(&mut self, port: usize, source: usize, kind: Kind, bytes: u64) {
        self.send_notice((port, source), self.now + self.back(port, source), kind, bytes);
    }

    /// A packet has joined a queue of router `r`.
    pub(super) fn control_arrival(&mut self, r: usize, packet: &Packet) {
        if !self.has_control() {
            return;
        }
        let nic = self.nic_of(&packet.what);
        if self.nodes[nic].router != r || self.settings.control.name != ControlName::Pair {
            return;
        }
        let source = self.nodes.iter().position(|node| node.node == packet.header.source).unwrap();
        let is_over = self.queued(nic) > self.settings.control.q_hi.0;
        let turns = self.control.ports.entry(nic).or_default();
        if let Some((_, credits)) = turns.iter_mut().find(|(other, _)| *other == source) {
            let mut size = packet.size();
            for (_, unused) in credits {
                let used = size.min(*unused);
                (size, *unused) = (size - used, *unused - used);
            }
        } else if is_over {
            turns.push((source, Vec::new()));
            self.notice(nic, source, Kind::Hold, 0);
        }
    }

    /// A packet has left a queue of `queued` bytes at the port of NIC `nic`, and is delivered at `delivered`.
    pub(super) fn control_departure(&mut self, nic: usize, packet: &Packet, delivered: u64) {
        if !self.has_control() {
            return;
        }
        let control = &self.settings.control;
        let queued = self.queued(nic) + packet.size();
        let is_window = control.name == ControlName::Window;
        let is_marked = is_window && (packet.is_marked || queued > control.mark_above.0);
        let source = self.nodes.iter().position(|node| node.node == packet.header.source).unwrap();
        let kind = if is_marked { Kind::MarkedAck } else { Kind::Ack };
        self.send_notice((nic, source), delivered + self.latency(nic, source), kind, packet.size());
        self.serve(nic, true);
    }

    /// Serves the idle ports of a router whose credits have expired.
    pub(super) fn serve_idle(&mut self, r: usize) {
        let nics: Vec<usize> = self.control.ports.keys().copied().filter(|&nic| self.nodes[nic].router == r).collect();
        for nic in nics {
            let first = self.control.ports[&nic].iter().flat_map(|(_, credits)| credits).map(|(until, _)| *until).min();
            if self.queued(nic) == 0 && first.is_some_and(|until| until <= self.now) {
                self.serve(nic, false);
            }
        }
    }

    fn serve(&mut self, nic: usize, departed: bool) {
        let Some(mut turns) = self.control.ports.remove(&nic) else { return };
        let (now, settings) = (self.now, self.settings);
        let (control, full, queued) = (&settings.control, settings.packet.0, self.queued(nic));
        let mut released: Vec<usize> = Vec::new();
        turns.retain(|(source, credits)| {
            let is_unused = credits.iter().any(|&(until, unused)| until <= now && unused > 0);
            released.extend(is_unused.then_some(*source));
            !is_unused
        });
        if departed && queued < control.q_lo.0 && !turns.is_empty() {
            released.push(turns.remove(0).0);
        }
        released.into_iter().for_each(|source| self.notice(nic, source, Kind::Release, 0));
        for (_, credits) in &mut turns {
            credits.retain(|(until, _)| *until > now);
        }
        while !turns.is_empty() {
            let granted: u64 = turns.iter().flat_map(|(_, credits)| credits).map(|(_, unused)| unused).sum();
            let trips: u64 = turns.iter().map(|(source, _)| self.round_trip(*source, nic, nic)).sum();
            let credited = full * (trips / turns.len() as u64) / self.full_time(nic);
            if queued + granted >= (control.q_lo.0 + control.q_hi.0) / 2 + credited {
                break;
            }
            let (source, mut credits) = turns.remove(0);
            let (until, bytes) = (now + 2 * self.round_trip(source, nic, nic), full * u64::from(control.credit));
            credits.push((until, bytes));
            turns.push((source, credits));
            self.notice(nic, source, Kind::Credit, bytes);
            self.at(until, Event::Look(self.nodes[nic].router));
        }
        self.control.ports.insert(nic, turns);
    }

    /// The packet that NIC `nic` may send now, if there is one.
    pub(super) fn take_controlled(&mut self, nic: usize) -> Option<OutgoingPacket> {
        self.control.nics.resize(self.nodes.len(), NicState::default());
        let mut state = std::mem::take(&mut self.control.nics[nic]);
        let found = self.choose(nic, &mut state);
        if let Some(packet) = &found {
            let size = in_network(self.settings, packet.size);
            let pair = state.pairs.get_mut(&self.nic_of(packet)).unwrap();
            pair.in_flight += size;
            pair.credit -= if pair.held { size as i64 } else { 0 };
            pair.departed = self.now;
        }
        self.control.nics[nic] = state;
        found
    }

    fn choose(&mut self, nic: usize, state: &mut NicState) -> Option<OutgoingPacket> {
        state.notices.sort_unstable();
        while state.notices.first().is_some_and(|notice| notice.0 <= self.now) {
            let (at, port, kind, bytes) = state.notices.remove(0);
            if let Some(pair) = state.pairs.get_mut(&port).filter(|pair| !is_idle(pair, at)) {
                self.apply(pair, kind, bytes);
            }
        }
        let ready =
            |(packet, to): &(OutgoingPacket, usize)| may_send(&state.pairs[to], in_network(self.settings, packet.size));
        // Only the first packet of each destination may go.
        let is_first = |i: usize| state.waiting[..i].iter().all(|other| other.1 != state.waiting[i].1);
        if let Some(i) = (0..state.waiting.len()).find(|&i| is_first(i) && ready(&state.waiting[i])) {
            let (packet, _) = state.waiting.remove(i);
            self.endpoints.release(nic as u32, packet.job, self.now);
            return Some(packet);
        }
        while self.endpoints.next_created_ps(nic as u32).is_some_and(|created| created <= self.now) {
            let packet = self.endpoints.take(nic as u32, self.now);
            let (to, size) = (self.nic_of(&packet), in_network(self.settings, packet.size));
            if state.pairs.get(&to).is_none_or(|pair| is_idle(pair, self.now)) {
                state.pairs.insert(to, self.new_pair(nic, to));
            }
            if may_send(&state.pairs[&to], size) && state.waiting.iter().all(|other| other.1 != to) {
                return Some(packet);
            }
            self.endpoints.hold(nic as u32, packet.job);
            state.waiting.push((packet, to));
        }
        None
    }

    fn new_pair(&self, nic: usize, to: usize) -> Pair {
        let (control, round_trip) = (&self.settings.control, self.round_trip(nic, to, nic));
        let trips = if control.name == ControlName::Pair { 2 } else { 1 };
        let of_pair = trips * round_trip.div_ceil(self.full_time(nic)) * self.settings.packet.0;
        let most = control.window.map_or(of_pair, |window| window.0);
        let fixed = control.name == ControlName::Window && control.rule == WindowRule::Fixed;
        Pair {
            window: if fixed { most } else { control.first_window.0.min(most) },
            most,
            round_trip,
            in_flight: 0,
            held: false,
            credit: 0,
            departed: 0,
            starts: true,
            acknowledged: 0,
            marked: 0,
            share: 1.0,
        }
    }

    fn apply(&self, pair: &mut Pair, kind: Kind, bytes: u64) {
        let (control, full) = (&self.settings.control, self.settings.packet.0);
        let was_full = 2 * pair.in_flight > pair.window;
        let is_marked = kind == Kind::MarkedAck;
        match kind {
            Kind::Hold => (pair.held, pair.credit) = (true, 0),
            Kind::Credit => pair.credit += bytes as i64,
            Kind::Release => (pair.held, pair.window) = (false, control.first_window.0),
            Kind::Ack | Kind::MarkedAck => pair.in_flight -= bytes,
        }
        if kind > Kind::MarkedAck || control.name == ControlName::Window && control.rule == WindowRule::Fixed {
            return;
        }
        if control.name == ControlName::Pair {
            if !is_marked && !pair.held && was_full {
                pair.window = (pair.window + bytes).min(pair.most);
            }
            return;
        }
        pair.acknowledged += bytes;
        if is_marked {
            pair.marked += bytes;
            pair.starts = false;
        } else if pair.starts && was_full {
            pair.window = (pair.window + bytes).min(pair.most);
        }
        if pair.acknowledged >= pair.window {
            let share = pair.marked as f64 / pair.acknowledged as f64;
            pair.share = (1.0 - control.gain) * pair.share + control.gain * share;
            if pair.marked > 0 {
                pair.window = ((pair.window as f64 * (1.0 - pair.share / 2.0)) as u64).max(full);
            } else if !pair.starts && was_full {
                pair.window = (pair.window + full).min(pair.most);
            }
            (pair.acknowledged, pair.marked) = (0, 0);
        }
    }
}

fn may_send(pair: &Pair, size: u64) -> bool {
    if pair.held {
        return pair.credit > 0;
    }
    pair.in_flight == 0 || pair.in_flight + size <= pair.window
}

fn is_idle(pair: &Pair, now: u64) -> bool {
    pair.in_flight == 0 && !pair.held && pair.departed + pair.round_trip < now
}
