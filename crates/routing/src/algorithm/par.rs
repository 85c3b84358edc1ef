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

use super::adaptive;
use super::adaptive::{choose, AdaptiveSettings, FirstHopChannels, PriorKnowledge};
use super::crossing::{Channels, Crossing};
use super::declaration::Engines;
use super::{Algorithm, Decision, Discipline, Goal, Header, Hop, Leg, Needs, Refusal, Routing};
use crate::next_hop::NextHops;
use odonata_declare::{parameter, words, Kind, Parameter, Parameters};
use std::sync::Arc;

/// Channel of the first minimal hop.
const FIRST_MINIMAL: u8 = 0;

/// The packet took one minimal hop. It decides again if it is still in the source group.
const MAY_REVISE: u8 = 2;

words! {
    /// Intermediate router of the second decision.
    #[derive(Default)]
    pub enum SecondIntermediate {
        #[default]
        Same = "same": "the intermediate router of the first decision",
        New = "new": "another random intermediate router",
    }
}

/// Parameters of PAR.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct ParSettings {
    /// Settings of the choice, at both routers.
    pub choice: AdaptiveSettings,
    /// Intermediate router of the second decision.
    pub second_intermediate: SecondIntermediate,
}

impl Parameters for ParSettings {
    const PARAMETERS: &'static [Parameter<Self>] = &[
        parameter!(threshold = choice.threshold, adaptive::THRESHOLD, adaptive::THRESHOLD_DOC),
        parameter!(bias = choice.bias, Kind::Bytes, adaptive::BIAS_DOC),
        parameter!(minimal_candidates = choice.minimal_candidates, adaptive::CANDIDATES, adaptive::MINIMAL_DOC),
        parameter!(
            non_minimal_candidates = choice.non_minimal_candidates,
            adaptive::CANDIDATES,
            adaptive::NON_MINIMAL_DOC
        ),
        parameter!(
            second_intermediate,
            SecondIntermediate::KIND,
            "Intermediate router that the second decision weighs."
        ),
    ];
}

struct Par {
    hops: Arc<NextHops>,
    channels: Channels,
    settings: ParSettings,
}

pub(super) const PAR: Algorithm = Algorithm {
    name: "par",
    doc: "as `ugal-n`, with a second decision at the second router of the source group",
    needs: Needs::LOAD,
    engines: &Engines::hops(build),
};

fn build(hops: Arc<NextHops>, &settings: &ParSettings) -> Result<Box<dyn Routing>, Refusal> {
    let channels = Crossing::Router.channels(&hops, FIRST_MINIMAL + 1)?;
    Ok(Box::new(Par { hops, channels, settings }))
}

impl Routing for Par {
    fn virtual_channels(&self) -> u8 {
        self.channels.count
    }

    fn discipline(&self) -> Discipline {
        let vc = self.channels;
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
        let (at, to) = (decision.router, self.hops.router_of(packet.destination));
        let at_source = packet.state.hops == 0;
        let revises = packet.state.hops == 1
            && packet.state.phase == MAY_REVISE
            && self.hops.group_of(at) == self.hops.group_of(self.hops.router_of(packet.source));
        let target = self.hops.group_of(to);
        if self.hops.group_of(at) == target || !(at_source || revises) {
            return Crossing::Router.next_hop(&self.hops, self.channels, decision, packet);
        }
        let onward = || self.channels.onward + self.hops.vc_offset_to_group(at, target);
        let minimal = if at_source { FIRST_MINIMAL } else { onward() };
        let channels = FirstHopChannels { minimal, non_minimal: self.channels.source };
        let via =
            (revises && self.settings.second_intermediate == SecondIntermediate::Same).then_some(packet.state.via);
        let known = PriorKnowledge { via, ..PriorKnowledge::default() };
        let choice = choose(&self.hops, &self.settings.choice, Crossing::Router, channels, known, decision, packet);
        if choice.non_minimal {
            packet.state.take_detour(choice.via);
        } else {
            packet.state.phase = if at_source { MAY_REVISE } else { 0 };
            packet.state.via = choice.via;
        }
        choice.hop
    }
}
