//! Chakra execution traces as graphs: `NAME.RANK.et`, one file per rank, and `NAME.json` with the groups.

use super::compute_times::ComputeTimes;
use super::graph::NodeGraph;
use odonata_declare::Reader;
use odonata_trace::chakra::{self, CollectiveKind, Node, NodeKind, Nodes};
use odonata_trace::{Survey, NOTHING};
use odonata_units::Time;
use serde_json::Value;
use std::collections::BTreeMap;

/// Whether a file begins like a trace in either form.
pub(crate) fn is_trace(start: &[u8]) -> bool {
    chakra::is_chakra(start) || is_json(start)
}

/// Whether a file begins like the JSON of Chakra's feeder.
fn is_json(start: &[u8]) -> bool {
    let key = b"\"workload_graph\"";
    start.trim_ascii_start().starts_with(b"{") && start.windows(key.len()).any(|window| window == key)
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
    let parts = path.rsplit_once('.').and_then(|(stem, end)| {
        let (prefix, rank) = stem.rsplit_once('.')?;
        rank.parse::<u32>().ok().map(|_| (prefix, end))
    });
    let (prefix, end) = parts.ok_or_else(|| format!("{path}: expected the file of a rank, such as NAME.0.et"))?;
    let name = |rank: u32| format!("{prefix}.{rank}.{end}");
    let mut all: Vec<Nodes> = Vec::new();
    while ranks.is_none_or(|ranks| (all.len() as u32) < ranks) {
        let name = name(all.len() as u32);
        match files.read(&name) {
            Ok(bytes) => all.push(read_rank(&name, &bytes)?),
            Err(_) if ranks.is_none() && !all.is_empty() => break,
            Err(reason) => {
                let of = ranks.map_or(String::new(), |ranks| format!(" of {ranks}"));
                return Err(format!("{path}: the file of rank {}{of} is missing: {reason}", all.len()));
            }
        }
    }
    let count = all.len() as u32;
    if ranks.is_some() && files.locate("traces", &name(count)).is_ok() {
        return Err(format!("{path}: a trace of more ranks: {} is there, but the job has {count}", name(count)));
    }
    let groups = groups(prefix, settings, &all, files)?;
    graph(all.into_iter().map(|rank| rank.nodes).collect(), groups, settings, &name)
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

fn read_rank(name: &str, bytes: &[u8]) -> Result<Nodes, String> {
    if !is_json(bytes) {
        return chakra::read(name, bytes);
    }
    let wrong = |reason: String| format!("{name}: {reason}");
    let content: Value = serde_json::from_slice(bytes).map_err(|error| wrong(format!("not JSON: {error}")))?;
    let list = content["workload_graph"]
        .as_array()
        .ok_or_else(|| wrong("'workload_graph'; expected a list of nodes".into()))?;
    let mut nodes = Nodes::default();
    for (place, node) in list.iter().enumerate() {
        let node = json_node(node).map_err(|reason| wrong(format!("node {place} of the list: {reason}")))?;
        nodes.nodes.push(node);
    }
    Ok(nodes)
}

/// A node of the feeder's JSON. Its keys are written in several forms: `Id`, `ctrlDeps`, `data_deps`.
fn json_node(node: &Value) -> Result<Node, String> {
    let fields = node.as_object().ok_or("expected a table")?;
    let plain = |key: &str| key.chars().filter(|c| *c != '_').collect::<String>().to_ascii_lowercase();
    let fields: BTreeMap<String, &Value> = fields.iter().map(|(key, value)| (plain(key), value)).collect();
    let integer = |key: &str| -> Option<u64> {
        let value = fields.get(key)?;
        value.as_u64().or_else(|| value.as_f64().map(|number| number as u64)).or_else(|| value.as_bool().map(u64::from))
    };
    let text = |key: &str| fields.get(key).map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
    let mut waits = Vec::new();
    for key in ["datadeps", "ctrldeps"] {
        let list = fields.get(key).and_then(|value| value.as_array()).map_or(&[][..], Vec::as_slice);
        for id in list {
            waits.push(id.as_u64().ok_or_else(|| format!("{key}: {id}; expected the number of a node"))?);
        }
    }
    const KINDS: [&str; 7] = ["metadata", "memload", "memstore", "comp", "commsend", "commrecv", "commcoll"];
    let kind = match integer("nodetype").or_else(|| integer("type")) {
        Some(number) => usize::try_from(number).ok().and_then(|number| KINDS.get(number.checked_sub(1)?)).copied(),
        None => text("nodetype").or_else(|| text("type")).and_then(|word| {
            let word = plain(&word);
            KINDS.into_iter().find(|kind| word.trim_end_matches("node") == *kind)
        }),
    };
    let collective = || -> Result<CollectiveKind, String> {
        const COLLECTIVES: [CollectiveKind; 10] = [
            CollectiveKind::AllReduce,
            CollectiveKind::Reduce,
            CollectiveKind::AllGather,
            CollectiveKind::Gather,
            CollectiveKind::Scatter,
            CollectiveKind::Broadcast,
            CollectiveKind::AllToAll,
            CollectiveKind::ReduceScatter,
            CollectiveKind::ReduceScatter,
            CollectiveKind::Barrier,
        ];
        let number = integer("commtype").unwrap_or(0);
        let kind = usize::try_from(number).ok().and_then(|number| COLLECTIVES.get(number));
        kind.copied().ok_or_else(|| format!("a collective of kind {number}; expected 0 to 9"))
    };
    let kind = match kind {
        Some("metadata") => NodeKind::Metadata,
        Some("memload") => NodeKind::Load,
        Some("memstore") => NodeKind::Store,
        Some("comp") => NodeKind::Compute,
        Some("commsend") => NodeKind::Send,
        Some("commrecv") => NodeKind::Receive,
        Some("commcoll") => NodeKind::Collective(collective()?),
        _ => return Err("no known NodeType; expected a number from 1 to 7".into()),
    };
    let peer = match kind {
        NodeKind::Send => Some(integer("commdst").ok_or("a send without comm_dst")?),
        NodeKind::Receive => Some(integer("commsrc").ok_or("a receive without comm_src")?),
        _ => None,
    };
    Ok(Node {
        id: integer("id").ok_or("no Id")?,
        kind,
        waits,
        duration_ns: integer("runtime").or_else(|| integer("durationmicros")).unwrap_or(0).saturating_mul(1_000),
        operations: integer("numops").unwrap_or(0),
        bytes: integer("commsize"),
        peer: peer.map(|peer| u32::try_from(peer).map_err(|_| format!("rank {peer}"))).transpose()?,
        tag: integer("commtag").unwrap_or(0) as u32,
        group: text("pgname").unwrap_or_default(),
        is_cpu: integer("iscpuop").unwrap_or(0) != 0,
    })
}

/// Groups by name: from the file of groups, or from the metadata of the trace.
fn groups(
    prefix: &str,
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
    let name = match &settings.groups {
        Some(name) => name.clone(),
        None if needs_file => format!("{prefix}.json"),
        None => return Ok(groups),
    };
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
