//! What a trace has, and what a reader made of it.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Records of one kind.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct RecordKind {
    /// Records in the trace.
    pub seen: u64,
    /// Records that affect a replay.
    pub used: u64,
    /// Calls that the trace counts but has no record of.
    pub missing: u64,
    /// Why the others are ignored, or what is simplified.
    pub why: Cow<'static, str>,
}

/// Why a record is ignored that has nothing to replay, such as a query.
pub const NOTHING: &str = "sends and receives nothing";

impl RecordKind {
    /// Records without an effect.
    pub fn ignored(&self) -> u64 {
        self.seen - self.used
    }

    /// Records of which a replay lacks something.
    pub fn lost(&self) -> u64 {
        if self.why == NOTHING {
            0
        } else {
            self.ignored()
        }
    }
}

/// Every kind of record of a trace: how many there are, and how many affect a replay.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Survey {
    /// By name.
    pub kinds: BTreeMap<String, RecordKind>,
    /// What else is missing or was assumed.
    pub notes: Vec<String>,
    /// What is unusual, but replayed.
    pub oddities: Vec<String>,
}

impl Survey {
    /// Counts a record. `why` says why records of the kind are ignored, or what is simplified; the first reason stays.
    pub fn count(&mut self, kind: &str, is_used: bool, why: &'static str) {
        if !self.kinds.contains_key(kind) {
            self.kinds.insert(kind.to_owned(), RecordKind::default());
        }
        let of_kind = self.kinds.get_mut(kind).expect("it was just inserted");
        of_kind.seen += 1;
        of_kind.used += u64::from(is_used);
        if of_kind.why.is_empty() {
            of_kind.why = why.into();
        }
    }

    /// Adds the counts of another part of the trace.
    pub fn add(&mut self, other: Self) {
        for (name, kind) in other.kinds {
            let sum = self.kinds.entry(name).or_default();
            sum.seen += kind.seen;
            sum.used += kind.used;
            sum.missing += kind.missing;
            if sum.why.is_empty() {
                sum.why = kind.why;
            }
        }
        self.notes.extend(other.notes);
        self.oddities.extend(other.oddities);
    }

    /// What a user should know before a run: calls without records.
    pub fn warnings(&self) -> Vec<String> {
        let missing = self.kinds.iter().filter(|(_, kind)| kind.missing > 0);
        let missing = missing.map(|(name, kind)| {
            format!("{name}: {} recorded of {} called", grouped(kind.seen), grouped(kind.seen + kind.missing))
        });
        missing.chain(self.notes.iter().cloned()).collect()
    }
}

/// A number with commas between thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_calls_are_said() {
        let mut survey = Survey::default();
        survey.count("MPI_Isend", true, "");
        survey.count("MPI_Test", false, "found nothing");
        survey.count("MPI_Test", true, "");
        survey.kinds.get_mut("MPI_Isend").unwrap().missing = 81_262;
        assert_eq!(survey.warnings(), ["MPI_Isend: 1 recorded of 81,263 called"]);
        let mut twice = survey.clone();
        twice.add(survey);
        let tests = &twice.kinds["MPI_Test"];
        assert_eq!((tests.seen, tests.used, tests.ignored(), &*tests.why), (4, 2, 2, "found nothing"));
    }
}
