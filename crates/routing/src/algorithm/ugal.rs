//! UGALg and UGALn: at the source router, a packet takes the minimal path or that path of VALg or VALn, by queue
//! lengths. [`adaptive`](super::adaptive) has the comparison, `crossing.rs` the paths and channels.
//!
//! Candidates are the minimal ports to the destination group, and ports to random intermediate groups (UGALg) or to
//! random routers of them (UGALn). A minimal path takes the onward channel. Traffic inside a group is minimal.

use super::adaptive::{AdaptivePaths, AdaptiveSettings, DetourRule, PriorKnowledge};
use super::by_bandwidth::by_bandwidth;
use super::crossing::Crossing;
use super::{Algorithm, Decision, Discipline, Engines, Header, Hop, Machines, Needs, Refusal, Routing};
use crate::next_hop::NextHops;
use std::sync::Arc;

struct Ugal {
    paths: AdaptivePaths,
}

pub(super) const UGAL_G: Algorithm = Algorithm {
    name: "ugal-g",
    doc: "minimal or as `valiant-g`; the source router decides by queue lengths",
    machines: Machines::Groups,
    needs: Needs::LOAD,
    engines: &Engines::hops(|hops, &settings: &AdaptiveSettings| build(Crossing::Straight, hops, settings.into())),
};

pub(super) const UGAL_N: Algorithm = Algorithm {
    name: "ugal-n",
    doc: "minimal or as `valiant-n`; the source router decides by queue lengths",
    machines: Machines::Groups,
    needs: Needs::LOAD,
    engines: &Engines::hops(|hops, &settings: &AdaptiveSettings| build(Crossing::Router, hops, settings.into())),
};

/// The algorithm with this rule.
pub(super) fn build(crossing: Crossing, hops: Arc<NextHops>, rule: DetourRule) -> Result<Box<dyn Routing>, Refusal> {
    let paths = AdaptivePaths::of(Arc::clone(&hops), crossing, 0, rule)?;
    Ok(by_bandwidth(&hops, Box::new(Ugal { paths })))
}

impl Routing for Ugal {
    fn virtual_channels(&self) -> u8 {
        self.paths.channels.count
    }

    fn discipline(&self) -> Discipline {
        Discipline::Legs(self.paths.crossing.legs(self.paths.channels))
    }

    fn reads_load(&self, packet: &Header) -> bool {
        packet.state.hops == 0
    }

    fn decide(&self, decision: &mut Decision<'_>, packet: &mut Header) -> Hop {
        self.paths.next_hop(decision, packet, |_, _| PriorKnowledge::default())
    }
}
