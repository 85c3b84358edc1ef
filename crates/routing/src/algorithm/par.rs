//! PAR, progressive adaptive routing (Jiang, Kim, Dally 2009): UGALn with a second decision. A packet on a minimal
//! path decides again at the second router of the source group.
//!
//! Both routers use the candidates and the comparison of UGALn. The second router weighs the same intermediate router
//! as the first, as the simulator behind the interference study does, or draws another one.
//!
//! Channel 0 is for the first minimal hop; the channels of UGALn follow. On a whole machine:
//!
//! * 1 for non-minimal hops in the source group and their global link
//! * 2 in the intermediate group, up to the intermediate router
//! * 3 for a minimal second hop, and from the intermediate router to the destination group
//! * 4 in the destination group
//!
//! Traffic inside a group is minimal, on the last channel.

use super::adaptive::{AdaptivePaths, AdaptiveSettings, DetourRule, PriorKnowledge};
use super::by_bandwidth::by_bandwidth;
use super::crossing::Crossing;
use super::{Algorithm, Decision, Discipline, Engines, Goal, Header, Hop, Leg, Machines, Needs, Refusal, Routing};
use crate::next_hop::NextHops;
use odonata_declare::{parameters, words};
use std::sync::Arc;

/// Channel of the first minimal hop.
const FIRST_MINIMAL: u8 = 0;

/// The packet took one minimal hop. It decides again if it is still in the source group.
const MAY_REVISE: u8 = 2;

words! {
    /// Intermediate router of the second decision.
    pub enum SecondIntermediate {
        Same = "same": "the intermediate router of the first decision",
        New = "new": "another random intermediate router",
    }
}

parameters! {
    /// Parameters of PAR.
    #[derive(Copy, PartialEq)]
    pub struct ParSettings {
        /// Settings of the choice, at both routers.
        pub choice: AdaptiveSettings = AdaptiveSettings::default(), part;
        /// Intermediate router that the second decision weighs.
        pub second_intermediate: SecondIntermediate = SecondIntermediate::Same;
    }
}

struct Par {
    paths: AdaptivePaths,
    second_intermediate: SecondIntermediate,
}

pub(super) const PAR: Algorithm = Algorithm {
    name: "par",
    doc: "as `ugal-n`, with a second decision at the second router of the source group",
    machines: Machines::Groups,
    needs: Needs::LOAD,
    engines: &Engines::hops(|hops, settings: &ParSettings| {
        build(hops, settings.choice.into(), settings.second_intermediate)
    }),
};

/// The algorithm with this rule.
pub(super) fn build(
    hops: Arc<NextHops>,
    rule: DetourRule,
    second_intermediate: SecondIntermediate,
) -> Result<Box<dyn Routing>, Refusal> {
    let paths = AdaptivePaths::of(Arc::clone(&hops), Crossing::Router, FIRST_MINIMAL + 1, rule)?;
    Ok(by_bandwidth(&hops, Box::new(Par { paths, second_intermediate })))
}

impl Routing for Par {
    fn virtual_channels(&self) -> u8 {
        self.paths.channels.count
    }

    fn discipline(&self) -> Discipline {
        let vc = self.paths.channels;
        Discipline::Legs(vec![
            Leg { goal: Goal::HopTowardsGroup, vc: FIRST_MINIMAL, is_first: true, next: vec![1, 3, 4] },
            Leg { goal: Goal::Group, vc: vc.source, is_first: true, next: vec![2, 3] },
            Leg { goal: Goal::Router, vc: vc.intermediate, is_first: false, next: vec![3] },
            Leg { goal: Goal::Group, vc: vc.onward, is_first: false, next: vec![4] },
            Leg { goal: Goal::Router, vc: vc.destination, is_first: true, next: vec![] },
        ])
    }

    fn reads_load(&self, packet: &Header) -> bool {
        packet.state.hops <= 1
    }

    fn decide(&self, decision: &mut Decision<'_>, packet: &mut Header) -> Hop {
        let hops = &self.paths.hops;
        let (at, to) = (decision.router, hops.router_of(packet.destination));
        let at_source = packet.state.hops == 0;
        let revises = packet.state.hops == 1
            && packet.state.phase == MAY_REVISE
            && hops.group_of(at) == hops.group_of(hops.router_of(packet.source));
        let target = hops.group_of(to);
        if hops.group_of(at) == target || !(at_source || revises) {
            return self.paths.follow(decision, packet);
        }
        let minimal = if at_source { FIRST_MINIMAL } else { self.paths.onward(at, target) };
        let same = revises && self.second_intermediate == SecondIntermediate::Same;
        let known = PriorKnowledge { via: same.then_some(packet.state.via), ..PriorKnowledge::default() };
        let choice = self.paths.choose(minimal, known, decision, packet);
        if choice.non_minimal {
            packet.state.take_detour(choice.via);
        } else {
            packet.state.phase = if at_source { MAY_REVISE } else { 0 };
            packet.state.via = choice.via;
        }
        choice.hop
    }
}
