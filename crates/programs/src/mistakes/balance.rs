//! Checks that every send has its receive, without a list of messages.
//!
//! Messages match by communicator, source, target and tag. Each of these channels has a random number of 128 bits. A
//! send adds it to a sum, a receive subtracts it. So a sum other than zero shows unmatched messages. A channel belongs
//! to one of many sums. For each sum that is not zero, a second walk counts its channels. Errors cancel with a
//! probability of about 2^-128.

use crate::call::{Call, ANY};
use crate::fingerprint::mixed;
use std::collections::BTreeMap;

/// Number of sums. More sums leave fewer channels to the second walk.
const SUMS: usize = 4096;

/// Limit on channels counted at a time, about 100 MB.
const MAX_CHANNELS: usize = 1 << 20;

/// Limit on listed channels.
const MAX_LISTED: usize = 5;

/// Key of matching. Ranks are ranks of the job.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Channel {
    source: u32,
    target: u32,
    tag: u32,
    communicator: u16,
}

/// The sums of all channels.
#[derive(Debug)]
pub(super) struct Balance {
    sums: Vec<u128>,
    /// Whether a receive has wildcards.
    pub(super) has_wildcards: bool,
}

/// The channel of a call, and +1 for a send or -1 for a receive. `None` for other calls.
fn message(rank: u32, call: &Call) -> Option<(Channel, i128)> {
    match *call {
        Call::Send { to, tag, communicator, .. } | Call::Isend { to, tag, communicator, .. } => {
            Some((Channel { source: rank, target: to, tag, communicator }, 1))
        }
        Call::Recv { from, tag, communicator, .. } | Call::Irecv { from, tag, communicator, .. } => {
            Some((Channel { source: from, target: rank, tag, communicator }, -1))
        }
        _ => None,
    }
}

fn number(channel: &Channel) -> u128 {
    let Channel { source, target, tag, communicator } = *channel;
    let low = mixed(mixed(1, source, target), tag, communicator.into());
    let high = mixed(mixed(low, target, tag), source, communicator.into());
    u128::from(high) << 64 | u128::from(low)
}

impl Balance {
    pub(super) fn new() -> Self {
        Self { sums: vec![0; SUMS], has_wildcards: false }
    }

    /// Adds a call that a rank makes `times` times.
    pub(super) fn add(&mut self, rank: u32, call: &Call, times: u64) {
        let Some((channel, count)) = message(rank, call) else { return };
        self.has_wildcards |= channel.source == ANY || channel.tag == ANY;
        let number = number(&channel);
        let weight = number.wrapping_mul(times.into());
        let sum = &mut self.sums[number as usize % SUMS];
        *sum = if count > 0 { sum.wrapping_add(weight) } else { sum.wrapping_sub(weight) };
    }

    pub(super) fn is_balanced(&self) -> bool {
        self.sums.iter().all(|sum| *sum == 0)
    }

    /// Counter of unmatched messages.
    pub(super) fn unmatched(&self) -> UnmatchedMessages<'_> {
        UnmatchedMessages { balance: self, left: BTreeMap::new(), is_full: false }
    }
}

/// Unmatched messages, counted by channel.
#[derive(Debug)]
pub(super) struct UnmatchedMessages<'a> {
    balance: &'a Balance,
    left: BTreeMap<Channel, i128>,
    is_full: bool,
}

impl UnmatchedMessages<'_> {
    /// Adds a call that a rank makes `times` times.
    pub(super) fn add(&mut self, rank: u32, call: &Call, times: u64) {
        let Some((channel, sign)) = message(rank, call) else { return };
        let count = sign * i128::from(times);
        if self.balance.sums[number(&channel) as usize % SUMS] == 0 {
            return;
        }
        if let Some(left) = self.left.get_mut(&channel) {
            *left += count;
            if *left == 0 {
                self.left.remove(&channel);
            }
        } else if !self.is_full {
            // After a message was skipped, its counterpart must not count.
            self.is_full = self.left.len() + 1 == MAX_CHANNELS;
            self.left.insert(channel, count);
        }
    }

    /// Description of the first ones, and how many more there are.
    pub(super) fn words(&self) -> String {
        let word = |(&Channel { source, target, tag, communicator }, &left): (&Channel, &i128)| {
            let within = if communicator == 0 { String::new() } else { format!(", communicator {communicator}") };
            let count = left.unsigned_abs();
            let what = match (left > 0, count) {
                (true, 1) => "send without a receive",
                (true, _) => "sends without a receive",
                (false, 1) => "receive without a send",
                (false, _) => "receives without a send",
            };
            format!("{count} {what} from rank {source} to rank {target}, tag {tag}{within}")
        };
        let named: Vec<String> = self.left.iter().take(MAX_LISTED).map(word).collect();
        let more = match self.left.len().saturating_sub(MAX_LISTED) {
            _ if self.is_full => "; and more".to_owned(),
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        format!("{}{more}", named.join("; "))
    }
}
