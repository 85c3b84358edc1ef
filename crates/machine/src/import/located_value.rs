//! A YAML or JSON text as a tree in which every value has its line.

use super::line;
use crate::MachineError;
use saphyr_parser::{Event, Parser};
use std::collections::HashSet;

/// Deepest nesting, deeper than in any real description. It keeps a text of brackets from exhausting the stack.
const DEPTH: usize = 32;

/// A value and its line.
#[derive(Debug)]
pub(super) struct LocatedValue {
    pub(super) line: usize,
    pub(super) value: Value,
}

#[derive(Debug)]
pub(super) enum Value {
    Text(String),
    List(Vec<LocatedValue>),
    /// Names with their values, in the order of the text.
    Map(Vec<(String, LocatedValue)>),
}

impl LocatedValue {
    /// The value of a name in a map.
    pub(super) fn get(&self, name: &str) -> Option<&LocatedValue> {
        let Value::Map(entries) = &self.value else { return None };
        entries.iter().find(|(own, _)| own == name).map(|(_, value)| value)
    }

    /// The entries of a map.
    pub(super) fn entries(&self, label: &str, what: &str) -> Result<&[(String, LocatedValue)], MachineError> {
        match &self.value {
            Value::Map(entries) => Ok(entries),
            _ => line(label, self.line, format!("'{what}' has no names; expected 'name: value' pairs")),
        }
    }

    /// The items of a list.
    pub(super) fn items(&self, label: &str, what: &str) -> Result<&[LocatedValue], MachineError> {
        match &self.value {
            Value::List(items) => Ok(items),
            _ => line(label, self.line, format!("'{what}' is not a list")),
        }
    }

    /// A text or number.
    pub(super) fn text(&self, label: &str, what: &str) -> Result<&str, MachineError> {
        match &self.value {
            Value::Text(text) => Ok(text),
            _ => line(label, self.line, format!("'{what}' is a list or has names; expected a single value")),
        }
    }

    /// The value of a required name.
    pub(super) fn need(&self, label: &str, name: &str) -> Result<&LocatedValue, MachineError> {
        self.get(name).map_or_else(|| line(label, self.line, format!("'{name}' is missing")), Ok)
    }
}

/// A list or map that is not complete.
struct Open {
    whole: LocatedValue,
    /// The name of the next value.
    name: Option<String>,
    names: HashSet<String>,
}

impl Open {
    fn new(line: usize, value: Value) -> Self {
        Self { whole: LocatedValue { line, value }, name: None, names: HashSet::new() }
    }

    fn add(&mut self, done: LocatedValue) -> Result<(), String> {
        match (&mut self.whole.value, self.name.take(), done.value) {
            (Value::Map(entries), Some(name), value) => entries.push((name, LocatedValue { line: done.line, value })),
            (Value::Map(_), None, Value::Text(name)) => {
                if !self.names.insert(name.clone()) {
                    return Err(format!("'{name}' occurs twice"));
                }
                self.name = Some(name);
            }
            (Value::Map(_), None, _) => return Err("a name is a list or a map".into()),
            (Value::List(items), _, value) => items.push(LocatedValue { line: done.line, value }),
            (Value::Text(_), ..) => unreachable!("only lists and maps are opened"),
        }
        Ok(())
    }
}

/// Parses the single document of a text.
///
/// # Errors
/// Invalid YAML, no value, a duplicate name, or anchors; the message has the line.
pub(super) fn document(text: &str, label: &str) -> Result<LocatedValue, MachineError> {
    let mut open: Vec<Open> = Vec::new();
    let mut whole: Option<LocatedValue> = None;
    for event in Parser::new_from_str(text) {
        let (event, span) = match event {
            Ok(event) => event,
            Err(error) => return line(label, error.marker().line(), format!("not YAML or JSON: {}", error.info())),
        };
        let at = span.start.line();
        let done = match event {
            Event::SequenceStart(..) | Event::MappingStart(..) if open.len() == DEPTH => {
                return line(label, at, format!("more than {DEPTH} levels of lists and names"));
            }
            Event::Scalar(text, _, 0, _) => LocatedValue { line: at, value: Value::Text(text.into_owned()) },
            Event::SequenceStart(0, _) => {
                open.push(Open::new(at, Value::List(Vec::new())));
                continue;
            }
            Event::MappingStart(0, _) => {
                open.push(Open::new(at, Value::Map(Vec::new())));
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => open.pop().expect("the parser closes what it opened").whole,
            Event::Alias(_) | Event::Scalar(..) | Event::SequenceStart(..) | Event::MappingStart(..) => {
                return line(label, at, "an anchor or an alias ('&name', '*name'); write the value itself");
            }
            Event::DocumentStart(_) if whole.is_some() => return line(label, at, "a second document; expected one"),
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentStart(_) | Event::DocumentEnd => {
                continue
            }
        };
        match open.last_mut() {
            None => whole = Some(done),
            Some(parent) => parent.add(done).or_else(|reason| line(label, at, reason))?,
        }
    }
    whole.map_or_else(|| line(label, 1, "the text is empty"), Ok)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_has_its_line() {
        let tree = document("a: 1\nb:\n  - x\n  - {c: 'd e'}\n", "t").unwrap();
        assert_eq!(tree.get("a").unwrap().text("t", "a").unwrap(), "1");
        let items = tree.get("b").unwrap().items("t", "b").unwrap();
        assert_eq!((items[0].line, items[1].line), (3, 4));
        assert_eq!(items[1].get("c").unwrap().text("t", "c").unwrap(), "d e");
        let json = document("{\n\t\"a\": [1, 2],\n\t\"b\":{\"c\":\"\\u00e4\"}\n}\n", "t").unwrap();
        assert_eq!(json.get("b").unwrap().get("c").unwrap().text("t", "c").unwrap(), "ä");
        assert_eq!(json.get("b").unwrap().line, 3);
    }

    #[test]
    fn mistakes_have_a_line() {
        for (text, said) in [
            ("", "line 1: the text is empty"),
            ("a: 1\na: 2\n", "line 2: 'a' occurs twice"),
            ("a: &x 1\nb: *x\n", "line 1: an anchor"),
            ("a: [1, 2\n", "not YAML or JSON"),
            ("a: 1\n---\nb: 2\n", "a second document"),
        ] {
            let reason = document(text, "t").unwrap_err().to_string();
            assert!(reason.contains(said), "{reason}");
        }
        assert!(document(&"[".repeat(100), "t").unwrap_err().to_string().contains("levels"));
        assert!(document(&"[".repeat(100_000), "t").is_err());
    }
}
