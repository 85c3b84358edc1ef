//! The workers of this process, and the loop that each of them runs.

use super::director::{Director, LoopStep};
use super::exchange::Exchange;
use super::limits::{Ending, RunPlan};
use super::loop_memory::LoopMemory;
use super::processes::{ProcessExchange, ProcessLayout, StateBuffer};
use super::rows::RowBuffer;
use super::run_state::{save_partition, CheckpointSink, RunCheckpoints, RunState, RUN_PART};
use super::tally::Tally;
use super::threads::Threads;
use super::totals::Totals;
use super::verdict::Verdicts;
use super::watch::{Progress, Watch};
use super::windows::{Window, Windows};
use super::work_queues::WorkQueues;
use crate::division::Division;
use crate::fast_forward::FastForwardReport;
use crate::mail::Outbox;
use crate::partition::Partition;
use crate::record::Part;
use odonata_processes::gather;
use std::sync::Mutex;

/// Ending and records of a run.
pub(crate) struct RunOutcome {
    pub(crate) ending: Ending,
    pub(crate) end: u64,
    /// Sums over all partitions.
    pub(crate) totals: Totals,
    /// Records of ports and estimates of routers, by partition.
    pub(crate) parts: Vec<Part>,
    /// What was skipped. Times of the outcome do not contain it.
    pub(crate) fast_forward: Option<FastForwardReport>,
}

/// Runs the partitions of a division, in order, on up to `threads` threads. With `layout`, these are the partitions
/// of this process. Then the first process returns all records, and the other processes none.
pub(crate) fn run(
    partitions: Vec<Partition>,
    division: &Division,
    plan: &RunPlan,
    threads: usize,
    watch: &mut dyn Watch,
    RunCheckpoints { sink, resumed }: RunCheckpoints<'_>,
    layout: Option<&ProcessLayout<'_>>,
) -> RunOutcome {
    let (count, first) = (division.ranges().count(), layout.map_or(0, |layout| layout.own().start));
    let (state_buffer, has_first) = (StateBuffer::default(), layout.is_none_or(ProcessLayout::has_first));
    let threads = threads.clamp(1, partitions.len().max(1));
    let numbered =
        (first..).zip(partitions).map(|(number, partition)| Box::new(NumberedPartition::new(number, partition)));
    let verdicts = Verdicts::default();
    let team = Team {
        verdicts: &verdicts,
        work_queues: WorkQueues::new(numbered.collect(), threads),
        partitions: count,
        plan,
        lookahead: division.lookahead,
        row_buffer: [Mutex::default(), Mutex::default()],
        parts: Mutex::default(),
        sink: if has_first { sink } else { Some(&state_buffer) },
        resumed: resumed.as_ref().map(|state| (state.now, state.until)),
    };
    let of_run = resumed.filter(|_| has_first);
    let (events_before, pending_rows) =
        of_run.map_or_else(Default::default, |state| (state.events, state.pending_rows));
    let exchange = Threads::new(threads, count);
    let leader = Leader { watch, events_before, pending_rows, has_first };
    let ended = match layout {
        None => team.run(threads, leader, |thread| exchange.join(thread)),
        Some(layout) => {
            let processes = ProcessExchange::new(&exchange, layout, sink, &state_buffer);
            team.run(threads, leader, |thread| processes.join(thread))
        }
    };
    let WorkerOutcome { ending, end, totals, fast_forward } = ended;
    let mut totals = totals.expect("the first worker gets the sum");
    totals.cost.network_bytes += exchange.memory_bytes() as u64;
    let mut parts = team.parts.into_inner().expect("no thread panicked");
    if let Some(layout) = layout {
        parts.extend(gather(layout.processes, &parts).into_iter().flatten());
    }
    // Threads finish in any order; results have the order of partitions.
    parts.sort_unstable_by_key(|(number, _)| *number);
    RunOutcome { ending, end, totals, parts: parts.into_iter().map(|(_, part)| part).collect(), fast_forward }
}

/// A partition and its number in the run.
struct NumberedPartition {
    number: usize,
    partition: Partition,
    /// Boundaries of a loop, for fast-forward.
    memory: LoopMemory,
}

impl NumberedPartition {
    fn new(number: usize, partition: Partition) -> Self {
        Self { number, partition, memory: LoopMemory::default() }
    }
}

/// State shared by the workers of this process.
struct Team<'a> {
    verdicts: &'a Verdicts,
    work_queues: WorkQueues<Box<NumberedPartition>>,
    /// Number of partitions of the run.
    partitions: usize,
    plan: &'a RunPlan,
    lookahead: Option<u64>,
    /// Rows of this window and of the next one.
    row_buffer: [Mutex<RowBuffer>; 2],
    /// Records of finished partitions, by number.
    parts: Mutex<Vec<(usize, Part)>>,
    /// Destination of checkpoints.
    sink: Option<&'a dyn CheckpointSink>,
    /// Of a resumed run: end of its last window, and planned end of the next one.
    resumed: Option<(u64, u64)>,
}

/// Additional state of the first worker.
struct Leader<'a> {
    watch: &'a mut dyn Watch,
    /// Events before the run was resumed.
    events_before: u64,
    /// Rows that the watcher has not got yet.
    pending_rows: RowBuffer,
    /// Whether this is the first process, which holds the state of the run and decides on checkpoints.
    has_first: bool,
}

/// What a worker does with each of its partitions in a window.
struct Turn<'a> {
    window: Window,
    /// Start of the window.
    begins: u64,
    step: LoopStep,
    /// Destination of a checkpoint, if one is due.
    sink: Option<&'a dyn CheckpointSink>,
}

/// Result of a worker.
struct WorkerOutcome {
    ending: Ending,
    end: u64,
    /// Sums over all workers; only the first worker gets them.
    totals: Option<Totals>,
    fast_forward: Option<FastForwardReport>,
}

impl Team<'_> {
    /// Runs all threads; each joins the exchange.
    fn run<E: Exchange>(&self, threads: usize, leader: Leader<'_>, join: impl Fn(usize) -> E + Sync) -> WorkerOutcome {
        // The calling thread is worker 0, so that the watcher runs in it.
        std::thread::scope(|scope| {
            for thread in 1..threads {
                let join = &join;
                scope.spawn(move || self.work(thread, join(thread), None));
            }
            self.work(0, join(0), Some(leader))
        })
    }

    /// Starts the partitions that no thread has started yet.
    fn start(&self, thread: usize, tally: &mut Tally) {
        while let Some(mut own) = self.work_queues.take(0, thread) {
            own.partition.start();
            tally.count(&mut own.partition, 0, self.plan);
            self.work_queues.put_back(0, thread, own);
        }
    }

    /// Runs one thread.
    fn work(&self, thread: usize, mut exchange: impl Exchange, mut leader: Option<Leader<'_>>) -> WorkerOutcome {
        let mut windows = Windows::new(self.plan.limits, &self.plan.records, self.lookahead);
        // One outbox per thread, lent to the partition that it advances: its memory is reused.
        let mut outbox = Outbox::new(self.partitions);
        let (mut tally, mut seen, mut events, mut side) = (Tally::default(), 0, 0, 0);
        // First window of a resumed run.
        let mut resumed = self.resumed.map(|(now, until)| windows.resume(now, until));
        if resumed.is_none() {
            self.start(thread, &mut tally);
            // Starting fills the queues of the other side.
            side = 1;
        }
        let director_of = |form| Director::new(form, self.verdicts);
        let (mut checkpoint, mut director) = (false, self.plan.fast_forward.map(director_of));
        let saves = self.sink.is_some() && director.is_none();
        let ending = loop {
            let (mut step, begins) = (LoopStep::default(), windows.now());
            let window = match resumed.take() {
                Some(window) => window,
                None => {
                    if let Some(Leader { watch, has_first, .. }) = &mut leader {
                        let (end_ps, events) = (self.plan.limits.end, tally.events.max(seen));
                        tally.stop = !watch.progress(Progress { now_ps: begins, end_ps, events });
                        tally.checkpoint = !checkpoint && *has_first && saves && watch.wants_checkpoint(begins);
                    }
                    let sum = exchange.synchronize(&tally, &self.row_buffer[1 - side]);
                    seen = sum.events;
                    if let Some(Leader { watch, pending_rows, has_first, .. }) = &mut leader {
                        if checkpoint && *has_first {
                            watch.checkpoint_taken();
                        }
                        pending_rows.append(std::mem::take(&mut *lock(&self.row_buffer[1 - side])));
                        pending_rows.flush(*watch, false);
                    }
                    checkpoint = sum.checkpoint;
                    step = director.as_mut().map(|director| director.step(&sum, &mut windows)).unwrap_or_default();
                    let window = match windows.next(&sum) {
                        Ok(window) => window,
                        Err(ending) => break ending,
                    };
                    let of_run = leader.as_ref().filter(|leader| checkpoint && leader.has_first);
                    if let (Some(sink), Some(leader)) = (self.sink, of_run) {
                        sink.part(RUN_PART, &RunState::encode(begins, window.until, seen, &leader.pending_rows));
                    }
                    window
                }
            };
            let turn = Turn { window, begins, step, sink: self.sink.filter(|_| checkpoint) };
            let mut row_buffer = RowBuffer::default();
            tally = Tally::default();
            while let Some(mut own) = self.work_queues.take(side, thread) {
                let before = own.partition.event_count();
                std::mem::swap(&mut own.partition.outbox, &mut outbox);
                self.advance(&mut own, &turn, &mut exchange, &mut tally, &mut row_buffer);
                std::mem::swap(&mut own.partition.outbox, &mut outbox);
                events += own.partition.event_count() - before;
                self.work_queues.put_back(side, thread, own);
            }
            for (to, mail) in outbox.to.iter_mut().enumerate().filter(|(_, mail)| !mail.is_empty()) {
                // Packets in mail belong to no partition yet.
                tally.in_flight += mail.packet_count() as u64;
                tally.earliest = tally.earliest.min(window.until);
                exchange.post(to, mail);
            }
            window.rows.then(|| lock(&self.row_buffer[side]).append(row_buffer));
            // The queues that this window filled are read next.
            side = 1 - side;
        };
        let mut totals = self.end(thread, side, windows.now(), ending);
        totals.cost.events = events + leader.as_ref().map_or(0, |leader| leader.events_before);
        totals.cost.events_of_busiest = events;
        totals.cost.network_bytes += outbox.memory_bytes() as u64;
        let totals = exchange.sum(totals, &self.row_buffer[side]);
        if let Some(Leader { watch, mut pending_rows, .. }) = leader {
            pending_rows.append(std::mem::take(&mut *lock(&self.row_buffer[side])));
            pending_rows.flush(watch, true);
        }
        WorkerOutcome { ending, end: windows.now(), totals, fast_forward: director.map(Director::report) }
    }

    /// Runs one window of a partition.
    fn advance(
        &self,
        own: &mut NumberedPartition,
        turn: &Turn<'_>,
        exchange: &mut impl Exchange,
        tally: &mut Tally,
        row_buffer: &mut RowBuffer,
    ) {
        let NumberedPartition { number, partition, memory } = own;
        let Turn { window, begins, step, sink } = turn;
        // Mail first: it may contain events of this window.
        exchange.take(*number, &mut |mail| {
            partition.deliver(mail);
            partition.outbox.clear(mail);
        });
        if let Some(sink) = sink {
            sink.part(*number as u32, &save_partition(partition));
        }
        memory.step(step, *begins, *number, partition, self.verdicts);
        partition.advance(window.until);
        // Counted now, while the partition is in the cache.
        tally.count(partition, window.until, self.plan);
        if window.rows {
            if window.interval_ends {
                partition.cut_stalls(window.until);
            }
            row_buffer.take(partition, &self.plan.records, window.until, window.interval_ends);
        }
    }

    /// Finishes the partitions of one thread at the end of the run.
    fn end(&self, thread: usize, side: usize, end: u64, ending: Ending) -> Totals {
        let mut totals = Totals::default();
        let mut row_buffer = RowBuffer::default();
        while let Some(own) = self.work_queues.take(side, thread) {
            let NumberedPartition { number, mut partition, memory } = *own;
            partition.finish(end);
            // Packets whose tails are on the last link count as delivered.
            row_buffer.take(&mut partition, &self.plan.records, u64::MAX, false);
            row_buffer.take(&mut partition, &self.plan.records, end, true);
            if ending == Ending::NoProgress {
                totals.blocked_heads.extend(partition.blocked_heads());
            }
            // Clocks of ranks may be ahead of the last event, but nothing else happens.
            let is_over = matches!(ending, Ending::Deadlock);
            totals.count(&mut partition, if is_over { u64::MAX } else { end });
            let mut part = partition.into_part(end, self.plan.limits.records_tables);
            memory.add_intervals(&mut part);
            lock(&self.parts).push((number, part));
        }
        lock(&self.row_buffer[side]).append(row_buffer);
        totals
    }
}

fn lock<T>(of: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    of.lock().expect("no thread panicked")
}
