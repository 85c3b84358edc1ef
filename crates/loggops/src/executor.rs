//! The events of a run in the order of time.
//!
//! One queue has all events by (time, stamp). A task gets its stamp when it becomes ready, a message when its send
//! starts. An event that must wait for a lane or a NIC runs at a later time with its old stamp. So, at equal times, the
//! event with the older stamp comes first (`waiting.rs`).
//!
//! | event at time T | waits until free | then, with m bytes |
//! |---|---|---|
//! | computation of x | lane | lane busy until T + x |
//! | send | lane, NIC for sends | lane busy until T + o + (m - 1) O, NIC until T + g + (m - 1) G; first byte arrives at T + o + L; ends at once if m <= S, else at the match |
//! | arrival | lane and NIC of the same numbers at the target | lane busy until T + o + (m - 1) max(O, G), NIC until T + g + (m - 1) G; a posted receive ends, otherwise the message is unexpected |
//! | receive | nothing: its time is when it became ready | an unexpected message ends it at no cost, otherwise it is posted |
//!
//! At a rendezvous match at time T, the lane and the NIC of the sender are busy until T at least. If the message came
//! first, the size of the receive decides, else the size of the message. A rank ends when its last lane is free.
//!
//! LogGOPSim has errors, which are repaired here. A dependency on a task of another lane carries its time. A message of
//! 0 bytes costs o and g. Tasks that become ready together have a fixed order; in LogGOPSim only up to 16 of them have
//! one. Tasks that never ran are reported. With one lane, times equal LogGOPSim's to the nanosecond.

use crate::costs::{sum, Costs};
use crate::matching::Message;
use crate::rank::{resource_of, Rank, Resource, TaskState};
use crate::waiting::{WaitQueues, WakeUp};
use odonata_trace::{RankTasks, Task, Work};
use odonata_units::Time;
use std::borrow::Borrow;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Results of a run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RunRecord {
    /// By rank.
    pub ranks: Vec<RankRecord>,
    /// The first task that did not end, of each rank that has one.
    pub blocked: Vec<BlockedTask>,
    /// Messages that no receive took.
    pub unreceived: u64,
    /// Processed events.
    pub events: u64,
}

/// Results of a rank.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RankRecord {
    /// When its last lane is free. [`Time::MAX`] if the run is longer than 213 days, the range of [`Time`].
    pub end: Time,
    /// Whether all its tasks ended.
    pub finished: bool,
    /// Time in computations, over all lanes.
    pub compute: Time,
    /// Started sends.
    pub messages: u64,
    /// Bytes of these messages.
    pub bytes: u64,
}

/// A task that did not end although no event is left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockedTask {
    /// Its rank.
    pub rank: u32,
    /// Its number.
    pub task: u32,
    /// The task that it waits for, if it did not start. Otherwise it waits for its message or for its receive.
    pub waits_for: Option<u32>,
}

/// What happens at a rank.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Occurrence {
    /// A task of the rank.
    Task(u32),
    /// A message of this task of this rank arrives.
    Arrival { from: u32, task: u32 },
    /// The first of the events that wait for a resource may run.
    WakeUp { resource: Resource, ticket: u32 },
}

/// Ordered by time, then stamp.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct QueuedEvent {
    time: Time,
    stamp: u64,
    rank: u32,
    occurrence: Occurrence,
}

/// Events between two calls of `progress`: about 10 ms.
const EVENTS_PER_PROGRESS: u64 = 1 << 16;

/// Runs the tasks of all ranks.
///
/// # Panics
/// If a message goes to a rank that does not exist.
pub fn run(ranks: &[impl Borrow<RankTasks>], costs: &Costs) -> RunRecord {
    run_with_progress(ranks, costs, &mut |_| true).expect("nothing stops it")
}

/// Like [`run`]; `progress` gets the share of tasks that started, and returns false to stop: then there is no result.
///
/// # Panics
/// As [`run`].
pub fn run_with_progress(
    ranks: &[impl Borrow<RankTasks>],
    costs: &Costs,
    progress: &mut dyn FnMut(f64) -> bool,
) -> Option<RunRecord> {
    let ranks: Vec<&RankTasks> = ranks.iter().map(Borrow::borrow).collect();
    Run::new(&ranks, costs).finish(progress)
}

struct Run<'a> {
    costs: &'a Costs,
    ranks: Vec<Rank<'a>>,
    /// Events that wait for a resource, by rank.
    waiting: Vec<WaitQueues<Occurrence>>,
    records: Vec<RankRecord>,
    queue: BinaryHeap<Reverse<QueuedEvent>>,
    stamps: u64,
    events: u64,
    started: u64,
    tasks: u64,
    /// Slow twin for tests: every event that waits returns to the queue.
    #[cfg(test)]
    requeues: bool,
}

impl<'a> Run<'a> {
    fn new(ranks: &[&'a RankTasks], costs: &'a Costs) -> Self {
        let tasks = || ranks.iter().flat_map(|tasks| tasks.tasks());
        let lanes = 1 + usize::from(tasks().map(|task| task.lane).max().unwrap_or(0));
        let nics = 1 + usize::from(tasks().map(|task| task.nic).max().unwrap_or(0));
        Self {
            costs,
            ranks: ranks.iter().map(|tasks| Rank::new(tasks, lanes, nics)).collect(),
            waiting: ranks.iter().map(|_| WaitQueues::default()).collect(),
            records: vec![RankRecord::default(); ranks.len()],
            queue: BinaryHeap::new(),
            stamps: 0,
            events: 0,
            started: 0,
            tasks: tasks().count() as u64,
            #[cfg(test)]
            requeues: false,
        }
    }

    fn finish(mut self, progress: &mut dyn FnMut(f64) -> bool) -> Option<RunRecord> {
        (0..self.ranks.len() as u32).for_each(|rank| self.queue_ready(rank));
        while let Some(Reverse(event)) = self.queue.pop() {
            self.events += 1;
            if self.events % EVENTS_PER_PROGRESS == 0 && !progress(self.started as f64 / self.tasks as f64) {
                return None;
            }
            match event.occurrence {
                Occurrence::WakeUp { resource, ticket } => self.wake_up(event, resource, ticket),
                occurrence => match self.resource_of(event.rank, occurrence) {
                    Some(resource) if self.free(event.rank, resource) > event.time => self.wait(event, resource),
                    _ => self.execute(event),
                },
            }
        }
        Some(self.record())
    }

    /// What an occurrence occupies. A receive occupies nothing.
    fn resource_of(&self, rank: u32, occurrence: Occurrence) -> Option<Resource> {
        match occurrence {
            Occurrence::Task(number) => {
                let task = self.ranks[rank as usize].task(number);
                (!matches!(task.work, Work::Receive { .. })).then(|| resource_of(task))
            }
            Occurrence::Arrival { from, task } => {
                let Task { lane, nic, .. } = self.ranks[from as usize].task(task);
                Some(Resource::Receiving { lane, nic })
            }
            Occurrence::WakeUp { resource, .. } => Some(resource),
        }
    }

    fn free(&self, rank: u32, resource: Resource) -> Time {
        self.ranks[rank as usize].free(resource)
    }

    fn wait(&mut self, event: QueuedEvent, resource: Resource) {
        #[cfg(test)]
        if self.requeues {
            let time = self.free(event.rank, resource);
            return self.queue.push(Reverse(QueuedEvent { time, ..event }));
        }
        let wake_up = self.waiting[event.rank as usize].add(resource, event.stamp, event.occurrence);
        self.push_wake_up(event.rank, resource, wake_up);
    }

    fn push_wake_up(&mut self, rank: u32, resource: Resource, wake_up: Option<WakeUp>) {
        let Some(WakeUp { stamp, ticket }) = wake_up else { return };
        let (time, occurrence) = (self.free(rank, resource), Occurrence::WakeUp { resource, ticket });
        self.queue.push(Reverse(QueuedEvent { time, stamp, rank, occurrence }));
    }

    fn wake_up(&mut self, event: QueuedEvent, resource: Resource, ticket: u32) {
        let Some(occurrence) = self.waiting[event.rank as usize].first(resource, ticket) else { return };
        let free = self.free(event.rank, resource);
        if free > event.time {
            return self.queue.push(Reverse(QueuedEvent { time: free, ..event }));
        }
        let next = self.waiting[event.rank as usize].remove_first(resource);
        self.execute(QueuedEvent { occurrence, ..event });
        // Only now it is known until when the resource is busy. A time without work passes at once.
        self.push_wake_up(event.rank, resource, next);
    }

    fn execute(&mut self, event: QueuedEvent) {
        match event.occurrence {
            Occurrence::Task(number) => self.start(event, number),
            Occurrence::Arrival { from, task } => self.arrive(event, from, task),
            Occurrence::WakeUp { .. } => unreachable!("no event waits to wake another"),
        }
    }

    fn start(&mut self, event: QueuedEvent, number: u32) {
        let QueuedEvent { time: now, rank: rank_number, .. } = event;
        let rank = &mut self.ranks[rank_number as usize];
        let task = rank.task(number);
        let (lane, nic) = (usize::from(task.lane), usize::from(task.nic));
        match task.work {
            Work::Compute { time } => {
                let end = sum(now, time);
                rank.lanes[lane] = end;
                rank.start(number, now);
                rank.end(number, end);
                let record = &mut self.records[rank_number as usize];
                record.compute = sum(record.compute, time);
            }
            Work::Send { to, bytes, .. } => {
                let lane_end = sum(now, self.costs.send_overhead(bytes));
                rank.lanes[lane] = lane_end;
                rank.send_nics[nic] = sum(now, self.costs.nic_time(bytes));
                rank.start(number, now);
                if !self.costs.is_rendezvous(bytes) {
                    rank.end(number, lane_end);
                }
                let record = &mut self.records[rank_number as usize];
                record.messages += 1;
                record.bytes = record.bytes.saturating_add(bytes.0);
                let arrival = Occurrence::Arrival { from: rank_number, task: number };
                self.push(sum(now, self.costs.first_byte()), to, arrival);
            }
            Work::Receive { bytes, .. } => {
                rank.start(number, now);
                if let Some(message) = rank.queues.post(number, task.work) {
                    rank.end(number, now);
                    if self.costs.is_rendezvous(bytes) {
                        self.release(message.from, message.task, Place { lane, nic }, now);
                        self.started += 1;
                        return self.queue_ready_of(rank_number, message.from);
                    }
                }
            }
        }
        self.started += 1;
        self.queue_ready(rank_number);
    }

    fn arrive(&mut self, event: QueuedEvent, from: u32, number: u32) {
        let QueuedEvent { time: now, rank: rank_number, .. } = event;
        let task = self.ranks[from as usize].task(number);
        let Work::Send { bytes, tag, communicator, .. } = task.work else { unreachable!("{task:?} sends nothing") };
        let (lane, nic) = (usize::from(task.lane), usize::from(task.nic));
        let rank = &mut self.ranks[rank_number as usize];
        let end = sum(now, self.costs.receive_overhead(bytes));
        rank.lanes[lane] = end;
        rank.receive_nics[nic] = sum(now, self.costs.nic_time(bytes));
        let Some(receive) = rank.queues.arrive(Message { from, task: number, tag, communicator }) else { return };
        rank.end(receive, end);
        if self.costs.is_rendezvous(bytes) {
            self.release(from, number, Place { lane, nic }, now);
        }
        self.queue_ready_of(rank_number, from);
    }

    /// Ends a send whose message was matched.
    fn release(&mut self, rank: u32, send: u32, Place { lane, nic }: Place, now: Time) {
        let sender = &mut self.ranks[rank as usize];
        sender.lanes[lane] = sender.lanes[lane].max(now);
        sender.send_nics[nic] = sender.send_nics[nic].max(now);
        // The two sides may differ in which of them takes the message for eager. A send ends once.
        if sender.states[send as usize] == TaskState::Started {
            sender.end(send, now);
        }
    }

    fn queue_ready_of(&mut self, a: u32, b: u32) {
        self.queue_ready(a.min(b));
        self.queue_ready(a.max(b));
    }

    fn queue_ready(&mut self, rank: u32) {
        for ready in self.ranks[rank as usize].take_ready() {
            self.push(ready.time, rank, Occurrence::Task(ready.number));
        }
    }

    fn push(&mut self, time: Time, rank: u32, occurrence: Occurrence) {
        self.queue.push(Reverse(QueuedEvent { time, stamp: self.stamps, rank, occurrence }));
        self.stamps += 1;
    }

    fn record(self) -> RunRecord {
        let mut records = self.records;
        let mut blocked = Vec::new();
        for ((number, rank), record) in (0..).zip(&self.ranks).zip(&mut records) {
            record.end = rank.lanes.iter().copied().max().unwrap_or_default();
            let unfinished = rank.unfinished();
            record.finished = unfinished.is_none();
            blocked.extend(unfinished.map(|task| BlockedTask { rank: number, task, waits_for: rank.waits_for(task) }));
        }
        let unreceived = self.ranks.iter().map(|rank| rank.queues.unexpected() as u64).sum();
        RunRecord { ranks: records, blocked, unreceived, events: self.events }
    }
}

/// A lane and a NIC.
#[derive(Clone, Copy)]
struct Place {
    lane: usize,
    nic: usize,
}

#[cfg(test)]
mod tests {
    use super::*;
    use odonata_trace::{Dependency, Event, ANY};
    use odonata_units::{Bytes, Stream};

    /// Random graphs on two lanes and two NICs, with equal times, wildcards, cycles of waits and messages of all sizes.
    fn graph(seed: u64) -> Vec<RankTasks> {
        let mut random = Stream::new(seed, "graph", &[]);
        let ranks = 2 + random.index(4) as u32;
        let of = |_| {
            let count = random.index(40);
            let mut task = |_| {
                let peer = random.index(ranks as usize) as u32;
                let (bytes, tag) = (Bytes([0, 1, 10, 500, 5_000][random.index(5)]), random.index(2) as u32);
                let work = match random.index(5) {
                    0 | 1 => Work::Send { to: peer, bytes, tag, communicator: 0 },
                    2 => Work::Receive { from: ANY, bytes, tag, communicator: 0 },
                    3 => Work::Receive { from: peer, bytes, tag: ANY, communicator: 0 },
                    _ => Work::Compute { time: Time::from_ns([0, 5, 5, 1_000][random.index(4)]) },
                };
                Task { work, lane: random.index(2) as u8, nic: random.index(2) as u8 }
            };
            let tasks: Vec<Task> = (0..count).map(&mut task).collect();
            let mut waits = Vec::new();
            for number in 1..count {
                if random.index(3) == 0 {
                    let event = [Event::Start, Event::End][random.index(2)];
                    waits.push((number as u32, Dependency { on: random.index(number) as u32, event }));
                }
            }
            RankTasks::new(tasks, &waits)
        };
        (0..ranks).map(of).collect()
    }

    #[test]
    fn waiting_apart_changes_nothing() {
        let ns = Time::from_ns;
        let eager = |eager_limit| Costs { eager_limit: Bytes(eager_limit), ..Costs::default() };
        let no_time = Costs { latency: ns(5), overhead: ns(0), gap: ns(0), gap_per_byte: ns(0), ..eager(100) };
        let per_byte = Costs { overhead_per_byte: ns(1), gap: ns(7), overhead: ns(5), ..eager(600) };
        let mut saved = 0;
        for seed in 0..400 {
            let graph = graph(seed);
            let ranks: Vec<&RankTasks> = graph.iter().collect();
            for costs in [eager(0), eager(65_535), no_time, per_byte] {
                let fast = Run::new(&ranks, &costs).finish(&mut |_| true).unwrap();
                let slow = Run { requeues: true, ..Run::new(&ranks, &costs) }.finish(&mut |_| true).unwrap();
                let same = RunRecord { events: slow.events, ..fast.clone() };
                assert_eq!(same, slow, "seed {seed}, {costs:?}");
                saved += slow.events.saturating_sub(fast.events);
            }
        }
        assert!(saved > 10_000, "the graphs have events that wait: {saved}");
    }

    /// All ranks send to one: a message is looked at a fixed number of times, not once for each one before it.
    #[test]
    fn an_incast_takes_events_in_proportion_to_its_messages() {
        let send = Work::Send { to: 0, bytes: Bytes(8), tag: 0, communicator: 0 };
        let receives = vec![Work::Receive { from: ANY, bytes: Bytes(8), tag: 0, communicator: 0 }.into(); 999];
        let mut graph = vec![RankTasks::new(receives, &[])];
        graph.extend((1..1_000).map(|_| RankTasks::new(vec![send.into()], &[])));
        let record = run(&graph, &Costs::default());
        assert!(record.blocked.is_empty() && record.events < 6_000, "{}", record.events);
    }
}
