//! One rank: clocks of its lanes and NICs, and the progress of its tasks.

use crate::matching::MatchingQueues;
use odonata_trace::{Event, RankTasks, Task, Work};
use odonata_units::Time;

/// Progress of a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TaskState {
    Waiting,
    Started,
    Ended,
}

/// A task that became ready, and when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadyTask {
    pub(crate) number: u32,
    pub(crate) time: Time,
}

/// A lane, and the NIC of a message in one direction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Resource {
    Lane { lane: u8 },
    Sending { lane: u8, nic: u8 },
    Receiving { lane: u8, nic: u8 },
}

/// A rank during a run.
#[derive(Debug)]
pub(crate) struct Rank<'a> {
    tasks: &'a RankTasks,
    /// When each lane is free, and each NIC in each direction.
    pub(crate) lanes: Vec<Time>,
    pub(crate) send_nics: Vec<Time>,
    pub(crate) receive_nics: Vec<Time>,
    pub(crate) queues: MatchingQueues,
    pub(crate) states: Vec<TaskState>,
    /// Dependencies that did not occur yet, and the latest time of those that did, by task.
    missing: Vec<u32>,
    earliest: Vec<Time>,
    /// Tasks that wait for each task, with the event: the tasks that wait for `i` are from `first[i]` to `first[i + 1]`.
    dependents: Vec<(u32, Event)>,
    first: Vec<usize>,
    /// Tasks without missing dependencies that were not taken yet.
    ready: Vec<u32>,
}

impl<'a> Rank<'a> {
    pub(crate) fn new(tasks: &'a RankTasks, lanes: usize, nics: usize) -> Self {
        let count = tasks.tasks().len();
        let all = || (0..count as u32).map(|task| (task, tasks.dependencies(task)));
        let mut first = vec![0; count + 1];
        for (_, dependencies) in all() {
            dependencies.iter().for_each(|dependency| first[dependency.on as usize + 1] += 1);
        }
        for i in 0..count {
            first[i + 1] += first[i];
        }
        let mut dependents = vec![(0, Event::End); tasks.dependency_count()];
        let mut next = first.clone();
        for (task, dependencies) in all() {
            for dependency in dependencies {
                dependents[next[dependency.on as usize]] = (task, dependency.event);
                next[dependency.on as usize] += 1;
            }
        }
        let missing: Vec<u32> = all().map(|(_, dependencies)| dependencies.len() as u32).collect();
        let ready = (0..count as u32).filter(|task| missing[*task as usize] == 0).collect();
        Self {
            tasks,
            lanes: vec![Time::ZERO; lanes],
            send_nics: vec![Time::ZERO; nics],
            receive_nics: vec![Time::ZERO; nics],
            queues: MatchingQueues::default(),
            states: vec![TaskState::Waiting; count],
            earliest: vec![Time::ZERO; count],
            missing,
            dependents,
            first,
            ready,
        }
    }

    pub(crate) fn task(&self, number: u32) -> Task {
        self.tasks.tasks()[number as usize]
    }

    pub(crate) fn start(&mut self, number: u32, now: Time) {
        self.states[number as usize] = TaskState::Started;
        self.occur(number, Event::Start, now);
    }

    pub(crate) fn end(&mut self, number: u32, now: Time) {
        self.states[number as usize] = TaskState::Ended;
        self.occur(number, Event::End, now);
    }

    fn occur(&mut self, number: u32, event: Event, now: Time) {
        for at in self.first[number as usize]..self.first[number as usize + 1] {
            let (task, of) = self.dependents[at];
            if of == event {
                let task_at = task as usize;
                self.earliest[task_at] = self.earliest[task_at].max(now);
                self.missing[task_at] -= 1;
                if self.missing[task_at] == 0 {
                    self.ready.push(task);
                }
            }
        }
    }

    /// When a resource is free.
    pub(crate) fn free(&self, resource: Resource) -> Time {
        let lane = |lane: u8| self.lanes[usize::from(lane)];
        match resource {
            Resource::Lane { lane: of } => lane(of),
            Resource::Sending { lane: of, nic } => lane(of).max(self.send_nics[usize::from(nic)]),
            Resource::Receiving { lane: of, nic } => lane(of).max(self.receive_nics[usize::from(nic)]),
        }
    }

    /// Takes the tasks that became ready: sends, then receives, then computations, each in the order of their numbers.
    /// A task is ready when its lane is free, and not before the events that it waited for.
    pub(crate) fn take_ready(&mut self) -> Vec<ReadyTask> {
        let mut ready = std::mem::take(&mut self.ready);
        ready.sort_unstable_by_key(|&number| {
            let kind = match self.task(number).work {
                Work::Send { .. } => 0,
                Work::Receive { .. } => 1,
                Work::Compute { .. } => 2,
            };
            (kind, number)
        });
        let time = |number: u32| self.free(resource_of(self.task(number))).max(self.earliest[number as usize]);
        ready.into_iter().map(|number| ReadyTask { number, time: time(number) }).collect()
    }

    /// The first task that did not end.
    pub(crate) fn unfinished(&self) -> Option<u32> {
        self.states.iter().position(|state| *state != TaskState::Ended).map(|number| number as u32)
    }

    /// A task that `number` waits for and that did not end or, for its start, did not start.
    pub(crate) fn waits_for(&self, number: u32) -> Option<u32> {
        let occurred = |on: u32, event| match event {
            Event::Start => self.states[on as usize] != TaskState::Waiting,
            Event::End => self.states[on as usize] == TaskState::Ended,
        };
        self.tasks.dependencies(number).iter().find(|one| !occurred(one.on, one.event)).map(|one| one.on)
    }
}

/// What a task occupies. A receive occupies nothing, but becomes ready when its lane is free.
pub(crate) fn resource_of(task: Task) -> Resource {
    let Task { work, lane, nic } = task;
    match work {
        Work::Send { .. } => Resource::Sending { lane, nic },
        Work::Receive { .. } | Work::Compute { .. } => Resource::Lane { lane },
    }
}
