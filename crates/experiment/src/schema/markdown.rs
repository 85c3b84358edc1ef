//! The reference page of the experiment file.

use super::sections;
use crate::key::{Chooser, Default, Key, Kind, Section, Variant};
use std::fmt::Write;

const INTRODUCTION: &str = include_str!("introduction.md");
const SWEEP: &str = include_str!("sweep.md");

/// `docs/reference/experiment-file.md`. A test compares the two.
pub fn reference() -> String {
    let mut page = INTRODUCTION.to_owned();
    for section in sections() {
        write_section(&mut page, section).expect("writing to a string never fails");
    }
    page.push('\n');
    page.push_str(SWEEP);
    page
}

fn write_section(page: &mut String, section: &Section) -> std::fmt::Result {
    write!(page, "\n## `{}`\n\n{}\n\n", section.heading(), section.doc)?;
    write_keys(page, &section.keys)?;
    for key in &section.keys {
        write_names(page, key, section)?;
    }
    for key in &section.keys {
        match nested(&key.kind) {
            Some(keys) if !keys.is_empty() => {
                write!(page, "\nKeys of a table at `{}`:\n\n", key.name)?;
                write_keys(page, keys)?;
            }
            _ => {}
        }
    }
    for chooser in &section.choosers {
        write_variants(page, chooser)?;
    }
    Ok(())
}

fn nested(kind: &Kind) -> Option<&[Key]> {
    match kind {
        Kind::Table(keys) | Kind::TableOfTables(keys) => Some(keys),
        Kind::Any(kinds) => kinds.iter().find_map(nested),
        Kind::List(of) => nested(of),
        _ => None,
    }
}

/// What the names of a key mean, where they are not headings of their own.
fn write_names(page: &mut String, key: &Key, section: &Section) -> std::fmt::Result {
    if section.choosers.iter().any(|chooser| chooser.key == key.name) {
        return Ok(());
    }
    write_choices(page, key)
}

fn write_choices(page: &mut String, key: &Key) -> std::fmt::Result {
    let Kind::Choice(choices) = &key.kind else { return Ok(()) };
    write!(page, "\n`{}`:\n\n", key.name)?;
    for choice in choices {
        writeln!(page, "- `{}`: {}", choice.name, choice.doc)?;
    }
    Ok(())
}

fn write_variants(page: &mut String, chooser: &Chooser) -> std::fmt::Result {
    for Variant { name, doc, keys } in &chooser.variants {
        let doc = doc.trim_end_matches('.');
        let mut letters = doc.chars();
        let doc = letters
            .next()
            .map_or_else(String::new, |first| first.to_uppercase().collect::<String>() + letters.as_str());
        write!(page, "\n### `{} = \"{name}\"`\n\n{doc}.\n", chooser.key)?;
        if !keys.is_empty() {
            page.push('\n');
            write_keys(page, keys)?;
        }
        for key in keys {
            write_choices(page, key)?;
        }
    }
    Ok(())
}

fn write_keys(page: &mut String, keys: &[Key]) -> std::fmt::Result {
    page.push_str("| key | value | default | meaning |\n|---|---|---|---|\n");
    for key in keys {
        let default = match &key.default {
            Default::Required => "**required**".to_owned(),
            Default::Value(value) => format!("`{value}`"),
            Default::Words(words) => (*words).to_owned(),
        };
        writeln!(page, "| `{}` | {} | {default} | {} |", key.name, describe(&key.kind), key.doc)?;
    }
    Ok(())
}

fn describe(kind: &Kind) -> String {
    match kind {
        Kind::Text => "text".into(),
        Kind::Path => "file name".into(),
        Kind::Color => "colour, `\"#rrggbb\"`".into(),
        Kind::Flag => "`true`, `false`".into(),
        Kind::Bytes => "amount of data".into(),
        Kind::Time => "duration".into(),
        Kind::Rate => "data rate".into(),
        Kind::Integer { .. } if *kind == Kind::ANY_INTEGER => "whole number".into(),
        Kind::Integer { min, max } if *max >= i64::from(u32::MAX) => format!("whole number from {min}"),
        Kind::Integer { min, max } => format!("whole number {min} to {max}"),
        Kind::Number { min, max } => match (min.is_finite(), max.is_finite()) {
            (true, true) => format!("number {min} to {max}"),
            (true, false) => format!("number from {min}"),
            (false, true) => format!("number up to {max}"),
            (false, false) => "number".into(),
        },
        Kind::Choice(choices) => match &choices[..] {
            [one] => format!("`\"{}\"` ({})", one.name, one.doc),
            _ => "a name, below".into(),
        },
        Kind::List(of) => format!("list: {}", describe(of)),
        Kind::Any(kinds) => kinds.iter().map(describe).collect::<Vec<_>>().join(", or "),
        Kind::Table(_) => "table".into(),
        Kind::TableOfTables(_) => "tables by class".into(),
    }
}
