//! `[machine]`: the hardware.

use super::edit;
use odonata_declare::{Choice, Family, Key, Kind, ParameterStruct, Value, VariantInfo};
use odonata_document::{
    expect_table, variant::belongs_to, Chooser, Entry, Fields, Place, PlacedValue, ProblemKind, Report, Section, Table,
};
use odonata_machine::edit::Edit;
use odonata_machine::import::FORMATS;
use odonata_machine::presets::{self, Partition};
use odonata_machine::topology::TOPOLOGIES;
use odonata_machine::{NodeSettings, RailSettings};
use odonata_workload::rail_choice::RailChoice;
use std::sync::LazyLock;

/// The word for a port budget that is none.
pub(crate) const UNLIMITED: &Choice = &Choice { name: "unlimited", doc: "no budget" };

static PRESET: Family = Family::new("preset", || {
    presets::names().iter().map(|p| VariantInfo { name: p.name, doc: p.summary, keys: Vec::new() }).collect()
});
pub(crate) static TOPOLOGY: Family = Family::new("topology", || TOPOLOGIES.iter().map(VariantInfo::of).collect());
pub(crate) static FORMAT: Family = Family::new("format", || FORMATS.iter().map(VariantInfo::of).collect());

/// The keys of `[machine]`.
pub(super) static SECTION: LazyLock<Section> = LazyLock::new(|| {
    let mut keys = vec![
        Key::optional(
            "preset",
            Kind::Choice(PRESET.choices()),
            "none",
            "Known machine. Give exactly one of `preset`, `topology` and `file`.",
        ),
        Key::optional(
            "topology",
            Kind::Choice(TOPOLOGY.choices()),
            "none",
            "Family of machines; its parameters are keys of this section.",
        ),
        Key::optional("file", Kind::Path, "none", "File with the cables, also compressed by gzip."),
        Key::optional("format", Kind::Choice(FORMAT.choices()), "by the content of the file", "Format of the file."),
        Key::optional(
            "partition",
            Kind::Table(PARTITION_KEYS),
            "the whole machine",
            "Block of a Blue Gene preset, a separate network: `{ shape = [8, 8, 16], mesh = \"Z\" }`.",
        ),
    ];
    keys.extend(NodeSettings::default().keys());
    keys.extend([
        Key::optional(
            "node_counts",
            Kind::Any(&[Kind::Text, Kind::List(&Kind::Text)]),
            FROM,
            "Node counts of some routers, in order: `group 70-73: 2`, `level 0 pod 3: 0`, `g5r1: 16 service` (not for jobs), `g5r2: 15 + 1 storage` (one storage node).",
        ),
        Key::optional(
            "node_names",
            Kind::Any(&[Kind::Text, Kind::List(&Kind::Text)]),
            "the routers' names with a number",
            "Names of the nodes in the order of their numbers, as in batch systems (`nid[00001-05760]`): of all nodes, or of the nodes for jobs.",
        ),
        Key::optional(
            "nodes_file",
            Kind::Path,
            "none",
            "CSV file with the names: `name` and `node` (number), or `name` and `router` (name or number; nodes in the order of the lines).",
        ),
    ]);
    keys.extend(RailSettings::default().keys());
    keys.extend(RailChoice::default().keys());
    keys.extend([
        Key::with_default(
            "edit",
            Kind::Any(&[Kind::Text, Kind::List(&Kind::Any(&[Kind::Text, Kind::Table(edit::KEYS)]))]),
            Value::List(Vec::new()),
            "Changes of the cabling, in order: `-K` (one black cable fewer per router pair), `+B-K`, `+2 global`, \
             `fail g0r1c2`, `fail 5% blue`, `blue.bandwidth*=0.5`; or tables.",
        ),
        Key::optional(
            "class",
            Kind::TableOfTables(CLASS_KEYS),
            "as the preset, the topology or the file says",
            "Settings of a link class, `[machine.class.blue]`, for all its cables, applied before the edits. `terminal` is the class of the links between nodes and routers.",
        ),
    ]);
    Section {
        name: "machine",
        repeated: false,
        doc: "The hardware: a preset, a family with parameters, or a file.",
        keys,
        choosers: vec![Chooser { key: "topology", family: &TOPOLOGY }, Chooser { key: "format", family: &FORMAT }],
    }
});

const FROM: &str = "of the preset, the topology or the file";

/// The keys of `partition`.
const PARTITION_KEYS: &[Key] = &[
    Key::required("shape", Kind::List(&Kind::count(1)), "Nodes along each axis."),
    Key::optional(
        "mesh",
        Kind::Text,
        "none of a block of whole midplanes, else all",
        "Letters of the axes that do not wrap around.",
    ),
];

/// The keys of a link class.
const CLASS_KEYS: &[Key] = &[
    Key::optional("bandwidth", Kind::Rate, FROM, "Bandwidth of each link in each direction.").deciding(),
    Key::optional("latency", Kind::Time, FROM, "Latency of each link.").deciding(),
    Key::optional(
        "ports_per_router",
        Kind::WordOr(UNLIMITED, &Kind::count(0)),
        FROM,
        "Maximum cables of the class at one router.",
    ),
    Key::optional(
        "price",
        Kind::Number { min: 0.0, max: f64::INFINITY },
        "unknown",
        "Price of a cable in any currency, for the cost of the cabling.",
    ),
];

/// Origin of the hardware.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Origin {
    /// A known machine.
    Preset(String),
    /// A family; its keys are in the fields.
    Topology(String),
    /// A file of this format, if one is given.
    File(Option<String>),
}

/// Settings of a link class.
#[derive(Debug)]
pub(crate) struct ClassSpec {
    pub(crate) name: String,
    pub(crate) name_place: Place,
    pub(crate) fields: Fields,
}

/// Hardware as given in the file.
#[derive(Debug)]
pub(crate) struct MachineSpec {
    pub(crate) origin: Origin,
    pub(crate) origin_place: Place,
    /// Keys that every machine has.
    pub(crate) common: Fields,
    /// Keys of the topology or the format.
    pub(crate) own: Fields,
    pub(crate) edits: Vec<PlacedValue<Edit>>,
    pub(crate) classes: Vec<ClassSpec>,
    pub(crate) partition: Option<PlacedValue<Partition>>,
}

impl MachineSpec {
    pub(crate) fn read(entry: &Entry, table: &Table, report: &mut Report<'_>) -> Option<Self> {
        let place = entry.place;
        let all = Fields::read("[machine]", place, table, &SECTION.keys, report);
        let classes = read_classes(table.get("class"), report);
        let edits = edit::read_all(table.get("edit"), report);
        let (origin, origin_place) = read_origin(table, &all, report)?;
        let variant = match &origin {
            Origin::Preset(_) | Origin::File(None) => None,
            Origin::Topology(name) => TOPOLOGY.variant(name),
            Origin::File(Some(name)) => FORMAT.variant(name),
        };
        let empty = Vec::new();
        let variant_keys = variant.map_or(&empty, |variant| &variant.keys);
        let own = Fields::read("[machine]", place, table, variant_keys, report);
        check_keys(&origin, table, variant_keys, report);
        let partition = read_partition(table.get("partition"), report);
        if let (Some(partition), Origin::Topology(_) | Origin::File(_)) = (&partition, &origin) {
            let message = "'partition' is a block of a preset; this machine is none".to_owned();
            report.add(ProblemKind::Conflict, partition.place, message, None);
            return None;
        }
        Some(Self { origin, origin_place, common: all, own, edits, classes, partition })
    }

    /// Place of a key or a parameter, otherwise of the origin of the machine.
    pub(crate) fn place_of(&self, key: &str) -> Place {
        let given = self.own.given(key).or_else(|| self.common.given(key)).map(|located| located.place);
        let block = self.partition.as_ref().filter(|_| key == "partition").map(|partition| partition.place);
        given.or(block).unwrap_or(self.origin_place)
    }
}

/// The keys that name a machine; exactly one must be given.
pub(super) const ORIGINS: [&str; 3] = ["preset", "topology", "file"];

/// Which of the `ORIGINS` is given.
fn read_origin(table: &Table, fields: &Fields, report: &mut Report<'_>) -> Option<(Origin, Place)> {
    let mut written: Vec<&Entry> = ORIGINS.iter().filter_map(|key| table.get(key)).collect();
    written.sort_by_key(|entry| (entry.place.source, entry.place.start));
    if written.is_empty() {
        let help = "add `preset = \"edison\"`, `topology = \"dragonfly\"` or `file = \"cables.csv\"`".to_owned();
        let message = "[machine] says neither 'preset' nor 'topology' nor 'file'";
        report.add(ProblemKind::MissingKey, fields.place, message, Some(help));
    }
    for second in written.iter().skip(1) {
        let message = format!("'{}' and '{}' exclude each other: a machine has one origin", written[0].key, second.key);
        let help = "remove one of them; an override replaces all at once: `machine={ preset = \"edison\" }`".to_owned();
        report.add(ProblemKind::Conflict, second.place, message, Some(help));
    }
    let [first] = written[..] else { return None };
    // A value that is none was reported.
    let name = fields.text(&first.key)?.to_owned();
    let origin = match first.key.as_str() {
        "preset" => Origin::Preset(name),
        "topology" => Origin::Topology(name),
        _ if table.get("format").is_some() => Origin::File(Some(fields.text("format")?.to_owned())),
        _ => Origin::File(None),
    };
    Some((origin, first.node.place))
}

/// Reports keys that a machine of this origin does not have.
fn check_keys(origin: &Origin, table: &Table, own: &[Key], report: &mut Report<'_>) {
    let common = SECTION.keys.iter().map(|key| key.name);
    let common = common.filter(|&key| key != "format" || matches!(origin, Origin::File(_)));
    let mut known: Vec<&'static str> = common.chain(own.iter().map(|key| key.name)).collect();
    // Exclusive origins were reported already.
    known.extend(["preset", "topology", "file"]);
    let mut seen = Vec::new();
    known.retain(|key| {
        !seen.contains(key) && {
            seen.push(*key);
            true
        }
    });
    let heading = match origin {
        Origin::Preset(_) => "[machine] with a preset".to_owned(),
        Origin::Topology(name) => format!("[machine] of topology '{name}'"),
        Origin::File(Some(format)) => format!("[machine] from a file of format '{format}'"),
        Origin::File(None) => "[machine] from a file".to_owned(),
    };
    let elsewhere = |key: &str| SECTION.choosers.iter().find_map(|chooser| belongs_to(chooser.family, key));
    report.unknown_keys(&heading, table, &known, elsewhere);
}

fn read_partition(entry: Option<&Entry>, report: &mut Report<'_>) -> Option<PlacedValue<Partition>> {
    const EXAMPLE: &str = "partition = { shape = [8, 8, 16] }";
    let entry = entry?;
    let table = expect_table(entry, EXAMPLE, report)?;
    let fields = Fields::read_all("'partition'", entry.place, table, PARTITION_KEYS, report);
    let mesh = fields.text("mesh").map(Into::into);
    Some(PlacedValue { value: Partition { shape: fields.counts("shape")?, mesh }, place: entry.place })
}

fn read_classes(entry: Option<&Entry>, report: &mut Report<'_>) -> Vec<ClassSpec> {
    const EXAMPLE: &str = "[machine.class.blue]";
    let Some(classes) = entry.and_then(|entry| expect_table(entry, EXAMPLE, report)) else { return Vec::new() };
    let mut read = Vec::new();
    for class in &classes.entries {
        if !class.is_section() && CLASS_KEYS.iter().any(|key| key.name == class.key) {
            let message = format!("'{}' is a figure of a class, but no class is named", class.key);
            report.add(ProblemKind::Type, class.place, message, Some(format!("write {EXAMPLE}")));
            continue;
        }
        let Some(table) = expect_table(class, EXAMPLE, report) else { continue };
        let heading = format!("[machine.class.{}]", class.key);
        let fields = Fields::read_all(&heading, class.place, table, CLASS_KEYS, report);
        read.push(ClassSpec { name: class.key.clone(), name_place: class.place, fields });
    }
    read
}

impl ClassSpec {
    /// The port budget: `None` if not given, `Some(None)` if unlimited.
    pub(crate) fn ports(&self) -> Option<Option<u32>> {
        match &self.fields.given("ports_per_router")?.value {
            Value::Integer(_) => Some(self.fields.count("ports_per_router")),
            _ => Some(None),
        }
    }
}
