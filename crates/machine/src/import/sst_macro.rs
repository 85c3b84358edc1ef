//! The file topology of SST/macro (JSON), in both of its forms.
//!
//! ```text
//! {"avg_num_hops": 2, "nodes": {"n0": {}, ..}, "switches": {"s0": {"outports": {"0": {"destination": "s1", "inport": 0}, ..}}, ..}}
//! {"avg_num_hops": 2, "num_nodes": 4, "num_switches": 2,
//!  "node_to_switch_links": [{"node": 0, "node_port": 0, "switch": 0, "switch_port": 2}, ..],
//!  "switch_to_switch_links": [{"switch1": 0, "switch1_port": 0, "switch2": 1, "switch2_port": 0}, ..]}
//! ```
//!
//! In the first form, a port of a switch leads to a switch or node, and each cable between switches is listed from
//! both ends. In the second form it is listed once. A node is at one switch. The file has neither bandwidths nor
//! latencies: they are options, as in SST/macro's parameter file. Not read: the mean number of hops, and port
//! numbers.

use super::edge_columns::EdgeListOptions;
use super::edge_list::{name_nodes, ListedCables};
use super::format::{Format, FormatError};
use super::located_value::{document, LocatedValue};
use super::{line, text};
use crate::{MachineBuilder, MachineError};
use odonata_declare::{parameters, Kind, Reader};
use odonata_units::{Rate, Time};
use std::collections::{BTreeMap, HashMap};

parameters! {
    /// Data that a file topology does not contain.
    pub struct SstMacro {
        /// Bandwidth of every cable between switches.
        pub bandwidth: Rate = EdgeListOptions::default().bandwidth;
        /// Latency of every cable between switches.
        pub latency: Time = EdgeListOptions::default().latency;
        /// Cores of each node.
        pub cores_per_node: u32 = 1, Kind::COUNT;
    }
}

impl Format for SstMacro {
    fn read(&self, bytes: &[u8], label: &str, _: &mut dyn Reader) -> Result<MachineBuilder, FormatError> {
        Ok(sst_macro(bytes, label, self)?)
    }
}

/// Cables between two switches: their number, and the line of the first.
type Cables = BTreeMap<(usize, usize), (u32, usize)>;

/// Switches with the nodes at each, by name, and the cables between them.
struct Graph<'a> {
    switches: Vec<&'a str>,
    nodes: Vec<Vec<String>>,
    cables: Cables,
}

/// Reads a file topology.
///
/// # Errors
/// Invalid JSON, neither form, an unknown switch or node, a node at no switch or at two, or a cable listed at one end
/// only; the message has the line.
pub fn sst_macro(bytes: &[u8], label: &str, options: &SstMacro) -> Result<MachineBuilder, MachineError> {
    let tree = document(text(bytes, label)?, label)?;
    if let (Some(_), Some(_)) = (tree.get("switches"), tree.get("nodes")) {
        return machine(&graph_by_name(&tree, label)?, label, options);
    }
    if tree.get("switch_to_switch_links").is_none() {
        let reason = "not a topology of SST/macro; expected 'nodes' and 'switches', or 'node_to_switch_links' and \
            'switch_to_switch_links'";
        return line(label, tree.line, reason);
    }
    let names: Vec<String> = (0..count(&tree, label, "num_switches")?).map(|switch| switch.to_string()).collect();
    machine(&graph_by_number(&tree, label, &names)?, label, options)
}

/// The form of names and ports.
fn graph_by_name<'a>(tree: &'a LocatedValue, label: &str) -> Result<Graph<'a>, MachineError> {
    let nodes = tree.need(label, "nodes")?.entries(label, "nodes")?;
    let switches = tree.need(label, "switches")?.entries(label, "switches")?;
    let mut node_at: HashMap<&str, Option<usize>> = nodes.iter().map(|(name, _)| (name.as_str(), None)).collect();
    let number: HashMap<&str, usize> = switches.iter().enumerate().map(|(i, (name, _))| (name.as_str(), i)).collect();
    let mut graph = Graph {
        switches: switches.iter().map(|(name, _)| name.as_str()).collect(),
        nodes: vec![Vec::new(); switches.len()],
        cables: Cables::new(),
    };
    let mut links = Cables::new();
    for (from, (name, switch)) in switches.iter().enumerate() {
        for (_, port) in switch.need(label, "outports")?.entries(label, "outports")? {
            let target = port.need(label, "destination")?;
            let to = target.text(label, "destination")?;
            if let Some(at) = node_at.get_mut(to) {
                if let Some(before) = at.replace(from) {
                    let reason = format!("node {to} is at {name} and at {} already", graph.switches[before]);
                    return line(label, target.line, reason);
                }
                graph.nodes[from].push(to.to_owned());
            } else if let Some(&to) = number.get(to) {
                links.entry((from, to)).or_insert((0, target.line)).0 += 1;
            } else {
                let known = nodes.iter().chain(switches).map(|(name, _)| name.as_str());
                let hint = odonata_declare::hint(to, known);
                return line(label, target.line, format!("unknown switch or node '{to}'{hint}"));
            }
        }
    }
    if let Some((name, node)) = nodes.iter().find(|(name, _)| node_at[name.as_str()].is_none()) {
        return line(label, node.line, format!("node {name} is at no switch"));
    }
    for (&(from, to), &(there, at)) in &links {
        let back = links.get(&(to, from)).map_or(0, |link| link.0);
        if back != there {
            let (from, to) = (graph.switches[from], graph.switches[to]);
            return line(
                label,
                at,
                format!(
                    "{there} ports lead from {from} to {to}, and {back} in the other \
                direction"
                ),
            );
        }
    }
    graph.cables = links.into_iter().filter(|((from, to), _)| from <= to).collect();
    Ok(graph)
}

/// The form of numbers and links.
fn graph_by_number<'a>(tree: &LocatedValue, label: &str, names: &'a [String]) -> Result<Graph<'a>, MachineError> {
    let mut node_at: Vec<Option<usize>> = vec![None; count(tree, label, "num_nodes")?];
    let mut graph = Graph {
        switches: names.iter().map(String::as_str).collect(),
        nodes: vec![Vec::new(); names.len()],
        cables: Cables::new(),
    };
    let number = |link: &LocatedValue, name: &str, end: usize| {
        let value = link.need(label, name)?;
        let word = value.text(label, name)?;
        match word.parse::<usize>() {
            Ok(number) if number < end => Ok(number),
            _ => line(label, value.line, format!("'{name}' is {word}; expected a number below {end}")),
        }
    };
    let links = "node_to_switch_links";
    for link in tree.need(label, links)?.items(label, links)? {
        let (node, switch) = (number(link, "node", node_at.len())?, number(link, "switch", names.len())?);
        if let Some(before) = node_at[node].replace(switch) {
            return line(label, link.line, format!("node {node} is at switch {switch} and at {before} already"));
        }
        graph.nodes[switch].push(format!("n{node}"));
    }
    if let Some(node) = node_at.iter().position(Option::is_none) {
        return line(label, tree.line, format!("node {node} is at no switch"));
    }
    let links = "switch_to_switch_links";
    for link in tree.need(label, links)?.items(label, links)? {
        let (a, b) = (number(link, "switch1", names.len())?, number(link, "switch2", names.len())?);
        graph.cables.entry((a.min(b), a.max(b))).or_insert((0, link.line)).0 += 1;
    }
    Ok(graph)
}

/// Largest count, above any machine: a mistake must not exhaust the memory.
const MOST: usize = 1 << 22;

fn count(tree: &LocatedValue, label: &str, name: &str) -> Result<usize, MachineError> {
    let value = tree.need(label, name)?;
    match value.text(label, name)?.parse() {
        Ok(count @ 1..=MOST) => Ok(count),
        _ => line(label, value.line, format!("'{name}'; expected a whole number from 1 to {MOST}")),
    }
}

fn machine(graph: &Graph<'_>, label: &str, options: &SstMacro) -> Result<MachineBuilder, MachineError> {
    let mut listed = ListedCables::default();
    let mut joined = vec![graph.switches.len() == 1; graph.switches.len()];
    graph.switches.iter().zip(&graph.nodes).for_each(|(switch, nodes)| listed.add(switch, nodes.len()));
    for (&(a, b), &(count, at)) in &graph.cables {
        if a == b {
            return line(label, at, format!("switch {} is joined to itself", graph.switches[a]));
        }
        (joined[a], joined[b]) = (true, true);
        listed.join(at, [a, b].map(|i| graph.switches[i]));
        listed.columns.count.push(count);
    }
    if let Some(alone) = joined.iter().position(|joined| !joined) {
        return line(label, 1, format!("switch {} is not joined to another switch", graph.switches[alone]));
    }
    let SstMacro { bandwidth, latency, cores_per_node } = *options;
    let (mut builder, place) =
        listed.build(label, EdgeListOptions { bandwidth, latency, cores_per_node, ..EdgeListOptions::default() })?;
    name_nodes(&mut builder, &place, &graph.nodes);
    Ok(builder)
}
