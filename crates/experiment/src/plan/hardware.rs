//! From `[machine]` to a machine.

use super::failures::{usable_nics, FailedNodes};
use super::node_names;
use super::pieces::{cables_by_class, cut_warning, edit_warnings, without, NO_PATHS};
use super::values::table_of;
use crate::spec::machine::{ClassSpec, MachineSpec, Origin, UNLIMITED};
use odonata_declare::{Assumption, Kind, ParameterStruct, Value, Variant};
use odonata_document::{suggestion, Files, Place, PlacedValue, ProblemKind, Report};
use odonata_machine::edit::{self, Edit, FigureChange};
use odonata_machine::import::{self, FormatError, FORMATS, NIC_BANDWIDTH};
use odonata_machine::topology::{Extent, TOPOLOGIES};
use odonata_machine::{metrics, presets};
use odonata_machine::{LinkClass, Machine, MachineBuilder, MachineError, NodeSettings, RailSettings, Rails};
use odonata_memory as memory;
use odonata_workload::rail_choice::RailChoice;
use std::path::Path;
use toml::Table;

/// A built machine, with further facts.
pub(super) struct Hardware {
    pub(super) machine: Machine,
    /// Rule that spreads messages over the NICs of nodes.
    pub(super) rails: RailChoice,
    pub(super) prices: Vec<(String, f64)>,
    pub(super) declared: Option<&'static presets::DeclaredCounts>,
    /// `[machine]` with every key.
    pub(super) resolved: Table,
    /// What a user should know of the edits.
    pub(super) warnings: Vec<String>,
    /// Whether jobs could use each NIC before the edits.
    usable: Vec<bool>,
    /// Nodes that failures take from jobs.
    pub(super) failed: FailedNodes,
    /// The warnings about dead NICs.
    pub(super) cut_off: Vec<String>,
    /// What the reader of its file took for figures that nobody gave.
    pub(super) assumptions: Vec<Assumption>,
    /// Classes whose bandwidth a key or an edit changes, with its place.
    pub(super) changed_bandwidths: Vec<(String, Place)>,
    /// Patterns of keys that change nothing on this machine.
    pub(super) ignored: Vec<String>,
}

impl Hardware {
    /// The machine for jobs, with the nodes that failures take from them. Jobs have no paths between parts of the
    /// machine; so if edits cut off less than half of the nodes, the routers there count as failed.
    pub(super) fn for_jobs(mut self, spec: &MachineSpec, report: &mut Report<'_>) -> Option<Self> {
        let found = (!spec.edits.is_empty()).then(|| metrics::connectivity_of(&self.machine));
        match found.filter(|found| found.components > 1) {
            Some(found) if found.nodes_cut_off > 0 && !self.machine.has_rails() => {
                let usable = self.machine.nodes().filter(|&node| self.machine.node_up(node)).count();
                if 2 * found.nodes_cut_off >= usable {
                    let place = spec.edits[spec.edits.len() - 1].place;
                    let message = format!(
                        "failed or missing cables cut the machine into {} parts, of which the largest has {} of {usable} \
                         nodes",
                        found.components,
                        usable - found.nodes_cut_off
                    );
                    report.add(ProblemKind::Machine, place, message, Some(NO_PATHS.to_owned()));
                    return None;
                }
                let words;
                (self.machine, words) = without(self.machine, &found);
                self.warnings.push(words);
            }
            found => self.warnings.extend(found.as_ref().and_then(cut_warning)),
        }
        self.failed = FailedNodes::of(&self.machine, &self.usable);
        Some(self)
    }
}

/// Builds the machine; `None` if a problem was reported.
pub(super) fn build(spec: &MachineSpec, seed: u64, files: &mut Files<'_>, report: &mut Report<'_>) -> Option<Hardware> {
    let (mut builder, mut resolved) = origin(spec, seed, files, report)?;
    let mut nodes = NodeSettings::default();
    spec.common.set(&mut nodes);
    // A topology or format that has the key of its own has used it.
    nodes.nodes_per_router = nodes.nodes_per_router.filter(|_| spec.own.given("nodes_per_router").is_none());
    nodes.apply(&mut builder);
    node_names::count(&mut builder, spec, &mut resolved, report)?;
    node_names::give(&mut builder, spec, files, &mut resolved, report)?;
    let changed_bandwidths = changed_bandwidths(&builder, spec);
    let prices = apply_classes(&mut builder, &spec.classes, report)?;
    let assumptions = assumptions(&mut builder, spec);
    describe(&builder, spec, &prices, &mut resolved);
    let rails = add_rails(&mut builder, spec, &mut resolved, report)?;
    let (before, usable) = (cables_by_class(&builder), usable_nics(&builder));
    let mut builder = apply_edits(builder, spec, seed, report)?;
    if !builder.reading.is_empty() {
        let found = nics_found(&builder, &assumptions);
        builder.reading.push(found);
    }
    let after = cables_by_class(&builder);
    let machine = match builder.build() {
        Ok(machine) => machine,
        Err(error) => {
            report_machine_error(&error, spec, report);
            return None;
        }
    };
    let other_nodes =
        ["nodes_per_router", "node_counts", "planes", "rails"].iter().any(|key| spec.common.given(key).is_some());
    let untouched = spec.edits.is_empty() && spec.partition.is_none() && !other_nodes;
    let declared = match &spec.origin {
        Origin::Preset(name) if untouched => Some(&presets::find(name).expect("a known preset").declared),
        _ => None,
    };
    let (machine, cut_off) = machine.without_cut_off();
    let cut_off: Vec<String> = cut_off.iter().map(|part| part.describe(&machine)).collect();
    let mut warnings = if spec.edits.is_empty() { Vec::new() } else { edit_warnings(&before, &after) };
    warnings.extend(cut_off.iter().cloned());
    // With one NIC there is nothing to choose.
    let of_several = ["rail_routers", "rail_rule", "stripe_from"].map(|key| format!("machine.{key}"));
    let ignored = if machine.has_rails() { Vec::new() } else { of_several.to_vec() };
    Some(Hardware {
        usable,
        failed: FailedNodes::default(),
        machine,
        rails,
        prices,
        declared,
        resolved,
        warnings,
        cut_off,
        assumptions,
        changed_bandwidths,
        ignored,
    })
}

/// Gives nodes further NICs. Returns the rule that spreads messages over them.
fn add_rails(
    builder: &mut MachineBuilder,
    spec: &MachineSpec,
    resolved: &mut Table,
    report: &mut Report<'_>,
) -> Option<RailChoice> {
    let of_preset = match &spec.origin {
        Origin::Preset(name) => presets::find(name).expect("a known preset").rails(),
        _ => RailSettings::default(),
    };
    let (mut settings, mut choice) = (of_preset, RailChoice::default());
    spec.common.set(&mut settings);
    spec.common.set(&mut choice);
    if let Some(of_file) = builder.nics_per_node() {
        let keys = settings.keys().into_iter().map(|key| key.name).chain(["nodes_per_router", "node_counts"]);
        if let Some((key, given)) = keys.into_iter().find_map(|key| Some((key, spec.common.given(key)?))) {
            let message = format!("'{key}' with a file whose nodes have {of_file} NICs already; leave it out");
            report.add(ProblemKind::Conflict, given.place, message, None);
            return None;
        }
        resolved.extend(table_of(choice.values()));
        return Some(choice);
    }
    // Said to be 1 they are one value of a sweep.
    let is_several = |count: u32, key: &str| count > 1 || spec.common.given(key).is_some();
    let (has_rails, has_planes) = (is_several(settings.rails, "rails"), is_several(settings.planes, "planes"));
    let useless = choice.keys().into_iter().map(|key| key.name).filter(|_| !has_rails && !has_planes);
    let mut useless = useless.chain(["rail_routers"].into_iter().filter(|_| !has_rails));
    if let Some((key, place)) = useless.find_map(|key| Some((key, spec.common.given(key)?.place))) {
        let of = if key == "rail_routers" { "'rails'" } else { "'rails' or 'planes'" };
        let message = format!("'{key}' needs nodes with several NICs: give {of}, or leave it out");
        report.add(ProblemKind::Conflict, place, message, None);
        return None;
    }
    if let Err(error) = builder.add_rails(settings) {
        report_machine_error(&error, spec, report);
        return None;
    }
    resolved.extend(table_of(settings.values()));
    resolved.extend(table_of(choice.values()));
    Some(choice)
}

/// The classes whose bandwidth a key or an edit changes. A resolved file repeats the values of its machine, which is no
/// change.
fn changed_bandwidths(builder: &MachineBuilder, spec: &MachineSpec) -> Vec<(String, Place)> {
    let nics_assumed = builder.assumptions.iter().any(|known| known.key == NIC_BANDWIDTH);
    let by_class = spec.classes.iter().filter(|class| {
        let known = builder.classes.iter().chain([&builder.terminal]).find(|known| known.name == class.name);
        let same = known.map(|known| known.bandwidth) == class.fields.rate("bandwidth");
        class.fields.rate("bandwidth").is_some() && !same && !(nics_assumed && class.name == builder.terminal.name)
    });
    let by_class = by_class.map(|class| (class.name.clone(), class.fields.place_of("bandwidth")));
    let by_edit = spec.edits.iter().filter_map(|edit| match &edit.value {
        Edit::Figure { class, change: FigureChange::Bandwidth(_) | FigureChange::BandwidthFactor(_) } => {
            Some((class.clone(), edit.place))
        }
        _ => None,
    });
    by_class.chain(by_edit).collect()
}

/// What the reader of a file assumed and nobody gave: neither a key nor an edit. With the bandwidth of the cables
/// known, the one of the NICs follows from it.
fn assumptions(builder: &mut MachineBuilder, spec: &MachineSpec) -> Vec<Assumption> {
    let cables_given = spec.own.given("bandwidth").is_some();
    let given = |key: &str| match key.split('.').collect::<Vec<_>>()[..] {
        ["class", name, figure] => {
            let by_class = spec.classes.iter().any(|class| class.name == name && class.fields.given(figure).is_some());
            let by_format = name != builder.terminal.name && spec.own.given(figure).is_some();
            let by_edit = |edit: &Edit| {
                matches!((figure, edit), ("bandwidth", Edit::Figure { class, change: FigureChange::Bandwidth(_) })
                    | ("latency", Edit::Figure { class, change: FigureChange::Latency(_) }) if class == name)
            };
            by_class || by_format || spec.edits.iter().any(|edit| by_edit(&edit.value))
        }
        _ => [&spec.own, &spec.common].iter().any(|fields| fields.given(key).is_some()),
    };
    let mut assumed: Vec<Assumption> = builder.assumptions.iter().filter(|known| !given(&known.key)).cloned().collect();
    let is_rate = |known: &&Assumption| known.key.ends_with(".bandwidth") && known.key != NIC_BANDWIDTH;
    let unknown_cables = assumed.iter().filter(is_rate).count() == builder.classes.len();
    if let Some(nics) = assumed.iter_mut().find(|known| known.key == NIC_BANDWIDTH) {
        // Nothing is known of a file without bandwidths, so all links keep the same default.
        if let Some((rate, rule)) = builder.bandwidth_of_nics().filter(|_| cables_given || !unknown_cables) {
            builder.terminal.bandwidth = rate;
            nics.value = Value::Rate(rate).to_toml().to_string();
            nics.reason = format!("{}; as {rule}", nics.reason);
        }
    }
    for known in &mut assumed {
        known.key = format!("machine.{}", known.key);
    }
    assumed
}

/// The NICs of a node in a few words, for the line that says how a file was understood.
fn nics_found(builder: &MachineBuilder, assumptions: &[Assumption]) -> String {
    let Rails { planes, per_plane, .. } = builder.rails;
    let rails = format!("{per_plane} rail{}", if per_plane == 1 { "" } else { "s" });
    let rails = if planes == 1 { rails } else { format!("{planes} planes with {rails} each") };
    let assumed = assumptions.iter().any(|known| known.key.strip_prefix("machine.") == Some(NIC_BANDWIDTH));
    let source = if assumed { "assumed" } else { "given" };
    format!("{rails}, bandwidth of the nodes' links {} ({source})", builder.terminal.bandwidth)
}

/// The machine as its origin has it, and the keys that say so.
fn origin(
    spec: &MachineSpec,
    seed: u64,
    files: &mut Files<'_>,
    report: &mut Report<'_>,
) -> Option<(MachineBuilder, Table)> {
    let mut resolved = Table::new();
    let built = match &spec.origin {
        Origin::Preset(name) => {
            resolved.insert("preset".into(), name.as_str().into());
            let known = presets::find(name).expect("a known preset");
            admit(known.declared.extent(), spec, report)?;
            preset(name, spec, &mut resolved)
        }
        Origin::Topology(name) => {
            resolved.insert("topology".into(), name.as_str().into());
            let known = Variant::find("topology", TOPOLOGIES, name).expect("a known topology");
            let mut family = (known.default)();
            spec.own.set(&mut *family);
            family.fit_defaults(&|key| spec.own.given(key).is_some());
            if let Some((key, reason)) = family.contradiction() {
                report.add(ProblemKind::Conflict, spec.place_of(key), reason, None);
                return None;
            }
            family.take_seed(seed);
            family.take_ports(&|class| spec.classes.iter().find(|c| c.name == class)?.ports()?);
            resolved.extend(table_of(family.values()));
            admit(family.extent(), spec, report)?;
            family.lay_out()
        }
        Origin::File(format) => from_file(format.as_deref(), spec, files, &mut resolved, report)?,
    };
    match built {
        Ok(builder) => Some((builder, resolved)),
        Err(error) => {
            report_machine_error(&error, spec, report);
            None
        }
    }
}

/// The machine in a file; `None` if a problem was reported.
fn from_file(
    format: Option<&str>,
    spec: &MachineSpec,
    files: &mut Files<'_>,
    resolved: &mut Table,
    report: &mut Report<'_>,
) -> Option<Result<MachineBuilder, MachineError>> {
    let name = spec.common.text("file").expect("the origin is a file").to_owned();
    let read = files.read(&name).map_err(|reason| (reason, None));
    let read = read.and_then(|bytes| {
        let format = format.map_or_else(|| import::detect(&bytes), Ok);
        let help = "if it is another file, say what it is: format = \"...\"".to_owned();
        format.map(|format| (bytes, format)).map_err(|reason| (format!("{name}: {reason}"), Some(help)))
    });
    let (bytes, format) = match read {
        Ok(read) => read,
        Err((reason, help)) => {
            report.add(ProblemKind::File, spec.origin_place, reason, help);
            return None;
        }
    };
    let mut reader = (Variant::find("format", FORMATS, format).expect("a known format").default)();
    if spec.common.given("format").is_some() {
        spec.own.set(&mut *reader);
    }
    resolved.insert("file".into(), files.path_of(&name).to_string_lossy().into_owned().into());
    resolved.insert("format".into(), format.into());
    let keys = reader.keys();
    for (key, value) in reader.values() {
        let path = keys.iter().any(|known| known.name == key && known.kind == Kind::Path);
        let value = match value {
            Value::Text(file) if path => files.path_of(&file).to_string_lossy().into_owned().into(),
            other => other.to_toml(),
        };
        resolved.insert(key.into(), value);
    }
    Some(match reader.read(&bytes, &name, files) {
        Ok(mut builder) => {
            // Without the folders: a machine is called by its name everywhere, and where it lay is in `resolved`.
            if let Some(short) = Path::new(&builder.name).file_name() {
                builder.name = short.to_string_lossy().into_owned();
            }
            builder.count_cables();
            Ok(builder)
        }
        Err(FormatError::Machine(error)) => Err(error),
        Err(FormatError::Unreadable(key, reason)) => {
            report.add(ProblemKind::File, spec.place_of(key), reason, None);
            return None;
        }
    })
}

/// A preset, or a block of it.
fn preset(name: &str, spec: &MachineSpec, resolved: &mut Table) -> Result<MachineBuilder, MachineError> {
    let Some(PlacedValue { value, .. }) = &spec.partition else { return presets::builder(name) };
    resolved.insert("partition".into(), block(value).into());
    presets::block(name, value)
}

/// A block of a machine, as it is written.
fn block(partition: &presets::Partition) -> Table {
    let shape = partition.shape.iter().map(|&nodes| toml::Value::from(nodes));
    let mut table = Table::from_iter([("shape".to_owned(), toml::Value::Array(shape.collect()))]);
    table.extend(partition.mesh.iter().map(|mesh| ("mesh".to_owned(), mesh.as_str().into())));
    table
}

/// Reports a machine that would take more memory than is left; nothing of it is there yet.
fn admit(extent: Extent, spec: &MachineSpec, report: &mut Report<'_>) -> Option<()> {
    let Err(reason) = memory::admit_machine(extent.memory_bytes(), memory::available()) else { return Some(()) };
    report.add(ProblemKind::Machine, spec.origin_place, reason, None);
    None
}

/// Sets the figures of the classes and collects their prices.
fn apply_classes(
    builder: &mut MachineBuilder,
    classes: &[ClassSpec],
    report: &mut Report<'_>,
) -> Option<Vec<(String, f64)>> {
    let mut prices = Vec::new();
    let mut wrong = false;
    for class in classes {
        let known: Vec<String> = builder.classes.iter().chain([&builder.terminal]).map(|c| c.name.clone()).collect();
        if !known.contains(&class.name) {
            let help = suggestion(&class.name, known.iter().map(String::as_str));
            let message = format!("{} has no link class '{}'", builder.name, class.name);
            report.add(ProblemKind::Name, class.name_place, message, Some(help));
            wrong = true;
            continue;
        }
        if let Some(price) = class.fields.number("price") {
            if class.name == builder.terminal.name {
                let message = "'price' is of cables between routers; the terminal class has none".to_owned();
                report.add(ProblemKind::Conflict, class.fields.place_of("price"), message, None);
                wrong = true;
            }
            prices.push((class.name.clone(), price));
        }
        let mut changes = Vec::new();
        changes.extend(class.fields.rate("bandwidth").map(|rate| (FigureChange::Bandwidth(rate), "bandwidth")));
        changes.extend(class.fields.time("latency").map(|time| (FigureChange::Latency(time), "latency")));
        match class.ports() {
            Some(Some(ports)) => changes.push((FigureChange::Ports(ports), "ports_per_router")),
            Some(None) => lift_budget(builder, &class.name),
            None => {}
        }
        for (change, key) in changes {
            let one = Edit::Figure { class: class.name.clone(), change };
            // The builder moves into the call and is lost on the error of one class. The other classes continue.
            match edit::apply(builder.clone(), &[one], 0) {
                Ok(changed) => *builder = changed,
                Err(error) => {
                    report.add(ProblemKind::Value, class.fields.place_of(key), error.to_string(), None);
                    wrong = true;
                }
            }
        }
    }
    (!wrong).then_some(prices)
}

/// Removes the port budget of a class, and with it the budget of all classes together.
fn lift_budget(builder: &mut MachineBuilder, class: &str) {
    match builder.classes.iter_mut().find(|c| c.name == class) {
        Some(class) => {
            if class.ports_per_router.take().is_some() {
                builder.ports = None;
            }
        }
        None => builder.terminal.ports_per_router = None,
    }
}

/// Fills in the keys that every machine has, as they are before the edits.
fn describe(builder: &MachineBuilder, spec: &MachineSpec, prices: &[(String, f64)], resolved: &mut Table) {
    let mut nodes = NodeSettings::of(builder);
    nodes.nodes_per_router = nodes.nodes_per_router.filter(|_| !resolved.contains_key("p"));
    resolved.extend(table_of(nodes.values()));
    let edits = spec.edits.iter().map(|edit| toml::Value::String(edit.value.to_string()));
    resolved.insert("edit".into(), toml::Value::Array(edits.collect()));
    let mut classes = Table::new();
    for (i, class) in builder.classes.iter().chain([&builder.terminal]).enumerate() {
        let uniform = builder.cables.iter().filter(|cable| cable.class.index() == i);
        let (mut same_bandwidth, mut same_latency) = (true, true);
        for cable in uniform {
            same_bandwidth &= cable.bandwidth == class.bandwidth;
            same_latency &= cable.latency == class.latency;
        }
        let mut figures = Table::new();
        if same_bandwidth {
            figures.insert("bandwidth".into(), Value::Rate(class.bandwidth).to_toml());
        }
        if same_latency {
            figures.insert("latency".into(), Value::Time(class.latency).to_toml());
        }
        figures.insert("ports_per_router".into(), ports(class));
        if let Some((_, price)) = prices.iter().find(|(name, _)| *name == class.name) {
            figures.insert("price".into(), (*price).into());
        }
        classes.insert(class.name.clone(), toml::Value::Table(figures));
    }
    resolved.insert("class".into(), toml::Value::Table(classes));
}

fn ports(class: &LinkClass) -> toml::Value {
    class.ports_per_router.map_or_else(|| UNLIMITED.name.into(), |ports| i64::from(ports).into())
}

fn apply_edits(
    builder: MachineBuilder,
    spec: &MachineSpec,
    seed: u64,
    report: &mut Report<'_>,
) -> Option<MachineBuilder> {
    let edits: Vec<Edit> = spec.edits.iter().map(|edit| edit.value.clone()).collect();
    if edits.is_empty() {
        return Some(builder);
    }
    match edit::apply(builder.clone(), &edits, seed) {
        Ok(edited) => Some(edited),
        Err(_) => {
            // Which one it was: names and streams of an edit depend only on those before it.
            let failing =
                (1..=edits.len()).find_map(|n| Some((n, edit::apply(builder.clone(), &edits[..n], seed).err()?)));
            let (n, error) = failing.expect("the same edits fail again");
            report.add(ProblemKind::Machine, spec.edits[n - 1].place, error.to_string(), None);
            None
        }
    }
}

/// Reports what the machine crate refuses at the key that it is about.
fn report_machine_error(error: &MachineError, spec: &MachineSpec, report: &mut Report<'_>) {
    let (place, message) = match error {
        MachineError::Parameter { parameter, reason } => {
            let key = parameter;
            (spec.place_of(key), format!("'{key}': {reason}"))
        }
        // The last edit is the likeliest to have asked for too many cables.
        MachineError::Ports { .. } | MachineError::ClassPorts { .. } => {
            (spec.edits.last().map_or(spec.origin_place, |edit| edit.place), error.to_string())
        }
        MachineError::Unknown { .. } | MachineError::File { .. } => (spec.origin_place, error.to_string()),
    };
    let kind = if matches!(error, MachineError::File { .. }) { ProblemKind::File } else { ProblemKind::Machine };
    report.add(kind, place, message, None);
}
