//! Routers: their routing and what they learn.

use super::section::Section;
use odonata_checkpoint::{state, Snapshot};
use odonata_routing::algorithm::{Feedback, Memory, Needs, Routing};
use odonata_units::{RouterId, Stream};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// State of a router in addition to its ports.
pub(super) struct Router {
    /// Number in the machine.
    pub(super) id: RouterId,
    /// Its ports (in the partition) and its NICs (in the machine).
    pub(super) ports: Range<u32>,
    pub(super) nics: Range<u32>,
    /// First port that the port numbers of routing algorithms count from; those number links only.
    pub(super) link_ports_from: u32,
    /// Arrival time of the earliest feedback that is not applied yet.
    pub(super) next_feedback: u64,
    pub(super) random: Stream,
    pub(super) memory: Memory,
}

state!(Router {
    value: next_feedback, random, memory;
    rebuilt: id, ports, nics, link_ports_from
});

impl Router {
    /// Creates router `r` of the fabric.
    fn new(section: &Section, routing: &dyn Routing, r: u32, seed: u64) -> Self {
        let (fabric, first) = (&section.fabric, section.ports.start);
        let (id, n) = (fabric.line[r as usize], r as usize);
        Self {
            id,
            random: Stream::new(seed, "routing", &[u64::from(id.0)]),
            memory: routing.memory(id),
            next_feedback: u64::MAX,
            ports: fabric.first_port[n] - first..fabric.first_port[n + 1] - first,
            nics: fabric.first_nic[n]..fabric.first_nic[n + 1],
            link_ports_from: fabric.link_ports_from(r) - first,
        }
    }
}

/// Routers of a partition and their routing algorithm.
pub(super) struct Routers {
    pub(super) list: Vec<Router>,
    /// Taken out while it decides: reading the load may change the partition.
    pub(super) routing: Option<Arc<dyn Routing>>,
    pub(super) needs: Needs,
}

state!(Routers { nested: list; rebuilt: routing, needs });

impl Routers {
    pub(super) fn new(section: &Section, routing: Arc<dyn Routing>, needs: Needs, seed: u64) -> Self {
        let list = section.routers.clone().map(|r| Router::new(section, &*routing, r, seed)).collect();
        Self { list, routing: Some(routing), needs }
    }

    #[inline]
    pub(super) fn routing(&self) -> &dyn Routing {
        self.routing.as_deref().expect("no other decision is active")
    }
}

/// Feedback in flight to the ports; empty without learning.
pub(super) struct FeedbackQueues {
    pub(super) in_flight: Vec<VecDeque<(u64, Feedback)>>,
    /// Arrival time of the first feedback to each port.
    first_at: Vec<u64>,
}

state!(FeedbackQueues { same_length: in_flight, first_at });

impl FeedbackQueues {
    /// Creates the lists of `ports` ports; 0 without learning.
    pub(super) fn new(ports: usize) -> Self {
        Self { in_flight: vec![VecDeque::new(); ports], first_at: vec![u64::MAX; ports] }
    }

    /// Adds the feedback to a snapshot. Its times are absolute, so a state with feedback never repeats.
    pub(super) fn snapshot(&self, into: &mut Snapshot) {
        let Self { in_flight, first_at } = self;
        into.put(&(in_flight, first_at));
    }

    /// Adds feedback that reaches port `o` at `at`.
    pub(super) fn add(&mut self, o: usize, at: u64, feedback: Feedback) {
        self.first_at[o] = self.first_at[o].min(at);
        self.in_flight[o].push_back((at, feedback));
    }

    /// Passes the feedback that has reached some ports to `apply`: port by port (numbered from 0), in order of arrival.
    /// Returns the arrival time of the next one.
    pub(super) fn take_due(
        &mut self,
        ports: Range<usize>,
        now: u64,
        mut apply: impl FnMut(u16, u64, &Feedback),
    ) -> u64 {
        let mut next = u64::MAX;
        // One comparison per port finds the feedback that is due.
        for (port, at) in self.first_at[ports.clone()].iter_mut().enumerate() {
            if *at <= now {
                let waiting = &mut self.in_flight[ports.start + port];
                *at = u64::MAX;
                while let Some((arrives, feedback)) = waiting.front() {
                    if *arrives > now {
                        *at = *arrives;
                        break;
                    }
                    apply(port as u16, *arrives, feedback);
                    waiting.pop_front();
                }
            }
            next = next.min(*at);
        }
        next
    }
}
