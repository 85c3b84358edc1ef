//! The machines that each algorithm declares, against the families; and the tables of the pages that follow.

use odonata_expression::Dimension;
use odonata_machine::topology::TOPOLOGIES;
use odonata_machine::{presets, Machine};
use odonata_routing::algorithm::{Algorithm, Quantity, ALGORITHMS, QUANTITIES};
use odonata_routing::deadlock;
use odonata_routing::next_hop::NextHops;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn algorithms() -> impl Iterator<Item = &'static Algorithm> {
    ALGORITHMS.iter().filter(|algorithm| algorithm.has_hops())
}

fn hops(machine: &Machine) -> Arc<NextHops> {
    Arc::new(NextHops::new(machine).unwrap())
}

/// The machine of each family with its default parameters.
fn families() -> Vec<(&'static str, Arc<NextHops>)> {
    let built = |family: &odonata_declare::Variant<dyn odonata_machine::topology::Topology>| {
        let machine = (family.default)().lay_out().unwrap().build().unwrap();
        (family.name, hops(&machine))
    };
    TOPOLOGIES.iter().map(built).collect()
}

#[test]
fn algorithms_accept_the_machines_that_they_declare() {
    for (family, hops) in families() {
        for algorithm in algorithms() {
            let built = algorithm.with_defaults().build(Arc::clone(&hops));
            assert_eq!(built.is_ok(), algorithm.machines.include(&hops), "{} on {family}", algorithm.name);
        }
    }
}

fn docs(page: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page)
}

/// Compares the part of a page between `<!-- table -->` and `<!-- end -->`, or writes it.
fn compare(page: &str, table: &str) {
    let (path, marks) = (docs(page), ("<!-- table -->\n\n", "\n<!-- end -->"));
    let text = std::fs::read_to_string(&path).unwrap();
    let start = text.find(marks.0).unwrap() + marks.0.len();
    let end = start + text[start..].find(marks.1).unwrap();
    if std::env::var_os("ODONATA_WRITE_REFERENCE").is_some() {
        std::fs::write(&path, [&text[..start], table, &text[end..]].concat()).unwrap();
        return;
    }
    let help = "write it with ODONATA_WRITE_REFERENCE=1 cargo test -p odonata-routing --test all pages";
    assert_eq!(&text[start..end], table, "{page} is stale; {help}");
}

/// Names in code style, separated by commas.
fn list<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    names.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Families with the same algorithms share a row.
#[test]
fn the_page_of_machines_has_the_routings_of_each_family() {
    let mut rows: Vec<(Vec<&str>, String)> = Vec::new();
    for (family, hops) in families() {
        let names = list(Algorithm::on(&hops).map(|algorithm| algorithm.name));
        match rows.iter_mut().find(|row| row.1 == names) {
            Some(row) => row.0.push(family),
            None => rows.push((vec![family], names)),
        }
    }
    let mut table = "| family | routings of the packet engine |\n|---|---|\n".to_owned();
    for (families, names) in rows {
        writeln!(table, "| {} | {names} |", list(families)).unwrap();
    }
    compare("reference/machines.md", &table);
}

/// The page with the algorithm's name in a heading.
fn page_of(name: &str) -> String {
    let in_heading = |page: &str| {
        let text = std::fs::read_to_string(docs("models/routing").join(page)).unwrap();
        text.lines().any(|line| line.starts_with('#') && line.contains(&format!("`{name}`")))
    };
    let folder = std::fs::read_dir(docs("models/routing")).unwrap();
    let mut pages: Vec<String> = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    pages.retain(|page| page != "README.md");
    pages.sort();
    pages.push("../blue-gene.md".into());
    pages.into_iter().find(|page| in_heading(page)).unwrap_or_else(|| panic!("no page has a heading with `{name}`"))
}

#[test]
fn the_page_of_algorithms_has_them_all() {
    let dragonfly = hops(&presets::builder("dragonfly-1056").unwrap().build().unwrap());
    let mut table = "| name | path | machines | VCs on `dragonfly-1056` | page |\n|---|---|---|---|---|\n".to_owned();
    for algorithm in algorithms() {
        let Algorithm { name, doc, machines, .. } = algorithm;
        let proven = deadlock::prove(&algorithm.with_defaults(), NextHops::clone(&dragonfly), 16);
        let channels = proven.map_or_else(|_| "-".to_owned(), |proven| proven.routing.virtual_channels().to_string());
        let page = page_of(name);
        let title = page.trim_start_matches("../").trim_end_matches(".md");
        writeln!(table, "| `{name}` | {doc} | {} | {channels} | [{title}]({page}) |", machines.words()).unwrap();
    }
    compare("models/routing/README.md", &table);
}

#[test]
fn the_page_of_expressions_has_all_quantities() {
    let mut table = "| name | kind | meaning |\n|---|---|---|\n".to_owned();
    for Quantity { name, dimension, doc } in QUANTITIES {
        let kind = match dimension {
            Dimension::Number => "number",
            Dimension::Data => "bytes",
            Dimension::Time => "time",
            Dimension::Truth => "comparison",
        };
        writeln!(table, "| `{name}` | {kind} | {doc} |").unwrap();
    }
    compare("models/routing/expression.md", &table);
}
