//! The ranks on the nodes of a part of the machine, and their NICs.

mod state;

use super::context::RunContext;
use super::loops::RankLoops;
use super::records::Records;
use crate::inbox::{InboundMessage, Inbox};
use crate::job::RankJob;
use crate::matching::Label;
use crate::nic_choice::{is_striped, NicChoice, Rail};
use crate::outbox::{sequence_parts, OutboundMessage, Outbox};
use crate::rank::{Notice, Rank, RankContext, RankSums};
use crate::relative::{put_envelope, put_sequence, NicPlace};
use crate::reorder::{DeliveredMessage, ReorderBuffer};
use crate::settings::MpiSettings;
use crate::wire::{MessageKind, PacketSizes};
use odonata_checkpoint::{state, Snapshot};
use odonata_packet::{
    Arrival, Endpoints, Envelope, LoopProgress, Nics, Offer, OutgoingPacket, PacketInFlight, SkippedIterations, Socket,
    Subscription, UnfinishedEndpoint,
};
use odonata_units::{Bytes, NodeId, RouterId};
use odonata_workload::rails::JobRails;
use std::any::Any;
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// A NIC of a node with ranks.
#[derive(Debug)]
struct NicState {
    /// By traffic class.
    outboxes: Vec<Outbox>,
    inbox: Inbox,
}

state!(NicState { nested: outboxes, inbox });

/// A node with ranks.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Host {
    node: NodeId,
    /// Its ranks here.
    ranks: Range<u32>,
}

pub(super) struct RankEndpoints {
    jobs: Arc<Vec<RankJob>>,
    settings: Arc<MpiSettings>,
    routers: Arc<Vec<RouterId>>,
    /// Records of this part, and of the run.
    records: Records,
    all_records: Arc<Mutex<Records>>,
    nic_choice: NicChoice,
    reorder: ReorderBuffer,
    per_node: u32,
    sizes: PacketSizes,
    /// Nodes of this part. Nodes without ranks have an empty range.
    hosts: Vec<Host>,
    /// By NIC.
    nics: Vec<Option<Box<NicState>>>,
    /// By node, job and rank.
    ranks: Vec<Rank>,
    /// Ranks of awaited jobs that have not finished.
    unfinished: usize,
    /// Whether there are background jobs.
    has_background: bool,
    /// Messages in flight between ranks of a node, by job.
    on_node_messages: Vec<usize>,
    inbound: Vec<InboundMessage>,
    on_node: Vec<(u64, Envelope)>,
    /// Loops of the programs, if they are followed.
    loops: Option<Box<RankLoops>>,
}

impl RankEndpoints {
    /// Creates the endpoints of the `numbered` jobs among `jobs`.
    pub(super) fn new(context: &RunContext, numbered: &[u16], nics: &Nics<'_>) -> Self {
        let RunContext { jobs, settings, routers, records: all_records, follows_loops } = context;
        let per_node = nics.per_node();
        let nodes = nics.count() / per_node;
        let classes = nics.class_count() as u32;
        // Node, job and rank.
        let mut here: Vec<(u32, usize, u32)> = Vec::new();
        for (j, job) in jobs.iter().enumerate().filter(|(_, job)| numbered.contains(&job.job)) {
            let ranks = job.node_of_rank.iter().enumerate();
            here.extend(ranks.filter_map(|(rank, &node)| Some((nics.first_of(node)? / per_node, j, rank as u32))));
        }
        here.sort_unstable();
        let sizes = PacketSizes { packet: nics.payload().into(), flit: nics.flit().into() };
        let mut endpoints = Self {
            jobs: Arc::clone(jobs),
            settings: Arc::clone(settings),
            routers: Arc::clone(routers),
            records: all_records.lock().expect("nobody panicked").empty(),
            all_records: Arc::clone(all_records),
            nic_choice: NicChoice::new(jobs, nics),
            reorder: ReorderBuffer::default(),
            per_node,
            sizes,
            hosts: Vec::with_capacity(nodes as usize),
            nics: (0..nics.count()).map(|_| None).collect(),
            ranks: Vec::with_capacity(here.len()),
            unfinished: here.iter().filter(|(_, j, _)| !jobs[*j].background).count(),
            on_node_messages: vec![0; jobs.len()],
            has_background: jobs.iter().any(|job| job.background),
            inbound: Vec::new(),
            on_node: Vec::new(),
            loops: None,
        };
        let mut rest = here.as_slice();
        for n in 0..nodes {
            let (own, later) = rest.split_at(rest.partition_point(|rank| rank.0 == n));
            let (node, first) = (nics.node(n * per_node), endpoints.ranks.len() as u32);
            endpoints.ranks.extend(own.iter().map(|&(_, j, number)| Rank::new(&jobs[j], number, node)));
            for i in (0..per_node).filter(|_| !own.is_empty()) {
                let (prepared, buffer) = (settings.prepared_packets, settings.injection_buffer_packets);
                let lanes = (0..classes).map(|class| (i * classes + class) as u16);
                let outboxes = lanes.map(|lane| Outbox::new(sizes, lane, prepared, buffer)).collect();
                let state = Box::new(NicState { outboxes, inbox: Inbox::default() });
                endpoints.nics[(n * per_node + i) as usize] = Some(state);
            }
            endpoints.hosts.push(Host { node, ranks: first..endpoints.ranks.len() as u32 });
            rest = later;
        }
        if *follows_loops {
            endpoints.loops = RankLoops::new(&endpoints.ranks, &endpoints.jobs).map(Box::new);
            if let Some(loops) = &endpoints.loops {
                endpoints.ranks.iter_mut().enumerate().for_each(|(r, rank)| rank.follow_loop(*loops.repetition(r)));
            }
        }
        endpoints
    }

    /// Index of a job in the program.
    fn job_index(&self, job: u16) -> usize {
        index_of(&self.jobs, job)
    }

    /// Index of a rank on a node of this part.
    fn rank_index(&self, host: usize, job: u16, number: u32) -> usize {
        let mut ranks = self.hosts[host].ranks.clone();
        let of = |r: &u32| self.ranks[*r as usize].job == job && self.ranks[*r as usize].number == number;
        ranks.find(of).expect("messages go to the node of their rank") as usize
    }

    /// Runs a rank, and passes its messages on the node to the socket.
    fn run(&mut self, host: usize, r: usize, socket: &mut Socket) {
        let Self { jobs, settings, routers, nic_choice, nics, ranks, on_node, records, loops, .. } = self;
        let rank = &mut ranks[r];
        let j = index_of(jobs, rank.job);
        let job = &jobs[j];
        let (first, node) = (host * self.per_node as usize, rank.node);
        let mut send = |message: OutboundMessage, number: u64| {
            nic_choice.dispatch(j, job, node, message, number, |own, class, part| {
                nics[first + own].as_mut().expect("a node with ranks").outboxes[class].push(part);
            });
        };
        let was_finished = rank.is_finished();
        rank.run(&mut RankContext {
            now_ps: socket.now_ps(),
            settings,
            work: &job.work,
            send: &mut send,
            on_node,
            log: records.messages.as_mut(),
            calls: records.calls.as_mut(),
            nodes: &job.node_of_rank,
            routers,
            packet: Bytes(self.sizes.packet),
            ends_in_time: self.has_background,
        });
        if let Some(loops) = loops {
            loops.follow(r, rank.started_blocks(), socket.now_ps());
        }
        let job = rank.job;
        if !jobs[j].background {
            self.unfinished -= usize::from(rank.is_finished() && !was_finished);
        }
        self.on_node_messages[j] += on_node.len();
        for (at_ps, envelope) in on_node.drain(..) {
            socket.deliver(Arrival {
                at_ps,
                source: node,
                size: 0,
                job,
                message: 0,
                envelope: Some(envelope),
                injection_times: None,
            });
        }
    }

    /// Sets the timer to the time when the next rank of a node must run.
    fn set_timer(&self, host: usize, socket: &mut Socket) {
        let ranks = self.hosts[host].ranks.clone();
        match ranks.filter_map(|r| self.ranks[r as usize].wake_ps(self.settings.progress)).min() {
            Some(at_ps) => socket.wake_at(at_ps),
            None => socket.stop_timer(),
        }
    }

    /// Delivers a message to its rank at the socket's time.
    fn deliver(&mut self, host: usize, delivered: DeliveredMessage, socket: &mut Socket) {
        let DeliveredMessage { message: InboundMessage { job, envelope, is_single_packet }, at_ps, injection_times } =
            delivered;
        let r = self.rank_index(host, job, envelope.destination);
        if let Some(log) = &mut self.records.messages {
            log.record_delivery(job, &envelope, at_ps, injection_times);
        }
        let kind = MessageKind::from_code(envelope.kind);
        match kind {
            MessageKind::GetRequest => {
                let (_, bytes, number) = self.ranks[r].requested_data(envelope.sequence);
                let (source, sequence) = (envelope.source, envelope.tag);
                let to = Envelope { bytes, sequence, source, ..Envelope::default() };
                return self.answer(host, r, MessageKind::Data, &to, number, socket);
            }
            MessageKind::Get => {
                let Self { jobs, routers, ranks, .. } = self;
                let node = jobs[index_of(jobs, job)].node_of_rank[envelope.source as usize];
                ranks[r].count_sent(envelope.source, node, Bytes(envelope.bytes), routers);
                return self.answer(host, r, MessageKind::GetData, &envelope, envelope.tag.into(), socket);
            }
            MessageKind::Put => {
                self.ranks[r].count_put(envelope.bytes);
                return self.answer(host, r, MessageKind::Acknowledgement, &envelope, 0, socket);
            }
            _ => {}
        }
        let taken = if kind.costs_nic_receive() && is_single_packet { self.settings.nic_receive.ps() } else { 0 };
        let on_node = matches!(kind, MessageKind::OnNode | MessageKind::OnNodeReceipt);
        let at = socket.now_ps() + if on_node { 0 } else { taken + self.settings.host_latency.ps() };
        let transfer = envelope.sequence;
        let notice = match kind {
            MessageKind::Eager | MessageKind::RendezvousHeader | MessageKind::OnNode => {
                let Envelope { communicator, source, tag, .. } = envelope;
                let label = Label { communicator, source, tag };
                Notice::Message { kind, label, bytes: envelope.bytes, transfer }
            }
            MessageKind::Data | MessageKind::GetData => Notice::DataArrived { transfer },
            MessageKind::Acknowledgement | MessageKind::OnNodeReceipt => Notice::Complete { transfer },
            MessageKind::GetRequest | MessageKind::Get | MessageKind::Put => unreachable!("the NIC answers"),
        };
        self.ranks[r].notify(at, notice);
        self.run(host, r, socket);
    }

    /// Delivers a message, or a part of one, after restoring the order.
    fn reorder_message(&mut self, host: usize, delivered: DeliveredMessage, socket: &mut Socket) {
        let InboundMessage { job, envelope, .. } = delivered.message;
        let j = self.job_index(job);
        let job = &self.jobs[j];
        let kind = MessageKind::from_code(envelope.kind);
        if !self.nic_choice.may_overtake(j, job) || !kind.is_ordered() {
            self.deliver(host, delivered, socket);
            return;
        }
        let parts = match job.rails.as_deref().filter(|rails| is_striped(&envelope, rails)) {
            Some(rails) => {
                let (from, to) = (job.node_of_rank[envelope.source as usize], self.hosts[host].node);
                rails.shares(from, to, Bytes(kind.wire_bytes(envelope.bytes, &self.settings))).count()
            }
            None => 1,
        };
        let mut ordered = Vec::new();
        self.reorder.take(delivered, parts as u32, kind.is_matched(), &mut ordered);
        ordered.into_iter().for_each(|delivered| self.deliver(host, delivered, socket));
    }

    /// Answers rank `to.source` without the host: with `to.bytes` of data, or with an acknowledgement of a put.
    fn answer(&mut self, host: usize, r: usize, kind: MessageKind, to: &Envelope, number: u64, socket: &Socket) {
        let rank = &self.ranks[r];
        let (j, own) = (self.job_index(rank.job), rank.number);
        let envelope = Envelope {
            bytes: to.bytes,
            sequence: to.sequence,
            source: own,
            destination: to.source,
            kind: kind as u8,
            ..Envelope::default()
        };
        let fetch = if kind.carries_data() { self.settings.nic_fetch.ps() } else { 0 };
        let message = OutboundMessage {
            ready_ps: socket.now_ps() + fetch + self.settings.nic_start.ps(),
            job: rank.job,
            node: self.jobs[j].node_of_rank[to.source as usize],
            nic: 0,
            envelope,
            wire: kind.wire_bytes(to.bytes, &self.settings),
        };
        let (first, node) = (host * self.per_node as usize, self.hosts[host].node);
        let Self { jobs, nic_choice, nics, .. } = self;
        nic_choice.dispatch(j, &jobs[j], node, message, number, |own, class, part| {
            nics[first + own].as_mut().expect("a node with ranks").outboxes[class].push(part);
        });
    }

    /// Whether any rank of these jobs will act without a packet that is in flight.
    fn will_any_act(&self, now_ps: u64, of: impl Fn(&RankJob) -> bool) -> bool {
        let of_job = |number: u16| of(&self.jobs[self.job_index(number)]);
        self.jobs.iter().zip(&self.on_node_messages).any(|(job, &messages)| messages > 0 && of(job))
            || self.ranks.iter().any(|rank| rank.will_act(now_ps, self.settings.progress) && of_job(rank.job))
            || self.nics.iter().flatten().flat_map(|state| &state.outboxes).any(|outbox| outbox.has_message_of(of_job))
    }

    /// Whether the run waits for a job.
    fn is_awaited(&self, job: u16) -> bool {
        !self.jobs[self.job_index(job)].background
    }

    fn host(&self, nic: u32) -> usize {
        (nic / self.per_node) as usize
    }
}

/// Index of the job with a number.
fn index_of(jobs: &[RankJob], number: u16) -> usize {
    jobs.iter().position(|job| job.job == number).expect("a job of this program")
}

fn rails_of(jobs: &[RankJob], number: u16) -> Option<&JobRails> {
    jobs[index_of(jobs, number)].rails.as_deref()
}

impl Endpoints for RankEndpoints {
    fn next_created_ps(&mut self, nic: u32) -> Option<u64> {
        self.next_created_in(nic, 0)
    }

    fn take(&mut self, nic: u32, leaves_ps: u64) -> OutgoingPacket {
        self.take_in(nic, 0, leaves_ps)
    }

    fn next_created_in(&mut self, nic: u32, class: u8) -> Option<u64> {
        self.nics[nic as usize].as_ref()?.outboxes[usize::from(class)].next_ready_ps()
    }

    fn take_in(&mut self, nic: u32, class: u8, leaves_ps: u64) -> OutgoingPacket {
        let state = self.nics[nic as usize].as_mut().expect("only NICs with ranks have packets");
        let outgoing = state.outboxes[usize::from(class)].take_packet(leaves_ps);
        if let (Some(log), Some(envelope)) = (&mut self.records.messages, &outgoing.envelope) {
            let from = self.hosts[(nic / self.per_node) as usize].node;
            let rail = Rail { from, to: outgoing.destination, number: nic % self.per_node };
            let rails = rails_of(&self.jobs, outgoing.job);
            if rails.is_none_or(|rails| rail.has_first_part(envelope, rails)) {
                log.record_injection(outgoing.job, envelope, leaves_ps);
            }
        }
        outgoing
    }

    fn subscription(&self, nic: u32) -> Subscription {
        if self.nics[nic as usize].is_some() {
            Subscription::Arrivals
        } else {
            Subscription::Nothing
        }
    }

    fn on_start(&mut self, nic: u32, socket: &mut Socket) {
        if nic % self.per_node != 0 {
            return;
        }
        let host = self.host(nic);
        for r in self.hosts[host].ranks.clone() {
            self.run(host, r as usize, socket);
        }
        self.set_timer(host, socket);
    }

    fn on_arrival(&mut self, nic: u32, arrival: &Arrival, socket: &mut Socket) -> Offer {
        let host = self.host(nic);
        let mut inbound = std::mem::take(&mut self.inbound);
        if arrival.source == self.hosts[host].node {
            let envelope = arrival.envelope.expect("messages on a node have an envelope");
            let j = self.job_index(arrival.job);
            self.on_node_messages[j] -= 1;
            inbound.push(InboundMessage { job: arrival.job, envelope, is_single_packet: true });
        } else {
            let awaited = self.is_awaited(arrival.job);
            let state = self.nics[nic as usize].as_mut().expect("packets go to nodes with ranks");
            let rail = Rail { from: arrival.source, to: self.hosts[host].node, number: nic % self.per_node };
            let wire_of = |job, envelope: &Envelope| {
                let whole = MessageKind::from_code(envelope.kind).wire_bytes(envelope.bytes, &self.settings);
                rails_of(&self.jobs, job).map_or(whole, |rails| rail.wire_bytes(envelope, whole, rails))
            };
            state.inbox.receive(arrival, awaited, self.sizes, &wire_of, &mut inbound);
        }
        if inbound.is_empty() {
            self.inbound = inbound;
            return Offer::Same;
        }
        for message in inbound.drain(..) {
            let delivered =
                DeliveredMessage { message, at_ps: socket.now_ps(), injection_times: arrival.injection_times };
            self.reorder_message(host, delivered, socket);
        }
        self.inbound = inbound;
        self.set_timer(host, socket);
        Offer::Changed
    }

    fn on_timer(&mut self, nic: u32, socket: &mut Socket) -> Offer {
        let host = self.host(nic);
        for r in self.hosts[host].ranks.clone() {
            if self.ranks[r as usize].wake_ps(self.settings.progress).is_some_and(|at| at <= socket.now_ps()) {
                self.run(host, r as usize, socket);
            }
        }
        self.set_timer(host, socket);
        Offer::Changed
    }

    fn has_work(&self, _: u64) -> bool {
        self.unfinished > 0
    }

    fn will_act(&self, now_ps: u64) -> bool {
        self.will_any_act(now_ps, |job| !job.background)
            || self.nics.iter().flatten().any(|state| state.inbox.has_early_packets())
    }

    fn loop_progress(&self) -> Option<LoopProgress> {
        self.loops.as_ref().map(|loops| loops.progress())
    }

    fn snapshot(&self, into: &mut Snapshot) {
        self.put_into(into);
    }

    fn snapshot_message(&self, packet: &PacketInFlight, into: &mut Snapshot) {
        let (nic, number) = sequence_parts(packet.message);
        let from = NicPlace { node: packet.source.0.into(), nic };
        let to = NicPlace { node: packet.destination.0.into(), nic: packet.nic.into() };
        put_sequence(from, to, number, into);
    }

    fn snapshot_envelope(&self, envelope: Option<&Envelope>, into: &mut Snapshot) {
        put_envelope(envelope, into);
    }

    fn record_sums(&self) -> Option<Box<dyn Any + Send>> {
        self.loops.as_ref().map(|_| Box::new(self.ranks.iter().map(Rank::sums).collect::<Vec<RankSums>>()) as _)
    }

    fn skip(&mut self, skipped: &SkippedIterations, from: &dyn Any, to: &dyn Any) {
        let sums = |of: &dyn Any| of.downcast_ref::<Vec<RankSums>>().cloned().expect("sums of these ranks");
        let loops = self.loops.as_mut().expect("only followed loops are skipped");
        for ((rank, blocks), (from, to)) in
            self.ranks.iter_mut().zip(loops.skip(skipped)).zip(sums(from).into_iter().zip(sums(to)))
        {
            rank.skip(skipped, blocks, &from, &to);
        }
    }

    fn memory_bytes(&self) -> usize {
        let nics = self.nics.iter().flatten();
        let of_outboxes =
            |state: &NicState| state.outboxes.iter().map(|of| size_of::<Outbox>() + of.memory_bytes()).sum::<usize>();
        let of = |state: &NicState| of_outboxes(state) + state.inbox.memory_bytes();
        self.ranks.iter().map(Rank::memory_bytes).sum::<usize>()
            + self.nic_choice.memory_bytes()
            + self.reorder.memory_bytes()
            + self.records.memory_bytes()
            + self.nics.capacity() * size_of::<Option<Box<NicState>>>()
            + nics.map(|state| size_of::<NicState>() + of(state)).sum::<usize>()
    }

    fn on_end(&mut self, end_ps: u64) -> Vec<UnfinishedEndpoint> {
        let is_reported = |job: &RankJob| !job.background || !self.will_any_act(end_ps, |other| other.job == job.job);
        let reported: Vec<bool> = self.jobs.iter().map(is_reported).collect();
        let mut unfinished = Vec::new();
        for rank in self.ranks.iter().filter(|rank| !rank.is_finished()) {
            let j = self.job_index(rank.job);
            if reported[j] || rank.has_failed() {
                let activity = rank.activity(&self.jobs[j].work, end_ps, self.settings.task_window);
                unfinished.push(UnfinishedEndpoint {
                    job: rank.job,
                    rank: Some(rank.number),
                    node: rank.node,
                    activity,
                });
            }
        }
        self.records.ranks.extend(self.ranks.drain(..).map(Rank::into_record));
        self.all_records.lock().expect("nobody panicked").append(std::mem::take(&mut self.records));
        unfinished
    }
}
