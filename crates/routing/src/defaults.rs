//! The routing of machines whose file names none, the same for all engines.
//!
//! One table ([`DEFAULTS`]) maps kinds of machines to algorithms. The first line that fits a machine is its default
//! ([`default_routing`]). Engines with a steady state and engines that move packets use the same algorithm, or two close
//! relatives.

use crate::heights::{heights_of, Heights};
use crate::lattice::Lattice;
use crate::paths::{Intermediate, TorusPaths};
use odonata_machine::{ForwardingKind, Machine, Shape};
use odonata_units::RouterId;
use std::cmp::Reverse;

/// The default routing of a kind of machines.
#[derive(Clone, Copy, Debug)]
pub struct DefaultRouting {
    /// The machines, in the plural.
    pub machines: &'static str,
    /// Algorithm of engines with a steady state.
    pub paths: &'static str,
    /// Algorithm of engines that move packets.
    pub hops: &'static str,
    /// Why, with the source.
    pub reason: &'static str,
    fits: fn(&Machine) -> bool,
}

/// The defaults, special machines first. The last line fits all machines.
pub static DEFAULTS: &[DefaultRouting] = &[
    DefaultRouting {
        machines: "Blue Gene",
        paths: "torus-dynamic",
        hops: "torus-dynamic",
        reason: "its routers choose among the minimal directions of the torus (Blumrich et al. 2003; Chen et al. 2011)",
        fits: |machine| machine.forwarding() == ForwardingKind::BlueGene && has_equal_rings(machine),
    },
    DefaultRouting {
        machines: "trees with forwarding tables",
        paths: "d-mod-k",
        hops: "d-mod-k",
        reason: "switches have static tables, which OpenSM's ftree fills by d-mod-k on trees",
        fits: |machine| machine.forwarding() == ForwardingKind::Tables && is_tree(machine),
    },
    DefaultRouting {
        machines: "other networks with forwarding tables",
        paths: "min-hop",
        hops: "min-hop",
        reason: "switches have static tables, and OpenSM's minhop balances minimal paths by counting",
        fits: |machine| machine.forwarding() == ForwardingKind::Tables,
    },
    DefaultRouting {
        machines: "tori and meshes",
        paths: "dimension-order",
        hops: "dimension-order",
        reason: "the deterministic minimal routing of tori (Dally and Seitz 1987)",
        fits: is_whole_torus,
    },
    DefaultRouting {
        machines: "fat trees",
        paths: "up-down-adaptive",
        hops: "up-down-adaptive",
        reason: "paths go up, then down, and every link up leads on (Leiserson 1985), so switches choose by queues",
        fits: is_tree,
    },
    DefaultRouting {
        machines: "dragonflies",
        paths: "ugal",
        hops: "ugal-n",
        reason: "minimal unless the queues are long, then through another group (Kim et al. 2008)",
        fits: |machine| matches!(machine.shape(), Shape::Grouped { .. }) && has_third_group(machine),
    },
    DefaultRouting {
        machines: "other machines",
        paths: "min",
        hops: "min",
        reason: "minimal paths exist on every connected machine",
        fits: |_| true,
    },
];

/// The default of a machine. If faults make the planes of a machine differ, all have the later line.
pub fn default_routing(machine: &Machine) -> &'static DefaultRouting {
    let of = |machine: &Machine| DEFAULTS.iter().position(|default| (default.fits)(machine)).expect("a line for all");
    let line = if machine.planes().is_empty() {
        of(machine)
    } else {
        machine.planes().iter().map(of).max().expect("a machine has a plane")
    };
    &DEFAULTS[line]
}

fn is_whole_torus(machine: &Machine) -> bool {
    TorusPaths::new(machine, Intermediate::Third).is_some()
}

/// Whether all steps along a dimension have the same number of cables, so that each parallel cable forms a ring.
fn has_equal_rings(machine: &Machine) -> bool {
    let Some(lattice) = Lattice::of(machine.shape()).filter(|_| is_whole_torus(machine)) else { return false };
    let cables = |from: RouterId, to: RouterId| {
        machine.bundles_from(from).iter().filter(|bundle| bundle.target == to).map(|bundle| bundle.count).sum::<u32>()
    };
    lattice.steps().all(|step| {
        let mut counts = machine.routers().filter_map(|from| Some(cables(from, lattice.neighbour(from, step)?)));
        let first = counts.next();
        counts.all(|count| Some(count) == first)
    })
}

fn has_third_group(machine: &Machine) -> bool {
    let mut groups: Vec<_> = machine.routers().filter(|&r| machine.router_up(r)).map(|r| machine.group_of(r)).collect();
    groups.sort_unstable();
    groups.dedup();
    groups.len() >= 3
}

/// Whether a machine has the shape of a tree, with a path up and then down between all routers with nodes.
fn is_tree(machine: &Machine) -> bool {
    matches!(machine.shape(), Shape::FatTree { .. }) && has_up_down_paths(machine, &heights_of(machine))
}

/// Two routers have a path up and then down if they have a common ancestor, or one is an ancestor of the other.
fn has_up_down_paths(machine: &Machine, height: &Heights) -> bool {
    let mut order: Vec<RouterId> = machine.routers().collect();
    order.sort_unstable_by_key(|r| Reverse(height[r.index()]));
    let mut place = vec![0; order.len()];
    order.iter().enumerate().for_each(|(i, r)| place[r.index()] = i);
    // Ancestors as bits in this order, itself included: most pairs meet in the first words.
    let mut ancestors: Vec<Vec<u64>> = Vec::with_capacity(order.len());
    for &router in &order {
        let here = place[router.index()];
        let mut set = vec![0u64; here / 64 + 1];
        set[here / 64] |= 1 << (here % 64);
        for bundle in machine.bundles_from(router) {
            // Those that are higher come earlier in the order.
            if let Some(above) = ancestors.get(place[bundle.target.index()]) {
                set.iter_mut().zip(above).for_each(|(bits, more)| *bits |= more);
            }
        }
        ancestors.push(set);
    }
    let ends = machine.routers().filter(|&r| machine.router_up(r) && !machine.nodes_of(r).is_empty());
    let ends: Vec<&Vec<u64>> = ends.map(|r| &ancestors[place[r.index()]]).collect();
    let meet = |a: &[u64], b: &[u64]| a.iter().zip(b).any(|(x, y)| x & y != 0);
    (1..ends.len()).all(|b| ends[..b].iter().all(|a| meet(a, ends[b])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::Algorithm;
    use odonata_machine::edit::{apply, Edit};
    use odonata_machine::topology::TOPOLOGIES;
    use odonata_machine::{presets, MachineBuilder};

    fn named(builder: MachineBuilder) -> &'static str {
        default_routing(&builder.build().unwrap()).machines
    }

    /// A new family without a line here fails.
    #[test]
    fn every_family_has_its_default() {
        let expected = [
            ("dragonfly", "dragonflies"),
            ("dragonfly-plus", "dragonflies"),
            ("slingshot", "dragonflies"),
            ("cascade", "dragonflies"),
            ("torus", "tori and meshes"),
            ("express-mesh", "other machines"),
            ("fat-tree", "fat trees"),
            ("xgft", "fat trees"),
            ("hyperx", "other machines"),
            ("slim-fly", "other machines"),
            ("polarfly", "other machines"),
            ("jellyfish", "other machines"),
        ];
        let found: Vec<_> =
            TOPOLOGIES.iter().map(|family| (family.name, named((family.default)().lay_out().unwrap()))).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn presets_have_the_default_of_their_hardware() {
        for preset in presets::names().iter().filter(|preset| preset.declared.nodes < 10_000) {
            let expected = match preset.name {
                "eos" => "other machines",
                name if name.starts_with("bg") => "Blue Gene",
                _ => "dragonflies",
            };
            assert_eq!(named(presets::builder(preset.name).unwrap()), expected, "{}", preset.name);
        }
    }

    #[test]
    fn the_page_has_the_table() {
        let page = include_str!("../../../docs/models/routing/README.md");
        for DefaultRouting { machines, paths, hops, reason, .. } in DEFAULTS {
            let row = format!("| {machines} | `{paths}` | `{hops}` | {reason} |");
            assert!(page.contains(&row), "{row}");
        }
    }

    #[test]
    fn engines_take_the_algorithms_of_all_lines() {
        for default in DEFAULTS {
            assert!(Algorithm::find(default.paths).unwrap().has_paths(), "{default:?}");
            assert!(Algorithm::find(default.hops).unwrap().has_hops(), "{default:?}");
        }
    }

    /// Faults that break the structure of a line lead to the next line.
    #[test]
    fn broken_structures_get_minimal_paths() {
        let edited = |preset: &str, edits: &[&str]| {
            let edits: Vec<Edit> = edits.iter().map(|edit| Edit::parse(edit).unwrap()).collect();
            named(apply(presets::builder(preset).unwrap(), &edits, 1).unwrap())
        };
        assert_eq!(edited("bgp-midplane", &["fail 2% local"]), "other machines");
    }
}
