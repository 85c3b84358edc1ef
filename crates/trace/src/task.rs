//! Tasks of one rank and what they wait for.

use odonata_units::{Bytes, Time};
use std::fmt::{self, Display, Formatter};

/// Wildcard for a rank or a tag.
pub const ANY: u32 = u32::MAX;

/// What a task does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Work {
    /// Sends a message.
    Send {
        /// Receiving rank.
        to: u32,
        /// Size.
        bytes: Bytes,
        /// Tag, or [`ANY`]: then every receive accepts the tag.
        tag: u32,
        /// Communicator.
        communicator: u16,
    },
    /// Receives a message.
    Receive {
        /// Sending rank, or [`ANY`].
        from: u32,
        /// Size of the receive buffer.
        bytes: Bytes,
        /// Tag, or [`ANY`].
        tag: u32,
        /// Communicator.
        communicator: u16,
    },
    /// Computes.
    Compute {
        /// Duration.
        time: Time,
    },
}

impl Display for Work {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let tag_text = |tag: u32| if tag == ANY { "any tag".to_owned() } else { format!("tag {tag}") };
        match *self {
            Self::Send { to, bytes, tag, .. } => {
                write!(f, "send of {} B to rank {to}, {}", bytes.0, tag_text(tag))
            }
            Self::Receive { from: ANY, bytes, tag, .. } => {
                write!(f, "receive of {} B from any rank, {}", bytes.0, tag_text(tag))
            }
            Self::Receive { from, bytes, tag, .. } => {
                write!(f, "receive of {} B from rank {from}, {}", bytes.0, tag_text(tag))
            }
            Self::Compute { time } => write!(f, "computation of {time}"),
        }
    }
}

/// One operation of one rank.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Task {
    /// What it does.
    pub work: Work,
    /// The lane that it occupies. A lane runs one task at a time.
    pub lane: u8,
    /// The NIC of its message.
    pub nic: u8,
}

impl From<Work> for Task {
    /// A task on the first lane and the first NIC.
    fn from(work: Work) -> Self {
        Self { work, lane: 0, nic: 0 }
    }
}

/// An event of a task.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Event {
    /// The task started. A receive starts when it is posted.
    Start,
    /// The task ended.
    End,
}

/// What a task waits for: an event of another task of its rank.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Dependency {
    /// The other task.
    pub on: u32,
    /// Its event.
    pub event: Event,
}

/// Tasks of one rank, numbered from 0, with their dependencies. A dependency may name a later task.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RankTasks {
    tasks: Vec<Task>,
    /// Dependencies by task: task `i` has those from `first[i]` to `first[i + 1]`.
    dependencies: Vec<Dependency>,
    first: Vec<usize>,
    /// Where each task is in its file, or none at all.
    places: Vec<Option<u64>>,
}

impl RankTasks {
    /// Tasks, and pairs of a task and what it waits for, in any order.
    ///
    /// # Panics
    /// If a dependency names a task that does not exist.
    pub fn new(tasks: Vec<Task>, waits: &[(u32, Dependency)]) -> Self {
        let mut first = vec![0; tasks.len() + 1];
        for (task, dependency) in waits {
            assert!((dependency.on as usize) < tasks.len(), "task {task} waits for task {}", dependency.on);
            first[*task as usize + 1] += 1;
        }
        for i in 0..tasks.len() {
            first[i + 1] += first[i];
        }
        let mut next = first.clone();
        let mut dependencies = vec![Dependency { on: 0, event: Event::End }; waits.len()];
        for (task, dependency) in waits {
            let at = &mut next[*task as usize];
            dependencies[*at] = *dependency;
            *at += 1;
        }
        (0..tasks.len()).for_each(|task| dependencies[first[task]..first[task + 1]].sort_unstable());
        Self { tasks, dependencies, first, places: Vec::new() }
    }

    /// The same tasks with their places in their file, which [`TaskGraph::place_word`] counts.
    ///
    /// # Panics
    /// If there are more or fewer than tasks.
    pub fn with_places(mut self, places: Vec<Option<u64>>) -> Self {
        assert_eq!(places.len(), self.tasks.len(), "one place per task");
        self.places = if places.iter().any(Option::is_some) { places } else { Vec::new() };
        self
    }

    /// Where a task is in its file. `None` if that is not known.
    pub fn place(&self, task: u32) -> Option<u64> {
        self.places.get(task as usize).copied().flatten()
    }

    /// The tasks.
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// Dependencies of a task, by number.
    pub fn dependencies(&self, task: u32) -> &[Dependency] {
        &self.dependencies[self.first[task as usize]..self.first[task as usize + 1]]
    }

    /// Number of dependencies of all tasks.
    pub fn dependency_count(&self) -> usize {
        self.dependencies.len()
    }

    /// Memory.
    pub fn memory_bytes(&self) -> usize {
        size_of_val(&self.tasks[..])
            + size_of_val(&self.dependencies[..])
            + size_of_val(&self.first[..])
            + size_of_val(&self.places[..])
    }
}

/// The tasks of all ranks of a job.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TaskGraph {
    /// By rank.
    pub ranks: Vec<RankTasks>,
    /// What places of tasks in their file count, for example `line`. Empty if no task has one.
    pub place_word: &'static str,
}

impl TaskGraph {
    /// The same graph with other times of computation.
    ///
    /// # Errors
    /// Errors of `change`.
    pub fn with_compute_times(mut self, change: impl Fn(Time) -> Result<Time, String>) -> Result<Self, String> {
        for task in self.ranks.iter_mut().flat_map(|rank| &mut rank.tasks) {
            if let Work::Compute { time } = &mut task.work {
                *time = change(*time)?;
            }
        }
        Ok(self)
    }

    /// Target and size of each message of a rank.
    pub fn sends(&self, rank: u32) -> impl Iterator<Item = (u32, Bytes)> + '_ {
        self.ranks[rank as usize].tasks().iter().filter_map(|task| match task.work {
            Work::Send { to, bytes, .. } => Some((to, bytes)),
            Work::Receive { .. } | Work::Compute { .. } => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_by_task_and_number() {
        let task = Task::from(Work::Compute { time: Time(1) });
        let after = |on, event| Dependency { on, event };
        let waits = [(2, after(1, Event::Start)), (0, after(2, Event::Start)), (2, after(0, Event::End))];
        let tasks = RankTasks::new(vec![task; 3], &waits);
        assert_eq!(tasks.dependencies(0), [after(2, Event::Start)]);
        assert_eq!(tasks.dependencies(1), []);
        assert_eq!(tasks.dependencies(2), [after(0, Event::End), after(1, Event::Start)]);
        assert_eq!((tasks.tasks().len(), tasks.dependency_count()), (3, 3));
    }

    #[test]
    #[should_panic(expected = "task 0 waits for task 1")]
    fn a_dependency_on_no_task() {
        let task = Task::from(Work::Compute { time: Time(1) });
        RankTasks::new(vec![task], &[(0, Dependency { on: 1, event: Event::End })]);
    }
}
