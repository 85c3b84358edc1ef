//! What a routing algorithm sees of its router, and what the router learns.

use super::port::{OutChannel, OutPort};
use super::Partition;
use crate::settings::QueueEstimate;
use odonata_routing::algorithm::{Decision, Hop};
use odonata_routing::view::LoadView;
use odonata_units::RouterId;

/// The ports of one router at one time.
struct RouterLoad<'a> {
    out: &'a [OutPort],
    channels: &'a [OutChannel],
    /// The router's first port.
    first: usize,
    channel_count: usize,
    /// Room in an input and in an output channel, and size of a full packet.
    room: u32,
    output_room: u32,
    full: u32,
    promised: &'a [u32],
    estimate: QueueEstimate,
    now: u64,
    /// Time that a packet is on the link of a port of this router, by port; for `DownstreamArrived` only.
    now_on_link: &'a dyn Fn(usize, Option<u8>) -> u64,
}

impl RouterLoad<'_> {
    /// Credits that have arrived but were not looked at yet.
    #[inline]
    fn returned(&self, port: usize, vc: Option<u8>) -> u64 {
        if self.out[self.first + port].credits.front().is_none_or(|c| c.at > self.now) {
            return 0;
        }
        let arrived = self.out[self.first + port].credits.iter().take_while(|c| c.at <= self.now);
        arrived.filter(|c| vc.is_none_or(|vc| c.vc == vc)).map(|c| u64::from(c.bytes)).sum()
    }

    fn load(&self, port: usize, queued: u32, in_use: u32, vc: Option<u8>) -> u64 {
        let queued = u64::from(queued);
        match self.estimate {
            QueueEstimate::Output => queued,
            QueueEstimate::Downstream => queued + u64::from(in_use) - self.returned(port, vc),
            QueueEstimate::DownstreamArrived => {
                queued + u64::from(in_use) - self.returned(port, vc) - (self.now_on_link)(port, vc)
            }
        }
    }
}

impl LoadView for RouterLoad<'_> {
    #[inline]
    fn port_bytes(&self, port: u16) -> u64 {
        let out = &self.out[self.first + usize::from(port)];
        self.load(usize::from(port), out.queued_bytes, out.downstream_bytes, None)
    }

    #[inline]
    fn channel_bytes(&self, port: u16, vc: u8) -> u64 {
        let channel = &self.channels[(self.first + usize::from(port)) * self.channel_count + usize::from(vc)];
        self.load(usize::from(port), channel.bytes, self.room - channel.credit, Some(vc))
    }

    /// A full packet fits behind all that is queued or promised, here and with the credits known at the other end.
    fn has_room(&self, port: u16, vc: u8) -> bool {
        let i = (self.first + usize::from(port)) * self.channel_count + usize::from(vc);
        let channel = &self.channels[i];
        let needed = channel.bytes + self.promised[i] + self.full;
        let credit = u64::from(channel.credit) + self.returned(usize::from(port), Some(vc));
        needed <= self.output_room && u64::from(needed) <= credit
    }
}

impl Partition {
    /// Asks the routing algorithm about a packet at a router of this partition.
    #[inline]
    pub(super) fn decide(&mut self, local: usize, slot: u32) -> (Hop, Option<f32>) {
        let router = self.routers.start + local as u32;
        let state = &mut self.router[local];
        let first = state.ports.start as usize;
        let now = self.now;
        let sent = &self.sent;
        let on_link = |port: usize, vc: Option<u8>| -> u64 {
            let still = sent[first + port].iter().rev().take_while(|s| s.at > now);
            still.filter(|s| vc.is_none_or(|vc| s.vc == vc)).map(|s| u64::from(s.bytes)).sum()
        };
        let load = RouterLoad {
            out: &self.out,
            channels: &self.out_channel,
            first,
            channel_count: self.channels,
            room: self.fabric.settings.input_buffer.0 as u32,
            output_room: self.output_room,
            full: self.full,
            promised: &self.promised,
            estimate: self.fabric.settings.estimate,
            now,
            now_on_link: &on_link,
        };
        let mut decision = Decision {
            router: RouterId(router),
            load: &load,
            random: &mut state.random,
            memory: &state.memory,
            feedback: None,
        };
        let packet = self.pool.get_mut(slot);
        let hop = self.routing.decide(&mut decision, &mut packet.header);
        (hop, decision.feedback)
    }

    /// Learns from the feedback that has reached a router: port by port, in the order of arrival at each.
    pub(super) fn learn(&mut self, local: usize) {
        let router = RouterId(self.routers.start + local as u32);
        let state = &mut self.router[local];
        let (first, end) = (state.ports.start as usize, state.ports.end as usize);
        let now = self.now;
        let mut next = u64::MAX;
        for (port, at) in self.feedback_at[first..end].iter_mut().enumerate() {
            if *at <= now {
                let waiting = &mut self.feedback[first + port];
                *at = u64::MAX;
                while let Some(&(arrives, feedback)) = waiting.front() {
                    if arrives > now {
                        *at = arrives;
                        break;
                    }
                    waiting.pop_front();
                    let error_ns = self.routing.learn(router, &mut state.memory, port as u16, &feedback);
                    self.recorder.learnt(arrives, error_ns);
                }
            }
            next = next.min(*at);
        }
        state.next_feedback = next;
    }
}
