//! The check that cables and NICs fit the ports of every router.
//!
//! One rule holds for every router whose family or file gives its ports: cables and NICs together need at most these.
//! Edits, node counts and rails come before the check. The budget of a link class limits its cables in addition.

use crate::{Machine, MachineError};
use odonata_units::RouterId;

impl Machine {
    /// Ports of a router, if they are limited.
    pub fn ports_of(&self, router: RouterId) -> Option<u32> {
        self.ports.as_ref().map(|ports| ports.count.at(router.index()))
    }

    /// Ports that the NICs at a router take.
    pub fn nic_ports(&self, router: RouterId) -> u32 {
        let per_nic = self.ports.as_ref().map_or(1, |ports| ports.per_nic.at(router.index()));
        (self.nodes_of(router).len() as u32).saturating_mul(per_nic)
    }
}

/// Refuses a router with more cables of a class, or more cables and NICs, than ports.
pub(crate) fn check(machine: &Machine) -> Result<(), MachineError> {
    for router in machine.routers() {
        let mut used = vec![0usize; machine.classes.len()];
        for bundle in machine.bundles_from(router) {
            used[bundle.class.index()] += bundle.count as usize;
        }
        let nics = machine.nodes_of(router).len();
        let classes = machine.classes.iter().zip(used.iter().copied()).chain([(&machine.terminal, nics)]);
        for (class, needed) in classes {
            if let Some(budget) = class.ports_per_router.filter(|&budget| needed > budget as usize) {
                return Err(MachineError::ClassPorts {
                    router: machine.router_name(router),
                    class: class.name.clone(),
                    needed,
                    budget: budget as usize,
                });
            }
        }
        let (cables, nics) = (machine.links_from(router).len(), machine.nic_ports(router) as usize);
        if let Some(budget) = machine.ports_of(router).filter(|&budget| cables + nics > budget as usize) {
            return Err(MachineError::Ports {
                router: machine.router_name(router),
                cables,
                nics,
                budget: budget as usize,
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::edit::{apply, Edit};
    use crate::metrics::measure;
    use crate::topology::{FatTree, Slingshot};
    use crate::{node_counts, presets, MachineBuilder, RailRouters, RailSettings};
    use odonata_declare::OneOrEach;

    fn refusal(builder: MachineBuilder) -> String {
        builder.build().unwrap_err().to_string()
    }

    fn small_tree() -> MachineBuilder {
        FatTree { k: 8, levels: 2, ..FatTree::default() }.builder().unwrap()
    }

    /// 3 groups of 4 switches of 36 ports, and a group of 4 with fewer nodes. With 8 cables between switches, one
    /// needs 16 + 3 x 8 + 3 = 43 ports.
    #[test]
    fn edits_and_keys_are_refused_alike() {
        let slingshot = |local_cables: u32| Slingshot {
            groups: vec![3, 1],
            switches: vec![4, 4].into(),
            nodes: vec![16, 2].into(),
            local_cables: OneOrEach::One(local_cables),
            global_cables: OneOrEach::One(4),
            ports: 36,
            ..Slingshot::default()
        };
        assert!(slingshot(8).builder().unwrap_err().to_string().contains("needs 16 ports for nodes, 24 inside"));
        let edits = [Edit::parse("+4 local").unwrap()];
        let edited = apply(slingshot(4).builder().unwrap(), &edits, 0).unwrap();
        let error = refusal(edited);
        assert!(error.starts_with("router g0r0 needs 43 ports (27 of cables, 16 of nodes) but has 36"), "{error}");
        let edits = [Edit::parse("+1 local").unwrap()];
        assert!(apply(slingshot(4).builder().unwrap(), &edits, 0).unwrap().build().is_ok(), "16 + 15 + 3 ports");
    }

    #[test]
    fn node_counts_and_rails_take_ports() {
        let mut counted = small_tree();
        node_counts::apply(&mut counted, &["router 0-7: 8"]).unwrap();
        let error = refusal(counted);
        assert!(error.starts_with("router l0p0i0 needs 12 ports (4 of cables, 8 of nodes) but has 8"), "{error}");
        for rail_routers in [RailRouters::Same, RailRouters::Next] {
            let three = FatTree { k: 8, ..FatTree::default() };
            let mut rails = three.builder().unwrap();
            rails.add_rails(RailSettings { rails: 2, rail_routers, planes: 1 }).unwrap();
            assert!(refusal(rails).contains("needs 12 ports (4 of cables, 8 of nodes) but has 8"));
        }
        let mut planes = small_tree();
        planes.add_rails(RailSettings { planes: 2, ..RailSettings::default() }).unwrap();
        assert!(planes.build().is_ok(), "each plane has its own switches");
    }

    /// Slingshot: 544 switches of 64 ports, 8,448 nodes, and as many ends of cables as links.
    #[test]
    fn ports_of_nodes_are_not_free() {
        assert_eq!(measure(&small_tree().build().unwrap()).ports.free, Some(0));
        let machine = Slingshot::default().builder().unwrap().build().unwrap();
        let found = measure(&machine).ports;
        assert_eq!(found.used, machine.link_count() + 16 * 32 * 16 + 2 * 16 * 8);
        assert_eq!(found.free, Some(544 * 64 - found.used));
        assert_eq!(found.free, Some(8_924));
        // A node that takes two ports.
        let double = Slingshot { ports_per_node: vec![2, 1].into(), ports: 100, ..Slingshot::default() };
        let found = measure(&double.builder().unwrap().build().unwrap()).ports;
        assert_eq!(found.free, Some(8_924 + 544 * 36 - 16 * 32 * 16));
        // Processor tiles of Aries are ports of their own.
        let edison = measure(&presets::builder("edison").unwrap().build().unwrap());
        assert_eq!((edison.ports.per_router, edison.nic_ports.used), (Some(40), 0));
    }

    #[test]
    fn a_budget_of_the_terminal_class_limits_the_nodes() {
        let mut builder = small_tree();
        builder.ports = None;
        builder.terminal.ports_per_router = Some(3);
        let error = refusal(builder);
        assert!(error.contains("needs 4 ") && error.contains("but has 3"), "{error}");
    }
}
