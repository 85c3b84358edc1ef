//! Components of the graph of working routers.

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
    const NONE: u32 = u32::MAX;
    let mut component = vec![NONE; machine.router_count()];
    let mut sizes: Vec<usize> = Vec::new();
    let mut stack = Vec::new();
    for start in machine.routers().filter(|&router| machine.router_up(router)) {
        if component[start.index()] != NONE {
            continue;
        }
        let this = sizes.len() as u32;
        sizes.push(0);
        component[start.index()] = this;
        stack.push(start);
        while let Some(router) = stack.pop() {
            sizes[this as usize] += 1;
            for bundle in machine.bundles_from(router) {
                let seen = &mut component[bundle.target.index()];
                if *seen == NONE {
                    *seen = this;
                    stack.push(bundle.target);
                }
            }
        }
    }
    // The first of the largest components, so that the result is unique.
    let largest = (0..sizes.len()).rev().max_by_key(|&c| sizes[c]).map_or(NONE, |c| c as u32);
    let outside = |router: &RouterId| machine.router_up(*router) && component[router.index()] != largest;
    let cut_off: Vec<RouterId> = machine.routers().filter(outside).collect();
    let usable = super::usable_nodes(machine);
    Connectivity {
        components: sizes.len(),
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
