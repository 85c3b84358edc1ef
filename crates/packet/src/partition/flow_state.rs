//! What the routers of a partition remember of flows.

use crate::traffic_class::{TrafficClass, TrafficClasses};
use odonata_checkpoint::state;
use odonata_routing::algorithm::RouteState;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A flow at a router.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub(super) struct FlowKey {
    /// Input channel of the partition.
    pub(super) channel: u32,
    pub(super) source: u32,
    pub(super) destination: u32,
}

/// What the last packet of a flow did.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct FlowPath {
    pub(super) port: u16,
    pub(super) vc: u8,
    pub(super) state: RouteState,
    /// Until then the next packet follows; `u64::MAX` while the last one waits in the input channel.
    pub(super) follow_until: u64,
}

/// Flows in a partition.
pub(super) struct Flows {
    /// Gap after which a flow may take another path, of each class; `None` if it is not ordered.
    gaps: Vec<Option<u64>>,
    paths: BTreeMap<FlowKey, FlowPath>,
    /// Number of flows at which the expired ones are removed. No result depends on it.
    purge_at: usize,
}

/// Fewer flows are not worth a search for expired ones.
const PURGE_MIN: usize = 1 << 10;

state!(Flows { value: paths; rebuilt: gaps, purge_at });

impl Flows {
    pub(super) fn new(classes: &TrafficClasses) -> Self {
        let gap = |class: &TrafficClass| class.settings.ordered.then(|| class.settings.flow_gap.ps());
        Self { gaps: classes.list.iter().map(gap).collect(), paths: BTreeMap::new(), purge_at: PURGE_MIN }
    }

    /// The hop and state of the packet before, if the next one follows it at `now`.
    pub(super) fn path_of(&self, key: FlowKey, now: u64) -> Option<FlowPath> {
        self.paths.get(&key).copied().filter(|path| now <= path.follow_until)
    }

    pub(super) fn record(&mut self, key: FlowKey, path: FlowPath, now: u64) {
        if self.paths.len() >= self.purge_at {
            self.paths.retain(|_, path| now <= path.follow_until);
            self.purge_at = PURGE_MIN.max(2 * self.paths.len());
        }
        self.paths.insert(key, path);
    }

    /// Gap of a class; `None` if it is not ordered.
    pub(super) fn gap(&self, class: usize) -> Option<u64> {
        self.gaps[class]
    }

    /// The last packet of a flow has left its input channel: the next one follows until a time.
    pub(super) fn leave(&mut self, key: FlowKey, follow_until: u64) {
        // At its last router, a packet has no flow.
        if let Some(path) = self.paths.get_mut(&key) {
            path.follow_until = follow_until;
        }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.paths.len() * size_of::<(FlowKey, FlowPath)>()
    }
}
