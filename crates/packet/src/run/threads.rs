//! Workers that are threads of one process.
//!
//! Every mailbox exists twice: a window reads the mailboxes that the previous window wrote, and writes the others. So
//! no thread waits for readers, and a window needs one barrier.

use super::barrier::{Barrier, BarrierMember};
use super::exchange::Exchange;
use super::rows::RowBuffer;
use super::tally::Tally;
use super::totals::Totals;
use crate::mail::Mail;
use std::sync::{Mutex, MutexGuard};

/// State shared by the threads.
pub(super) struct Threads {
    count: usize,
    /// Mail from thread f to partition t is in mailbox `t * count + f`.
    mailboxes: [Vec<Mutex<Mail>>; 2],
    barrier: Barrier<Tally>,
    totals: Mutex<Option<Totals>>,
}

/// A thread of the process.
pub(super) struct Thread<'a> {
    all: &'a Threads,
    number: usize,
    member: BarrierMember<'a, Tally>,
    /// Side of the mailboxes that it reads.
    side: usize,
}

impl Threads {
    /// Creates the exchange of `count` threads, which send to `partitions`.
    pub(super) fn new(count: usize, partitions: usize) -> Self {
        let mailboxes = || (0..count * partitions).map(|_| Mutex::default()).collect();
        Self { count, mailboxes: [mailboxes(), mailboxes()], barrier: Barrier::new(count), totals: Mutex::new(None) }
    }

    /// Adds a thread; each joins once, with its own number.
    pub(super) fn join(&self, number: usize) -> Thread<'_> {
        Thread { all: self, number, member: self.barrier.join(), side: 0 }
    }

    /// The mailbox from one thread to a partition. It is readable after the next barrier if `side` is not the side
    /// being read.
    fn mailbox(&self, side: usize, to: usize, from: usize) -> MutexGuard<'_, Mail> {
        lock(&self.mailboxes[side][to * self.count + from])
    }

    /// Memory of the mailboxes.
    pub(super) fn memory_bytes(&self) -> usize {
        self.mailboxes.iter().flatten().map(|mail| lock(mail).memory_bytes()).sum()
    }
}

impl Thread<'_> {
    /// Whether it is the first.
    pub(super) fn is_first(&self) -> bool {
        self.number == 0
    }

    /// Mail for a partition in this window, from the first thread; used between two barriers.
    pub(super) fn mail_to(&self, to: usize) -> MutexGuard<'_, Mail> {
        self.all.mailbox(self.side, to, self.number)
    }

    /// Waits again before the next window; all threads get the sum of the contributions.
    pub(super) fn wait_again(&self, brought: Option<&Tally>) -> Tally {
        self.member.wait(|sum| {
            if let Some(tally) = brought {
                sum.add(tally);
            }
        })
    }
}

impl Exchange for Thread<'_> {
    fn post(&mut self, to: usize, mail: &mut Mail) {
        // Swapping leaves the memory of read mail for the next window.
        std::mem::swap(&mut *self.all.mailbox(1 - self.side, to, self.number), mail);
    }

    fn take(&mut self, to: usize, read: &mut dyn FnMut(&mut Mail)) {
        let first = to * self.all.count;
        for from in &self.all.mailboxes[self.side][first..first + self.all.count] {
            let mut mail = lock(from);
            if !mail.is_empty() {
                read(&mut mail);
            }
        }
    }

    fn synchronize(&mut self, tally: &Tally, _: &Mutex<RowBuffer>) -> Tally {
        // Mail posted before the barrier is read after it.
        self.side = 1 - self.side;
        self.member.wait(|sum| sum.add(tally))
    }

    fn sum(&mut self, totals: Totals, _: &Mutex<RowBuffer>) -> Option<Totals> {
        match &mut *lock(&self.all.totals) {
            Some(sum) => sum.add(totals),
            none => *none = Some(totals),
        }
        self.member.wait(|_| {});
        if self.number == 0 {
            lock(&self.all.totals).take()
        } else {
            None
        }
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().expect("no thread panicked")
}
