//! An operation as both forms have it, and its limits.

use crate::task::{Task, Work, ANY};
use odonata_units::{Bytes, Time};

/// Largest message. A larger size is an error in the file.
const MAX_BYTES: u64 = 1 << 50;

/// Longest computation: the range of [`Time`], 213 days.
const MAX_NS: u64 = u64::MAX / 1_000;

fn checked_peer(peer: u32, ranks: u32) -> Result<u32, String> {
    if peer < ranks {
        return Ok(peer);
    }
    Err(format!("rank {peer}; expected one of the {ranks} ranks, which count from 0"))
}

fn checked_bytes(bytes: u64) -> Result<Bytes, String> {
    if bytes <= MAX_BYTES {
        return Ok(Bytes(bytes));
    }
    Err(format!("{bytes} bytes; expected at most 2^50"))
}

fn checked_time(ns: u64) -> Result<Time, String> {
    if ns <= MAX_NS {
        return Ok(Time::from_ns(ns));
    }
    Err(format!("a computation of {ns} ns; expected at most {MAX_NS}, 213 days"))
}

/// Kinds of operations. The binary form has these numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Send = 1,
    Receive = 2,
    Compute = 3,
}

/// An operation as both forms have it.
pub(super) struct Operation {
    pub(super) kind: Kind,
    /// Bytes, or ns.
    pub(super) size: u64,
    pub(super) peer: u32,
    pub(super) tag: u32,
    pub(super) cpu: u8,
    pub(super) nic: u8,
}

impl Operation {
    pub(super) fn task(&self, ranks: u32) -> Result<Task, String> {
        let Self { kind, size, peer, tag, cpu, nic } = *self;
        let work = match kind {
            Kind::Send => {
                Work::Send { to: checked_peer(peer, ranks)?, bytes: checked_bytes(size)?, tag, communicator: 0 }
            }
            Kind::Receive => {
                let from = if peer == ANY { ANY } else { checked_peer(peer, ranks)? };
                Work::Receive { from, bytes: checked_bytes(size)?, tag, communicator: 0 }
            }
            Kind::Compute => Work::Compute { time: checked_time(size)? },
        };
        Ok(Task { work, lane: cpu, nic })
    }
}
