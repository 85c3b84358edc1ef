//! A run: partitions advance by windows until the run's end.
//!
//! All partitions share one window at a time, from the earliest event of all to that plus the look-ahead (the least
//! latency of a cable between partitions): nothing that happens in it can reach another partition before it ends.
//! Threads own ranges of partitions and meet once a window. Board, boxes and what is handed out exist twice: in one
//! window a thread reads those that were written in the window before and writes the others, so nobody has to wait until
//! all have read. A partition takes in its messages and advances in one go, while its state is in the cache.
//! Neither the number of threads nor that of partitions changes a result.

use crate::division::Division;
use crate::mail::{Mail, Outbox};
use crate::meeting::Meeting;
use crate::partition::Partition;
use crate::record::{Intervals, RecordPlan, Rows, TracedPacket};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::Mutex;

/// When a run ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// End of the measurement window; the run goes on until its packets have arrived.
    pub(crate) measured_until: u64,
    /// End of the run at the latest.
    pub(crate) end: u64,
    /// Time in which packets are under way but none arrives and none sets out, after which the run gives up.
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
    /// When a packet last arrived or set out.
    moved: Vec<AtomicU64>,
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
            moved: zeros(),
            events: zeros(),
            stop: AtomicBool::new(false),
        }
    }

    fn sum(values: &[AtomicU64]) -> u64 {
        values.iter().map(|v| v.load(Ordering::Relaxed)).sum()
    }

    fn latest(values: &[AtomicU64]) -> u64 {
        values.iter().map(|v| v.load(Ordering::Relaxed)).max().unwrap_or(0)
    }

    fn report(&self, thread: usize, tally: Tally) {
        self.earliest[thread].store(tally.earliest, Ordering::Relaxed);
        self.in_flight[thread].store(tally.in_flight, Ordering::Relaxed);
        self.moved[thread].store(tally.moved, Ordering::Relaxed);
        self.events[thread].store(tally.events, Ordering::Relaxed);
        self.left[thread].store(tally.left, Ordering::Relaxed);
        self.arrived[thread].store(tally.arrived, Ordering::Relaxed);
        self.unsent[thread].store(tally.unsent, Ordering::Relaxed);
    }
}

/// The state of a thread's partitions after a window, and of what they sent.
#[derive(Clone, Copy)]
struct Tally {
    /// Not later than anything happens; `u64::MAX` if nothing will.
    earliest: u64,
    in_flight: u64,
    moved: u64,
    events: u64,
    left: u64,
    arrived: u64,
    unsent: bool,
}

impl Tally {
    const NOTHING: Self =
        Self { earliest: u64::MAX, in_flight: 0, moved: 0, events: 0, left: 0, arrived: 0, unsent: false };

    /// Adds a partition at time `now`; best done when it is in the cache.
    fn add(&mut self, partition: &mut Partition, now: u64, limits: &Limits) {
        self.earliest = self.earliest.min(partition.earliest());
        self.in_flight += partition.in_flight() as u64;
        self.events += partition.event_count;
        for job in &partition.recorder.jobs {
            self.left += job.injected_packets;
            self.arrived += job.packets;
        }
        self.moved = self.moved.max(partition.last_moved(now.saturating_sub(limits.patience)));
        self.unsent |= now < limits.measured_until || partition.born_before(limits.measured_until);
    }
}

/// What thread `from` sent to partition `to` waits at `to * threads + from`.
struct Post {
    boxes: Vec<Mutex<Mail>>,
    threads: usize,
}

impl Post {
    fn new(threads: usize, partitions: usize) -> Self {
        let boxes = (0..threads * partitions).map(|_| Mutex::new(Mail::default())).collect();
        Self { boxes, threads }
    }

    fn between(&self, from: usize, to: usize) -> std::sync::MutexGuard<'_, Mail> {
        self.boxes[to * self.threads + from].lock().expect("no thread panicked")
    }

    fn memory_bytes(&self) -> usize {
        self.boxes.iter().map(|mail| mail.lock().expect("no thread panicked").memory_bytes()).sum()
    }
}

/// How a run ended.
pub(crate) struct Outcome {
    pub(crate) ending: Ending,
    pub(crate) end: u64,
    /// What the watcher was not given yet.
    pub(crate) rest: Handed,
    /// Memory of what partitions send each other.
    pub(crate) mail_bytes: usize,
}

/// Runs the partitions, in the order of their routers, on up to `threads` threads.
pub(crate) fn run(
    partitions: &mut [Partition],
    division: &Division,
    limits: Limits,
    plan: RecordPlan,
    threads: usize,
    watch: &mut dyn Watch,
) -> Outcome {
    let count = partitions.len();
    partitions.iter_mut().for_each(Partition::start);
    let lookahead = division.lookahead.unwrap_or(u64::MAX / 4);
    let threads = threads.clamp(1, count);
    let board = [Board::new(threads), Board::new(threads)];
    let post = [Post::new(threads, count), Post::new(threads, count)];
    let meeting = Meeting::new(threads);
    let handed = [Mutex::default(), Mutex::default()];
    let shared = Shared {
        partitions: count,
        board,
        post,
        meeting,
        limits,
        plan,
        handed,
        lookahead,
        outbox_bytes: AtomicUsize::new(0),
    };
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
    let (ending, end, rest) = std::thread::scope(|scope| {
        let mut shares = shares.into_iter();
        let (thread, first, share) = shares.next().expect("there is at least one thread");
        let shared = &shared;
        for (thread, first, share) in shares {
            scope.spawn(move || shared.work(thread, first, share, None));
        }
        shared.work(thread, first, share, Some(watch))
    });
    let posted: usize = shared.post.iter().map(Post::memory_bytes).sum();
    let mail_bytes = posted + shared.outbox_bytes.load(Ordering::Relaxed);
    Outcome { ending, end, rest, mail_bytes }
}

struct Shared {
    /// Number of partitions, of all threads.
    partitions: usize,
    board: [Board; 2],
    post: [Post; 2],
    meeting: Meeting,
    limits: Limits,
    plan: RecordPlan,
    /// What partitions handed out in a window.
    handed: [Mutex<Handed>; 2],
    lookahead: u64,
    /// What the threads hold to write mail in, once they ended.
    outbox_bytes: AtomicUsize,
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
        let mut rows = Handed::default();
        let mut side = 0;
        let mut outbox = Outbox::new(self.partitions);
        let mut tally = Tally::NOTHING;
        for partition in partitions.iter_mut() {
            tally.add(partition, now, &self.limits);
        }
        self.board[side].report(thread, tally);
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
            let next = board.earliest.iter().map(|e| e.load(Ordering::Relaxed)).min().unwrap_or(u64::MAX);
            if let Some(ending) = self.ending(board, now, next) {
                self.outbox_bytes.fetch_add(outbox.memory_bytes(), Ordering::Relaxed);
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
            let mut tally = Tally::NOTHING;
            // To and fro: what was touched last is still in the cache.
            let (mut up, mut down) = (0..partitions.len(), (0..partitions.len()).rev());
            let order: &mut dyn Iterator<Item = usize> = if side == 0 { &mut up } else { &mut down };
            for i in order {
                let partition = &mut partitions[i];
                std::mem::swap(&mut partition.outbox, &mut outbox);
                self.read_mail(first + i, partition, side);
                partition.advance(until);
                tally.add(partition, until, &self.limits);
                std::mem::swap(&mut partition.outbox, &mut outbox);
            }
            self.send_mail(thread, 1 - side, until, &mut outbox, &mut tally);
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
            self.board[side].report(thread, tally);
        }
    }

    /// Gives partition number `own` what was sent to it in the window before.
    fn read_mail(&self, own: usize, partition: &mut Partition, side: usize) {
        for from in 0..self.post[side].threads {
            let mut mail = self.post[side].between(from, own);
            if !mail.is_empty() {
                partition.deliver(&mail);
                partition.outbox.clear(&mut mail);
            }
        }
    }

    /// Posts what the partitions of a thread sent in a window that ended at `until`.
    fn send_mail(&self, thread: usize, side: usize, until: u64, outbox: &mut Outbox, tally: &mut Tally) {
        for (to, mail) in outbox.to.iter_mut().enumerate().filter(|(_, mail)| !mail.is_empty()) {
            tally.in_flight += mail.packet_count() as u64;
            tally.earliest = tally.earliest.min(until);
            std::mem::swap(&mut *self.post[side].between(thread, to), mail);
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
    fn ending(&self, board: &Board, now: u64, next: u64) -> Option<Ending> {
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
        if in_flight > 0 && now.saturating_sub(Board::latest(&board.moved)) > self.limits.patience {
            return Some(Ending::NoProgress);
        }
        None
    }
}

/// A run ends at a multiple of this time, 1 us, unless nothing is left to do.
const CHECKPOINT: u64 = 1_000_000;
