//! The experiment as a tree of values that know where they were written.
//!
//! The file and every override are *sources*; a [`Place`] is a stretch of one of them. So a value that an override put
//! in is reported where the user wrote it.

use crate::input::{too_long, unaffordable};
use crate::problem::{Location, Problem, ProblemKind, Problems, OVERRIDE};
use odonata_memory::available;
use toml::de::{DeTable, DeValue};
use toml::Spanned;

/// Maximum reported mistakes of syntax. A file of another kind has one at each byte.
const SYNTAX_ERRORS_MAX: usize = 20;

/// A stretch of bytes of a source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// Which source: 0 is the file, i the i-th override.
    pub source: usize,
    /// First byte.
    pub start: usize,
    /// Byte after the last one.
    pub end: usize,
}

/// A value and its place.
#[derive(Clone, Debug)]
pub struct Node {
    /// Where it was written.
    pub place: Place,
    /// The value.
    pub raw: Raw,
}

impl Node {
    /// As a list of nodes: itself if it is none.
    pub fn one_or_more(&self) -> &[Node] {
        match &self.raw {
            Raw::List(items) => items,
            _ => std::slice::from_ref(self),
        }
    }
}

/// A value as TOML has it.
#[derive(Clone, Debug)]
pub enum Raw {
    /// A text.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// An integer that does not fit in 64 bits, as written.
    Huge(String),
    /// A number with a fraction.
    Float(f64),
    /// True or false.
    Flag(bool),
    /// A date, as written.
    Datetime(String),
    /// A list.
    List(Vec<Node>),
    /// A table.
    Table(Table),
}

impl Raw {
    /// What it is, for `expected …, found …`.
    pub const fn noun(&self) -> &'static str {
        match self {
            Self::Text(_) => "a text",
            Self::Integer(_) | Self::Huge(_) => "an integer",
            Self::Float(_) => "a number with a fraction",
            Self::Flag(_) => "true or false",
            Self::Datetime(_) => "a date",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
        }
    }
}

/// Keys and values in the order of the source.
#[derive(Clone, Default, Debug)]
pub struct Table {
    /// Each key with its value.
    pub entries: Vec<Entry>,
}

/// A key with its value.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Where the key was written.
    pub place: Place,
    /// The value.
    pub node: Node,
}

impl Entry {
    /// Whether it is a table or a list of tables, as sections are.
    pub const fn is_section(&self) -> bool {
        matches!(self.node.raw, Raw::Table(_) | Raw::List(_))
    }
}

impl Table {
    /// The entry of a key.
    pub fn get(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// The entry of a key, to change it.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Entry> {
        self.entries.iter_mut().find(|entry| entry.key == key)
    }
}

/// What was written, and the tree that it makes.
#[derive(Clone, Debug)]
pub struct Document {
    sources: Vec<Source>,
    /// The tables and keys of the file.
    pub root: Table,
    /// Message about the keys of the file that overrides made meaningless and that were left out.
    pub left_out: Option<String>,
}

#[derive(Clone, Debug)]
struct Source {
    name: String,
    text: String,
}

impl Document {
    /// Parses the text of a file.
    pub fn parse(text: &str, file: &str) -> Result<Self, Problems> {
        // Editors on Windows put a byte-order mark first; TOML takes it, and no column counts it.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut document = Self {
            sources: vec![Source { name: file.into(), text: text.into() }],
            root: Table::default(),
            left_out: None,
        };
        if let Some(reason) = too_long(text.len() as u64).or_else(|| unaffordable(text.len() as u64, available)) {
            let message = format!("the experiment cannot be read: {reason}");
            return Err(Problems(vec![document.problem(ProblemKind::File, None, message, None)]));
        }
        let (root, errors) = DeTable::parse_recoverable(text);
        if !errors.is_empty() {
            let mut errors: Vec<_> =
                errors.iter().map(|error| (error.span().unwrap_or(0..0), error.message())).collect();
            errors.sort_by_key(|(span, _)| span.start);
            errors.truncate(SYNTAX_ERRORS_MAX);
            return Err(Problems(errors.into_iter().map(|(span, message)| document.syntax(span, message)).collect()));
        }
        document.root = table(root.into_inner(), 0, 0);
        Ok(document)
    }

    /// Adds the text of an override as a source and returns its number.
    pub fn add_override(&mut self, text: &str) -> usize {
        self.sources.push(Source { name: OVERRIDE.into(), text: text.into() });
        self.sources.len() - 1
    }

    /// The text of a source.
    pub fn text(&self, source: usize) -> &str {
        &self.sources[source].text
    }

    /// The place of a whole source.
    pub fn whole(&self, source: usize) -> Place {
        Place { source, start: 0, end: self.sources[source].text.len() }
    }

    /// A problem at `place`; None is for what is missing in the file as a whole.
    pub fn problem(&self, kind: ProblemKind, place: Option<Place>, message: String, help: Option<String>) -> Problem {
        let file = self.sources[place.map_or(0, |p| p.source)].name.clone();
        // What a file contains may be quoted in a message, and is not for a terminal as it is.
        let unprintable = |c: char| c.is_control() && c != '\n';
        let message = if message.contains(unprintable) { message.replace(unprintable, "\u{fffd}") } else { message };
        Problem { kind, file, location: place.map(|p| self.locate(p)), message, help }
    }

    fn syntax(&self, span: std::ops::Range<usize>, message: &str) -> Problem {
        let place = Place { source: 0, start: span.start, end: span.end };
        let help = message.contains("quoted").then(|| "texts and quantities stand in quotes: \"5 GB/s\"".to_owned());
        self.problem(ProblemKind::Syntax, Some(place), format!("this is not TOML: {message}"), help)
    }

    /// Line and column of the start of a place, and the text of that line.
    fn locate(&self, place: Place) -> Location {
        let text = &self.sources[place.source].text;
        let start = floor_boundary(text, place.start);
        let line_start = text[..start].rfind('\n').map_or(0, |i| i + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |i| start + i);
        let source = text[line_start..line_end].trim_end_matches('\r');
        let start = start.min(line_start + source.len());
        let end = floor_boundary(text, place.end).clamp(start, line_start + source.len());
        Location {
            line: text[..line_start].matches('\n').count() + 1,
            column: text[line_start..start].chars().count() + 1,
            source: source.into(),
            span: text[start..end].into(),
        }
    }
}

/// The last character boundary at or before `index`.
fn floor_boundary(text: &str, index: usize) -> usize {
    let mut index = index.min(text.len());
    while !text.is_char_boundary(index) {
        index -= 1;
    }
    index
}

/// Converts a parsed table of source number `source` whose text starts `shift` bytes into that source.
pub(crate) fn table(table: DeTable<'_>, source: usize, shift: usize) -> Table {
    let entries = table.into_iter().map(|(key, value)| Entry {
        place: place(key.span(), source, shift),
        key: key.into_inner().into_owned(),
        node: node(value, source, shift),
    });
    Table { entries: entries.collect() }
}

/// Converts a parsed value; see [`table`].
pub(crate) fn node(value: Spanned<DeValue<'_>>, source: usize, shift: usize) -> Node {
    let place = place(value.span(), source, shift);
    let raw = match value.into_inner() {
        DeValue::String(text) => Raw::Text(text.into_owned()),
        DeValue::Integer(integer) => match i64::from_str_radix(integer.as_str(), integer.radix()) {
            Ok(n) => Raw::Integer(n),
            Err(_) => Raw::Huge(integer.to_string()),
        },
        DeValue::Float(float) => Raw::Float(float.as_str().parse().unwrap_or(f64::INFINITY)),
        DeValue::Boolean(flag) => Raw::Flag(flag),
        DeValue::Datetime(datetime) => Raw::Datetime(datetime.to_string()),
        DeValue::Array(array) => Raw::List(array.into_iter().map(|item| node(item, source, shift)).collect()),
        DeValue::Table(entries) => Raw::Table(table(entries, source, shift)),
    };
    Node { place, raw }
}

fn place(span: std::ops::Range<usize>, source: usize, shift: usize) -> Place {
    Place { source, start: span.start + shift, end: span.end + shift }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        let document = Document::parse("a = 1\r\n\"é\" = [\"ü\", 7]\r\n", "x.toml").unwrap();
        let Raw::List(items) = &document.root.get("é").unwrap().node.raw else { panic!("a list") };
        let location = document.locate(items[1].place);
        assert_eq!((location.line, location.column), (2, 13));
        assert_eq!(location.source, "\"é\" = [\"ü\", 7]");
        assert_eq!(location.span, "7");
    }

    #[test]
    fn every_syntax_error_is_reported() {
        let problems = Document::parse("a = \nb = 1\n[c\n", "x.toml").unwrap_err();
        let lines: Vec<usize> = problems.0.iter().map(|p| p.location.as_ref().unwrap().line).collect();
        assert_eq!(lines.len(), 2, "{problems}");
        assert!(lines.contains(&1) && lines.contains(&3), "{problems}");
    }

    #[test]
    fn a_byte_order_mark_is_no_column() {
        let problems = Document::parse("\u{feff}a = = 1", "x.toml").unwrap_err();
        assert_eq!(problems.0[0].location.as_ref().unwrap().column, 5, "{problems}");
    }
}
