//! The traffic from each router.

use super::network::Network;
use crate::traffic::Commodity;
use odonata_units::RouterId;
use std::sync::Mutex;

/// Traffic from one source router, and its current flow.
pub(super) struct Source {
    pub(super) router: RouterId,
    pub(super) demands: Vec<(RouterId, u64)>,
    /// Current load of this source on edges, sorted by edge.
    pub(super) flow: Vec<(u32, f64)>,
    /// Load on the last shortest paths.
    pub(super) towards: Vec<(u32, f64)>,
    /// Sum of bytes times distance on these paths.
    pub(super) distance: f64,
}

impl Source {
    /// Checks that its flow conserves the bytes of every target.
    pub(super) fn check(&self, network: &Network, balance: &mut [f64]) {
        balance.fill(0.0);
        let mut total = 0.0;
        for &(target, bytes) in &self.demands {
            balance[target.index()] -= bytes as f64;
            balance[self.router.index()] += bytes as f64;
            total += bytes as f64;
        }
        for &(edge, x) in &self.flow {
            balance[network.target[edge as usize] as usize] += x;
            balance[network.target[network.reverse[edge as usize] as usize] as usize] -= x;
        }
        let worst = balance.iter().fold(0.0f64, |worst, b| worst.max(b.abs()));
        assert!(worst <= 1e-6 * total, "the bound's flow from {:?} is off by {worst} of {total} bytes", self.router);
    }
}

/// The traffic by source router.
pub(super) fn sources<'c>(commodities: impl Iterator<Item = &'c Commodity>) -> Vec<Mutex<Source>> {
    let mut pairs: Vec<(RouterId, RouterId, u64)> =
        commodities.filter(|c| c.source != c.target).map(|c| (c.source, c.target, c.bytes)).collect();
    pairs.sort_unstable();
    let source = |row: &[(RouterId, RouterId, u64)]| {
        let merged = row.chunk_by(|a, b| a.1 == b.1).map(|same| (same[0].1, same.iter().map(|p| p.2).sum()));
        Source { router: row[0].0, demands: merged.collect(), flow: Vec::new(), towards: Vec::new(), distance: 0.0 }
    };
    pairs.chunk_by(|a, b| a.0 == b.0).map(|row| Mutex::new(source(row))).collect()
}
