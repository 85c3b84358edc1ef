//! A node as its file writes it, before it is checked: the same for all versions and forms.

use super::node::{CollectiveKind, Node, NodeKind};
use odonata_declare::nearest;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Attributes that are read.
pub const ATTRIBUTES: [&str; 10] = [
    "comm_dst",
    "comm_size",
    "comm_src",
    "comm_tag",
    "comm_type",
    "is_cpu_op",
    "num_ops",
    "pg_name",
    "runtime",
    "simulated_run_time",
];

/// Attributes that known tools write and that a replay does not need. They are never a misspelt name.
pub const UNUSED_ATTRIBUTES: [&str; 15] = [
    "comm_priority",
    "fw_parent",
    "fw_tid",
    "inputs",
    "involved_dim",
    "op_schema",
    "op_type",
    "outputs",
    "rf_id",
    "scope",
    "seq_id",
    "stream",
    "tensor_loc",
    "tensor_size",
    "tid",
];

/// Longest name that is compared with known ones: a longer one is no misspelling of any.
const MAX_NAME: usize = 40;

/// Value of an attribute.
#[derive(Clone, PartialEq, Debug)]
pub enum AttributeValue<'a> {
    /// A whole number or a truth value.
    Integer(i64),
    /// Any other number.
    Number(f64),
    /// A text, which may hold a number.
    Text(Cow<'a, str>),
    /// A list, a table or nothing.
    Other,
}

impl AttributeValue<'_> {
    /// A whole number: the protobuf JSON mapping writes 64-bit numbers as text.
    pub fn whole(&self) -> Option<i64> {
        let of_number = |number: f64| (number.fract() == 0.0 && number.abs() < 9e18).then_some(number as i64);
        match self {
            Self::Integer(number) => Some(*number),
            Self::Number(number) => of_number(*number),
            Self::Text(text) => text.parse().ok().or_else(|| of_number(text.parse().ok()?)),
            Self::Other => None,
        }
    }

    fn count(&self, name: &str) -> Result<u64, String> {
        let count = self.whole().and_then(|number| u64::try_from(number).ok());
        count.ok_or_else(|| format!("'{name}' is {}; expected a whole number, 0 or more", self.words()))
    }

    /// A number of at least 0, times a factor. It may have a fraction.
    fn scaled(&self, name: &str, factor: u64) -> Result<u64, String> {
        let number = match self {
            Self::Number(number) => Some(*number),
            Self::Text(text) => text.parse().ok(),
            Self::Integer(_) | Self::Other => None,
        };
        match number.filter(|number| number.fract() != 0.0 && *number > 0.0) {
            Some(number) => Ok((number * factor as f64).round() as u64),
            None => Ok(self.count(name)?.saturating_mul(factor)),
        }
    }

    fn words(&self) -> String {
        match self {
            Self::Integer(number) => number.to_string(),
            Self::Number(number) => number.to_string(),
            Self::Text(text) => format!("'{}'", start(text)),
            Self::Other => "no number".into(),
        }
    }
}

/// The start of a text, for messages.
fn start(text: &str) -> String {
    text.chars().take(MAX_NAME).collect()
}

/// Collectives by number since version 0.0.4.
pub const COLLECTIVES: [CollectiveKind; 10] = [
    CollectiveKind::AllReduce,
    CollectiveKind::Reduce,
    CollectiveKind::AllGather,
    CollectiveKind::Gather,
    CollectiveKind::Scatter,
    CollectiveKind::Broadcast,
    CollectiveKind::AllToAll,
    CollectiveKind::ReduceScatter,
    CollectiveKind::ReduceScatter,
    CollectiveKind::Barrier,
];

/// A node as its file writes it.
#[derive(Clone, Debug)]
pub struct RawNode<'a> {
    /// Its number.
    pub id: u64,
    /// Its name.
    pub name: Cow<'a, str>,
    /// Kind, from 1 for metadata to 7 for a collective.
    pub kind: u64,
    /// Nodes whose end it waits for.
    pub waits: Vec<u64>,
    /// Duration in ns.
    pub duration_ns: u64,
    /// Names that are not known, each with whether it is of an attribute.
    pub unknown: Vec<(Cow<'a, str>, bool)>,
    collectives: &'static [CollectiveKind],
    collective: Option<Result<CollectiveKind, String>>,
    bytes: Option<u64>,
    source: Option<u64>,
    target: Option<u64>,
    tag: u32,
    operations: u64,
    group: String,
    is_cpu: bool,
}

impl<'a> RawNode<'a> {
    /// A node without attributes. `collectives` has the version's collectives by number.
    pub fn new(collectives: &'static [CollectiveKind]) -> Self {
        Self {
            id: 0,
            name: Cow::Borrowed(""),
            kind: 0,
            waits: Vec::new(),
            duration_ns: 0,
            unknown: Vec::new(),
            collectives,
            collective: None,
            bytes: None,
            source: None,
            target: None,
            tag: 0,
            operations: 0,
            group: String::new(),
            is_cpu: false,
        }
    }

    /// What messages call it.
    pub fn place(&self) -> String {
        match &*self.name {
            "" => format!("node {}", self.id),
            name => format!("node {} '{}'", self.id, start(name)),
        }
    }

    /// Takes an attribute. Unknown names are noted.
    ///
    /// # Errors
    /// A value that the attribute cannot have; says what was expected.
    pub fn set(&mut self, name: Cow<'a, str>, value: &AttributeValue<'_>) -> Result<(), String> {
        match &*name {
            "is_cpu_op" => self.is_cpu = value.count(&name)? != 0,
            "comm_type" => self.collective = Some(self.collective_of(value)),
            "comm_size" => self.bytes = Some(value.count(&name)?),
            "comm_src" => self.source = Some(value.count(&name)?),
            "comm_dst" => self.target = Some(value.count(&name)?),
            // Tags are compared only, so those below 0 are numbers like others.
            "comm_tag" => {
                let tag =
                    value.whole().ok_or_else(|| format!("'{name}' is {}; expected a whole number", value.words()));
                self.tag = tag? as u32;
            }
            "num_ops" => self.operations = value.scaled(&name, 1)?,
            "runtime" | "simulated_run_time" => self.duration_ns = value.scaled(&name, 1_000)?,
            "pg_name" => {
                self.group = match value {
                    AttributeValue::Text(text) => text.clone().into_owned(),
                    AttributeValue::Integer(number) => number.to_string(),
                    AttributeValue::Number(_) | AttributeValue::Other => {
                        return Err(format!("'{name}' is {}; expected the name of a group", value.words()))
                    }
                }
            }
            _ => self.note_unknown(name, true),
        }
        Ok(())
    }

    /// Notes a name that is not known.
    pub fn note_unknown(&mut self, name: Cow<'a, str>, is_attribute: bool) {
        if name.len() <= MAX_NAME && !UNUSED_ATTRIBUTES.contains(&&*name) {
            self.unknown.push((name, is_attribute));
        }
    }

    fn collective_of(&self, value: &AttributeValue<'_>) -> Result<CollectiveKind, String> {
        if let Some(number) = value.whole() {
            let kind = usize::try_from(number).ok().and_then(|number| self.collectives.get(number));
            let most = self.collectives.len() - 1;
            return kind.copied().ok_or_else(|| format!("a collective of kind {number}; expected 0 to {most}"));
        }
        let letters =
            |word: &str| word.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_ascii_lowercase();
        let word = match value {
            AttributeValue::Text(word) if word.len() <= MAX_NAME => letters(word),
            _ => String::new(),
        };
        let word = word.strip_suffix("block").unwrap_or(&word);
        let kind = COLLECTIVES.into_iter().find(|kind| letters(kind.name()) == word);
        kind.ok_or_else(|| format!("'comm_type' is {}; expected a number or a name such as ALL_REDUCE", value.words()))
    }

    /// The checked node, which takes the lists of this one.
    ///
    /// # Errors
    /// What the node lacks, and what was expected, without its place.
    pub fn check(&mut self) -> Result<Node, String> {
        let kind = match self.kind {
            1 => NodeKind::Metadata,
            2 => NodeKind::Load,
            3 => NodeKind::Store,
            4 => NodeKind::Compute,
            // PyTorch's call on the CPU that starts a collective on the accelerator. That one has the size.
            5..=7 if self.is_cpu && self.bytes.is_none() && self.collective.is_none() => NodeKind::Compute,
            5 => NodeKind::Send,
            6 => NodeKind::Receive,
            7 => match &self.collective {
                Some(kind) => NodeKind::Collective(kind.clone()?),
                None => {
                    return Err(self.missing("comm_type", "the kind of the collective, such as 0 for an all-reduce"))
                }
            },
            other => {
                return Err(format!(
                    "a node of kind {other}; expected a metadata, memory, compute, send, receive or collective node"
                ))
            }
        };
        let bytes = match kind {
            NodeKind::Collective(CollectiveKind::Barrier) => Some(self.bytes.unwrap_or(0)),
            NodeKind::Send | NodeKind::Receive | NodeKind::Collective(_) if self.bytes.is_none() => {
                return Err(self.missing("comm_size", "a number of bytes, 0 or more"));
            }
            _ => self.bytes,
        };
        let peer = match kind {
            NodeKind::Send => Some(self.target.ok_or_else(|| self.missing("comm_dst", "the rank that receives"))?),
            NodeKind::Receive => Some(self.source.ok_or_else(|| self.missing("comm_src", "the rank that sends"))?),
            _ => None,
        };
        Ok(Node {
            id: self.id,
            kind,
            waits: std::mem::take(&mut self.waits),
            duration_ns: self.duration_ns,
            operations: self.operations,
            bytes,
            peer: peer.map(|peer| u32::try_from(peer).map_err(|_| format!("rank {peer}"))).transpose()?,
            tag: self.tag,
            group: std::mem::take(&mut self.group),
            is_cpu: self.is_cpu,
        })
    }

    fn missing(&self, key: &str, expected: &str) -> String {
        let what = match self.kind {
            5 => "send",
            6 => "receive",
            _ => "collective",
        };
        format!("a {what} without '{key}'; expected {expected}{}", self.hint(&[key]))
    }

    /// The unknown name that looks like one of these keys, as the end of a message. Nothing if there is none.
    pub fn hint(&self, keys: &[&str]) -> String {
        let near = |(name, _): &'_ (Cow<'a, str>, bool)| {
            let near = nearest(name, keys.iter().copied())?;
            Some(format!("; unknown key '{name}': did you mean '{near}'?"))
        };
        self.unknown.iter().find_map(near).unwrap_or_default()
    }
}

/// Names in a trace that are not known, with the number of nodes that have them.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct UnknownNames {
    keys: BTreeMap<String, u64>,
    attributes: BTreeMap<String, u64>,
}

/// What notes about unknown names say.
const UNREAD: &str = ", which is not read";

impl UnknownNames {
    /// Adds the names of a node.
    pub fn add_node(&mut self, node: &RawNode<'_>) {
        for (name, is_attribute) in &node.unknown {
            let names = if *is_attribute { &mut self.attributes } else { &mut self.keys };
            match names.get_mut(&**name) {
                Some(count) => *count += 1,
                None => drop(names.insert(name.clone().into_owned(), 1)),
            }
        }
    }

    /// Adds the names of another file.
    pub fn add(&mut self, other: &Self) {
        for (all, names) in [(&mut self.keys, &other.keys), (&mut self.attributes, &other.attributes)] {
            names.iter().for_each(|(name, count)| *all.entry(name.clone()).or_default() += count);
        }
    }

    /// A note on each of them. Tools may add attributes of their own: one is named only if it looks like a known one.
    pub fn notes(&self, known_keys: &[&str]) -> Vec<String> {
        let note = |(name, count): (&String, &u64), what: &str, near: Option<&str>| {
            let nodes = if *count == 1 { "1 node has".into() } else { format!("{count} nodes have") };
            let hint = near.map_or(String::new(), |near| format!("; did you mean '{near}'?"));
            format!("{nodes} the unknown {what} '{name}'{UNREAD}{hint}")
        };
        let keys = self.keys.iter().map(|key| note(key, "key", nearest(key.0, known_keys.iter().copied())));
        let attributes = self.attributes.iter().filter_map(|attribute| {
            nearest(attribute.0, ATTRIBUTES).map(|near| note(attribute, "attribute", Some(near)))
        });
        keys.chain(attributes).collect()
    }

    /// Whether a note is one of these.
    pub fn is_note(note: &str) -> bool {
        note.contains(UNREAD)
    }
}
