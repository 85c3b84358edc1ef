//! Calls as people write them, for messages.

use super::text::OUTSIDE;
use super::{Call, ANY};
use std::fmt::{Display, Formatter, Result};

impl Call {
    /// What it is, as programs write it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Send { .. } => "send",
            Self::Recv { .. } => "recv",
            Self::Isend { .. } => "isend",
            Self::Irecv { .. } => "irecv",
            Self::Wait { .. } => "wait",
            Self::WaitAll { .. } => "waitall",
            Self::WaitAny { .. } => "waitany",
            Self::WaitSome { .. } => "waitsome",
            Self::Test { .. } => "test",
            Self::Compute { .. } => "compute",
            Self::Sleep { .. } => "sleep",
            Self::Mark { .. } => "phase",
            Self::Round => "round",
            Self::Collective { operation, .. } => operation.name(),
            Self::CommSplit { .. } => "split",
            Self::CommCreate { .. } => "create",
            Self::CommFree { .. } => "free",
        }
    }
}

impl Display for Call {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match *self {
            Self::Send { to, bytes, tag, .. } => {
                write!(f, "send of {} B to {}, {}", bytes.0, Peer(to), Tag(tag))
            }
            Self::Isend { to, bytes, tag, .. } => {
                write!(f, "isend of {} B to {}, {}", bytes.0, Peer(to), Tag(tag))
            }
            Self::Recv { from, bytes, tag, .. } => {
                write!(f, "recv of {} B from {}, {}", bytes.0, Peer(from), Tag(tag))
            }
            Self::Irecv { from, bytes, tag, .. } => {
                write!(f, "irecv of {} B from {}, {}", bytes.0, Peer(from), Tag(tag))
            }
            Self::Wait { request } => write!(f, "wait for request {request}"),
            Self::WaitAll { first, count } => write!(f, "wait for all of {count} requests from {first} on"),
            Self::WaitAny { first, count } => write!(f, "wait for any of {count} requests from {first} on"),
            Self::WaitSome { first, count } => write!(f, "wait for some of {count} requests from {first} on"),
            Self::Collective { operation, .. } => f.write_str(operation.name()),
            Self::CommSplit { communicator, .. } => write!(f, "a split of communicator {communicator}"),
            Self::CommCreate { new, .. } => write!(f, "making communicator {new}"),
            Self::CommFree { communicator } => write!(f, "freeing communicator {communicator}"),
            Self::Test { request } => write!(f, "test of request {request}"),
            Self::Compute { .. } | Self::Sleep { .. } | Self::Mark { .. } | Self::Round => f.write_str("computing"),
        }
    }
}

struct Peer(u32);

impl Display for Peer {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self.0 {
            ANY => f.write_str("any rank"),
            OUTSIDE => f.write_str("no rank"),
            rank => write!(f, "rank {rank}"),
        }
    }
}

struct Tag(u32);

impl Display for Tag {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self.0 {
            ANY => f.write_str("any tag"),
            tag => write!(f, "tag {tag}"),
        }
    }
}
