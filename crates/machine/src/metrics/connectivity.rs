//! Components of the graph of working routers.

use crate::parts::parts;
use crate::Machine;
use odonata_units::RouterId;

/// Connected components.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Connectivity {
    /// Connected components of the working routers.
    pub components: usize,
    /// Working routers outside the largest component, ascending.
    pub cut_off: Vec<RouterId>,
    /// Usable nodes at these routers.
    pub nodes_cut_off: usize,
}

pub(super) fn connectivity(machine: &Machine) -> Connectivity {
    let part = parts(machine.router_count(), machine.bundles().iter().map(|bundle| (bundle.source.0, bundle.target.0)));
    let mut sizes = vec![0usize; machine.router_count()];
    for router in machine.routers().filter(|&router| machine.router_up(router)) {
        sizes[part[router.index()] as usize] += 1;
    }
    // The first of the largest parts, so that the result is unique.
    let largest = (0..sizes.len()).rev().max_by_key(|&part| sizes[part]);
    let outside = |router: &RouterId| machine.router_up(*router) && Some(part[router.index()] as usize) != largest;
    let cut_off: Vec<RouterId> = machine.routers().filter(outside).collect();
    let usable = super::usable_nodes(machine);
    Connectivity {
        components: sizes.iter().filter(|&&size| size > 0).count(),
        nodes_cut_off: cut_off.iter().map(|router| usable[router.index()] as usize).sum(),
        cut_off,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::{apply, Edit};
    use crate::presets;

    #[test]
    fn removing_all_blue_cables_leaves_fifteen_parts() {
        let edits = [Edit::parse("-2B").unwrap()];
        let machine = apply(presets::builder("edison").unwrap(), &edits, 0).unwrap().build().unwrap();
        let found = connectivity(&machine);
        assert_eq!((found.components, found.cut_off.len()), (15, 1440 - 96));
        assert_eq!(found.cut_off[0], RouterId(96), "the first of the equal parts counts as the largest");
    }

    #[test]
    fn a_failed_router_is_no_part() {
        let edits = [Edit::parse("fail g0r0").unwrap()];
        let machine = apply(presets::builder("dragonfly-1056").unwrap(), &edits, 0).unwrap().build().unwrap();
        assert_eq!(connectivity(&machine), Connectivity { components: 1, cut_off: vec![], nodes_cut_off: 0 });
    }
}
