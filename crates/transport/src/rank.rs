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

mod messages;
mod stuck;

pub(crate) use messages::Notice;

use crate::calls::{call_name, CallLog, CallName, CallRecord, PhaseTime};
use crate::job::RankJob;
use crate::log::Log;
use crate::matching::{Holds, Label, Queue};
use crate::outbox::Outbound;
use crate::record::{CallKind, PhaseRecord, RankRecord};
use crate::requests::{Requests, Slot, Wait};
use crate::settings::MpiSettings;
use messages::{Posted, Transfers, Unexpected};
use odonata_checkpoint::{Damaged, Reader, State, Writer};
use odonata_packet::Envelope;
use odonata_units::{Bytes, NodeId, Time};
use odonata_workload::expanded::{Expanded, Shared, Step};
use odonata_workload::program::{Call, GroupLists};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// What goes on in a rank.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
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
    /// At the end of a round of a program that is run several times, or of the program.
    Round,
    Finishing,
    Over,
    /// The program asked for something that can't be.
    Wrong(String),
}

/// The call that a rank is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct InCall {
    kind: CallKind,
    since: u64,
    blocked: Time,
    /// Its name, where calls are recorded.
    #[serde(deserialize_with = "call_name")]
    name: CallName,
}

/// Everything that a rank may touch while it runs.
pub(crate) struct Around<'a> {
    pub(crate) now_ps: u64,
    pub(crate) settings: &'a MpiSettings,
    pub(crate) shared: &'a Shared,
    /// Hands a message, with its number among those of its rank, to an interface.
    pub(crate) send: &'a mut dyn FnMut(Outbound, u64),
    /// Messages between ranks of the node, with their times.
    pub(crate) on_node: &'a mut Vec<(u64, Envelope)>,
    /// Where it is noted what becomes of messages, if it is.
    pub(crate) log: Option<&'a mut Log>,
    /// Where it is noted what ranks do, if it is.
    pub(crate) calls: Option<&'a mut CallLog>,
    /// Nodes of the ranks of the job.
    pub(crate) nodes: &'a [NodeId],
    pub(crate) packet: Bytes,
    /// Whether a rank is over when the network's time is there, and not when it can say when that will be: there are ranks
    /// that run for as long as others do.
    pub(crate) ends_in_time: bool,
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
    /// Messages that it has sent in this round.
    sent: u64,
    /// Whether its program has no end, and when the present round began.
    is_endless: bool,
    round_began: u64,
    /// The phase that it is in, since when, and its time in calls then.
    phase: Option<(u32, u64, Time)>,
    /// The call that was begun last, inside a collective that of the collective: for those who ask what it waits for.
    last: Option<Call>,
}

impl Rank {
    /// Writes what has become of it. Lists of ranks that communicators share are put in `lists`.
    pub(crate) fn save(&self, lists: &mut GroupLists, into: &mut Writer) {
        let Self {
            job: _,
            number: _,
            node: _,
            code,
            clock,
            doing,
            call,
            notices,
            posted,
            unexpected,
            requests,
            sends,
            receives,
            record,
            sent,
            is_endless: _,
            round_began,
            phase,
            last,
        } = self;
        code.save(lists, into);
        into.put(&(clock, doing, call, notices, requests, sends, receives, record, round_began, phase, last, sent));
        posted.save(into);
        unexpected.save(into);
    }

    /// Goes on from what was written.
    pub(crate) fn load(&mut self, shared: &Shared, lists: &GroupLists, from: &mut Reader<'_>) -> Result<(), Damaged> {
        self.code.load(shared, lists, from)?;
        (self.clock, self.doing, self.call, self.notices, self.requests, self.sends, self.receives, self.record) =
            from.get()?;
        (self.round_began, self.phase, self.last, self.sent) = from.get()?;
        self.posted.load(from)?;
        self.unexpected.load(from)
    }

    pub(crate) fn new(of: &RankJob, number: u32, node: NodeId) -> Self {
        let (job, start, ranks) = (of.job, of.start, of.node_of_rank.len() as u32);
        let record = RankRecord {
            job,
            rank: number,
            node,
            start,
            rounds: 0,
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
            posted: Queue::new(Holds::Receives),
            unexpected: Queue::new(Holds::Messages),
            requests: Requests::default(),
            sends: Transfers::default(),
            receives: Transfers::default(),
            record,
            sent: 0,
            is_endless: of.background,
            round_began: start.ps(),
            phase: None,
            last: None,
        }
    }

    /// Whether its program is at its end.
    pub(crate) fn is_over(&self) -> bool {
        self.doing == Doing::Over
    }

    /// Whether it waits, perhaps from a time on that the network has not come to.
    pub(crate) fn is_blocked(&self) -> bool {
        matches!(self.doing, Doing::Blocked { .. })
    }

    /// Whether its program asked for something that can't be.
    pub(crate) fn is_wrong(&self) -> bool {
        matches!(self.doing, Doing::Wrong(_))
    }

    /// Whether it will do something though no message comes.
    pub(crate) fn goes_on(&self, now_ps: u64) -> bool {
        match &self.doing {
            Doing::Over | Doing::Wrong(_) => false,
            // It may have computed before, ahead of the network's time.
            Doing::Blocked { since, .. } => *since > now_ps || !self.notices.is_empty(),
            Doing::Ready | Doing::Ending { .. } | Doing::Round | Doing::Finishing => true,
        }
    }

    /// When it has to be run again if nothing comes.
    pub(crate) fn wakes_ps(&self) -> Option<u64> {
        matches!(self.doing, Doing::Ending { .. } | Doing::Round | Doing::Finishing).then_some(self.clock)
    }

    /// Its host is told of something at `at_ps`.
    pub(crate) fn tell(&mut self, at_ps: u64, notice: Notice) {
        self.notices.push_back((at_ps, notice));
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
                Doing::Round | Doing::Finishing if self.clock > around.now_ps => return Ok(()),
                Doing::Round => {
                    self.record.rounds += 1;
                    self.doing = Doing::Ready;
                }
                Doing::Finishing => self.finish(),
                Doing::Over | Doing::Wrong(_) => return Ok(()),
            }
        }
    }

    fn step(&mut self, around: &mut Around<'_>) -> Result<(), String> {
        let Some(step) = self.code.next(around.shared)? else {
            self.end_phase(around);
            if around.ends_in_time {
                self.doing = Doing::Finishing;
            } else {
                self.finish();
            }
            return Ok(());
        };
        match step {
            Step::Call(Call::Compute { time }) | Step::Inner(Call::Compute { time }) => {
                self.record.compute += time;
                self.clock += time.ps();
            }
            Step::Call(Call::Sleep { time }) | Step::Inner(Call::Sleep { time }) => self.clock += time.ps(),
            Step::Call(Call::Mark { phase }) | Step::Inner(Call::Mark { phase }) => {
                self.end_phase(around);
                self.phase = Some((phase, self.clock, self.record.communication));
            }
            Step::Call(Call::Round) => self.end_round()?,
            Step::Call(call) => {
                self.enter(kind_of(&call), &call, around);
                self.body(call, false, around)?;
            }
            Step::Enter(call) => {
                self.last = Some(call);
                self.enter(CallKind::Collective, &call, around);
            }
            Step::Inner(call) => self.body(call, true, around)?,
            Step::Leave => self.doing = Doing::Ending { test: None },
        }
        Ok(())
    }

    fn finish(&mut self) {
        self.doing = Doing::Over;
        self.record.end = Some(Time(self.clock));
    }

    /// A round counts when the network's time is there: until then others may have come to their end.
    fn end_round(&mut self) -> Result<(), String> {
        if self.is_endless && self.clock == self.round_began {
            return Err("its program took no time, so it would go on for ever; expected calls or `compute`".into());
        }
        self.round_began = self.clock;
        self.sent = 0;
        self.doing = Doing::Round;
        Ok(())
    }

    fn enter(&mut self, kind: CallKind, call: &Call, around: &Around<'_>) {
        let name = if around.calls.is_some() { call.name() } else { "" };
        self.call = Some(InCall { kind, since: self.clock, blocked: Time::ZERO, name });
        self.record.calls += 1;
        self.clock += around.settings.enter.ps();
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
        if let Some(call) = &mut self.call {
            let blocked = Time(self.clock.saturating_sub(since));
            self.record.blocked[call.kind as usize] += blocked;
            call.blocked += blocked;
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
        let InCall { kind, since, blocked, name } = self.call.take().expect("the rank is in a call");
        let spent = Time(self.clock - since);
        self.record.communication += spent;
        self.record.in_calls[kind as usize] += spent;
        if let Some(calls) = &mut around.calls {
            let (job, rank, call) = (self.job, self.number, self.code.calls());
            let (entered, left) = (Time(since), Time(self.clock));
            calls.left(CallRecord { job, rank, call, name, entered, left, blocked });
        }
        self.doing = Doing::Ready;
        Ok(())
    }

    fn end_phase(&mut self, around: &mut Around<'_>) {
        let Some((phase, since, communication)) = self.phase.take() else { return };
        if let Some(calls) = &mut around.calls {
            let (job, rank) = (self.job, self.number);
            calls.passed(PhaseTime { job, rank, phase, began: Time(since), ended: Time(self.clock) });
        }
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
