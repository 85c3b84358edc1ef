//! Why calls of liballprof's traces have no effect, or what of them is simplified.

use odonata_trace::NOTHING;

/// Why a vector form may not be replayed.
pub(super) const NO_COUNTS: &str = "the trace has addresses instead of its counts";

/// Starts of names of calls that are lost.
const LOST: [(&str, &str); 13] = [
    ("Test", "a trace does not say what a test found; its request is waited for later"),
    ("Cancel", "a trace does not say what was cancelled"),
    ("Comm_create", "a trace does not say who is in the communicator"),
    ("Cart_sub", "a trace does not say who is in the communicator"),
    ("Graph_create", "a trace does not say who is in the communicator"),
    ("Intercomm", "communicators of two groups are not replayed"),
    ("Alltoallw", NO_COUNTS),
    ("Ialltoallw", NO_COUNTS),
    ("Put", "one-sided communication is not replayed"),
    ("Get_accumulate", "one-sided communication is not replayed"),
    ("Accumulate", "one-sided communication is not replayed"),
    ("Win_", "one-sided communication is not replayed"),
    ("File_", "files are not replayed"),
];

/// Why calls of a name are never replayed.
pub(super) fn why(name: &str) -> &'static str {
    if name == "Get" {
        return "one-sided communication is not replayed";
    }
    if name == "Test_cancelled" {
        return NOTHING;
    }
    LOST.iter().find(|(start, _)| name.starts_with(start)).map_or(NOTHING, |(_, why)| why)
}

/// What of a call that is replayed is simplified, or why some of them have no effect.
pub(super) fn simplified(name: &str) -> &'static str {
    match name {
        "Bsend" | "Ssend" | "Rsend" | "Ibsend" | "Issend" | "Irsend" | "Bsend_init" | "Ssend_init" | "Rsend_init" => {
            "replayed as a standard send"
        }
        "Waitany" | "Waitsome" => "a trace does not say which request completed; the oldest one is taken",
        "Wait" | "Waitall" => "no open request at this address",
        "Cart_create" => "ranks keep their order",
        "Send" | "Recv" | "Isend" | "Irecv" | "Sendrecv" | "Sendrecv_replace" => "to or from no rank",
        _ => "",
    }
}
