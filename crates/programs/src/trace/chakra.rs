//! Chakra execution traces as graphs: files `NAME.RANK.et`, one per rank, and `NAME.json` with the groups.

mod json;
mod rank_files;

use super::compute_times::ComputeTimes;
use super::graph::NodeGraph;
use odonata_declare::Reader;
use odonata_trace::chakra::{self, Node, NodeKind, Nodes, UnknownNames};
use odonata_trace::{Survey, NOTHING};
use odonata_units::Time;
use rank_files::RankFiles;
use serde_json::Value;
use std::collections::BTreeMap;

/// Whether a file begins like a trace in either form.
pub(crate) fn is_trace(start: &[u8]) -> bool {
    chakra::is_chakra(start) || json::is_json(start)
}

/// How a trace is read.
#[derive(Clone, Debug)]
pub(crate) struct ChakraSettings {
    pub(crate) times: ComputeTimes,
    /// Whether nodes of a CPU take their time.
    pub(crate) cpu_nodes: bool,
    /// File with the groups.
    pub(crate) groups: Option<String>,
}

/// Reads the trace of all ranks. `path` is the file of any rank; `ranks` is the number of ranks of the job, if it is given.
pub(super) fn read(
    path: &str,
    ranks: Option<u32>,
    settings: &ChakraSettings,
    files: &mut dyn Reader,
) -> Result<(NodeGraph, Survey), String> {
    let set = RankFiles::of(path)?;
    let all = set.read(ranks, files)?;
    let groups = groups(&set, settings, &all, files)?;
    set.check_named(&all, &groups)?;
    let mut unknown = UnknownNames::default();
    all.iter().for_each(|rank| unknown.add(&rank.unknown));
    let nodes = all.into_iter().map(|rank| rank.nodes).collect();
    let (graph, mut survey) = graph(nodes, groups, settings, &|rank| set.name(rank))?;
    survey.notes.extend(unknown.notes(&json::known_keys()));
    Ok((graph, survey))
}

/// The graph of the nodes of all ranks, and what they are. `name` is the name of a rank's file for messages.
pub(super) fn graph(
    all: Vec<Vec<Node>>,
    groups: BTreeMap<String, Vec<u32>>,
    settings: &ChakraSettings,
    name: &dyn Fn(u32) -> String,
) -> Result<(NodeGraph, Survey), String> {
    let (times, mut survey) = (settings.times, Survey::default());
    let (mut without_time, mut calculated) = (0u64, 0u64);
    for node in all.iter().flatten() {
        let is_dropped = node.is_cpu && !settings.cpu_nodes && !is_message(node);
        let is_work = node.kind != NodeKind::Metadata;
        let why = match node.kind {
            NodeKind::Metadata => NOTHING,
            _ if is_dropped => "cpu_nodes = false; its dependencies count",
            NodeKind::Load | NodeKind::Store => "its duration counts as computation",
            _ => "",
        };
        survey.count(&kind_name(node), is_work && !is_dropped, why);
        if node.kind == NodeKind::Compute && !is_dropped && node.duration_ns == 0 {
            *if node.operations > 0 { &mut calculated } else { &mut without_time } += 1;
        }
    }
    let time = |node: &Node| {
        if is_message(node) || node.kind == NodeKind::Metadata || (node.is_cpu && !settings.cpu_nodes) {
            return Ok(Time::ZERO);
        }
        times.of_ps(match node.duration_ns {
            0 => node.operations as f64 * times.ps_per_flop,
            ns => ns as f64 * 1e3,
        })
    };
    let (graph, odd) = NodeGraph::new(all, groups, name, &time)?;
    let mut note = |count: u64, words: &str| {
        if count > 0 {
            survey.notes.push(format!("{count} {words}"));
        }
    };
    note(odd.missing, "dependencies on nodes that are not there; taken as met");
    note(calculated, "computations without a duration; num_ops / flops_per_s takes its place");
    note(without_time, "computations without a duration and operations; they take no time");
    if odd.later > 0 {
        survey.oddities.push(format!("{} dependencies on later nodes", odd.later));
    }
    Ok((graph, survey))
}

fn is_message(node: &Node) -> bool {
    matches!(node.kind, NodeKind::Send | NodeKind::Receive | NodeKind::Collective(_))
}

/// Name of a node's kind in a survey.
pub(super) fn kind_name(node: &Node) -> String {
    let word = match node.kind {
        NodeKind::Metadata => "metadata",
        NodeKind::Load => "memory load",
        NodeKind::Store => "memory store",
        NodeKind::Compute => "compute",
        NodeKind::Send => "send",
        NodeKind::Receive => "receive",
        NodeKind::Collective(kind) => {
            return format!("collective {}{}", kind.name(), if node.is_cpu { " (CPU)" } else { "" })
        }
    };
    format!("{word}{}", if node.is_cpu { " (CPU)" } else { "" })
}

/// Groups by name: from the file of groups, or from the metadata of the trace.
fn groups(
    set: &RankFiles<'_>,
    settings: &ChakraSettings,
    all: &[Nodes],
    files: &mut dyn Reader,
) -> Result<BTreeMap<String, Vec<u32>>, String> {
    let mut groups = BTreeMap::new();
    for text in all.iter().flat_map(|rank| &rank.groups) {
        add_process_groups(text, all.len() as u32, &mut groups);
    }
    let is_named = |node: &Node| matches!(node.kind, NodeKind::Collective(_)) && !["", "0"].contains(&&*node.group);
    let needs_file =
        all.iter().flat_map(|rank| &rank.nodes).any(|node| is_named(node) && !groups.contains_key(&node.group));
    if settings.groups.is_none() && !needs_file {
        return Ok(groups);
    }
    let name = settings.groups.clone().unwrap_or_else(|| set.groups_name());
    let wrong = |reason: &str| format!("{name}: {reason}; expected groups of ranks, such as {{\"1\": [0, 1]}}");
    let bytes = files.read_filled(&name).map_err(|reason| format!("the trace names groups, but {reason}"))?;
    let content: Value = serde_json::from_slice(&bytes).map_err(|error| wrong(&format!("not JSON: {error}")))?;
    for (group, ranks) in content.as_object().ok_or_else(|| wrong("no table"))? {
        let ranks = ranks.as_array().ok_or_else(|| wrong(&format!("group '{group}' is no list")))?;
        let ranks = ranks.iter().map(|rank| rank.as_u64().and_then(|rank| u32::try_from(rank).ok()));
        let ranks = ranks.collect::<Option<Vec<_>>>().ok_or_else(|| wrong(&format!("group '{group}' has no ranks")))?;
        groups.insert(group.clone(), ranks);
    }
    Ok(groups)
}

/// Groups of PyTorch's metadata node: JSON in JSON, a list of tables with `pg_name` and `ranks`.
fn add_process_groups(text: &str, count: u32, groups: &mut BTreeMap<String, Vec<u32>>) {
    let mut open: Vec<Value> = serde_json::from_str(text).into_iter().collect();
    while let Some(value) = open.pop() {
        match value {
            Value::Array(values) => open.extend(values),
            Value::String(text) => {
                open.extend(serde_json::from_str::<Value>(&text).ok().filter(|value| !value.is_string()))
            }
            Value::Object(fields) => {
                let Some(name) =
                    fields.get("pg_name").map(|name| name.as_str().map_or_else(|| name.to_string(), str::to_owned))
                else {
                    continue;
                };
                let listed = fields.get("ranks").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
                let ranks: Vec<u32> = listed.iter().filter_map(|rank| u32::try_from(rank.as_u64()?).ok()).collect();
                groups.entry(name).or_insert(if ranks.is_empty() { (0..count).collect() } else { ranks });
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}
