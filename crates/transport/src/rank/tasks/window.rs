//! The tasks of a rank that are not done.
//!
//! A rank reads its tasks in order, up to a limit of tasks that are not done. Then it reads another task for each one
//! that is done. This is exact as long as no task could have started before it was read, which [`TaskWindow::read`]
//! checks.

use odonata_trace::{Dependency, Event, RankTasks, Work};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Progress of a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(in crate::rank) enum TaskState {
    Waiting,
    Ready,
    Started,
    Ended,
}

/// A task that was read and is not done.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct OpenTask {
    state: TaskState,
    /// Events that it waits for.
    missing: u32,
    /// The latest of the other events that it waited for. After its start, the start.
    start_ps: u64,
    /// Its end, after it is known.
    end_ps: u64,
    /// The task of the latest of the events.
    after: Option<u32>,
    dependents: Vec<Dependent>,
}

/// A task that waits for the start or the end of another.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Dependent {
    task: u32,
    of_end: bool,
}

/// A task that had to be read before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::rank) struct LateTask {
    pub(in crate::rank) task: u32,
    /// The first task that is not done.
    pub(in crate::rank) first_open: u32,
}

/// The window of a rank.
#[derive(Clone, Default, Debug)]
pub(in crate::rank) struct TaskWindow {
    open: FxHashMap<u32, OpenTask>,
    /// The next task to read.
    next: u32,
    /// Whether the limit stopped it once.
    was_full: bool,
    /// Tasks that wait for tasks that were not read yet.
    forward: FxHashMap<u32, Vec<Dependent>>,
    /// Ends of tasks in the window that are known.
    ends: BinaryHeap<Reverse<(u64, u32)>>,
    /// Tasks whose end left the window last, and that time.
    just_ended: (u64, Vec<u32>),
    /// Tasks without missing events that were not taken.
    ready: Vec<u32>,
    /// The latest end.
    last_end_ps: u64,
}

/// What the state of a window consists of, in a fixed order.
#[derive(Serialize, Deserialize)]
pub(in crate::rank) struct SavedWindow {
    open: Vec<(u32, OpenTask)>,
    next: u32,
    was_full: bool,
    forward: Vec<(u32, Vec<Dependent>)>,
    just_ended: (u64, Vec<u32>),
    last_end_ps: u64,
}

impl TaskWindow {
    pub(in crate::rank) fn new(start_ps: u64) -> Self {
        Self { last_end_ps: start_ps, ..Self::default() }
    }

    /// Removes the tasks that ended by `now_ps`, and reads others in their place, `limit` in all. Returns the first one
    /// that could have started before.
    pub(in crate::rank) fn read(&mut self, tasks: &RankTasks, now_ps: u64, limit: u32) -> Result<(), LateTask> {
        while let Some(&Reverse((end_ps, task))) = self.ends.peek().filter(|Reverse((end, _))| *end <= now_ps) {
            self.ends.pop();
            self.open.remove(&task);
            if self.just_ended.0 != end_ps {
                self.just_ended = (end_ps, Vec::new());
            }
            // Only a window that was full reads tasks later than at its start.
            if self.was_full {
                self.just_ended.1.push(task);
            }
        }
        let count = tasks.tasks().len() as u32;
        while self.next < count {
            if self.open.len() >= limit as usize {
                self.was_full = true;
                return Ok(());
            }
            let task = self.next;
            self.next += 1;
            if !self.add(task, tasks.dependencies(task), now_ps) && self.was_full {
                let first_open = self.open.keys().copied().min().unwrap_or(task);
                return Err(LateTask { task, first_open });
            }
        }
        Ok(())
    }

    /// Adds a task. Returns whether it could not have started before `now_ps`.
    fn add(&mut self, task: u32, dependencies: &[Dependency], now_ps: u64) -> bool {
        let (mut missing, mut start_ps, mut after, mut in_time) = (0, 0, None, false);
        for &Dependency { on, event } in dependencies {
            let dependent = Dependent { task, of_end: event == Event::End };
            let Some(other) = self.open.get_mut(&on) else {
                if on >= task {
                    missing += 1;
                    self.forward.entry(on).or_default().push(dependent);
                }
                in_time |= on >= task || (self.just_ended.0 == now_ps && self.just_ended.1.contains(&on));
                continue;
            };
            let occurred = match (event, other.state) {
                (Event::End, TaskState::Ended) => Some(other.end_ps),
                (Event::Start, TaskState::Started | TaskState::Ended) => Some(other.start_ps),
                _ => None,
            };
            match occurred {
                Some(at) if at >= start_ps => (start_ps, after) = (at, Some(on)),
                Some(_) => {}
                None => {
                    missing += 1;
                    other.dependents.push(dependent);
                }
            }
            in_time |= occurred.is_none_or(|at| at >= now_ps);
        }
        let dependents = self.forward.remove(&task).unwrap_or_default();
        let state = if missing == 0 { TaskState::Ready } else { TaskState::Waiting };
        if missing == 0 {
            self.ready.push(task);
        }
        self.open.insert(task, OpenTask { state, missing, start_ps, end_ps: 0, after, dependents });
        in_time
    }

    /// Starts a task, for which its lane may have had to end the task `of_lane`.
    pub(in crate::rank) fn start(&mut self, task: u32, now_ps: u64, of_lane: Option<u32>) {
        let open = self.open.get_mut(&task).expect("only open tasks start");
        if open.start_ps < now_ps {
            open.after = of_lane;
        }
        (open.state, open.start_ps) = (TaskState::Started, now_ps);
        self.occur(task, false, now_ps);
    }

    /// Start of a task that has started and may have ended, and the task after which it started.
    pub(in crate::rank) fn started(&self, task: u32) -> Option<(u64, Option<u32>)> {
        self.open.get(&task).map(|open| (open.start_ps, open.after))
    }

    /// Sets the end of a task, which may be in the future.
    pub(in crate::rank) fn end(&mut self, task: u32, end_ps: u64) {
        let open = self.open.get_mut(&task).expect("only open tasks end");
        (open.state, open.end_ps) = (TaskState::Ended, end_ps);
        self.ends.push(Reverse((end_ps, task)));
        self.last_end_ps = self.last_end_ps.max(end_ps);
        self.occur(task, true, end_ps);
    }

    /// Notifies the tasks that wait for an event.
    fn occur(&mut self, of: u32, of_end: bool, at_ps: u64) {
        let mut dependents = std::mem::take(&mut self.open.get_mut(&of).expect("an open task").dependents);
        dependents.retain(|dependent| {
            if dependent.of_end != of_end {
                return true;
            }
            let waiting = self.open.get_mut(&dependent.task).expect("a task that waits is open");
            if at_ps >= waiting.start_ps {
                (waiting.start_ps, waiting.after) = (at_ps, Some(of));
            }
            waiting.missing -= 1;
            if waiting.missing == 0 {
                waiting.state = TaskState::Ready;
                self.ready.push(dependent.task);
            }
            false
        });
        self.open.get_mut(&of).expect("an open task").dependents = dependents;
    }

    /// Takes the tasks that became ready: sends, then receives, then computations, each in the order of their numbers.
    /// With the time of the last event that each of them waited for.
    pub(in crate::rank) fn take_ready(&mut self, tasks: &RankTasks) -> Vec<(u32, u64)> {
        if self.ready.is_empty() {
            return Vec::new();
        }
        let mut ready = std::mem::take(&mut self.ready);
        ready.sort_unstable_by_key(|&task| {
            let kind = match tasks.tasks()[task as usize].work {
                Work::Send { .. } => 0,
                Work::Receive { .. } => 1,
                Work::Compute { .. } => 2,
            };
            (kind, task)
        });
        ready.into_iter().map(|task| (task, self.open[&task].start_ps)).collect()
    }

    /// Whether all tasks are done.
    pub(in crate::rank) fn is_done(&self, tasks: &RankTasks) -> bool {
        self.open.is_empty() && !self.has_unread(tasks)
    }

    /// The latest end of a task.
    pub(in crate::rank) fn last_end_ps(&self) -> u64 {
        self.last_end_ps
    }

    /// When it must be looked at again: at the next end if tasks are unread, or at the last.
    pub(in crate::rank) fn wake_ps(&self, tasks: &RankTasks) -> Option<u64> {
        if self.has_unread(tasks) {
            return self.ends.peek().map(|Reverse((end_ps, _))| *end_ps);
        }
        (self.ends.len() == self.open.len()).then_some(self.last_end_ps)
    }

    /// Whether tasks are left that were not read.
    pub(in crate::rank) fn has_unread(&self, tasks: &RankTasks) -> bool {
        (self.next as usize) < tasks.tasks().len()
    }

    /// The first started task that did not end, otherwise the first that did not start, and what this one waits for.
    pub(in crate::rank) fn first_blocked(&self, tasks: &RankTasks) -> Option<(u32, Option<u32>)> {
        let first = |is_one: &dyn Fn(TaskState) -> bool| {
            self.open.iter().filter(|(_, open)| is_one(open.state)).map(|(task, _)| *task).min()
        };
        if let Some(started) = first(&|state| state == TaskState::Started) {
            return Some((started, None));
        }
        let waiting = first(&|state| state == TaskState::Waiting)?;
        let has_occurred = |one: &&Dependency| match self.open.get(&one.on).map(|open| open.state) {
            None => one.on < self.next,
            Some(TaskState::Ended) => true,
            Some(TaskState::Started) => one.event == Event::Start,
            Some(TaskState::Waiting | TaskState::Ready) => false,
        };
        let missing = tasks.dependencies(waiting).iter().find(|one| !has_occurred(one));
        Some((waiting, missing.map(|one| one.on)))
    }

    pub(in crate::rank) fn saved(&self) -> SavedWindow {
        // Tasks are queued as soon as they are ready.
        let Self { open, next, was_full, forward, ends: _, just_ended, ready: _, last_end_ps } = self;
        let mut open: Vec<_> = open.iter().map(|(task, open)| (*task, open.clone())).collect();
        let mut forward: Vec<_> = forward.iter().map(|(task, waiting)| (*task, waiting.clone())).collect();
        open.sort_unstable_by_key(|(task, _)| *task);
        forward.sort_unstable_by_key(|(task, _)| *task);
        let (next, was_full, just_ended, last_end_ps) = (*next, *was_full, just_ended.clone(), *last_end_ps);
        SavedWindow { open, next, was_full, forward, just_ended, last_end_ps }
    }

    pub(in crate::rank) fn memory_bytes(&self) -> usize {
        let dependents = self.open.values().map(|open| open.dependents.capacity() * size_of::<Dependent>());
        self.open.capacity() * (size_of::<(u32, OpenTask)>() + 1)
            + dependents.sum::<usize>()
            + self.ends.capacity() * size_of::<Reverse<(u64, u32)>>()
    }
}

impl From<SavedWindow> for TaskWindow {
    fn from(saved: SavedWindow) -> Self {
        let SavedWindow { open, next, was_full, forward, just_ended, last_end_ps } = saved;
        let ended = open.iter().filter(|(_, open)| open.state == TaskState::Ended);
        let ends = ended.map(|(task, open)| Reverse((open.end_ps, *task))).collect();
        let (open, forward) = (open.into_iter().collect(), forward.into_iter().collect());
        Self { open, next, was_full, forward, ends, just_ended, ready: Vec::new(), last_end_ps }
    }
}
