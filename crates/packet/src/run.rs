//! A run: partitions advance by windows until the run's end.
//!
//! All partitions share one window at a time, from the earliest event of all to that plus the look-ahead (the least
//! latency of a cable between partitions): nothing that happens in it can reach another partition before it ends.
//! Threads own ranges of partitions and meet once a window. Board, boxes and what is handed out exist twice: in one
//! window a thread reads those that were written in the window before and writes the others, so nobody has to wait until
//! all have read. A partition takes in its messages and advances in one go, while its state is in the cache.
//! Neither the number of threads nor that of partitions changes a result.

use crate::fabric::Fabric;
use crate::mail::Mail;
use crate::meeting::Meeting;
use crate::partition::{Division, Partition};
use crate::record::{Intervals, JobRecord, RecordPlan, Rows, TracedPacket};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Mutex;

/// When a run ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// End of the measurement window; the run goes on until its packets have arrived.
    pub(crate) measured_until: u64,
    /// End of the run at the latest.
    pub(crate) end: u64,
    /// Time without any delivery while packets are under way, after which the run gives up.
    pub(crate) patience: u64,
}

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// Everything to be measured has arrived.
    Complete,
    /// The drain limit came first: the network is saturated or slow to drain.
    DrainLimit,
    /// The observer asked to stop.
    Interrupted,
    /// Packets are under way but nothing moves.
    NoProgress,
}

/// What an observer sees now and then.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// Simulated time.
    pub now_ps: u64,
    /// Simulated time at which the run ends at the latest.
    pub end_ps: u64,
    /// Events so far.
    pub events: u64,
}

/// Watches a run from the calling thread; returning `false` ends it.
pub type Observer<'a> = &'a mut dyn FnMut(Progress) -> bool;

/// Watches a run from the calling thread and takes the rows that it hands out.
pub trait Watch {
    /// Told how far the run is; returning `false` ends it.
    fn progress(&mut self, progress: Progress) -> bool;

    /// Takes further rows, in their order.
    fn rows(&mut self, rows: Rows);
}

/// What partitions hand out while a run goes.
#[derive(Default)]
pub(crate) struct Handed {
    packets: Vec<TracedPacket>,
    intervals: Intervals,
}

/// Packets that are handed out at a time.
const BATCH: usize = 1 << 16;

impl Handed {
    /// Takes what a partition recorded until `until`; of intervals only if one ends there.
    pub(crate) fn take(&mut self, partition: &mut Partition, plan: &RecordPlan, until: u64, interval_ends: bool) {
        if plan.recording.packets {
            partition.recorder.take_packets(until, &mut self.packets);
        }
        if interval_ends {
            partition.recorder.take_intervals(until, &mut self.intervals);
        }
    }

    fn append(&mut self, mut other: Self) {
        self.packets.append(&mut other.packets);
        self.intervals.ports.append(&mut other.intervals.ports);
        self.intervals.channels.append(&mut other.intervals.channels);
        self.intervals.port_jobs.append(&mut other.intervals.port_jobs);
    }

    /// Gives rows to the watcher: packets when there are many or it is the `last` time.
    pub(crate) fn give(&mut self, watch: &mut dyn Watch, last: bool) {
        if self.packets.len() >= BATCH || last && !self.packets.is_empty() {
            // All that arrived before the time of the last taking are here, so batches follow each other in order.
            self.packets.sort_unstable();
            watch.rows(Rows::Packets(std::mem::take(&mut self.packets)));
        }
        let Intervals { ports, channels, port_jobs } = &mut self.intervals;
        if !ports.is_empty() {
            ports.sort_unstable();
            watch.rows(Rows::Ports(std::mem::take(ports)));
        }
        if !channels.is_empty() {
            channels.sort_unstable();
            watch.rows(Rows::Channels(std::mem::take(channels)));
        }
        if !port_jobs.is_empty() {
            port_jobs.sort_unstable();
            watch.rows(Rows::PortJobs(std::mem::take(port_jobs)));
        }
    }
}

/// What the threads tell each other, one entry per thread.
struct Board {
    earliest: Vec<AtomicU64>,
    /// Whether packets made in the measurement window wait in their sources.
    unsent: Vec<AtomicBool>,
    /// Packets of the measurement that left their sources, and those that arrived.
    left: Vec<AtomicU64>,
    arrived: Vec<AtomicU64>,
    in_flight: Vec<AtomicU64>,
    delivered: Vec<AtomicU64>,
    events: Vec<AtomicU64>,
    stop: AtomicBool,
}

impl Board {
    fn new(threads: usize) -> Self {
        let zeros = || (0..threads).map(|_| AtomicU64::new(0)).collect();
        Self {
            earliest: zeros(),
            unsent: (0..threads).map(|_| AtomicBool::new(true)).collect(),
            left: zeros(),
            arrived: zeros(),
            in_flight: zeros(),
            delivered: zeros(),
            events: zeros(),
            stop: AtomicBool::new(false),
        }
    }

    fn sum(values: &[AtomicU64]) -> u64 {
        values.iter().map(|v| v.load(Ordering::Relaxed)).sum()
    }

    fn report(&self, thread: usize, partitions: &mut [Partition], mailed: Mailed, now: u64, measured_until: u64) {
        let earliest = partitions.iter_mut().map(Partition::earliest).min().unwrap_or(u64::MAX).min(mailed.earliest);
        let total = |f: &dyn Fn(&Partition) -> u64| partitions.iter().map(f).sum::<u64>();
        self.earliest[thread].store(earliest, Ordering::Relaxed);
        self.in_flight[thread].store(mailed.packets + total(&|p| p.in_flight() as u64), Ordering::Relaxed);
        let delivered = total(&|p| p.recorder.jobs.iter().map(|j| j.all_packets).sum());
        self.delivered[thread].store(delivered, Ordering::Relaxed);
        self.events[thread].store(total(&|p| p.event_count), Ordering::Relaxed);
        let jobs = |f: fn(&JobRecord) -> u64| total(&|p| p.recorder.jobs.iter().map(f).sum());
        self.left[thread].store(jobs(|j| j.injected_packets), Ordering::Relaxed);
        self.arrived[thread].store(jobs(|j| j.packets), Ordering::Relaxed);
        let unsent = now < measured_until || partitions.iter().any(|p| p.born_before(measured_until));
        self.unsent[thread].store(unsent, Ordering::Relaxed);
    }
}

/// What a thread's partitions sent in a window.
#[derive(Clone, Copy)]
struct Mailed {
    packets: u64,
    /// Not later than anything of it arrives; `u64::MAX` if nothing was sent.
    earliest: u64,
}

/// What partition `from` sent to `to` waits at `to * partitions + from`.
struct Post {
    boxes: Vec<Mutex<Mail>>,
    partitions: usize,
}

impl Post {
    fn new(partitions: usize) -> Self {
        let boxes = (0..partitions * partitions).map(|_| Mutex::new(Mail::default())).collect();
        Self { boxes, partitions }
    }

    fn between(&self, from: usize, to: usize) -> std::sync::MutexGuard<'_, Mail> {
        self.boxes[to * self.partitions + from].lock().expect("no thread panicked")
    }
}

/// Runs the partitions, in the order of their routers, on up to `threads` threads; returns the ending, its time, and what
/// the watcher was not given yet.
pub(crate) fn run(
    fabric: &Fabric,
    partitions: &mut [Partition],
    division: &Division,
    limits: Limits,
    plan: RecordPlan,
    threads: usize,
    watch: &mut dyn Watch,
) -> (Ending, u64, Handed) {
    let count = partitions.len();
    partitions.iter_mut().for_each(Partition::start);
    let lookahead = fabric.lookahead(|router| division.part_of(router)).unwrap_or(u64::MAX / 4);
    assert!(lookahead > 0, "cables between partitions have a latency");
    let threads = threads.clamp(1, count);
    let board = [Board::new(threads), Board::new(threads)];
    let post = [Post::new(count), Post::new(count)];
    let meeting = Meeting::new(threads);
    let handed = [Mutex::default(), Mutex::default()];
    let shared = Shared { board, post, meeting, limits, plan, handed, lookahead };
    let mut rest = partitions;
    let mut first = 0;
    let mut shares = Vec::new();
    for thread in 0..threads {
        let end = count * (thread + 1) / threads;
        let (share, later) = rest.split_at_mut(end - first);
        shares.push((thread, first, share));
        rest = later;
        first = end;
    }
    std::thread::scope(|scope| {
        let mut shares = shares.into_iter();
        let (thread, first, share) = shares.next().expect("there is at least one thread");
        let shared = &shared;
        for (thread, first, share) in shares {
            scope.spawn(move || shared.work(thread, first, share, None));
        }
        shared.work(thread, first, share, Some(watch))
    })
}

struct Shared {
    board: [Board; 2],
    post: [Post; 2],
    meeting: Meeting,
    limits: Limits,
    plan: RecordPlan,
    /// What partitions handed out in a window.
    handed: [Mutex<Handed>; 2],
    lookahead: u64,
}

impl Shared {
    /// The loop of one thread over its partitions, which start at number `first`. One thread has the watcher and returns
    /// what it was not given yet.
    fn work(
        &self,
        thread: usize,
        first: usize,
        partitions: &mut [Partition],
        mut watch: Option<&mut dyn Watch>,
    ) -> (Ending, u64, Handed) {
        let member = self.meeting.join();
        let mut now = 0;
        let mut last_delivery = (0, 0);
        let mut rows = Handed::default();
        let mut side = 0;
        let nothing = Mailed { packets: 0, earliest: u64::MAX };
        self.board[side].report(thread, partitions, nothing, now, self.limits.measured_until);
        loop {
            let board = &self.board[side];
            if let Some(watch) = &mut watch {
                let progress = Progress { now_ps: now, end_ps: self.limits.end, events: Board::sum(&board.events) };
                board.stop.store(!watch.progress(progress), Ordering::Relaxed);
            }
            member.wait();
            if let (true, Some(watch)) = (self.hands_out(), &mut watch) {
                rows.append(std::mem::take(&mut *self.handed[side].lock().expect("no thread panicked")));
                rows.give(*watch, false);
            }
            let delivered = Board::sum(&board.delivered);
            if delivered != last_delivery.0 {
                last_delivery = (delivered, now);
            }
            let next = board.earliest.iter().map(|e| e.load(Ordering::Relaxed)).min().unwrap_or(u64::MAX);
            if let Some(ending) = self.ending(board, now, next, last_delivery.1) {
                return (ending, now, rows);
            }
            let start = next.max(now);
            // Windows also end at full checkpoints and where the measurement does: the run ends at such a time, so
            // nothing that is recorded depends on where windows lie.
            let mut until = start.saturating_add(self.lookahead).min((start / CHECKPOINT + 1) * CHECKPOINT);
            let interval_end = self.interval_end(now);
            for border in [self.limits.measured_until, self.limits.end, interval_end] {
                if now < border {
                    until = until.min(border);
                }
            }
            let mut mailed = nothing;
            for (i, partition) in partitions.iter_mut().enumerate() {
                self.advance(first + i, partition, until, side, &mut mailed);
            }
            if self.hands_out() && (until == interval_end || until / CHECKPOINT > now / CHECKPOINT) {
                let mut mine = Handed::default();
                for partition in partitions.iter_mut() {
                    if until == interval_end {
                        partition.cut_stalls(until);
                    }
                    mine.take(partition, &self.plan, until, until == interval_end);
                }
                self.handed[1 - side].lock().expect("no thread panicked").append(mine);
            }
            now = until;
            side = 1 - side;
            self.board[side].report(thread, partitions, mailed, now, self.limits.measured_until);
        }
    }

    /// One window of partition number `own`: what the others sent it in the window before, its events, and what it sends.
    fn advance(&self, own: usize, partition: &mut Partition, until: u64, side: usize, mailed: &mut Mailed) {
        let (inbox, outbox) = (&self.post[side], &self.post[1 - side]);
        for from in 0..inbox.partitions {
            let mut mail = std::mem::take(&mut *inbox.between(from, own));
            if !mail.is_empty() {
                partition.deliver(&mail);
                mail.clear();
                // What goes back takes the same memory, which is in the cache.
                partition.outgoing[from] = mail;
            }
        }
        partition.advance(until);
        for (to, mail) in partition.outgoing.iter_mut().enumerate().filter(|(_, mail)| !mail.is_empty()) {
            mailed.packets += mail.packets.len() as u64;
            mailed.earliest = until;
            *outbox.between(own, to) = std::mem::take(mail);
        }
    }

    /// Whether anything is handed out while the run goes.
    fn hands_out(&self) -> bool {
        self.plan.recording.packets || self.plan.has_port_series()
    }

    /// The end of the interval that runs at `now`.
    fn interval_end(&self, now: u64) -> u64 {
        let interval = self.plan.recording.interval_ps;
        if self.plan.has_port_series() {
            (now / interval + 1) * interval
        } else {
            u64::MAX
        }
    }

    /// Whether the run ends here; all threads come to the same answer, as all read the same board.
    fn ending(&self, board: &Board, now: u64, next: u64, last_delivery: u64) -> Option<Ending> {
        let in_flight = Board::sum(&board.in_flight);
        if next == u64::MAX {
            return Some(if in_flight > 0 { Ending::NoProgress } else { Ending::Complete });
        }
        if now % CHECKPOINT != 0 && now < self.limits.end {
            return None;
        }
        let unsent = board.unsent.iter().any(|u| u.load(Ordering::Relaxed));
        let missing = unsent || Board::sum(&board.left) != Board::sum(&board.arrived);
        if now >= self.limits.measured_until && !missing {
            return Some(Ending::Complete);
        }
        if board.stop.load(Ordering::Relaxed) {
            return Some(Ending::Interrupted);
        }
        if now >= self.limits.end {
            return Some(Ending::DrainLimit);
        }
        if in_flight > 0 && now - last_delivery.min(now) > self.limits.patience {
            return Some(Ending::NoProgress);
        }
        None
    }
}

/// A run ends at a multiple of this time, 1 us, unless nothing is left to do.
const CHECKPOINT: u64 = 1_000_000;
