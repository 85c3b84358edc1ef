//! Record of calls, waits and phases of ranks. It is enough to follow a job's time backwards from its end.
//!
//! A rank's clock advances while the rank computes and in calls. A rank that waits sets its clock to the time of the
//! event that its host is notified of. A [`RankWait`] records this jump: the event, the rank that caused it, and when.
//! Causes are found in order, as in `log`: events of one kind between two ranks do not overtake each other.

use odonata_declare::words;
use odonata_programs::Call;
use odonata_units::Time;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

words! {
    /// The event that ends a wait.
    #[derive(Serialize, Deserialize)]
    pub enum WaitEvent {
        Message = "message": "eager data, a rendezvous header, or a message on the node",
        Data = "data": "data of a rendezvous that this rank requested",
        Receipt = "receipt": "notification that a message of this rank was received",
    }
}

/// Name of a call in program files.
pub type CallName = &'static str;

/// A completed call, or a completed task of a task graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CallRecord {
    /// Its job.
    pub job: u16,
    /// The rank.
    pub rank: u32,
    /// Number of the call or task within the rank, from 1.
    pub call: u64,
    /// Name of the call in program files.
    #[serde(deserialize_with = "call_name")]
    pub name: CallName,
    /// Start of the call on the rank's clock.
    pub start: Time,
    /// End of the call.
    pub end: Time,
    /// Time in which the rank was blocked, part of the call.
    pub blocked: Time,
    /// Number of the task after which this task started, 0 if there is none. `None` for calls, which follow each other.
    pub after: Option<u64>,
    /// Where it is in the file of its program or trace: a line, or the number of a record.
    pub place: Option<u64>,
    /// Number of its program among several of the job, from 0.
    pub program: Option<u32>,
}

/// Interns the name of a call.
pub(crate) fn call_name<'de, D: Deserializer<'de>>(from: D) -> Result<CallName, D::Error> {
    let name = String::deserialize(from)?;
    match Call::named(&name) {
        Some(name) => Ok(name),
        None if name.is_empty() => Ok(""),
        None => Err(D::Error::custom(format!("unknown call '{name}'"))),
    }
}

/// A time in which a rank waited for an event at its host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RankWait {
    /// Its job.
    pub job: u16,
    /// The rank.
    pub rank: u32,
    /// Number of the wait within the rank, from 0.
    pub number: u32,
    /// Number of the call that waited.
    pub call: u64,
    /// Start of the wait.
    pub start: Time,
    /// Time of the event.
    pub end: Time,
    /// The event.
    pub event: WaitEvent,
    /// The rank that sent the message, the data or the notification.
    pub peer: u32,
    /// The rank that caused the event: `peer`, or the waiting rank itself if it requested the data.
    pub caused_by: u32,
    /// When that rank passed the message or the request to its NIC.
    pub caused_at: Time,
}

/// A time that a rank spent in a phase of its program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PhaseTime {
    /// Its job.
    pub job: u16,
    /// The rank.
    pub rank: u32,
    /// Number of the phase in its program.
    pub phase: u32,
    /// Start of the phase on the rank's clock.
    pub start: Time,
    /// End of the phase.
    pub end: Time,
}

/// All records of calls.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct CallRecords {
    /// Completed calls, by job, rank and number.
    pub calls: Vec<CallRecord>,
    /// Waits, by job, rank and time.
    pub waits: Vec<RankWait>,
    /// Phases, by job, rank and time.
    pub phases: Vec<PhaseTime>,
}

/// The events of one kind that one rank causes for another. They keep their order.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct EventStream {
    pub(crate) job: u16,
    pub(crate) caused_by: u32,
    /// The other rank.
    pub(crate) other: u32,
    pub(crate) event: WaitEvent,
}

impl EventStream {
    /// As a key of a map.
    fn key(self) -> (u16, u32, u32, u8) {
        (self.job, self.caused_by, self.other, self.event as u8)
    }
}

/// A jump of a rank's clock to the end of a wait.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct ClockJump {
    pub(crate) call: u64,
    pub(crate) start_ps: u64,
    pub(crate) end_ps: u64,
}

/// Entries recorded by some ranks, before they are joined.
#[derive(Default, Debug, Serialize, Deserialize)]
pub(crate) struct CallLog {
    /// Completed calls, and completed phases.
    pub(crate) calls: Vec<CallRecord>,
    pub(crate) phases: Vec<PhaseTime>,
    /// When a rank sent something that will cause an event.
    pub(crate) causes: Vec<(EventStream, u64)>,
    /// Notifications of hosts, with the jump of the clock if the rank waited.
    pub(crate) events: Vec<(EventStream, Option<ClockJump>)>,
}

impl CallLog {
    /// Appends the entries of another part.
    pub(crate) fn append(&mut self, mut other: Self) {
        self.calls.append(&mut other.calls);
        self.phases.append(&mut other.phases);
        self.causes.append(&mut other.causes);
        self.events.append(&mut other.events);
    }

    /// Joins causes and events to waits, and sorts everything.
    pub(crate) fn records(mut self) -> CallRecords {
        // A stable sort: phases of zero length keep the order of the rank's clock.
        self.phases.sort_by_key(|phase| (phase.job, phase.rank, phase.start));
        self.calls.sort_unstable_by_key(|call| (call.job, call.rank, call.call));
        let mut causes = by_stream(self.causes);
        let mut waits = Vec::new();
        for (stream, jump) in self.events {
            let since_ps = causes.get_mut(&stream.key()).and_then(Iterator::next).expect("every event has a cause");
            let Some(ClockJump { call, start_ps, end_ps }) = jump else { continue };
            let EventStream { job, caused_by, other, event } = stream;
            let (rank, peer) = if event == WaitEvent::Data { (caused_by, other) } else { (other, caused_by) };
            let (start, end, caused_at) = (Time(start_ps), Time(end_ps), Time(since_ps));
            waits.push(RankWait { job, rank, number: 0, call, start, end, event, peer, caused_by, caused_at });
        }
        waits.sort_unstable_by_key(|wait| (wait.job, wait.rank, wait.end));
        let mut last = None;
        for wait in &mut waits {
            let before = last.filter(|(of, _)| *of == (wait.job, wait.rank));
            wait.number = before.map_or(0, |(_, number)| number + 1);
            last = Some(((wait.job, wait.rank), wait.number));
        }
        CallRecords { calls: self.calls, waits, phases: self.phases }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.calls.capacity() * size_of::<CallRecord>()
            + self.phases.capacity() * size_of::<PhaseTime>()
            + self.causes.capacity() * size_of::<(EventStream, u64)>()
            + self.events.capacity() * size_of::<(EventStream, Option<ClockJump>)>()
    }
}

/// Causes by stream, in order.
fn by_stream(notes: Vec<(EventStream, u64)>) -> BTreeMap<(u16, u32, u32, u8), std::vec::IntoIter<u64>> {
    let mut found: BTreeMap<_, Vec<u64>> = BTreeMap::new();
    for (stream, at_ps) in notes {
        found.entry(stream.key()).or_default().push(at_ps);
    }
    found.into_iter().map(|(stream, times)| (stream, times.into_iter())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocation::held_by;

    const STREAM: EventStream = EventStream { job: 0, caused_by: 1, other: 2, event: WaitEvent::Message };

    #[test]
    fn memory_is_what_the_lists_hold() {
        let call = CallRecord {
            job: 0,
            rank: 0,
            call: 1,
            name: "send",
            start: Time(0),
            end: Time(1),
            blocked: Time(0),
            after: None,
            place: None,
            program: None,
        };
        let phase = PhaseTime { job: 0, rank: 0, phase: 0, start: Time(0), end: Time(1) };
        for [calls, phases, causes, events] in
            [[50, 0, 0, 0], [0, 60, 0, 0], [0, 0, 70, 0], [0, 0, 0, 80], [9, 8, 7, 6]]
        {
            let (log, held) = held_by(|| CallLog {
                calls: vec![call; calls],
                phases: vec![phase; phases],
                causes: vec![(STREAM, 5); causes],
                events: vec![(STREAM, None); events],
            });
            assert_eq!(log.memory_bytes(), held);
        }
    }
}
