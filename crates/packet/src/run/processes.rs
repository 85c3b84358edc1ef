//! Workers that are threads of several processes.
//!
//! The threads of a process meet as ever ([`super::threads`]); between two of their meetings the first of them gives every other process
//! one message: the tally of its process, what its partitions sent to that process's, and for the first process the rows
//! that were handed out. So all know the sum of all tallies, and mail lies where it would lie if it came from a thread.

use super::exchange::{Exchange, Tally};
use super::rows::Handed;
use super::threads::{Thread, Threads};
use super::totals::Totals;
use crate::mail::{Mail, Outbox};
use odonata_checkpoint::{Reader, Writer};
use serde::de::DeserializeOwned;
use serde::Serialize;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard};

/// The processes of one run, each of which has the same machine, traffic and options.
pub trait Processes: Send + Sync {
    /// How many there are.
    fn count(&self) -> usize;

    /// Number of this one, from 0.
    fn number(&self) -> usize;

    /// Gives each process the message under its number, and returns what each gave to this one; that of a process to itself does not
    /// matter. All call it equally often, and it returns when all messages are there.
    fn exchange(&self, messages: Vec<Vec<u8>>) -> Vec<Vec<u8>>;
}

/// The processes of a run, and whose partitions are whose.
pub(crate) struct Among<'a> {
    pub(crate) processes: &'a dyn Processes,
    /// Partitions of each process.
    pub(crate) partitions: Vec<Range<usize>>,
}

impl Among<'_> {
    /// Partitions of this process.
    pub(crate) fn own(&self) -> Range<usize> {
        self.partitions[self.processes.number()].clone()
    }

    fn has_first(&self) -> bool {
        self.processes.number() == 0
    }

    /// The process that has a partition.
    fn process_of(&self, partition: usize) -> usize {
        self.partitions.partition_point(|range| range.end <= partition)
    }

    /// Gives the first process what every other one has; it returns what it gets, by process.
    pub(crate) fn gather<T: Serialize + DeserializeOwned>(&self, own: &T) -> Vec<T> {
        let mut messages = vec![Vec::new(); self.processes.count()];
        if !self.has_first() {
            let mut into = Writer::default();
            into.put(own);
            messages[0] = into.into_bytes();
        }
        let gathered = self.processes.exchange(messages);
        let rest = gathered.iter().skip(1).filter(|_| self.has_first());
        rest.map(|bytes| understood(Reader::new(bytes).get())).collect()
    }
}

/// What another process of the run wrote.
fn understood<T>(read: Result<T, odonata_checkpoint::Damaged>) -> T {
    read.unwrap_or_else(|error| panic!("another process sent what this one does not know: {error}"))
}

/// What the threads of this process share.
pub(super) struct Spread<'a> {
    threads: &'a Threads,
    among: &'a Among<'a>,
    /// Mail for each process that was not sent yet.
    out: Vec<Mutex<Writer>>,
}

impl<'a> Spread<'a> {
    pub(super) fn new(threads: &'a Threads, among: &'a Among<'a>) -> Self {
        Self { threads, among, out: among.partitions.iter().map(|_| Mutex::default()).collect() }
    }

    /// Each thread joins once, under a number of its own.
    pub(super) fn join(&'a self, number: usize) -> Member<'a> {
        Member { all: self, thread: self.threads.join(number), spare: Outbox::default() }
    }
}

/// One of the threads.
pub(super) struct Member<'a> {
    all: &'a Spread<'a>,
    thread: Thread<'a>,
    /// Keeps the memory of mail that was sent, for mail that comes.
    spare: Outbox,
}

impl Member<'_> {
    /// The messages of this process, whose threads brought `tally`.
    fn messages(&self, tally: &Tally, rows: &Mutex<Handed>) -> Vec<Vec<u8>> {
        let number = self.all.among.processes.number();
        let message = |(to, mail): (usize, &Mutex<Writer>)| {
            if to == number {
                return Vec::new();
            }
            let mut into = Writer::default();
            into.put(tally);
            into.put(&if to == 0 { std::mem::take(&mut *lock(rows)) } else { Handed::default() });
            let mut bytes = into.into_bytes();
            bytes.append(&mut std::mem::take(&mut *lock(mail)).into_bytes());
            bytes
        };
        self.all.out.iter().enumerate().map(message).collect()
    }

    /// Takes in the message of another process, and adds its tally.
    fn take_in(&mut self, bytes: &[u8], sum: &mut Tally, rows: &Mutex<Handed>) {
        let mut from = Reader::new(bytes);
        sum.add(&understood(from.get()));
        lock(rows).append(understood(from.get()));
        while !from.is_empty() {
            let to: usize = understood(from.get());
            understood(self.spare.receive(&mut from, &mut self.thread.mail_to(to)));
        }
    }
}

impl Exchange for Member<'_> {
    fn post(&mut self, to: usize, mail: &mut Mail) {
        let among = self.all.among;
        let process = among.process_of(to);
        if process == among.processes.number() {
            return self.thread.post(to, mail);
        }
        let mut out = lock(&self.all.out[process]);
        out.put(&to);
        mail.save(&mut out);
        self.spare.clear(mail);
    }

    fn take(&mut self, to: usize, read: &mut dyn FnMut(&mut Mail)) {
        self.thread.take(to, read);
    }

    fn meet(&mut self, tally: &Tally, rows: &Mutex<Handed>) -> Tally {
        let mut sum = self.thread.meet(tally, rows);
        if !self.thread.is_first() {
            return self.thread.meet_again(None);
        }
        let came = self.all.among.processes.exchange(self.messages(&sum, rows));
        let number = self.all.among.processes.number();
        for (_, bytes) in came.iter().enumerate().filter(|(process, _)| *process != number) {
            self.take_in(bytes, &mut sum, rows);
        }
        self.thread.meet_again(Some(&sum))
    }

    fn sum(&mut self, totals: Totals, rows: &Mutex<Handed>) -> Option<Totals> {
        let sum = self.thread.sum(totals, rows)?;
        let mut own = (sum, Handed::default());
        if !self.all.among.has_first() {
            own.1 = std::mem::take(&mut *lock(rows));
        }
        let others = self.all.among.gather(&own);
        for (totals, handed) in others {
            own.0.add(totals);
            lock(rows).append(handed);
        }
        Some(own.0)
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().expect("no thread panicked")
}
