//! A rank of the slow twin: a list of acts.

use super::{ACKNOWLEDGEMENT, DATA, EAGER, GET_REQUEST, ON_NODE, ON_NODE_RECEIPT, RENDEZVOUS_HEADER};
use odonata_packet::Envelope;
use odonata_programs::expansion::{CallExpander, JobProgram, Step};
use odonata_programs::{Call, ANY};
use odonata_transport::{MpiSettings, RankJob, RankWork};
use odonata_units::{Bytes, NodeId};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// A request: of the call, of the program, of a collective.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Request(u8, u32);

const OWN: Request = Request(0, 0);

#[derive(Clone, PartialEq, Debug)]
pub(super) enum Act {
    Spend(u64),
    Command(Envelope),
    OnNode(Envelope),
    Block { of: Vec<Request>, all: bool, one: bool },
    Post { from: u32, tag: u32, communicator: u16, bytes: u64, request: Request },
    Done(Request),
    Round,
    Test(Request),
    Drain,
    Leave,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Message {
    pub(super) kind: u8,
    pub(super) communicator: u16,
    pub(super) source: u32,
    pub(super) tag: u32,
    pub(super) bytes: u64,
    pub(super) transfer: u32,
}

pub(super) struct Receive {
    pub(super) from: u32,
    pub(super) tag: u32,
    pub(super) communicator: u16,
    pub(super) request: Request,
}

pub(super) struct PlainRank {
    pub(super) job: u16,
    pub(super) number: u32,
    pub(super) shared: JobProgram,
    pub(super) node_of_rank: Arc<Vec<NodeId>>,
    pub(super) code: CallExpander,
    pub(super) free_at: u64,
    pub(super) acts: VecDeque<Act>,
    /// Start of the current call, and time in calls.
    pub(super) entered: u64,
    pub(super) in_calls: u64,
    pub(super) is_finished: bool,
    pub(super) background: bool,
    pub(super) rounds: u64,
    /// Whether it is blocked and has no notice to handle.
    pub(super) waiting: bool,
    pub(super) inside: bool,
    pub(super) notices: VecDeque<(u64, Envelope)>,
    pub(super) posted: Vec<Receive>,
    pub(super) unexpected: Vec<Message>,
    pub(super) done: BTreeSet<Request>,
    /// Requests that a wait for any or some has freed.
    pub(super) taken: BTreeSet<Request>,
    /// Registered memory of requests of rendezvous messages.
    pub(super) registered: BTreeMap<Request, u64>,
    pub(super) transfers: Vec<(u32, u64, Request, u32)>,
}

impl PlainRank {
    pub(super) fn new(job: &RankJob, number: u32) -> Self {
        Self {
            job: job.job,
            number,
            shared: match &job.work {
                RankWork::Calls(shared) => shared.clone(),
                RankWork::Tasks(_) => unreachable!("the twin runs calls"),
            },
            node_of_rank: Arc::clone(&job.node_of_rank),
            code: CallExpander::new(job.node_of_rank.len() as u32, number),
            free_at: job.start.ps(),
            acts: VecDeque::new(),
            entered: 0,
            in_calls: 0,
            is_finished: false,
            background: job.background,
            rounds: 0,
            waiting: false,
            inside: false,
            notices: VecDeque::new(),
            posted: Vec::new(),
            unexpected: Vec::new(),
            done: BTreeSet::new(),
            taken: BTreeSet::new(),
            registered: BTreeMap::new(),
            transfers: Vec::new(),
        }
    }

    /// Turns the next call into acts.
    pub(super) fn next_step(&mut self, settings: &MpiSettings) {
        let Some(step) = self.code.next(&self.shared).expect("the programs of this test are right") else {
            self.is_finished = true;
            return;
        };
        match step {
            Step::Call(Call::Compute { time } | Call::Sleep { time }) => self.acts.push_back(Act::Spend(time.ps())),
            Step::Call(Call::WaitUntil { time }) => {
                self.acts.push_back(Act::Spend(time.ps().saturating_sub(self.free_at)));
            }
            Step::Call(Call::Mark { .. }) => {}
            Step::Call(Call::Round) => self.acts.push_back(Act::Round),
            Step::Call(call) => {
                self.entered = self.free_at;
                self.acts.push_back(Act::Spend(settings.enter.ps()));
                self.body(call, 1, settings);
                if !matches!(call, Call::Test { .. }) {
                    self.acts.push_back(Act::Drain);
                }
                self.acts.push_back(Act::Leave);
            }
            Step::Start { .. } => unreachable!("the twin has no nonblocking collectives"),
            Step::Enter(_) => {
                (self.entered, self.inside) = (self.free_at, true);
                self.acts.push_back(Act::Spend(settings.enter.ps()));
            }
            Step::Inner(call) => self.body(call, 2, settings),
            Step::Leave => {
                self.inside = false;
                self.acts.extend([Act::Drain, Act::Leave]);
            }
        }
    }

    pub(super) fn body(&mut self, call: Call, table: u8, settings: &MpiSettings) {
        let several = |first: u32, count: u32| (first..first + count).map(|slot| Request(table, slot)).collect();
        match call {
            Call::Send { to, bytes, tag, communicator } => {
                self.send((to, tag, communicator), bytes, OWN, settings);
                self.acts.push_back(Act::Block { of: vec![OWN], all: true, one: false });
            }
            Call::Isend { to, bytes, tag, communicator, request } => {
                self.send((to, tag, communicator), bytes, Request(table, request), settings);
            }
            Call::Recv { from, bytes, tag, communicator } => {
                self.receive((from, tag, communicator), bytes, OWN, settings);
                self.acts.push_back(Act::Block { of: vec![OWN], all: true, one: false });
            }
            Call::Irecv { from, bytes, tag, communicator, request } => {
                self.receive((from, tag, communicator), bytes, Request(table, request), settings);
            }
            Call::Wait { request } => {
                self.acts.push_back(Act::Block { of: vec![Request(table, request)], all: true, one: false });
            }
            Call::WaitAll { first, count } => {
                self.acts.push_back(Act::Block { of: several(first, count), all: true, one: false });
            }
            Call::WaitAny { first, count } => {
                self.acts.push_back(Act::Block { of: several(first, count), all: false, one: true });
            }
            Call::WaitSome { first, count } => {
                self.acts.push_back(Act::Block { of: several(first, count), all: false, one: false });
            }
            Call::Test { request } => self.acts.extend([Act::Drain, Act::Test(Request(table, request))]),
            other => panic!("{other:?}"),
        }
    }

    pub(super) fn registration(bytes: Bytes, settings: &MpiSettings) -> u64 {
        if bytes > settings.eager_limit {
            settings.register.ps() + bytes.0 / settings.page.0 * settings.register_page.ps()
        } else {
            0
        }
    }

    pub(super) fn send(
        &mut self,
        (to, tag, communicator): (u32, u32, u16),
        bytes: Bytes,
        request: Request,
        settings: &MpiSettings,
    ) {
        self.done.remove(&request);
        self.taken.remove(&request);
        let envelope = Envelope {
            bytes: bytes.0,
            tag,
            communicator,
            order: 0,
            sequence: self.transfers.len() as u32,
            source: self.number,
            destination: to,
            kind: EAGER,
        };
        self.acts.push_back(Act::Spend(settings.send_setup.ps()));
        if self.node_of_rank[to as usize] == self.node_of_rank[self.number as usize] {
            self.transfers.push((to, bytes.0, request, 0));
            self.acts.push_back(Act::OnNode(Envelope { kind: ON_NODE, ..envelope }));
            return;
        }
        self.acts.push_back(Act::Spend(settings.header_setup.ps()));
        if bytes <= settings.eager_limit {
            let copy = (settings.copy_ns_per_byte * bytes.0 as f64).round() as u64 * 1_000;
            self.acts.extend([Act::Spend(copy), Act::Command(envelope), Act::Done(request)]);
        } else {
            self.transfers.push((to, bytes.0, request, 0));
            let command = Act::Command(Envelope { kind: RENDEZVOUS_HEADER, ..envelope });
            self.acts.extend([Act::Spend(Self::registration(bytes, settings)), command]);
        }
    }

    pub(super) fn receive(
        &mut self,
        (from, tag, communicator): (u32, u32, u16),
        bytes: Bytes,
        request: Request,
        settings: &MpiSettings,
    ) {
        self.done.remove(&request);
        self.taken.remove(&request);
        let registration = Self::registration(bytes, settings);
        self.registered.insert(request, registration);
        self.acts.push_back(Act::Spend(registration));
        self.acts.push_back(Act::Post { from, tag, communicator, bytes: bytes.0, request });
    }

    /// Acts of a match, which precede all others.
    pub(super) fn matched(&mut self, request: Request, message: Message, settings: &MpiSettings) -> Vec<Act> {
        let answer = |kind, sequence| Envelope {
            kind,
            sequence,
            source: self.number,
            destination: message.source,
            ..Envelope::default()
        };
        let copy = |per_byte: f64| Act::Spend((per_byte * message.bytes as f64).round() as u64 * 1_000);
        let mut acts = vec![Act::Spend(settings.receive_setup.ps())];
        match message.kind {
            RENDEZVOUS_HEADER => {
                let get = Envelope { tag: self.transfers.len() as u32, ..answer(GET_REQUEST, message.transfer) };
                self.transfers.push((message.source, message.bytes, request, message.transfer));
                acts.push(Act::Command(get));
            }
            ON_NODE => {
                let received = answer(ON_NODE_RECEIPT, message.transfer);
                acts.extend([copy(settings.copy_ns_per_byte), Act::OnNode(received), Act::Done(request)]);
            }
            _ => acts.extend([copy(settings.receive_copy_ns_per_byte), Act::Done(request)]),
        }
        acts
    }

    /// Acts of a notice.
    pub(super) fn handle(&mut self, envelope: &Envelope, settings: &MpiSettings) -> Vec<Act> {
        match envelope.kind {
            EAGER | RENDEZVOUS_HEADER | ON_NODE => {
                let message = Message {
                    kind: envelope.kind,
                    communicator: envelope.communicator,
                    source: envelope.source,
                    tag: envelope.tag,
                    bytes: envelope.bytes,
                    transfer: envelope.sequence,
                };
                let place = self.posted.iter().position(|receive| {
                    receive.communicator == message.communicator
                        && [message.source, ANY].contains(&receive.from)
                        && [message.tag, ANY].contains(&receive.tag)
                });
                let compared = place.map_or(self.posted.len(), |place| place + 1) as u64;
                let mut acts = vec![Act::Spend(compared * settings.matching.ps())];
                match place {
                    None => self.unexpected.push(message),
                    Some(place) => {
                        let receive = self.posted.remove(place);
                        acts.extend(self.matched(receive.request, message, settings));
                    }
                }
                acts
            }
            DATA => {
                let (source, _, request, there) = self.transfers[envelope.sequence as usize];
                let acknowledgement = Envelope {
                    kind: ACKNOWLEDGEMENT,
                    sequence: there,
                    source: self.number,
                    destination: source,
                    ..Envelope::default()
                };
                vec![Act::Command(acknowledgement), Act::Done(request)]
            }
            ACKNOWLEDGEMENT | ON_NODE_RECEIPT => vec![Act::Done(self.transfers[envelope.sequence as usize].2)],
            other => panic!("{other}"),
        }
    }

    pub(super) fn before(&mut self, acts: Vec<Act>) {
        acts.into_iter().rev().for_each(|act| self.acts.push_front(act));
    }

    /// Frees requests and returns the time to deregister their memory.
    pub(super) fn free(&mut self, requests: &[Request]) -> u64 {
        requests.iter().filter_map(|request| self.registered.remove(request)).sum()
    }

    /// Posts a receive, or takes an unexpected message.
    pub(super) fn post(
        &mut self,
        (from, tag, communicator): (u32, u32, u16),
        bytes: u64,
        request: Request,
        settings: &MpiSettings,
    ) {
        let place = self.unexpected.iter().position(|message| {
            message.communicator == communicator
                && [message.source, ANY].contains(&from)
                && [message.tag, ANY].contains(&tag)
        });
        // Their order does not change, even for a wildcard.
        let compared = place.map_or(self.unexpected.len(), |place| place + 1) as u64;
        let mut acts = vec![Act::Spend(compared * settings.matching.ps())];
        match place {
            None => self.posted.push(Receive { from, tag, communicator, request }),
            Some(place) => {
                let message = self.unexpected.remove(place);
                assert!(message.bytes <= bytes);
                acts.extend(self.matched(request, message, settings));
            }
        }
        self.before(acts);
    }

    /// Continues if the wait is over, or handles a notice. Returns whether it did either.
    pub(super) fn block(&mut self, of: Vec<Request>, all: bool, one: bool, settings: &MpiSettings) -> bool {
        let open = of.iter().copied().filter(|request| !self.taken.contains(request));
        let open: Vec<Request> = open.collect();
        let there = open.iter().copied().filter(|request| self.done.contains(request));
        let there: Vec<Request> = there.collect();
        if there.len() == open.len() || !all && !there.is_empty() {
            let freed: Vec<Request> = if one { there.into_iter().take(1).collect() } else { there };
            if !all {
                self.taken.extend(&freed);
            }
            let time = self.free(&freed);
            self.before(vec![Act::Spend(time)]);
            return true;
        }
        let Some((at, envelope)) = self.notices.pop_front() else {
            self.acts.push_front(Act::Block { of, all, one });
            self.waiting = true;
            return false;
        };
        self.free_at = self.free_at.max(at);
        let mut acts = self.handle(&envelope, settings);
        acts.push(Act::Block { of, all, one });
        self.before(acts);
        true
    }
}
