//! Links between groups, in one table in the order of the pairs of groups.

use crate::ranges::Ranges;
use odonata_machine::Machine;
use odonata_units::{GroupId, LinkId, RouterId};

/// A link to another group, with the router at its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct GatewayLink {
    pub(super) link: LinkId,
    pub(super) target: RouterId,
}

/// A router of one group with links to another group: `links[first..first + count]`.
///
/// A large machine has millions of gateways, and every access to one misses the cache. So an entry has all that a draw
/// needs if it has one link. With a search by tables, 131,328 nodes took twice as long.
#[derive(Clone, Copy, Debug)]
pub(super) struct GatewayRouter {
    pub(super) router: RouterId,
    pub(super) first: u32,
    pub(super) count: u32,
    /// The first of the links.
    pub(super) link: GatewayLink,
}

/// Gateways of all ordered pairs of groups.
pub(super) fn gateway_routers(machine: &Machine, groups: usize) -> (Ranges, Vec<GatewayRouter>, Vec<GatewayLink>) {
    let pair = |link: LinkId| -> usize {
        let (a, b) = (machine.group_of(machine.source(link)), machine.group_of(machine.target(link)));
        let (GroupId(a), GroupId(b)) = (a, b);
        a as usize * groups + b as usize
    };
    let inside = |link: LinkId| machine.group_of(machine.source(link)) == machine.group_of(machine.target(link));
    let mut links: Vec<LinkId> = machine.links().filter(|&l| !inside(l)).collect();
    links.sort_by_key(|&l| (pair(l), l));
    let mut first = 0;
    let mut gateway = |parallel: &[LinkId]| {
        let link = GatewayLink { link: parallel[0], target: machine.target(parallel[0]) };
        let gateway = GatewayRouter { router: machine.source(link.link), first, count: parallel.len() as u32, link };
        first += gateway.count;
        gateway
    };
    let of_one = |&a: &LinkId, &b: &LinkId| (pair(a), machine.source(a)) == (pair(b), machine.source(b));
    let all: Vec<GatewayRouter> = links.chunk_by(of_one).map(&mut gateway).collect();
    let between = Ranges::of(all.iter().map(|gateway| pair(links[gateway.first as usize])), groups * groups);
    let links = links.into_iter().map(|link| GatewayLink { link, target: machine.target(link) }).collect();
    (between, all, links)
}

/// Number of gateways of every ordered pair of two groups, 0 if it differs.
pub(super) fn equal_count(between: &Ranges, groups: usize) -> usize {
    let counts = between.iter().enumerate().filter(|(pair, _)| pair / groups != pair % groups);
    let mut counts = counts.map(|(_, gateways)| gateways.len());
    let first = counts.next().unwrap_or(0);
    if counts.all(|count| count == first) {
        first
    } else {
        0
    }
}
