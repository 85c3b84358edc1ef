//! D-mod-k on a machine: by arithmetic or by counting.

use super::tree::{DModK, Tree};
use super::{tree_table, ForwardingRule};
use crate::next_hop::NextHops;
use odonata_machine::{Machine, Shape};
use odonata_units::LinkId;
use std::sync::Arc;

/// The tables of a tree: by arithmetic if its levels are regular, by counting otherwise.
pub(crate) fn d_mod_k(hops: &Arc<NextHops>) -> Result<Arc<dyn ForwardingRule>, String> {
    let Shape::FatTree { level_of, .. } = hops.shape() else {
        let reason = "works only on trees with levels: nodes at the lowest, cables only between neighbouring levels. \
                      This machine is none; use 'min-hop'";
        return Err(reason.into());
    };
    let tree = Tree::of(hops, level_of).map_err(|router| {
        let name = hops.router_name(router);
        format!("router {name} has nodes, but is not at the lowest level of the tree; use 'min-hop'")
    })?;
    match DModK::of(&tree) {
        Some(regular) => Ok(Arc::new(regular)),
        None => Ok(Arc::new(tree_table::tables(&tree).map_err(|unreached| unreached.reason(hops))?)),
    }
}

/// Whether all routers of a level have equally many links, so that arithmetic may be enough.
pub(crate) fn is_regular(machine: &Machine) -> bool {
    let plane = machine.planes().first().unwrap_or(machine);
    let Shape::FatTree { level_of, levels } = plane.shape() else { return false };
    let mut links = vec![None; *levels as usize];
    plane.routers().filter(|&r| plane.router_up(r)).all(|r| {
        let up = |&link: &usize| level_of[plane.target(LinkId::from_index(link)).index()] > level_of[r.index()];
        let own = plane.links_from(r).filter(up).count();
        *links[usize::from(level_of[r.index()])].get_or_insert(own) == own
    })
}
