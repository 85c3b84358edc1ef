//! Counts the collectives of a program by what selects their algorithm.

use crate::call::{Call, Operation, EQUAL};
use crate::collective::{Collective, NamedAlgorithm};
use crate::expansion::{CallExpander, JobProgram};
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
    /// Counts the last call of a rank, if it is a collective and this is the first rank of its communicator.
    pub(super) fn add(&mut self, shared: &JobProgram, code: &CallExpander, call: &Call) {
        let Call::Collective { operation, root, bytes, sizes, communicator, .. } = *call else { return };
        let communicators = code.communicators();
        let Ok((size, 0)) = communicators.size_and_rank(communicator) else { return };
        if size == 1 {
            return;
        }
        let job_rank = |of| communicators.job_rank(communicator, of).expect("a rank of the collective");
        let of_program = |from, to| shared.program.size(sizes, job_rank(from), job_rank(to));
        let is_vector = sizes != EQUAL;
        let sizes: Option<&dyn Fn(u32, u32) -> Bytes> = if is_vector { Some(&of_program) } else { None };
        let algorithm = shared.collectives.algorithm(&Collective { operation, rank: 0, size, root, bytes, sizes });
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
        count.calls += 1;
        count.bytes_min = count.bytes_min.min(bytes);
        count.bytes_max = count.bytes_max.max(bytes);
        count.bytes = Bytes(count.bytes.0.saturating_add(bytes.0));
    }

    pub(super) fn into_list(self) -> Vec<CollectiveCount> {
        self.counts.into_values().collect()
    }
}
