//! What ranks did, call by call, and what ended each wait: enough to follow a job's time backwards from its end.
//!
//! A rank's clock goes on by itself while it computes and in calls. Where it has to wait it jumps to the time at which its host
//! is told of something, and so the time from before the jump on is explained by who caused that, and when. A [`RankWait`] is
//! such a jump. Causes are found as messages are (`log`): what goes one way between two ranks does not overtake.

use odonata_declare::words;
use odonata_units::Time;
use odonata_workload::program::Call;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

words! {
    /// What a rank is told of when a wait ends.
    #[derive(Serialize, Deserialize)]
    pub enum WaitEvent {
        Message = "message": "a message, with its data, announced, or of the node",
        Data = "data": "the data that it had asked for",
        Receipt = "receipt": "that a message of its own was received",
    }
}

/// What a call is, as programs write it.
pub type CallName = &'static str;

/// A call that a rank left.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CallRecord {
    /// Its job.
    pub job: u16,
    /// The rank.
    pub rank: u32,
    /// Its number among the calls of the rank, from 1 on.
    pub call: u64,
    /// What it is, as programs write it.
    #[serde(deserialize_with = "call_name")]
    pub name: CallName,
    /// When it began, on the rank's clock.
    pub start: Time,
    /// When it was over.
    pub end: Time,
    /// Of that, time from where the rank could not go on to where it could.
    pub blocked: Time,
}

/// The name of a call, which is one of those that there are.
pub(crate) fn call_name<'de, D: Deserializer<'de>>(from: D) -> Result<CallName, D::Error> {
    let name = String::deserialize(from)?;
    match Call::named(&name) {
        Some(name) => Ok(name),
        None if name.is_empty() => Ok(""),
        None => Err(D::Error::custom(format!("no call is called '{name}'"))),
    }
}

/// A time in which a rank waited until its host was told of something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RankWait {
    /// Its job.
    pub job: u16,
    /// The rank.
    pub rank: u32,
    /// How many such times it had before.
    pub number: u32,
    /// The call that it was in.
    pub call: u64,
    /// From when on it waited.
    pub start: Time,
    /// When its host was told.
    pub end: Time,
    /// Of what.
    pub event: WaitEvent,
    /// The rank that this came from.
    pub peer: u32,
    /// The rank whose doing it was: `peer`, or of data that were asked for the one that waits.
    pub caused_by: u32,
    /// When that rank had handed to its interface what brought it about.
    pub caused_at: Time,
}

/// A time in which a rank was in a phase of its program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PhaseTime {
    /// Its job.
    pub job: u16,
    /// The rank.
    pub rank: u32,
    /// Number of the phase in its program.
    pub phase: u32,
    /// When it began, on the rank's clock.
    pub start: Time,
    /// When it was over.
    pub end: Time,
}

/// What is recorded of calls.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct CallRecords {
    /// The calls that ranks left, by job, rank and number.
    pub calls: Vec<CallRecord>,
    /// Their waits, by job, rank and time.
    pub waits: Vec<RankWait>,
    /// Their phases, by job, rank and time.
    pub phases: Vec<PhaseTime>,
}

/// Job, the rank that did something, the other one, what the one that waits is told of.
type EventStream = (u16, u32, u32, WaitEvent);

/// A jump of a rank's clock.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct ClockJump {
    pub(crate) call: u64,
    pub(crate) start_ps: u64,
    pub(crate) end_ps: u64,
}

/// The notes of some ranks.
#[derive(Default, Debug, Serialize, Deserialize)]
pub(crate) struct CallLog {
    calls: Vec<CallRecord>,
    phases: Vec<PhaseTime>,
    causes: Vec<(EventStream, u64)>,
    events: Vec<(EventStream, Option<ClockJump>)>,
}

impl CallLog {
    /// A rank leaves a call.
    #[cold]
    pub(crate) fn record_call(&mut self, call: CallRecord) {
        self.calls.push(call);
    }

    /// A phase of a rank is over.
    #[cold]
    pub(crate) fn record_phase(&mut self, phase: PhaseTime) {
        self.phases.push(phase);
    }

    /// A rank hands something over.
    #[cold]
    pub(crate) fn record_cause(&mut self, stream: EventStream, at_ps: u64) {
        self.causes.push((stream, at_ps));
    }

    /// A host is told of something, for which the rank may have waited.
    #[cold]
    pub(crate) fn record_event(&mut self, stream: EventStream, jump: Option<ClockJump>) {
        self.events.push((stream, jump));
    }

    /// Takes over what was noted elsewhere.
    pub(crate) fn append(&mut self, mut other: Self) {
        self.calls.append(&mut other.calls);
        self.phases.append(&mut other.phases);
        self.causes.append(&mut other.causes);
        self.events.append(&mut other.events);
    }

    /// All of it in order.
    pub(crate) fn records(mut self) -> CallRecords {
        // Stable: phases of a rank that take no time stay in the order of its clock.
        self.phases.sort_by_key(|phase| (phase.job, phase.rank, phase.start));
        self.calls.sort_unstable_by_key(|call| (call.job, call.rank, call.call));
        let mut causes = by_stream(self.causes);
        let mut waits = Vec::new();
        for (stream, jump) in self.events {
            let since_ps = causes.get_mut(&key(stream)).and_then(Iterator::next).expect("what is told of was sent");
            let Some(ClockJump { call, start_ps, end_ps }) = jump else { continue };
            let (job, caused_by, other, event) = stream;
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

/// A way as it is looked up.
type EventStreamKey = (u16, u32, u32, u8);

fn key((job, caused_by, other, event): EventStream) -> EventStreamKey {
    (job, caused_by, other, event as u8)
}

/// What was noted of each way, in its order.
fn by_stream(notes: Vec<(EventStream, u64)>) -> BTreeMap<EventStreamKey, std::vec::IntoIter<u64>> {
    let mut found: BTreeMap<EventStreamKey, Vec<u64>> = BTreeMap::new();
    for (stream, at_ps) in notes {
        found.entry(key(stream)).or_default().push(at_ps);
    }
    found.into_iter().map(|(stream, times)| (stream, times.into_iter())).collect()
}
