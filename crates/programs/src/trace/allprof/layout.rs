//! Places of the arguments of calls.

use crate::call::Operation;
use odonata_trace::allprof::AllprofCall;

/// Operation of a collective with blocks of one size, and places of its count, root and communicator. The data type
/// follows the count.
pub(super) type Places = (Operation, Option<usize>, Option<usize>, usize);

/// Forms with blocks of one size. Data may stay in place, so the count is on the side that has it in any case.
const EQUAL_FORMS: [(&str, Places); 11] = [
    ("Barrier", (Operation::Barrier, None, None, 0)),
    ("Bcast", (Operation::Broadcast, Some(1), Some(3), 4)),
    ("Reduce", (Operation::Reduce, Some(2), Some(5), 6)),
    ("Allreduce", (Operation::Allreduce, Some(2), None, 5)),
    ("Scan", (Operation::Scan, Some(2), None, 5)),
    ("Exscan", (Operation::Scan, Some(2), None, 5)),
    ("Reduce_scatter_block", (Operation::ReduceScatter, Some(2), None, 5)),
    ("Gather", (Operation::Gather, Some(1), Some(6), 7)),
    ("Scatter", (Operation::Scatter, Some(4), Some(6), 7)),
    ("Allgather", (Operation::Allgather, Some(4), None, 6)),
    ("Alltoall", (Operation::Alltoall, Some(4), None, 6)),
];

/// Names of vector forms, and their arguments without lists.
pub(super) const VECTORS: [(&str, usize, Operation); 5] = [
    ("Gatherv", 9, Operation::Gather),
    ("Scatterv", 9, Operation::Scatter),
    ("Allgatherv", 8, Operation::Allgather),
    ("Alltoallv", 9, Operation::Alltoall),
    ("Reduce_scatter", 6, Operation::ReduceScatter),
];

/// The name of the blocking form: `Bcast` of `Ibcast`.
pub(super) fn blocking_name(name: &str) -> Option<&'static str> {
    let names = EQUAL_FORMS.iter().map(|(known, _)| *known).chain(VECTORS.iter().map(|(known, ..)| *known));
    let plain = name.strip_prefix('I');
    let is_form = |known: &&str| *known == name || plain.is_some_and(|plain| plain.eq_ignore_ascii_case(known));
    names.into_iter().find(is_form)
}

pub(super) fn places(name: &str) -> Option<Places> {
    EQUAL_FORMS.iter().find(|(known, _)| *known == name).map(|(_, places)| *places)
}

/// Whether calls of a name are collectives.
pub(super) fn is_collective(name: &str) -> bool {
    blocking_name(name).is_some()
}

/// Place of the communicator of a collective.
pub(super) fn communicator_place(call: &AllprofCall<'_>) -> Option<usize> {
    let name = blocking_name(call.name)?;
    let is_nonblocking = usize::from(name != call.name);
    match places(name) {
        Some((.., communicator)) => Some(communicator),
        // The last one, before the request.
        None => call.len().checked_sub(1 + is_nonblocking),
    }
}

/// Bytes of so many elements of a size.
pub(super) fn product(count: i64, size: u64) -> Result<u64, String> {
    let count = u64::try_from(count).map_err(|_| format!("{count} elements; expected 0 or more"))?;
    count
        .checked_mul(size)
        .filter(|&bytes| bytes <= 1 << 50)
        .ok_or_else(|| format!("{count} elements of {size} B; expected at most 2^50 B"))
}

/// Bytes of the elements of a call: of argument `count`, and the data type after it.
pub(super) fn bytes(call: &AllprofCall<'_>, count: usize) -> Result<u64, String> {
    product(call.number(count)?, call.type_size(count + 1)?)
}
