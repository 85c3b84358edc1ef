//! A rank: a state machine that runs its program against the host's clock.
//!
//! ```text
//!             ┌──────────────► ready ─── a call that has to wait ──► blocked ─┐
//!             │                  │                                  ▲  │ works off what comes
//!             │ leaves the call  │ any other call                   └──┘
//!             │                  ▼                                     │ what it waited for is done
//!             └──────────────  ending  ◄─────────────────────────────────┘
//!                works off what has come by the end of the call
//! ```
//! A rank's clock may be ahead of the network's: it runs on to the end of a call and from there waits until the network
//! has got so far. What comes for a rank that computes stays in its list until the end of its next call.

use crate::matching::{Label, Queue};
use crate::outbox::{Outbound, Outbox};
use crate::record::{CallKind, PhaseRecord, RankRecord};
use crate::requests::{Requests, Slot, State, Wait};
use crate::settings::MpiSettings;
use crate::wire::{on_the_wire, Wire};
use crate::Peer;
use odonata_packet::Envelope;
use odonata_units::{Bytes, NodeId, Time};
use odonata_workload::program::{Call, Expanded, Shared, Step};
use std::collections::VecDeque;

/// Something that a host has to look at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Notice {
    /// A message: with its data, announced, or of the node.
    Message { kind: Wire, label: Label, bytes: u64, transfer: u32 },
    /// The data of a receive have come.
    Come { transfer: u32 },
    /// A send is complete.
    Complete { transfer: u32 },
}

/// What goes on in a rank.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Doing {
    Ready,
    Blocked {
        wait: Wait,
        missing: u32,
        since: u64,
    },
    /// At the end of a call; of a test, its request.
    Ending {
        test: Option<u32>,
    },
    Over,
    /// The program asked for something that can't be.
    Wrong(String),
}

/// The call that a rank is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct InCall {
    kind: CallKind,
    since: u64,
}

/// A receive that waits for its message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Posted {
    bytes: u64,
    slot: Slot,
}

/// A message that waits for its receive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Unexpected {
    kind: Wire,
    bytes: u64,
    transfer: u32,
}

/// A message of which only the announcement is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Transfer {
    peer: u32,
    bytes: u64,
    slot: Slot,
    /// Its number at the other end, at the receiver.
    there: u32,
}

/// Transfers by number.
#[derive(Default, Debug)]
struct Transfers {
    list: Vec<Transfer>,
    free: Vec<u32>,
}

impl Transfers {
    fn add(&mut self, transfer: Transfer) -> u32 {
        if let Some(number) = self.free.pop() {
            self.list[number as usize] = transfer;
            return number;
        }
        self.list.push(transfer);
        self.list.len() as u32 - 1
    }

    fn remove(&mut self, number: u32) -> Transfer {
        self.free.push(number);
        self.list[number as usize]
    }
}

/// Everything that a rank may touch while it runs.
pub(crate) struct Around<'a> {
    pub(crate) now_ps: u64,
    pub(crate) settings: &'a MpiSettings,
    pub(crate) shared: &'a Shared,
    pub(crate) outbox: &'a mut Outbox,
    /// Messages between ranks of the node, with their times.
    pub(crate) on_node: &'a mut Vec<(u64, Envelope)>,
    /// Where ranks of the job are.
    pub(crate) peers: &'a dyn Fn(u32) -> Peer,
    pub(crate) packet: Bytes,
}

#[derive(Debug)]
pub(crate) struct Rank {
    pub(crate) job: u16,
    pub(crate) number: u32,
    pub(crate) node: NodeId,
    code: Expanded,
    clock: u64,
    doing: Doing,
    call: Option<InCall>,
    notices: VecDeque<(u64, Notice)>,
    posted: Queue<Posted>,
    unexpected: Queue<Unexpected>,
    requests: Requests,
    sends: Transfers,
    receives: Transfers,
    record: RankRecord,
    /// The phase that it is in, since when, and its time in calls then.
    phase: Option<(u32, u64, Time)>,
    /// What the last blocking call was, for those who ask what it waits for.
    last: Option<Call>,
}

impl Rank {
    pub(crate) fn new(job: u16, number: u32, ranks: u32, node: NodeId, start: Time) -> Self {
        let record = RankRecord {
            job,
            rank: number,
            node,
            start,
            end: None,
            communication: Time::ZERO,
            compute: Time::ZERO,
            in_calls: [Time::ZERO; 4],
            blocked: [Time::ZERO; 4],
            calls: 0,
            messages: 0,
            bytes: 0,
            wire_bytes: 0,
            received_bytes: 0,
            phases: Vec::new(),
        };
        Self {
            job,
            number,
            node,
            code: Expanded::new(ranks, number),
            clock: start.ps(),
            doing: Doing::Ready,
            call: None,
            notices: VecDeque::new(),
            posted: Queue::default(),
            unexpected: Queue::default(),
            requests: Requests::default(),
            sends: Transfers::default(),
            receives: Transfers::default(),
            record,
            phase: None,
            last: None,
        }
    }

    /// Whether its program is at its end.
    pub(crate) fn is_over(&self) -> bool {
        self.doing == Doing::Over
    }

    /// When it has to be run again if nothing comes.
    pub(crate) fn wakes_ps(&self) -> Option<u64> {
        matches!(self.doing, Doing::Ending { .. }).then_some(self.clock)
    }

    /// Its host is told of something at `at_ps`.
    pub(crate) fn tell(&mut self, at_ps: u64, notice: Notice) {
        self.notices.push_back((at_ps, notice));
    }

    /// Its interface is asked for the data of a message that it announced: where to, and how many bytes.
    pub(crate) fn asked_for(&self, transfer: u32) -> (u32, u64) {
        let send = &self.sends.list[transfer as usize];
        (send.peer, send.bytes)
    }

    /// Goes on as far as it can.
    pub(crate) fn run(&mut self, around: &mut Around<'_>) {
        if let Err(reason) = self.go_on(around) {
            self.doing = Doing::Wrong(reason);
        }
    }

    fn go_on(&mut self, around: &mut Around<'_>) -> Result<(), String> {
        loop {
            match &self.doing {
                Doing::Ready => self.step(around)?,
                Doing::Blocked { missing: 0, wait, since } => {
                    let (wait, since) = (wait.clone(), *since);
                    self.unblock(&wait, since);
                }
                Doing::Blocked { .. } => {
                    let Some((at, notice)) = self.notices.pop_front() else { return Ok(()) };
                    self.look_at(at, notice, around)?;
                }
                Doing::Ending { test } => {
                    if self.clock > around.now_ps {
                        return Ok(());
                    }
                    let test = *test;
                    self.end_call(test, around)?;
                }
                Doing::Over | Doing::Wrong(_) => return Ok(()),
            }
        }
    }

    fn step(&mut self, around: &mut Around<'_>) -> Result<(), String> {
        let Some(step) = self.code.next(around.shared)? else {
            self.end_phase();
            self.doing = Doing::Over;
            self.record.end = Some(Time(self.clock));
            return Ok(());
        };
        match step {
            Step::Call(Call::Compute { time }) | Step::Inner(Call::Compute { time }) => {
                self.record.compute += time;
                self.clock += time.ps();
            }
            Step::Call(Call::Sleep { time }) | Step::Inner(Call::Sleep { time }) => self.clock += time.ps(),
            Step::Call(Call::Mark { phase }) | Step::Inner(Call::Mark { phase }) => {
                self.end_phase();
                self.phase = Some((phase, self.clock, self.record.communication));
            }
            Step::Call(call) => {
                self.enter(kind_of(&call), around.settings);
                self.body(call, false, around)?;
            }
            Step::Enter(call) => {
                self.last = Some(call);
                self.enter(CallKind::Collective, around.settings);
            }
            Step::Inner(call) => self.body(call, true, around)?,
            Step::Leave => self.doing = Doing::Ending { test: None },
        }
        Ok(())
    }

    fn enter(&mut self, kind: CallKind, settings: &MpiSettings) {
        self.call = Some(InCall { kind, since: self.clock });
        self.record.calls += 1;
        self.clock += settings.enter.ps();
    }

    /// What a call does at once, up to where it blocks or ends.
    fn body(&mut self, call: Call, inner: bool, around: &mut Around<'_>) -> Result<(), String> {
        self.last = Some(call);
        let slot = |request: u32| if inner { Slot::Inner(request) } else { Slot::Program(request) };
        let wait = match call {
            Call::Send { to, bytes, tag, communicator } => {
                self.send((to, communicator, tag), bytes, Slot::Own, around)?;
                Wait::One(Slot::Own)
            }
            Call::Recv { from, bytes, tag, communicator } => {
                self.receive(Label { communicator, source: from, tag }, bytes, Slot::Own, around)?;
                Wait::One(Slot::Own)
            }
            Call::Isend { to, bytes, tag, communicator, request } => {
                self.send((to, communicator, tag), bytes, slot(request), around)?;
                return self.no_wait(inner, None);
            }
            Call::Irecv { from, bytes, tag, communicator, request } => {
                self.receive(Label { communicator, source: from, tag }, bytes, slot(request), around)?;
                return self.no_wait(inner, None);
            }
            Call::Wait { request } => Wait::One(slot(request)),
            Call::WaitAll { first, count } => Wait::All(inner, first..first.saturating_add(count)),
            Call::WaitAny { first, count } => Wait::Any(inner, first..first.saturating_add(count)),
            Call::WaitSome { first, count } => Wait::Some(inner, first..first.saturating_add(count)),
            Call::Test { request } => {
                self.requests.check(&Wait::One(slot(request)))?;
                return self.no_wait(inner, Some(request));
            }
            other => return Err(format!("{other:?} inside a collective")),
        };
        self.requests.check(&wait)?;
        let missing = self.requests.missing(&wait);
        self.doing = Doing::Blocked { wait, missing, since: self.clock };
        Ok(())
    }

    fn no_wait(&mut self, inner: bool, test: Option<u32>) -> Result<(), String> {
        self.doing = if inner { Doing::Ready } else { Doing::Ending { test } };
        Ok(())
    }

    /// What the rank waited for is done.
    fn unblock(&mut self, wait: &Wait, since: u64) {
        if let Some(call) = self.call {
            self.record.blocked[call.kind as usize] += Time(self.clock.saturating_sub(since));
        }
        self.clock += self.requests.free(wait);
        self.doing = if self.code.collective().is_some() { Doing::Ready } else { Doing::Ending { test: None } };
    }

    /// Works off what has come by now, and leaves the call.
    fn end_call(&mut self, test: Option<u32>, around: &mut Around<'_>) -> Result<(), String> {
        let by = self.clock;
        while let Some(&(at, notice)) = self.notices.front().filter(|(at, _)| *at <= by) {
            self.notices.pop_front();
            self.look_at(at, notice, around)?;
        }
        if let Some(request) = test {
            self.clock += self.requests.free(&Wait::One(Slot::Program(request)));
        }
        self.clock += around.settings.leave.ps();
        let InCall { kind, since } = self.call.take().expect("the rank is in a call");
        let spent = Time(self.clock - since);
        self.record.communication += spent;
        self.record.in_calls[kind as usize] += spent;
        self.doing = Doing::Ready;
        Ok(())
    }

    fn end_phase(&mut self) {
        let Some((phase, since, communication)) = self.phase.take() else { return };
        let phase = phase as usize;
        if self.record.phases.len() <= phase {
            self.record.phases.resize(phase + 1, PhaseRecord::default());
        }
        let record = &mut self.record.phases[phase];
        record.count += 1;
        record.time += Time(self.clock - since);
        record.communication += Time(self.record.communication.ps() - communication.ps());
    }
}

fn kind_of(call: &Call) -> CallKind {
    match call {
        Call::Send { .. } | Call::Isend { .. } => CallKind::Send,
        Call::Recv { .. } | Call::Irecv { .. } => CallKind::Receive,
        _ => CallKind::Wait,
    }
}

/// Messages.
impl Rank {
    fn send(
        &mut self,
        (to, communicator, tag): (u32, u16, u32),
        bytes: Bytes,
        slot: Slot,
        around: &mut Around<'_>,
    ) -> Result<(), String> {
        let settings = around.settings;
        self.requests.begin(slot, 0)?;
        self.record.messages += 1;
        self.record.bytes += bytes.0;
        let peer = (around.peers)(to);
        self.clock += settings.send_setup.ps();
        let envelope = Envelope {
            bytes: bytes.0,
            tag,
            communicator: communicator.into(),
            sequence: 0,
            source: self.number,
            destination: to,
            kind: 0,
        };
        if peer.node == self.node {
            let transfer = self.sends.add(Transfer { peer: to, bytes: bytes.0, slot, there: 0 });
            let envelope = Envelope { kind: Wire::OnNode as u8, sequence: transfer, ..envelope };
            around.on_node.push((self.clock + settings.node_latency.ps(), envelope));
            return Ok(());
        }
        self.record.wire_bytes += on_the_wire(settings, around.packet, bytes).0;
        self.clock += settings.header.ps();
        if settings.is_eager(bytes) {
            self.clock += MpiSettings::copy_ps(settings.copy_ns_per_byte, bytes);
            self.command(Envelope { kind: Wire::Eager as u8, ..envelope }, peer, around);
            self.requests.done(slot);
        } else {
            self.clock += settings.registration_ps(bytes);
            let transfer = self.sends.add(Transfer { peer: to, bytes: bytes.0, slot, there: 0 });
            self.command(Envelope { kind: Wire::Announcement as u8, sequence: transfer, ..envelope }, peer, around);
        }
        Ok(())
    }

    /// Hands a message to the interface.
    fn command(&self, envelope: Envelope, peer: Peer, around: &mut Around<'_>) {
        let kind = Wire::of(envelope.kind);
        let start = if kind == Wire::Get { 0 } else { around.settings.nic_start.ps() };
        around.outbox.push(Outbound {
            ready_ps: self.clock + around.settings.host_latency.ps() + start,
            job: self.job,
            node: peer.node,
            interface: peer.interface,
            envelope,
            wire: kind.bytes(envelope.bytes, around.settings),
        });
    }

    fn receive(&mut self, label: Label, bytes: Bytes, slot: Slot, around: &mut Around<'_>) -> Result<(), String> {
        let settings = around.settings;
        let registration = settings.registration_ps(bytes);
        self.requests.begin(slot, registration)?;
        self.clock += registration;
        let (compared, found) = self.unexpected.take(|message| label.takes(message));
        self.clock += compared as u64 * settings.matching.ps();
        let posted = Posted { bytes: bytes.0, slot };
        match found {
            Some((message, Unexpected { kind, bytes, transfer })) => {
                self.matched(posted, message, (kind, bytes, transfer), around)
            }
            None => {
                self.posted.push(label, posted);
                Ok(())
            }
        }
    }

    /// Works off a notice that came at `at`.
    fn look_at(&mut self, at: u64, notice: Notice, around: &mut Around<'_>) -> Result<(), String> {
        self.clock = self.clock.max(at);
        match notice {
            Notice::Message { kind, label, bytes, transfer } => {
                let (compared, found) = self.posted.take(|receive| receive.takes(&label));
                self.clock += compared as u64 * around.settings.matching.ps();
                match found {
                    Some((_, posted)) => self.matched(posted, label, (kind, bytes, transfer), around)?,
                    None => self.unexpected.push(label, Unexpected { kind, bytes, transfer }),
                }
            }
            Notice::Come { transfer } => {
                let Transfer { peer, bytes, slot, there } = self.receives.remove(transfer);
                self.done(slot);
                self.record.received_bytes += bytes;
                let envelope = self.answer(Wire::Acknowledgement, peer, there);
                self.command(Envelope { bytes, ..envelope }, (around.peers)(peer), around);
            }
            Notice::Complete { transfer } => {
                let send = self.sends.remove(transfer);
                self.done(send.slot);
            }
        }
        Ok(())
    }

    fn answer(&self, kind: Wire, to: u32, sequence: u32) -> Envelope {
        Envelope { kind: kind as u8, source: self.number, destination: to, sequence, ..Envelope::default() }
    }

    /// A receive and a message have found each other.
    fn matched(
        &mut self,
        posted: Posted,
        message: Label,
        (kind, bytes, transfer): (Wire, u64, u32),
        around: &mut Around<'_>,
    ) -> Result<(), String> {
        if bytes > posted.bytes {
            return Err(format!(
                "receives at most {} B from rank {} with tag {}, but the message has {bytes} B",
                posted.bytes, message.source, message.tag
            ));
        }
        let settings = around.settings;
        self.clock += settings.receive_setup.ps();
        let copied = |ns_per_byte| MpiSettings::copy_ps(ns_per_byte, Bytes(bytes));
        match kind {
            Wire::Announcement => {
                let there = Transfer { peer: message.source, bytes, slot: posted.slot, there: transfer };
                let here = self.receives.add(there);
                let get = Envelope { tag: here, ..self.answer(Wire::Get, message.source, transfer) };
                self.command(get, (around.peers)(message.source), around);
                return Ok(());
            }
            Wire::OnNode => {
                self.clock += copied(settings.copy_ns_per_byte);
                around.on_node.push((self.clock, self.answer(Wire::Received, message.source, transfer)));
            }
            _ => self.clock += copied(settings.receive_copy_ns_per_byte),
        }
        self.record.received_bytes += bytes;
        self.done(posted.slot);
        Ok(())
    }

    /// A request is done, which may be what the rank waits for.
    fn done(&mut self, slot: Slot) {
        self.requests.done(slot);
        if let Doing::Blocked { wait, missing, .. } = &mut self.doing {
            if Requests::concerns(wait, slot) {
                *missing = if matches!(wait, Wait::All(..)) { *missing - 1 } else { 0 };
            }
        }
    }
}

/// At the end of a run.
impl Rank {
    pub(crate) fn into_record(self) -> RankRecord {
        self.record
    }

    /// What it waits for, if it is not at its end: since when, the rank that it waits for and in words.
    pub(crate) fn waits_for(&self, shared: &Shared) -> (u64, Option<u32>, String) {
        let place = self.code.line(shared).map_or(String::new(), |line| format!(", line {line}"));
        let place = format!("call {}{place}", self.code.calls());
        if let Doing::Wrong(reason) = &self.doing {
            return (self.clock, None, format!("{reason} ({place})"));
        }
        let (since, wait) = match &self.doing {
            Doing::Blocked { wait, since, .. } => (*since, Some(wait)),
            _ => (self.clock, None),
        };
        let call = self.last.map_or(String::new(), |call| format!("{call:?}"));
        let within = self.code.collective().map_or(String::new(), |(operation, count)| {
            format!(" in {}, collective {} of its communicator", operation.name(), count + 1)
        });
        let peer = self.last.and_then(|call| peer_of(&call)).or_else(|| {
            let pending = |slot: u32| self.requests.state(Slot::Program(slot)) == State::Pending;
            let first = wait.and_then(|wait| match wait {
                Wait::All(false, slots) => slots.clone().find(|slot| pending(*slot)),
                _ => None,
            });
            first.and_then(|slot| self.peer_of_slot(Slot::Program(slot)))
        });
        (since, peer, format!("{call}{within} ({place})"))
    }

    /// The rank that a pending request needs.
    fn peer_of_slot(&self, slot: Slot) -> Option<u32> {
        let transfer = self.sends.list.iter().chain(&self.receives.list).find(|transfer| transfer.slot == slot);
        transfer.map(|transfer| transfer.peer)
    }

    /// Memory of it.
    pub(crate) fn memory_bytes(&self) -> usize {
        size_of::<Self>()
            + self.code.memory_bytes()
            + self.notices.capacity() * size_of::<(u64, Notice)>()
            + self.posted.memory_bytes()
            + self.unexpected.memory_bytes()
            + self.requests.memory_bytes()
            + (self.sends.list.capacity() + self.receives.list.capacity()) * size_of::<Transfer>()
    }
}

fn peer_of(call: &Call) -> Option<u32> {
    match *call {
        Call::Send { to, .. } | Call::Isend { to, .. } => Some(to),
        Call::Recv { from, .. } | Call::Irecv { from, .. } => Some(from),
        _ => None,
    }
}
