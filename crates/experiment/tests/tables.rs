//! The declared tables against everything that they must agree with.

use odonata_declare::{Column, Merge, Role, Table, Unit};
use odonata_experiment::{directory, schema, ENGINES};
use odonata_workload::TRAFFIC;
use std::path::Path;

/// Every column with its table.
fn all_columns() -> impl Iterator<Item = (&'static Table, &'static Column)> {
    directory::tables().iter().flat_map(|table| table.columns.iter().map(move |column| (table, column)))
}

fn column(table: &'static Table, name: &str) -> Option<&'static Column> {
    table.columns.iter().find(|column| column.name == name)
}

#[test]
fn every_column_says_what_it_means() {
    for (table, column) in all_columns() {
        let place = format!("{}.{}", table.name, column.name);
        assert!(column.doc.ends_with('.') && column.doc.len() > 5, "{place}: {:?}", column.doc);
        assert!(!column.doc.contains('|'), "{place}: a bar ends a cell of the reference's tables");
        let capital = column.label.chars().next().is_some_and(|letter| letter.is_uppercase());
        assert!(capital && column.label.len() <= 32 && !column.label.ends_with('.'), "{place}: {:?}", column.label);
    }
}

#[test]
fn every_table_says_what_a_row_is_and_how_rows_are_sorted() {
    for (i, table) in directory::tables().iter().enumerate() {
        assert!(!table.row.is_empty() && table.doc.is_empty() != table.doc.ends_with('.'), "{}", table.name);
        assert!(directory::tables()[..i].iter().all(|other| other.name != table.name), "two tables {}", table.name);
        for name in table.sorted_by {
            let of_table = column(table, name).unwrap_or_else(|| panic!("{} is sorted by {name}", table.name));
            assert_eq!(of_table.merge, Merge::Key, "{}: what rows are sorted by says which row it is", table.name);
        }
    }
}

/// Columns of one name in a table belong to different engines and have one type, so that a reader can rely on it.
#[test]
fn no_column_is_declared_twice() {
    for table in directory::tables() {
        for (i, this) in table.columns.iter().enumerate() {
            for other in table.columns[..i].iter().filter(|other| other.name == this.name) {
                assert!(this.engine.is_some() && other.engine.is_some(), "{}.{}", table.name, this.name);
                assert_ne!(this.engine, other.engine, "{}.{}", table.name, this.name);
                assert_eq!((this.kind, this.unit, this.merge), (other.kind, other.unit, other.merge), "{}", this.name);
            }
        }
    }
}

#[test]
fn what_a_column_names_is_there() {
    for (table, this) in all_columns() {
        let place = format!("{}.{}", table.name, this.name);
        if let Some(weight) = this.weight {
            let weight = column(table, weight).unwrap_or_else(|| panic!("{place} is weighted by {weight}"));
            assert_eq!(weight.engine.or(this.engine), this.engine, "{place}: the weight is there where it is");
            assert_ne!(weight.unit, Unit::Plain, "{place}");
        }
        if let Some(of) = this.of {
            assert!(directory::tables().iter().any(|table| table.name == of), "{place} counts rows of {of}");
            assert!(!this.merge.is_measure(), "{place} is an id and no amount");
        }
        assert!(this.unit != Unit::Plain || !this.merge.is_measure(), "{place}: a measure has a unit");
    }
}

/// `docs/vocabulary.toml` has the words: units, statistics, nouns.
#[test]
fn every_column_ends_in_a_word_of_the_vocabulary() {
    let text = include_str!("../../../docs/vocabulary.toml");
    let vocabulary = text.parse::<toml::Table>().unwrap()["columns"].clone();
    let words = |list: &str| -> Vec<String> {
        vocabulary[list].as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned()).collect()
    };
    let known = [words("units"), words("statistics"), words("nouns")].concat();
    let exceptions: Vec<String> = vocabulary["exceptions"].as_table().unwrap().keys().cloned().collect();
    for (table, column) in all_columns() {
        let (name, place) = (column.name, format!("{}.{}", table.name, column.name));
        let name = name.strip_suffix("<axis>").map_or_else(|| name.to_owned(), |start| format!("{start}axis"));
        let ends = |word: &String| name == *word || name.ends_with(&format!("_{word}"));
        assert!(known.iter().any(ends) || exceptions.contains(&name), "{place} ends in no word of the vocabulary");
        let unit = match column.unit {
            Unit::Ps => "ps",
            Unit::Ns => "ns",
            Unit::S => "s",
            Unit::BytesPerS => "bytes_per_s",
            _ => continue,
        };
        assert!(ends(&unit.to_owned()), "{place} is in {unit}");
    }
}

/// Readers find the time of a job in every engine, and in no other table.
#[test]
fn every_engine_has_the_time_of_a_job() {
    for engine in ENGINES {
        let times: Vec<_> = all_columns().filter(|(_, column)| column.role == Some(Role::JobTime)).collect();
        assert!(times.iter().any(|(_, column)| column.engine == Some(engine.name)), "{}", engine.name);
        times.iter().for_each(|(table, column)| {
            assert_eq!(table.name, "jobs");
            assert!(matches!(column.unit, Unit::Ps | Unit::Ns | Unit::S), "{}", column.name);
        });
    }
}

/// What must be said for a column or a table begins with a key of its engine, of a section or of a job's traffic.
#[test]
fn what_switches_a_column_on_is_a_key() {
    let conditions = all_columns()
        .filter_map(|(table, column)| Some((column.engine.or(table.engine), column.under?)))
        .chain(directory::tables().iter().filter_map(|table| Some((table.engine, table.under?))));
    for (engine, under) in conditions {
        let key = under.split([' ', '=', ',']).next().unwrap();
        let engine = ENGINES.iter().find(|kind| Some(kind.name) == engine);
        let keys = engine.map_or_else(Vec::new, |kind| (kind.keys)());
        let section = schema::sections().iter().flat_map(|section| &section.keys);
        let traffic: Vec<_> = TRAFFIC.iter().flat_map(|kind| (kind.default)().keys()).collect();
        assert!(keys.iter().chain(section).chain(&traffic).any(|known| known.name == key), "{under}: no key {key}");
    }
}

#[test]
fn the_json_has_every_column() {
    let json = directory::to_json();
    let tables = json["tables"].as_array().unwrap();
    let count: usize = tables.iter().map(|table| table["columns"].as_array().unwrap().len()).sum();
    assert_eq!((tables.len(), count), (directory::tables().len(), all_columns().count()));
    assert_eq!(json["format"], "odonata-run");
}

#[test]
fn the_reference_page_is_not_stale() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/run-directory.md");
    let page = directory::reference();
    if std::env::var_os("ODONATA_WRITE_REFERENCE").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == page,
        "{} is stale; write it with ODONATA_WRITE_REFERENCE=1 cargo test -p odonata-experiment --test all tables",
        path.display()
    );
}

#[test]
fn the_reference_page_is_readable() {
    for line in directory::reference().lines() {
        assert!(line.chars().count() <= 240, "{line}");
    }
}
