//! The reference page of the run directory.

use super::{exit_code, tables, FORMAT_VERSION};
use crate::markdown::wrap;
use odonata_declare::{Column, Merge, Role, Table, Type, Unit, Word};
use odonata_engines::{Ending, ENGINES};
use std::fmt::Write;

const INTRODUCTION: &str = include_str!("introduction.md");
const SUMMARY: &str = include_str!("summary.md");
const ENDINGS: &str = include_str!("endings.md");

/// `docs/reference/run-directory.md`. A test compares the two.
pub fn reference() -> String {
    let mut page = INTRODUCTION.to_owned();
    write_page(&mut page).expect("writing to a string never fails");
    page.push_str(SUMMARY);
    write_endings(&mut page).expect("writing to a string never fails");
    wrap(&page)
}

fn write_page(page: &mut String) -> std::fmt::Result {
    writeln!(page, "\nFormat version: **{FORMAT_VERSION}** (`summary.json: format_version`).")?;
    write_words::<Unit>(page, "Units: the unit of the numbers in a column.")?;
    write_words::<Merge>(page, "Merge: the common value of several rows, for example of all links of a group.")?;
    write_words::<Type>(page, "Types:")?;
    write_words::<Role>(page, "Roles: names by which programs find a column in every engine.")?;
    writeln!(page, "\n## Tables of every run")?;
    for table in tables().iter().filter(|table| table.engine.is_none()) {
        write_table(page, table, None)?;
    }
    for engine in ENGINES {
        writeln!(page, "\n## What the {} engine adds", engine.name)?;
        page.push_str(engine.reference);
        for table in tables() {
            if table.engine == Some(engine.name)
                || table.columns.iter().any(|column| column.engine == Some(engine.name))
            {
                write_table(page, table, Some(engine.name))?;
            }
        }
    }
    Ok(())
}

fn write_endings(page: &mut String) -> std::fmt::Result {
    page.push_str(ENDINGS);
    writeln!(page, "\n| `ending` | meaning | `complete` | exit code |\n|---|---|---|---|")?;
    Ending::ALL.iter().zip(Ending::CHOICES).try_for_each(|(ending, choice)| {
        let (complete, code) = (ending.is_complete(), exit_code(*ending));
        writeln!(page, "| `{}` | {} | {complete} | {code} |", choice.name, choice.doc)
    })
}

fn write_words<W: Word>(page: &mut String, title: &str) -> std::fmt::Result {
    writeln!(page, "\n{title}\n")?;
    W::CHOICES.iter().try_for_each(|choice| writeln!(page, "- `{}`: {}", choice.name, choice.doc))
}

/// A table, or what an engine adds to one of every run.
fn write_table(page: &mut String, table: &Table, engine: Option<&str>) -> std::fmt::Result {
    let added = table.engine.is_none() && engine.is_some();
    let columns = table.columns.iter().filter(|column| column.engine == if added { engine } else { None });
    if added {
        writeln!(page, "\n### Columns of `{}`\n", table.name)?;
    } else {
        writeln!(page, "\n### `{}`\n", table.name)?;
        let sorted = table.sorted_by.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        writeln!(page, "One row per {}, sorted by {sorted}.", table.row)?;
        if let Some(under) = table.under {
            writeln!(page, "Only with `{under}`.")?;
        }
        writeln!(page, "{}\n", table.doc)?;
    }
    writeln!(page, "| column | type | unit | merge | meaning |\n|---|---|---|---|---|")?;
    columns.into_iter().try_for_each(|column| write_column(page, column))
}

fn write_column(page: &mut String, column: &Column) -> std::fmt::Result {
    let of = column.of.map_or(String::new(), |table| format!(" [{table}]"));
    let unit = if column.unit == Unit::Plain { "" } else { column.unit.word() };
    let by = match (column.merge, column.weight) {
        (Merge::Mean, Some(weight)) => format!(" by `{weight}`"),
        _ => String::new(),
    };
    let mut meaning = column.doc.to_owned();
    if let Some(missing) = column.missing {
        write!(meaning, " Missing where {missing}.")?;
    }
    if let Some(under) = column.under {
        write!(meaning, " Only with `{under}`.")?;
    }
    let (name, kind, merge) = (column.name, column.kind.word(), column.merge.word());
    writeln!(page, "| `{name}` | {kind}{of} | {unit} | {merge}{by} | {meaning} |")
}
