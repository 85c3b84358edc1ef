//! A run: partitions advance by windows until the run's end.
//!
//! ```text
//! worker:  ┌► take mail ─► advance to the window's end ─► count, rows ─┐   a partition of its own or another's (`shares`)
//!          └───────────────────────────────────────────────────────────┘
//!          ─► post mail ─► meet: the sum of all counts (`exchange`) ─► next window or end (`windows`)
//! ```
//! A partition takes in its messages and advances in one go, while its state is in the cache. Neither the number of workers
//! nor that of partitions, nor which worker advances which partition, changes a result: `docs/decisions/windows.md`.

mod exchange;
mod kept;
mod meeting;
mod processes;
mod rows;
mod shares;
mod threads;
mod totals;
mod windows;

pub use kept::Vault;
pub(crate) use kept::{Kept, RUN};
pub(crate) use processes::Among;
pub use totals::Cost;
pub(crate) use totals::Totals;

use crate::division::Division;
use crate::mail::Outbox;
use crate::partition::Partition;
use crate::record::{Part, RecordPlan, Rows};
use exchange::{Exchange, Tally};
use odonata_processes::gather;
use processes::{Parcels, Spread};
use rows::Handed;
use shares::Shares;
use std::sync::Mutex;
use threads::Threads;
use windows::{Window, Windows};

/// When a run ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// End of the measurement window; the run goes on until its packets have arrived.
    pub(crate) measured_until: u64,
    /// Whether the run is over before that if all jobs that come to an end have: open traffic goes on beside them.
    pub(crate) ends_with_jobs: bool,
    /// End of the run at the latest.
    pub(crate) end: u64,
    /// Time in which packets are under way but none arrives and none sets out, after which the run gives up.
    pub(crate) patience: u64,
    /// Whether what routers learnt is kept.
    pub(crate) keep_tables: bool,
    /// A time at which a window ends.
    pub(crate) border: u64,
}

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// Everything to be measured has arrived, and every endpoint is finished.
    Complete,
    /// The drain limit came first: the network is saturated or slow to drain.
    DrainLimit,
    /// The observer asked to stop.
    Interrupted,
    /// Packets are under way but nothing moves.
    NoProgress,
    /// Nothing is under way and nothing will ever happen, but endpoints have something left to do.
    Deadlock,
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

    /// Asked, now and then, whether the state of the run at `now_ps` is to be kept. If so, all of it is handed to the run's [`Vault`] before
    /// anything else is told to the watcher.
    fn wants_checkpoint(&mut self, now_ps: u64) -> bool {
        let _ = now_ps;
        false
    }

    /// All of the state has been handed over.
    fn checkpoint_taken(&mut self) {}
}

/// How a run ended, and what it recorded.
pub(crate) struct Finished {
    pub(crate) ending: Ending,
    pub(crate) end: u64,
    /// Over all partitions.
    pub(crate) totals: Totals,
    /// Records of ports and of what routers learnt, partition by partition.
    pub(crate) parts: Vec<Part>,
}

/// Runs the partitions of a division, in their order, on up to `threads` threads: all of them, or those that are this process's `among` others.
/// Then the first process has what was recorded, and another one nothing of it.
pub(crate) fn run(
    partitions: Vec<Partition>,
    division: &Division,
    limits: Limits,
    plan: RecordPlan,
    threads: usize,
    watch: &mut dyn Watch,
    (vault, kept, among): (Option<&dyn Vault>, Option<Kept>, Option<&Among<'_>>),
) -> Finished {
    let (count, first) = (division.ranges().count(), among.map_or(0, |among| among.own().start));
    let (parcels, has_first) = (Parcels::default(), among.is_none_or(Among::has_first));
    let threads = threads.clamp(1, partitions.len().max(1));
    let numbered = (first..).zip(partitions).map(|(number, partition)| Box::new(Numbered { number, partition }));
    let team = Team {
        shares: Shares::new(numbered.collect(), threads),
        partitions: count,
        limits,
        plan,
        lookahead: division.lookahead,
        handed: [Mutex::default(), Mutex::default()],
        parts: Mutex::default(),
        vault: if has_first { vault } else { Some(&parcels) },
        again: kept.as_ref().map(|kept| (kept.now, kept.until)),
    };
    let of_run = kept.filter(|_| has_first);
    let (begun, given) = of_run.map_or_else(Default::default, |kept| (kept.events, kept.given));
    let exchange = Threads::new(threads, count);
    let leader = Leader { watch, begun, given, has_first };
    let ended = match among {
        None => team.run(threads, leader, |thread| exchange.join(thread)),
        Some(among) => {
            let spread = Spread::new(&exchange, among, (vault, &parcels));
            team.run(threads, leader, |thread| spread.join(thread))
        }
    };
    let Ended { ending, end, totals } = ended;
    let mut totals = totals.expect("the first worker gets the sum");
    totals.cost.network_bytes += exchange.memory_bytes() as u64;
    let mut parts = team.parts.into_inner().expect("no thread panicked");
    if let Some(among) = among {
        parts.extend(gather(among.processes, &parts).into_iter().flatten());
    }
    parts.sort_unstable_by_key(|(number, _)| *number);
    Finished { ending, end, totals, parts: parts.into_iter().map(|(_, part)| part).collect() }
}

/// A partition with its number among all.
struct Numbered {
    number: usize,
    partition: Partition,
}

/// What the workers of this process share.
struct Team<'a> {
    shares: Shares<Box<Numbered>>,
    /// Number of partitions of the run.
    partitions: usize,
    limits: Limits,
    plan: RecordPlan,
    lookahead: Option<u64>,
    /// Rows of one window and of the next.
    handed: [Mutex<Handed>; 2],
    /// Records of partitions that are done, by number.
    parts: Mutex<Vec<(usize, Part)>>,
    /// Where state goes that is to be kept.
    vault: Option<&'a dyn Vault>,
    /// Of a run that goes on: when its last window ended, and when the next one was to.
    again: Option<(u64, u64)>,
}

/// What the first worker has beyond the others.
struct Leader<'a> {
    watch: &'a mut dyn Watch,
    /// Events before the run went on.
    begun: u64,
    /// Rows that the watcher was not given yet.
    given: Handed,
    /// Whether it is the first of the first process, which has the state of the run itself, and is asked whether to keep it.
    has_first: bool,
}

/// How a worker ended.
struct Ended {
    ending: Ending,
    end: u64,
    /// Of all workers; the first one has it.
    totals: Option<Totals>,
}

impl Team<'_> {
    /// The work of all threads, each of which joins the others.
    fn run<E: Exchange>(&self, threads: usize, leader: Leader<'_>, join: impl Fn(usize) -> E + Sync) -> Ended {
        std::thread::scope(|scope| {
            for thread in 1..threads {
                let join = &join;
                scope.spawn(move || self.work(thread, join(thread), None));
            }
            self.work(0, join(0), Some(leader))
        })
    }

    /// The work of one thread.
    fn work(&self, thread: usize, mut exchange: impl Exchange, mut leader: Option<Leader<'_>>) -> Ended {
        let mut windows = Windows::new(self.limits, &self.plan, self.lookahead);
        let mut outbox = Outbox::new(self.partitions);
        let (mut tally, mut seen, mut events, mut side) = (Tally::default(), 0, 0, 0);
        // The window that the run goes on with.
        let mut again = self.again.map(|(now, until)| windows.again(now, until));
        if again.is_none() {
            while let Some(mut own) = self.shares.take(side, thread) {
                own.partition.start();
                tally.count(&mut own.partition, 0, &self.limits);
                self.shares.keep(side, thread, own);
            }
            side = 1;
        }
        let mut keeps = false;
        let ending = loop {
            let window = match again.take() {
                Some(window) => window,
                None => {
                    if let Some(Leader { watch, has_first, .. }) = &mut leader {
                        let (now_ps, end_ps) = (windows.now(), self.limits.end);
                        tally.stop = !watch.progress(Progress { now_ps, end_ps, events: tally.events.max(seen) });
                        tally.keeps = self.vault.is_some() && *has_first && !keeps && watch.wants_checkpoint(now_ps);
                    }
                    let sum = exchange.meet(&tally, &self.handed[1 - side]);
                    seen = sum.events;
                    if let Some(Leader { watch, given, has_first, .. }) = &mut leader {
                        if keeps && *has_first {
                            watch.checkpoint_taken();
                        }
                        given.append(std::mem::take(&mut *lock(&self.handed[1 - side])));
                        given.give(*watch, false);
                    }
                    keeps = sum.keeps;
                    let now = windows.now();
                    let window = match windows.next(&sum) {
                        Ok(window) => window,
                        Err(ending) => break ending,
                    };
                    let of_run = leader.as_ref().filter(|leader| keeps && leader.has_first);
                    if let (Some(vault), Some(leader)) = (self.vault, of_run) {
                        vault.part(RUN, &Kept::saved((now, window.until), seen, &leader.given));
                    }
                    window
                }
            };
            tally = Tally::default();
            let mut handed = Handed::default();
            while let Some(mut own) = self.shares.take(side, thread) {
                let before = own.partition.event_count;
                std::mem::swap(&mut own.partition.outbox, &mut outbox);
                self.advance(&mut own, window, (&mut exchange, self.vault.filter(|_| keeps)), &mut tally, &mut handed);
                std::mem::swap(&mut own.partition.outbox, &mut outbox);
                events += own.partition.event_count - before;
                self.shares.keep(side, thread, own);
            }
            for (to, mail) in outbox.to.iter_mut().enumerate().filter(|(_, mail)| !mail.is_empty()) {
                tally.in_flight += mail.packet_count() as u64;
                tally.earliest = tally.earliest.min(window.until);
                exchange.post(to, mail);
            }
            if window.rows {
                lock(&self.handed[side]).append(handed);
            }
            side = 1 - side;
        };
        let mut totals = self.end(thread, side, windows.now(), ending);
        totals.cost.events = events + leader.as_ref().map_or(0, |leader| leader.begun);
        totals.cost.events_of_busiest = events;
        totals.cost.network_bytes += outbox.memory_bytes() as u64;
        let totals = exchange.sum(totals, &self.handed[side]);
        if let Some(Leader { watch, mut given, .. }) = leader {
            given.append(std::mem::take(&mut *lock(&self.handed[side])));
            given.give(watch, true);
        }
        Ended { ending, end: windows.now(), totals }
    }

    /// A window of one partition.
    fn advance(
        &self,
        own: &mut Numbered,
        window: Window,
        (exchange, vault): (&mut impl Exchange, Option<&dyn Vault>),
        tally: &mut Tally,
        handed: &mut Handed,
    ) {
        let Numbered { number, partition } = own;
        exchange.take(*number, &mut |mail| {
            partition.deliver(mail);
            partition.outbox.clear(mail);
        });
        if let Some(vault) = vault {
            vault.part(*number as u32, &kept::saved(partition));
        }
        partition.advance(window.until);
        tally.count(partition, window.until, &self.limits);
        if window.rows {
            if window.interval_ends {
                partition.cut_stalls(window.until);
            }
            handed.take(partition, &self.plan, window.until, window.interval_ends);
        }
    }

    /// What is left of the partitions of one thread at the end of the run.
    fn end(&self, thread: usize, side: usize, end: u64, ending: Ending) -> Totals {
        let mut totals = Totals::default();
        let mut handed = Handed::default();
        while let Some(own) = self.shares.take(side, thread) {
            let Numbered { number, mut partition } = *own;
            partition.finish(end);
            // Packets whose tails are on the last link are counted as arrived.
            handed.take(&mut partition, &self.plan, u64::MAX, false);
            handed.take(&mut partition, &self.plan, end, true);
            if ending == Ending::NoProgress {
                totals.waits.extend(partition.waits());
            }
            totals.count(&mut partition, end);
            lock(&self.parts).push((number, partition.into_part(self.limits.keep_tables)));
        }
        lock(&self.handed[side]).append(handed);
        totals
    }
}

fn lock<T>(of: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    of.lock().expect("no thread panicked")
}
