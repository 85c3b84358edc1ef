//! The cable list of a Cray XC system: a line per tile of every Aries router.
//!
//! ```text
//! c0-0c0s0a0l00(0:0:0) green -> c0-0c0s6a0l10(0:0:6)
//! c0-0c0s0a0l04(0:0:0) blue -> unused
//! c0-0c0s0a0l50(0:0:0) ptile -> processor
//! ```
//! A tile has its router's name, `l` and two digits, followed by group, row and column of the router. Every cable is
//! listed from both ends. An unused tile is a free port: the port budget is the largest number of tiles of a class at
//! any router. Two processor tiles make a node, as on all XC blades. Group numbers may have gaps; groups are numbered
//! from 0 in their order. A router that is missing between others exists, but does not work. Routers are also known by
//! the names of their tiles (`c0-0c0s0`), if all follow one rule ([`FloorPlan`]).
//!
//! The list has neither bandwidths nor cores: the reader uses the figures of the XC30, as in
//! [`Cascade`](crate::topology::Cascade).

use super::damselfly::OF_ARIES;
use super::shape::{assemble, Routers};
use super::{line, text};
use crate::topology::Cascade;
use crate::{cray_names, Cable, FloorPlan, LinkClass, MachineBuilder, MachineError, RouterPorts};
use odonata_declare::{hint, OneOrEach};
use odonata_units::{LinkClassId, RouterId};
use std::collections::HashMap;

const CLASSES: [&str; 4] = ["green", "black", "blue", "ptile"];
/// Class number of processor tiles.
const PROCESSOR_TILES: usize = 3;
/// Processor tiles of a node, as on all XC blades.
const TILES_PER_NODE: u32 = 2;

/// One line of the list.
struct Tile<'a> {
    name: &'a str,
    /// Index of the router, in order of appearance.
    router: u32,
    class: usize,
    /// Tile at the other end and coordinates of its router; `None` if there is no cable.
    to: Option<(&'a str, Position)>,
    line: usize,
}

/// Group, row, column.
type Position = [u32; 3];

/// Reads the cable list of a Cray XC system.
///
/// # Errors
/// A line of another form, a tile listed twice, a cable whose other end contradicts it, or a router with two
/// positions; the message has the line.
pub fn cray_links(bytes: &[u8], label: &str) -> Result<MachineBuilder, MachineError> {
    let text = text(bytes, label)?;
    let mut positions: Vec<Position> = Vec::new();
    let mut index_of: HashMap<Position, u32> = HashMap::new();
    let mut tiles: Vec<Tile> = Vec::new();
    for (i, content) in text.lines().enumerate() {
        let content = content.trim();
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        let mut tile = read_line(content).or_else(|reason| line(label, i + 1, reason))?;
        let router = *index_of.entry(tile.1).or_insert_with(|| {
            positions.push(tile.1);
            positions.len() as u32 - 1
        });
        (tile.0.router, tile.0.line) = (router, i + 1);
        tiles.push(tile.0);
    }
    if tiles.is_empty() {
        return line(
            label,
            1,
            "no tile is listed; expected lines like 'c0-0c0s0a0l00(0:0:0) green -> c0-0c0s6a0l10(0:0:6)'",
        );
    }
    let cables = match_ends(&tiles, &positions, label)?;
    let mut counts = vec![[0u32; CLASSES.len()]; positions.len()];
    for tile in &tiles {
        counts[tile.router as usize][tile.class] += 1;
    }
    let ports = |class: usize| counts.iter().map(|c| c[class]).max().unwrap_or(0);
    let routers = Routers {
        axes: ["group", "row", "column"].map(String::from).to_vec(),
        values: positions.concat(),
        groups: None,
        names: Vec::new(),
        nodes: counts.iter().map(|c| c[PROCESSOR_TILES] / TILES_PER_NODE).collect(),
    };
    let default = Cascade::aries();
    let figures = [default.green_figures, default.black_figures, default.blue_figures];
    let classes: Vec<LinkClass> = figures
        .into_iter()
        .enumerate()
        .map(|(class, figures)| figures.class(CLASSES[class], Some(ports(class))))
        .collect();
    let cables = cables
        .into_iter()
        .map(|(a, b, class)| {
            let LinkClass { bandwidth, latency, .. } = classes[class.index()];
            Cable { a, b, class, bandwidth, latency }
        })
        .collect();
    let terminal = default.terminal.class("terminal", Some(ports(PROCESSOR_TILES) / TILES_PER_NODE));
    let (mut builder, _) = assemble(label, routers, classes, terminal, default.cores_per_node, cables)
        .or_else(|reason| line(label, 1, reason))?;
    builder.coordinates.floor = floor_plan(&tiles, &positions);
    builder.assume_bandwidths(OF_ARIES);
    // Processor tiles are ports of their own.
    let network = RouterPorts::of_all((0..PROCESSOR_TILES).map(ports).sum());
    builder.ports = Some(RouterPorts { per_nic: OneOrEach::One(0), ..network });
    Ok(builder)
}

/// Reads a line; router index and line number are filled in later.
fn read_line(content: &str) -> Result<(Tile<'_>, Position), String> {
    let words: Vec<&str> = content.split_whitespace().collect();
    let [from, class_name, "->", to] = words[..] else {
        return Err(format!("expected 'TILE(g:r:c) CLASS -> TILE(g:r:c)', found '{}'", shortened(content)));
    };
    let (name, position) = read_end(from)?;
    let Some(class) = CLASSES.iter().position(|&known| known == class_name) else {
        return Err(format!("unknown class '{}'{}", shortened(class_name), hint(class_name, CLASSES)));
    };
    let to = match (to, class == PROCESSOR_TILES) {
        ("processor", true) | ("unused", _) => None,
        (_, true) => return Err(format!("a ptile leads to 'processor' or is 'unused', not to '{}'", shortened(to))),
        ("processor", false) => {
            return Err(format!("a {class_name} tile leads to a tile or is 'unused', not to 'processor'"))
        }
        _ => Some(read_end(to)?),
    };
    Ok((Tile { name, router: 0, class, to, line: 0 }, position))
}

/// `c0-0c0s0a0l00(0:0:0)`: the tile's name and its router's position.
fn read_end(end: &str) -> Result<(&str, Position), String> {
    let expected = || format!("expected a tile like 'c0-0c0s0a0l00(0:0:0)', found '{}'", shortened(end));
    let (name, position) = end.strip_suffix(')').and_then(|e| e.split_once('(')).ok_or_else(expected)?;
    let mut values = position.split(':').map(|value| value.parse::<u16>().map(u32::from));
    match (values.next(), values.next(), values.next(), values.next()) {
        (Some(Ok(group)), Some(Ok(row)), Some(Ok(column)), None) if !name.is_empty() => {
            Ok((name, [group, row, column]))
        }
        _ => Err(expected()),
    }
}

/// The cabinets, if the names of all tiles have their places and follow the rule of an XC.
fn floor_plan(tiles: &[Tile], positions: &[Position]) -> Option<FloorPlan> {
    let place = |tile: &Tile| {
        let router = tile.name.rsplit_once('l').map_or(tile.name, |(router, _)| router);
        cray_names::parse(router).map(|place| (place, positions[tile.router as usize]))
    };
    let places: Vec<_> = tiles.iter().map(place).collect::<Option<_>>()?;
    FloorPlan::of(places.iter().copied())
}

/// At most 60 characters of any text.
fn shortened(text: &str) -> String {
    if text.chars().count() <= 60 {
        return text.into();
    }
    text.chars().take(57).chain("...".chars()).collect()
}

/// Builds the cables and compares both ends.
fn match_ends(
    tiles: &[Tile],
    positions: &[Position],
    label: &str,
) -> Result<Vec<(RouterId, RouterId, LinkClassId)>, MachineError> {
    let mut by_name: HashMap<&str, usize> = HashMap::with_capacity(tiles.len());
    for (i, tile) in tiles.iter().enumerate() {
        if let Some(before) = by_name.insert(tile.name, i) {
            let before = tiles[before].line;
            return line(
                label,
                tile.line,
                format!("tile {} was listed in line {before} already", shortened(tile.name)),
            );
        }
    }
    let mut cables = Vec::new();
    for (i, tile) in tiles.iter().enumerate() {
        let Some((other_name, other_position)) = tile.to else { continue };
        let name = shortened(other_name);
        let refuse = |reason: String| line(label, tile.line, reason);
        let Some(&j) = by_name.get(other_name) else {
            return refuse(format!("the other end, tile {name}, is not listed; is the file cut short?"));
        };
        let other = &tiles[j];
        let at = positions[other.router as usize];
        if at != other_position {
            return refuse(format!("tile {name} is at {other_position:?} here, but at {at:?} in line {}", other.line));
        }
        if other.to.map(|to| to.0) != Some(tile.name) || other.class != tile.class {
            return refuse(format!("the other end, tile {name} in line {}, does not lead back here", other.line));
        }
        if tile.router == other.router {
            return refuse("the cable joins a router to itself".into());
        }
        if i < j {
            cables.push((RouterId(tile.router), RouterId(other.router), LinkClassId::from_index(tile.class)));
        }
    }
    Ok(cables)
}
