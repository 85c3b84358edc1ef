//! Names of calls for messages.

use crate::call::{Call, Operation, ANY, BLOCKING, OUTSIDE};
use std::fmt::{Display, Formatter, Result};

impl Call {
    /// Calls that are not collectives, as in program files.
    const WORDS: [&'static str; 22] = [
        "send",
        "recv",
        "isend",
        "irecv",
        "wait",
        "waitall",
        "waitany",
        "waitsome",
        "test",
        "compute",
        "sleep",
        "phase",
        "round",
        "split",
        "create",
        "free",
        "wait until",
        "stream",
        "record",
        "await",
        "put",
        "get",
    ];

    /// Name in program files.
    pub fn name(&self) -> &'static str {
        let word = match self {
            Self::Send { .. } => 0,
            Self::Recv { .. } => 1,
            Self::Isend { .. } => 2,
            Self::Irecv { .. } => 3,
            Self::Wait { .. } => 4,
            Self::WaitAll { .. } => 5,
            Self::WaitAny { .. } => 6,
            Self::WaitSome { .. } => 7,
            Self::Test { .. } => 8,
            Self::Compute { .. } => 9,
            Self::Sleep { .. } => 10,
            Self::Mark { .. } => 11,
            Self::Round => 12,
            Self::CommSplit { .. } => 13,
            Self::CommCreate { .. } => 14,
            Self::CommFree { .. } => 15,
            Self::WaitUntil { .. } => 16,
            Self::Stream { .. } => 17,
            Self::Record { .. } => 18,
            Self::Await { .. } => 19,
            Self::Put { .. } => 20,
            Self::Get { .. } => 21,
            Self::Collective { operation, request: BLOCKING, .. } => return operation.name(),
            Self::Collective { operation, .. } => return operation.nonblocking_name(),
        };
        Self::WORDS[word]
    }

    /// The static name of a call in program files.
    pub fn named(word: &str) -> Option<&'static str> {
        let collectives = Operation::ALL.iter().flat_map(|operation| [operation.name(), operation.nonblocking_name()]);
        Self::WORDS.into_iter().chain(collectives).find(|name| *name == word)
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
            Self::Put { to, bytes } => write!(f, "put of {} B to {}", bytes.0, Peer(to)),
            Self::Get { from, bytes } => write!(f, "get of {} B from {}", bytes.0, Peer(from)),
            Self::Wait { request } => write!(f, "wait for request {request}"),
            Self::WaitAll { first, count } => write!(f, "wait for all of {count} requests from {first} on"),
            Self::WaitAny { first, count } => write!(f, "wait for any of {count} requests from {first} on"),
            Self::WaitSome { first, count } => write!(f, "wait for some of {count} requests from {first} on"),
            Self::Collective { .. } => f.write_str(self.name()),
            Self::CommSplit { communicator, .. } => write!(f, "a split of communicator {communicator}"),
            Self::CommCreate { new, .. } => write!(f, "creation of communicator {new}"),
            Self::CommFree { communicator } => write!(f, "release of communicator {communicator}"),
            Self::Test { request } => write!(f, "test of request {request}"),
            Self::WaitUntil { time } => write!(f, "wait until {time}"),
            Self::Stream { stream } => write!(f, "start of calls of stream {stream}"),
            Self::Record { event } => write!(f, "record of event {event}"),
            Self::Await { event } => write!(f, "wait for event {event}"),
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
