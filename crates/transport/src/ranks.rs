//! Ranks behind NICs.

mod checkpoint;
mod rails;

use crate::calls::{CallLog, CallRecords};
use crate::inbox::{InboundMessage, Inbox};
use crate::job::RankJob;
use crate::log::{Log, MessageRecord};
use crate::matching::Label;
use crate::nic_choice::NicChoice;
use crate::outbox::{OutboundMessage, Outbox};
use crate::rank::{Notice, Rank, RankContext};
use crate::record::RankRecord;
use crate::reorder::{DeliveredMessage, ReorderBuffer};
use crate::settings::MpiSettings;
use crate::wire::{MessageKind, PacketSizes};
use odonata_checkpoint::{state, DecodeError, Reader, Writer};
use odonata_packet::{
    Activity, Arrival, Endpoints, Envelope, Nics, Offer, OutgoingPacket, Program, Socket, Subscription,
    UnfinishedEndpoint,
};
use odonata_units::{Bytes, NodeId, Time};
use rails::{bytes_on_this_rail, is_first_packet};
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// The ranks of some jobs, as a program of the packet engine.
#[derive(Clone, Debug)]
pub struct Ranks {
    jobs: Arc<Vec<RankJob>>,
    settings: Arc<MpiSettings>,
    records: Arc<Mutex<Vec<RankRecord>>>,
    /// Log of messages, if they are recorded.
    log: Option<Arc<Mutex<Log>>>,
    /// Log of calls, if they are recorded.
    calls: Option<Arc<Mutex<CallLog>>>,
}

impl Ranks {
    /// Ranks of `jobs`.
    pub fn new(jobs: Vec<RankJob>, settings: MpiSettings) -> Self {
        Self { jobs: Arc::new(jobs), settings: Arc::new(settings), records: Arc::default(), log: None, calls: None }
    }

    /// Records the times of each message: about 200 B per message during the run.
    #[must_use]
    pub fn with_messages(self) -> Self {
        Self { log: Some(Arc::default()), ..self }
    }

    /// Records each call and the cause of each wait: about 60 B per call and per message.
    #[must_use]
    pub fn with_calls(self) -> Self {
        Self { calls: Some(Arc::default()), ..self }
    }

    /// Whether calls are recorded.
    pub fn records_calls(&self) -> bool {
        self.calls.is_some()
    }

    /// Calls, waits and phases of the last run. Empty if not recorded.
    pub fn take_calls(&self) -> CallRecords {
        let take = |log: &Arc<Mutex<CallLog>>| std::mem::take(&mut *log.lock().expect("nobody panicked")).records();
        self.calls.as_ref().map_or_else(Default::default, take)
    }

    /// Whether messages are recorded.
    pub fn records_messages(&self) -> bool {
        self.log.is_some()
    }

    /// Messages received in the last run, by job, source, destination and number. Empty if not recorded.
    pub fn take_messages(&self) -> Vec<MessageRecord> {
        let take = |log: &Arc<Mutex<Log>>| std::mem::take(&mut *log.lock().expect("nobody panicked")).messages();
        self.log.as_ref().map_or_else(Vec::new, take)
    }

    /// Records of the last run, by job and rank.
    pub fn take_records(&self) -> Vec<RankRecord> {
        let mut records = std::mem::take(&mut *self.records.lock().expect("nobody panicked"));
        records.sort_unstable_by_key(|record| (record.job, record.rank));
        records
    }
}

impl Program for Ranks {
    fn endpoints(&self, jobs: &[u16], nics: &Nics<'_>) -> Box<dyn Endpoints> {
        Box::new(RankEndpoints::new(self, jobs, nics))
    }

    fn is_finite(&self, job: u16) -> bool {
        self.jobs.iter().any(|of| of.job == job && !of.background)
    }

    fn export_records(&self) -> Vec<u8> {
        let mut into = Writer::default();
        into.put(&std::mem::take(&mut *self.records.lock().expect("nobody panicked")));
        into.put(&self.log.as_ref().map(|log| std::mem::take(&mut *log.lock().expect("nobody panicked"))));
        into.put(&self.calls.as_ref().map(|calls| std::mem::take(&mut *calls.lock().expect("nobody panicked"))));
        into.into_bytes()
    }

    fn import_records(&self, handed: &[u8]) -> Result<(), DecodeError> {
        let mut from = Reader::new(handed);
        self.records.lock().expect("nobody panicked").extend(from.get::<Vec<RankRecord>>()?);
        let (log, calls): (Option<Log>, Option<CallLog>) = (from.get()?, from.get()?);
        if let (Some(all), Some(log)) = (&self.log, log) {
            all.lock().expect("nobody panicked").append(log);
        }
        if let (Some(all), Some(calls)) = (&self.calls, calls) {
            all.lock().expect("nobody panicked").append(calls);
        }
        from.end()
    }
}

/// A NIC of a node with ranks.
#[derive(Debug)]
struct NicState {
    outbox: Outbox,
    inbox: Inbox,
}

state!(NicState { nested: outbox, inbox });

/// A node with ranks.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Host {
    node: NodeId,
    /// Its ranks here.
    ranks: Range<u32>,
}

struct RankEndpoints {
    jobs: Arc<Vec<RankJob>>,
    settings: Arc<MpiSettings>,
    records: Arc<Mutex<Vec<RankRecord>>>,
    /// Log of messages of this part, and the log of the run.
    log: Option<Box<Log>>,
    all_logs: Option<Arc<Mutex<Log>>>,
    /// The same for calls.
    calls: Option<Box<CallLog>>,
    all_calls: Option<Arc<Mutex<CallLog>>>,
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
    /// Messages in flight between ranks of a node, of awaited jobs.
    on_node_awaited: usize,
    inbound: Vec<InboundMessage>,
    on_node: Vec<(u64, Envelope)>,
}

impl RankEndpoints {
    fn new(program: &Ranks, jobs: &[u16], nics: &Nics<'_>) -> Self {
        let (settings, per_node) = (&program.settings, nics.per_node());
        let nodes = nics.count() / per_node;
        let mut here: Vec<(u32, usize, u32)> = Vec::new();
        for (j, job) in program.jobs.iter().enumerate().filter(|(_, job)| jobs.contains(&job.job)) {
            let ranks = job.node_of_rank.iter().enumerate();
            here.extend(ranks.filter_map(|(rank, &node)| Some((nics.first_of(node)? / per_node, j, rank as u32))));
        }
        here.sort_unstable();
        let sizes = PacketSizes { packet: nics.payload().into(), flit: nics.flit().into() };
        let mut endpoints = Self {
            jobs: Arc::clone(&program.jobs),
            settings: Arc::clone(settings),
            records: Arc::clone(&program.records),
            log: program.log.is_some().then(Box::default),
            all_logs: program.log.clone(),
            calls: program.calls.is_some().then(Box::default),
            all_calls: program.calls.clone(),
            nic_choice: NicChoice::new(&program.jobs, nics),
            reorder: ReorderBuffer::default(),
            per_node,
            sizes,
            hosts: Vec::with_capacity(nodes as usize),
            nics: (0..nics.count()).map(|_| None).collect(),
            ranks: Vec::with_capacity(here.len()),
            unfinished: here.iter().filter(|(_, j, _)| !program.jobs[*j].background).count(),
            on_node_awaited: 0,
            has_background: program.jobs.iter().any(|job| job.background),
            inbound: Vec::new(),
            on_node: Vec::new(),
        };
        let mut rest = here.as_slice();
        for n in 0..nodes {
            let (own, later) = rest.split_at(rest.partition_point(|rank| rank.0 == n));
            let (node, first) = (nics.node(n * per_node), endpoints.ranks.len() as u32);
            for &(_, j, number) in own {
                let job = &program.jobs[j];
                endpoints.ranks.push(Rank::new(job, number, node));
            }
            for i in (0..per_node).filter(|_| !own.is_empty()) {
                let outbox = Outbox::new(sizes, i as u8, settings.prepared_packets, settings.injection_buffer_packets);
                let state = Box::new(NicState { outbox, inbox: Inbox::default() });
                endpoints.nics[(n * per_node + i) as usize] = Some(state);
            }
            endpoints.hosts.push(Host { node, ranks: first..endpoints.ranks.len() as u32 });
            rest = later;
        }
        endpoints
    }

    /// Index of a job in the program.
    fn job_index(&self, job: u16) -> usize {
        self.jobs.iter().position(|of| of.job == job).expect("a job of this program")
    }

    /// Index of a rank on a node of this part.
    fn rank_index(&self, host: usize, job: u16, number: u32) -> usize {
        let mut ranks = self.hosts[host].ranks.clone();
        let of = |r: &u32| self.ranks[*r as usize].job == job && self.ranks[*r as usize].number == number;
        ranks.find(of).expect("messages go to the node of their rank") as usize
    }

    /// Runs a rank, and passes its messages on the node to the socket.
    fn run(&mut self, host: usize, r: usize, socket: &mut Socket) {
        let Self { jobs, settings, nic_choice, nics, ranks, on_node, log, calls, .. } = self;
        let rank = &mut ranks[r];
        let j = jobs.iter().position(|of| of.job == rank.job).expect("a job of this program");
        let job = &jobs[j];
        let (first, node) = (host * self.per_node as usize, rank.node);
        let mut send = |message: OutboundMessage, number: u64| {
            nic_choice.dispatch((j, job), node, message, number, |own, part| {
                nics[first + own].as_mut().expect("a node with ranks").outbox.push(part);
            });
        };
        let was_finished = rank.is_finished();
        rank.run(&mut RankContext {
            now_ps: socket.now_ps(),
            settings,
            shared: &job.shared,
            send: &mut send,
            on_node,
            log: log.as_deref_mut(),
            calls: calls.as_deref_mut(),
            nodes: &job.node_of_rank,
            packet: Bytes(self.sizes.packet),
            ends_in_time: self.has_background,
        });
        let (number, node, background) = (rank.job, rank.node, job.background);
        self.unfinished -= usize::from(rank.is_finished() && !was_finished && !background);
        let job = number;
        if !background {
            self.on_node_awaited += on_node.len();
        }
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
        match ranks.filter_map(|r| self.ranks[r as usize].wake_ps()).min() {
            Some(at_ps) => socket.wake_at(at_ps),
            None => socket.stop_timer(),
        }
    }

    /// Delivers a message to its rank at the socket's time.
    fn deliver(&mut self, host: usize, delivered: DeliveredMessage, socket: &mut Socket) {
        let DeliveredMessage { message: InboundMessage { job, envelope, is_single_packet }, at_ps, injection_times } =
            delivered;
        let r = self.rank_index(host, job, envelope.destination);
        if let Some(log) = &mut self.log {
            log.record_delivery(job, &envelope, at_ps, injection_times);
        }
        let kind = MessageKind::from_code(envelope.kind);
        if kind == MessageKind::GetRequest {
            self.answer_get(host, r, &envelope, socket.now_ps());
            return;
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
            MessageKind::Data => Notice::DataArrived { transfer },
            MessageKind::Acknowledgement | MessageKind::OnNodeReceipt => Notice::Complete { transfer },
            MessageKind::GetRequest => unreachable!("the NIC answers"),
        };
        self.ranks[r].notify(at, notice);
        self.run(host, r, socket);
    }

    /// Answers a get request with the data, without the host.
    fn answer_get(&mut self, host: usize, r: usize, get: &Envelope, now_ps: u64) {
        let rank = &self.ranks[r];
        let (to, bytes, number) = rank.requested_data(get.sequence);
        let (j, own) = (self.job_index(rank.job), rank.number);
        let envelope = Envelope {
            bytes,
            sequence: get.tag,
            source: own,
            destination: to,
            kind: MessageKind::Data as u8,
            ..Envelope::default()
        };
        let message = OutboundMessage {
            ready_ps: now_ps + self.settings.nic_fetch.ps() + self.settings.nic_start.ps(),
            job: rank.job,
            node: self.jobs[j].node_of_rank[to as usize],
            nic: 0,
            envelope,
            wire: MessageKind::Data.wire_bytes(bytes, &self.settings),
        };
        let (first, node) = (host * self.per_node as usize, self.hosts[host].node);
        let Self { jobs, nic_choice, nics, .. } = self;
        nic_choice.dispatch((j, &jobs[j]), node, message, number, |own, part| {
            nics[first + own].as_mut().expect("a node with ranks").outbox.push(part);
        });
    }

    /// Whether the run waits for a job.
    fn is_awaited(&self, job: u16) -> bool {
        !self.jobs[self.job_index(job)].background
    }

    fn host(&self, nic: u32) -> usize {
        (nic / self.per_node) as usize
    }
}

impl Endpoints for RankEndpoints {
    fn next_created_ps(&mut self, nic: u32) -> Option<u64> {
        self.nics[nic as usize].as_ref()?.outbox.next_ready_ps()
    }

    fn take(&mut self, nic: u32, leaves_ps: u64) -> OutgoingPacket {
        let state = self.nics[nic as usize].as_mut().expect("only NICs with ranks have packets");
        let outgoing = state.outbox.take_packet(leaves_ps);
        if let (Some(log), Some(envelope)) = (&mut self.log, &outgoing.envelope) {
            let (from, rail) = (self.hosts[(nic / self.per_node) as usize].node, nic % self.per_node);
            if is_first_packet(&self.jobs, outgoing.job, envelope, (from, outgoing.destination), rail) {
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
            self.on_node_awaited -= usize::from(self.is_awaited(arrival.job));
            inbound.push(InboundMessage { job: arrival.job, envelope, is_single_packet: true });
        } else {
            let awaited = self.is_awaited(arrival.job);
            let state = self.nics[nic as usize].as_mut().expect("packets go to nodes with ranks");
            let (settings, jobs, ends) = (&self.settings, &self.jobs, (arrival.source, self.hosts[host].node));
            let of_part =
                |job, envelope: &_| bytes_on_this_rail(jobs, settings, job, envelope, ends, nic % self.per_node);
            state.inbox.receive((arrival, awaited), self.sizes, &of_part, &mut inbound);
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
            if self.ranks[r as usize].wake_ps().is_some_and(|at| at <= socket.now_ps()) {
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
        self.on_node_awaited > 0
            || self.ranks.iter().any(|rank| rank.will_act(now_ps) && self.is_awaited(rank.job))
            || self
                .nics
                .iter()
                .flatten()
                .any(|state| state.inbox.has_early_packets() || state.outbox.has_message_of(|job| self.is_awaited(job)))
    }

    fn memory_bytes(&self) -> usize {
        let nics = self.nics.iter().flatten();
        let of = |state: &NicState| state.outbox.memory_bytes() + state.inbox.memory_bytes();
        self.ranks.iter().map(Rank::memory_bytes).sum::<usize>()
            + self.nic_choice.memory_bytes()
            + self.reorder.memory_bytes()
            + self.log.as_ref().map_or(0, |log| log.memory_bytes())
            + self.calls.as_ref().map_or(0, |calls| calls.memory_bytes())
            + self.nics.capacity() * size_of::<Option<Box<NicState>>>()
            + nics.map(|state| size_of::<NicState>() + of(state)).sum::<usize>()
    }

    fn on_end(&mut self, end_ps: u64) -> Vec<UnfinishedEndpoint> {
        let mut unfinished = Vec::new();
        let awaited = |rank: &&Rank| !rank.is_finished() && (rank.has_failed() || self.is_awaited(rank.job));
        for rank in self.ranks.iter().filter(awaited) {
            let shared = &self.jobs[self.job_index(rank.job)].shared;
            let (since, peer, what) = rank.waits_for(shared);
            let activity = match since > end_ps {
                // Its clock is ahead of the network's. Whether a message will arrive by then is unknown, but what it
                // waits for is known.
                true if rank.is_blocked() => {
                    let what = format!("{what}, from {} on", Time(since));
                    Activity::Waiting { since: Time(since), peer, what }
                }
                true => Activity::Computing { until: Time(since) },
                false => Activity::Waiting { since: Time(since), peer, what },
            };
            unfinished.push(UnfinishedEndpoint { job: rank.job, rank: Some(rank.number), node: rank.node, activity });
        }
        if let (Some(log), Some(all)) = (self.log.take(), &self.all_logs) {
            all.lock().expect("nobody panicked").append(*log);
        }
        if let (Some(calls), Some(all)) = (self.calls.take(), &self.all_calls) {
            all.lock().expect("nobody panicked").append(*calls);
        }
        let records = self.ranks.drain(..).map(Rank::into_record);
        self.records.lock().expect("nobody panicked").extend(records);
        unfinished
    }
}
