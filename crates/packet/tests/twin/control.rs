//! The twin's congestion control, with lists that are searched in full.

use super::control_packets::{ControlPacket, NicPackets};
use super::nodes::per_node;
use super::parts::{in_network, Packet};
use super::rules::{new_pair, Pair};
use super::{Event, Twin};
use odonata_packet::{ControlName, ControlPacketCount, ControlRule, OutgoingPacket};
use std::collections::BTreeMap;

/// Order of notices that arrive at one time from one port.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    Ack,
    MarkedAck,
    Hold,
    Credit,
    Release,
    Backoff,
}

/// Arrival, port, kind, bytes or number of sources, and delay or pause.
pub(super) type Notice = (u64, usize, Kind, u64, u64);

/// A NIC: its pairs, its waiting packets in the order in which it took them, and the notices in flight.
#[derive(Clone, Default)]
struct NicState {
    pairs: BTreeMap<usize, Pair>,
    waiting: Vec<(OutgoingPacket, usize)>,
    notices: Vec<Notice>,
}

/// Held sources of an ejection port in turn, each with its credits: expiry and unused bytes.
type Turns = Vec<(usize, Vec<(u64, u64)>)>;

#[derive(Default)]
pub(super) struct Control {
    nics: Vec<NicState>,
    ports: BTreeMap<usize, Turns>,
    /// `merlin`: whether a port slows its sources, and these sources.
    listed: BTreeMap<usize, (bool, Vec<ListedSource>)>,
    /// Job of the last packet that arrived for a port, and control packets by NIC.
    jobs: BTreeMap<usize, u16>,
    pub(super) packets: BTreeMap<usize, NicPackets>,
    pub(super) sent: ControlPacketCount,
}

/// A source that has sent to a port: the last value that it got, when its last packet arrived, and when to look at it again.
#[derive(Clone, Copy)]
struct ListedSource {
    source: usize,
    known: u64,
    seen: u64,
    expires: u64,
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
        self.queued_from(r, destination, 0)
    }

    /// Bytes of packets of at least `size_min` bytes in a router for a node.
    fn queued_from(&self, r: usize, destination: odonata_units::NodeId, size_min: u64) -> u64 {
        let of = |port: &super::Port| {
            let packets = port.inputs.iter().chain(&port.outputs).flatten();
            let data = packets.filter(|p| p.header.destination == destination && p.notice.is_none());
            let counted = data.filter(|p| p.size() >= size_min);
            counted.map(Packet::size).sum::<u64>()
        };
        self.ports[r].iter().map(of).sum()
    }

    /// Whether a packet that leaves a queue of `queued` bytes gets a mark: surely from `mark_full` on, and before by the
    /// hash that the engine uses.
    pub(super) fn marks(&self, queued: u64, injected: u64, source: odonata_units::NodeId) -> bool {
        let control = &self.settings.control;
        let (above, full) = (control.mark_above.0, control.mark_full.unwrap_or(control.mark_above).0);
        if control.name != ControlName::Window || queued <= above {
            return false;
        }
        let mut hash = injected ^ u64::from(source.0) << 32 ^ queued;
        for (shift, factor) in [(30, 0xbf58_476d_1ce4_e5b9u64), (27, 0x94d0_49bb_1331_11eb)] {
            hash = (hash ^ hash >> shift).wrapping_mul(factor);
        }
        queued >= full || (hash ^ hash >> 31) % (full - above) < queued - above
    }

    /// Adds a notice that arrives later at NIC `source`.
    pub(super) fn add_notice(&mut self, source: usize, notice: Notice) {
        self.control.nics.resize(self.nodes.len(), NicState::default());
        self.control.nics[source].notices.push(notice);
        self.at(notice.0, Event::Node(source));
    }

    /// A notice of a port: its NIC learns of it as soon as a packet from there could reach it, and may send a packet then.
    fn notice(&mut self, port: usize, source: usize, kind: Kind, bytes: u64, pause: u64) {
        let node = &self.nodes[port];
        let ready = self.now + self.settings.output_latency.ps() + self.cable(node.router, node.port);
        let (content, job) = ((kind, bytes, pause), self.control.jobs[&port]);
        self.send_notice(port, ControlPacket { ready, to: source, content, job }, self.now + self.back(port, source));
    }

    /// A packet has joined a queue of router `r`.
    pub(super) fn control_arrival(&mut self, r: usize, packet: &Packet) {
        if !self.has_control() || packet.notice.is_some() {
            return;
        }
        let nic = self.nic_of(&packet.what);
        if self.nodes[nic].router != r || self.settings.control.name != ControlName::Pair {
            return;
        }
        self.control.jobs.insert(nic, packet.what.job);
        let source = self.nodes.iter().position(|node| node.node == packet.header.source).unwrap();
        if self.settings.control.rule() == ControlRule::Merlin {
            if packet.size() >= 128 {
                self.list(nic, source);
            }
            return;
        }
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
            self.notice(nic, source, Kind::Hold, 0, 0);
        }
    }

    /// A packet has left a queue of `queued` bytes at the port of NIC `nic`, and is delivered at `delivered`.
    pub(super) fn control_departure(&mut self, nic: usize, packet: &Packet, delivered: u64) {
        if !self.has_control() {
            return;
        }
        let queued = self.queued(nic) + packet.size();
        let is_marked = packet.is_marked || self.marks(queued, packet.injected, packet.header.source);
        let source = self.nodes.iter().position(|node| node.node == packet.header.source).unwrap();
        let kind = if is_marked { Kind::MarkedAck } else { Kind::Ack };
        let idle =
            self.latency(source, nic) + self.link_time(self.nodes[nic].router, self.nodes[nic].port, packet.size());
        let delay = delivered.saturating_sub(packet.injected + idle);
        let content = (kind, packet.size(), delay);
        let acknowledgement = ControlPacket { ready: delivered, to: source, content, job: packet.what.job };
        self.send_notice(nic, acknowledgement, delivered + self.latency(nic, source));
        if self.settings.control.rule() == ControlRule::Merlin {
            return self.free(nic);
        }
        self.serve(nic, true);
    }

    fn lifetime(&self, nic: usize, slows: bool, sources: usize) -> u64 {
        let factor = if slows { 5.0 } else { 1.5 };
        let mtu_time = 2_048.0 * self.full_time(nic) as f64 / f64::from(self.settings.packet.0 as u32);
        (factor * (sources + 1) as f64 * mtu_time) as u64
    }

    /// `merlin`: a counted packet of `source` has joined the router of `nic`.
    fn list(&mut self, nic: usize, source: usize) {
        let (mut slows, mut listed) = self.control.listed.remove(&nic).unwrap_or_default();
        let is_new = listed.iter().all(|other| other.source != source);
        if is_new {
            let expires = self.now + self.lifetime(nic, slows, listed.len() + 1);
            listed.push(ListedSource { source, known: 1, seen: self.now, expires });
        }
        listed.iter_mut().filter(|other| other.source == source).for_each(|other| other.seen = self.now);
        let (control, node) = (&self.settings.control, &self.nodes[nic]);
        let is_long = self.queued_from(node.router, node.node, 128) >= control.q_hi.0;
        let starts = !slows && is_long && listed.len() >= control.sources_min as usize;
        if starts || slows && is_new {
            slows = true;
            let pause = 4 * self.queued(nic) * self.full_time(nic) / self.settings.packet.0;
            let rest = self.now + pause + self.lifetime(nic, slows, listed.len());
            listed.iter_mut().for_each(|other| other.expires = other.expires.max(rest));
            self.notify_sources(nic, &mut listed, None, pause);
        }
        self.control.listed.insert(nic, (slows, listed));
    }

    /// Notifies sources of their number, or of another value.
    fn notify_sources(&mut self, nic: usize, listed: &mut [ListedSource], value: Option<u64>, pause: u64) {
        let value = value.unwrap_or(listed.len() as u64);
        for other in listed.iter_mut().filter(|other| other.known != value) {
            other.known = value;
            self.notice(nic, other.source, Kind::Backoff, value, pause);
        }
    }

    /// `merlin`: a packet has left for `nic`.
    fn free(&mut self, nic: usize) {
        let Some((mut slows, listed)) = self.control.listed.remove(&nic) else { return };
        let lifetime = self.lifetime(nic, slows, listed.len());
        let is_active = |other: &ListedSource| other.expires > self.now || other.seen + lifetime > self.now;
        let (mut kept, mut gone): (Vec<ListedSource>, Vec<ListedSource>) = listed.into_iter().partition(is_active);
        for other in kept.iter_mut().filter(|other| other.expires <= self.now) {
            other.expires = other.seen + lifetime;
        }
        let some_left = !gone.is_empty();
        self.notify_sources(nic, &mut gone, Some(1), 0);
        if some_left && slows {
            slows = kept.len() >= self.settings.control.sources_min as usize;
            self.notify_sources(nic, &mut kept, if slows { None } else { Some(1) }, 0);
        }
        self.control.listed.insert(nic, (slows, kept));
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
        released.into_iter().for_each(|source| self.notice(nic, source, Kind::Release, 0, 0));
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
            self.notice(nic, source, Kind::Credit, bytes, 0);
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
            pair.depart(&self.settings.control, size, self.now);
        }
        // Packets that wait for a time only.
        let times: Vec<u64> = state.waiting.iter().map(|(_, to)| state.pairs[to].earliest).collect();
        for at in times {
            if at > self.now {
                self.at(at, Event::Node(nic));
            }
        }
        self.control.nics[nic] = state;
        found
    }

    fn choose(&mut self, nic: usize, state: &mut NicState) -> Option<OutgoingPacket> {
        let control = &self.settings.control;
        state.notices.sort_unstable();
        while state.notices.first().is_some_and(|notice| notice.0 <= self.now) {
            let notice = state.notices.remove(0);
            let waits = state.waiting.iter().any(|(_, to)| *to == notice.1);
            let pair = state.pairs.get_mut(&notice.1).filter(|pair| waits || !pair.is_idle(control, notice.0));
            pair.into_iter().for_each(|pair| pair.apply(control, &notice));
        }
        let ready = |(packet, to): &(OutgoingPacket, usize)| {
            state.pairs[to].may_send(in_network(self.settings, packet.size), self.now)
        };
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
            let waits = state.waiting.iter().any(|other| other.1 == to);
            if !waits && state.pairs.get(&to).is_none_or(|pair| pair.is_idle(control, self.now)) {
                state.pairs.insert(to, self.new_pair(nic, to));
            }
            if !waits && state.pairs[&to].may_send(size, self.now) {
                return Some(packet);
            }
            self.endpoints.hold(nic as u32, packet.job);
            state.waiting.push((packet, to));
        }
        None
    }

    fn new_pair(&self, nic: usize, to: usize) -> Pair {
        let control = &self.settings.control;
        // Maximum window in halves of a round trip; 0 for no limit.
        let halves = match control.rule() {
            ControlRule::Credit => 4,
            ControlRule::Fixed | ControlRule::Dctcp => 2,
            ControlRule::Nscc => 3,
            ControlRule::Merlin | ControlRule::Dcqcn | ControlRule::Cct => 0,
        };
        let limits = [self.round_trip(nic, to, nic), self.full_time(nic), halves];
        new_pair(control, limits, self.settings.packet.0, self.now)
    }
}
