//! Nodes as the machine's administrators have them: how many at which routers in `node_counts`, their names as a list in
//! `node_names`, or a table in `nodes_file`.

use crate::spec::machine::MachineSpec;
use odonata_declare::Value;
use odonata_document::{Files, ProblemKind, Report};
use odonata_machine::{node_counts, node_names, MachineBuilder};
use toml::Table;

/// Gives routers the nodes that `node_counts` says; `None` if a problem was reported.
pub(super) fn count(
    builder: &mut MachineBuilder,
    spec: &MachineSpec,
    resolved: &mut Table,
    report: &mut Report<'_>,
) -> Option<()> {
    let Some(rules) = spec.common.value("node_counts") else { return Some(()) };
    resolved.insert("node_counts".into(), rules.to_toml());
    if let Some(nodes) = spec.common.count("nodes_per_router") {
        resolved.insert("nodes_per_router".into(), i64::from(nodes).into());
    }
    if let Err(reason) = node_counts::apply(builder, &texts(rules)) {
        report.add(ProblemKind::Value, spec.place_of("node_counts"), reason, None);
        return None;
    }
    Some(())
}

/// Names the nodes, where the file does; `None` if a problem was reported.
pub(super) fn give(
    builder: &mut MachineBuilder,
    spec: &MachineSpec,
    files: &mut Files<'_>,
    resolved: &mut Table,
    report: &mut Report<'_>,
) -> Option<()> {
    let listed = spec.common.value("node_names");
    let table = spec.common.text("nodes_file").map(str::to_owned);
    let (key, kind, given) = match (listed, table) {
        (None, None) => return Some(()),
        (Some(_), Some(_)) => {
            let message = "'node_names' and 'nodes_file' exclude each other: names stand in one place";
            report.add(ProblemKind::Conflict, spec.place_of("nodes_file"), message, None);
            return None;
        }
        (Some(listed), None) => {
            resolved.insert("node_names".into(), listed.to_toml());
            ("node_names", ProblemKind::Value, node_names::in_order(builder, &texts(listed)))
        }
        (None, Some(path)) => {
            resolved.insert("nodes_file".into(), files.path_of(&path).to_string_lossy().into_owned().into());
            let read = files.read(&path);
            let given = read
                .and_then(|bytes| node_names::by_table(builder, &bytes).map_err(|reason| format!("{path}: {reason}")));
            ("nodes_file", ProblemKind::File, given)
        }
    };
    match given {
        Ok(names) => builder.node_names = names,
        Err(reason) => {
            report.add(kind, spec.place_of(key), reason, None);
            return None;
        }
    }
    Some(())
}

fn texts(listed: &Value) -> Vec<&str> {
    match listed {
        Value::Text(text) => vec![text],
        Value::List(list) => list.iter().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}
