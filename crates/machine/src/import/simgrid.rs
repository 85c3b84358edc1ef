//! Clusters of SimGrid's platform files (XML, `<cluster topology="DRAGONFLY" topo_parameters="3,4;3,2;3,1;2" .../>`).
//!
//! | `topology` | `topo_parameters` | read as |
//! |---|---|---|
//! | `DRAGONFLY` | groups, blue; chassis, black; routers of a chassis, green; nodes of a router | groups of chassis x routers: every two routers of a chassis are joined, every two of the same number in different chassis, and router b of group a (counted through its chassis) with router a of group b; each by this number of links |
//! | `FAT_TREE` | levels; links down, of each level; links up; parallel links | [`Xgft`] |
//! | `TORUS` | sizes, the first dimension fastest | [`Torus`] with the sizes in reverse order, since here the last is the fastest |
//! | `FLAT`, or none | | one switch with its hosts |
//!
//! All links have the bandwidth `bw` and the latency `lat`. Speeds of hosts, loopbacks, limiters and sharing policies
//! are not read: nodes have one NIC here, and links are full duplex (`SPLITDUPLEX`, SimGrid's default). A backbone (`bb_bw`) is not read, which
//! the reader says. Hosts keep their names.

use super::edge_columns::{EdgeListColumns, EdgeListOptions};
use super::edge_list::{build, ListedCables};
use super::entries::{counts, latency, rate};
use super::{line, text};
use crate::topology::{LinkFigures, Topology, Torus, Xgft};
use crate::{MachineBuilder, MachineError};
use odonata_declare::OneOrEach;
use odonata_units::{Rate, Time};
use roxmltree::{Document, Node, ParsingOptions};

/// A cluster element and its place.
struct Cluster<'a, 'input> {
    node: Node<'a, 'input>,
    label: &'a str,
    line: usize,
}

impl Cluster<'_, '_> {
    fn refuse<T>(&self, reason: impl Into<String>) -> Result<T, MachineError> {
        line(self.label, self.line, reason)
    }

    fn attribute(&self, name: &str) -> Result<&str, MachineError> {
        self.node.attribute(name).map_or_else(|| self.refuse(format!("the cluster has no '{name}'")), Ok)
    }

    /// The parts of `topo_parameters`, each a list of counts.
    fn parameters(&self, expected: &str, parts: usize) -> Result<Vec<Vec<u32>>, MachineError> {
        let text = self.attribute("topo_parameters")?;
        let found: Option<Vec<Vec<u32>>> = text.split(';').map(counts).collect();
        match found {
            Some(found) if found.len() == parts => Ok(found),
            _ => self.refuse(format!("topo_parameters '{text}'; expected {expected}, numbers from 1")),
        }
    }

    fn figures(&self) -> Result<LinkFigures, MachineError> {
        let (bandwidth, latency) = (self.attribute("bw")?, self.attribute("lat")?);
        match (bandwidth_of(bandwidth), latency_of(latency)) {
            (Some(bandwidth), Some(latency)) => Ok(LinkFigures { bandwidth, latency }),
            (None, _) => self.refuse(format!("bw '{bandwidth}'; expected a bandwidth such as 125MBps or 10Gbps")),
            (_, None) => self.refuse(format!("lat '{latency}'; expected a time such as 50us or 100ns")),
        }
    }

    /// The ranges of host numbers in `radical`, and how many they are.
    fn radical(&self) -> Result<(Vec<(u64, u64)>, u64), MachineError> {
        let text = self.attribute("radical")?;
        let range = |part: &str| -> Option<(u64, u64)> {
            let (from, to) = part.split_once('-').unwrap_or((part, part));
            Some((from.trim().parse().ok()?, to.trim().parse().ok()?)).filter(|(from, to)| from <= to)
        };
        let ranges: Option<Vec<(u64, u64)>> = text.split(',').map(range).collect();
        let size = |ranges: &Vec<(u64, u64)>| {
            ranges.iter().try_fold(0u64, |sum, (from, to)| sum.checked_add((to - from).checked_add(1)?))
        };
        match ranges.and_then(|ranges| Some((size(&ranges)?, ranges))) {
            Some((size, ranges)) => Ok((ranges, size)),
            None => self.refuse(format!("radical '{text}'; expected ranges such as 0-15")),
        }
    }

    /// Checks that `radical` names as many nodes as the topology has.
    fn check_nodes(&self, nodes: u64) -> Result<(), MachineError> {
        match self.radical()?.1 {
            named if named == nodes => Ok(()),
            named => {
                let text = self.attribute("radical")?;
                self.refuse(format!("radical '{text}' names {named} hosts, topo_parameters make {nodes}"))
            }
        }
    }

    /// The names of the hosts, unless they are numbers.
    fn host_names(&self) -> Result<Vec<String>, MachineError> {
        let [prefix, suffix] = ["prefix", "suffix"].map(|name| self.node.attribute(name).unwrap_or(""));
        let numbers = self.radical()?.0.into_iter().flat_map(|(from, to)| from..=to);
        let usable = !prefix.is_empty() || suffix.chars().any(|c| !c.is_ascii_digit());
        Ok(numbers.filter(|_| usable).map(|number| format!("{prefix}{number}{suffix}")).collect())
    }
}

/// Reads the cluster with a topology of a platform.
///
/// # Errors
/// Invalid XML, no such cluster or several, or attributes that are missing or do not match; the message has the line.
pub fn simgrid(bytes: &[u8], label: &str) -> Result<MachineBuilder, MachineError> {
    let text = text(bytes, label)?;
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options)
        .or_else(|error| line(label, error.pos().row as usize, format!("not XML: {error}")))?;
    let clusters: Vec<Cluster<'_, '_>> = document
        .descendants()
        .filter(|node| node.has_tag_name("cluster"))
        .map(|node| Cluster { node, label, line: document.text_pos_at(node.range().start).row as usize })
        .collect();
    let [cluster] = &clusters[..] else {
        let reason = match clusters.get(1) {
            Some(second) => return second.refuse("a second cluster; a machine is one cluster: give a file with one"),
            None => "no <cluster>; a platform of hosts, links and routes has no list of cables",
        };
        return line(label, 1, reason);
    };
    let topology = cluster.node.attribute("topology").unwrap_or("FLAT").to_ascii_uppercase();
    let mut builder = match topology.as_str() {
        "DRAGONFLY" => dragonfly(cluster)?,
        "FAT_TREE" => fat_tree(cluster)?,
        "TORUS" => torus(cluster)?,
        "FLAT" => flat(cluster)?,
        _ => {
            let reason = format!("unknown topology '{topology}'; expected DRAGONFLY, FAT_TREE, TORUS or FLAT");
            return cluster.refuse(reason);
        }
    };
    builder.node_names = cluster.host_names()?;
    if let Some(backbone) = cluster.node.attribute("bb_bw") {
        builder.reading.push(format!("the backbone of {backbone} is not read"));
    }
    label.clone_into(&mut builder.name);
    Ok(builder)
}

/// One switch with all hosts.
fn flat(cluster: &Cluster<'_, '_>) -> Result<MachineBuilder, MachineError> {
    let hosts = cluster.radical()?.1;
    if hosts > u64::from(super::LIMIT) {
        return cluster.refuse(format!("more than {} hosts", super::LIMIT));
    }
    let mut listed = ListedCables::default();
    listed.add("switch", hosts as usize);
    let terminal = cluster.figures()?;
    let (mut builder, _) = listed.build(cluster.label, EdgeListOptions { terminal, ..EdgeListOptions::default() })?;
    builder.assumptions.clear();
    Ok(builder)
}

fn dragonfly(cluster: &Cluster<'_, '_>) -> Result<MachineBuilder, MachineError> {
    let expected = "'groups,links;chassis,links;routers,links;nodes'";
    let parameters = cluster.parameters(expected, 4)?;
    let [groups, chassis, routers] = &parameters[..3] else { unreachable!("four parts") };
    let ([groups, blue], [chassis, black], [routers, green], [nodes]) =
        (&groups[..], &chassis[..], &routers[..], &parameters[3][..])
    else {
        let text = cluster.attribute("topo_parameters")?;
        return cluster.refuse(format!("topo_parameters '{text}'; expected {expected}, numbers from 1"));
    };
    let size = u64::from(*chassis) * u64::from(*routers);
    let all = size.saturating_mul(u64::from(*groups));
    if *groups > 1 && u64::from(*groups) > size {
        let reason = format!(
            "{groups} groups need as many routers in each, but there are {size}: router b of group a is joined to \
             group b"
        );
        return cluster.refuse(reason);
    }
    let inside = u64::from(*chassis) * u64::from(*routers) * u64::from(routers + chassis);
    let entries = inside.saturating_add(u64::from(*groups)).saturating_mul(u64::from(*groups));
    if entries.max(all.saturating_mul(u64::from(*nodes))) > u64::from(super::LIMIT) {
        return cluster.refuse(format!("more than {} cables or nodes", super::LIMIT));
    }
    cluster.check_nodes(all * u64::from(*nodes))?;
    let figures = cluster.figures()?;
    let mut columns =
        EdgeListColumns { axes: ["group", "row", "column"].map(String::from).to_vec(), ..Default::default() };
    let mut join = |a: [u32; 3], b: [u32; 3], class: &str, count: u32| {
        let name = |[g, r, c]: [u32; 3]| format!("g{g}r{r}c{c}");
        columns.src.push(name(a));
        columns.dst.push(name(b));
        columns.class.push(class.to_owned());
        columns.count.push(count);
        columns.src_coordinates.extend(a);
        columns.dst_coordinates.extend(b);
    };
    for group in 0..*groups {
        for row in 0..*chassis {
            for column in 0..*routers {
                (column + 1..*routers).for_each(|to| join([group, row, column], [group, row, to], "green", *green));
                (row + 1..*chassis).for_each(|to| join([group, row, column], [group, to, column], "black", *black));
            }
        }
        let place = |group: u32, router: u32| [group, router / routers, router % routers];
        (group + 1..*groups).for_each(|to| join(place(group, to), place(to, group), "blue", *blue));
    }
    if columns.src.is_empty() {
        return cluster.refuse("one router; a machine has cables");
    }
    let options = EdgeListOptions {
        nodes_per_router: *nodes,
        bandwidth: figures.bandwidth,
        latency: figures.latency,
        terminal: figures,
        listing: super::Listing::Cables,
        ..EdgeListOptions::default()
    };
    let places = vec![cluster.line; columns.src.len()];
    let (mut builder, _) = build(&columns, &[], &options, cluster.label, "line", &places)?;
    // All links have the figures of the cluster.
    builder.assumptions.clear();
    Ok(builder)
}

fn fat_tree(cluster: &Cluster<'_, '_>) -> Result<MachineBuilder, MachineError> {
    let parts = cluster.parameters("'levels;down,..;up,..;parallel,..'", 4)?;
    let [levels, children, parents, links] = &parts[..] else { unreachable!("four parts") };
    let count = levels[0] as usize;
    if levels.len() != 1 || [children, parents, links].iter().any(|part| part.len() != count) {
        return cluster.refuse(format!("topo_parameters: {} levels need as many numbers in each part", levels[0]));
    }
    if parents[0] != 1 {
        return cluster.refuse(format!("a host has {} switches; a node has one NIC here", parents[0]));
    }
    let nodes = children.iter().fold(1u64, |product, &n| product.saturating_mul(u64::from(n)));
    cluster.check_nodes(nodes)?;
    let figures = cluster.figures()?;
    let family = Xgft {
        children: children.clone(),
        parents: parents.clone(),
        parallel: OneOrEach::Each(links[1..].to_vec()),
        local: figures,
        global: figures,
        terminal: LinkFigures { bandwidth: times(figures.bandwidth, u64::from(links[0])), ..figures },
        ..Xgft::default()
    };
    family.lay_out()
}

fn torus(cluster: &Cluster<'_, '_>) -> Result<MachineBuilder, MachineError> {
    let mut dims = cluster.parameters("'x,y,z'", 1)?.remove(0);
    dims.reverse();
    cluster.check_nodes(dims.iter().fold(1u64, |product, &n| product.saturating_mul(u64::from(n))))?;
    let figures = cluster.figures()?;
    // A host is its own router, so only its links limit its traffic.
    let terminal = LinkFigures { bandwidth: times(figures.bandwidth, 2 * dims.len() as u64), latency: Time(0) };
    Torus { dims, local: figures, terminal, cores_per_node: 1, ..Torus::default() }.lay_out()
}

/// The rate times `count`, up to the fastest rate of a link.
fn times(rate: Rate, count: u64) -> Rate {
    Rate::from_bits_per_s(rate.bits_per_s().saturating_mul(count).min(8_000_000_000_000_000))
}

/// A number and its unit; the number may have an exponent.
fn number(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    (1..=text.len())
        .rev()
        .filter(|&end| text.is_char_boundary(end))
        .find_map(|end| Some((text[..end].parse::<f64>().ok().filter(|value| value.is_finite())?, text[end..].trim())))
}

/// `125MBps` counts bytes, `10Gbps` bits, `1MiBps` powers of two; bytes without a unit.
pub(super) fn bandwidth_of(text: &str) -> Option<Rate> {
    let (value, unit) = number(text)?;
    let (prefix, bytes) = match unit {
        "" => ("", 1.0),
        _ => match (unit.strip_suffix("Bps"), unit.strip_suffix("bps")) {
            (Some(prefix), _) => (prefix, 1.0),
            (_, Some(prefix)) => (prefix, 1.0 / 8.0),
            _ => return None,
        },
    };
    let kilo = if prefix.ends_with('i') { 1024f64 } else { 1000.0 };
    let power = match prefix.trim_end_matches('i') {
        "" => 0,
        "k" | "K" => 1,
        "M" => 2,
        "G" => 3,
        "T" => 4,
        _ => return None,
    };
    rate(value * bytes * kilo.powi(power))
}

/// Seconds without a unit.
pub(super) fn latency_of(text: &str) -> Option<Time> {
    let (value, unit) = number(text)?;
    let scale = match unit {
        "" | "s" => 1.0,
        "ms" => 1e-3,
        "us" => 1e-6,
        "ns" => 1e-9,
        "ps" => 1e-12,
        _ => return None,
    };
    latency(value * scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The units of SimGrid's reference: bytes or bits, powers of 1,000 or of 1,024.
    #[test]
    fn units_of_bandwidths() {
        for (text, bytes_per_s) in [
            ("125", 125u64),
            ("125Bps", 125),
            ("1kBps", 1_000),
            ("125MBps", 125_000_000),
            ("1.25e2MBps", 125_000_000),
            ("2GBps", 2_000_000_000),
            ("1KiBps", 1 << 10),
            ("1MiBps", 1 << 20),
            ("3GiBps", 3 << 30),
            ("8kbps", 1_000),
            ("10Gbps", 1_250_000_000),
            ("8Mibps", 1 << 20),
            ("1TBps", 1_000_000_000_000),
        ] {
            assert_eq!(bandwidth_of(text), Some(Rate::from_bytes_per_s(bytes_per_s)), "{text}");
        }
        for text in ["", "MBps", "125 B", "125MBs", "1XBps", "1iBps2"] {
            assert_eq!(bandwidth_of(text), None, "{text}");
        }
    }

    #[test]
    fn units_of_latencies() {
        for (text, ps) in
            [("5us", 5_000_000), ("50ns", 50_000), ("0.001", 1_000_000_000), ("7ps", 7), ("2ms", 2_000_000_000)]
        {
            assert_eq!(latency_of(text), Some(Time(ps)), "{text}");
        }
        assert_eq!(latency_of("5min"), None);
    }
}
