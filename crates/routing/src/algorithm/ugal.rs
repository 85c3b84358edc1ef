//! UGALg and UGALn: at the source router, a packet takes the minimal path or that path of VALg or VALn, by queue
//! lengths. [`adaptive`](super::adaptive) has the comparison, `crossing.rs` the paths and channels.
//!
//! Candidates are the minimal ports to the destination group, and ports to random intermediate groups (UGALg) or to
//! random routers of them (UGALn). A minimal path takes the onward channel. Traffic inside a group is minimal.

use super::adaptive::{choose, AdaptiveSettings, FirstHopChannels, PriorKnowledge};
use super::crossing::{Channels, Crossing};
use super::declaration::Engines;
use super::{Algorithm, Decision, Discipline, Header, Hop, Needs, Refusal, Routing};
use crate::next_hop::NextHops;
use std::sync::Arc;

struct Ugal {
    hops: Arc<NextHops>,
    crossing: Crossing,
    channels: Channels,
    settings: AdaptiveSettings,
}

pub(super) const UGAL_G: Algorithm = Algorithm {
    name: "ugal-g",
    doc: "minimal or as `valiant-g`; the source router decides by queue lengths",
    needs: Needs::LOAD,
    engines: &Engines::hops(|hops, settings| build(Crossing::Straight, hops, settings)),
};

pub(super) const UGAL_N: Algorithm = Algorithm {
    name: "ugal-n",
    doc: "minimal or as `valiant-n`; the source router decides by queue lengths",
    needs: Needs::LOAD,
    engines: &Engines::hops(|hops, settings| build(Crossing::Router, hops, settings)),
};

fn build(crossing: Crossing, hops: Arc<NextHops>, &settings: &AdaptiveSettings) -> Result<Box<dyn Routing>, Refusal> {
    let channels = crossing.channels(&hops, 0)?;
    Ok(Box::new(Ugal { hops, crossing, channels, settings }))
}

impl Routing for Ugal {
    fn virtual_channels(&self) -> u8 {
        self.channels.count
    }

    fn discipline(&self) -> Discipline {
        Discipline::Legs(self.crossing.legs(self.channels))
    }

    fn reads_load(&self, packet: &Header) -> bool {
        packet.state.hops == 0
    }

    fn decide(&self, decision: &mut Decision<'_>, packet: &mut Header) -> Hop {
        let (at, to) = (decision.router, self.hops.router_of(packet.destination));
        let (here, target) = (self.hops.group_of(at), self.hops.group_of(to));
        if packet.state.hops > 0 || here == target {
            return self.crossing.next_hop(&self.hops, self.channels, decision, packet);
        }
        let minimal = self.channels.onward + self.hops.vc_offset_to_group(at, target);
        let first = FirstHopChannels { minimal, non_minimal: self.channels.source };
        let choice =
            choose(&self.hops, &self.settings, self.crossing, first, PriorKnowledge::default(), decision, packet);
        if choice.non_minimal {
            packet.state.take_detour(choice.via);
        }
        choice.hop
    }
}
