//! Counts the collectives of a program by what selects their algorithm.

use crate::call::{Call, Operation};
use crate::collective::{Collective, NamedAlgorithm};
use crate::expansion::entered::EnteredCollective;
use odonata_units::Bytes;
use std::collections::BTreeMap;

/// Collectives of one operation on communicators of one size that take the same algorithm.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CollectiveCount {
    /// The operation.
    pub operation: Operation,
    /// Whether it is a vector form, whose blocks have sizes of their own.
    pub is_vector: bool,
    /// Ranks of the communicator.
    pub ranks: u32,
    /// The algorithm.
    pub algorithm: NamedAlgorithm,
    /// Calls, each counted once for all its ranks.
    pub calls: u64,
    /// Smallest and largest size in bytes, as in the call. Zero for vector forms and barriers.
    pub bytes_min: Bytes,
    /// See `bytes_min`.
    pub bytes_max: Bytes,
    /// Sum of the sizes.
    pub bytes: Bytes,
}

/// All counts of a program, in a fixed order.
#[derive(Default, Debug)]
pub(super) struct CollectiveCounts {
    counts: BTreeMap<(Operation, bool, u32, &'static str), CollectiveCount>,
}

impl CollectiveCounts {
    /// Counts a collective of the first rank of its communicator.
    pub(super) fn add(&mut self, entered: &EnteredCollective<'_>, algorithm: NamedAlgorithm, times: u64) {
        // Calls that manage communicators have messages, but are no collectives of the program.
        let Call::Collective { operation, .. } = entered.call else { return };
        let Collective { size, bytes, sizes, .. } = entered.collective;
        let is_vector = sizes.is_some();
        let bytes = if is_vector || operation == Operation::Barrier { Bytes(0) } else { bytes };
        let new = CollectiveCount {
            operation,
            is_vector,
            ranks: size,
            algorithm,
            calls: 0,
            bytes_min: bytes,
            bytes_max: bytes,
            bytes: Bytes(0),
        };
        let count = self.counts.entry((operation, is_vector, size, algorithm.name)).or_insert(new);
        count.calls = count.calls.saturating_add(times);
        count.bytes_min = count.bytes_min.min(bytes);
        count.bytes_max = count.bytes_max.max(bytes);
        count.bytes = Bytes(count.bytes.0.saturating_add(bytes.0.saturating_mul(times)));
    }

    pub(super) fn into_list(self) -> Vec<CollectiveCount> {
        self.counts.into_values().collect()
    }
}
