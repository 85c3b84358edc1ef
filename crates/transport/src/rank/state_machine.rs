//! The state of a rank, and its steps from call to call.

use super::followed_loop::FollowedLoop;
use super::host::RankHost;
use super::lane::{ActiveCall, Lane, LaneState};
use super::tasks::TaskLanes;
use super::transfers::Notice;
use crate::calls::{CallLog, CallRecord, PhaseTime};
use crate::job::{RankJob, RankWork};
use crate::log::Log;
use crate::matching::Label;
use crate::outbox::OutboundMessage;
use crate::record::{CallKind, PhaseRecord, RankRecord};
use crate::requests::{Slot, SlotOwner, Wait};
use crate::settings::{MpiSettings, Progress};
use odonata_checkpoint::{DecodeError, Reader, Writer};
use odonata_packet::Envelope;
use odonata_programs::expansion::Step;
use odonata_programs::{Call, GroupLists};
use odonata_units::{Bytes, NodeId, RouterId, Time};

/// Everything that a rank uses while it runs.
pub(crate) struct RankContext<'a> {
    pub(crate) now_ps: u64,
    pub(crate) settings: &'a MpiSettings,
    pub(crate) work: &'a RankWork,
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

#[derive(Debug)]
pub(crate) struct Rank {
    pub(crate) job: u16,
    pub(crate) number: u32,
    pub(crate) node: NodeId,
    pub(super) lane: Lane,
    /// The lanes of a task graph. Then `lane` has only the state of the whole.
    pub(super) tasks: Option<Box<TaskLanes>>,
    pub(super) host: RankHost,
    pub(super) record: RankRecord,
    /// Messages sent in this round.
    pub(super) sent: u64,
    /// Whether the program repeats without end.
    pub(super) is_background: bool,
    /// Time of skipped iterations, which its clocks do not contain.
    pub(super) skipped: Time,
    /// A loop of its program, if iterations may be skipped. Runs with checkpoints skip none.
    pub(super) followed: Option<Box<FollowedLoop>>,
}

impl Rank {
    /// Saves the state. Group lists that communicators share go into `lists`.
    pub(crate) fn save(&self, lists: &mut GroupLists, into: &mut Writer) {
        let Self {
            job: _,
            number: _,
            node: _,
            lane,
            tasks,
            host,
            record,
            sent,
            is_background: _,
            skipped: _,
            followed: _,
        } = self;
        lane.save(tasks.is_none(), lists, into);
        tasks.iter().for_each(|tasks| tasks.save(into));
        host.save(into);
        into.put(&(record, sent));
    }

    /// Loads the state.
    pub(crate) fn load(
        &mut self,
        work: &RankWork,
        lists: &GroupLists,
        from: &mut Reader<'_>,
    ) -> Result<(), DecodeError> {
        self.lane.load(work, lists, from)?;
        self.tasks.as_deref_mut().map_or(Ok(()), |tasks| tasks.load(from))?;
        self.host.load(from)?;
        (self.record, self.sent) = from.get()?;
        Ok(())
    }

    pub(crate) fn new(of: &RankJob, number: u32, node: NodeId) -> Self {
        let (job, start, ranks) = (of.job, of.start, of.node_of_rank.len() as u32);
        let record = RankRecord { job, rank: number, node, start, ..RankRecord::default() };
        Self {
            job,
            number,
            node,
            lane: Lane::new(ranks, number, start),
            tasks: match &of.work {
                RankWork::Calls(_) => None,
                RankWork::Tasks(graph) => Some(Box::new(TaskLanes::new(graph, number, start))),
            },
            host: RankHost::default(),
            record,
            sent: 0,
            is_background: of.background,
            skipped: Time::ZERO,
            followed: None,
        }
    }

    /// The clock of the rank. In a call it is the clock of the host, which works for the lane.
    pub(super) fn clock(&self) -> u64 {
        match self.lane.call {
            Some(_) => self.host.clock,
            None => self.lane.clock,
        }
    }

    /// Whether the program has ended.
    pub(crate) fn is_finished(&self) -> bool {
        self.lane.state == LaneState::Finished
    }

    /// Whether its program made an invalid call.
    pub(crate) fn has_failed(&self) -> bool {
        matches!(self.lane.state, LaneState::Failed(_))
    }

    /// Whether it will act without a new message.
    pub(crate) fn will_act(&self, now_ps: u64, progress: Progress) -> bool {
        if self.tasks.is_some() {
            return self.wake_ps(progress).is_some();
        }
        match &self.lane.state {
            LaneState::Finished | LaneState::Failed(_) => false,
            // Its clock may be ahead of the network's clock.
            LaneState::Blocked { since, .. } => *since > now_ps || !self.host.notices.is_empty(),
            LaneState::Ready
            | LaneState::Computing
            | LaneState::LeavingCall { .. }
            | LaneState::EndingRound
            | LaneState::Finishing => true,
        }
    }

    /// When it must run again without a new message.
    pub(crate) fn wake_ps(&self, progress: Progress) -> Option<u64> {
        if let Some(tasks) = &self.tasks {
            let notice = self.host.notices.front().map(|(at, _)| *at);
            return (self.lane.state == LaneState::Ready).then(|| tasks.wake_ps(notice, progress))?;
        }
        let waits_for_clock = matches!(
            self.lane.state,
            LaneState::Computing | LaneState::LeavingCall { .. } | LaneState::EndingRound | LaneState::Finishing
        );
        waits_for_clock.then_some(self.clock())
    }

    /// Notifies its host at `at_ps`.
    pub(crate) fn notify(&mut self, at_ps: u64, notice: Notice) {
        self.host.notices.push_back((at_ps, notice));
        if let Some(tasks) = &mut self.tasks {
            tasks.stamp_notice();
        }
    }

    /// Runs as far as possible.
    pub(crate) fn run(&mut self, context: &mut RankContext<'_>) {
        let ran = if self.tasks.is_some() { self.advance_tasks(context) } else { self.advance(context) };
        if let Err(reason) = ran {
            self.lane.state = LaneState::Failed(reason);
        }
    }

    fn advance(&mut self, context: &mut RankContext<'_>) -> Result<(), String> {
        loop {
            match &self.lane.state {
                LaneState::Ready => self.step(context)?,
                LaneState::Computing => {
                    self.handle_until(self.lane.clock, context)?;
                    if self.lane.clock > context.now_ps {
                        return Ok(());
                    }
                    self.lane.state = LaneState::Ready;
                }
                LaneState::Blocked { incomplete: 0, wait, since } => {
                    let (wait, since) = (wait.clone(), *since);
                    self.unblock(&wait, since);
                }
                LaneState::Blocked { .. } => {
                    let Some((at, notice)) = self.host.notices.pop_front() else { return Ok(()) };
                    self.handle(at, notice, context)?;
                }
                LaneState::LeavingCall { test } => {
                    if self.host.clock > context.now_ps {
                        return Ok(());
                    }
                    let test = *test;
                    self.end_call(test, context)?;
                }
                LaneState::EndingRound | LaneState::Finishing if self.lane.clock > context.now_ps => return Ok(()),
                LaneState::EndingRound => {
                    self.record.rounds += 1;
                    self.lane.state = LaneState::Ready;
                }
                LaneState::Finishing => self.finish(),
                LaneState::Finished | LaneState::Failed(_) => return Ok(()),
            }
        }
    }

    fn step(&mut self, context: &mut RankContext<'_>) -> Result<(), String> {
        let Some(step) = self.lane.code.next(context.work.program())? else {
            self.end_phase(context);
            if context.ends_in_time {
                self.lane.state = LaneState::Finishing;
            } else {
                self.finish();
            }
            return Ok(());
        };
        if let Some(followed) = &mut self.followed {
            followed.follow(self.lane.code.started_blocks(), &self.record);
        }
        match step {
            Step::Call(Call::Compute { time }) => {
                self.record.compute += time;
                self.compute(time, context);
            }
            Step::Call(Call::Sleep { time }) => self.compute(time, context),
            Step::Call(Call::WaitUntil { time }) => {
                self.compute(Time(time.ps().saturating_sub(self.lane.clock)), context);
            }
            // A collective combines data in its call.
            Step::Inner(Call::Compute { time }) => {
                self.record.compute += time;
                self.host.clock += time.ps();
            }
            Step::Inner(Call::Sleep { time }) => self.host.clock += time.ps(),
            Step::Call(Call::Mark { phase }) | Step::Inner(Call::Mark { phase }) => {
                self.end_phase(context);
                self.lane.phase = Some((phase, self.clock(), self.record.communication));
            }
            Step::Call(Call::Round) => self.end_round()?,
            Step::Call(call) => {
                self.enter_call(kind_of(&call), &call, context);
                self.execute(call, false, context)?;
            }
            Step::Enter(call) => {
                self.lane.last = Some(call);
                self.enter_call(CallKind::Collective, &call, context);
            }
            Step::Inner(call) => self.execute(call, true, context)?,
            Step::Start { call, lane } => {
                let Call::Collective { request, .. } = call else { unreachable!("{call:?} has no lane") };
                self.lane.last = Some(call);
                self.enter_call(CallKind::Collective, &call, context);
                self.start_collective(lane, request, context)?;
                self.lane.state = LaneState::LeavingCall { test: None };
            }
            Step::Leave => self.lane.state = LaneState::LeavingCall { test: None },
        }
        Ok(())
    }

    /// Computes or sleeps. If the host makes progress meanwhile, the next call must not run before its time: it could
    /// take messages that come earlier.
    fn compute(&mut self, time: Time, context: &RankContext<'_>) {
        self.lane.clock += time.ps();
        if context.settings.progress == Progress::Async {
            self.lane.state = LaneState::Computing;
        }
    }

    fn finish(&mut self) {
        self.lane.state = LaneState::Finished;
        self.record.end = Some(Time(self.lane.clock) + self.skipped);
    }

    /// A round counts when the network's clock reaches its end, because the other jobs may have ended by then.
    fn end_round(&mut self) -> Result<(), String> {
        if self.is_background && self.lane.clock == self.lane.round_start {
            return Err("the program takes no time, so it would repeat forever; expected calls or `compute`".into());
        }
        self.lane.round_start = self.lane.clock;
        self.sent = 0;
        self.lane.state = LaneState::EndingRound;
        Ok(())
    }

    fn enter_call(&mut self, kind: CallKind, call: &Call, context: &RankContext<'_>) {
        let name = if context.calls.is_some() { call.name() } else { "" };
        let since = self.lane.clock;
        self.lane.call = Some(ActiveCall { kind, since, blocked: Time::ZERO, name });
        self.record.calls += 1;
        // The host may still work on messages that came during a computation.
        self.host.clock = self.host.clock.max(since + context.settings.enter.ps());
    }

    /// Executes a call up to the point where it blocks or ends.
    fn execute(&mut self, call: Call, inner: bool, context: &mut RankContext<'_>) -> Result<(), String> {
        self.lane.last = Some(call);
        if let Call::Test { request } = call {
            self.host.requests.check(&Wait::One(Slot::Program(request)))?;
            return self.return_at_once(inner, Some(request));
        }
        let owner = if inner { SlotOwner::Collective } else { SlotOwner::Program };
        let Some(wait) = self.begin(call, owner, context)? else { return self.return_at_once(inner, None) };
        let incomplete = self.host.requests.incomplete(&wait);
        self.lane.state = LaneState::Blocked { wait, incomplete, since: self.host.clock };
        Ok(())
    }

    /// Begins a call whose requests have an owner. Returns what it waits for, if it does.
    pub(super) fn begin(
        &mut self,
        call: Call,
        owner: SlotOwner,
        context: &mut RankContext<'_>,
    ) -> Result<Option<Wait>, String> {
        let source = self.number;
        let label = |tag, communicator| Label { communicator, source, tag };
        let slot = |request: u32| Slot::numbered(owner, request);
        let blocking = Slot::blocking(owner);
        let wait = match call {
            Call::Send { to, bytes, tag, communicator } => {
                self.send(to, label(tag, communicator), bytes, blocking, context)?;
                Wait::One(blocking)
            }
            Call::Recv { from, bytes, tag, communicator } => {
                self.receive(Label { communicator, source: from, tag }, bytes, blocking, context)?;
                Wait::One(blocking)
            }
            Call::Isend { to, bytes, tag, communicator, request } => {
                self.send(to, label(tag, communicator), bytes, slot(request), context)?;
                return Ok(None);
            }
            Call::Irecv { from, bytes, tag, communicator, request } => {
                self.receive(Label { communicator, source: from, tag }, bytes, slot(request), context)?;
                return Ok(None);
            }
            Call::Put { to, bytes } => {
                self.transfer(true, to, bytes, blocking, context)?;
                Wait::One(blocking)
            }
            Call::Get { from, bytes } => {
                self.transfer(false, from, bytes, blocking, context)?;
                Wait::One(blocking)
            }
            Call::Wait { request } => Wait::One(slot(request)),
            Call::WaitAll { first, count } => Wait::All(owner, first..first.saturating_add(count)),
            Call::WaitAny { first, count } => Wait::Any(owner, first..first.saturating_add(count)),
            Call::WaitSome { first, count } => Wait::Some(owner, first..first.saturating_add(count)),
            other => return Err(format!("{other:?} inside a collective")),
        };
        self.host.requests.check(&wait)?;
        Ok(Some(wait))
    }

    fn return_at_once(&mut self, inner: bool, test: Option<u32>) -> Result<(), String> {
        self.lane.state = if inner { LaneState::Ready } else { LaneState::LeavingCall { test } };
        Ok(())
    }

    /// Continues after a wait.
    fn unblock(&mut self, wait: &Wait, since: u64) {
        if let Some(call) = &mut self.lane.call {
            let blocked = Time(self.host.clock.saturating_sub(since));
            self.record.blocked[call.kind as usize] += blocked;
            call.blocked += blocked;
        }
        self.host.clock += self.host.requests.free(wait);
        self.lane.state = if self.lane.code.collective().is_some() {
            LaneState::Ready
        } else {
            LaneState::LeavingCall { test: None }
        };
    }

    /// Handles the notices that arrived by now, and leaves the call.
    fn end_call(&mut self, test: Option<u32>, context: &mut RankContext<'_>) -> Result<(), String> {
        self.handle_until(self.host.clock, context)?;
        if let Some(request) = test {
            self.host.clock += self.host.requests.free(&Wait::One(Slot::Program(request)));
        }
        self.host.clock += context.settings.leave.ps();
        self.lane.clock = self.host.clock;
        let ActiveCall { kind, since, blocked, name } = self.lane.call.take().expect("the rank is in a call");
        let spent = Time(self.lane.clock - since);
        self.record.communication += spent;
        self.record.in_calls[kind as usize] += spent;
        if let Some(calls) = &mut context.calls {
            let (job, rank, call) = (self.job, self.number, self.lane.code.calls());
            let (start, end) = (Time(since), Time(self.lane.clock));
            let of = context.work.program();
            let (place, program) = (self.lane.code.line(of).map(u64::from), self.lane.code.program(of));
            calls.calls.push(CallRecord { job, rank, call, name, start, end, blocked, after: None, place, program });
        }
        self.lane.state = LaneState::Ready;
        Ok(())
    }

    /// Handles the notices of times up to `by_ps`.
    fn handle_until(&mut self, by_ps: u64, context: &mut RankContext<'_>) -> Result<(), String> {
        while let Some(&(at, notice)) = self.host.notices.front().filter(|(at, _)| *at <= by_ps) {
            self.host.notices.pop_front();
            self.handle(at, notice, context)?;
        }
        Ok(())
    }

    fn end_phase(&mut self, context: &mut RankContext<'_>) {
        let Some((phase, since, communication)) = self.lane.phase.take() else { return };
        if let Some(calls) = &mut context.calls {
            let (job, rank) = (self.job, self.number);
            calls.phases.push(PhaseTime { job, rank, phase, start: Time(since), end: Time(self.clock()) });
        }
        let (phase, now) = (phase as usize, self.clock());
        if self.record.phases.len() <= phase {
            self.record.phases.resize(phase + 1, PhaseRecord::default());
        }
        let record = &mut self.record.phases[phase];
        record.count += 1;
        record.time += Time(now - since);
        record.communication += Time(self.record.communication.ps() - communication.ps());
    }
}

fn kind_of(call: &Call) -> CallKind {
    match call {
        Call::Send { .. } | Call::Isend { .. } | Call::Put { .. } => CallKind::Send,
        Call::Recv { .. } | Call::Irecv { .. } | Call::Get { .. } => CallKind::Receive,
        _ => CallKind::Wait,
    }
}
