//! Actions of time-independent traces of SimGrid.

use odonata_trace::NOTHING;

/// Known actions.
pub(super) const ACTIONS: [&str; 36] = [
    "init",
    "finalize",
    "comm_size",
    "comm_split",
    "comm_dup",
    "comm_free",
    "location",
    "compute",
    "sleep",
    "send",
    "ssend",
    "isend",
    "issend",
    "recv",
    "irecv",
    "sendrecv",
    "test",
    "wait",
    "waitany",
    "waitall",
    "barrier",
    "bcast",
    "reduce",
    "allreduce",
    "alltoall",
    "allgather",
    "gather",
    "scatter",
    "scan",
    "exscan",
    "alltoallv",
    "allgatherv",
    "gatherv",
    "scatterv",
    "reducescatter",
    "start",
];

/// Why lines of an action have no effect, or what of them is simplified.
pub(super) fn ignored_why(action: &str) -> &'static str {
    match action {
        "finalize" => "the barrier at the end of the program takes its place (final_barrier)",
        "comm_dup" | "comm_split" => "SimGrid does not name the new communicator",
        "comm_size" | "location" => NOTHING,
        "ssend" | "issend" => "replayed as a standard send, which may end before its receive",
        _ => "",
    }
}
