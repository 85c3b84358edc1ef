//! `[mpi]`: costs of the messages of programs, and algorithms of collectives.

use odonata_declare::{Choice, Key, Kind, ParameterStruct, Value, Word};
use odonata_document::{Entry, Fields, Node, ProblemKind, Raw, Report, Section, Table};
use odonata_programs::collective::{self, CollectivePreset, Collectives, ALGORITHMS};
use odonata_programs::Operation;
use odonata_transport::{HostCosts, MpiSettings};
use std::sync::{Arc, LazyLock};

/// The algorithms as choices.
static NAMES: LazyLock<Vec<Choice>> =
    LazyLock::new(|| ALGORITHMS.iter().map(|known| Choice { name: known.name, doc: known.doc }).collect());

/// The keys of one line of a choice by size.
static LINE: LazyLock<Vec<Key>> = LazyLock::new(|| {
    vec![
        Key::optional("up_to", Kind::Bytes, "any size", "Maximum size of a call for this line."),
        Key::optional("up_to_ranks", Kind::COUNT, "any number", "Maximum ranks of a communicator for this line."),
        Key::required("use", Kind::Choice(&NAMES), "The algorithm."),
    ]
});

/// Value of a collective whose algorithms the preset selects.
const BY_PRESET: &str = "preset";

static NAMES_OR_PRESET: LazyLock<Vec<Choice>> = LazyLock::new(|| {
    let by_preset = Choice { name: BY_PRESET, doc: "as `preset` selects it" };
    std::iter::once(by_preset).chain(NAMES.iter().copied()).collect()
});

static BY_SIZE: LazyLock<[Kind; 2]> = LazyLock::new(|| {
    let line: &'static Kind = Box::leak(Box::new(Kind::Table(&LINE)));
    [Kind::Choice(&NAMES_OR_PRESET), Kind::List(line)]
});

/// The keys of `[mpi]`.
pub(super) static SECTION: LazyLock<Section> = LazyLock::new(|| {
    let mut keys = vec![Key::with_default(
        "preset",
        CollectivePreset::KIND,
        Value::text(CollectivePreset::default().word()),
        "Library whose algorithms the collectives use, each selected by the number of ranks and the size.",
    )
    .deciding()];
    keys.extend(MpiSettings::default().keys());
    keys.extend(Operation::ALL.iter().map(|&operation| {
        Key::with_default(
            operation.name(),
            Kind::Any(&*BY_SIZE),
            Value::text(BY_PRESET),
            "Algorithm of this collective, or algorithms by size, `[{ up_to = \"16 KiB\", use = … }, { use = … }]`; the first entry whose limits hold applies.",
        )
    }));
    let doc =
        "Costs of the messages of programs at hosts and NICs in the packet engine, and algorithms of collectives in \
               all engines. The section has no effect on jobs with a pattern.";
    Section::new("mpi", doc, keys)
});

/// `[mpi]` as given in the file.
#[derive(Clone, Debug)]
pub(crate) struct MpiSpec {
    pub(crate) settings: MpiSettings,
    pub(crate) collectives: Arc<Collectives>,
}

/// Reads `[mpi]`; without a section, the defaults hold.
pub(super) fn read(section: Option<(&Entry, &Table)>, report: &mut Report<'_>) -> MpiSpec {
    let mut settings = MpiSettings::default();
    let fields = SECTION.read(section, report);
    fields.set(&mut settings);
    let preset = fields.text("preset").and_then(CollectivePreset::from_word).unwrap_or_default();
    let mut collectives = Collectives::of(preset);
    if let Some((entry, text)) = section.and_then(|(_, table)| table.get("preset")).and_then(text_of) {
        if CollectivePreset::from_word(text).is_none() && HostCosts::from_word(text).is_some() {
            let reason = format!("'{text}' is a choice of host costs, and 'preset' selects algorithms of collectives");
            report.add(ProblemKind::Value, entry.node.place, reason, Some(format!("write host = \"{text}\"")));
        }
    }
    for operation in Operation::ALL {
        let Some(entry) = section.and_then(|(_, table)| table.get(operation.name())) else { continue };
        if matches!(&entry.node.raw, Raw::Text(name) if name == BY_PRESET) {
            continue;
        }
        match choice(operation, entry, report) {
            Ok(choice) => collectives.set(choice),
            Err(Some(reason)) => {
                report.add(ProblemKind::Value, entry.node.place, format!("'{}': {reason}", operation.name()), None);
            }
            Err(None) => {}
        }
    }
    MpiSpec { settings, collectives: Arc::new(collectives) }
}

fn text_of(entry: &Entry) -> Option<(&Entry, &str)> {
    match &entry.node.raw {
        Raw::Text(text) => Some((entry, text)),
        _ => None,
    }
}

/// The algorithms of one operation, or the reason of a mistake that is not reported yet.
fn choice(operation: Operation, entry: &Entry, report: &mut Report<'_>) -> Result<collective::Choice, Option<String>> {
    let lines = match &entry.node.raw {
        Raw::Text(name) => return collective::Choice::of(operation, name).map_err(Some),
        Raw::List(lines) => lines,
        other => {
            let expected = "the name of an algorithm, or a list of tables with `use` and limits";
            return Err(Some(format!("expected {expected}, found {}", other.noun())));
        }
    };
    let read: Vec<Option<Fields>> = lines.iter().map(|line| read_line(operation, line, report)).collect();
    let read: Vec<Fields> = read.into_iter().collect::<Option<_>>().ok_or(None)?;
    let limits: Vec<_> = read
        .iter()
        .map(|line| {
            let up_to = match line.value("up_to") {
                Some(Value::Bytes(bytes)) => Some(*bytes),
                _ => None,
            };
            (up_to, line.count("up_to_ranks"), line.text("use").unwrap_or_default())
        })
        .collect();
    collective::Choice::by_size(operation, &limits).map_err(Some)
}

fn read_line(operation: Operation, line: &Node, report: &mut Report<'_>) -> Option<Fields> {
    let heading = format!("a line of '{}'", operation.name());
    let Raw::Table(table) = &line.raw else {
        let message = format!("{heading} must be a table, found {}", line.raw.noun());
        report.add(ProblemKind::Type, line.place, message, Some("write `{ up_to = \"16 KiB\", use = … }`".into()));
        return None;
    };
    let fields = Fields::read_all(&heading, line.place, table, &LINE, report);
    fields.given("use").is_some().then_some(fields)
}

impl MpiSpec {
    /// Every key with the value that is used.
    pub(crate) fn resolved(&self) -> toml::Table {
        let mut table = toml::Table::from_iter([("preset".to_owned(), self.collectives.preset().word().into())]);
        table.extend(self.settings.values().into_iter().map(|(key, value)| (key.to_owned(), value.to_toml())));
        for operation in Operation::ALL {
            let rules = self.collectives.chosen(operation).map(collective::Choice::rules).unwrap_or_default();
            let line = |rule: &collective::Rule| {
                let mut line = toml::Table::new();
                if let Some(up_to) = rule.up_to {
                    line.insert("up_to".into(), Value::Bytes(up_to).to_toml());
                }
                if let Some(ranks) = rule.up_to_ranks {
                    line.insert("up_to_ranks".into(), i64::from(ranks).into());
                }
                line.insert("use".into(), rule.algorithm.name.into());
                toml::Value::Table(line)
            };
            let value = match rules {
                [] => BY_PRESET.into(),
                [only] => only.algorithm.name.into(),
                several => toml::Value::Array(several.iter().map(line).collect()),
            };
            table.insert(operation.name().into(), value);
        }
        table
    }
}
