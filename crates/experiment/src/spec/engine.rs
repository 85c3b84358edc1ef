//! `[engine]`: the engine that computes the traffic.

use odonata_declare::{Family, Key, Kind, Value, VariantInfo};
use odonata_document::{
    expect_table, format,
    variant::{self, belongs_to},
    Chooser, Document, Entry, Fields, Place, ProblemKind, Raw, Report, Section, Table,
};
use odonata_engines::{Engine, ENGINES};
use std::sync::LazyLock;

const DEFAULT_SEED: i64 = 1;

pub(crate) static ENGINE: Family = Family::new("engine", || {
    ENGINES.iter().map(|engine| VariantInfo { name: engine.name, doc: engine.doc, keys: (engine.keys)() }).collect()
});

/// The keys of `[engine]`.
pub(super) static SECTION: LazyLock<Section> = LazyLock::new(|| {
    let keys = vec![
        Key::with_default("kind", Kind::Choice(ENGINE.choices()), Value::text(ENGINES[0].name), "Engine that computes the traffic."),
        Key::with_default(
            "seed",
            Kind::Seed,
            Value::Integer(DEFAULT_SEED),
            "Seed of all random choices of the run: placement, patterns, paths, faults. Each has its own stream, so another \
             job does not change the choices of the others.",
        ),
    ];
    Section {
        name: "engine",
        repeated: false,
        doc: "The engine and its settings.",
        keys,
        choosers: vec![Chooser { key: "kind", family: &ENGINE }],
    }
});

/// An engine with its settings.
#[derive(Debug)]
pub(crate) struct EngineSpec {
    pub(crate) seed: u64,
    pub(crate) engine: Box<dyn Engine>,
    /// Place of the section, if given, and the given keys.
    pub(crate) place: Option<Place>,
    pub(crate) places: Vec<(&'static str, Place)>,
}

impl EngineSpec {
    /// `None` if there is no engine of that kind; without a section everything is as by default.
    pub(crate) fn read(section: Option<(&Entry, &Table)>, report: &mut Report<'_>) -> Option<Self> {
        let empty = Table::default();
        let (place, table) = section.map_or((report.document.whole(0), &empty), |(entry, table)| (entry.place, table));
        let common = Fields::read("[engine]", place, table, &SECTION.keys, report);
        // A kind that is none was reported; without it nobody knows what else may be there.
        if table.get("kind").is_some() && common.given("kind").is_none() {
            return None;
        }
        let kind = ENGINES.iter().find(|engine| Some(engine.name) == common.text("kind"))?;
        let variant = ENGINE.variant(kind.name).expect("every engine is a variant");
        let heading = format!("[engine] of kind '{}'", kind.name);
        let known: Vec<&'static str> = SECTION.keys.iter().chain(&variant.keys).map(|key| key.name).collect();
        report.unknown_keys(&heading, table, &known, |key| format::moved(key).or_else(|| belongs_to(&ENGINE, key)));
        let mut fields = Fields::read(&heading, place, table, &variant.keys, report);
        for key in variant.keys.iter().filter(|key| matches!(key.kind, Kind::Variant(_))) {
            if report_other_engines(kind.name, key, table, report) {
                return None;
            }
            if table.get(key.name).is_some() {
                fields.variants.push((key.name, variant::read_key(key, place, table, report)?));
            }
        }
        for key in &variant.keys {
            if let (Kind::Table(keys), Some(entry)) = (key.kind, table.get(key.name)) {
                let heading = format!("[engine.{}]", key.name);
                let of_table = expect_table(entry, &heading, report)?;
                fields.tables.push((key.name, Fields::read_all(&heading, entry.place, of_table, keys, report)));
            }
        }
        let engine = (kind.read)(&fields, report);
        Some(Self {
            seed: common.integer("seed").unwrap_or(DEFAULT_SEED).unsigned_abs(),
            engine,
            place: section.map(|(entry, _)| entry.place),
            places: places(&fields),
        })
    }
}

/// Reports a name at `key` that only other engines accept.
fn report_other_engines(kind: &str, key: &Key, table: &Table, report: &mut Report<'_>) -> bool {
    let Some((name, place)) = table.get(key.name).and_then(variant::name_at) else { return false };
    let takes = |engine: &&VariantInfo| {
        let family = engine.keys.iter().find(|other| other.name == key.name).map(|other| other.kind);
        matches!(family, Some(Kind::Variant(family)) if family.variant(name).is_some())
    };
    let engines: Vec<&VariantInfo> = ENGINE.variants().iter().filter(takes).collect();
    if engines.is_empty() || engines.iter().any(|engine| engine.name == kind) {
        return false;
    }
    let owners: Vec<String> = engines.iter().map(|engine| format!("`kind = \"{}\"`", engine.name)).collect();
    let Kind::Variant(family) = key.kind else { unreachable!("a name stands for a variant") };
    let own: Vec<&str> = family.choices().iter().map(|choice| choice.name).collect();
    let message = format!("the {kind} engine does not take {} '{name}'", key.name);
    let help = format!("{} takes it; the {kind} engine takes {}", owners.join(" or "), own.join(", "));
    report.add(ProblemKind::Name, place, message, Some(help));
    true
}

/// Places of all given keys and parameters of variants.
fn places(fields: &Fields) -> Vec<(&'static str, Place)> {
    let given = fields.all_given().map(|(key, value)| (key, value.place));
    let variants = fields.variants.iter().flat_map(|(key, chosen)| {
        let parameters = chosen.parameters.iter().map(|(parameter, value)| (*parameter, value.place));
        std::iter::once((*key, chosen.name.place)).chain(parameters)
    });
    given.chain(variants).collect()
}

/// The seed, for callers that need nothing else of the engine.
pub(crate) fn seed(document: &Document) -> u64 {
    let given = document.root.get("engine").and_then(|entry| match &entry.node.raw {
        Raw::Table(table) => table.get("seed"),
        _ => None,
    });
    match given.map(|entry| &entry.node.raw) {
        Some(Raw::Integer(seed)) if *seed >= 0 => seed.unsigned_abs(),
        _ => DEFAULT_SEED.unsigned_abs(),
    }
}
