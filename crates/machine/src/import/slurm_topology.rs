//! The switch tree of Slurm for placement (`topology.conf` of `topology/tree`).
//!
//! ```text
//! SwitchName=s0 Nodes=tux[0-5]
//! SwitchName=s1 Nodes=tux[6-11]
//! SwitchName=s2 Switches=s[0-1] LinkSpeed=100
//! ```
//!
//! The case of key names does not matter, lists are host lists, `\` at the end of a line continues it, and `#` starts
//! a comment. Routers are the switches, and nodes have their names in Slurm. Slurm has neither the number of cables
//! between switches nor their rate (`LinkSpeed` is informal and has no unit), so the user gives them. A switch may
//! have several switches above it; a node is at one switch.

use super::edge_columns::EdgeListOptions;
use super::edge_list::{node_names, ListedCables};
use super::format::{Format, FormatError};
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

struct Switch {
    line: usize,
    name: String,
    nodes: Vec<String>,
    below: Vec<String>,
}

/// Reads a switch tree.
///
/// # Errors
/// A line of another form, an invalid list, a switch or node that occurs twice or is unknown, or no cable; the
/// message has the line.
pub fn slurm_topology(bytes: &[u8], label: &str, options: &SlurmTree) -> Result<MachineBuilder, MachineError> {
    let switches = switches(text(bytes, label)?).or_else(|(at, reason)| line(label, at, reason))?;
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
    for (i, switch) in switches.iter().enumerate() {
        for below in &switch.below {
            let Some(&lower) = known.get(below.as_str()) else {
                let others = switches.iter().filter(|other| other.name != switch.name);
                let hint = odonata_declare::hint(below, others.map(|other| other.name.as_str()));
                return line(label, switch.line, format!("no line has SwitchName={below}{hint}"));
            };
            if lower == i {
                return line(label, switch.line, format!("switch {below} is below itself"));
            }
            listed.join(switch.line, [&switch.name, below], [i, lower].map(|i| switches[i].nodes.len() as u32));
            listed.columns.count.push(options.uplinks);
        }
    }
    if listed.is_empty() {
        return line(label, 1, "no switch is below another; expected SwitchName= lines with Switches=");
    }
    let SlurmTree { bandwidth, latency, cores_per_node, .. } = *options;
    let mut builder =
        listed.build(label, EdgeListOptions { bandwidth, latency, cores_per_node, ..EdgeListOptions::default() })?;
    let nodes = switches.iter().map(|switch| (switch.name.as_str(), switch.nodes.clone())).collect();
    builder.node_names = node_names(&builder, &nodes);
    builder.assume("uplinks", &Value::Integer(options.uplinks.into()), "Slurm does not count cables");
    builder.forwarding = ForwardingKind::Tables;
    Ok(builder)
}

/// The switches in the order of the file.
fn switches(text: &str) -> Result<Vec<Switch>, (usize, String)> {
    let mut switches = Vec::new();
    let (mut whole, mut began) = (String::new(), 0);
    for (at, content) in (1..).zip(text.lines().chain(std::iter::once(""))) {
        let content = content.split('#').next().unwrap_or("").trim_end();
        if whole.is_empty() {
            began = at;
        }
        if let Some(continued) = content.strip_suffix('\\') {
            whole.push_str(continued);
            whole.push(' ');
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
    let mut found = Switch { line, name: String::new(), nodes: Vec::new(), below: Vec::new() };
    for word in content.split_whitespace() {
        let Some((key, value)) = word.split_once('=') else {
            return Err(format!("'{word}', expected SwitchName=, Nodes= or Switches= with a value"));
        };
        match key.to_ascii_lowercase().as_str() {
            "switchname" => value.clone_into(&mut found.name),
            "nodes" => found.nodes = hostlist::expand(value)?,
            "switches" => found.below = hostlist::expand(value)?,
            "linkspeed" => {}
            "blockname" | "blocksizes" => {
                return Err(
                    "blocks of topology/block, which have no switches; expected the tree of topology/tree".into()
                );
            }
            _ => {
                let hint = odonata_declare::hint(key, ["SwitchName", "Nodes", "Switches", "LinkSpeed"]);
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
