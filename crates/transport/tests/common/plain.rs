//! The slow twin of ranks and NICs. Every rank is a list of acts, and everything that takes time is an event. It shares
//! only the expansion of collectives with the engine.

mod rank;

use odonata_checkpoint::{DecodeError, Reader, State, Writer};
use odonata_packet::{
    Activity, Arrival, Endpoints, Envelope, Nics, Offer, OutgoingPacket, Program, Socket, Subscription,
    UnfinishedEndpoint,
};
use odonata_transport::{MpiSettings, RankJob};
use odonata_units::{NodeId, Time};
use rank::{Act, PlainRank};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex};

const EAGER: u8 = 10;
const RENDEZVOUS_HEADER: u8 = 11;
const GET_REQUEST: u8 = 12;
const DATA: u8 = 13;
const ACKNOWLEDGEMENT: u8 = 14;
const ON_NODE: u8 = 15;
const ON_NODE_RECEIPT: u8 = 16;

/// Observations of the twin.
#[derive(Default)]
pub(crate) struct Observations {
    /// End and time in calls, by job and rank.
    pub(crate) ends: BTreeMap<(u16, u32), (u64, u64)>,
    /// Completed rounds at the end of the run, by job and rank.
    pub(crate) rounds: BTreeMap<(u16, u32), u64>,
    /// Messages on a node, by rank and time.
    on_node: BTreeSet<(u16, u32, u64)>,
    /// Whether two messages reach one rank at one time: the engine orders them by its own rule.
    pub(crate) has_tie: bool,
    /// Send times of each node, and whether two ranks of a node send at one time. The engine orders them by its own
    /// rule, which changes no end here, but the random paths of packets.
    sends: BTreeMap<(NodeId, u64), (u16, u32)>,
    pub(crate) has_crowd: bool,
}

impl Observations {
    fn sends(&mut self, node: NodeId, at_ps: u64, rank: (u16, u32)) {
        self.has_crowd |= *self.sends.entry((node, at_ps)).or_insert(rank) != rank;
    }
}

pub(crate) type Ends = Arc<Mutex<Observations>>;

pub(crate) struct PlainRanks {
    pub(crate) jobs: Vec<RankJob>,
    pub(crate) settings: MpiSettings,
    pub(crate) ends: Ends,
}

impl Program for PlainRanks {
    fn is_finite(&self, job: u16) -> bool {
        !self.jobs[usize::from(job)].background
    }

    fn endpoints(&self, _: &[u16], nics: &Nics<'_>) -> Box<dyn Endpoints> {
        assert_eq!(nics.per_node(), 1, "the twin supports one NIC per node");
        let mut nodes: Vec<Node> = (0..nics.count())
            .map(|nic| Node {
                node: nics.node(nic),
                ranks: Vec::new(),
                commands: Vec::new(),
                queue: VecDeque::new(),
                prepared: VecDeque::new(),
                left: Vec::new(),
                sent: BTreeMap::new(),
                arrived: BTreeMap::new(),
                next: BTreeMap::new(),
                coming: BTreeMap::new(),
            })
            .collect();
        for job in &self.jobs {
            for (number, &node) in (0..).zip(job.node_of_rank.iter()) {
                let Some(nic) = nics.first_of(node) else { continue };
                nodes[nic as usize].ranks.push(PlainRank::new(job, number));
            }
        }
        Box::new(Plain {
            nodes,
            settings: self.settings.clone(),
            packet: nics.payload().into(),
            flit: nics.flit().into(),
            ends: Arc::clone(&self.ends),
        })
    }
}

/// A prepared packet: its message, whether it is the first, bytes.
type Packet = (u64, u16, Envelope, bool, u64);

struct Node {
    node: NodeId,
    ranks: Vec<PlainRank>,
    /// Messages, with the times at which the NIC has them.
    commands: Vec<(u64, u16, Envelope)>,
    queue: VecDeque<Packet>,
    prepared: VecDeque<Packet>,
    /// Departure of each packet.
    left: Vec<u64>,
    sent: BTreeMap<NodeId, u32>,
    arrived: BTreeMap<(NodeId, u32), (u16, Option<Envelope>)>,
    next: BTreeMap<NodeId, u32>,
    coming: BTreeMap<NodeId, (Envelope, u64)>,
}

struct Plain {
    nodes: Vec<Node>,
    settings: MpiSettings,
    packet: u64,
    flit: u64,
    ends: Ends,
}

impl Plain {
    fn wire(&self, kind: u8, bytes: u64) -> u64 {
        let settings = &self.settings;
        match kind {
            EAGER => bytes + settings.eager_overhead.0,
            RENDEZVOUS_HEADER => settings.rendezvous_header.0,
            GET_REQUEST => settings.get_request.0,
            DATA => bytes + settings.data_overhead.0,
            _ => settings.acknowledgement.0,
        }
    }

    /// Runs one rank at this instant.
    fn advance(&mut self, nic: usize, r: usize, socket: &mut Socket) {
        let now = socket.now_ps();
        loop {
            let (settings, node) = (self.settings.clone(), &mut self.nodes[nic]);
            let own = node.node;
            let rank = &mut node.ranks[r];
            if rank.is_finished || rank.free_at > now {
                return;
            }
            rank.waiting = false;
            let Some(act) = rank.acts.pop_front() else {
                rank.next_step(&settings);
                if rank.is_finished {
                    let end = (rank.free_at, rank.in_calls);
                    self.ends.lock().unwrap().ends.insert((rank.job, rank.number), end);
                }
                continue;
            };
            match act {
                Act::Spend(time) => rank.free_at += time,
                Act::Command(envelope) => {
                    let start = if envelope.kind == GET_REQUEST { 0 } else { settings.nic_start.ps() };
                    let command = (rank.free_at + settings.host_latency.ps() + start, rank.job, envelope);
                    node.commands.push(command);
                    self.ends.lock().unwrap().sends(own, command.0, (rank.job, rank.number));
                }
                Act::OnNode(envelope) => {
                    let latency = if envelope.kind == ON_NODE { settings.node_latency.ps() } else { 0 };
                    let at_ps = rank.free_at + latency;
                    let mut found = self.ends.lock().unwrap();
                    found.has_tie |= !found.on_node.insert((rank.job, envelope.destination, at_ps));
                    let (job, message, envelope) = (rank.job, 0, Some(envelope));
                    socket.deliver(Arrival {
                        at_ps,
                        source: own,
                        size: 0,
                        job,
                        message,
                        envelope,
                        injection_times: None,
                    });
                }
                Act::Round => rank.rounds += 1,
                Act::Done(request) => {
                    rank.done.insert(request);
                }
                Act::Post { from, tag, communicator, bytes, request } => {
                    rank.post((from, tag, communicator), bytes, request, &settings);
                }
                Act::Block { of, all, one } => {
                    if !rank.block(of, all, one, &settings) {
                        return;
                    }
                }
                Act::Test(request) => {
                    if rank.done.contains(&request) {
                        rank.taken.insert(request);
                        let time = rank.free(&[request]);
                        rank.before(vec![Act::Spend(time)]);
                    }
                }
                Act::Drain => {
                    let by = rank.free_at;
                    let here = rank.notices.iter().take_while(|(at, _)| *at <= by).count();
                    let found: Vec<_> = rank.notices.drain(..here).collect();
                    let acts = found.iter().flat_map(|(_, envelope)| rank.handle(envelope, &settings)).collect();
                    rank.before(acts);
                }
                Act::Leave => {
                    rank.free_at += settings.leave.ps();
                    rank.in_calls += rank.free_at - rank.entered;
                }
            }
        }
    }

    /// Prepares packets that are ready: of messages as many as fit, of get requests all.
    fn prepare_packets(&mut self, nic: usize, now: u64) {
        let (packet, room) =
            (self.packet, (self.settings.prepared_packets + self.settings.injection_buffer_packets) as usize);
        let mut ready: Vec<_> = self.nodes[nic].commands.iter().copied().filter(|command| command.0 <= now).collect();
        // By time; equal times keep the given order.
        ready.sort_by_key(|command| (command.0, command.1, command.2.source));
        self.nodes[nic].commands.retain(|command| command.0 > now);
        for (at, job, envelope) in ready {
            let mut left = self.wire(envelope.kind, envelope.bytes);
            let node = &mut self.nodes[nic];
            let mut first = true;
            while left > 0 {
                let bytes = left.min(packet);
                left -= bytes;
                let packet = (at, job, envelope, first, bytes);
                first = false;
                if envelope.kind == GET_REQUEST {
                    node.prepared.push_back(packet);
                } else {
                    node.queue.push_back(packet);
                }
            }
            Self::fill(node, room);
        }
    }

    fn fill(node: &mut Node, room: usize) {
        while !node.queue.is_empty()
            && node.prepared.iter().filter(|packet| packet.2.kind != GET_REQUEST).count() < room
        {
            node.prepared.extend(node.queue.pop_front());
        }
    }

    fn run_all(&mut self, nic: u32, socket: &mut Socket) {
        for r in 0..self.nodes[nic as usize].ranks.len() {
            self.advance(nic as usize, r, socket);
        }
        self.set_timer(nic, socket);
    }

    fn set_timer(&self, nic: u32, socket: &mut Socket) {
        let due = self.nodes[nic as usize].ranks.iter().filter(|rank| !rank.is_finished && !rank.waiting);
        match due.map(|rank| rank.free_at).min() {
            Some(at) => socket.wake_at(at),
            None => socket.stop_timer(),
        }
    }

    /// A message is complete.
    fn deliver(&mut self, nic: u32, job: u16, envelope: Envelope, is_single_packet: bool, socket: &mut Socket) {
        let now = socket.now_ps();
        let settings = &self.settings;
        let node = &mut self.nodes[nic as usize];
        let find = |rank: &PlainRank| rank.job == job && rank.number == envelope.destination;
        let r = node.ranks.iter().position(find).expect("the rank is here");
        let rank = &mut node.ranks[r];
        if envelope.kind == GET_REQUEST {
            let (to, bytes, ..) = rank.transfers[envelope.sequence as usize];
            let (source, destination, sequence) = (rank.number, to, envelope.tag);
            let data = Envelope { kind: DATA, bytes, source, destination, sequence, ..Envelope::default() };
            let at_ps = now + settings.nic_fetch.ps() + settings.nic_start.ps();
            node.commands.push((at_ps, job, data));
            self.ends.lock().unwrap().sends(node.node, at_ps, (job, data.source));
            return;
        }
        let taken = is_single_packet && [EAGER, RENDEZVOUS_HEADER, ACKNOWLEDGEMENT].contains(&envelope.kind);
        let on_node = [ON_NODE, ON_NODE_RECEIPT].contains(&envelope.kind);
        let latency =
            if on_node { 0 } else { settings.host_latency.ps() + u64::from(taken) * settings.nic_receive.ps() };
        rank.notices.push_back((now + latency, envelope));
        self.advance(nic as usize, r, socket);
    }
}

/// The twin has no checkpoints.
impl State for Plain {
    fn save(&self, _: &mut Writer) {
        unreachable!("it is only compared with")
    }

    fn load(&mut self, _: &mut Reader<'_>) -> Result<(), DecodeError> {
        unreachable!("it is only compared with")
    }
}

impl Endpoints for Plain {
    fn next_created_ps(&mut self, nic: u32) -> Option<u64> {
        let node = &self.nodes[nic as usize];
        let prepared = node.prepared.iter().chain(&node.queue).map(|packet| packet.0);
        prepared.chain(node.commands.iter().map(|command| command.0)).min()
    }

    fn take(&mut self, nic: u32, leaves_ps: u64) -> OutgoingPacket {
        self.prepare_packets(nic as usize, leaves_ps);
        let (room, buffer) = (
            (self.settings.prepared_packets + self.settings.injection_buffer_packets) as usize,
            self.settings.injection_buffer_packets as usize,
        );
        let flit = self.flit;
        let node = &mut self.nodes[nic as usize];
        let (ready, job, envelope, first, bytes) = node.prepared.pop_front().expect("a packet that was offered");
        Self::fill(node, room);
        let rank = node.ranks.iter().find(|rank| rank.job == job).expect("a rank of the job");
        let to = rank.node_of_rank[envelope.destination as usize];
        let number = node.sent.entry(to).or_default();
        *number += 1;
        let freed = node.left.len().checked_sub(buffer).map_or(0, |before| node.left[before]);
        node.left.push(leaves_ps);
        OutgoingPacket {
            job,
            message: *number - 1,
            envelope: first.then_some(envelope),
            padding: (bytes.next_multiple_of(flit) - bytes) as u32,
            ..OutgoingPacket::new(ready.max(freed), to, bytes as u32)
        }
    }

    fn subscription(&self, nic: u32) -> Subscription {
        if self.nodes[nic as usize].ranks.is_empty() {
            Subscription::Nothing
        } else {
            Subscription::Arrivals
        }
    }

    fn on_start(&mut self, nic: u32, socket: &mut Socket) {
        self.run_all(nic, socket);
    }

    fn on_arrival(&mut self, nic: u32, arrival: &Arrival, socket: &mut Socket) -> Offer {
        if arrival.source == self.nodes[nic as usize].node {
            self.deliver(nic, arrival.job, arrival.envelope.expect("on the node"), true, socket);
            self.set_timer(nic, socket);
            return Offer::Changed;
        }
        self.nodes[nic as usize].arrived.insert((arrival.source, arrival.message), (arrival.job, arrival.envelope));
        loop {
            let packet = self.packet;
            let node = &mut self.nodes[nic as usize];
            let next = *node.next.entry(arrival.source).or_default();
            let Some((job, envelope)) = node.arrived.remove(&(arrival.source, next)) else { break };
            node.next.insert(arrival.source, next + 1);
            match envelope {
                Some(envelope) => {
                    let packets = self.wire(envelope.kind, envelope.bytes).div_ceil(packet);
                    if packets == 1 {
                        self.deliver(nic, job, envelope, true, socket);
                    } else {
                        self.nodes[nic as usize].coming.insert(arrival.source, (envelope, packets - 1));
                    }
                }
                None => {
                    let (envelope, left) = node.coming.get_mut(&arrival.source).expect("the first one came");
                    *left -= 1;
                    if *left == 0 {
                        let envelope = *envelope;
                        self.deliver(nic, job, envelope, false, socket);
                    }
                }
            }
        }
        self.set_timer(nic, socket);
        Offer::Changed
    }

    fn on_timer(&mut self, nic: u32, socket: &mut Socket) -> Offer {
        self.run_all(nic, socket);
        Offer::Changed
    }

    fn has_work(&self, _: u64) -> bool {
        self.nodes.iter().flat_map(|node| &node.ranks).any(|rank| !rank.is_finished && !rank.background)
    }

    fn on_end(&mut self, _: u64) -> Vec<UnfinishedEndpoint> {
        let ranks = self.nodes.iter().flat_map(|node| node.ranks.iter().map(move |rank| (node.node, rank)));
        let state = |(node, rank): (NodeId, &PlainRank)| UnfinishedEndpoint {
            job: rank.job,
            rank: Some(rank.number),
            node,
            activity: Activity::Waiting { since: Time(rank.free_at), peer: None, what: format!("{:?}", rank.acts) },
        };
        let mut found = self.ends.lock().unwrap();
        found.rounds.extend(ranks.clone().map(|(_, rank)| ((rank.job, rank.number), rank.rounds)));
        ranks.filter(|(_, rank)| !rank.is_finished && !rank.background).map(state).collect()
    }
}
