//! The calls of a rank as tasks, for engines that execute task graphs.
//!
//! A sequence is the task graph in which each task waits for the task before it: for its end after a blocking call, for
//! its start after a nonblocking one. A wait is no task; the next task waits for the end of the requests too.

use crate::call::Call;
use crate::expansion::{CallExpander, JobProgram, Step};
use odonata_trace::{Dependency, Event, RankTasks, Task, Work};
use std::collections::BTreeMap;

/// Tasks of a rank, with collectives expanded, on lane 0. A nonblocking collective has a lane of its own.
///
/// # Errors
/// The place of a call that no task graph can express, because it depends on which message comes first or on
/// the simulated time; or of an invalid call.
pub fn tasks_of(shared: &JobProgram, rank: u32) -> Result<RankTasks, String> {
    let mut code = CallExpander::new(shared.program.ranks(), rank);
    let streams = shared.program.streams();
    let mut list = TaskList { streams, ended: vec![Vec::new(); usize::from(streams) + 1], ..TaskList::default() };
    while let Some(step) = code.next(shared).map_err(|reason| format!("{}: {reason}", code.place(shared)))? {
        let (call, slots) = match step {
            Step::Call(call) => (call, Slots::Program),
            Step::Inner(call) => (call, Slots::Collective),
            Step::Enter(_) | Step::Leave => continue,
            Step::Start { call, lane } => {
                let Call::Collective { request, .. } = call else { unreachable!("{call:?} has no lane") };
                list.add_collective(&mut code, shared, lane, request)
                    .map_err(|reason| format!("rank {rank}, {}: {reason}", code.place(shared)))?;
                list.place(code.line(shared).map(u64::from));
                continue;
            }
        };
        list.add(call, slots).map_err(|reason| {
            let place = code.place(shared);
            format!("rank {rank}, {place}: {reason}, so no task graph has it")
        })?;
        list.place(code.line(shared).map(u64::from));
    }
    Ok(RankTasks::new(list.tasks, &list.waits).with_places(list.places))
}

/// Requests of the program and of collectives have separate numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Slots {
    Program,
    Collective,
}

#[derive(Default)]
pub(crate) struct TaskList {
    pub(crate) tasks: Vec<Task>,
    /// Places of the tasks in their file.
    pub(crate) places: Vec<Option<u64>>,
    pub(crate) waits: Vec<(u32, Dependency)>,
    /// What the next task waits for.
    pub(crate) next: Vec<Dependency>,
    /// Ends of open requests.
    requests: BTreeMap<(Slots, u32), Vec<Dependency>>,
    /// The lane of the tasks: a stream, or 0.
    lane: u8,
    streams: u8,
    /// What the next task of each other stream waits for.
    ended: Vec<Vec<Dependency>>,
    /// What the recorded events wait for.
    events: BTreeMap<u32, Vec<Dependency>>,
    /// Lanes of nonblocking collectives, with their requests.
    open: Vec<(u8, u32)>,
}

impl TaskList {
    /// Adds a call, or says why it cannot be a task.
    pub(crate) fn add(&mut self, call: Call, slots: Slots) -> Result<(), &'static str> {
        match call {
            Call::Send { to, bytes, tag, communicator } => {
                self.push(Work::Send { to, bytes, tag, communicator }, Event::End);
            }
            Call::Recv { from, bytes, tag, communicator } => {
                self.push(Work::Receive { from, bytes, tag, communicator }, Event::End);
            }
            Call::Isend { to, bytes, tag, communicator, request } => {
                let task = self.push(Work::Send { to, bytes, tag, communicator }, Event::Start);
                self.requests.insert((slots, request), vec![Dependency { on: task, event: Event::End }]);
            }
            Call::Irecv { from, bytes, tag, communicator, request } => {
                let task = self.push(Work::Receive { from, bytes, tag, communicator }, Event::Start);
                self.requests.insert((slots, request), vec![Dependency { on: task, event: Event::End }]);
            }
            Call::Wait { request } => self.wait(slots, request),
            Call::WaitAll { first, count } => (first..first + count).for_each(|request| self.wait(slots, request)),
            Call::Compute { time } | Call::Sleep { time } => {
                self.push(Work::Compute { time }, Event::End);
            }
            Call::Stream { stream } => self.change_to(stream),
            Call::Record { event } => drop(self.events.insert(event, self.next.clone())),
            Call::Await { event } => {
                let recorded = self.events.get(&event).cloned().unwrap_or_default();
                self.next.extend(recorded);
            }
            // Phases, rounds and communicators take no time here.
            Call::Mark { .. } | Call::Round => {}
            Call::Put { .. } | Call::Get { .. } => return Err("a one-sided transfer needs no host at its other end"),
            Call::WaitUntil { .. } => return Err("'wait until' depends on the simulated time"),
            Call::WaitAny { .. } => return Err("'waitany' depends on which message comes first"),
            Call::WaitSome { .. } => return Err("'waitsome' depends on which message comes first"),
            Call::Test { .. } => return Err("'test' depends on which message comes first"),
            Call::Collective { .. } | Call::CommSplit { .. } | Call::CommCreate { .. } | Call::CommFree { .. } => {
                unreachable!("{call:?} is entered")
            }
        }
        Ok(())
    }

    /// Gives the new tasks their place in their file.
    pub(crate) fn place(&mut self, place: Option<u64>) {
        self.places.resize(self.tasks.len(), place);
    }

    /// Adds a task that waits for none, and for which none waits, yet.
    pub(crate) fn push_alone(&mut self, work: Work, lane: u8) {
        self.tasks.push(Task { lane, ..work.into() });
    }

    /// Adds a task. The task after it waits for the event.
    pub(crate) fn push(&mut self, work: Work, event: Event) -> u32 {
        let task = self.tasks.len() as u32;
        self.tasks.push(Task { lane: self.lane, ..work.into() });
        self.next.sort_unstable();
        self.next.dedup();
        self.waits.extend(self.next.drain(..).map(|dependency| (task, dependency)));
        self.next.push(Dependency { on: task, event });
        task
    }

    fn wait(&mut self, slots: Slots, request: u32) {
        self.next.extend(self.requests.remove(&(slots, request)).unwrap_or_default());
    }

    /// The next calls belong to another stream. They do not start before the program reaches this place.
    fn change_to(&mut self, stream: u8) {
        self.ended[usize::from(self.lane)] = std::mem::take(&mut self.next);
        self.next = std::mem::take(&mut self.ended[usize::from(stream)]);
        if stream > 0 {
            self.next.extend_from_slice(&self.ended[0]);
        }
        self.lane = stream;
    }

    /// Adds the calls of a nonblocking collective, on a lane of its own. Its first task waits for what the next task of
    /// the program waits for; the wait for `request` is the wait for its last task.
    fn add_collective(
        &mut self,
        code: &mut CallExpander,
        shared: &JobProgram,
        lane: u16,
        request: u32,
    ) -> Result<(), String> {
        // Lane 0 is the program's, then streams follow. The lane stays occupied until the wait.
        self.open.retain(|(_, request)| self.requests.contains_key(&(Slots::Program, *request)));
        let free = (self.streams + 1..=u8::MAX).find(|lane| self.open.iter().all(|(open, _)| open != lane));
        let of_program = (self.next.clone(), self.lane);
        self.lane =
            free.ok_or("more than 255 streams and nonblocking collectives at a time, so no task graph has them")?;
        self.open.push((self.lane, request));
        while let Some(call) = code.next_of_lane(lane, shared)? {
            self.add(call, Slots::Collective)?;
        }
        self.requests.insert((Slots::Program, request), std::mem::take(&mut self.next));
        (self.next, self.lane) = of_program;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Code;
    use crate::collective::Collectives;
    use crate::rank_program::RankProgram;
    use odonata_units::{Bytes, Time};
    use std::sync::Arc;

    /// One rank with the calls of a function.
    #[derive(Debug)]
    struct OneBlock(fn(&mut Code));

    impl RankProgram for OneBlock {
        fn ranks(&self) -> u32 {
            2
        }

        fn blocks(&self, _: u32) -> u64 {
            1
        }

        fn block(&self, _: u32, _: u64, code: &mut Code) {
            (self.0)(code);
        }
    }

    fn tasks(calls: fn(&mut Code)) -> Result<RankTasks, String> {
        tasks_of(&JobProgram::new(Arc::new(OneBlock(calls)), Arc::new(Collectives::study())), 0)
    }

    #[test]
    fn each_task_waits_for_the_one_before_and_for_requests() {
        let found = tasks(|code| {
            let first = code.irecv(1, Bytes(8), 3);
            let second = code.isend(1, Bytes(9), 4);
            code.compute(Time(5));
            code.wait(first);
            code.wait(second);
            code.send(1, Bytes(10), 5);
            code.recv(1, Bytes(11), 6);
        })
        .unwrap();
        let after = |on, event| Dependency { on, event };
        let expected: [&[Dependency]; 5] = [
            &[],
            &[after(0, Event::Start)],
            &[after(1, Event::Start)],
            &[after(0, Event::End), after(1, Event::End), after(2, Event::End)],
            &[after(3, Event::End)],
        ];
        for (task, expected) in (0..).zip(expected) {
            assert_eq!(found.dependencies(task), expected, "task {task}");
        }
        assert_eq!(found.tasks()[2].work, Work::Compute { time: Time(5) });
        assert_eq!(found.tasks()[3].work, Work::Send { to: 1, bytes: Bytes(10), tag: 5, communicator: 0 });
        assert_eq!(found.tasks()[4].work, Work::Receive { from: 1, bytes: Bytes(11), tag: 6, communicator: 0 });
    }

    #[test]
    fn a_call_that_depends_on_the_order_of_messages_is_named() {
        let error = tasks(|code| {
            code.irecv(1, Bytes(8), 3);
            code.push(Call::WaitAny { first: 0, count: 1 });
        });
        let expected = "rank 0, call 2: 'waitany' depends on which message comes first, so no task graph has it";
        assert_eq!(error.unwrap_err(), expected);
        let error = tasks(|code| code.push(Call::WaitUntil { time: Time::from_us(5) }));
        let expected = "rank 0, call 1: 'wait until' depends on the simulated time, so no task graph has it";
        assert_eq!(error.unwrap_err(), expected);
    }
}
