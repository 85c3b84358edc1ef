//! What a rank that is not at its end waits for.

use super::messages::Transfer;
use super::{Doing, Notice, Rank};
use crate::record::RankRecord;
use crate::requests::{Slot, State, Wait};
use odonata_workload::expanded::Shared;
use odonata_workload::program::{Call, ANY};

impl Rank {
    pub(crate) fn into_record(self) -> RankRecord {
        self.record
    }

    /// What it waits for, if it is not at its end: since when (0 if it can't go on at all), for which rank, and in words.
    pub(crate) fn waits_for(&self, shared: &Shared) -> (u64, Option<u32>, String) {
        let line = self.code.line(shared).map_or(String::new(), |line| format!(", line {line}"));
        let place = format!("call {}{line}", self.code.calls());
        if let Doing::Wrong(reason) = &self.doing {
            return (0, None, format!("can't go on at {place}: {reason}"));
        }
        let (since, wait) = match &self.doing {
            Doing::Blocked { wait, since, .. } => (*since, Some(wait)),
            _ => (self.clock, None),
        };
        let within = self.code.collective().map_or(String::new(), |(operation, before)| {
            format!(" in {} (collective {} of its communicator)", operation.name(), before + 1)
        });
        let pending = wait.and_then(|wait| self.first_pending(wait));
        let call = self.last.map_or_else(|| "no call".into(), |call| text(&call));
        let of = match (pending, self.last) {
            (
                Some((text, _)),
                Some(Call::Wait { .. } | Call::WaitAll { .. } | Call::WaitAny { .. } | Call::WaitSome { .. }),
            ) => {
                format!(", of which {text} is not done")
            }
            _ => String::new(),
        };
        let own = self.last.and_then(|call| peer_of(&call)).filter(|peer| *peer != ANY);
        let peer = own.or(pending.and_then(|(_, peer)| peer));
        (since, peer, format!("{call}{of}{within} at {place}"))
    }

    /// The first request that it waits for: in words, and the rank that it needs.
    fn first_pending(&self, wait: &Wait) -> Option<(&'static str, Option<u32>)> {
        let slots: Vec<Slot> = match wait {
            Wait::One(slot) => vec![*slot],
            Wait::All(inner, slots) | Wait::Any(inner, slots) | Wait::Some(inner, slots) => {
                slots.clone().map(|slot| if *inner { Slot::Inner(slot) } else { Slot::Program(slot) }).collect()
            }
        };
        let slot = slots.into_iter().find(|slot| self.requests.state(*slot) == State::Pending)?;
        if let Some(label) = self.posted.find(|posted| posted.slot == slot) {
            return Some(("a receive", (label.source != ANY).then_some(label.source)));
        }
        match self.sends.peer_of(slot) {
            Some(peer) => Some(("a send", Some(peer))),
            None => Some(("a receive", self.receives.peer_of(slot))),
        }
    }

    /// Memory of it.
    pub(crate) fn memory_bytes(&self) -> usize {
        size_of::<Self>()
            + self.code.memory_bytes()
            + self.notices.capacity() * size_of::<(u64, Notice)>()
            + self.posted.memory_bytes()
            + self.unexpected.memory_bytes()
            + self.requests.memory_bytes()
            + (self.sends.capacity() + self.receives.capacity()) * size_of::<Transfer>()
    }
}

fn peer_of(call: &Call) -> Option<u32> {
    match *call {
        Call::Send { to, .. } | Call::Isend { to, .. } => Some(to),
        Call::Recv { from, .. } | Call::Irecv { from, .. } => Some(from),
        _ => None,
    }
}

/// A call as people write it.
fn text(call: &Call) -> String {
    let tagged = |tag: u32| if tag == ANY { "any tag".to_owned() } else { format!("tag {tag}") };
    match *call {
        Call::Send { to, bytes, tag, .. } => format!("send of {} B to rank {to}, {}", bytes.0, tagged(tag)),
        Call::Isend { to, bytes, tag, .. } => format!("isend of {} B to rank {to}, {}", bytes.0, tagged(tag)),
        Call::Recv { from: ANY, bytes, tag, .. } => format!("recv of {} B from any rank, {}", bytes.0, tagged(tag)),
        Call::Recv { from, bytes, tag, .. } => format!("recv of {} B from rank {from}, {}", bytes.0, tagged(tag)),
        Call::Irecv { from, bytes, tag, .. } => format!("irecv of {} B from rank {from}, {}", bytes.0, tagged(tag)),
        Call::Wait { request } => format!("wait for request {request}"),
        Call::WaitAll { first, count } => format!("wait for all of {count} requests from {first} on"),
        Call::WaitAny { first, count } => format!("wait for any of {count} requests from {first} on"),
        Call::WaitSome { first, count } => format!("wait for some of {count} requests from {first} on"),
        Call::Collective { operation, .. } => operation.name().to_owned(),
        Call::CommSplit { communicator, .. } => format!("a split of communicator {communicator}"),
        Call::CommCreate { new, .. } => format!("making communicator {new}"),
        Call::CommFree { communicator } => format!("freeing communicator {communicator}"),
        Call::Test { request } => format!("test of request {request}"),
        Call::Compute { .. } | Call::Sleep { .. } | Call::Mark { .. } => "computing".to_owned(),
    }
}
