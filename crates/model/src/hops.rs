//! Hops between nodes of a built machine: the fewest links between their routers.

use crate::ModelError;
use odonata_machine::Machine;
use odonata_units::{NodeId, RouterId};
use std::collections::VecDeque;

const UNREACHED: u32 = u32::MAX;

/// Breadth-first distances from one router at a time. Queries should go source by source.
#[derive(Debug)]
pub struct HopCounts<'m> {
    machine: &'m Machine,
    source: Option<RouterId>,
    distance: Vec<u32>,
    queue: VecDeque<RouterId>,
}

impl<'m> HopCounts<'m> {
    /// Hop counts of a machine.
    pub fn new(machine: &'m Machine) -> Self {
        Self { machine, source: None, distance: vec![UNREACHED; machine.router_count()], queue: VecDeque::new() }
    }

    /// Router-to-router hops, 0 on one router.
    ///
    /// # Errors
    /// There is no path.
    pub fn between(&mut self, a: NodeId, b: NodeId) -> Result<u32, ModelError> {
        let (from, to) = (self.machine.router_of(a), self.machine.router_of(b));
        if from == to {
            return Ok(0);
        }
        if self.source != Some(from) {
            self.search(from);
        }
        match self.distance[to.index()] {
            UNREACHED => Err(ModelError::NoPath { from: a.0, to: b.0 }),
            hops => Ok(hops),
        }
    }

    fn search(&mut self, from: RouterId) {
        self.distance.fill(UNREACHED);
        self.distance[from.index()] = 0;
        self.queue.push_back(from);
        while let Some(router) = self.queue.pop_front() {
            let next = self.distance[router.index()] + 1;
            for bundle in self.machine.bundles_from(router) {
                let there = &mut self.distance[bundle.target.index()];
                if *there == UNREACHED {
                    *there = next;
                    self.queue.push_back(bundle.target);
                }
            }
        }
        self.source = Some(from);
    }
}
