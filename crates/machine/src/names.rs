//! Names of routers, nodes and links, and their parsers.
//!
//! The name of a router is formed from its coordinates. It is the first letter of each axis with its value, if these
//! letters differ: `g3r0c12`, or `X3Y0Z12` on a torus whose axes are letters. Otherwise it is the common letter once
//! and the values joined by `_`: `x3_0_12` on a torus with axes `x0`, `x1`, `x2`. Without coordinates it is `r7`. A
//! file may give routers other names, and on Cray XC systems the place in the cabinets is one, too (`c0-0c0s3`).
//!
//! The name of a node is its router's name, `n` and its slot (`g3r0c12n1`), unless it has its own name. The name of a
//! link is `g0r0c0>g0r0c1:green.0`.

use crate::{cray_names, Coordinates, Machine, MachineError};
use odonata_declare::hint;
use odonata_units::{LinkId, NodeId, RouterId};

/// An `Unknown` error with the nearest known names.
pub(crate) fn unknown<'a>(kind: &'static str, name: &str, known: impl IntoIterator<Item = &'a str>) -> MachineError {
    MachineError::Unknown { kind, name: name.into(), hint: hint(name, known) }
}

/// The id that a name may be, below `count`; the error is a hint.
fn id(name: &str, count: usize) -> Option<Result<u32, String>> {
    let id = name.parse::<u32>().ok()?;
    Some(if (id as usize) < count { Ok(id) } else { Err(format!("; ids are 0 to {}", count.saturating_sub(1))) })
}

/// A node in a name: its router, and its slot there.
pub(crate) fn node(name: &str) -> Option<(&str, usize)> {
    let (router, slot) = name.rsplit_once('n')?;
    Some((router, slot.parse().ok()?))
}

impl Coordinates {
    /// Coordinates of a full grid: router r has the mixed-radix digits of r, the last axis fastest.
    pub fn grid(axes: &[&str], sizes: &[u32]) -> Self {
        assert_eq!(axes.len(), sizes.len(), "a size per axis");
        let routers: usize = sizes.iter().map(|&n| n as usize).product();
        let mut values = Vec::with_capacity(routers * sizes.len());
        for router in 0..routers {
            let mut stride = routers;
            for &size in sizes {
                stride /= size as usize;
                values.push((router / stride % size as usize) as u32);
            }
        }
        Self { axes: axes.iter().map(|&a| a.to_owned()).collect(), sizes: sizes.to_vec(), values, ..Self::default() }
    }

    /// Name of a router.
    pub fn router_name(&self, router: RouterId) -> String {
        if let Some(name) = self.names.get(router.index()) {
            return name.clone();
        }
        if self.axes.is_empty() {
            return format!("r{}", router.0);
        }
        let values = self.of(router).iter().map(u32::to_string);
        match self.axis_letters() {
            Some(letters) => letters.iter().zip(values).map(|(letter, value)| format!("{letter}{value}")).collect(),
            None => format!("{}{}", initial(&self.axes[0]), values.collect::<Vec<_>>().join("_")),
        }
    }

    /// The router called `name`; a plain number is a router id.
    ///
    /// # Errors
    /// No such router among `routers`; the message has the nearest one and the range of each axis.
    pub fn router_named(&self, name: &str, routers: usize) -> Result<RouterId, MachineError> {
        let unknown = |hint: String| MachineError::Unknown { kind: "router", name: name.into(), hint };
        if let Some(router) = self.names.iter().position(|known| known == name) {
            return Ok(RouterId::from_index(router));
        }
        let by_id = if self.axes.is_empty() { name.strip_prefix('r').unwrap_or(name) } else { name };
        // Numbers of a file are names, and an id could be another router's number.
        let numbered = self.names.iter().any(|known| known.parse::<u32>().is_ok());
        if let Some(id) = id(by_id, routers).filter(|_| !numbered) {
            return id.map(RouterId).map_err(unknown);
        }
        if let Some(found) = self.router_in_cabinet(name, routers) {
            return found.map_err(|hint| unknown(hint.into()));
        }
        if !self.names.is_empty() {
            return Err(unknown(hint(name, self.names.iter().map(String::as_str))));
        }
        let Some(wanted) = self.parse(name) else {
            let last = RouterId::from_index(routers - 1);
            return Err(unknown(format!(
                "; routers are called {} to {}",
                self.router_name(RouterId(0)),
                self.router_name(last)
            )));
        };
        self.find(&wanted, routers).ok_or_else(|| {
            let nearest = (0..routers as u32).map(RouterId).min_by_key(|&router| {
                self.of(router).iter().zip(&wanted).map(|(&have, &want)| u64::from(have.abs_diff(want))).sum::<u64>()
            });
            let ranges: Vec<String> =
                self.axes.iter().zip(&self.sizes).map(|(a, n)| format!("{a} 0 to {}", n.saturating_sub(1))).collect();
            let near = nearest.map(|r| self.router_name(r)).unwrap_or_default();
            unknown(format!("; did you mean '{near}'? ({})", ranges.join(", ")))
        })
    }

    /// The router at the place of a cname; `None` if the name or the machine has no cabinets.
    fn router_in_cabinet(&self, name: &str, routers: usize) -> Option<Result<RouterId, &'static str>> {
        let (plan, place) = (self.floor.as_ref()?, cray_names::parse(name)?);
        Some(
            plan.coordinates(place).and_then(|wanted| {
                self.find(&wanted, routers).ok_or("; the machine has no such cabinet, chassis or slot")
            }),
        )
    }

    /// The router at the coordinates `wanted`.
    pub(crate) fn find(&self, wanted: &[u32], routers: usize) -> Option<RouterId> {
        // Generated machines number their routers in mixed radix, so look there before searching.
        let mut digits = wanted.iter().zip(&self.sizes);
        let guess = digits
            .try_fold(0usize, |id, (&value, &size)| id.checked_mul(size as usize)?.checked_add(value as usize))
            .filter(|&id| id < routers)
            .map(RouterId::from_index);
        guess
            .filter(|&router| self.of(router) == wanted)
            .or_else(|| (0..routers as u32).map(RouterId).find(|&router| self.of(router) == wanted))
    }

    /// The values in a router's name, or `None` if it has another form.
    pub(crate) fn parse(&self, name: &str) -> Option<Vec<u32>> {
        let values: Option<Vec<u32>> = match self.axis_letters() {
            Some(letters) => {
                let mut rest = name;
                letters
                    .iter()
                    .map(|&letter| {
                        rest = rest.strip_prefix(letter)?;
                        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
                        let value = rest[..end].parse().ok()?;
                        rest = &rest[end..];
                        Some(value)
                    })
                    .collect::<Option<Vec<u32>>>()
                    .filter(|_| rest.is_empty())
            }
            None => name.strip_prefix(initial(self.axes.first()?))?.split('_').map(|v| v.parse().ok()).collect(),
        };
        values.filter(|values| values.len() == self.axes.len())
    }

    /// The first letters of the axes, if they differ. A single axis of the form `x0` counts as numbered.
    fn axis_letters(&self) -> Option<Vec<char>> {
        let letters: Vec<char> = self.axes.iter().map(|axis| initial(axis)).collect();
        let distinct = letters.iter().enumerate().all(|(i, letter)| !letters[..i].contains(letter));
        distinct.then_some(letters)
    }
}

fn initial(axis: &str) -> char {
    axis.chars().next().expect("an axis has a name")
}

impl Machine {
    /// Name of a router: `g0r1c2`, `x3_0_12`, or `r7` where there are no coordinates.
    pub fn router_name(&self, router: RouterId) -> String {
        self.coordinates.router_name(router)
    }

    /// Name of a node: its own name, or its router's name, `n` and its slot.
    pub fn node_name(&self, node: NodeId) -> String {
        if let Some(name) = self.node_names.get(node.index()) {
            return name.clone();
        }
        format!("{}n{}", self.router_name(self.router_of(node)), self.slot_of(node))
    }

    /// Name of a link: `g0r0c0>g0r0c1:green.0`.
    pub fn link_name(&self, link: LinkId) -> String {
        format!(
            "{}>{}:{}.{}",
            self.router_name(self.source(link)),
            self.router_name(self.target(link)),
            self.classes[self.class(link).index()].name,
            self.parallel(link)
        )
    }

    /// The router called `name`; a plain number is a router id.
    ///
    /// # Errors
    /// No such router; the message names the nearest one.
    pub fn router_named(&self, name: &str) -> Result<RouterId, MachineError> {
        self.coordinates.router_named(name, self.router_count())
    }

    /// The node called `name`; a plain number is a node id.
    ///
    /// # Errors
    /// No such node; the message names the nearest one.
    pub fn node_named(&self, name: &str) -> Result<NodeId, MachineError> {
        let unknown = |hint: String| MachineError::Unknown { kind: "node", name: name.into(), hint };
        if let Some(id) = id(name, self.node_count()) {
            return id.map(NodeId).map_err(unknown);
        }
        let own = |node: &NodeId| self.node_names[node.index()].as_str();
        if let Ok(at) = self.node_by_name.binary_search_by_key(&name, own) {
            return Ok(self.node_by_name[at]);
        }
        if !self.node_names.is_empty() {
            return Err(unknown(hint(name, self.node_names.iter().map(String::as_str))));
        }
        let Some((router, slot)) = node(name) else {
            let example = self.nodes().next().map(|node| format!(" like '{}'", self.node_name(node)));
            return Err(unknown(format!("; write a node{} or its id", example.unwrap_or_default())));
        };
        let router = self.router_named(router).map_err(|error| match error {
            MachineError::Unknown { hint, .. } => unknown(format!(": its router is unknown{hint}")),
            other => other,
        })?;
        let nodes = self.nodes_of(router);
        nodes.get(slot).copied().ok_or_else(|| {
            unknown(match nodes.last() {
                Some(&last) => format!("; did you mean '{}'? (that router has {})", self.node_name(last), nodes.len()),
                None => "; that router has no nodes".into(),
            })
        })
    }

    /// The link called `name`; a plain number is a link id. The parallel index may be omitted if there is only one
    /// link.
    ///
    /// # Errors
    /// No such link; the message has the links between the two routers.
    pub fn link_named(&self, name: &str) -> Result<LinkId, MachineError> {
        let unknown = |hint: String| MachineError::Unknown { kind: "link", name: name.into(), hint };
        if let Some(id) = id(name, self.link_count()) {
            return id.map(LinkId).map_err(unknown);
        }
        let parts = LinkName::parse(name).ok_or_else(|| {
            let example = self.links().next().map(|link| format!(" like '{}'", self.link_name(link)));
            unknown(format!("; write a link{} or its id", example.unwrap_or_default()))
        })?;
        let (source, target) = (self.router_named(parts.source)?, self.router_named(parts.target)?);
        let between: Vec<LinkId> =
            self.links_from(source).map(LinkId::from_index).filter(|&link| self.target(link) == target).collect();
        let matching: Vec<LinkId> = between
            .iter()
            .copied()
            .filter(|&link| parts.class.is_none_or(|class| self.classes[self.class(link).index()].name == class))
            .filter(|&link| parts.parallel.is_none_or(|parallel| u32::from(self.parallel(link)) == parallel))
            .collect();
        match matching[..] {
            [link] => Ok(link),
            _ if between.is_empty() => Err(unknown("; no cable joins these two routers".into())),
            _ => {
                let names: Vec<String> = between.iter().map(|&link| self.link_name(link)).collect();
                Err(unknown(format!("; there are {}", names.join(", "))))
            }
        }
    }
}

/// The parts of a link's name.
pub(crate) struct LinkName<'a> {
    pub(crate) source: &'a str,
    pub(crate) target: &'a str,
    pub(crate) class: Option<&'a str>,
    pub(crate) parallel: Option<u32>,
}

impl<'a> LinkName<'a> {
    pub(crate) fn parse(name: &'a str) -> Option<Self> {
        let (ends, link) = match name.split_once(':') {
            Some((ends, link)) => (ends, Some(link)),
            None => (name, None),
        };
        let (source, target) = ends.split_once('>')?;
        let (class, parallel) = match link.map(|l| l.rsplit_once('.').unwrap_or((l, ""))) {
            None => (None, None),
            Some((class, "")) => (Some(class), None),
            Some((class, parallel)) => (Some(class), Some(parallel.parse().ok()?)),
        };
        Some(Self { source, target, class, parallel })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::presets;
    use proptest::prelude::*;

    fn build(preset: &str) -> Machine {
        presets::builder(preset).unwrap().build().unwrap()
    }

    #[test]
    fn names_by_hand() {
        let edison = build("edison");
        assert_eq!(edison.router_name(RouterId(96 + 16 + 2)), "g1r1c2");
        assert_eq!(edison.router_named("g1r1c2"), Ok(RouterId(114)));
        assert_eq!(edison.router_named("114"), Ok(RouterId(114)));
        assert_eq!(edison.node_name(NodeId(4 * 114 + 3)), "g1r1c2n3");
        let torus = build("bgq-midplane");
        assert_eq!(torus.router_name(RouterId(511)), "A3B3C3D3E1");
        assert_eq!(torus.node_named("A3B3C3D3E1n0"), Ok(NodeId(511)));
    }

    #[test]
    fn wrong_names_get_a_suggestion() {
        let edison = build("edison");
        for (found, message) in [
            (
                edison.router_named("g3r7c2").map(|_| ()),
                "unknown router 'g3r7c2'; did you mean 'g3r5c2'? (group 0 to 14, row 0 to 5, column 0 to 15)",
            ),
            (edison.router_named("3:4:5").map(|_| ()), "unknown router '3:4:5'; routers are called g0r0c0 to g14r5c15"),
            (edison.router_named("1440").map(|_| ()), "unknown router '1440'; ids are 0 to 1439"),
            (
                edison.node_named("g0r0c0n4").map(|_| ()),
                "unknown node 'g0r0c0n4'; did you mean 'g0r0c0n3'? (that router has 4)",
            ),
            (
                edison.node_named("nid00012").map(|_| ()),
                "unknown node 'nid00012'; write a node like 'g0r0c0n0' or its id",
            ),
            (
                edison.link_named("g0r0c0>g0r1c0:blue.0").map(|_| ()),
                "unknown link 'g0r0c0>g0r1c0:blue.0'; there are g0r0c0>g0r1c0:black.0, g0r0c0>g0r1c0:black.1, \
                 g0r0c0>g0r1c0:black.2",
            ),
            (
                edison.link_named("g0r0c0>g0r1c1:green.0").map(|_| ()),
                "unknown link 'g0r0c0>g0r1c1:green.0'; no cable joins these two routers",
            ),
            (
                edison.link_named("g0r0c0-g0r1c0").map(|_| ()),
                "unknown link 'g0r0c0-g0r1c0'; write a link like 'g0r0c0>g0r0c1:green.0' or its id",
            ),
        ] {
            assert_eq!(found.unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn every_name_leads_back() {
        for preset in ["edison", "dragonfly-1056", "bgp-rack"] {
            let machine = build(preset);
            assert!(machine.routers().all(|router| machine.router_named(&machine.router_name(router)) == Ok(router)));
            assert!(machine.nodes().all(|node| machine.node_named(&machine.node_name(node)) == Ok(node)));
            assert!(machine.links().step_by(7).all(|link| machine.link_named(&machine.link_name(link)) == Ok(link)));
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC*", near in "g?[0-9]{0,12}r?[0-9_]*c?[0-9]*[n>:.]*[0-9]*") {
            let machine = build("dragonfly-1056");
            for name in [&text, &near] {
                let _ = (machine.router_named(name), machine.node_named(name), machine.link_named(name));
            }
        }
    }
}
