//! The fat trees of htsim (`.topo`): names and numbers, with a section for each tier.
//!
//! ```text
//! Nodes 1024
//! Tiers 3
//! Podsize 64
//! Tier 0
//! Downlink_speed_Gbps 100
//! Radix_Down 8
//! Radix_Up 8
//! Downlink_Latency_ns 1000
//! ```
//!
//! Tier 0 has the switches at the nodes. `Radix_Down` and `Radix_Up` count ports, and `Bundle` of them lead to the
//! same switch. Speed and latency of a tier belong to its down links. Not read: queues, `Oversubscribed`, which
//! follows from the radices, and `Switch_Latency_ns`, which is the engine's router latency.

use super::entries::{latency, rate, Entries, Entry};
use super::{line, text};
use crate::topology::{LinkFigures, Topology, Xgft};
use crate::{MachineBuilder, MachineError, RouterPorts, Shape};
use odonata_declare::OneOrEach;

struct Tier {
    down: u32,
    up: u32,
    bundle: u32,
    figures: LinkFigures,
}

/// Reads a fat tree of htsim.
///
/// # Errors
/// A line of another form, a missing or wrong number, or tiers that do not match; the message has the line.
pub fn htsim(bytes: &[u8], label: &str) -> Result<MachineBuilder, MachineError> {
    let (head, sections) = sections(text(bytes, label)?, label)?;
    let (nodes, tiers, pod) = (head.count("Nodes", 1)?, head.count("Tiers", 2)?, head.count("Podsize", 1)?);
    if tiers > 3 || sections.len() != tiers as usize {
        return head.refuse("Tiers", format!("{tiers} tiers with {} sections; expected 2 or 3", sections.len()));
    }
    let top = tiers as usize - 1;
    let tiers: Vec<Tier> =
        sections.iter().enumerate().map(|(number, section)| tier(section, number == top)).collect::<Result<_, _>>()?;
    let uneven = |number: usize, name: &str, ports: u32, bundle: u32| {
        sections[number].refuse(name, format!("{ports} ports in bundles of {bundle}"))
    };
    let (mut children, mut parents, mut parallel) = (vec![tiers[0].down], vec![1], Vec::new());
    for number in 1..=top {
        let Tier { down, bundle, .. } = tiers[number];
        let up = tiers[number - 1].up;
        if down % bundle != 0 {
            return uneven(number, "Radix_Down", down, bundle);
        }
        if up % bundle != 0 {
            return uneven(number - 1, "Radix_Up", up, bundle);
        }
        children.push(down / bundle);
        parents.push(up / bundle);
        parallel.push(bundle);
    }
    let of_tree = |levels: usize| children[..levels].iter().map(|&n| u64::from(n)).product::<u64>();
    if of_tree(top + 1) != u64::from(nodes) {
        return head.refuse("Nodes", format!("{nodes}, but the tiers' ports make a tree of {}", of_tree(top + 1)));
    }
    if top == 2 && of_tree(2) != u64::from(pod) {
        return head.refuse("Podsize", format!("{pod}, but the tiers' ports make pods of {}", of_tree(2)));
    }
    let ports: Vec<u32> = tiers.iter().map(|tier| tier.down.saturating_add(tier.up)).collect();
    let family = Xgft {
        children,
        parents,
        parallel: OneOrEach::Each(parallel),
        local: tiers[1].figures,
        global: tiers[top].figures,
        terminal: tiers[0].figures,
        cores_per_node: 1,
    };
    let mut builder = family.lay_out()?;
    if let Shape::FatTree { level_of, .. } = &builder.shape {
        let ports = level_of.iter().map(|&level| ports[usize::from(level)]).collect();
        builder.ports = Some(RouterPorts { count: OneOrEach::Each(ports), per_nic: OneOrEach::One(1) });
    }
    label.clone_into(&mut builder.name);
    Ok(builder)
}

/// The entries before the first tier, and the entries of each tier in order.
fn sections<'a>(text: &'a str, label: &'a str) -> Result<(Entries<'a>, Vec<Entries<'a>>), MachineError> {
    let mut head = Entries { label, line: 1, entries: Vec::new() };
    let mut tiers: Vec<Entries<'a>> = Vec::new();
    for (at, content) in (1..).zip(text.lines()) {
        let words: Vec<&str> = content.split('#').next().unwrap_or("").split_whitespace().collect();
        match words[..] {
            [] => {}
            [name, number] if name.eq_ignore_ascii_case("Tier") => {
                if number.parse() != Ok(tiers.len()) {
                    return line(label, at, format!("'Tier {number}'; expected 'Tier {}'", tiers.len()));
                }
                tiers.push(Entries { label, line: at, entries: Vec::new() });
            }
            [name, value] => {
                let section = tiers.last_mut().unwrap_or(&mut head);
                section.entries.push(Entry { line: at, name: name.into(), value: value.to_owned() });
            }
            _ => return line(label, at, format!("expected a name and a number, found '{}'", content.trim())),
        }
    }
    Ok((head, tiers))
}

/// Refuses a value that no link has.
fn invalid<T>(section: &Entries<'_>, name: &str, what: &str) -> Result<T, MachineError> {
    section.refuse(name, format!("'{name}' is not a valid {what} of a link"))
}

fn tier(section: &Entries<'_>, top: bool) -> Result<Tier, MachineError> {
    let number = |name: &str| {
        let entry = section.required(name)?;
        entry
            .value
            .parse::<f64>()
            .or_else(|_| section.refuse(name, format!("'{name}' is '{}'; expected a number", entry.value)))
    };
    let (speed, delay) = ("Downlink_speed_Gbps", "Downlink_Latency_ns");
    let bandwidth = rate(number(speed)? * 1e9 / 8.0).map_or_else(|| invalid(section, speed, "rate"), Ok)?;
    let latency = match section.get(delay) {
        Some(_) => latency(number(delay)? * 1e-9).map_or_else(|| invalid(section, delay, "latency"), Ok)?,
        None => Xgft::default().local.latency,
    };
    Ok(Tier {
        down: section.count("Radix_Down", 1)?,
        up: if top { 0 } else { section.count("Radix_Up", 1)? },
        bundle: section.count_or("Bundle", 1)?.max(1),
        figures: LinkFigures { bandwidth, latency },
    })
}
