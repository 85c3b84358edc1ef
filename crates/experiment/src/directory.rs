//! The format of a run directory: every declared table, and what is made of the declarations.

mod markdown;

pub use markdown::reference;

use odonata_declare::{Column, Frames, Table, Word, AXIS};
use odonata_engines::{record, Ending, ENGINES};
use serde_json::{json, Value};
use std::sync::LazyLock;

/// `format` of the summary.
pub const FORMAT: &str = "odonata-run";
/// `format_version` of the summary. It rises with each change of tables and columns: readers expect all of them.
pub const FORMAT_VERSION: u32 = 6;

static TABLES: LazyLock<Vec<Table>> = LazyLock::new(|| {
    let mut tables = record::tables();
    for engine in ENGINES {
        for (name, columns) in (engine.adds)() {
            let table = tables.iter_mut().find(|table| table.name == name).expect("a table of every run");
            for column in columns {
                let column = Column { engine: Some(engine.name), ..column };
                // One declaration that is filled in two places is one column.
                if !table.columns.contains(&column) {
                    table.columns.push(column);
                }
            }
        }
        tables.extend((engine.tables)().into_iter().map(|table| Table { engine: Some(engine.name), ..table }));
    }
    tables
});

/// All tables that a run may have, in the order of the reference: first the tables of every run, with the columns of the engines, then the tables of each engine.
pub fn tables() -> &'static [Table] {
    &TABLES
}

/// Exit code of a command whose run ended so.
pub const fn exit_code(ending: Ending) -> u8 {
    match ending {
        Ending::Complete | Ending::DrainLimit => 0,
        Ending::TimeLimit | Ending::Deadlock | Ending::Mismatch | Ending::NoProgress => 3,
        // 128 + SIGINT, as shells say. After SIGTERM it is 143.
        Ending::Interrupted => 130,
    }
}

/// The format in JSON, as Python reads it: `format`, `format_version`, `endings`, `tables`.
pub fn to_json() -> Value {
    json!({
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "endings": Ending::ALL.iter().zip(Ending::CHOICES).map(|(ending, choice)| {
            json!({
                "word": choice.name,
                "meaning": choice.doc,
                "complete": ending.is_complete(),
                "exit_code": exit_code(*ending),
            })
        }).collect::<Value>(),
        "tables": tables().iter().map(Table::to_json).collect::<Value>(),
    })
}

/// Asserts that an engine filled declared columns alone, and all tables of every run.
pub(crate) fn check(frames: &Frames, engine: &str, axes: &[String]) {
    for table in tables().iter().filter(|table| table.engine.is_none()) {
        assert!(frames.get(table.name).is_some(), "a run without the table {}", table.name);
    }
    for (name, frame) in frames.tables() {
        let of_engine = |given: Option<&str>| given.is_none_or(|given| given == engine);
        let table = tables().iter().find(|table| table.name == *name && of_engine(table.engine));
        let table = table.unwrap_or_else(|| panic!("the table {name} of the engine {engine} is not declared"));
        for (column, _) in frame.columns() {
            let stands_for = |declared: &Column| {
                of_engine(declared.engine)
                    && (declared.name == column || axes.iter().any(|axis| declared.name.replace(AXIS, axis) == *column))
            };
            assert!(table.columns.iter().any(stands_for), "the column {name}.{column} is not declared by {engine}");
        }
    }
}
