//! Topologies of HPCC's simulator, which SimAI and ASTRA-sim's ns-3 network use.
//!
//! ```text
//! 6 2 5
//! 4 5
//! 0 4 100Gbps 0.001ms 0
//! ```
//!
//! The first line counts nodes (hosts and switches), switches and links. SimAI has six words: nodes, GPUs of a server,
//! NVSwitches, other switches, links, and the type of the GPU. Next come the numbers of the switches, and a line for
//! each cable: both ends, rate, delay, and error rate, which is not read. Numbers are names; host 7 is called `n7`
//! unless all ids are the numbers.
//!
//! If every host has one cable, all of one rate, hosts are nodes at their switches. Otherwise every host is a router
//! with one node, as a GPU with NVLinks and a NIC.

use super::assumed::NIC_BANDWIDTH;
use super::edge_columns::EdgeListOptions;
use super::edge_list::{name_nodes, ListedCables};
use super::simgrid::{bandwidth_of, latency_of};
use super::{line, text};
use crate::topology::LinkFigures;
use crate::{MachineBuilder, MachineError};
use odonata_units::{Rate, Time};
use std::collections::{BTreeMap, HashSet};

struct Cable<'a> {
    line: usize,
    ends: [u32; 2],
    rate: &'a str,
    bandwidth: Rate,
    latency: Time,
}

/// The counts of the first line.
struct Counts {
    nodes: u32,
    switches: u32,
    links: u32,
}

/// Whether the lines are counts, numbers of switches, and cables with a rate.
pub(super) fn matches_format(start: &str) -> bool {
    let mut lines = start.lines().filter(|line| !line.trim().is_empty());
    let counts = lines.next().and_then(counts);
    let is_cable = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        matches!(words[..], [a, b, rate, _, _] if a.parse::<u32>().is_ok() && b.parse::<u32>().is_ok() && bandwidth_of(rate).is_some())
    };
    counts.is_some() && lines.skip(1).take(2).any(is_cable)
}

fn counts(content: &str) -> Option<Counts> {
    let words: Vec<&str> = content.split_whitespace().collect();
    let number = |word: &str| word.parse::<u32>().ok();
    match words[..] {
        [nodes, switches, links] => {
            Some(Counts { nodes: number(nodes)?, switches: number(switches)?, links: number(links)? })
        }
        [nodes, _, nv_switches, switches, links, _] => {
            let switches = number(nv_switches)?.checked_add(number(switches)?)?;
            Some(Counts { nodes: number(nodes)?, switches, links: number(links)? })
        }
        _ => None,
    }
}

/// Reads a topology.
///
/// # Errors
/// A line of another form, numbers out of range, or counts that differ from the lines; the message has the line.
pub fn hpcc(bytes: &[u8], label: &str) -> Result<MachineBuilder, MachineError> {
    let text = text(bytes, label)?;
    let lines: Vec<(usize, &str)> = (1..).zip(text.lines()).filter(|(_, content)| !content.trim().is_empty()).collect();
    let expected = "expected the numbers of nodes, switches and links";
    let Some(((at, first), rest)) = lines.split_first() else { return line(label, 1, expected) };
    let Some(counts) = counts(first) else { return line(label, *at, expected) };
    let number = |at: usize, word: &str| match word.parse::<u32>() {
        Ok(number) if number < counts.nodes => Ok(number),
        _ => line(label, at, format!("'{word}'; expected a number of a node, below {}", counts.nodes)),
    };
    let mut switches: HashSet<u32> = HashSet::new();
    let mut cables: Vec<Cable<'_>> = Vec::new();
    for &(at, content) in rest {
        let words: Vec<&str> = content.split_whitespace().collect();
        if (switches.len() as u32) < counts.switches {
            for word in words {
                switches.insert(number(at, word)?);
            }
            continue;
        }
        let [a, b, rate, delay, error, ..] = words[..] else {
            return line(label, at, "expected a cable: both ends, rate, delay and error rate");
        };
        let (Some(bandwidth), Some(latency), Ok(_)) = (bandwidth_of(rate), latency_of(delay), error.parse::<f64>())
        else {
            return line(label, at, format!("'{rate} {delay} {error}'; expected figures such as 100Gbps 0.001ms 0"));
        };
        cables.push(Cable { line: at, ends: [number(at, a)?, number(at, b)?], rate, bandwidth, latency });
    }
    if (switches.len(), cables.len()) != (counts.switches as usize, counts.links as usize) {
        let (found, links) = (switches.len(), cables.len());
        let reason = format!(
            "{} switches and {} links, but the file lists {found} and {links}; is it cut short?",
            counts.switches, counts.links
        );
        return line(label, *at, reason);
    }
    machine(label, &counts, &switches, &cables)
}

fn machine(
    label: &str,
    counts: &Counts,
    switches: &HashSet<u32>,
    cables: &[Cable<'_>],
) -> Result<MachineBuilder, MachineError> {
    if counts.nodes > super::LIMIT {
        return line(label, 1, format!("more than {} nodes", super::LIMIT));
    }
    let is_host = |node: &u32| !switches.contains(node);
    // The cables of each host, and the switch at the other end.
    let mut of_host: BTreeMap<u32, Vec<(u32, LinkFigures)>> =
        (0..counts.nodes).filter(is_host).map(|n| (n, Vec::new())).collect();
    for cable in cables {
        let figures = LinkFigures { bandwidth: cable.bandwidth, latency: cable.latency };
        for (end, other) in [(cable.ends[0], cable.ends[1]), (cable.ends[1], cable.ends[0])] {
            if let Some(own) = of_host.get_mut(&end) {
                own.push((other, figures));
            }
        }
    }
    if let Some((host, _)) = of_host.iter().find(|(_, own)| own.is_empty()) {
        return line(label, 1, format!("node {host} has no cable"));
    }
    let first = of_host.values().next().and_then(|own| own.first()).map(|(_, figures)| *figures);
    let is_leaf = |own: &Vec<(u32, LinkFigures)>| own.len() == 1 && !is_host(&own[0].0) && Some(own[0].1) == first;
    let at_switches = of_host.values().all(is_leaf);
    let mut hosts_at: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for node in 0..counts.nodes {
        match of_host.get(&node) {
            Some(own) if at_switches => hosts_at.entry(own[0].0).or_default().push(node),
            Some(_) => hosts_at.entry(node).or_default().push(node),
            None => drop(hosts_at.entry(node).or_default()),
        }
    }
    let mut listed = ListedCables::default();
    hosts_at.iter().for_each(|(router, hosts)| listed.add(&router.to_string(), hosts.len()));
    for cable in cables.iter().filter(|cable| !at_switches || !cable.ends.iter().any(is_host)) {
        let [a, b] = cable.ends.map(|end| end.to_string());
        listed.join(cable.line, [&a, &b]);
        // Names of classes have no dots.
        listed.columns.class.push(cable.rate.replace('.', "_"));
        listed.columns.bandwidth.push(cable.bandwidth);
        listed.columns.latency.push(cable.latency);
    }
    let terminal = first.filter(|_| at_switches);
    let options =
        EdgeListOptions { terminal: terminal.unwrap_or(EdgeListOptions::default().terminal), ..Default::default() };
    let (mut builder, place) = listed.build(label, options)?;
    if terminal.is_some() {
        builder.assumptions.retain(|known| known.key != NIC_BANDWIDTH);
    } else {
        builder.reading.push("every host is a router with one node".into());
    }
    if hosts_at.values().flatten().enumerate().any(|(id, &host)| id != host as usize) {
        let named = |hosts: &Vec<u32>| hosts.iter().map(|host| format!("n{host}")).collect();
        name_nodes(&mut builder, &place, &hosts_at.values().map(named).collect::<Vec<_>>());
    }
    Ok(builder)
}
