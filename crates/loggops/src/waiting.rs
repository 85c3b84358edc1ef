//! Events that wait for the same lane and NIC.
//!
//! All of them wait until the same time, and the one with the oldest stamp goes first. So only this one is in the queue
//! of the run, as a wake-up. If each waited there, n messages to one rank would return to the queue n times.

use crate::rank::Resource;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// The waiting events of one resource, and the number of its valid wake-up.
#[derive(Debug)]
struct WaitQueue<T> {
    events: BinaryHeap<Reverse<(u64, T)>>,
    ticket: u32,
}

/// The waiting events of a rank.
#[derive(Debug)]
pub(crate) struct WaitQueues<T> {
    queues: BTreeMap<Resource, WaitQueue<T>>,
}

impl<T> Default for WaitQueues<T> {
    fn default() -> Self {
        Self { queues: BTreeMap::new() }
    }
}

/// A wake-up: the stamp of the event that goes first, and its number. Only the last wake-up of a resource is valid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct WakeUp {
    pub(crate) stamp: u64,
    pub(crate) ticket: u32,
}

impl<T: Copy + Ord> WaitQueues<T> {
    /// Adds an event. A wake-up is due if it is now the first.
    pub(crate) fn add(&mut self, resource: Resource, stamp: u64, event: T) -> Option<WakeUp> {
        let queue = self.queues.entry(resource).or_insert_with(|| WaitQueue { events: BinaryHeap::new(), ticket: 0 });
        let is_first = queue.events.peek().is_none_or(|Reverse((first, _))| stamp < *first);
        queue.events.push(Reverse((stamp, event)));
        is_first.then(|| queue.next_wake_up()).flatten()
    }

    /// The event of a wake-up, unless a later wake-up replaced it.
    pub(crate) fn first(&self, resource: Resource, ticket: u32) -> Option<T> {
        let queue = self.queues.get(&resource).filter(|queue| queue.ticket == ticket)?;
        queue.events.peek().map(|Reverse((_, event))| *event)
    }

    /// Removes the first event. A wake-up is due if there is another.
    pub(crate) fn remove_first(&mut self, resource: Resource) -> Option<WakeUp> {
        let queue = self.queues.get_mut(&resource)?;
        queue.events.pop();
        queue.next_wake_up()
    }
}

impl<T: Ord> WaitQueue<T> {
    fn next_wake_up(&mut self) -> Option<WakeUp> {
        self.ticket = self.ticket.wrapping_add(1);
        self.events.peek().map(|Reverse((stamp, _))| WakeUp { stamp: *stamp, ticket: self.ticket })
    }
}
