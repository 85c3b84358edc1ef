//! Tables of paths that go up, then down, balanced by counting.
//!
//! On a tree with levels, up is towards a higher level. Elsewhere it is towards the roots, and between routers
//! equally near to them, towards the lower number. A root is a router with more than 90 % of all nodes at one
//! distance, and at no other distance more than 5 %, as the spines of a leaf-spine network. Without any, the root is
//! the router with the most cables (the first of several).
//!
//! A table has one entry for a destination, whatever path the packet took so far. So a router that reaches the
//! destination by links down takes the shortest such path. Any other router goes up, to the router from which the
//! rest of the path is shortest. No entry then leads up after a link down.

use super::candidates::{Candidates, UnreachedPair, UNREACHED};
use super::ends::Ends;
use super::minimal::distances;
use super::table::ForwardingTable;
use crate::next_hop::NextHops;
use odonata_machine::Shape;
use odonata_units::RouterId;
use std::cmp::Reverse;
use std::sync::Arc;

/// Share of the nodes at one distance above which a router may be a root.
const ROOT_SHARE: f64 = 0.9;
/// Share of the nodes at a second distance above which a router is no root.
const OTHER_SHARE: f64 = 0.05;

/// Tables of up/down paths.
pub(crate) fn up_down(hops: &Arc<NextHops>) -> Result<ForwardingTable, UnreachedPair> {
    let height = heights(hops);
    let is_down = |from: RouterId, to: RouterId| height[to.index()] < height[from.index()];
    let mut from_top: Vec<RouterId> = (0..hops.routers()).map(RouterId).collect();
    from_top.sort_by_key(|r| Reverse(height[r.index()]));
    let (mut down, mut all) = (Vec::new(), Vec::new());
    ForwardingTable::balanced(hops, |to, candidates| {
        distances_down(hops, &is_down, to, &mut down);
        // Routers above come first: the rest of a path up is known.
        all.clone_from(&down);
        for &at in from_top.iter().filter(|at| down[at.index()] == UNREACHED) {
            let above = hops.ports(at).map(|port| hops.neighbour(at, port)).filter(|&next| !is_down(at, next));
            let best = above.map(|next| all[next.index()]).min().unwrap_or(UNREACHED);
            all[at.index()] = best.saturating_add(1);
        }
        choose(hops, &is_down, &down, &all, candidates);
    })
}

/// Fills the ports of the rule: down if the destination is below, else up.
fn choose(
    hops: &NextHops,
    is_down: &impl Fn(RouterId, RouterId) -> bool,
    down: &[u32],
    all: &[u32],
    candidates: &mut Candidates,
) {
    candidates.fill(hops, |at, next| {
        let goes_down = down[at.index()] != UNREACHED;
        let distance = if goes_down { down } else { all };
        let here = distance[at.index()];
        let has_rest = here != UNREACHED && here > 0 && is_down(at, next) == goes_down;
        has_rest && distance[next.index()] == here - 1
    });
}

/// Hops to `to` by links down only.
fn distances_down(hops: &NextHops, is_down: &impl Fn(RouterId, RouterId) -> bool, to: RouterId, down: &mut Vec<u32>) {
    down.clear();
    down.resize(hops.routers() as usize, UNREACHED);
    down[to.index()] = 0;
    let mut queue = vec![to];
    let mut head = 0;
    while let Some(&at) = queue.get(head) {
        head += 1;
        for port in hops.ports(at) {
            let before = hops.neighbour(at, port);
            if down[before.index()] == UNREACHED && is_down(before, at) {
                down[before.index()] = down[at.index()] + 1;
                queue.push(before);
            }
        }
    }
}

/// Height of every router; up is towards the greater height.
fn heights(hops: &NextHops) -> Vec<(u32, Reverse<u32>)> {
    let routers = (0..hops.routers()).map(RouterId);
    if let Shape::FatTree { level_of, .. } = hops.shape() {
        return routers.map(|r| (u32::from(level_of[r.index()]), Reverse(r.0))).collect();
    }
    let mut depth = vec![u32::MAX; hops.routers() as usize];
    let mut queue = roots(hops);
    queue.iter().for_each(|root| depth[root.index()] = 0);
    let mut head = 0;
    while let Some(&at) = queue.get(head) {
        head += 1;
        for port in hops.ports(at) {
            let next = hops.neighbour(at, port);
            if depth[next.index()] == u32::MAX {
                depth[next.index()] = depth[at.index()] + 1;
                queue.push(next);
            }
        }
    }
    routers.map(|r| (u32::MAX - depth[r.index()], Reverse(r.0))).collect()
}

/// The roots of a machine without levels.
fn roots(hops: &NextHops) -> Vec<RouterId> {
    let ends = Ends::of(hops);
    let nodes = f64::from(hops.nodes());
    let mut distance = Vec::new();
    let is_root = |root: &RouterId| {
        distances(hops, *root, &mut distance);
        let mut at_distance: Vec<usize> = Vec::new();
        for (end, router) in ends.routers.iter().enumerate() {
            let hops = distance[router.index()];
            if hops != UNREACHED {
                at_distance.resize(at_distance.len().max(hops as usize + 1), 0);
                at_distance[hops as usize] += ends.nodes(end).len();
            }
        }
        let above = |share: f64| at_distance.iter().filter(|&&count| count as f64 > share * nodes).count();
        above(ROOT_SHARE) == 1 && above(OTHER_SHARE) == 1
    };
    let routers = (0..hops.routers()).map(RouterId);
    let found: Vec<RouterId> = routers.clone().filter(|&r| hops.router_up(r)).filter(is_root).collect();
    if found.is_empty() {
        return routers.max_by_key(|&r| (hops.link_ports(r), Reverse(r.0))).into_iter().collect();
    }
    found
}
