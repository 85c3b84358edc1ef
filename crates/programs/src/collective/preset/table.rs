//! A table of a preset: algorithms of an operation by ranks and bytes.

use crate::call::Operation;
use crate::collective::choice::{find, Choice, Rule, SizeMeasure};
use odonata_units::Bytes;

/// The algorithms of one operation in one form.
#[derive(Debug)]
pub(super) struct OperationTable {
    pub(super) operation: Operation,
    pub(super) form: Form,
    pub(super) rows: &'static [Row],
}

/// Whether blocks have one size, or sizes of their own (the vector forms of MPI). A table without rows for vectors uses
/// the other rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    Equal,
    Vector,
}

/// Algorithms for some numbers of ranks. The first row that holds is used.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) ranks: Ranks,
    pub(super) measure: SizeMeasure,
    /// Algorithms below sizes in bytes, in increasing order. The last one has no limit.
    pub(super) below: &'static [(u64, &'static str)],
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Ranks {
    Any,
    Below(u32),
    PowerOfTwo,
    PowerOfTwoBelow(u32),
}

/// The largest size: the last algorithm of a row has no limit.
pub(super) const REST: u64 = u64::MAX;

impl OperationTable {
    pub(super) fn choice(&self) -> Choice {
        Choice {
            operation: self.operation,
            rules: self.rows.iter().flat_map(|row| row.rules(self.operation)).collect(),
        }
    }
}

impl Row {
    fn rules(&self, operation: Operation) -> impl Iterator<Item = Rule> + '_ {
        let (below_ranks, power_of_two) = match self.ranks {
            Ranks::Any => (None, false),
            Ranks::Below(ranks) => (Some(ranks), false),
            Ranks::PowerOfTwo => (None, true),
            Ranks::PowerOfTwoBelow(ranks) => (Some(ranks), true),
        };
        self.below.iter().map(move |&(below, name)| Rule {
            up_to: (below != REST).then(|| Bytes(below - 1)),
            up_to_ranks: below_ranks.map(|ranks| ranks - 1),
            power_of_two,
            measure: self.measure,
            algorithm: find(operation, name).expect("a table names algorithms of its operation"),
        })
    }
}
