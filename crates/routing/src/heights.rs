//! The order of routers in which up/down paths go up (by level of a fat tree, otherwise by distance to a root), and the
//! lengths of these paths.
//!
//! The root is the router with the most cables (the first of several). Between routers at equal distance, up is towards
//! the lower number.

use odonata_machine::{Machine, Shape};
use odonata_units::RouterId;
use std::cmp::Reverse;
use std::collections::VecDeque;

/// Height of every router; up is towards the greater height.
pub(crate) type Heights = Vec<(u32, u32)>;

/// Number of hops where no path is.
pub(crate) const UNREACHED: u8 = u8::MAX;
/// The phase of a path that has taken a link down; before, it is in phase 0.
pub(crate) const DOWN: usize = 1;

/// Whether a link from `from` to `to` leads down.
#[inline]
pub(crate) fn is_down(height: &Heights, from: RouterId, to: RouterId) -> bool {
    height[to.index()] < height[from.index()]
}

/// Writes the hops of the shortest up/down paths to `to` from router r in phase p at `hops_left[2 * r + p]`, by a search
/// backwards, breadth first. Returns whether all paths are short enough for a byte.
pub(crate) fn search(
    to: RouterId,
    hops_left: &mut [u8],
    height: &Heights,
    neighbours: impl Fn(RouterId, &mut dyn FnMut(RouterId)),
) -> bool {
    let at = |router: RouterId, phase: usize| 2 * router.index() + phase;
    let mut queue = VecDeque::from([(to, 0), (to, DOWN)]);
    hops_left[at(to, 0)] = 0;
    hops_left[at(to, DOWN)] = 0;
    while let Some((router, phase)) = queue.pop_front() {
        let next = hops_left[at(router, phase)] + 1;
        if next >= UNREACHED - 1 {
            return false;
        }
        // Cables have two directions: the path comes from the neighbour.
        neighbours(router, &mut |before| {
            // A hop down is allowed in both phases and ends in phase DOWN; a hop up only in phase 0.
            let phases: &[usize] = match (is_down(height, before, router), phase) {
                (true, DOWN) => &[0, DOWN],
                (false, 0) => &[0],
                _ => &[],
            };
            for &phase in phases {
                let hops = &mut hops_left[at(before, phase)];
                if *hops == UNREACHED {
                    *hops = next;
                    queue.push_back((before, phase));
                }
            }
        });
    }
    true
}

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
    let cables = |r: RouterId| machine.bundles_from(r).iter().map(|bundle| bundle.count as usize).sum();
    heights(machine.shape(), machine.router_count() as u32, cables, |r, each| each_neighbour(machine, r, each))
}

/// Calls `each` with the routers at the other ends of a router's cables.
pub(crate) fn each_neighbour(machine: &Machine, router: RouterId, each: &mut dyn FnMut(RouterId)) {
    machine.bundles_from(router).iter().for_each(|bundle| each(bundle.target));
}
