//! The switch tree of Slurm for placement: `topology.conf`, the output of `scontrol show topology`, `topology.yaml`.
//!
//! ```text
//! SwitchName=s0 Nodes=tux[0-5]
//! SwitchName=s1 Nodes=tux[6-11]
//! SwitchName=s2 Switches=s[0-1] LinkSpeed=100
//! ```
//!
//! The case of key names does not matter, lists are host lists, `\` at the end of a line continues it, and `#` starts
//! a comment. `scontrol` adds `Level=`, and at upper switches it repeats the nodes below them. In YAML (Slurm 25.05), a
//! file has several topologies; the reader takes the tree, of several the default one.
//!
//! Routers are the switches, and nodes have their names in Slurm. Slurm has neither the number of cables between
//! switches nor their rate (`LinkSpeed` is informal and has no unit), so the user gives them. A switch may have several
//! switches above it; a node is at one switch.

use super::edge_columns::EdgeListOptions;
use super::edge_list::{name_nodes, ListedCables};
use super::format::{Format, FormatError};
use super::located_value::{document, LocatedValue};
use super::{line, text};
use crate::{hostlist, ForwardingKind, MachineBuilder, MachineError};
use odonata_declare::{parameters, Kind, Reader, Value};
use odonata_units::{Rate, Time};
use std::collections::HashMap;

parameters! {
    /// Data that the file does not contain.
    pub struct SlurmTree {
        /// Cables from a switch to each switch above it.
        pub uplinks: u32 = 1, Kind::COUNT;
        /// Bandwidth of every cable between switches.
        pub bandwidth: Rate = EdgeListOptions::default().bandwidth;
        /// Latency of every cable between switches.
        pub latency: Time = EdgeListOptions::default().latency;
        /// Cores of each node.
        pub cores_per_node: u32 = 1, Kind::COUNT;
    }
}

impl Format for SlurmTree {
    fn read(&self, bytes: &[u8], label: &str, _: &mut dyn Reader) -> Result<MachineBuilder, FormatError> {
        Ok(slurm_topology(bytes, label, self)?)
    }
}

/// A key that only one form of the file has.
const IN_YAML: &str = "topology";

struct Switch {
    line: usize,
    name: String,
    /// Level in the output of `scontrol`.
    level: Option<u32>,
    nodes: Vec<String>,
    below: Vec<String>,
}

/// Reads a switch tree.
///
/// # Errors
/// A line of another form, an invalid list, a switch or node that occurs twice or is unknown, several switches without
/// a cable, or a topology without switches; the message has the line.
pub fn slurm_topology(bytes: &[u8], label: &str, options: &SlurmTree) -> Result<MachineBuilder, MachineError> {
    let text = text(bytes, label)?;
    let (mut switches, chosen) = if is_yaml(text) {
        from_yaml(text, label)?
    } else {
        (from_conf(text).or_else(|(at, reason)| line(label, at, reason))?, None)
    };
    if switches.is_empty() {
        return line(label, 1, "there are no switches; expected SwitchName= lines with Nodes= or Switches=");
    }
    drop_nodes_below(&mut switches);
    let mut known: HashMap<&str, usize> = HashMap::new();
    let mut at_switch: HashMap<&str, usize> = HashMap::new();
    for (i, switch) in switches.iter().enumerate() {
        if let Some(before) = known.insert(&switch.name, i) {
            let first = switches[before].line;
            return line(label, switch.line, format!("switch {} is listed twice, first in line {first}", switch.name));
        }
        for node in &switch.nodes {
            if let Some(before) = at_switch.insert(node, i) {
                let reason =
                    format!("node {node} is at {} already, line {}", switches[before].name, switches[before].line);
                return line(label, switch.line, reason);
            }
        }
    }
    let mut listed = ListedCables::default();
    switches.iter().for_each(|switch| listed.add(&switch.name, switch.nodes.len()));
    for (i, switch) in switches.iter().enumerate() {
        for below in &switch.below {
            let Some(&lower) = known.get(below.as_str()) else {
                let others = switches.iter().filter(|other| other.name != switch.name);
                let hint = odonata_declare::hint(below, others.map(|other| other.name.as_str()));
                return line(label, switch.line, format!("no switch is called {below}{hint}"));
            };
            if lower == i {
                return line(label, switch.line, format!("switch {below} is below itself"));
            }
            listed.join(switch.line, [&switch.name, below]);
            listed.columns.count.push(options.uplinks);
        }
    }
    let SlurmTree { bandwidth, latency, cores_per_node, .. } = *options;
    let (mut builder, place) =
        listed.build(label, EdgeListOptions { bandwidth, latency, cores_per_node, ..EdgeListOptions::default() })?;
    let nodes: Vec<Vec<String>> = switches.into_iter().map(|switch| switch.nodes).collect();
    name_nodes(&mut builder, &place, &nodes);
    builder.reading.extend(chosen);
    builder.assume("uplinks", &Value::Integer(options.uplinks.into()), "Slurm does not count cables");
    builder.forwarding = ForwardingKind::Tables;
    Ok(builder)
}

/// Whether this is a `topology.yaml`: its entries begin with their names.
pub(super) fn is_yaml(text: &str) -> bool {
    let mut lines = text.lines().map(|line| line.split('#').next().unwrap_or("").trim());
    let first = lines.find(|line| !line.is_empty() && *line != "---").unwrap_or("");
    first.strip_prefix('-').is_some_and(|item| item.trim_start().starts_with("topology:"))
}

/// Upper switches of `scontrol` repeat the nodes below them.
fn drop_nodes_below(switches: &mut [Switch]) {
    let mut lowest: HashMap<String, u32> = HashMap::new();
    for switch in switches.iter() {
        let Some(level) = switch.level else { continue };
        for node in &switch.nodes {
            let known = lowest.entry(node.clone()).or_insert(level);
            *known = level.min(*known);
        }
    }
    for switch in switches.iter_mut() {
        let Some(level) = switch.level else { continue };
        switch.nodes.retain(|node| lowest[node] == level);
    }
}

/// The switches of a text, in its order.
fn from_conf(text: &str) -> Result<Vec<Switch>, (usize, String)> {
    let mut switches = Vec::new();
    let (mut whole, mut began) = (String::new(), 0);
    for (at, content) in (1..).zip(text.lines().chain(std::iter::once(""))) {
        let content = content.split('#').next().unwrap_or("").trim_end();
        if whole.is_empty() {
            began = at;
        }
        // A line may break in the middle of a list, so nothing joins the two parts.
        if let Some(continued) = content.strip_suffix('\\') {
            whole.push_str(continued);
            continue;
        }
        whole.push_str(content);
        if !whole.trim().is_empty() {
            switches.push(switch(began, &whole).map_err(|reason| (began, reason))?);
        }
        whole.clear();
    }
    Ok(switches)
}

fn switch(line: usize, content: &str) -> Result<Switch, String> {
    let mut found = Switch { line, name: String::new(), level: None, nodes: Vec::new(), below: Vec::new() };
    for word in content.split_whitespace() {
        let Some((key, value)) = word.split_once('=') else {
            return Err(format!("'{word}', expected SwitchName=, Nodes= or Switches= with a value"));
        };
        match key.to_ascii_lowercase().as_str() {
            "switchname" => value.clone_into(&mut found.name),
            "nodes" => found.nodes = hostlist::expand(value)?,
            "switches" => found.below = hostlist::expand(value)?,
            "level" => {
                let level = value.parse().map_err(|_| format!("Level={value}; expected a whole number"))?;
                found.level = Some(level);
            }
            "linkspeed" => {}
            "blockname" | "blockindex" | "blocksize" | "blocksizes" | "aggregatedblock" => {
                return Err(BLOCKS.into());
            }
            _ => {
                let hint = odonata_declare::hint(key, ["SwitchName", "Nodes", "Switches", "LinkSpeed", "Level"]);
                return Err(format!("unknown key '{key}'{hint}"));
            }
        }
    }
    match (found.name.as_str(), found.nodes.is_empty() && found.below.is_empty()) {
        ("", _) => Err("a line without SwitchName=".into()),
        (name, true) => Err(format!("switch {name} has neither Nodes= nor Switches=")),
        _ => Ok(found),
    }
}

const BLOCKS: &str = "blocks of topology/block, which have no switches; expected the tree of topology/tree";

/// The switches of the tree in a `topology.yaml`, and which tree it is if the file has several topologies.
fn from_yaml(text: &str, label: &str) -> Result<(Vec<Switch>, Option<String>), MachineError> {
    let tree = document(text, label)?;
    let topologies = tree.items(label, IN_YAML)?;
    let is_default = |entry: &&LocatedValue| {
        entry.get("cluster_default").and_then(|value| value.text(label, "").ok()).is_some_and(|value| value == "true")
    };
    let trees = || topologies.iter().filter(|entry| entry.get("tree").is_some());
    let Some(chosen) = trees().find(is_default).or_else(|| trees().next()) else {
        let kinds = ["block", "flat", "ring", "torus3d"];
        let kind = |entry: &LocatedValue| kinds.into_iter().find(|kind| entry.get(kind).is_some()).unwrap_or("other");
        let found: Vec<&str> = topologies.iter().map(kind).collect();
        let reason = format!("no tree, but topologies of kind {}; only a tree names its switches", found.join(", "));
        return line(label, tree.line, reason);
    };
    let name = chosen.need(label, IN_YAML)?.text(label, IN_YAML)?;
    let several = format!("topology {name}, one of {} in the file", topologies.len());
    let mut switches = Vec::new();
    for entry in chosen.need(label, "tree")?.need(label, "switches")?.items(label, "switches")? {
        let list = |key: &str| match entry.get(key) {
            None => Ok(Vec::new()),
            Some(value) => {
                let names = hostlist::expand(value.text(label, key)?);
                names.or_else(|reason| line(label, value.line, reason))
            }
        };
        let (nodes, below) = (list("nodes")?, list("children")?);
        let name = entry.need(label, "switch")?.text(label, "switch")?.to_owned();
        if nodes.is_empty() && below.is_empty() {
            return line(label, entry.line, format!("switch {name} has neither nodes nor children"));
        }
        switches.push(Switch { line: entry.line, name, level: None, nodes, below });
    }
    Ok((switches, (topologies.len() > 1).then_some(several)))
}
