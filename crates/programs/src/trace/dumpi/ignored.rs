//! Why records of a kind have no effect.

use odonata_trace::NOTHING;

/// Kinds that are replayed, at least where they found something.
const REPLAYED: [&str; 57] = [
    "Send",
    "Recv",
    "Bsend",
    "Ssend",
    "Rsend",
    "Isend",
    "Ibsend",
    "Issend",
    "Irsend",
    "Irecv",
    "Wait",
    "Test",
    "Request_free",
    "Waitany",
    "Testany",
    "Waitall",
    "Testall",
    "Waitsome",
    "Testsome",
    "Cancel",
    "Send_init",
    "Bsend_init",
    "Ssend_init",
    "Rsend_init",
    "Recv_init",
    "Start",
    "Startall",
    "Sendrecv",
    "Sendrecv_replace",
    "Barrier",
    "Bcast",
    "Gather",
    "Gatherv",
    "Scatter",
    "Scatterv",
    "Allgather",
    "Allgatherv",
    "Alltoall",
    "Alltoallv",
    "Alltoallw",
    "Reduce",
    "Allreduce",
    "Reduce_scatter",
    "Scan",
    "Exscan",
    "Comm_dup",
    "Comm_create",
    "Comm_split",
    "Comm_free",
    "Comm_disconnect",
    "Cart_create",
    "Cart_sub",
    "Graph_create",
    "Type_size",
    "Init",
    "Init_thread",
    "Finalize",
];

/// Whether records of a kind are replayed.
pub(super) fn is_replayed(kind: &str) -> bool {
    REPLAYED.contains(&kind) || kind.starts_with("Group_") && !is_query(kind) || is_type(kind) || kind == "Comm_group"
}

fn is_query(kind: &str) -> bool {
    ["Group_size", "Group_rank", "Group_translate_ranks", "Group_compare", "Group_free"].contains(&kind)
}

/// Whether a record gives the size of a type.
fn is_type(kind: &str) -> bool {
    ["Type_contiguous", "Type_vector", "Type_hvector", "Type_indexed", "Type_hindexed", "Type_struct", "Type_dup"]
        .contains(&kind)
        || kind.starts_with("Type_create_") && !["Type_create_keyval", "Type_create_darray"].contains(&kind)
}

/// Why a record of a kind that is not replayed has no effect.
pub(super) fn why(kind: &str) -> &'static str {
    const FOREIGN: [&str; 9] = [
        "Intercomm_create",
        "Intercomm_merge",
        "Comm_accept",
        "Comm_connect",
        "Comm_join",
        "Comm_spawn",
        "Comm_spawn_multiple",
        "Comm_get_parent",
        "Open_port",
    ];
    const ONE_SIDED: [&str; 3] = ["Put", "Get", "Accumulate"];
    match kind {
        _ if kind.starts_with("File_") => "files are not simulated",
        _ if kind.starts_with("Win_") || ONE_SIDED.contains(&kind) => "one-sided communication is not replayed",
        _ if FOREIGN.contains(&kind) => "communicators with other jobs or of two groups are not replayed",
        "Probe" => "the receive after it waits for the same message",
        "Iprobe" => "a look for messages; time between looks counts as computation",
        "Function_enter" | "Function_exit" => "functions of the program are not phases",
        _ => NOTHING,
    }
}

/// What the replay simplifies for a kind.
pub(super) fn simplified(kind: &str) -> &'static str {
    match kind {
        "Ssend" | "Issend" | "Ssend_init" => "replayed as a standard send, which may end before its receive",
        "Bsend" | "Ibsend" | "Bsend_init" | "Rsend" | "Irsend" | "Rsend_init" => "replayed as a standard send",
        "Waitany" | "Waitsome" => "replayed as a wait for the requests that completed in the recorded run",
        "Test" | "Testany" | "Testall" | "Testsome" => {
            "a test that completed requests is replayed as a wait for them; others are not"
        }
        "Cart_create" | "Graph_create" => "ranks keep their order",
        "Init" | "Init_thread" => "start of the rank",
        "Finalize" => "the barrier at the end of the program takes its place (final_barrier)",
        _ => "",
    }
}
