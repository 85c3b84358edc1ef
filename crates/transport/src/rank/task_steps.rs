//! The steps of a rank that runs the tasks of a task graph.

use super::lane::LaneState;
use super::state_machine::{Rank, RankContext};
use super::tasks::Next;
use crate::calls::CallRecord;
use crate::matching::Label;
use crate::record::CallKind;
use crate::requests::Slot;
use crate::settings::{MpiSettings, Progress};
use odonata_trace::{Task, Work};
use odonata_units::Time;
use std::cmp::Reverse;

impl Rank {
    /// Runs the tasks of a task graph as far as possible.
    pub(super) fn advance_tasks(&mut self, context: &mut RankContext<'_>) -> Result<(), String> {
        let now = context.now_ps;
        while self.lane.state == LaneState::Ready {
            let lanes = self.tasks.as_deref_mut().expect("a task graph");
            let limit = context.settings.task_window;
            let tasks = &lanes.graph.ranks[lanes.rank as usize];
            lanes.window.read(tasks, now, limit).map_err(|late| lanes.too_late(late, limit))?;
            lanes.queue_ready();
            let notice = self.host.notices.front().map(|(at, _)| *at);
            match lanes.next(now, notice, context.settings.progress) {
                Some(Next::Due) => {
                    let Reverse((_, stamp, task)) = lanes.due.pop().expect("a task that is due");
                    let Task { work, lane, .. } = lanes.task(task);
                    let lane = &mut lanes.lanes[usize::from(lane)];
                    if lane.busy_until > now && !matches!(work, Work::Receive { .. }) {
                        lane.waiting.push(Reverse((stamp, task)));
                    } else {
                        self.start_task(task, context)?;
                    }
                }
                Some(Next::OnLane(lane)) => {
                    let Reverse((_, task)) = lanes.lanes[lane].waiting.pop().expect("a task that waits");
                    self.start_task(task, context)?;
                }
                Some(Next::Notice) => self.handle_in_graph(context)?,
                None => {
                    self.finish_tasks(now);
                    return Ok(());
                }
            }
            self.record_ended(context);
        }
        Ok(())
    }

    /// Records the tasks that ended.
    fn record_ended(&mut self, context: &mut RankContext<'_>) {
        let lanes = self.tasks.as_deref_mut().expect("a task graph");
        if let Some(calls) = &mut context.calls {
            for &(task, end_ps) in &lanes.ended {
                let name = match lanes.task(task).work {
                    Work::Send { .. } => "send",
                    Work::Receive { .. } => "recv",
                    Work::Compute { .. } => "compute",
                };
                let (start_ps, after) = lanes.window.started(task).expect("a task is open until its end");
                calls.calls.push(CallRecord {
                    job: self.job,
                    rank: self.number,
                    call: u64::from(task) + 1,
                    name,
                    start: Time(start_ps),
                    end: Time(end_ps),
                    blocked: Time::ZERO,
                    after: Some(after.map_or(0, |task| u64::from(task) + 1)),
                    place: lanes.tasks().place(task),
                    program: None,
                });
            }
        }
        lanes.ended.clear();
    }

    fn start_task(&mut self, number: u32, context: &mut RankContext<'_>) -> Result<(), String> {
        let (now, source) = (context.now_ps, self.number);
        let lanes = self.tasks.as_deref_mut().expect("a task graph");
        let task = lanes.task(number);
        let lane = usize::from(task.lane);
        lanes.window.start(number, now, lanes.lanes[lane].task);
        match task.work {
            Work::Compute { time } => {
                let end = now + time.ps();
                lanes.lanes[lane].busy_until = end;
                lanes.lanes[lane].task = Some(number);
                // Communication is the time in which no lane computes.
                self.record.communication += Time(now.saturating_sub(lanes.computes_until));
                lanes.computes_until = lanes.computes_until.max(end);
                lanes.end(number, end);
                self.record.compute += time;
            }
            Work::Send { to, bytes, tag, communicator } => {
                self.record.calls += 1;
                self.host.clock = self.host.clock.max(now + context.settings.enter.ps());
                self.send(to, Label { communicator, source, tag }, bytes, Slot::Task(number), context)?;
                let end = self.host.clock + context.settings.leave.ps();
                let lane = &mut self.tasks.as_deref_mut().expect("a task graph").lanes[lane];
                (lane.busy_until, lane.task) = (end, Some(number));
                self.record.in_calls[CallKind::Send as usize] += Time(end - now);
            }
            Work::Receive { from, bytes, tag, communicator } => {
                self.record.calls += 1;
                self.host.clock = self.host.clock.max(now);
                self.receive(Label { communicator, source: from, tag }, bytes, Slot::Task(number), context)?;
                self.record.in_calls[CallKind::Receive as usize] += Time(self.host.clock - now);
            }
        }
        Ok(())
    }

    /// Handles the first notice. Without asynchronous progress, a free lane does it.
    fn handle_in_graph(&mut self, context: &mut RankContext<'_>) -> Result<(), String> {
        let (at, notice) = self.host.notices.pop_front().expect("a notice");
        let lanes = self.tasks.as_deref_mut().expect("a task graph");
        lanes.notice_stamps.pop_front();
        // The host does not begin before a lane is free for it.
        let (at, lane) = match context.settings.progress {
            Progress::Async => (at, None),
            Progress::InCalls => (context.now_ps, lanes.free_lane(context.now_ps)),
        };
        self.handle(at, notice, context)?;
        if let Some(lane) = lane {
            let lanes = self.tasks.as_deref_mut().expect("a task graph");
            lanes.lanes[lane].busy_until = self.host.clock;
            if let Some(&(task, _)) = lanes.ended.last() {
                lanes.lanes[lane].task = Some(task);
            }
        }
        Ok(())
    }

    /// Ends a task whose request is complete.
    pub(super) fn end_task(&mut self, number: u32, settings: &MpiSettings) {
        let lanes = self.tasks.as_deref_mut().expect("a task graph");
        if let Work::Receive { bytes, .. } = lanes.task(number).work {
            self.host.clock += settings.registration_ps(bytes);
        }
        lanes.end(number, self.host.clock);
    }

    /// Ends the rank after its last task. Its time outside of computations is communication.
    fn finish_tasks(&mut self, now_ps: u64) {
        let lanes = self.tasks.as_deref().expect("a task graph");
        let end_ps = lanes.window.last_end_ps();
        if !lanes.window.is_done(lanes.tasks()) || end_ps > now_ps {
            return;
        }
        let record = &mut self.record;
        record.communication += Time(end_ps.saturating_sub(lanes.computes_until));
        let in_calls = record.in_calls[CallKind::Send as usize] + record.in_calls[CallKind::Receive as usize];
        let waited = Time(record.communication.ps().saturating_sub(in_calls.ps()));
        record.in_calls[CallKind::Wait as usize] = waited;
        record.blocked[CallKind::Wait as usize] = waited;
        record.end = Some(Time(end_ps));
        self.lane.state = LaneState::Finished;
    }
}
