//! What requests turn out to be when they complete.

use odonata_trace::otf2::{CollectiveRecord, Event, MessageRecord};
use std::collections::{BTreeSet, HashMap, VecDeque};

/// Completions of a rank by request, in order. A number is used again after its request completed.
#[derive(Default, Debug)]
pub(super) struct Completions {
    receives: HashMap<u64, VecDeque<Option<MessageRecord>>>,
    collectives: HashMap<u64, VecDeque<CollectiveRecord>>,
    /// Communicators in use.
    pub(super) communicators: BTreeSet<u64>,
}

impl Completions {
    /// Takes note of an event.
    pub(super) fn add(&mut self, event: Event) {
        match event {
            Event::Irecv(message, request) => {
                self.receives.entry(request).or_default().push_back(Some(message));
                self.communicators.insert(message.communicator);
            }
            Event::Cancelled(request) => self.receives.entry(request).or_default().push_back(None),
            Event::CollectiveComplete(collective, request) => {
                self.collectives.entry(request).or_default().push_back(collective);
                self.communicators.insert(collective.communicator);
            }
            Event::Send(message) | Event::Isend(message, _) | Event::Recv(message) => {
                self.communicators.insert(message.communicator);
            }
            Event::Collective(collective) => drop(self.communicators.insert(collective.communicator)),
            _ => {}
        }
    }

    /// The message of the receive that starts now. `None` if it never completes.
    pub(super) fn next_receive(&mut self, request: u64) -> Option<MessageRecord> {
        self.receives.get_mut(&request)?.pop_front()?
    }

    /// The nonblocking collective that starts now.
    pub(super) fn next_collective(&mut self, request: u64) -> Option<CollectiveRecord> {
        self.collectives.get_mut(&request)?.pop_front()
    }
}
