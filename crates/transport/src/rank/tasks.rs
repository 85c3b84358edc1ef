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

use crate::settings::Progress;
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
pub(super) struct TaskLane {
    pub(super) busy_until: u64,
    /// The task that made it busy last.
    pub(super) task: Option<u32>,
    /// Tasks that wait for the lane, by stamp.
    pub(super) waiting: BinaryHeap<Reverse<(u64, u32)>>,
}

/// The lanes of a rank, and its tasks.
#[derive(Debug)]
pub(super) struct TaskLanes {
    pub(super) graph: Arc<TaskGraph>,
    pub(super) rank: u32,
    pub(super) window: TaskWindow,
    pub(super) lanes: Vec<TaskLane>,
    /// Ready tasks by the time at which they may start, then by stamp.
    pub(super) due: BinaryHeap<Reverse<(u64, u64, u32)>>,
    stamps: u64,
    /// Stamps of the host's notices.
    pub(super) notice_stamps: VecDeque<u64>,
    /// When the last computation ends.
    pub(super) computes_until: u64,
    /// Tasks that ended, with their ends, until they are recorded.
    pub(super) ended: Vec<(u32, u64)>,
}

/// What happens next.
pub(super) enum Next {
    Due,
    OnLane(usize),
    Notice,
}

impl TaskLanes {
    pub(super) fn new(graph: &Arc<TaskGraph>, rank: u32, start: Time) -> Self {
        let lanes = graph.ranks[rank as usize].tasks().iter().map(|task| task.lane).max().map_or(0, |most| most + 1);
        let lane = || TaskLane { busy_until: start.ps(), ..TaskLane::default() };
        Self {
            graph: Arc::clone(graph),
            rank,
            window: TaskWindow::new(start.ps()),
            lanes: (0..lanes).map(|_| lane()).collect(),
            due: BinaryHeap::new(),
            stamps: 0,
            notice_stamps: VecDeque::new(),
            computes_until: start.ps(),
            ended: Vec::new(),
        }
    }

    pub(super) fn tasks(&self) -> &RankTasks {
        &self.graph.ranks[self.rank as usize]
    }

    pub(super) fn task(&self, number: u32) -> Task {
        self.tasks().tasks()[number as usize]
    }

    /// Ends a task.
    pub(super) fn end(&mut self, task: u32, end_ps: u64) {
        self.window.end(task, end_ps);
        self.ended.push((task, end_ps));
    }

    /// Gives a notice of the host its stamp.
    pub(super) fn stamp_notice(&mut self) {
        self.notice_stamps.push_back(self.stamps);
        self.stamps += 1;
    }

    /// Queues the tasks that became ready. None starts before the current task of its lane has ended.
    pub(super) fn queue_ready(&mut self) {
        let ready = self.window.take_ready(&self.graph.ranks[self.rank as usize]);
        for (task, after_ps) in ready {
            let free_ps = self.lanes[usize::from(self.task(task).lane)].busy_until;
            self.due.push(Reverse((after_ps.max(free_ps), self.stamps, task)));
            self.stamps += 1;
        }
    }

    /// The free lane with the lowest number.
    pub(super) fn free_lane(&self, now_ps: u64) -> Option<usize> {
        self.lanes.iter().position(|lane| lane.busy_until <= now_ps)
    }

    /// What may happen now and has the oldest stamp. `notice` is the time of the host's first notice.
    pub(super) fn next(&self, now_ps: u64, notice: Option<u64>, progress: Progress) -> Option<Next> {
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
        // Ends are recorded at once.
        let Self { graph: _, rank: _, window, lanes, due, stamps, notice_stamps, computes_until, ended: _ } = self;
        let lanes: Vec<_> = lanes.iter().map(|lane| (lane.busy_until, lane.task, &lane.waiting)).collect();
        into.put(&(window.saved(), lanes, due, stamps, notice_stamps, computes_until));
    }

    pub(super) fn load(&mut self, from: &mut Reader<'_>) -> Result<(), DecodeError> {
        let window: window::SavedWindow;
        let lanes: Vec<(u64, Option<u32>, BinaryHeap<_>)>;
        (window, lanes, self.due, self.stamps, self.notice_stamps, self.computes_until) = from.get()?;
        if lanes.len() != self.lanes.len() {
            return Err(DecodeError(format!("rank {} has no such lanes", self.rank)));
        }
        self.window = window.into();
        self.lanes =
            lanes.into_iter().map(|(busy_until, task, waiting)| TaskLane { busy_until, task, waiting }).collect();
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
            + self.ended.capacity() * size_of::<(u32, u64)>()
    }

    /// A task for messages.
    fn describe(&self, task: u32) -> String {
        let word = self.graph.place_word;
        let place = self.tasks().place(task).map_or(String::new(), |place| format!(", {word} {place}"));
        format!("task {task}{place} ({})", self.task(task).work)
    }
}

impl TaskLanes {
    pub(super) fn too_late(&self, LateTask { task, first_open }: LateTask, limit: u32) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocation::held_by;

    /// Two tasks on two lanes; then one kind of entry in turn.
    #[test]
    fn memory_is_what_the_lanes_hold() {
        let compute = |lane| Task { lane, ..Work::Compute { time: Time(5) }.into() };
        let tasks = RankTasks::new(vec![compute(0), compute(1)], &[]);
        let graph = Arc::new(TaskGraph { ranks: vec![tasks], ..TaskGraph::default() });
        let fills: [fn(&mut TaskLanes); 5] = [
            |_| (),
            |lanes| lanes.lanes[1].waiting.extend((0..300).map(|task| Reverse((0, task)))),
            |lanes| lanes.due.extend((0..300).map(|task| Reverse((0, 0, task)))),
            |lanes| (0..300).for_each(|_| lanes.stamp_notice()),
            |lanes| lanes.ended.extend((0..300).map(|task| (task, 0))),
        ];
        for fill in fills {
            let (lanes, held) = held_by(|| {
                let mut lanes = Box::new(TaskLanes::new(&graph, 0, Time::ZERO));
                fill(&mut lanes);
                lanes
            });
            assert_eq!(lanes.memory_bytes(), held);
        }
    }
}
