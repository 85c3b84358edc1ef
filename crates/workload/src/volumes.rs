//! The walk over messages: source, target, size and locality.
//!
//! Engines and records walk over messages with [`Messages`]. It classifies each message by its locality: within its
//! rank, node or router, or through the network. [`Volumes`] sums messages by locality, [`Matrix`] by source and
//! target.
//!
//! A pattern generates the messages of one rank at a time, so a walk needs the memory of one rank. Threads may share
//! the ranks of a job. Sums are whole numbers, so their order does not matter.

pub mod complete;
mod walk;

pub use walk::{Locality, Message, Messages, RepeatedMessage};

use crate::Job;
use complete::{CompleteExchange, NodeExchange};
use odonata_machine::Machine;
use odonata_units::RankId;

/// Messages and bytes of a job by locality. Sums saturate; for bytes at 2^64 messages of the largest size.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Volumes {
    /// Number of messages.
    pub messages: u64,
    /// Messages of zero bytes.
    pub zero_byte_messages: u64,
    /// Messages of a rank to itself.
    pub self_messages: u64,
    /// Bytes of ranks to themselves.
    pub self_bytes: u128,
    /// Bytes between ranks of one node.
    pub on_node_bytes: u128,
    /// Bytes between nodes of one router.
    pub on_router_bytes: u128,
    /// Bytes between routers.
    pub network_bytes: u128,
}

impl Volumes {
    /// Volumes of all iterations of a job.
    pub fn of(machine: &Machine, job: &Job) -> Self {
        let mut volumes = Self::default();
        if let Some(complete) = CompleteExchange::of(job) {
            complete.each(machine, |exchange| volumes.add_exchange(&exchange));
        } else {
            let mut messages = Messages::new(machine, job);
            for rank in job.rank_ids() {
                messages.of(rank).for_each(|message| volumes.add(&message));
            }
        }
        volumes.times(job.iterations)
    }

    /// Counts one message.
    #[inline]
    pub fn add(&mut self, message: &Message) {
        self.messages += 1;
        self.zero_byte_messages += u64::from(message.bytes.0 == 0);
        self.self_messages += u64::from(message.within == Locality::Rank);
        *self.sum(message.within) += u128::from(message.bytes.0);
    }

    /// Counts a message that is sent several times.
    pub fn add_repeated(&mut self, repeated: &RepeatedMessage) {
        let RepeatedMessage { message, times } = *repeated;
        let count = |is: bool| if is { times } else { 0 };
        self.messages = self.messages.saturating_add(times);
        self.zero_byte_messages = self.zero_byte_messages.saturating_add(count(message.bytes.0 == 0));
        self.self_messages = self.self_messages.saturating_add(count(message.within == Locality::Rank));
        *self.sum(message.within) += u128::from(message.bytes.0) * u128::from(times);
    }

    #[inline]
    fn sum(&mut self, within: Locality) -> &mut u128 {
        match within {
            Locality::Rank => &mut self.self_bytes,
            Locality::Node => &mut self.on_node_bytes,
            Locality::Router => &mut self.on_router_bytes,
            Locality::Network => &mut self.network_bytes,
        }
    }

    /// Counts the messages between two nodes.
    pub fn add_exchange(&mut self, exchange: &NodeExchange) {
        let NodeExchange { messages, bytes, within, .. } = *exchange;
        self.messages += messages;
        self.zero_byte_messages += if bytes == 0 { messages } else { 0 };
        *self.sum(within) += u128::from(bytes);
    }

    /// Adds other volumes.
    pub fn merge(&mut self, other: &Self) {
        self.messages += other.messages;
        self.zero_byte_messages += other.zero_byte_messages;
        self.self_messages += other.self_messages;
        self.self_bytes += other.self_bytes;
        self.on_node_bytes += other.on_node_bytes;
        self.on_router_bytes += other.on_router_bytes;
        self.network_bytes += other.network_bytes;
    }

    /// The same volumes, `n` times.
    #[must_use]
    pub fn times(self, n: u32) -> Self {
        let (count, bytes) = (u64::from(n), u128::from(n));
        Self {
            messages: self.messages.saturating_mul(count),
            zero_byte_messages: self.zero_byte_messages.saturating_mul(count),
            self_messages: self.self_messages.saturating_mul(count),
            self_bytes: self.self_bytes.saturating_mul(bytes),
            on_node_bytes: self.on_node_bytes.saturating_mul(bytes),
            on_router_bytes: self.on_router_bytes.saturating_mul(bytes),
            network_bytes: self.network_bytes.saturating_mul(bytes),
        }
    }

    /// Total bytes.
    pub const fn bytes(&self) -> u128 {
        self.self_bytes
            .saturating_add(self.on_node_bytes)
            .saturating_add(self.on_router_bytes)
            .saturating_add(self.network_bytes)
    }
}

/// Messages and bytes between blocks of consecutive ranks, in all iterations. Its size does not depend on the size of
/// the job.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Matrix {
    /// Ranks on each side of a cell. The last cell of a row or column may have fewer.
    pub ranks_per_cell: u32,
    /// Cells with messages, by source and then by target.
    pub cells: Vec<MatrixCell>,
}

/// Messages between two blocks of ranks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MatrixCell {
    /// First of the sending ranks.
    pub source: RankId,
    /// First of the receiving ranks.
    pub target: RankId,
    /// Messages, at most [`u64::MAX`].
    pub messages: u64,
    /// Bytes.
    pub bytes: u128,
}

/// Messages after which a walk asks whether to continue: 0.1 s. More delay the answer to Ctrl-C.
const MESSAGES_BETWEEN_STOPS: u64 = 1_000_000;

impl Matrix {
    /// The matrix of a job, with at most `side` cells in a row.
    ///
    /// # Panics
    /// If `side` is zero.
    pub fn of(machine: &Machine, job: &Job, side: u32) -> Self {
        Self::of_while(machine, job, side, &mut || true).expect("nothing stops it")
    }

    /// The same, or `None` as soon as `continues` returns false. It is asked now and then, and never for small jobs.
    ///
    /// # Panics
    /// If `side` is zero.
    pub fn of_while(machine: &Machine, job: &Job, side: u32, continues: &mut dyn FnMut() -> bool) -> Option<Self> {
        let ranks_per_cell = job.ranks.div_ceil(side).max(1);
        let first = |cell: u32| RankId(cell * ranks_per_cell);
        let mut cells = Vec::new();
        let mut row = vec![(0u64, 0u128); job.ranks.div_ceil(ranks_per_cell) as usize];
        let mut messages = Messages::new(machine, job);
        let ranks_of = |cell: u32| ranks_per_cell.min(job.ranks - cell * ranks_per_cell);
        let complete = job.pattern.complete();
        let mut unasked = 0;
        // A complete exchange has no messages left to walk over.
        let end = |cell: u32| if complete.is_some() { 0 } else { first(cell).0 + ranks_of(cell) };
        for source in 0..row.len() as u32 {
            row.fill((0, 0));
            if let Some(bytes) = complete {
                for (target, cell) in (0..).zip(&mut row) {
                    let others = ranks_of(target) - u32::from(target == source);
                    cell.0 = u64::from(ranks_of(source)) * u64::from(others);
                    cell.1 = u128::from(cell.0) * u128::from(bytes.0);
                }
            }
            for rank in first(source).0..end(source) {
                if unasked >= MESSAGES_BETWEEN_STOPS {
                    unasked = 0;
                    if !continues() {
                        return None;
                    }
                }
                for RepeatedMessage { message, times } in messages.repeated(RankId(rank)) {
                    unasked += 1;
                    let cell = &mut row[(message.target.0 / ranks_per_cell) as usize];
                    cell.0 = cell.0.saturating_add(times);
                    cell.1 += u128::from(message.bytes.0) * u128::from(times);
                }
            }
            let used = row.iter().enumerate().filter(|(_, &(messages, _))| messages > 0);
            cells.extend(used.map(|(target, &(messages, bytes))| MatrixCell {
                source: first(source),
                target: first(target as u32),
                messages: messages.saturating_mul(u64::from(job.iterations)),
                bytes: bytes.saturating_mul(u128::from(job.iterations)),
            }));
        }
        Some(Self { ranks_per_cell, cells })
    }
}
