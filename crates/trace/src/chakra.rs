//! Chakra execution traces: the nodes of one rank. A length as a varint, then a message of protocol buffers, to the end
//! of the file: at first metadata, then the nodes. Versions 0.0.1 to 0.0.4 differ in fields and numbers, and few files
//! name theirs, so the fields decide.
//!
//! | version | number of a field |
//! |---|---|
//! | 0.0.1 | id 1, kind 3, parents 4, run time 7, operations 12, collective 13, source 16, target 17, size 18, tag 19 |
//! | 0.0.2, 0.0.3 | id 1, kind 3, parents 4, attributes 11 |
//! | 0.0.4 | id 1, name 2, kind 3, dependencies 4 and 5, duration 7, inputs 8, attributes 10 |

mod node;
mod raw_node;

use crate::protobuf::{field, fields, varint, Value};
pub use node::{CollectiveKind, Node, NodeKind};
pub use raw_node::{AttributeValue, RawNode, UnknownNames, ATTRIBUTES, COLLECTIVES, UNUSED_ATTRIBUTES};
use CollectiveKind::{AllGather, AllReduce, AllToAll, Barrier, Broadcast, ReduceScatter};

/// The nodes of a rank.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Nodes {
    /// In the order of the file.
    pub nodes: Vec<Node>,
    /// Groups of ranks from the trace itself, as text in JSON.
    pub groups: Vec<String>,
    /// Names that are not known.
    pub unknown: UnknownNames,
}

/// Start of the name of PyTorch's metadata node with the groups.
pub const PROCESS_GROUPS: &str = "## process_group:init";

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
        let node = node(fields, version, &mut all).map_err(|reason| wrong(*at, &reason))?;
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

fn node(fields: &Fields<'_>, version: Version, all: &mut Nodes) -> Result<Node, String> {
    let mut found = RawNode::new(collectives(version));
    let result = fill(&mut found, fields, version).and_then(|()| found.check());
    let node = result.map_err(|reason| format!("{}: {reason}", found.place()))?;
    all.unknown.add_node(&found);
    if node.kind == NodeKind::Metadata && version == Version::Fourth && found.name.starts_with(PROCESS_GROUPS) {
        let inputs = first(fields, 8).and_then(Value::bytes).and_then(self::fields);
        let values = inputs.and_then(|inputs| first(&inputs, 1)?.bytes());
        all.groups.extend(values.map(|text| String::from_utf8_lossy(text).into_owned()));
    }
    Ok(node)
}

/// Takes what a node has.
fn fill<'a>(found: &mut RawNode<'a>, fields: &Fields<'a>, version: Version) -> Result<(), String> {
    let integer = |number: u64| first(fields, number).and_then(Value::integer);
    found.id = integer(1).unwrap_or(0);
    found.name = first(fields, 2).and_then(Value::bytes).map_or_else(Default::default, String::from_utf8_lossy);
    let number = integer(3).unwrap_or(0);
    // Metadata nodes came first in 0.0.3, and moved the others.
    found.kind = if matches!(version, Version::Flat | Version::Second) { number.saturating_add(1) } else { number };
    let dependencies: &[u64] = if version == Version::Fourth { &[4, 5] } else { &[4] };
    for (_, value) in fields.iter().filter(|(of, _)| dependencies.contains(of)) {
        found.waits.extend(value.repeated().ok_or("dependencies; expected whole numbers")?);
    }
    if version == Version::Fourth || version == Version::Flat {
        // Microseconds are a guess in 0.0.1: the version has no unit.
        found.duration_ns = integer(7).unwrap_or(0).saturating_mul(1_000);
    }
    add_attributes(found, fields, version)
}

/// Takes the attributes of a node.
fn add_attributes<'a>(found: &mut RawNode<'a>, fields: &Fields<'a>, version: Version) -> Result<(), String> {
    if version == Version::Flat {
        // What this version leaves out is 0.
        let all = [(12, "num_ops"), (13, "comm_type"), (16, "comm_src"), (17, "comm_dst"), (18, "comm_size")];
        for (number, name) in all.into_iter().chain([(19, "comm_tag")]) {
            let value = first(fields, number).and_then(Value::integer).unwrap_or(0);
            found.set(name.into(), &AttributeValue::Integer(value as i64))?;
        }
        return Ok(());
    }
    let list = if version == Version::Fourth { 10 } else { 11 };
    for (name, attribute) in attributes(fields, list) {
        // The value comes after the name, the comment and, before 0.0.4, the kind.
        let value = attribute.iter().find(|(of, _)| *of > 2 && (version == Version::Fourth || *of > 3));
        let value = match value {
            Some((of, value)) => attribute_value(version, *of, *value),
            // Before 0.0.4, a number of 0 is left out.
            None if version != Version::Fourth => AttributeValue::Integer(0),
            None => continue,
        };
        found.set(String::from_utf8_lossy(name), &value)?;
    }
    Ok(())
}

/// A value as it was written. In 0.0.4 the number of its field shows its type: lists have even numbers.
fn attribute_value(version: Version, field: u64, value: Value<'_>) -> AttributeValue<'_> {
    let is_new = version == Version::Fourth;
    match value {
        Value::Bytes(_) if is_new && field % 2 == 0 => AttributeValue::Other,
        Value::Bytes(text) => AttributeValue::Text(String::from_utf8_lossy(text)),
        Value::Eight(bytes) if is_new && field == 3 => AttributeValue::Number(f64::from_le_bytes(bytes)),
        Value::Four(bytes) if is_new && field == 5 => AttributeValue::Number(f32::from_le_bytes(bytes).into()),
        // Types sint32 and sint64 alternate signs.
        Value::Varint(number) if is_new && matches!(field, 15 | 17) => {
            AttributeValue::Integer(((number >> 1) ^ (number & 1).wrapping_neg()) as i64)
        }
        Value::Varint(_) | Value::Eight(_) | Value::Four(_) => {
            AttributeValue::Integer(value.integer().unwrap_or(0) as i64)
        }
    }
}

/// Collectives by number.
const fn collectives(version: Version) -> &'static [CollectiveKind] {
    match version {
        Version::Flat => &[Barrier, AllReduce, AllToAll, AllGather, ReduceScatter],
        Version::Second | Version::Third => &[AllReduce, AllToAll, AllGather, ReduceScatter, Broadcast],
        Version::Fourth => &COLLECTIVES,
    }
}
