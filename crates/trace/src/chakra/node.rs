//! Nodes, checked, the same for all versions.

use CollectiveKind::{AllGather, AllReduce, AllToAll, Barrier, Broadcast, Gather, Reduce, ReduceScatter, Scatter};

/// Kinds of nodes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum NodeKind {
    /// A note without work.
    Metadata,
    /// Load from remote memory.
    Load,
    /// Store to remote memory.
    Store,
    /// Computation.
    Compute,
    /// Sends a message.
    Send,
    /// Receives a message.
    Receive,
    /// Takes part in a collective.
    Collective(CollectiveKind),
}

/// Collectives of all versions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[allow(missing_docs, reason = "names of MPI")]
pub enum CollectiveKind {
    AllReduce,
    Reduce,
    AllGather,
    Gather,
    Scatter,
    Broadcast,
    AllToAll,
    ReduceScatter,
    Barrier,
}

impl CollectiveKind {
    /// Name in tables and messages.
    pub const fn name(self) -> &'static str {
        match self {
            AllReduce => "all-reduce",
            Reduce => "reduce",
            AllGather => "all-gather",
            Gather => "gather",
            Scatter => "scatter",
            Broadcast => "broadcast",
            AllToAll => "all-to-all",
            ReduceScatter => "reduce-scatter",
            Barrier => "barrier",
        }
    }
}

/// A node.
#[derive(Clone, PartialEq, Debug)]
pub struct Node {
    /// Its number.
    pub id: u64,
    /// Kind.
    pub kind: NodeKind,
    /// Nodes whose end it waits for.
    pub waits: Vec<u64>,
    /// Duration in ns.
    pub duration_ns: u64,
    /// Floating-point operations.
    pub operations: u64,
    /// Bytes of communication.
    pub bytes: Option<u64>,
    /// The other rank of a message.
    pub peer: Option<u32>,
    /// Tag of a message.
    pub tag: u32,
    /// Name of the group of a collective. Empty for all ranks.
    pub group: String,
    /// Whether a CPU does it.
    pub is_cpu: bool,
}
