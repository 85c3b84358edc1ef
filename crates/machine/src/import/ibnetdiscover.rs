//! The output of `ibnetdiscover`, the subnet scan of InfiniBand (rdma-core; "Topology file: generated on ...").
//!
//! ```text
//! Switch  36 "S-0002c9020040f160"   # "MF0;leaf1:IS5030/U1" enhanced port 0 lid 1 lmc 0
//! [1]     "H-0002c903000d7ed0"[1](2c903000d7ed1)   # "node1 HCA-1" lid 4 4xQDR
//! [19]    "S-0002c9020040f168"[3]   # "MF0;spine1:IS5030/U1" lid 2 4xQDR
//! ```
//!
//! Routers are the switches. The name of a switch is the part of its description before the colon, or its GUID if
//! that part is missing or not unique. Every cable between switches is listed at both ends, which must agree.
//!
//! Nodes are the hosts of the channel adapters (`H-`) at the switches. The first word of a description is the name of
//! the host, the second one of its adapter. Ports of the adapters of one host are its rails, in the order of the
//! adapters' names. All nodes have as many rails as most hosts have ports. Not nodes, but counted: aggregation nodes of
//! SHARP in the switches, routers, hosts that the key `service` names, hosts with fewer ports, and further ports of
//! others.
//!
//! A link class is a width and a speed (`4xQDR`). Its rate is the data rate after coding: 8 of 10 bits up to QDR, 64
//! of 66 above. All NICs get the most common speed. The lines in blocks `Ca` and `Rt`, which repeat the same links from
//! the other end, and lines of GUIDs are not read. LIDs and port numbers are kept for forwarding tables ([`Subnet`]).

use super::assumed::NIC_BANDWIDTH;
use super::edge_columns::EdgeListOptions;
use super::edge_list::ListedCables;
use super::format::{Format, FormatError};
use super::infiniband::{data_rate, fabric, unknown_speed, End, Switch};
use super::infiniband_hosts::{Hosts, Nic};
use super::{line, text};
use crate::error::wrong;
use crate::subnet::{Peer, Subnet, SubnetSwitch};
use crate::{hostlist, ForwardingKind, MachineBuilder, MachineError, RouterPorts};
use odonata_declare::{parameters, Kind, OneOrEach, Reader};
use odonata_units::{NodeId, RouterId, Time};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

parameters! {
    /// Data that `ibnetdiscover` does not print.
    pub struct InfiniBand {
        /// Latency of every cable between switches.
        pub latency: Time = EdgeListOptions::default().latency;
        /// Cores of each node.
        pub cores_per_node: u32 = 1, Kind::COUNT;
        /// Hosts that run no jobs, as a host list: storage, login and management. They are no nodes.
        pub service: Option<String> = None, Kind::Text, else "none";
    }
}

impl Format for InfiniBand {
    fn read(&self, bytes: &[u8], label: &str, _: &mut dyn Reader) -> Result<MachineBuilder, FormatError> {
        Ok(ibnetdiscover(bytes, label, self)?)
    }
}

/// Reads the output of `ibnetdiscover`.
///
/// # Errors
/// An invalid line, an unknown speed, two ends of a cable that disagree, or no switches; the message has the line.
pub fn ibnetdiscover(bytes: &[u8], label: &str, options: &InfiniBand) -> Result<MachineBuilder, MachineError> {
    let fabric = fabric(text(bytes, label)?).or_else(|(at, reason)| line(label, at, reason))?;
    let switches = &fabric.switches;
    if switches.is_empty() {
        return line(label, 1, "there are no switches; expected the output of ibnetdiscover");
    }
    let number: HashMap<&str, usize> = switches.iter().enumerate().map(|(i, switch)| (switch.guid, i)).collect();
    let InfiniBand { latency, cores_per_node, service } = options;
    let service = service.as_deref().map_or(Ok(Vec::new()), hostlist::expand);
    let service = service.or_else(|reason| wrong("service", reason))?;
    let hosts = Hosts::of(&fabric, &service).or_else(|(at, reason)| line(label, at, reason))?;
    let mut of_list =
        EdgeListOptions { latency: *latency, cores_per_node: *cores_per_node, ..EdgeListOptions::default() };
    of_list.terminal.bandwidth = hosts.rate().unwrap_or(of_list.terminal.bandwidth);
    let names = names(switches);
    let mut listed = ListedCables::default();
    let mut nics = vec![0; switches.len()];
    hosts.nics().for_each(|nic| nics[nic.switch] += 1);
    names.iter().zip(&nics).for_each(|(name, &nics)| listed.add(name, nics));
    for (i, switch) in switches.iter().enumerate() {
        for end in switch.ends.iter().filter(|end| end.peer.starts_with("S-")) {
            let peer = other_end(switches, &number, switch, end).or_else(|reason| line(label, end.line, reason))?;
            // Add each cable once, at its lower end.
            if (i, end.port) < (peer, end.peer_port) {
                let rate = data_rate(end.speed).map_or_else(|| line(label, end.line, unknown_speed(end.speed)), Ok)?;
                listed.join(end.line, [&names[i], &names[peer]]);
                listed.columns.class.push(end.speed.to_owned());
                listed.columns.bandwidth.push(rate);
            }
        }
    }
    let (mut builder, place) = listed.build(label, of_list)?;
    if hosts.rate().is_some() {
        builder.assumptions.retain(|known| known.key != NIC_BANDWIDTH);
    }
    // What ends at a port and is no node takes the port all the same. A router that no line lists has none.
    let mut count = vec![0; builder.group_of.len()];
    for (i, switch) in switches.iter().enumerate() {
        let ends = switch.ends.iter().filter(|end| !end.peer.starts_with("S-")).count();
        count[place[i].index()] = switch.ports.saturating_sub((ends - nics[i]) as u32);
    }
    let nics = hosts.place(&mut builder, &place);
    builder.ports = Some(RouterPorts { count: OneOrEach::Each(count), per_nic: OneOrEach::One(1) });
    builder.forwarding = ForwardingKind::Tables;
    builder.subnet = Some(Arc::new(subnet(switches, &number, &place, &nics, &builder)));
    Ok(builder)
}

/// LIDs and ports, with the numbers of the builder: `place` has the id of each switch, `nics` has the NIC of each node.
fn subnet(
    switches: &[Switch<'_>],
    number: &HashMap<&str, usize>,
    place: &[RouterId],
    nics: &[Nic<'_>],
    builder: &MachineBuilder,
) -> Subnet {
    // The parallel cables between two switches, in the order of the machine's links: by class, then as listed.
    let class = |end: &End<'_>| builder.classes.iter().position(|class| class.name == end.speed);
    let mut cables: BTreeMap<(usize, usize), Vec<&End<'_>>> = BTreeMap::new();
    for (i, switch) in switches.iter().enumerate() {
        for end in &switch.ends {
            if let Some(&peer) = number.get(end.peer).filter(|&&peer| i < peer) {
                cables.entry((i, peer)).or_default().push(end);
            }
        }
    }
    let mut ports: Vec<BTreeMap<u32, Peer>> = vec![BTreeMap::new(); switches.len()];
    let mut found = Subnet { cables: cables.values().map(Vec::len).sum(), ..Subnet::default() };
    for ((a, b), mut ends) in cables {
        ends.sort_by_key(|end| class(end));
        for (cable, end) in ends.into_iter().enumerate() {
            ports[a].insert(end.port, Peer::Router(place[b], cable));
            ports[b].insert(end.peer_port, Peer::Router(place[a], cable));
        }
    }
    for (nic, node) in nics.iter().zip((0..).map(NodeId::from_index)) {
        ports[nic.switch].insert(nic.switch_port, Peer::Node(node));
        found.node_of_lid.extend(nic.lid.map(|lid| (lid, node)));
    }
    for ((switch, ports), &router) in switches.iter().zip(ports).zip(place) {
        let guid = switch.guid.strip_prefix("S-").and_then(|digits| u64::from_str_radix(digits, 16).ok());
        found.switches.push(SubnetSwitch { guid, lid: switch.lid, router, ports });
    }
    found
}

/// The number of the switch at the other end of a cable.
fn other_end(
    switches: &[Switch<'_>],
    number: &HashMap<&str, usize>,
    switch: &Switch<'_>,
    end: &End<'_>,
) -> Result<usize, String> {
    let Some(&peer) = number.get(end.peer) else {
        return Err(format!("port {} leads to switch {}, which the file does not have", end.port, end.peer));
    };
    let back = switches[peer].ends.iter().find(|back| back.port == end.peer_port);
    match back {
        Some(back) if back.peer == switch.guid && back.peer_port == end.port && back.speed == end.speed => Ok(peer),
        Some(back) => Err(format!(
            "port {} leads to port {} of {} at {}, but that leads to port {} of {} at {} (line {})",
            end.port, end.peer_port, end.peer, end.speed, back.peer_port, back.peer, back.speed, back.line
        )),
        None => {
            Err(format!("port {} leads to port {} of {}, which is not listed there", end.port, end.peer_port, end.peer))
        }
    }
}

/// Names of the switches: their descriptions, if these are unique.
fn names(switches: &[Switch<'_>]) -> Vec<String> {
    let described: Vec<Option<String>> = switches.iter().map(|switch| switch.description.and_then(short)).collect();
    let mut count: HashMap<&str, u32> = HashMap::new();
    described.iter().flatten().for_each(|name| *count.entry(name).or_default() += 1);
    let name = |(switch, described): (&Switch<'_>, &Option<String>)| match described {
        Some(name) if count[name.as_str()] == 1 => name.clone(),
        _ => switch.guid.to_owned(),
    };
    switches.iter().zip(&described).map(name).collect()
}

/// `MF0;leaf1:IS5030/U1` is `leaf1`; `MF0;core1:SXX536/L12/U1`, a chip of a director, is `core1/L12/U1`.
fn short(description: &str) -> Option<String> {
    let rest = description.split_once(';').map_or(description, |(_, rest)| rest);
    let (host, chip) = rest.split_once(':').unwrap_or((rest, ""));
    let place: Vec<&str> = chip.split('/').skip(1).collect();
    let name = if place.len() > 1 { format!("{host}/{}", place.join("/")) } else { host.to_owned() };
    let usable = !name.is_empty() && !name.contains(['>', ':']) && !name.contains(char::is_whitespace);
    usable.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use odonata_units::RouterId;

    const TWO: &str = "#\n# Topology file: generated on Sat Jan  1 00:00:00 2022\n#\n\nvendid=0x2c9\n\
        switchguid=0x2c9020040f160(2c9020040f160)\n\
        Switch\t36 \"S-a\"\t\t# \"MF0;leaf1:IS5030/U1\" enhanced port 0 lid 1 lmc 0\n\
        [1]\t\"H-1\"[1](2c903000d7ed1) \t\t# \"node1 HCA-1\" lid 4 4xQDR\n\
        [2]\t\"H-2\"[1](2c903000d7ed2) \t\t# \"node2 HCA-1\" lid 5 4xQDR\n\
        [19]\t\"S-b\"[3]\t\t# \"MF0;spine1:IS5030/U1\" lid 2 4xEDR\n\
        [20]\t\"S-b\"[4]\t\t# \"MF0;spine1:IS5030/U1\" lid 2 4xEDR\n\n\
        switchguid=0x2\nSwitch\t36 \"S-b\"\t\t# \"MF0;spine1:IS5030/U1\" enhanced port 0 lid 2 lmc 0\n\
        [3]\t\"S-a\"[19]\t\t# \"MF0;leaf1:IS5030/U1\" lid 1 4xEDR\n\
        [4]\t\"S-a\"[20]\t\t# \"MF0;leaf1:IS5030/U1\" lid 1 4xEDR\n\n\
        caguid=0x1\nCa\t1 \"H-1\"\t\t# \"node1 HCA-1\"\n[1](2c9) \t\"S-a\"[1]\t\t# lid 4 lmc 0 \"leaf1\" lid 1 4xQDR\n";

    fn read(text: &str) -> Result<MachineBuilder, MachineError> {
        ibnetdiscover(text.as_bytes(), "net.txt", &InfiniBand::default())
    }

    #[test]
    fn switches_adapters_and_cables() {
        let machine = read(TWO).unwrap().build().unwrap();
        assert_eq!((machine.router_count(), machine.node_count(), machine.link_count()), (2, 2, 4));
        let cable = machine.links().next().unwrap();
        // 4 lanes of 25.78125 Gb/s, with 64 data bits of 66.
        assert_eq!(machine.bandwidth(cable).bits_per_s(), 100_000_000_000);
        assert_eq!(machine.terminal().bandwidth.bits_per_s(), 32_000_000_000);
        assert_eq!(machine.nodes_of(RouterId(0)).len(), 2);
        assert_eq!(machine.coordinates().names, ["leaf1", "spine1"]);
        assert_eq!(machine.node_name(odonata_units::NodeId(1)), "node2");
    }

    /// A switch of 3 ports takes one cable more than its two.
    #[test]
    fn ports_of_a_switch_limit_its_cables() {
        let text = TWO.replace("Switch\t36 \"S-b\"", "Switch\t3 \"S-b\"");
        let free = |text: &str| crate::metrics::measure(&read(text).unwrap().build().unwrap()).ports.free;
        // 36 - 2 adapters - 2 cables, and 3 - 2 cables.
        assert_eq!(free(&text), Some(32 + 1));
        let builder = read(&text).unwrap();
        let edited = |edit: &str| {
            let edits = [crate::edit::Edit::parse(edit).unwrap()];
            crate::edit::apply(builder.clone(), &edits, 0).unwrap().build()
        };
        assert!(edited("+1 4xEDR").is_ok());
        let error = edited("+2 4xEDR").unwrap_err().to_string();
        assert!(error.starts_with("router spine1 needs 4 ports (4 of cables, 0 of nodes) but has 3"), "{error}");
    }

    /// Nodes are numbered rail by rail, and the hosts by the switch of their first rail: h2, h1, h2.1, h1.1.
    #[test]
    fn every_rail_has_its_lid() {
        let text = "Switch\t36 \"S-a\"\t\t# \"MF0;leaf1:IS5030/U1\" enhanced port 0 lid 1 lmc 0\n\
            [1]\t\"H-12\"[1](12) \t\t# \"h1 HCA-2\" lid 12 4xEDR\n\
            [2]\t\"H-21\"[1](21) \t\t# \"h2 HCA-1\" lid 21 4xEDR\n\
            [3]\t\"S-b\"[3]\t\t# \"MF0;leaf2:IS5030/U1\" lid 2 4xEDR\n\n\
            Switch\t36 \"S-b\"\t\t# \"MF0;leaf2:IS5030/U1\" enhanced port 0 lid 2 lmc 0\n\
            [1]\t\"H-22\"[1](22) \t\t# \"h2 HCA-2\" lid 22 4xEDR\n\
            [2]\t\"H-11\"[1](11) \t\t# \"h1 HCA-1\" lid 11 4xEDR\n\
            [3]\t\"S-a\"[3]\t\t# \"MF0;leaf1:IS5030/U1\" lid 1 4xEDR\n";
        let machine = read(text).unwrap().build().unwrap();
        let subnet = machine.subnet().unwrap();
        let node_of_lid = [(11, 1), (12, 3), (21, 0), (22, 2)].map(|(lid, node)| (lid, NodeId(node)));
        assert_eq!(subnet.node_of_lid, BTreeMap::from(node_of_lid));
        for (lid, name) in [(11, "h1"), (12, "h1.1"), (21, "h2"), (22, "h2.1")] {
            assert_eq!(machine.node_name(subnet.node_of_lid[&lid]), name);
        }
        let [a, b] = [&subnet.switches[0], &subnet.switches[1]];
        let ports = |nodes: [u32; 2], next| {
            let [first, second] = nodes.map(|node| Peer::Node(NodeId(node)));
            BTreeMap::from([(1, first), (2, second), (3, Peer::Router(next, 0))])
        };
        assert_eq!([&a.ports, &b.ports], [&ports([3, 0], b.router), &ports([2, 1], a.router)]);
        assert!(machine.nodes().all(|node| {
            let at = subnet.switches.iter().find(|switch| switch.ports.values().any(|&peer| peer == Peer::Node(node)));
            at.is_some_and(|switch| switch.router == machine.router_of(node))
        }));
    }

    #[test]
    fn names_distinguish_switches() {
        assert_eq!(short("MF0;leaf1:IS5030/U1").unwrap(), "leaf1");
        assert_eq!(short("MF0;core1:SXX536/L12/U1").unwrap(), "core1/L12/U1");
        assert_eq!(short("Infiniscale-IV Mellanox Technologies"), None);
        let same = TWO.replace("spine1", "leaf1");
        assert_eq!(read(&same).unwrap().build().unwrap().coordinates().names, ["S-a", "S-b"]);
    }

    #[test]
    fn invalid_input_is_refused() {
        let refused = |from: &str, to: &str, why: &str| {
            assert!(TWO.contains(from));
            let error = read(&TWO.replacen(from, to, 1)).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        };
        refused("[4]\t\"S-a\"[20]", "[4]\t\"S-a\"[21]", "but that leads to port 21 of S-a");
        refused("[4]\t\"S-a\"[20]", "[5]\t\"S-a\"[20]", "which is not listed there");
        refused("\"S-b\"[3]", "\"S-c\"[3]", "which the file does not have");
        refused("lid 4 4xQDR", "lid 4 4xWDR", "speed '4xWDR'; expected");
        refused("[19]\t\"S-b\"[3]", "[19]\t\"S-b\"", "expected a port as");
        refused("Switch\t36 \"S-b\"", "Switch\t36 \"S-a\"", "is listed twice");
        assert!(read("# nothing\n").unwrap_err().to_string().contains("there are no switches"));
    }
}
