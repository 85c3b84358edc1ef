//! Different numbers and kinds of nodes per router, as rules in text such as `group 70-73: 2`, `level 0 pod 3: 0` or
//! `g5r1: 15 + 1 storage`.

use crate::builder::LIMIT;
use crate::{MachineBuilder, Shape};
use odonata_declare::hint;
use odonata_units::{NodeId, RouterId};

/// Nodes of some routers.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Rule {
    routers: Vec<usize>,
    /// How many of each kind, in the order of their slots.
    nodes: Vec<(u32, NodeKind)>,
}

/// Which jobs can use a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum NodeKind {
    /// All jobs.
    Compute,
    /// No job.
    Service,
    /// Jobs that ask for storage nodes.
    Storage,
}

/// The words of the kinds after a number; without one the nodes are compute nodes.
const KINDS: [(&str, NodeKind); 2] = [("service", NodeKind::Service), ("storage", NodeKind::Storage)];

impl Rule {
    fn count(&self) -> u64 {
        self.nodes.iter().map(|&(count, _)| u64::from(count)).sum()
    }

    fn slots(&self) -> Vec<NodeKind> {
        self.nodes.iter().flat_map(|&(count, kind)| std::iter::repeat_n(kind, count as usize)).collect()
    }
}

/// Sets the nodes of the routers in `rules`, in order, so that a later rule wins. Other routers keep theirs. Nodes
/// are numbered by router and slot, and lose their names.
///
/// A rule is `WHERE: COUNT`, `WHERE: COUNT service` for nodes that jobs can't use, or `WHERE: COUNT storage` for storage
/// nodes; `+` joins several numbers (`WHERE: 3 + 1 storage`). `WHERE` is a router's name; or axes of the coordinates with numbers and ranges (`group 0-3,7 row 1`), all of which must match; or `router` with
/// numbers.
///
/// # Errors
/// An invalid rule, an unknown axis, routers that do not exist, or more than 2^24 nodes; the message has the rule.
pub fn apply(builder: &mut MachineBuilder, rules: &[&str]) -> Result<(), String> {
    let rules: Vec<Rule> = rules
        .iter()
        .map(|text| parse(builder, text).map_err(|reason| format!("'{text}': {reason}")))
        .collect::<Result<_, _>>()?;
    let mut slots = kinds_by_router(builder);
    // Find the last rule of each router before creating nodes, so that a wrong number takes no memory.
    let mut last: Vec<Option<usize>> = vec![None; slots.len()];
    for (i, rule) in rules.iter().enumerate() {
        rule.routers.iter().for_each(|&router| last[router] = Some(i));
    }
    let of = |router: usize| last[router].map_or(slots[router].len() as u64, |i| rules[i].count());
    let nodes: u64 = (0..slots.len()).map(of).sum();
    if nodes > u64::from(LIMIT) {
        return Err(format!("{nodes} nodes in all; expected at most {LIMIT}"));
    }
    for (slots, rule) in slots.iter_mut().zip(&last) {
        if let Some(rule) = rule.map(|i| &rules[i]) {
            *slots = rule.slots();
        }
    }
    set_nodes(builder, &slots);
    if builder.terminal.ports_per_router.is_some() {
        builder.terminal.ports_per_router = slots.iter().map(|slots| slots.len() as u32).max();
    }
    // A list of cables without nodes has the levels of a tree only now.
    if builder.shape == Shape::Graph {
        builder.take_levels();
    }
    Ok(())
}

/// The kind of each node, by router and slot.
fn kinds_by_router(builder: &MachineBuilder) -> Vec<Vec<NodeKind>> {
    let mut slots = vec![Vec::new(); builder.group_of.len()];
    for (node, (router, &up)) in builder.node_router.iter().zip(&builder.node_up).enumerate() {
        slots[router.index()].push(match builder.storage.binary_search(&NodeId::from_index(node)) {
            Ok(_) => NodeKind::Storage,
            Err(_) if up => NodeKind::Compute,
            Err(_) => NodeKind::Service,
        });
    }
    slots
}

/// Replaces all nodes, in the order of routers and slots.
fn set_nodes(builder: &mut MachineBuilder, slots: &[Vec<NodeKind>]) {
    builder.node_router.clear();
    builder.node_up.clear();
    builder.storage.clear();
    builder.node_names.clear();
    // LIDs belong to the nodes of the file.
    builder.subnet = None;
    for (router, slots) in slots.iter().enumerate() {
        for kind in slots {
            if *kind == NodeKind::Storage {
                builder.storage.push(NodeId::from_index(builder.node_router.len()));
            }
            builder.node_router.push(RouterId::from_index(router));
            builder.node_up.push(*kind != NodeKind::Service);
        }
    }
}

fn parse(builder: &MachineBuilder, text: &str) -> Result<Rule, String> {
    const EXAMPLE: &str = "expected for instance 'group 70-73: 2', 'g5r1: 16 service' or 'g5r1: 3 + 1 storage'";
    let (place, nodes) = text.rsplit_once(':').ok_or(EXAMPLE)?;
    let part = |part: &str| -> Result<(u32, NodeKind), String> {
        let (count, kind) = match part.split_whitespace().collect::<Vec<_>>()[..] {
            [count] => (count, NodeKind::Compute),
            [count, word] => {
                let known = KINDS.iter().find(|(name, _)| *name == word);
                let hint = || hint(word, KINDS.map(|(name, _)| name));
                (count, known.ok_or_else(|| format!("unknown kind of nodes '{word}'{}; {EXAMPLE}", hint()))?.1)
            }
            _ => return Err(EXAMPLE.into()),
        };
        let count = count.parse().map_err(|_| format!("'{count}' is not a number of nodes; {EXAMPLE}"))?;
        Ok((count, kind))
    };
    let nodes = nodes.split('+').map(part).collect::<Result<_, _>>()?;
    Ok(Rule { routers: routers(builder, place)?, nodes })
}

/// The routers of a place; at least one.
fn routers(builder: &MachineBuilder, place: &str) -> Result<Vec<usize>, String> {
    let all = builder.group_of.len();
    let words: Vec<&str> = place.split_whitespace().collect();
    if let [name] = words[..] {
        let router = builder.coordinates.router_named(name, all).map_err(|error| error.to_string())?;
        return Ok(vec![router.index()]);
    }
    if words.is_empty() || words.len() % 2 == 1 {
        return Err("expected a router, or axes each with numbers".into());
    }
    let coordinates = &builder.coordinates;
    let mut chosen = vec![true; all];
    for pair in words.chunks(2) {
        let (name, ranges) = (pair[0], self::ranges(pair[1])?);
        let axis = coordinates.axes.iter().position(|axis| axis == name);
        if axis.is_none() && name != "router" {
            let known = coordinates.axes.iter().map(String::as_str).chain(["router"]);
            return Err(format!("unknown axis '{name}'{}", hint(name, known)));
        }
        let value = |router: usize| match axis {
            Some(axis) => coordinates.of(RouterId::from_index(router))[axis],
            None => router as u32,
        };
        for &(low, high) in &ranges {
            let most = (0..all).map(value).max().unwrap_or(0);
            if high > most {
                return Err(format!("{name} {low}-{high} does not exist; the last is {most}"));
            }
        }
        for (router, chosen) in chosen.iter_mut().enumerate() {
            *chosen &= ranges.iter().any(|&(low, high)| (low..=high).contains(&value(router)));
        }
    }
    let chosen: Vec<usize> = (0..all).filter(|&router| chosen[router]).collect();
    if chosen.is_empty() {
        Err("no such router".into())
    } else {
        Ok(chosen)
    }
}

/// `0-3,7` as ranges with both ends.
fn ranges(text: &str) -> Result<Vec<(u32, u32)>, String> {
    let number = |text: &str| text.parse::<u32>().ok();
    let range = |part: &str| {
        let (low, high) = part.split_once('-').unwrap_or((part, part));
        let ends = number(low).zip(number(high)).filter(|(low, high)| low <= high);
        ends.ok_or_else(|| format!("'{part}' is neither a number nor a range"))
    };
    text.split(',').map(range).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Dragonfly;
    use crate::Machine;

    fn with(rules: &[&str]) -> Result<Machine, String> {
        let mut builder = Dragonfly { p: 2, a: 2, h: 1, g: 3, ..Dragonfly::default() }.builder().unwrap();
        apply(&mut builder, rules)?;
        Ok(builder.build().unwrap())
    }

    fn counts(machine: &Machine) -> Vec<(usize, usize)> {
        let nodes = |router| machine.nodes_of(router);
        machine.routers().map(|r| (nodes(r).len(), nodes(r).iter().filter(|&&n| machine.node_up(n)).count())).collect()
    }

    #[test]
    fn rules_by_hand() {
        let machine =
            with(&["group 1-2: 1", "group 2 router_in_group 0: 3 service", "g0r1: 0", "router 5: 4"]).unwrap();
        assert_eq!(counts(&machine), [(2, 2), (0, 0), (1, 1), (1, 1), (3, 0), (4, 4)]);
        assert_eq!(machine.terminal().ports_per_router, Some(4));
        // The later rule wins; other routers keep their nodes.
        assert_eq!(
            counts(&with(&["group 0: 5", "group 0: 1"]).unwrap()),
            [(1, 1), (1, 1), (2, 2), (2, 2), (2, 2), (2, 2)]
        );
    }

    /// Of 12 nodes with two on each router, by hand: g0r0 has nodes 0 and 1, g0r1 node 2 to 5.
    #[test]
    fn storage_nodes_by_hand() {
        let machine = with(&["g0r1: 3 + 1 storage", "group 2: 1 service+1 storage"]).unwrap();
        let numbers = |found: &[NodeId]| found.iter().map(|node| node.0).collect::<Vec<_>>();
        assert_eq!(numbers(machine.storage_nodes()), [5, 11, 13]);
        let compute: Vec<NodeId> = machine.nodes().filter(|&node| machine.is_compute(node)).collect();
        assert_eq!(numbers(&compute), [0, 1, 2, 3, 4, 6, 7, 8, 9]);
        assert!(machine.node_up(NodeId(5)) && !machine.node_up(NodeId(10)));
        // A later rule keeps the kinds of other routers.
        let mut builder = MachineBuilder::from(machine);
        apply(&mut builder, &["g0r1: 1"]).unwrap();
        assert_eq!(numbers(&builder.storage), [8, 10]);
    }

    #[test]
    fn mistakes_name_the_rule() {
        let wrong = |rule: &str| with(&[rule]).unwrap_err();
        assert_eq!(wrong("group 3: 1"), "'group 3: 1': group 3-3 does not exist; the last is 2");
        assert!(wrong("grop 1: 1").contains("unknown axis 'grop'; did you mean 'group'?"), "{}", wrong("grop 1: 1"));
        assert!(wrong("group 2-1: 1").contains("neither a number nor a range"));
        assert!(wrong("group 1: many").contains("'many' is not a number of nodes"));
        assert!(wrong("group 1: 2 storag").contains("unknown kind of nodes 'storag'; did you mean 'storage'?"));
        assert!(wrong("group 1: 2 +").contains("expected for instance"));
        assert!(wrong("group 0: 4294967295 + 4294967295 storage").contains("expected at most"));
        assert!(wrong("group 1").contains("expected for instance"));
        assert!(wrong("group: 1").contains("router"), "{}", wrong("group: 1"));
        assert!(wrong("group 1 router_in_group: 1").contains("each with numbers"));
        assert!(wrong("group 0 router 5: 1").contains("no such router"));
        assert!(wrong("group 0: 4294967295").contains("expected at most"));
    }
}
