//! The order of routers in which up/down paths go up: by level of a fat tree, otherwise by distance to a root.
//!
//! The root is the router with the most cables (the first of several). Between routers at equal distance, up is towards
//! the lower number.

use odonata_machine::{Machine, Shape};
use odonata_units::RouterId;
use std::cmp::Reverse;
use std::collections::VecDeque;

/// Height of every router; up is towards the greater height.
pub(crate) type Heights = Vec<(u32, u32)>;

/// The heights of `routers` routers. `cables` counts the cables of a router, `neighbours` calls a function with the
/// routers at their other ends.
pub(crate) fn heights(
    shape: &Shape,
    routers: u32,
    cables: impl Fn(RouterId) -> usize,
    neighbours: impl Fn(RouterId, &mut dyn FnMut(RouterId)),
) -> Heights {
    let all = (0..routers).map(RouterId);
    if let Shape::FatTree { level_of, .. } = shape {
        return all.map(|r| (u32::from(level_of[r.index()]), u32::MAX - r.0)).collect();
    }
    let root = all.clone().max_by_key(|&r| (cables(r), Reverse(r.0))).unwrap_or_default();
    let mut depth = vec![u32::MAX; routers as usize];
    depth[root.index()] = 0;
    let mut queue = VecDeque::from([root]);
    while let Some(r) = queue.pop_front() {
        let next_depth = depth[r.index()] + 1;
        neighbours(r, &mut |next| {
            if depth[next.index()] == u32::MAX {
                depth[next.index()] = next_depth;
                queue.push_back(next);
            }
        });
    }
    all.map(|r| (u32::MAX - depth[r.index()], u32::MAX - r.0)).collect()
}

/// The heights of a machine's routers.
pub(crate) fn heights_of(machine: &Machine) -> Heights {
    let neighbours = |r: RouterId, each: &mut dyn FnMut(RouterId)| {
        machine.bundles_from(r).iter().for_each(|bundle| each(bundle.target));
    };
    let cables = |r: RouterId| machine.bundles_from(r).iter().map(|bundle| bundle.count as usize).sum();
    heights(machine.shape(), machine.router_count() as u32, cables, neighbours)
}
