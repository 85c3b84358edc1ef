//! Keys as tables of Markdown.

use super::Section;
use odonata_declare::{Choice, Key, KeyDefault, Kind, VariantInfo};
use std::fmt::Write;

/// A page so far.
pub(super) struct Page {
    pub(super) text: String,
    /// Names that were explained: the same ones are not explained again.
    explained: Vec<&'static [Choice]>,
}

impl Page {
    pub(super) fn new(title: &str) -> Self {
        Self { text: format!("# {title}\n"), explained: Vec::new() }
    }

    /// The keys of a section, without the keys of names that `chosen` keys may have.
    pub(super) fn write_section(&mut self, section: &'static Section, chosen: &[&str]) -> std::fmt::Result {
        write!(self.text, "\n{}\n\n", section.doc)?;
        self.write_keys(&section.keys)?;
        for key in section.keys.iter().filter(|key| !chosen.contains(&key.name)) {
            self.write_choices(key)?;
        }
        for key in &section.keys {
            match nested(&key.kind) {
                Some(keys) if !keys.is_empty() => {
                    write!(self.text, "\nKeys of a table at `{}`:\n\n", key.name)?;
                    self.write_keys(keys)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn write_keys(&mut self, keys: &[Key]) -> std::fmt::Result {
        self.text.push_str("| key | value | default | meaning |\n|---|---|---|---|\n");
        for key in keys {
            let default = match &key.default {
                KeyDefault::Required => "**required**".to_owned(),
                KeyDefault::Value(value) => format!("`{value}`"),
                KeyDefault::Described(words) => (*words).to_owned(),
            };
            writeln!(self.text, "| `{}` | {} | {default} | {} |", key.name, describe(&key.kind), key.doc)?;
        }
        Ok(())
    }

    /// What the names that a key may have mean, where that was not said before.
    fn write_choices(&mut self, key: &'static Key) -> std::fmt::Result {
        let Kind::Choice(choices) = &key.kind else { return Ok(()) };
        if self.explained.iter().any(|before| before == choices) {
            return Ok(());
        }
        self.explained.push(choices);
        write!(self.text, "\n`{}`:\n\n", key.name)?;
        choices.iter().try_for_each(|choice| writeln!(self.text, "- `{}`: {}", choice.name, choice.doc))
    }

    /// The names that `key` may have with their keys, each under a heading of this level.
    pub(super) fn write_variants(
        &mut self,
        key: &str,
        variants: &'static [VariantInfo],
        level: usize,
    ) -> std::fmt::Result {
        for variant in variants {
            write!(self.text, "\n{} `{key} = \"{}\"`\n", "#".repeat(level), variant.name)?;
            self.write_variant(variant, level + 1)?;
        }
        Ok(())
    }

    /// The keys of one name, and below headings of this level their tables and names.
    pub(super) fn write_variant(&mut self, variant: &'static VariantInfo, level: usize) -> std::fmt::Result {
        let (doc, keys) = (variant.doc.trim_end_matches('.'), &variant.keys);
        let first = doc.chars().next().map_or(0, char::len_utf8);
        let (first, rest) = (doc[..first].to_uppercase(), &doc[first..]);
        write!(self.text, "\n{first}{rest}.\n")?;
        if !keys.is_empty() {
            self.text.push('\n');
            self.write_keys(keys)?;
        }
        keys.iter().try_for_each(|key| self.write_choices(key))?;
        let heading = "#".repeat(level);
        for inner in keys {
            if let Kind::Table(nested) = inner.kind {
                write!(self.text, "\n{heading} `{}`, a table\n\n", inner.name)?;
                self.write_keys(nested)?;
                nested.iter().try_for_each(|key| self.write_choices(key))?;
            }
            if let Some(line) = line(&inner.kind) {
                write!(self.text, "\n{heading} A line of `{}`\n\n", inner.name)?;
                self.write_keys(line)?;
            }
            if let Kind::Variant(family) = inner.kind {
                self.write_variants(inner.name, family.variants(), level)?;
            }
        }
        Ok(())
    }
}

/// The keys of the lines that a key's value may be.
fn line(kind: &Kind) -> Option<&'static [Key]> {
    match kind {
        Kind::Line(keys) => Some(keys),
        Kind::List(of) => line(of),
        Kind::Any(kinds) => kinds.iter().find_map(line),
        _ => None,
    }
}

fn nested(kind: &Kind) -> Option<&'static [Key]> {
    match kind {
        Kind::Table(keys) | Kind::TableOfTables(keys) => Some(keys),
        Kind::Any(kinds) => kinds.iter().find_map(nested),
        Kind::List(of) | Kind::WordOr(_, of) => nested(of),
        _ => None,
    }
}

fn describe(kind: &Kind) -> String {
    match kind {
        Kind::Text => "text".into(),
        Kind::Path | Kind::KnownOrPath(_) => "file name".into(),
        Kind::Color => "colour, `\"#rrggbb\"`".into(),
        Kind::Flag => "`true`, `false`".into(),
        Kind::Bytes => "amount of data".into(),
        Kind::Time => "duration".into(),
        Kind::Rate => "data rate".into(),
        Kind::Seed => "whole number from 0".into(),
        Kind::Integer { .. } if *kind == Kind::ANY_INTEGER => "whole number".into(),
        Kind::Integer { min, max } if *max >= i64::from(u32::MAX) => format!("whole number from {min}"),
        Kind::Integer { min, max } => format!("whole number {min} to {max}"),
        Kind::Number { min, max } => match (min.is_finite(), max.is_finite()) {
            (true, true) => format!("number {min} to {max}"),
            (true, false) => format!("number from {min}"),
            (false, true) => format!("number up to {max}"),
            (false, false) => "number".into(),
        },
        Kind::Choice(choices) => match choices {
            [one] => format!("`\"{}\"` ({})", one.name, one.doc),
            few if few.len() <= 4 => {
                few.iter().map(|choice| format!("`\"{}\"`", choice.name)).collect::<Vec<_>>().join(", ")
            }
            _ => "a name, below".into(),
        },
        Kind::List(Kind::Variant(_)) => "a list of these".into(),
        Kind::List(of) => format!("list: {}", describe(of)),
        Kind::WordOr(..) | Kind::Any(_) => kind.alternatives().iter().map(describe).collect::<Vec<_>>().join(", or "),
        Kind::Variant(_) => "a name, below, or table".into(),
        Kind::Line(keys) => {
            let names: Vec<String> = keys.iter().map(|key| format!("`{}`", key.name)).collect();
            format!("table of {}", names.join(", "))
        }
        Kind::Table(_) => "table".into(),
        Kind::TableOfTables(_) => "tables by class".into(),
    }
}
