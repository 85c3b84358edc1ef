//! Chakra execution traces: the nodes of one rank. A length as a varint, then a message of protocol buffers, to the end
//! of the file: at first metadata, then the nodes. Versions 0.0.1 to 0.0.4 differ in fields and numbers, and few files
//! name theirs, so the fields decide.
//!
//! | version | number of a field |
//! |---|---|
//! | 0.0.1 | id 1, kind 3, parents 4, run time 7, operations 12, collective 13, source 16, target 17, size 18, tag 19 |
//! | 0.0.2, 0.0.3 | id 1, kind 3, parents 4, attributes 11 |
//! | 0.0.4 | id 1, name 2, kind 3, dependencies 4 and 5, duration 7, inputs 8, attributes 10 |

use crate::protobuf::{field, fields, varint, Value};

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

use CollectiveKind::{AllGather, AllReduce, AllToAll, Barrier, Broadcast, Gather, Reduce, ReduceScatter, Scatter};

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

/// The nodes of a rank.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Nodes {
    /// In the order of the file.
    pub nodes: Vec<Node>,
    /// Groups of ranks from the trace itself, as text in JSON.
    pub groups: Vec<String>,
}

/// Versions by their fields.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Version {
    Flat,
    Second,
    Third,
    Fourth,
}

/// Whether a file begins like a trace.
pub fn is_chakra(start: &[u8]) -> bool {
    let mut rest = start;
    let Some(length) = varint(&mut rest) else { return false };
    let is_whole = length <= rest.len() as u64;
    let message = if is_whole { &rest[..length as usize] } else { rest };
    let mut fields = message;
    match field(&mut fields) {
        // A version, which is a short word, or an attribute, which begins with its name.
        Some((1, Value::Bytes(word))) => {
            let is_word = word.iter().all(|&byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte));
            (is_word || starts_with_name(word)) && (!is_whole || self::fields(message).is_some())
        }
        Some((2, Value::Bytes(attribute))) => starts_with_name(attribute),
        // A file without metadata: a node with its number and name.
        Some((1, Value::Varint(_))) => matches!(field(&mut fields), Some((2 | 3, _))),
        _ => length == 0 && start.len() > 2 && is_chakra(rest),
    }
}

fn starts_with_name(mut attribute: &[u8]) -> bool {
    matches!(field(&mut attribute), Some((1, Value::Bytes(name))) if name.iter().all(|byte| byte.is_ascii_graphic()))
}

/// Reads a file. `label` is its name for messages.
///
/// # Errors
/// A message that is none; says where and what was expected.
pub fn read(label: &str, bytes: &[u8]) -> Result<Nodes, String> {
    let wrong = |at: usize, reason: &str| format!("{label}: byte {at}: {reason}");
    let mut rest = bytes;
    let mut messages = Vec::new();
    while !rest.is_empty() {
        let at = bytes.len() - rest.len();
        let length =
            varint(&mut rest).ok_or_else(|| wrong(at, "no length; expected the length of the next message"))?;
        let start = bytes.len() - rest.len();
        let message = usize::try_from(length).ok().and_then(|length| rest.split_at_checked(length));
        let Some((message, after)) = message else {
            return Err(wrong(
                at,
                &format!("a message of {length} bytes; expected no more than the {} left", rest.len()),
            ));
        };
        rest = after;
        let fields = fields(message).ok_or_else(|| {
            wrong(start, &format!("message {}; expected one of protocol buffers", messages.len() + 1))
        })?;
        messages.push((start, fields));
    }
    // Metadata has a version or attributes first, a node its number.
    let is_metadata =
        messages.first().is_some_and(|(_, fields)| !matches!(fields.first(), Some((1, Value::Varint(_)))));
    let nodes = &messages[usize::from(is_metadata)..];
    let version = version(nodes.iter().map(|(_, fields)| &fields[..]), is_metadata);
    let mut all = Nodes::default();
    for (at, fields) in nodes {
        let node = node(fields, version, &mut all.groups).map_err(|reason| {
            wrong(*at, &format!("node {}: {reason}", first(fields, 1).and_then(Value::integer).unwrap_or(0)))
        })?;
        all.nodes.push(node);
    }
    Ok(all)
}

type Fields<'a> = [(u64, Value<'a>)];

fn first<'a>(fields: &Fields<'a>, number: u64) -> Option<Value<'a>> {
    fields.iter().find(|(of, _)| *of == number).map(|(_, value)| *value)
}

fn attributes<'a>(fields: &Fields<'a>, number: u64) -> impl Iterator<Item = (&'a [u8], Vec<(u64, Value<'a>)>)> {
    let messages: Vec<_> =
        fields.iter().filter(|(of, _)| *of == number).filter_map(|(_, value)| value.bytes()).collect();
    messages.into_iter().filter_map(|message| {
        let fields = self::fields(message)?;
        Some((first(&fields, 1)?.bytes()?, fields))
    })
}

/// The version by the first field that only one of them has.
fn version<'a>(nodes: impl Iterator<Item = &'a Fields<'a>>, has_metadata: bool) -> Version {
    let mut old = false;
    for fields in nodes {
        if matches!(first(fields, 10), Some(Value::Bytes(message)) if self::fields(message).is_some()) {
            let is_attribute = |(name, _): (&[u8], _)| name.iter().all(|byte| byte.is_ascii_graphic());
            if attributes(fields, 10).next().is_some_and(is_attribute) {
                return Version::Fourth;
            }
        }
        if fields.iter().any(|(of, value)| *of > 11 && matches!(value, Value::Varint(_))) {
            return Version::Flat;
        }
        for (_, attribute) in attributes(fields, 11) {
            old = true;
            match attribute.iter().find(|(of, value)| *of > 3 && matches!(value, Value::Varint(_))) {
                // A whole number is field 5 in 0.0.2; 0.0.3 has a truth value first.
                Some((5, _)) => return Version::Second,
                Some(_) => return Version::Third,
                None => {}
            }
        }
    }
    match (old, has_metadata) {
        (true, true) => Version::Third,
        (true, false) => Version::Second,
        (false, _) => Version::Fourth,
    }
}

fn node(fields: &Fields<'_>, version: Version, groups: &mut Vec<String>) -> Result<Node, String> {
    let integer = |number: u64| first(fields, number).and_then(Value::integer);
    let mut found = Node {
        id: integer(1).unwrap_or(0),
        kind: NodeKind::Metadata,
        waits: Vec::new(),
        duration_ns: 0,
        operations: 0,
        bytes: None,
        peer: None,
        tag: 0,
        group: String::new(),
        is_cpu: false,
    };
    let dependencies: &[u64] = if version == Version::Fourth { &[4, 5] } else { &[4] };
    for (_, value) in fields.iter().filter(|(of, _)| dependencies.contains(of)) {
        found.waits.extend(value.repeated().ok_or("dependencies; expected whole numbers")?);
    }
    let us = |time: Option<u64>| time.unwrap_or(0).saturating_mul(1_000);
    let (collective, peers) = match version {
        Version::Flat => {
            // Microseconds are a guess: the version has no unit.
            found.duration_ns = us(integer(7));
            found.operations = integer(12).unwrap_or(0);
            found.bytes = integer(18);
            found.tag = integer(19).unwrap_or(0) as u32;
            (integer(13), (integer(16), integer(17)))
        }
        Version::Second | Version::Third | Version::Fourth => {
            if version == Version::Fourth {
                found.duration_ns = us(integer(7));
            }
            add_attributes(&mut found, fields, version)
        }
    };
    let number = integer(3).unwrap_or(0);
    // Metadata nodes came first in 0.0.3, and moved the others.
    let moved = if matches!(version, Version::Flat | Version::Second) { number.saturating_add(1) } else { number };
    found.kind = match moved {
        1 => NodeKind::Metadata,
        2 => NodeKind::Load,
        3 => NodeKind::Store,
        4 => NodeKind::Compute,
        5 => NodeKind::Send,
        6 => NodeKind::Receive,
        7 => NodeKind::Collective(collective_kind(version, collective)?),
        _ => {
            return Err(format!(
                "a node of kind {number}; expected a metadata, memory, compute, send, receive or collective node"
            ))
        }
    };
    let rank = |rank: Option<u64>| rank.map(|rank| u32::try_from(rank).map_err(|_| format!("rank {rank}"))).transpose();
    found.peer = match found.kind {
        NodeKind::Send => Some(rank(peers.1)?.ok_or("a send without comm_dst")?),
        NodeKind::Receive => Some(rank(peers.0)?.ok_or("a receive without comm_src")?),
        _ => None,
    };
    if found.kind == NodeKind::Metadata && version == Version::Fourth {
        let is_groups =
            first(fields, 2).and_then(Value::bytes).is_some_and(|name| name.starts_with(b"## process_group:init"));
        let inputs = first(fields, 8).and_then(Value::bytes).and_then(self::fields);
        let values = inputs.and_then(|inputs| first(&inputs, 1)?.bytes());
        groups.extend(values.filter(|_| is_groups).map(|text| String::from_utf8_lossy(text).into_owned()));
    }
    Ok(found)
}

/// Kind of a collective, source and target of a message.
type Parts = (Option<u64>, (Option<u64>, Option<u64>));

/// Takes the attributes of a node.
fn add_attributes(found: &mut Node, fields: &Fields<'_>, version: Version) -> Parts {
    let (mut collective, mut peers) = (None, (None, None));
    let list = if version == Version::Fourth { 10 } else { 11 };
    for (name, attribute) in attributes(fields, list) {
        // The value comes after the name, the comment and, before 0.0.4, the kind.
        let value = attribute.iter().find(|(of, _)| *of > 2 && (version == Version::Fourth || *of > 3));
        let Some((of, value)) = value else { continue };
        let integer = value.integer().map(|number| zigzag(version, *of, number));
        match name {
            b"is_cpu_op" => found.is_cpu = integer.unwrap_or(0) != 0,
            b"comm_type" => collective = integer,
            b"comm_size" => found.bytes = integer,
            b"comm_src" => peers.0 = integer,
            b"comm_dst" => peers.1 = integer,
            b"comm_tag" => found.tag = integer.unwrap_or(0) as u32,
            b"num_ops" => found.operations = integer.unwrap_or(0),
            b"runtime" | b"simulated_run_time" => found.duration_ns = integer.unwrap_or(0).saturating_mul(1_000),
            b"pg_name" => {
                found.group = match (value.bytes(), integer) {
                    (Some(text), _) => String::from_utf8_lossy(text).into_owned(),
                    (None, Some(number)) => number.to_string(),
                    (None, None) => String::new(),
                };
            }
            _ => {}
        }
    }
    (collective, peers)
}

/// A number as it was written: kinds sint32 and sint64 of 0.0.4 (fields 15 and 17) alternate signs.
fn zigzag(version: Version, field: u64, number: u64) -> u64 {
    if version == Version::Fourth && matches!(field, 15 | 17) {
        return (number >> 1) ^ (number & 1).wrapping_neg();
    }
    number
}

fn collective_kind(version: Version, number: Option<u64>) -> Result<CollectiveKind, String> {
    let kinds: &[CollectiveKind] = match version {
        Version::Flat => &[Barrier, AllReduce, AllToAll, AllGather, ReduceScatter],
        Version::Second | Version::Third => &[AllReduce, AllToAll, AllGather, ReduceScatter, Broadcast],
        Version::Fourth => {
            &[AllReduce, Reduce, AllGather, Gather, Scatter, Broadcast, AllToAll, ReduceScatter, ReduceScatter, Barrier]
        }
    };
    let number = number.unwrap_or(0);
    let kind = usize::try_from(number).ok().and_then(|number| kinds.get(number));
    kind.copied().ok_or_else(|| format!("a collective of kind {number}; expected 0 to {}", kinds.len() - 1))
}
