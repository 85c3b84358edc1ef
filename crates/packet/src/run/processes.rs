//! Workers that are threads of several processes.
//!
//! The threads of a process synchronize as usual ([`super::threads`]). Between two rounds, the first thread of each
//! process sends one message to every other process. It contains the tally and the mail for that process. The message
//! to the first process also contains rows and parts of a checkpoint. Then all processes know the sum of all tallies,
//! and mail is where a thread of the same process would have put it.

use super::exchange::Exchange;
use super::rows::RowBuffer;
use super::run_state::CheckpointSink;
use super::tally::Tally;
use super::threads::{Thread, Threads};
use super::totals::Totals;
use crate::mail::{Mail, Outbox};
use odonata_checkpoint::{Reader, Writer};
use odonata_processes::{decode_message, gather, Processes};
use std::ops::Range;
use std::sync::{Mutex, MutexGuard};

/// Processes of a run and their partitions.
pub(crate) struct ProcessLayout<'a> {
    pub(crate) processes: &'a dyn Processes,
    /// Partitions of each process.
    pub(crate) partitions: Vec<Range<usize>>,
}

impl ProcessLayout<'_> {
    /// Partitions of this process.
    pub(crate) fn own(&self) -> Range<usize> {
        self.partitions[self.processes.number()].clone()
    }

    /// Whether this process is the first.
    pub(super) fn has_first(&self) -> bool {
        self.processes.number() == 0
    }

    /// Process of a partition.
    fn process_of(&self, partition: usize) -> usize {
        self.partitions.partition_point(|range| range.end <= partition)
    }
}

/// Parts of a checkpoint in flight to the first process.
#[derive(Default)]
pub(super) struct StateBuffer(Mutex<Vec<(u32, Vec<u8>)>>);

impl CheckpointSink for StateBuffer {
    fn part(&self, number: u32, bytes: &[u8]) {
        lock(&self.0).push((number, bytes.to_vec()));
    }
}

/// State shared by the threads of this process.
pub(super) struct ProcessExchange<'a> {
    threads: &'a Threads,
    layout: &'a ProcessLayout<'a>,
    /// Sink for checkpoints in the first process; buffer for their parts in other processes.
    sink: Option<&'a dyn CheckpointSink>,
    state_buffer: &'a StateBuffer,
    /// Unsent mail for each process.
    out: Vec<Mutex<Writer>>,
}

impl<'a> ProcessExchange<'a> {
    pub(super) fn new(
        threads: &'a Threads,
        layout: &'a ProcessLayout<'a>,
        sink: Option<&'a dyn CheckpointSink>,
        state_buffer: &'a StateBuffer,
    ) -> Self {
        Self { threads, layout, sink, state_buffer, out: layout.partitions.iter().map(|_| Mutex::default()).collect() }
    }

    /// Adds a thread; each joins once, with its own number.
    pub(super) fn join(&'a self, number: usize) -> ProcessThread<'a> {
        ProcessThread { all: self, thread: self.threads.join(number), spare: Outbox::default() }
    }
}

/// A thread of a process.
pub(super) struct ProcessThread<'a> {
    all: &'a ProcessExchange<'a>,
    thread: Thread<'a>,
    /// Memory of sent mail, reused for received mail.
    spare: Outbox,
}

impl ProcessThread<'_> {
    /// Messages of this process with its `tally`, by receiver.
    fn messages(&self, tally: &Tally, rows: &Mutex<RowBuffer>) -> Vec<Vec<u8>> {
        let number = self.all.layout.processes.number();
        let message = |(to, mail): (usize, &Mutex<Writer>)| {
            if to == number {
                return Vec::new();
            }
            let mut into = Writer::default();
            into.put(tally);
            // Rows and checkpoints go to the first process only.
            if to == 0 {
                into.put(&std::mem::take(&mut *lock(rows)));
                into.put(&std::mem::take(&mut *lock(&self.all.state_buffer.0)));
            }
            let mut bytes = into.into_bytes();
            bytes.append(&mut std::mem::take(&mut *lock(mail)).into_bytes());
            bytes
        };
        self.all.out.iter().enumerate().map(message).collect()
    }

    /// Reads the message of another process and adds its tally.
    fn take_in(&mut self, bytes: &[u8], sum: &mut Tally, rows: &Mutex<RowBuffer>) {
        let mut from = Reader::new(bytes);
        sum.add(&decode_message(from.get()));
        if self.all.layout.has_first() {
            lock(rows).append(decode_message(from.get()));
            let parts: Vec<(u32, Vec<u8>)> = decode_message(from.get());
            for (number, bytes) in parts {
                self.all.sink.expect("the first process has a sink").part(number, &bytes);
            }
        }
        while !from.is_empty() {
            let to: usize = decode_message(from.get());
            decode_message(self.spare.receive(&mut from, &mut self.thread.mail_to(to)));
        }
    }
}

impl Exchange for ProcessThread<'_> {
    fn post(&mut self, to: usize, mail: &mut Mail) {
        let layout = self.all.layout;
        let process = layout.process_of(to);
        if process == layout.processes.number() {
            return self.thread.post(to, mail);
        }
        let mut out = lock(&self.all.out[process]);
        out.put(&to);
        mail.save(&mut out);
        // Its chunks are reused for received mail.
        self.spare.clear(mail);
    }

    fn take(&mut self, to: usize, read: &mut dyn FnMut(&mut Mail)) {
        self.thread.take(to, read);
    }

    fn synchronize(&mut self, tally: &Tally, rows: &Mutex<RowBuffer>) -> Tally {
        // All threads of the process have posted their mail after this.
        let mut sum = self.thread.synchronize(tally, rows);
        // One thread talks to the other processes; the rest wait for its sum.
        if !self.thread.is_first() {
            return self.thread.wait_again(None);
        }
        let came = self.all.layout.processes.exchange(self.messages(&sum, rows));
        let number = self.all.layout.processes.number();
        for (_, bytes) in came.iter().enumerate().filter(|(process, _)| *process != number) {
            self.take_in(bytes, &mut sum, rows);
        }
        self.thread.wait_again(Some(&sum))
    }

    fn sum(&mut self, totals: Totals, rows: &Mutex<RowBuffer>) -> Option<Totals> {
        let sum = self.thread.sum(totals, rows)?;
        let mut own = (sum, RowBuffer::default());
        if !self.all.layout.has_first() {
            own.1 = std::mem::take(&mut *lock(rows));
        }
        let others = gather(self.all.layout.processes, &own);
        for (totals, row_buffer) in others {
            own.0.add(totals);
            lock(rows).append(row_buffer);
        }
        Some(own.0)
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().expect("no thread panicked")
}
