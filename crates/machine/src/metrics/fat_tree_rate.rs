//! The rate at which every node of a fat tree can send to any other nodes at the same time.
//!
//! Every router spreads traffic from below evenly (by bandwidth) over its up links, so that traffic reaches the top
//! level in fixed shares. There it turns and goes down in the reverse order. The share of an edge router's traffic at
//! each top router may be the same for all edge routers. Then up and down paths match for any traffic, and a common
//! rate is possible if no link exceeds its bandwidth. Each half of a bisection can then send this rate times its
//! nodes to the other half: a lower bound of every balanced cut.

use crate::Machine;
use odonata_units::{LinkId, RouterId};

/// Bytes per second and node; 0 if the shares differ, so that the rate is unknown.
pub(super) fn rate_per_node(machine: &Machine, nodes: &[u32], levels: u32, level_of: &[u8]) -> f64 {
    let level = |router: RouterId| u32::from(level_of[router.index()]);
    let up_links = |router: RouterId| {
        let above = level(router) + 1;
        machine.links_from(router).map(LinkId::from_index).filter(move |&l| level(machine.target(l)) == above)
    };
    let total_up: Vec<f64> = machine.routers().map(|r| up_links(r).map(|l| rate(machine, l)).sum()).collect();
    // Load of each link when every node sends one byte per second.
    let mut load = vec![0.0; machine.link_count()];
    let mut shares_at_top: Option<Vec<f64>> = None;
    let mut share = vec![0.0; machine.router_count()];
    for edge in machine.routers().filter(|r| nodes[r.index()] > 0) {
        if level(edge) != 0 {
            return 0.0;
        }
        share[edge.index()] = 1.0;
        let mut here = vec![edge];
        for _ in 1..levels {
            let mut above = Vec::new();
            for router in here {
                let part = std::mem::take(&mut share[router.index()]);
                if total_up[router.index()] == 0.0 {
                    return 0.0;
                }
                for link in up_links(router) {
                    let part = part * rate(machine, link) / total_up[router.index()];
                    load[link.index()] += part * f64::from(nodes[edge.index()]);
                    let target = machine.target(link);
                    if share[target.index()] == 0.0 {
                        above.push(target);
                    }
                    share[target.index()] += part;
                }
            }
            here = above;
        }
        let top: Vec<f64> = machine
            .routers()
            .filter(|&r| level(r) + 1 == levels)
            .map(|r| std::mem::take(&mut share[r.index()]))
            .collect();
        match &shares_at_top {
            None => shares_at_top = Some(top),
            Some(first) if first.iter().zip(&top).all(|(x, y)| (x - y).abs() < 1e-12) => {}
            Some(_) => return 0.0,
        }
    }
    let most = machine.links().map(|link| load[link.index()] / rate(machine, link)).fold(0.0, f64::max);
    if most > 0.0 {
        1.0 / most
    } else {
        0.0
    }
}

fn rate(machine: &Machine, link: LinkId) -> f64 {
    machine.bandwidth(link).bytes_per_s_f64()
}
