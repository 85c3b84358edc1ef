//! A forwarding table, and the balance by counting.

use super::candidates::{Candidates, UnreachedPair};
use super::ends::Ends;
use super::ForwardingRule;
use crate::next_hop::{NextHops, Port};
use odonata_units::{NodeId, RouterId};
use std::sync::Arc;

/// Positions of ports among the links of their routers, by router and destination. The largest value is no port.
enum Places {
    Narrow(Vec<u8>),
    Wide(Vec<u16>),
}

/// The output port of every router for every destination node.
pub(crate) struct ForwardingTable {
    hops: Arc<NextHops>,
    nodes: usize,
    places: Places,
}

/// Bytes of an entry on a machine whose routers have at most `links` links.
pub(crate) const fn entry_bytes(links: usize) -> u64 {
    if links < u8::MAX as usize {
        1
    } else {
        2
    }
}

impl ForwardingTable {
    /// A table without entries.
    pub(crate) fn empty(hops: &Arc<NextHops>) -> Self {
        let most = (0..hops.routers()).map(|r| usize::from(hops.link_ports(RouterId(r)))).max().unwrap_or(0);
        let (nodes, entries) = (hops.nodes() as usize, hops.routers() as usize * hops.nodes() as usize);
        let places = match entry_bytes(most) {
            1 => Places::Narrow(vec![u8::MAX; entries]),
            _ => Places::Wide(vec![u16::MAX; entries]),
        };
        Self { hops: Arc::clone(hops), nodes, places }
    }

    /// Sets an entry to a link port.
    pub(crate) fn set(&mut self, at: RouterId, destination: NodeId, port: Port) {
        let (entry, place) = (at.index() * self.nodes + destination.index(), port - self.hops.node_ports(at));
        match &mut self.places {
            Places::Narrow(places) => places[entry] = place as u8,
            Places::Wide(places) => places[entry] = place,
        }
    }

    /// An entry.
    #[inline]
    pub(crate) fn get(&self, at: RouterId, destination: NodeId) -> Option<Port> {
        let entry = at.index() * self.nodes + destination.index();
        let place = match &self.places {
            Places::Narrow(places) => Some(places[entry]).filter(|&place| place != u8::MAX).map(u16::from),
            Places::Wide(places) => Some(places[entry]).filter(|&place| place != u16::MAX),
        };
        place.map(|place| self.hops.node_ports(at) + place)
    }

    /// A table over the candidates that `search` fills for each end: of equally good ports, the one with the fewest
    /// destinations so far, then the lowest. Only destination nodes count, one by one.
    pub(crate) fn balanced(
        hops: &Arc<NextHops>,
        mut search: impl FnMut(RouterId, &mut Candidates),
    ) -> Result<Self, UnreachedPair> {
        let ends = Ends::of(hops);
        let mut table = Self::empty(hops);
        let mut counts = vec![0u32; hops.link_count()];
        let mut candidates = Candidates::default();
        for end in ends.most_nodes_first() {
            let to = ends.routers[end];
            search(to, &mut candidates);
            candidates.check(&ends, to)?;
            for &node in ends.nodes(end) {
                for at in (0..hops.routers()).map(RouterId) {
                    let of = |port: Port| hops.link(at, port).index();
                    // The first of several least ones.
                    if let Some(&port) = candidates.of(at).iter().min_by_key(|&&port| counts[of(port)]) {
                        counts[of(port)] += 1;
                        table.set(at, node, port);
                    }
                }
            }
        }
        Ok(table)
    }
}

impl ForwardingRule for ForwardingTable {
    #[inline]
    fn port(&self, at: RouterId, _: NodeId, destination: NodeId) -> Port {
        self.get(at, destination).expect("the tables were checked for holes")
    }

    fn ports(&self, at: RouterId, destination: NodeId, out: &mut Vec<Port>) {
        out.extend(self.get(at, destination));
    }

    fn by_node(&self) -> bool {
        true
    }
}
