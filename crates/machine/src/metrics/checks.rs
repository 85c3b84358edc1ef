//! Properties of every machine, and the counts declared for a preset.

use crate::presets::DeclaredCounts;
use crate::{GroupInterior, Machine, Shape};
use odonata_units::NodeId;

/// A property and whether it holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Check {
    /// Property.
    pub name: String,
    /// Whether it holds.
    pub holds: bool,
    /// Value found.
    pub found: String,
}

impl Check {
    fn equal<T: PartialEq + std::fmt::Display>(name: &str, found: T, expected: T) -> Self {
        let holds = found == expected;
        let found = if holds { found.to_string() } else { format!("{found}, expected {expected}") };
        Self { name: name.into(), holds, found }
    }
}

/// Symmetry of the links, the sizes of the shape, and the connectivity of the working routers.
pub(super) fn checks(machine: &Machine) -> Vec<Check> {
    let mut checks = vec![symmetry(machine)];
    let sizes = match machine.shape() {
        Shape::Grouped { .. } => {
            checks.push(by_group(machine));
            None
        }
        Shape::Torus { dims, .. } => Some(dims.iter().map(|&size| u64::from(size)).product()),
        Shape::FatTree { level_of, .. } => Some(level_of.len() as u64),
        Shape::Graph => None,
    };
    if let Some(routers) = sizes {
        checks.push(Check::equal("routers of the shape", machine.router_count() as u64, routers));
    }
    let found = super::connectivity::connectivity(machine);
    checks.push(Check {
        name: "connected".into(),
        holds: found.components <= 1,
        found: match found.cut_off.len() {
            0 => "every working router reaches every other".into(),
            n => format!("{n} working routers with {} usable nodes are cut off from the rest", found.nodes_cut_off),
        },
    });
    checks
}

/// Routers are numbered group by group, no group is larger than the shape allows, and grids are complete.
fn by_group(machine: &Machine) -> Check {
    let &Shape::Grouped { groups, routers_per_group, interior } = machine.shape() else {
        unreachable!("a shape of groups")
    };
    let mut sizes = vec![0u32; groups as usize];
    let mut ordered = true;
    let mut last = 0;
    for router in machine.routers() {
        let group = machine.group_of(router).index();
        ordered &= group >= last && group < sizes.len();
        last = group;
        if let Some(size) = sizes.get_mut(group) {
            *size += 1;
        }
    }
    let fits = sizes.iter().all(|&size| match interior {
        GroupInterior::Grid { .. } => size == routers_per_group,
        GroupInterior::AllToAll | GroupInterior::Other => (1..=routers_per_group).contains(&size),
    });
    let (least, most) = (sizes.iter().min().copied().unwrap_or(0), sizes.iter().max().copied().unwrap_or(0));
    Check {
        name: "routers of the shape".into(),
        holds: ordered && fits,
        found: match (ordered, fits) {
            (true, true) if least == most => machine.router_count().to_string(),
            (true, true) => format!("{} in groups of {least} to {most}", machine.router_count()),
            (false, _) => "routers that are not numbered group by group".into(),
            (true, false) => format!("groups of {least} to {most} routers, expected {routers_per_group}"),
        },
    }
}

/// Every link has its reverse: the same cable, class, figures and parallel index, with exchanged ends.
fn symmetry(machine: &Machine) -> Check {
    let wrong = machine.links().find(|&link| {
        let back = machine.reverse(link);
        let same = machine.reverse(back) == link
            && machine.class(back) == machine.class(link)
            && machine.parallel(back) == machine.parallel(link)
            && machine.bandwidth(back) == machine.bandwidth(link)
            && machine.latency(back) == machine.latency(link);
        !same || (machine.source(back), machine.target(back)) != (machine.target(link), machine.source(link))
    });
    Check {
        name: "symmetric".into(),
        holds: wrong.is_none(),
        found: match wrong {
            None => "every link has its other direction".into(),
            Some(link) => format!("{} has no other direction", machine.link_name(link)),
        },
    }
}

/// Compares a machine with declared counts.
pub fn check_declared(machine: &Machine, declared: &DeclaredCounts) -> Vec<Check> {
    let rails = machine.rails().of_node();
    let is_usable = |host: &u32| (0..rails).any(|rail| machine.node_up(machine.end(NodeId(*host), rail)));
    let usable = (0..machine.host_count() as u32).filter(is_usable).count();
    let mut checks = vec![
        Check::equal("routers", machine.router_count(), declared.routers),
        Check::equal("nodes", machine.host_count(), declared.nodes),
        Check::equal("usable nodes", usable, declared.usable_nodes),
    ];
    for &(name, links) in declared.links {
        let class = machine.class_named(name);
        let of_class = |bundle: &&crate::Bundle| Some(bundle.class) == class;
        let found = machine.bundles().iter().filter(of_class).map(|bundle| bundle.count as usize).sum();
        checks.push(Check::equal(&format!("{name} links"), found, links));
    }
    checks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::{apply, Edit};
    use crate::presets;

    #[test]
    fn an_edited_machine_differs_from_what_is_declared() {
        let declared = presets::find("edison").unwrap().declared;
        let edits = [Edit::parse("-K").unwrap()];
        let machine = apply(presets::builder("edison").unwrap(), &edits, 0).unwrap().build().unwrap();
        let wrong: Vec<Check> = check_declared(&machine, &declared).into_iter().filter(|check| !check.holds).collect();
        let found = "14400, expected 21600".to_owned();
        assert_eq!(wrong, [Check { name: "black links".into(), holds: false, found }]);
        assert!(checks(&machine).iter().all(|check| check.holds));
    }
}
