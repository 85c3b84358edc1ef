//! The table of keys against everything that it must agree with.

use odonata_declare::{Key, KeyDefault, Kind};
use odonata_experiment::{schema, Experiment, Value};
use odonata_flow::FlowSettings;
use odonata_machine::topology::{Cascade, Dragonfly, FatTree, Torus, Xgft};
use std::collections::BTreeSet;
use std::path::Path;

/// Every key, with the name of what it belongs to.
fn all_keys() -> Vec<(String, &'static Key)> {
    let mut keys = Vec::new();
    for section in schema::sections() {
        let mut add = |owner: String, of: &'static [Key]| {
            for key in of {
                keys.push((owner.clone(), key));
                keys.extend(nested(&key.kind).iter().map(|inner| (format!("{owner}.{}", key.name), inner)));
            }
        };
        add(section.heading(), &section.keys);
        for chooser in &section.choosers {
            for variant in chooser.variants() {
                add(format!("{} = {}", chooser.key, variant.name), &variant.keys);
            }
        }
    }
    keys
}

fn nested(kind: &Kind) -> &[Key] {
    match kind {
        Kind::Line(keys) | Kind::Table(keys) | Kind::TableOfTables(keys) => keys,
        Kind::List(of) => nested(of),
        Kind::Any(kinds) => kinds.iter().map(nested).find(|keys| !keys.is_empty()).unwrap_or(&[]),
        _ => &[],
    }
}

#[test]
fn every_key_says_what_it_means_in_sentences() {
    for (owner, key) in all_keys() {
        assert!(key.doc.ends_with('.') && key.doc.len() > 5, "{owner}: {}: {:?}", key.name, key.doc);
        assert!(!key.doc.contains("  "), "{owner}: {}: {:?}", key.name, key.doc);
        assert!(!key.doc.contains('|'), "{owner}: {}: a bar ends a cell of the reference's tables", key.name);
    }
}

#[test]
fn no_key_is_there_twice() {
    for section in schema::sections() {
        for chooser in &section.choosers {
            for variant in chooser.variants() {
                let names: Vec<&str> = variant.keys.iter().map(|key| key.name).collect();
                assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
            }
        }
    }
}

/// A default is a value that the key itself would take.
#[test]
fn defaults_are_of_their_kind() {
    for (owner, key) in all_keys() {
        if let KeyDefault::Value(value) = &key.default {
            assert!(fits(&key.kind, value), "{owner}: {} = {value} is no {}", key.name, key.kind.expected());
        }
    }
}

fn fits(kind: &Kind, value: &Value) -> bool {
    match (kind, value) {
        (Kind::Variant(family), Value::Text(name)) => family.variant(name).is_some(),
        (Kind::Any(kinds), _) if kinds.iter().any(|kind| matches!(kind, Kind::List(_))) => {
            *value == Value::List(Vec::new()) || kind.accept(value).is_ok()
        }
        _ => kind.accept(value).as_ref() == Ok(value),
    }
}

/// What is shown as an example of a value is a value.
#[test]
fn examples_are_toml() {
    for (owner, key) in all_keys() {
        let example = key.kind.example();
        if !example.contains('…') {
            let read: Result<toml::Table, _> = format!("key = {example}").parse();
            assert!(read.is_ok(), "{owner}: {}: {example}", key.name);
        }
    }
}

/// The names of a struct's fields, from its debug text; fields of inner structs are left out.
fn fields_of(shown: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for line in shown.lines().filter_map(|line| line.strip_prefix("    ")) {
        if let Some((name, _)) = line.split_once(": ").filter(|_| !line.starts_with([' ', ')', '}', ']'])) {
            names.insert(name.to_owned());
        }
    }
    names
}

fn keys_of(section: &str, variant: &str) -> BTreeSet<String> {
    let section = schema::sections().iter().find(|s| s.name == section).unwrap();
    let variants = section.choosers.iter().flat_map(|chooser| chooser.variants());
    let found = variants.into_iter().find(|v| v.name == variant).unwrap();
    found.keys.iter().map(|key| key.name.to_owned()).collect()
}

/// A setting that a crate gains must become a key; ones of the link classes and of the seed have keys of their own.
#[test]
fn every_setting_has_a_key() {
    let figures = [
        "local",
        "global",
        "terminal",
        "cores_per_node",
        "green_figures",
        "black_figures",
        "blue_figures",
        "green_ports",
        "black_ports",
        "blue_ports",
    ];
    let check = |shown: String, keys: BTreeSet<String>, elsewhere: &[&str]| {
        let fields = fields_of(&shown);
        assert!(fields.len() > 2, "{shown}");
        let missing: Vec<&String> = fields.difference(&keys).filter(|f| !elsewhere.contains(&f.as_str())).collect();
        assert!(missing.is_empty(), "{missing:?} of\n{shown}");
    };
    // The routing decides the set of its paths.
    check(format!("{:#?}", FlowSettings::default()), keys_of("engine", "flow"), &["allowed_paths"]);
    check(format!("{:#?}", Dragonfly::default()), keys_of("machine", "dragonfly"), &figures);
    check(format!("{:#?}", Cascade::default()), keys_of("machine", "cascade"), &figures);
    check(format!("{:#?}", Torus::default()), keys_of("machine", "torus"), &figures);
    check(format!("{:#?}", FatTree::default()), keys_of("machine", "fat-tree"), &figures);
    let f = FatTree::default();
    let xgft = Xgft {
        children: vec![1],
        parents: vec![1],
        parallel: vec![].into(),
        local: f.local,
        global: f.global,
        terminal: f.terminal,
        cores_per_node: 1,
    };
    check(format!("{xgft:#?}"), keys_of("machine", "xgft"), &figures);
}

/// The table states the defaults of the families: a file without keys builds the default machine.
#[test]
fn topologies_without_keys_are_the_families_defaults() {
    let built = |topology: &str| {
        let text = format!("machine.topology = '{topology}'\n[[job]]\nranks = 2\npattern = 'uniform'\n");
        Experiment::new(text, "x.toml").plan().unwrap().scenario.machine
    };
    assert!(built("dragonfly") == Dragonfly::default().builder().unwrap().build().unwrap());
    assert!(built("cascade") == Cascade::default().builder().unwrap().build().unwrap());
    assert!(built("torus") == Torus::default().builder().unwrap().build().unwrap());
    assert!(built("fat-tree") == FatTree::default().builder().unwrap().build().unwrap());
    let spec: toml::Table = "topology = 'xgft'".parse().unwrap();
    assert!(built(spec["topology"].as_str().unwrap()).node_count() > 0);
}

#[test]
fn the_reference_pages_are_not_stale() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference");
    let pages = schema::reference_pages();
    let listed = || {
        let found = std::fs::read_dir(folder.join("keys")).unwrap();
        found.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect::<Vec<_>>()
    };
    let is_known = |name: &String| pages.iter().any(|page| page.file == format!("keys/{name}"));
    if std::env::var_os("ODONATA_WRITE_REFERENCE").is_some() {
        std::fs::create_dir_all(folder.join("keys")).unwrap();
        for name in listed().iter().filter(|name| !is_known(name)) {
            std::fs::remove_file(folder.join("keys").join(name)).unwrap();
        }
        for page in &pages {
            std::fs::write(folder.join(&page.file), &page.text).unwrap();
        }
    }
    for page in &pages {
        let written = std::fs::read_to_string(folder.join(&page.file)).unwrap_or_default();
        assert!(
            written == page.text,
            "{} is stale; write it with ODONATA_WRITE_REFERENCE=1 cargo test -p odonata-experiment --test all keys",
            page.file
        );
    }
    assert!(listed().iter().all(is_known), "a page of a former section");
}

/// The examples of the reference page are experiments.
#[test]
fn the_examples_of_the_reference_are_read() {
    let page = schema::reference();
    let examples: Vec<&str> = page.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert_eq!(examples.len(), 3);
    let text = examples.concat();
    Experiment::new(text, "reference").sweep().unwrap_or_else(|problems| panic!("{problems}"));
}

/// The JSON Schema has every key and allows no others.
#[test]
fn the_schema_has_every_key() {
    let schema = schema::json_schema();
    assert_eq!(schema["additionalProperties"], false);
    for section in schema::sections() {
        let table = &schema["properties"][section.name];
        let table = if section.repeated { &table["items"] } else { table };
        let variants = section.choosers.iter().flat_map(|chooser| chooser.variants());
        // A key of the section is described as such, whatever a variant adds.
        let own: Vec<&str> = section.keys.iter().map(|key| key.name).collect();
        let of_variants = variants.flat_map(|variant| &variant.keys).filter(|key| !own.contains(&key.name));
        for key in section.keys.iter().chain(of_variants) {
            let property = &table["properties"][key.name];
            assert!(property["description"].as_str().is_some_and(|d| d.contains(key.doc)), "{}", key.name);
        }
        assert_eq!(table["additionalProperties"], false);
    }
    // Tables within tables have their keys, too.
    let class = &schema["properties"]["machine"]["properties"]["class"]["additionalProperties"];
    assert_eq!(class["additionalProperties"], false);
    assert!(class["properties"]["bandwidth"]["description"].as_str().is_some_and(|doc| !doc.is_empty()));
    let line = &schema["properties"]["mpi"]["properties"]["allreduce"]["anyOf"][1]["items"]["properties"];
    assert_eq!(line["up_to_ranks"]["minimum"], 1);
}
