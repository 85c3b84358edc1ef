//! Chakra traces in JSON. A node has one of three forms:
//!
//! - as the feeder reads it, with attributes as keys: `"comm_size": 8`
//! - as protocol buffers are printed: `"attr": [{"name": "comm_size", "int64Val": "8"}]`, also with the names of the
//!   schema (`int64_val`) and plain numbers
//! - both mixed
//!
//! The nodes are a list `workload_graph`. `chakra_jsonizer` prints one object after the other instead.

use odonata_declare::{hint, nearest};
use odonata_trace::chakra::{
    AttributeValue, Node, NodeKind, Nodes, RawNode, ATTRIBUTES, COLLECTIVES, PROCESS_GROUPS, UNUSED_ATTRIBUTES,
};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Keys of a node apart from its attributes.
const NODE_KEYS: [&str; 11] = [
    "attr",
    "ctrl_deps",
    "data_deps",
    "duration_micros",
    "id",
    "inputs",
    "name",
    "node_type",
    "outputs",
    "start_time_micros",
    "type",
];

/// Types of values. An attribute has a key such as `int64_val` or `int64_list`.
const VALUE_TYPES: [&str; 15] = [
    "double", "float", "int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32", "fixed64", "sfixed32",
    "sfixed64", "bool", "string", "bytes",
];

/// Kinds of nodes from number 1.
const KINDS: [&str; 7] = [
    "METADATA_NODE",
    "MEM_LOAD_NODE",
    "MEM_STORE_NODE",
    "COMP_NODE",
    "COMM_SEND_NODE",
    "COMM_RECV_NODE",
    "COMM_COLL_NODE",
];

/// Whether a file begins like a trace.
pub(super) fn is_json(start: &[u8]) -> bool {
    let has = |part: &[u8]| start.windows(part.len()).any(|window| window == part);
    let is_printed = has(b"_NODE\"") && has(b"\"type\"");
    start.trim_ascii_start().starts_with(b"{") && (is_printed || has(b"\"workload_graph\""))
}

/// All keys that a node may have.
pub(super) fn known_keys() -> Vec<&'static str> {
    NODE_KEYS.into_iter().chain(ATTRIBUTES).collect()
}

/// Reads a file. `name` is its name for messages.
pub(super) fn read(name: &str, bytes: &[u8]) -> Result<Nodes, String> {
    let wrong = |reason: String| format!("{name}: {reason}");
    let values = serde_json::Deserializer::from_slice(bytes).into_iter::<Value>().collect::<Result<Vec<_>, _>>();
    let values = values.map_err(|error| wrong(format!("not JSON: {error}")))?;
    let list = match &values[..] {
        [Value::Object(only)] if only.contains_key("workload_graph") => only["workload_graph"]
            .as_array()
            .ok_or_else(|| wrong("'workload_graph'; expected a list of nodes".into()))?,
        [first, rest @ ..] if is_metadata(first) => rest,
        all => all,
    };
    let mut nodes = Nodes::default();
    for (place, value) in list.iter().enumerate() {
        let fields = value.as_object().ok_or_else(|| wrong(format!("node {place} of the list; expected a table")))?;
        let node = node(fields, &mut nodes).map_err(|(of, reason)| {
            wrong(format!("{}: {reason}", of.unwrap_or_else(|| format!("node {place} of the list"))))
        })?;
        nodes.nodes.push(node);
    }
    Ok(nodes)
}

/// Whether a printed object is the metadata of the trace.
fn is_metadata(value: &Value) -> bool {
    value.as_object().is_some_and(|fields| fields.keys().all(|key| ["version", "attr"].contains(&key.as_str())))
}

/// Letters of a key: `Id`, `ctrlDeps` and `data_deps` are written in several forms.
fn letters(key: &str) -> impl Iterator<Item = u8> + '_ {
    key.bytes().filter(|byte| *byte != b'_').map(|byte| byte.to_ascii_lowercase())
}

/// The known name of a key in any form.
fn known<'a>(key: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    names.into_iter().find(|name| letters(name).eq(letters(key)))
}

/// A node, or its place as far as it is known and a reason.
fn node(fields: &Map<String, Value>, nodes: &mut Nodes) -> Result<Node, (Option<String>, String)> {
    let mut found = RawNode::new(&COLLECTIVES);
    let has_id = fields.keys().any(|key| known(key, ["id"]).is_some());
    let result = fill(&mut found, fields).and_then(|()| {
        // Printed protocol buffers leave out a number of 0.
        if !has_id && !fields.contains_key("attr") {
            return Err(format!("no 'id'; expected the number of the node{}", found.hint(&["id"])));
        }
        found.check()
    });
    let node = result.map_err(|reason| (has_id.then(|| found.place()), reason))?;
    nodes.unknown.add_node(&found);
    if node.kind == NodeKind::Metadata && found.name.starts_with(PROCESS_GROUPS) {
        let values = fields.get("inputs").and_then(|inputs| inputs.get("values"));
        nodes.groups.extend(values.and_then(Value::as_str).map(str::to_owned));
    }
    Ok(node)
}

/// Takes what a node has.
fn fill<'a>(found: &mut RawNode<'a>, fields: &'a Map<String, Value>) -> Result<(), String> {
    // The place of a mistake needs these two.
    for (key, value) in fields {
        match known(key, ["id", "name"]) {
            Some("id") => found.id = number_of(value).ok_or_else(|| format!("'{key}'; expected a whole number"))?,
            Some(_) => found.name = Cow::Borrowed(value.as_str().unwrap_or_default()),
            None => {}
        }
    }
    // Null is no value.
    for (key, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
        match known(key, NODE_KEYS) {
            Some("id" | "name" | "inputs" | "outputs" | "start_time_micros") => {}
            Some("type" | "node_type") => found.kind = kind(value)?,
            Some("data_deps" | "ctrl_deps") => add_waits(found, key, value)?,
            Some("attr") => {
                let list = value.as_array().ok_or("'attr'; expected a list of attributes")?;
                list.iter().try_for_each(|attribute| add_attribute(found, attribute))?;
            }
            Some("duration_micros") => found.set("runtime".into(), &attribute_value(value))?,
            _ => match known(key, ATTRIBUTES) {
                Some(name) => found.set(name.into(), &attribute_value(value))?,
                None if known(key, UNUSED_ATTRIBUTES).is_some() => {}
                None => found.note_unknown(key.into(), false),
            },
        }
    }
    match found.kind {
        0 => {
            let hint = found.hint(&["type"]);
            Err(format!("no 'type'; expected a number from 1 to 7 or a name such as COMM_COLL_NODE{hint}"))
        }
        _ => Ok(()),
    }
}

/// A number of a node: 64-bit numbers may be text.
fn number_of(value: &Value) -> Option<u64> {
    let of_text = || value.as_str()?.parse().ok();
    value.as_u64().or_else(of_text).or_else(|| u64::try_from(attribute_value(value).whole()?).ok())
}

fn add_waits(found: &mut RawNode<'_>, key: &str, value: &Value) -> Result<(), String> {
    let list = value.as_array().ok_or_else(|| format!("'{key}'; expected a list of numbers of nodes"))?;
    for id in list {
        found.waits.push(number_of(id).ok_or_else(|| format!("'{key}': {id}; expected the number of a node"))?);
    }
    Ok(())
}

/// Number of a kind, which may be a name.
fn kind(value: &Value) -> Result<u64, String> {
    if let Some(number) = number_of(value) {
        let is_known = (1..=7).contains(&number);
        return if is_known { Ok(number) } else { Err(format!("a node of type {number}; expected 1 to 7")) };
    }
    let word = value.as_str().unwrap_or_default();
    // `COMM_COLL` is `COMM_COLL_NODE`.
    let is_same = |kind: &&str| letters(kind).eq(letters(word)) || letters(kind).eq(letters(word).chain(*b"node"));
    match KINDS.iter().position(is_same) {
        Some(place) => Ok(place as u64 + 1),
        None => Err(format!("unknown type '{word}'{}", hint(word, KINDS))),
    }
}

/// Takes an attribute as its message of protocol buffers: a name and one value.
fn add_attribute<'a>(found: &mut RawNode<'a>, attribute: &'a Value) -> Result<(), String> {
    let form = "expected a table such as {\"name\": \"comm_size\", \"int64_val\": 8}";
    let fields = attribute.as_object().ok_or_else(|| format!("'attr': {form}"))?;
    let name =
        fields.get("name").and_then(Value::as_str).ok_or_else(|| format!("an attribute without 'name'; {form}"))?;
    let name = known(name, ATTRIBUTES).unwrap_or(name);
    for (key, value) in fields {
        if known(key, ["name", "doc_string"]).is_some() {
            continue;
        }
        let is_type = |end: &str| VALUE_TYPES.iter().any(|of| letters(key).eq(of.bytes().chain(end.bytes())));
        if is_type("val") {
            found.set(name.into(), &attribute_value(value))?;
        } else if is_type("list") {
            found.set(name.into(), &AttributeValue::Other)?;
        } else {
            let types: Vec<String> = VALUE_TYPES.iter().map(|of| format!("{of}_val")).collect();
            let near = nearest(key, types.iter().map(String::as_str));
            let hint = near.map_or(String::new(), |near| format!("; did you mean '{near}'?"));
            return Err(format!("attribute '{name}': unknown key '{key}'; expected one such as 'int64_val'{hint}"));
        }
    }
    Ok(())
}

fn attribute_value(value: &Value) -> AttributeValue<'_> {
    match value {
        Value::Bool(is_true) => AttributeValue::Integer((*is_true).into()),
        Value::Number(number) => number
            .as_i64()
            .map_or_else(|| AttributeValue::Number(number.as_f64().unwrap_or(f64::NAN)), AttributeValue::Integer),
        Value::String(text) => AttributeValue::Text(Cow::Borrowed(text)),
        Value::Null | Value::Array(_) | Value::Object(_) => AttributeValue::Other,
    }
}
