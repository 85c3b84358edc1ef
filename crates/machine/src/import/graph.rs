//! Graphs of other programs: GraphML, GraphViz (dot), node-link JSON (networkx).
//!
//! Every vertex with an edge is a router, called by its id, and every edge is a cable; a directed graph may have an
//! edge for each direction. The file does not say which vertices are hosts, so routers have `nodes_per_router` nodes
//! each. Read of an edge is its rate in GraphML, `LinkSpeedRaw` in bits per second (Internet Topology Zoo), if all edges
//! have it. Labels, other attributes and ports (`a:p1 -- b:p2`) are not read.

use super::cables::Listing;
use super::dot;
use super::edge_columns::{EdgeListColumns, EdgeListOptions};
use super::edge_list::build;
use super::format::{Format, FormatError};
use super::graph_edges::Edges;
use super::located_value::{document, LocatedValue};
use super::{line, text};
use crate::{MachineBuilder, MachineError};
use odonata_declare::{parameters, Reader};
use roxmltree::{Document, Node, ParsingOptions};

parameters! {
    /// Data that a graph does not contain.
    pub struct GraphFile {
        options: EdgeListOptions = EdgeListOptions::default(), part;
    }
}

impl Format for GraphFile {
    fn read(&self, bytes: &[u8], label: &str, _: &mut dyn Reader) -> Result<MachineBuilder, FormatError> {
        Ok(graph(bytes, label, &self.options)?)
    }
}

/// Reads a graph.
///
/// # Errors
/// A text that is none of the three forms, or no edges; the message has the line.
pub fn graph(bytes: &[u8], label: &str, options: &EdgeListOptions) -> Result<MachineBuilder, MachineError> {
    let text = text(bytes, label)?;
    let found = match text.trim_start().chars().next() {
        Some('<') => graphml(text, label)?,
        Some('{') => node_link(&document(text, label)?, label)?,
        _ => dot::edges(text).or_else(|(at, reason)| line(label, at, reason))?,
    };
    let mut columns = EdgeListColumns::default();
    let mut places = Vec::new();
    let mut reading = Vec::new();
    for (a, b, at) in found.edges {
        columns.src.push(a);
        columns.dst.push(b);
        places.push(at);
    }
    let known = found.rates.iter().flatten().count();
    if known > 0 && known == columns.src.len() {
        columns.bandwidth = found.rates.into_iter().flatten().collect();
    } else if known > 0 {
        reading.push(format!("LinkSpeedRaw is not used: {known} of {} edges have it", columns.src.len()));
    }
    let listing = if found.directed { options.listing } else { Listing::Cables };
    let (mut builder, place) =
        build(&columns, &[], &EdgeListOptions { listing, ..options.clone() }, label, "line", &places)?;
    if let Some(alone) = found.vertices.map(|count| count.saturating_sub(place.len())).filter(|&alone| alone > 0) {
        reading.push(format!("vertices without edges are left out: {alone}"));
    }
    builder.reading.append(&mut reading);
    Ok(builder)
}

fn graphml(text: &str, label: &str) -> Result<Edges, MachineError> {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options)
        .or_else(|error| line(label, error.pos().row as usize, format!("not XML: {error}")))?;
    let all = |name: &'static str| document.descendants().filter(move |node| node.tag_name().name() == name);
    let at = |node: &Node<'_, '_>| document.text_pos_at(node.range().start).row as usize;
    let is_speed = |key: &Node<'_, '_>| key.attribute("attr.name") == Some("LinkSpeedRaw");
    let speed = all("key").find(is_speed).and_then(|key| key.attribute("id"));
    let mut found = Edges { vertices: Some(all("node").count()), ..Edges::default() };
    found.directed = all("graph").any(|graph| graph.attribute("edgedefault") == Some("directed"));
    for edge in all("edge") {
        let (Some(a), Some(b)) = (edge.attribute("source"), edge.attribute("target")) else {
            return line(label, at(&edge), "an edge without 'source' and 'target'");
        };
        let of_speed = |data: &Node<'_, '_>| speed.is_some() && data.attribute("key") == speed;
        let rate = edge.children().find(of_speed).and_then(|data| data.text()?.trim().parse::<f64>().ok());
        found.rates.push(rate.and_then(|bits| super::entries::rate(bits / 8.0)));
        found.edges.push((a.to_owned(), b.to_owned(), at(&edge)));
    }
    Ok(found)
}

fn node_link(tree: &LocatedValue, label: &str) -> Result<Edges, MachineError> {
    let nodes = tree.need(label, "nodes")?.items(label, "nodes")?.len();
    let name = if tree.get("links").is_some() { "links" } else { "edges" };
    let mut found = Edges { vertices: Some(nodes), ..Edges::default() };
    found.directed =
        tree.get("directed").is_some_and(|value| value.text(label, "directed").is_ok_and(|text| text == "true"));
    for edge in tree.need(label, name)?.items(label, name)? {
        let end = |name: &str| edge.need(label, name)?.text(label, name).map(str::to_owned);
        found.edges.push((end("source")?, end("target")?, edge.line));
    }
    Ok(found)
}
