//! The instructions of a rank.

use odonata_units::{Bytes, Time};
use serde::{Deserialize, Serialize};

/// Wildcard for a rank or a tag.
pub const ANY: u32 = u32::MAX;

/// A peer outside the job, in a program from a text. The runner must refuse it. Most of these peers are found when the
/// program is read.
pub const OUTSIDE: u32 = u32::MAX - 1;

/// No request: a collective that blocks.
pub const BLOCKING: u32 = u32::MAX;

/// The world communicator: all ranks of the job.
pub const WORLD: u16 = 0;

/// One instruction of a rank. Ranks are numbered within the communicator. Requests are slots of the rank, numbered by
/// the program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Call {
    /// Blocking send: returns when the buffer can be reused.
    Send {
        /// Receiving rank.
        to: u32,
        /// Size.
        bytes: Bytes,
        /// Tag.
        tag: u32,
        /// Communicator.
        communicator: u16,
    },
    /// Blocking receive.
    Recv {
        /// Sending rank, or [`ANY`].
        from: u32,
        /// Size of the receive buffer.
        bytes: Bytes,
        /// Tag, or [`ANY`].
        tag: u32,
        /// Communicator.
        communicator: u16,
    },
    /// Nonblocking send.
    Isend {
        /// Receiving rank.
        to: u32,
        /// Size.
        bytes: Bytes,
        /// Tag.
        tag: u32,
        /// Communicator.
        communicator: u16,
        /// Request slot.
        request: u32,
    },
    /// Nonblocking receive.
    Irecv {
        /// Sending rank, or [`ANY`].
        from: u32,
        /// Size of the receive buffer.
        bytes: Bytes,
        /// Tag, or [`ANY`].
        tag: u32,
        /// Communicator.
        communicator: u16,
        /// Request slot.
        request: u32,
    },
    /// Waits for a request, and frees its slot.
    Wait {
        /// The slot.
        request: u32,
    },
    /// Waits for all of `count` consecutive slots. Unused slots are skipped, like null requests.
    WaitAll {
        /// The first slot.
        first: u32,
        /// How many.
        count: u32,
    },
    /// Waits for one slot. Among several complete ones the lowest number is chosen.
    WaitAny {
        /// The first slot.
        first: u32,
        /// How many.
        count: u32,
    },
    /// Waits until at least one slot is complete, and frees all complete slots.
    WaitSome {
        /// The first slot.
        first: u32,
        /// How many.
        count: u32,
    },
    /// Frees the slot if it is complete. Does not block.
    Test {
        /// The slot.
        request: u32,
    },
    /// Computes.
    Compute {
        /// Duration.
        time: Time,
    },
    /// Sleeps. This time is neither computation nor communication.
    Sleep {
        /// Duration.
        time: Time,
    },
    /// Sleeps until the simulated time is at least `time`, from the start of the run. A rank whose clock is there already
    /// goes on at once. This time is neither computation nor communication.
    WaitUntil {
        /// Simulated time.
        time: Time,
    },
    /// Starts a phase of the program and ends the phase before.
    Mark {
        /// Number of the phase.
        phase: u32,
    },
    /// End of a round of a repeated program. It is not a call of the rank.
    Round,
    /// A collective of all ranks of a communicator.
    Collective {
        /// Operation.
        operation: Operation,
        /// The root, if the operation has one.
        root: u32,
        /// Bytes of the whole message (broadcast, reduce, allreduce, scan) or of the block of each rank (other
        /// operations). Unused if `sizes` is set.
        bytes: Bytes,
        /// Number of the program's [sizes](crate::RankProgram::size) for the vector forms.
        sizes: u32,
        /// Communicator.
        communicator: u16,
        /// Request slot of the nonblocking form, or [`BLOCKING`].
        request: u32,
    },
    /// Splits a communicator: ranks of one colour form a new one, ordered by key, then by rank.
    CommSplit {
        /// Communicator to split.
        communicator: u16,
        /// Number of the new one.
        new: u16,
        /// Colour.
        color: u32,
        /// Key.
        key: u32,
    },
    /// Creates a communicator from ranks `first`, `first + stride`, ... of another.
    CommCreate {
        /// Parent communicator.
        communicator: u16,
        /// Number of the new one, equal for all its ranks.
        new: u16,
        /// Its first rank.
        first: u32,
        /// Number of ranks.
        count: u32,
        /// Distance between ranks.
        stride: u32,
    },
    /// The following calls belong to a stream: a lane of its own.
    Stream {
        /// Its number from 1, or 0 for the program itself.
        stream: u8,
    },
    /// Records an event: the end of the calls of the stream so far.
    Record {
        /// Number of the event.
        event: u32,
    },
    /// The following calls of the stream wait for the last record of an event, if there is one.
    Await {
        /// Number of the event.
        event: u32,
    },
    /// Frees a communicator.
    CommFree {
        /// The communicator.
        communicator: u16,
    },
    /// Blocking one-sided write into the memory of another rank: returns when all bytes are there. The other rank takes
    /// no part.
    Put {
        /// Rank of the job that owns the memory.
        to: u32,
        /// Size.
        bytes: Bytes,
    },
    /// Blocking one-sided read from the memory of another rank: returns with the data. The other rank takes no part.
    Get {
        /// Rank of the job that owns the memory.
        from: u32,
        /// Size.
        bytes: Bytes,
    },
}

const _: () = assert!(size_of::<Call>() <= 24);

/// Collective operations.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Operation {
    /// All ranks wait for each other.
    Barrier,
    /// The root's message goes to all.
    Broadcast,
    /// The messages of all are combined at the root.
    Reduce,
    /// The messages of all are combined, and all get the result.
    Allreduce,
    /// The messages of all are combined, block by block; each rank gets its block.
    ReduceScatter,
    /// A block of each rank goes to the root. The vector form has a size for each.
    Gather,
    /// Each rank gets a block of the root. The vector form has a size for each.
    Scatter,
    /// A block of each rank goes to all. The vector form has a size for each.
    Allgather,
    /// Each rank sends a block to each other rank. The vector form has a size for each pair.
    Alltoall,
    /// Each rank gets the combination of the messages up to its own.
    Scan,
}

impl Operation {
    /// All operations, in the order of the reference.
    pub const ALL: [Self; 10] = [
        Self::Barrier,
        Self::Broadcast,
        Self::Reduce,
        Self::Allreduce,
        Self::ReduceScatter,
        Self::Gather,
        Self::Scatter,
        Self::Allgather,
        Self::Alltoall,
        Self::Scan,
    ];

    /// Name in files and messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Barrier => "barrier",
            Self::Broadcast => "bcast",
            Self::Reduce => "reduce",
            Self::Allreduce => "allreduce",
            Self::ReduceScatter => "reduce-scatter",
            Self::Gather => "gather",
            Self::Scatter => "scatter",
            Self::Allgather => "allgather",
            Self::Alltoall => "alltoall",
            Self::Scan => "scan",
        }
    }

    /// Name of the nonblocking form.
    pub const fn nonblocking_name(self) -> &'static str {
        match self {
            Self::Barrier => "ibarrier",
            Self::Broadcast => "ibcast",
            Self::Reduce => "ireduce",
            Self::Allreduce => "iallreduce",
            Self::ReduceScatter => "ireduce-scatter",
            Self::Gather => "igather",
            Self::Scatter => "iscatter",
            Self::Allgather => "iallgather",
            Self::Alltoall => "ialltoall",
            Self::Scan => "iscan",
        }
    }
}

/// All blocks have the same size.
pub const EQUAL: u32 = u32::MAX;
