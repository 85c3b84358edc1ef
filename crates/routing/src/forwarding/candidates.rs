//! The ports that a table may choose from, for one destination.

use super::ends::Ends;
use crate::next_hop::{NextHops, Port};
use odonata_units::RouterId;

/// Hops of a router without a path.
pub(crate) const UNREACHED: u32 = u32::MAX;

/// Two routers with nodes, without a path from the first to the second.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct UnreachedPair {
    pub(crate) from: RouterId,
    pub(crate) to: RouterId,
}

impl UnreachedPair {
    /// The reason for the user.
    pub(crate) fn reason(self, hops: &NextHops) -> String {
        format!(
            "no path from router {} to router {}: failed or missing cables cut the machine; undo the edit or fault, or \
             let the cut-off routers fail, too, with fail_router in 'edit'",
            hops.router_name(self.from),
            hops.router_name(self.to)
        )
    }
}

/// Ports of every router towards one destination, ascending.
#[derive(Debug, Default)]
pub(crate) struct Candidates {
    /// Ports of router r are `ports[first[r]..first[r + 1]]`.
    first: Vec<u32>,
    ports: Vec<Port>,
}

impl Candidates {
    /// Fills the candidates: of every router the ports for which `accepts(router, next)` holds.
    pub(crate) fn fill(&mut self, hops: &NextHops, accepts: impl Fn(RouterId, RouterId) -> bool) {
        self.first.clear();
        self.ports.clear();
        self.first.push(0);
        for at in (0..hops.routers()).map(RouterId) {
            self.ports.extend(hops.ports(at).filter(|&port| accepts(at, hops.neighbour(at, port))));
            self.first.push(self.ports.len() as u32);
        }
    }

    /// The candidates of a router.
    #[inline]
    pub(crate) fn of(&self, router: RouterId) -> &[Port] {
        &self.ports[self.first[router.index()] as usize..self.first[router.index() + 1] as usize]
    }

    /// Checks that every end has a candidate towards `to`.
    pub(crate) fn check(&self, ends: &Ends, to: RouterId) -> Result<(), UnreachedPair> {
        match ends.routers.iter().find(|&&from| from != to && self.of(from).is_empty()) {
            Some(&from) => Err(UnreachedPair { from, to }),
            None => Ok(()),
        }
    }
}
