//! What is read of each format, for users.

use super::TraceFormat;

/// What is read of a format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TraceFormatNotes {
    /// Names of the files.
    pub files: &'static str,
    /// How the first bytes show the format.
    pub start: &'static str,
    /// What a replay has.
    pub read: &'static str,
    /// What it lacks.
    pub not_read: &'static str,
}

impl TraceFormat {
    /// What is read of the format.
    pub const fn notes(self) -> TraceFormatNotes {
        match self {
            Self::SimGrid => TraceFormatNotes {
                files: "any, of vmpirun too: a list of files, or one file",
                start: "a text of no other format: RANK ACTION, or names of files",
                read: "all actions of smpirun, nonblocking collectives, communicators of vmpirun",
                not_read: "comm_dup and comm_split without a name; persistent requests",
            },
            Self::Dumpi => TraceFormatNotes {
                files: "NAME.meta, NAME-0000.bin ..",
                start: "FF AA DD DUMPI, or key=value",
                read: "all record kinds; communicators, groups, types, vector collectives",
                not_read: "files, one-sided communication, probes",
            },
            Self::Otf2 => TraceFormatNotes {
                files: "NAME.otf2, NAME.def, NAME/0.evt ..",
                start: "03 42 OTF2 or 03 23 OTF2",
                read: "messages, requests, collectives, communicators, times between calls of MPI",
                not_read: "one-sided communication, sizes of single pairs, other threads than the first",
            },
            Self::Allprof => TraceFormatNotes {
                files: "NAME-0.dat, NAME-1.dat ..",
                start: "MPI_Init:-, after lines with #",
                read: "messages, requests, collectives, communicators of MPI_Comm_dup and MPI_Comm_split",
                not_read: "what tests found; communicators of groups; counts that are written as addresses",
            },
            Self::Goal => TraceFormatNotes {
                files: "NAME.goal, NAME.bin",
                start: "num_ranks, or the number 4223 in 8 bytes",
                read: "text and binary: send, recv, calc, requires, irequires, cpu, nic",
                not_read: "",
            },
            Self::Chakra => TraceFormatNotes {
                files: "NAME.0.et or NAME.0.json .., NAME.json",
                start: "a message of protocol buffers; JSON with workload_graph, or with nodes as chakra_jsonizer prints them",
                read: "versions 0.0.1 to 0.0.4: nodes, dependencies, groups, durations or operations",
                not_read: "comm_priority, involved_dim, tensors",
            },
            Self::Astra => TraceFormatNotes {
                files: "NAME.txt",
                start: "DATA, MODEL, HYBRID_TRANSFORMER or another policy, then a number",
                read: "one training step, layer by layer",
                not_read: "checkpoints; policies that take groups from a network",
            },
            Self::File => TraceFormatNotes {
                files: "NAME.odt",
                start: "ODOTRACE",
                read: "all, one block at a time",
                not_read: "",
            },
        }
    }
}
