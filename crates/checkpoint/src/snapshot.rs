//! The state of a run relative to now, to find out whether a state repeats.
//!
//! Two states are equal up to a shift if the run does the same from both, from the later one a period later. A
//! snapshot divides the state into three parts:
//!
//! | part | equal if |
//! |---|---|
//! | fixed | the bytes are equal; times are relative to now |
//! | moving | all counters of a class have advanced by the same number: only their differences decide |
//! | random streams | no stream has drawn a number |

use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap};
use std::fmt;

/// What a counter belongs to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CounterOwner(u64, u64);

/// An owner, and a part of it.
type OwnerPart = (u64, u64);

impl From<OwnerPart> for CounterOwner {
    fn from(of: OwnerPart) -> Self {
        Self(of.0, of.1)
    }
}

/// Counters of which only differences decide, for example the sequence numbers between two NICs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CounterClass {
    /// Kind of the counter.
    pub kind: &'static str,
    /// What it belongs to.
    pub owner: CounterOwner,
}

/// Why a state is not the same as an earlier one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Difference {
    /// A random stream has drawn numbers.
    Random(String),
    /// A part of the state has changed.
    State(&'static str),
    /// Counters of a class have advanced by different numbers.
    Counters(&'static str),
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Random(stream) => write!(f, "{stream} drew random numbers"),
            Self::State(part) => write!(f, "the state of {part} does not repeat"),
            Self::Counters(kind) => write!(f, "the {kind} do not advance equally"),
        }
    }
}

/// By how much the counters of each class have advanced.
pub type Advances = BTreeMap<CounterClass, u64>;

/// A state relative to now.
#[derive(Clone, Debug)]
pub struct Snapshot {
    now_ps: u64,
    fixed: Vec<u8>,
    /// Where each part of `fixed` begins.
    parts: Vec<(usize, &'static str)>,
    moving: Vec<(CounterClass, u64)>,
    streams: Vec<(String, Vec<u8>)>,
}

impl Snapshot {
    /// An empty snapshot at a time.
    pub fn new(now_ps: u64) -> Self {
        Self { now_ps, fixed: Vec::new(), parts: Vec::new(), moving: Vec::new(), streams: Vec::new() }
    }

    /// The time of the state.
    pub fn now_ps(&self) -> u64 {
        self.now_ps
    }

    /// Begins a part of the state, with its name for messages.
    pub fn part(&mut self, name: &'static str) {
        self.parts.push((self.fixed.len(), name));
    }

    /// Adds a value that must be equal.
    ///
    /// # Panics
    /// If its type serialises a sequence of unknown length.
    pub fn put<T: Serialize + ?Sized>(&mut self, value: &T) {
        let bytes = std::mem::take(&mut self.fixed);
        self.fixed = postcard::to_extend(value, bytes).expect("plain data has an encoding");
    }

    /// Adds a time, past or future. `u64::MAX` means never.
    pub fn time(&mut self, at_ps: u64) {
        let relative = (at_ps != u64::MAX).then(|| at_ps.wrapping_sub(self.now_ps));
        self.put(&relative);
    }

    /// Adds a time that only matters if it lies ahead, for example the time at which a link becomes free.
    pub fn deadline(&mut self, at_ps: u64) {
        let relative = (at_ps != u64::MAX).then(|| at_ps.saturating_sub(self.now_ps));
        self.put(&relative);
    }

    /// Adds the order of some times: only their order decides, for example among last uses.
    pub fn order(&mut self, times_ps: &[u64]) {
        let mut sorted = times_ps.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        let places: Vec<usize> = times_ps.iter().map(|time| sorted.partition_point(|other| other < time)).collect();
        self.put(&places);
    }

    /// Adds a counter of a class.
    pub fn counter(&mut self, kind: &'static str, owner: impl Into<CounterOwner>, value: u64) {
        self.moving.push((CounterClass { kind, owner: owner.into() }, value));
    }

    /// Adds a random stream, with its name for messages.
    ///
    /// # Panics
    /// If its type serialises a sequence of unknown length.
    pub fn stream<T: Serialize + ?Sized>(&mut self, name: impl FnOnce() -> String, stream: &T) {
        let bytes = postcard::to_extend(stream, Vec::new()).expect("plain data has an encoding");
        self.streams.push((name(), bytes));
    }

    /// By how much the counters have advanced since an earlier state, if this one is the same.
    ///
    /// # Errors
    /// What differs.
    pub fn advances_since(&self, earlier: &Self) -> Result<Advances, Difference> {
        if let Some((now, _)) = self.streams.iter().zip(&earlier.streams).find(|(now, before)| now.1 != before.1) {
            return Err(Difference::Random(now.0.clone()));
        }
        let same_classes = || self.moving.iter().map(|(class, _)| class).eq(earlier.moving.iter().map(|(c, _)| c));
        if self.fixed != earlier.fixed {
            let same = self.fixed.iter().zip(&earlier.fixed).take_while(|(now, before)| now == before).count();
            let part = self.parts.iter().rev().find(|(start, _)| *start <= same);
            return Err(Difference::State(part.map_or("the run", |(_, name)| name)));
        }
        if !same_classes() {
            return Err(Difference::State("the messages"));
        }
        let mut advances = Advances::new();
        for ((class, now), (_, before)) in self.moving.iter().zip(&earlier.moving) {
            add_advance(&mut advances, *class, now.wrapping_sub(*before))?;
        }
        Ok(advances)
    }

    /// SHA-256 of the state. States that are the same have the same digest.
    pub fn digest(&self) -> [u8; 32] {
        let mut digest = Sha256::new();
        digest.update(&self.fixed);
        self.streams.iter().for_each(|(_, stream)| digest.update(stream));
        let mut first = HashMap::new();
        for (class, value) in &self.moving {
            let offset = value.wrapping_sub(*first.entry(*class).or_insert(*value));
            digest.update(offset.to_le_bytes());
        }
        digest.finalize().into()
    }
}

/// Adds an advance of a class to others.
///
/// # Errors
/// The class has advanced by another number.
pub fn add_advance(advances: &mut Advances, class: CounterClass, advance: u64) -> Result<(), Difference> {
    match advances.insert(class, advance) {
        Some(other) if other != advance => Err(Difference::Counters(class.kind)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(now: u64, free: u64, uses: [u64; 3], sent: u64, received: u64, drawn: u8) -> Snapshot {
        let mut of = Snapshot::new(now);
        of.part("links");
        of.put(&7u32);
        of.time(now + 30);
        of.deadline(free);
        of.part("arbiters");
        of.order(&uses);
        of.counter("messages", (1, 2), sent);
        of.counter("messages", (1, 2), received);
        of.stream(|| "router 3".into(), &drawn);
        of
    }

    /// A time, past or future, counts from now; never stays never.
    #[test]
    fn times_are_relative_to_now() {
        let at = |now: u64, time: u64| {
            let mut of = Snapshot::new(now);
            of.part("links");
            of.time(time);
            of
        };
        assert_eq!(at(100, 130).now_ps(), 100);
        let is_same = |a: &Snapshot, b: &Snapshot| b.advances_since(a).is_ok();
        assert!(is_same(&at(100, 130), &at(1_100, 1_130)));
        assert!(is_same(&at(100, 90), &at(1_100, 1_090)));
        assert!(is_same(&at(100, u64::MAX), &at(1_100, u64::MAX)));
        for (time, later) in [(130, 1_131), (90, 1_110), (u64::MAX, 1_130), (130, u64::MAX)] {
            assert!(!is_same(&at(100, time), &at(1_100, later)), "{time}, {later}");
        }
    }

    #[test]
    fn a_shifted_state_is_the_same() {
        let first = snapshot(100, 90, [5, 80, 5], 10, 8, 0);
        let advanced = |later: &Snapshot| later.advances_since(&first);
        let same = advanced(&snapshot(1_100, 95, [7, 900, 7], 14, 12, 0)).unwrap();
        assert_eq!(same.values().copied().collect::<Vec<_>>(), [4]);
        let digest = |of: &Snapshot| of.digest();
        assert_eq!(digest(&first), digest(&snapshot(1_100, 95, [7, 900, 7], 14, 12, 0)));
        assert_eq!(
            advanced(&snapshot(1_100, 1_101, [7, 900, 7], 14, 12, 0)),
            Err(Difference::State("links")),
            "a busy link"
        );
        assert_eq!(
            advanced(&snapshot(1_100, 95, [7, 900, 901], 14, 12, 0)),
            Err(Difference::State("arbiters")),
            "another order"
        );
        let one_more = snapshot(1_100, 95, [7, 900, 7], 14, 13, 0);
        assert_eq!(advanced(&one_more), Err(Difference::Counters("messages")));
        assert_ne!(digest(&first), digest(&one_more));
        let drew = snapshot(1_100, 95, [7, 900, 7], 14, 12, 1);
        assert_ne!(digest(&first), digest(&drew));
        assert_eq!(advanced(&drew).unwrap_err().to_string(), "router 3 drew random numbers");
    }
}
