//! The state of a rank, and its steps from call to call.

use super::transfers::{Notice, PostedReceive, ReceivedMessage, Transfers};
use crate::calls::{call_name, CallLog, CallName, CallRecord, PhaseTime};
use crate::job::RankJob;
use crate::log::Log;
use crate::matching::{Label, MatchQueue, QueueKind};
use crate::outbox::OutboundMessage;
use crate::record::{CallKind, PhaseRecord, RankRecord};
use crate::requests::{Requests, Slot, Wait};
use crate::settings::MpiSettings;
use odonata_checkpoint::{DecodeError, Reader, State, Writer};
use odonata_packet::Envelope;
use odonata_programs::expansion::{CallExpander, JobProgram, Step};
use odonata_programs::{Call, GroupLists};
use odonata_units::{Bytes, NodeId, RouterId, Time};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// State of a rank.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum RankState {
    Ready,
    Blocked {
        wait: Wait,
        incomplete: u32,
        since: u64,
    },
    /// At the end of a call; `test` is the request of a test.
    LeavingCall {
        test: Option<u32>,
    },
    /// At the end of a round of a repeated program, or of the program.
    EndingRound,
    Finishing,
    Finished,
    /// The program made an invalid call.
    Failed(String),
}

/// The call that a rank is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct ActiveCall {
    kind: CallKind,
    pub(super) since: u64,
    blocked: Time,
    /// Name of the call, if calls are recorded.
    #[serde(deserialize_with = "call_name")]
    name: CallName,
}

/// Everything that a rank uses while it runs.
pub(crate) struct RankContext<'a> {
    pub(crate) now_ps: u64,
    pub(crate) settings: &'a MpiSettings,
    pub(crate) shared: &'a JobProgram,
    /// Passes a message and its number within the rank to a NIC.
    pub(crate) send: &'a mut dyn FnMut(OutboundMessage, u64),
    /// Messages between ranks of the node, with their times.
    pub(crate) on_node: &'a mut Vec<(u64, Envelope)>,
    /// Log of messages, if they are recorded.
    pub(crate) log: Option<&'a mut Log>,
    /// Log of calls, if they are recorded.
    pub(crate) calls: Option<&'a mut CallLog>,
    /// Nodes of the ranks of the job.
    pub(crate) nodes: &'a [NodeId],
    /// Router of every node; empty if they are not known.
    pub(crate) routers: &'a [RouterId],
    pub(crate) packet: Bytes,
    /// Whether a rank ends only when the network's clock reaches its end. Needed when background jobs run until the
    /// others end.
    pub(crate) ends_in_time: bool,
}

impl RankContext<'_> {
    pub(super) fn are_on_one_router(&self, one: NodeId, other: NodeId) -> bool {
        self.routers.get(one.index()).is_some_and(|router| *router == self.routers[other.index()])
    }
}

#[derive(Debug)]
pub(crate) struct Rank {
    pub(crate) job: u16,
    pub(crate) number: u32,
    pub(crate) node: NodeId,
    pub(super) code: CallExpander,
    pub(super) clock: u64,
    pub(super) state: RankState,
    pub(super) call: Option<ActiveCall>,
    pub(super) notices: VecDeque<(u64, Notice)>,
    pub(super) posted: MatchQueue<PostedReceive>,
    pub(super) unexpected: MatchQueue<ReceivedMessage>,
    pub(super) requests: Requests,
    pub(super) sends: Transfers,
    pub(super) receives: Transfers,
    pub(super) record: RankRecord,
    /// Messages sent in this round.
    pub(super) sent: u64,
    /// Whether the program repeats without end, and the start of this round.
    pub(super) is_background: bool,
    pub(super) round_start: u64,
    /// The current phase, its start, and the time in calls at its start.
    pub(super) phase: Option<(u32, u64, Time)>,
    /// The last call, or the last call inside a collective. Reports use it.
    pub(super) last: Option<Call>,
}

impl Rank {
    /// Saves the state. Group lists that communicators share go into `lists`.
    pub(crate) fn save(&self, lists: &mut GroupLists, into: &mut Writer) {
        let Self {
            job: _,
            number: _,
            node: _,
            code,
            clock,
            state,
            call,
            notices,
            posted,
            unexpected,
            requests,
            sends,
            receives,
            record,
            sent,
            is_background: _,
            round_start,
            phase,
            last,
        } = self;
        code.save(lists, into);
        into.put(&(clock, state, call, notices, requests, sends, receives, record, round_start, phase, last, sent));
        posted.save(into);
        unexpected.save(into);
    }

    /// Loads the state.
    pub(crate) fn load(
        &mut self,
        shared: &JobProgram,
        lists: &GroupLists,
        from: &mut Reader<'_>,
    ) -> Result<(), DecodeError> {
        self.code.load(shared, lists, from)?;
        (self.clock, self.state, self.call, self.notices, self.requests, self.sends, self.receives, self.record) =
            from.get()?;
        (self.round_start, self.phase, self.last, self.sent) = from.get()?;
        self.posted.load(from)?;
        self.unexpected.load(from)
    }

    pub(crate) fn new(of: &RankJob, number: u32, node: NodeId) -> Self {
        let (job, start, ranks) = (of.job, of.start, of.node_of_rank.len() as u32);
        let record = RankRecord { job, rank: number, node, start, ..RankRecord::default() };
        Self {
            job,
            number,
            node,
            code: CallExpander::new(ranks, number),
            clock: start.ps(),
            state: RankState::Ready,
            call: None,
            notices: VecDeque::new(),
            posted: MatchQueue::new(QueueKind::Receives),
            unexpected: MatchQueue::new(QueueKind::Messages),
            requests: Requests::default(),
            sends: Transfers::default(),
            receives: Transfers::default(),
            record,
            sent: 0,
            is_background: of.background,
            round_start: start.ps(),
            phase: None,
            last: None,
        }
    }

    /// Whether the program has ended.
    pub(crate) fn is_finished(&self) -> bool {
        self.state == RankState::Finished
    }

    /// Whether its program made an invalid call.
    pub(crate) fn has_failed(&self) -> bool {
        matches!(self.state, RankState::Failed(_))
    }

    /// Whether it will act without a new message.
    pub(crate) fn will_act(&self, now_ps: u64) -> bool {
        match &self.state {
            RankState::Finished | RankState::Failed(_) => false,
            // Its clock may be ahead of the network's clock.
            RankState::Blocked { since, .. } => *since > now_ps || !self.notices.is_empty(),
            RankState::Ready | RankState::LeavingCall { .. } | RankState::EndingRound | RankState::Finishing => true,
        }
    }

    /// When it must run again without a new message.
    pub(crate) fn wake_ps(&self) -> Option<u64> {
        matches!(self.state, RankState::LeavingCall { .. } | RankState::EndingRound | RankState::Finishing)
            .then_some(self.clock)
    }

    /// Notifies its host at `at_ps`.
    pub(crate) fn notify(&mut self, at_ps: u64, notice: Notice) {
        self.notices.push_back((at_ps, notice));
    }

    /// Runs as far as possible.
    pub(crate) fn run(&mut self, context: &mut RankContext<'_>) {
        if let Err(reason) = self.advance(context) {
            self.state = RankState::Failed(reason);
        }
    }

    fn advance(&mut self, context: &mut RankContext<'_>) -> Result<(), String> {
        loop {
            match &self.state {
                RankState::Ready => self.step(context)?,
                RankState::Blocked { incomplete: 0, wait, since } => {
                    let (wait, since) = (wait.clone(), *since);
                    self.unblock(&wait, since);
                }
                RankState::Blocked { .. } => {
                    let Some((at, notice)) = self.notices.pop_front() else { return Ok(()) };
                    self.handle(at, notice, context)?;
                }
                RankState::LeavingCall { test } => {
                    if self.clock > context.now_ps {
                        return Ok(());
                    }
                    let test = *test;
                    self.end_call(test, context)?;
                }
                RankState::EndingRound | RankState::Finishing if self.clock > context.now_ps => return Ok(()),
                RankState::EndingRound => {
                    self.record.rounds += 1;
                    self.state = RankState::Ready;
                }
                RankState::Finishing => self.finish(),
                RankState::Finished | RankState::Failed(_) => return Ok(()),
            }
        }
    }

    fn step(&mut self, context: &mut RankContext<'_>) -> Result<(), String> {
        let Some(step) = self.code.next(context.shared)? else {
            self.end_phase(context);
            if context.ends_in_time {
                self.state = RankState::Finishing;
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
                self.end_phase(context);
                self.phase = Some((phase, self.clock, self.record.communication));
            }
            Step::Call(Call::Round) => self.end_round()?,
            Step::Call(call) => {
                self.enter_call(kind_of(&call), &call, context);
                self.execute(call, false, context)?;
            }
            Step::Enter(call) => {
                self.last = Some(call);
                self.enter_call(CallKind::Collective, &call, context);
            }
            Step::Inner(call) => self.execute(call, true, context)?,
            Step::Leave => self.state = RankState::LeavingCall { test: None },
        }
        Ok(())
    }

    fn finish(&mut self) {
        self.state = RankState::Finished;
        self.record.end = Some(Time(self.clock));
    }

    /// A round counts when the network's clock reaches its end, because the other jobs may have ended by then.
    fn end_round(&mut self) -> Result<(), String> {
        if self.is_background && self.clock == self.round_start {
            return Err("the program takes no time, so it would repeat forever; expected calls or `compute`".into());
        }
        self.round_start = self.clock;
        self.sent = 0;
        self.state = RankState::EndingRound;
        Ok(())
    }

    fn enter_call(&mut self, kind: CallKind, call: &Call, context: &RankContext<'_>) {
        let name = if context.calls.is_some() { call.name() } else { "" };
        self.call = Some(ActiveCall { kind, since: self.clock, blocked: Time::ZERO, name });
        self.record.calls += 1;
        self.clock += context.settings.enter.ps();
    }

    /// Executes a call up to the point where it blocks or ends.
    fn execute(&mut self, call: Call, inner: bool, context: &mut RankContext<'_>) -> Result<(), String> {
        self.last = Some(call);
        let source = self.number;
        let label = |tag, communicator| Label { communicator, source, tag };
        let slot = |request: u32| Slot::numbered(inner, request);
        let wait = match call {
            Call::Send { to, bytes, tag, communicator } => {
                self.send(to, label(tag, communicator), bytes, Slot::BlockingCall, context)?;
                Wait::One(Slot::BlockingCall)
            }
            Call::Recv { from, bytes, tag, communicator } => {
                self.receive(Label { communicator, source: from, tag }, bytes, Slot::BlockingCall, context)?;
                Wait::One(Slot::BlockingCall)
            }
            Call::Isend { to, bytes, tag, communicator, request } => {
                self.send(to, label(tag, communicator), bytes, slot(request), context)?;
                return self.return_at_once(inner, None);
            }
            Call::Irecv { from, bytes, tag, communicator, request } => {
                self.receive(Label { communicator, source: from, tag }, bytes, slot(request), context)?;
                return self.return_at_once(inner, None);
            }
            Call::Wait { request } => Wait::One(slot(request)),
            Call::WaitAll { first, count } => Wait::All(inner, first..first.saturating_add(count)),
            Call::WaitAny { first, count } => Wait::Any(inner, first..first.saturating_add(count)),
            Call::WaitSome { first, count } => Wait::Some(inner, first..first.saturating_add(count)),
            Call::Test { request } => {
                self.requests.check(&Wait::One(slot(request)))?;
                return self.return_at_once(inner, Some(request));
            }
            other => return Err(format!("{other:?} inside a collective")),
        };
        self.requests.check(&wait)?;
        let incomplete = self.requests.incomplete(&wait);
        self.state = RankState::Blocked { wait, incomplete, since: self.clock };
        Ok(())
    }

    fn return_at_once(&mut self, inner: bool, test: Option<u32>) -> Result<(), String> {
        self.state = if inner { RankState::Ready } else { RankState::LeavingCall { test } };
        Ok(())
    }

    /// Continues after a wait.
    fn unblock(&mut self, wait: &Wait, since: u64) {
        if let Some(call) = &mut self.call {
            let blocked = Time(self.clock.saturating_sub(since));
            self.record.blocked[call.kind as usize] += blocked;
            call.blocked += blocked;
        }
        self.clock += self.requests.free(wait);
        self.state =
            if self.code.collective().is_some() { RankState::Ready } else { RankState::LeavingCall { test: None } };
    }

    /// Handles the notices that arrived by now, and leaves the call.
    fn end_call(&mut self, test: Option<u32>, context: &mut RankContext<'_>) -> Result<(), String> {
        let by = self.clock;
        while let Some(&(at, notice)) = self.notices.front().filter(|(at, _)| *at <= by) {
            self.notices.pop_front();
            self.handle(at, notice, context)?;
        }
        if let Some(request) = test {
            self.clock += self.requests.free(&Wait::One(Slot::Program(request)));
        }
        self.clock += context.settings.leave.ps();
        let ActiveCall { kind, since, blocked, name } = self.call.take().expect("the rank is in a call");
        let spent = Time(self.clock - since);
        self.record.communication += spent;
        self.record.in_calls[kind as usize] += spent;
        if let Some(calls) = &mut context.calls {
            let (job, rank, call) = (self.job, self.number, self.code.calls());
            let (start, end) = (Time(since), Time(self.clock));
            calls.calls.push(CallRecord { job, rank, call, name, start, end, blocked });
        }
        self.state = RankState::Ready;
        Ok(())
    }

    fn end_phase(&mut self, context: &mut RankContext<'_>) {
        let Some((phase, since, communication)) = self.phase.take() else { return };
        if let Some(calls) = &mut context.calls {
            let (job, rank) = (self.job, self.number);
            calls.phases.push(PhaseTime { job, rank, phase, start: Time(since), end: Time(self.clock) });
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
