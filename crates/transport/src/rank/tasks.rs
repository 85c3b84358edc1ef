//! A rank whose program is a task graph: its lanes and the tasks that they run.
//!
//! The rank is never ahead of the network's clock. At each time it takes what may happen, in the order in which it
//! became known (its *stamp*), as the LogGOPS executor does:
//!
//! | what | needs | then |
//! |---|---|---|
//! | computation | its lane | the lane is busy until the end |
//! | send | its lane | a call on the lane; the task ends when the buffer is free |
//! | receive | nothing; it waits for the current task of its lane | the host posts it; the task ends with the message |
//! | notice | asynchronous progress, or a free lane | the host handles it; without asynchronous progress this occupies the lane |
//!
//! The host works on one thing at a time.

mod window;

use super::lane::LaneState;
use super::state_machine::{Rank, RankContext};
use crate::matching::Label;
use crate::record::CallKind;
use crate::requests::Slot;
use crate::settings::{MpiSettings, Progress};
use odonata_checkpoint::{DecodeError, Reader, Writer};
use odonata_packet::Activity;
use odonata_trace::{RankTasks, Task, TaskGraph, Work, ANY};
use odonata_units::Time;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;
use window::{LateTask, TaskWindow};

/// A lane of a task graph.
#[derive(Default, Debug)]
struct TaskLane {
    busy_until: u64,
    /// Tasks that wait for the lane, by stamp.
    waiting: BinaryHeap<Reverse<(u64, u32)>>,
}

/// The lanes of a rank, and its tasks.
#[derive(Debug)]
pub(super) struct TaskLanes {
    graph: Arc<TaskGraph>,
    rank: u32,
    window: TaskWindow,
    lanes: Vec<TaskLane>,
    /// Ready tasks by the time at which they may start, then by stamp.
    due: BinaryHeap<Reverse<(u64, u64, u32)>>,
    stamps: u64,
    /// Stamps of the host's notices.
    notice_stamps: VecDeque<u64>,
    /// When the last computation ends.
    computes_until: u64,
}

/// What happens next.
enum Next {
    Due,
    OnLane(usize),
    Notice,
}

impl TaskLanes {
    pub(super) fn new(graph: &Arc<TaskGraph>, rank: u32, start: Time) -> Self {
        let lanes = graph.ranks[rank as usize].tasks().iter().map(|task| task.lane).max().map_or(0, |most| most + 1);
        let lane = || TaskLane { busy_until: start.ps(), waiting: BinaryHeap::new() };
        Self {
            graph: Arc::clone(graph),
            rank,
            window: TaskWindow::new(start.ps()),
            lanes: (0..lanes).map(|_| lane()).collect(),
            due: BinaryHeap::new(),
            stamps: 0,
            notice_stamps: VecDeque::new(),
            computes_until: start.ps(),
        }
    }

    fn tasks(&self) -> &RankTasks {
        &self.graph.ranks[self.rank as usize]
    }

    fn task(&self, number: u32) -> Task {
        self.tasks().tasks()[number as usize]
    }

    /// Gives a notice of the host its stamp.
    pub(super) fn stamp_notice(&mut self) {
        self.notice_stamps.push_back(self.stamps);
        self.stamps += 1;
    }

    /// Queues the tasks that became ready. None starts before the current task of its lane has ended.
    fn queue_ready(&mut self) {
        let ready = self.window.take_ready(&self.graph.ranks[self.rank as usize]);
        for (task, after_ps) in ready {
            let free_ps = self.lanes[usize::from(self.task(task).lane)].busy_until;
            self.due.push(Reverse((after_ps.max(free_ps), self.stamps, task)));
            self.stamps += 1;
        }
    }

    /// The free lane with the lowest number.
    fn free_lane(&self, now_ps: u64) -> Option<usize> {
        self.lanes.iter().position(|lane| lane.busy_until <= now_ps)
    }

    /// What may happen now and has the oldest stamp. `notice` is the time of the host's first notice.
    fn next(&self, now_ps: u64, notice: Option<u64>, progress: Progress) -> Option<Next> {
        let due = self.due.peek().filter(|Reverse((at, ..))| *at <= now_ps);
        let mut best = due.map(|Reverse((_, stamp, _))| (*stamp, Next::Due));
        let mut add = |stamp: u64, next| {
            if best.as_ref().is_none_or(|(oldest, _)| stamp < *oldest) {
                best = Some((stamp, next));
            }
        };
        for (number, lane) in self.lanes.iter().enumerate().filter(|(_, lane)| lane.busy_until <= now_ps) {
            if let Some(Reverse((stamp, _))) = lane.waiting.peek() {
                add(*stamp, Next::OnLane(number));
            }
        }
        let may_progress = || progress == Progress::Async || self.free_lane(now_ps).is_some();
        if notice.is_some_and(|at| at <= now_ps) && may_progress() {
            add(self.notice_stamps[0], Next::Notice);
        }
        best.map(|(_, next)| next)
    }

    /// When something may happen without a new notice. `notice` is the time of the first notice.
    pub(super) fn wake_ps(&self, notice: Option<u64>, progress: Progress) -> Option<u64> {
        let due = self.due.peek().map(|Reverse((at, ..))| *at);
        let waiting = self.lanes.iter().filter(|lane| !lane.waiting.is_empty()).map(|lane| lane.busy_until).min();
        let free = self.lanes.iter().map(|lane| lane.busy_until).min();
        let notice = match progress {
            Progress::Async => notice,
            Progress::InCalls => notice.and_then(|at| Some(at.max(free?))),
        };
        [due, waiting, notice, self.window.wake_ps(self.tasks())].into_iter().flatten().min()
    }

    pub(super) fn save(&self, into: &mut Writer) {
        let Self { graph: _, rank: _, window, lanes, due, stamps, notice_stamps, computes_until } = self;
        let lanes: Vec<_> = lanes.iter().map(|lane| (lane.busy_until, &lane.waiting)).collect();
        into.put(&(window.saved(), lanes, due, stamps, notice_stamps, computes_until));
    }

    pub(super) fn load(&mut self, from: &mut Reader<'_>) -> Result<(), DecodeError> {
        let (window, lanes): (window::SavedWindow, Vec<(u64, BinaryHeap<_>)>);
        (window, lanes, self.due, self.stamps, self.notice_stamps, self.computes_until) = from.get()?;
        if lanes.len() != self.lanes.len() {
            return Err(DecodeError(format!("rank {} has no such lanes", self.rank)));
        }
        self.window = window.into();
        self.lanes = lanes.into_iter().map(|(busy_until, waiting)| TaskLane { busy_until, waiting }).collect();
        Ok(())
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let waiting = self.lanes.iter().map(|lane| lane.waiting.capacity() * size_of::<(u64, u32)>());
        size_of::<Self>()
            + self.window.memory_bytes()
            + self.lanes.capacity() * size_of::<TaskLane>()
            + waiting.sum::<usize>()
            + self.due.capacity() * size_of::<(u64, u64, u32)>()
            + self.notice_stamps.capacity() * size_of::<u64>()
    }

    /// A task for messages.
    fn describe(&self, task: u32) -> String {
        format!("task {task} ({})", self.task(task).work)
    }
}

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
        }
        Ok(())
    }

    fn start_task(&mut self, number: u32, context: &mut RankContext<'_>) -> Result<(), String> {
        let (now, source) = (context.now_ps, self.number);
        let lanes = self.tasks.as_deref_mut().expect("a task graph");
        let task = lanes.task(number);
        let lane = usize::from(task.lane);
        lanes.window.start(number, now);
        match task.work {
            Work::Compute { time } => {
                let end = now + time.ps();
                lanes.lanes[lane].busy_until = end;
                // Communication is the time in which no lane computes.
                self.record.communication += Time(now.saturating_sub(lanes.computes_until));
                lanes.computes_until = lanes.computes_until.max(end);
                lanes.window.end(number, end);
                self.record.compute += time;
            }
            Work::Send { to, bytes, tag, communicator } => {
                self.record.calls += 1;
                self.host.clock = self.host.clock.max(now + context.settings.enter.ps());
                self.send(to, Label { communicator, source, tag }, bytes, Slot::Task(number), context)?;
                let end = self.host.clock + context.settings.leave.ps();
                self.tasks.as_deref_mut().expect("a task graph").lanes[lane].busy_until = end;
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
            self.tasks.as_deref_mut().expect("a task graph").lanes[lane].busy_until = self.host.clock;
        }
        Ok(())
    }

    /// Ends a task whose request is complete.
    pub(super) fn end_task(&mut self, number: u32, settings: &MpiSettings) {
        let lanes = self.tasks.as_deref_mut().expect("a task graph");
        if let Work::Receive { bytes, .. } = lanes.task(number).work {
            self.host.clock += settings.registration_ps(bytes);
        }
        lanes.window.end(number, self.host.clock);
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

impl TaskLanes {
    fn too_late(&self, LateTask { task, first_open }: LateTask, limit: u32) -> String {
        let (task, blocks) = (self.describe(task), self.describe(first_open));
        format!(
            "{task} may start, but {limit} tasks before it are not done, of which {blocks} is the first; expected at \
             most mpi.task_window = {limit} such tasks"
        )
    }

    /// What the rank does at `end_ps`, which its tasks have not reached.
    pub(super) fn activity(&self, end_ps: u64, limit: u32) -> Activity {
        if let Some(until) = self.lanes.iter().map(|lane| lane.busy_until).filter(|until| *until > end_ps).max() {
            return Activity::Computing { until: Time(until) };
        }
        let since = Time(self.window.last_end_ps());
        let Some((task, missing)) = self.window.first_blocked(self.tasks()) else {
            return Activity::Waiting { since, peer: None, what: "no task".into() };
        };
        let peer = match self.task(task).work {
            _ if missing.is_some() => None,
            Work::Send { to, .. } => Some(to),
            Work::Receive { from, .. } => Some(from).filter(|from| *from != ANY),
            Work::Compute { .. } => None,
        };
        let mut what = self.describe(task);
        if let Some(missing) = missing {
            what += &format!(", which waits for {}", self.describe(missing));
        }
        if self.window.has_unread(self.tasks()) {
            what += &format!("; {limit} tasks are not done, so no later one starts (mpi.task_window)");
        }
        Activity::Waiting { since, peer, what }
    }
}
