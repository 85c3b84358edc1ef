//! Flows of ordered traffic classes: packets that follow the packet before them.
//!
//! The packets from one node to another that reach a router in the same input channel are a flow. The first one gets a
//! decision of the routing algorithm. The next ones leave through the same port and channel, while a packet of the flow
//! waits in the channel and for a gap after the last one has left it. So they stay in order.
//!
//! Each hop is one that the algorithm chose for this channel, source and destination. So every channel dependency is in
//! the proof of the algorithm.

use super::flow_state::{FlowKey, FlowPath};
use super::state::Partition;
use odonata_routing::algorithm::Hop;

impl Partition {
    /// The flow of the packet of `slot` in an input channel, and the gap of its class; `None` if that is not ordered.
    fn flow_of(&self, channel: usize, slot: u32) -> Option<(FlowKey, u64)> {
        let header = &self.pool.get(slot).header;
        let flows = &self.classes.as_ref().expect("there are classes").flows;
        let gap = flows.gap(self.section.class_of(header.state.vc))?;
        let (source, destination) = (header.source.0, header.destination.0);
        Some((FlowKey { channel: channel as u32, source, destination }, gap))
    }

    /// Decides the next hop of the packet at the head of an input channel of port `i`, or follows the packet before.
    #[inline(never)]
    pub(super) fn decide_in_flow(&mut self, i: usize, slot: u32, settled: usize) -> Hop {
        let vc = self.pool.get(slot).header.state.vc;
        let flow = self.flow_of(self.section.channel(i, vc), slot);
        let now = self.clock.now;
        let known = flow.and_then(|(key, _)| self.classes.as_ref()?.flows.path_of(key, now));
        let hop = match known {
            Some(path) => {
                self.pool.get_mut(slot).header.state = path.state;
                Hop { port: path.port, vc: path.vc }
            }
            None => {
                let Hop { port, vc: of_class } = self.query_among_classes(i, slot, settled, Self::decide);
                assert!(of_class < self.section.class_channels, "the packet stays within the channels of its class");
                Hop { port, vc: of_class + self.section.first_channel_of(vc) }
            }
        };
        if let Some((key, _)) = flow {
            let state = self.pool.get(slot).header.state;
            let flows = &mut self.classes.as_mut().expect("there are classes").flows;
            flows.record(key, FlowPath { port: hop.port, vc: hop.vc, state, follow_until: u64::MAX }, now);
        }
        hop
    }

    /// The packet of `slot` leaves an input channel.
    #[inline(never)]
    pub(super) fn leave_in_flow(&mut self, channel: usize, slot: u32) {
        let Some((key, gap)) = self.flow_of(channel, slot) else { return };
        let until = self.clock.now.saturating_add(gap);
        self.classes.as_mut().expect("there are classes").flows.leave(key, until);
    }
}
