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
    pub enum Told {
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
    pub entered: Time,
    /// When it was over.
    pub left: Time,
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
    pub from: Time,
    /// When its host was told.
    pub until: Time,
    /// Of what.
    pub told: Told,
    /// The rank that this came from.
    pub peer: u32,
    /// The rank whose doing it was: `peer`, or of data that were asked for the one that waits.
    pub by: u32,
    /// When that rank had handed to its interface what brought it about.
    pub since: Time,
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
    pub began: Time,
    /// When it was over.
    pub ended: Time,
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
type Way = (u16, u32, u32, Told);

/// A jump of a rank's clock.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Jump {
    pub(crate) call: u64,
    pub(crate) from_ps: u64,
    pub(crate) until_ps: u64,
}

/// The notes of some ranks.
#[derive(Default, Debug, Serialize, Deserialize)]
pub(crate) struct CallLog {
    calls: Vec<CallRecord>,
    phases: Vec<PhaseTime>,
    caused: Vec<(Way, u64)>,
    told: Vec<(Way, Option<Jump>)>,
}

impl CallLog {
    /// A rank leaves a call.
    #[cold]
    pub(crate) fn left(&mut self, call: CallRecord) {
        self.calls.push(call);
    }

    /// A phase of a rank is over.
    #[cold]
    pub(crate) fn passed(&mut self, phase: PhaseTime) {
        self.phases.push(phase);
    }

    /// A rank hands something over.
    #[cold]
    pub(crate) fn caused(&mut self, way: Way, at_ps: u64) {
        self.caused.push((way, at_ps));
    }

    /// A host is told of something, for which the rank may have waited.
    #[cold]
    pub(crate) fn told(&mut self, way: Way, jump: Option<Jump>) {
        self.told.push((way, jump));
    }

    /// Takes over what was noted elsewhere.
    pub(crate) fn append(&mut self, mut other: Self) {
        self.calls.append(&mut other.calls);
        self.phases.append(&mut other.phases);
        self.caused.append(&mut other.caused);
        self.told.append(&mut other.told);
    }

    /// All of it in order.
    pub(crate) fn records(mut self) -> CallRecords {
        // Stable: phases of a rank that take no time stay in the order of its clock.
        self.phases.sort_by_key(|phase| (phase.job, phase.rank, phase.began));
        self.calls.sort_unstable_by_key(|call| (call.job, call.rank, call.call));
        let mut caused = by_way(self.caused);
        let mut waits = Vec::new();
        for (way, jump) in self.told {
            let since_ps = caused.get_mut(&key(way)).and_then(Iterator::next).expect("what is told of was sent");
            let Some(Jump { call, from_ps, until_ps }) = jump else { continue };
            let (job, by, other, told) = way;
            let (rank, peer) = if told == Told::Data { (by, other) } else { (other, by) };
            let (from, until, since) = (Time(from_ps), Time(until_ps), Time(since_ps));
            waits.push(RankWait { job, rank, number: 0, call, from, until, told, peer, by, since });
        }
        waits.sort_unstable_by_key(|wait| (wait.job, wait.rank, wait.until));
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
            + self.caused.capacity() * size_of::<(Way, u64)>()
            + self.told.capacity() * size_of::<(Way, Option<Jump>)>()
    }
}

/// A way as it is looked up.
type WayKey = (u16, u32, u32, u8);

fn key((job, by, other, told): Way) -> WayKey {
    (job, by, other, told as u8)
}

/// What was noted of each way, in its order.
fn by_way(notes: Vec<(Way, u64)>) -> BTreeMap<WayKey, std::vec::IntoIter<u64>> {
    let mut found: BTreeMap<WayKey, Vec<u64>> = BTreeMap::new();
    for (way, at_ps) in notes {
        found.entry(key(way)).or_default().push(at_ps);
    }
    found.into_iter().map(|(way, times)| (way, times.into_iter())).collect()
}
