//! The choice between a minimal and a non-minimal path, shared by UGAL and PAR.
//!
//! With q the queue estimate of a candidate's port, a packet takes the non-minimal path iff `q(minimal) > threshold *
//! q(non-minimal) + bias`. If both candidates have the same port, only their two virtual channels are compared,
//! because other traffic of the port delays both alike. `expression` replaces the comparison by the user's condition.
//!
//! By default the bias is 16 packets, so that packets are minimal at low load, as the authors of UGAL and
//! PAR mean (Jiang, Kim, Dally 2009). The interference study has no bias (`preset = "study"`). One queued packet on the
//! minimal port and none on the other is then enough for a detour, so many packets are misrouted even on a nearly idle
//! machine.
//!
//! The default is one candidate of each kind. The simulator behind the study's published figures compares one of each
//! where two groups share one cable; the text of the papers says two of each. `studies/packet-routing/page.md` shows
//! both.

use super::crossing::{Channels, Crossing};
use super::detour_condition::{Alternative, DetourCondition};
use super::{any, Decision, Header, Hop, Refusal};
use crate::next_hop::{NextHops, Port};
use crate::view::LoadView;
use odonata_declare::{parameters, words, Kind};
use odonata_units::{Bytes, GroupId, RouterId};
use std::sync::Arc;

words! {
    /// Source of the settings of the choice that are not given.
    pub enum AdaptivePreset {
        Default = "default": "minimal at low load, as the authors of UGAL and PAR mean",
        Study = "study": "as in the interference study: no bias, so that one queued packet is enough for a detour",
    }
}

/// Default bias in packets. At uniform load 0.4 on 72 nodes, 16 packets leave 0.8 % of PAR's packets non-minimal, and 8
/// packets 53 %. A larger bias diverts later under adversarial traffic.
const BIAS_PACKETS: u64 = 16;

parameters! {
    /// Settings of the choice.
    #[derive(Copy, PartialEq)]
    pub struct AdaptiveSettings {
        /// Source of the settings of the choice that are not given. The defaults below are the values of `default`.
        pub preset: AdaptivePreset = AdaptivePreset::Default => Self::of;
        /// Factor on the non-minimal queue: a packet takes the non-minimal path if q(minimal) > threshold *
        /// q(non-minimal) + bias.
        pub threshold: f64 = 2.0, THRESHOLD;
        /// Bias in favour of the minimal path; see `threshold`.
        #[decides(result)]
        pub bias: Option<Bytes> = None, else "16 full packets";
        /// Minimal ports to draw; the one with the shortest queue is used.
        pub minimal_candidates: u32 = 1, CANDIDATES;
        /// Non-minimal paths to draw; the one with the shortest queue is used.
        pub non_minimal_candidates: u32 = 1, CANDIDATES;
    }
}

impl AdaptiveSettings {
    /// The settings of a preset.
    pub fn of(preset: AdaptivePreset) -> Self {
        match preset {
            AdaptivePreset::Default => Self::default(),
            AdaptivePreset::Study => Self { preset, bias: Some(Bytes(0)), ..Self::default() },
        }
    }

    /// The bias in bytes.
    #[inline]
    pub(super) fn bias_bytes(&self, load: &dyn LoadView) -> f64 {
        self.bias.map_or_else(|| (BIAS_PACKETS * load.packet_bytes()) as f64, Bytes::as_f64)
    }
}

/// Settings of the choice, and the condition for the non-minimal path if it is not the comparison with the threshold.
pub(super) struct DetourRule {
    pub(super) settings: AdaptiveSettings,
    pub(super) condition: Option<DetourCondition>,
}

impl From<AdaptiveSettings> for DetourRule {
    fn from(settings: AdaptiveSettings) -> Self {
        Self { settings, condition: None }
    }
}

/// Kind of a factor on queues.
pub(super) const THRESHOLD: Kind = Kind::Number { min: 1e-6, max: 1e6 };
/// Kind of a number of candidates.
pub(super) const CANDIDATES: Kind = Kind::Integer { min: 1, max: 16 };

/// A possible first hop.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    hop: Hop,
    via: u32,
    bytes: u64,
}

/// The decision.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    pub(super) hop: Hop,
    /// Intermediate of the non-minimal path, also if that path is not taken.
    pub(super) via: u32,
    pub(super) non_minimal: bool,
}

/// Facts known before the queues are compared.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct PriorKnowledge {
    /// Intermediate of the non-minimal path, if it was drawn already.
    pub(super) via: Option<u32>,
    /// Whether the minimal path is congested further on, so that the packet goes non-minimal.
    pub(super) minimal_is_congested: bool,
}

/// The choice on one machine.
pub(super) struct AdaptivePaths {
    pub(super) hops: Arc<NextHops>,
    pub(super) crossing: Crossing,
    pub(super) channels: Channels,
    rule: DetourRule,
}

impl AdaptivePaths {
    /// The choice with the channels from `first` on.
    pub(super) fn of(
        hops: Arc<NextHops>,
        crossing: Crossing,
        first: u8,
        rule: impl Into<DetourRule>,
    ) -> Result<Self, Refusal> {
        Ok(Self { channels: crossing.channels(&hops, first)?, hops, crossing, rule: rule.into() })
    }

    /// The channel of a minimal hop to another group, after all detours.
    #[inline]
    pub(super) fn onward(&self, at: RouterId, target: GroupId) -> u8 {
        self.channels.onward + self.hops.vc_offset_to_group(at, target)
    }

    /// The next hop of a packet whose path is decided.
    #[inline]
    pub(super) fn follow(&self, decision: &mut Decision<'_>, packet: &mut Header) -> Hop {
        self.crossing.next_hop(&self.hops, self.channels, decision, packet)
    }

    /// The next hop of a packet that decides at its source router only. `known` gives what is known about the minimal
    /// path to a group.
    #[inline]
    pub(super) fn next_hop(
        &self,
        decision: &mut Decision<'_>,
        packet: &mut Header,
        known: impl FnOnce(&Decision<'_>, GroupId) -> PriorKnowledge,
    ) -> Hop {
        let (at, to) = (decision.router, self.hops.router_of(packet.destination));
        let (here, target) = (self.hops.group_of(at), self.hops.group_of(to));
        if packet.state.hops > 0 || here == target {
            return self.follow(decision, packet);
        }
        let known = known(decision, target);
        let choice = self.choose(self.onward(at, target), known, decision, packet);
        if choice.non_minimal {
            packet.state.take_detour(choice.via);
        }
        choice.hop
    }

    /// Decides between the minimal path, on channel `vc`, and the non-minimal one.
    pub(super) fn choose(&self, vc: u8, known: PriorKnowledge, decision: &mut Decision<'_>, packet: &Header) -> Choice {
        let (hops, settings) = (&*self.hops, &self.rule.settings);
        let at = decision.router;
        let to = hops.router_of(packet.destination);
        let ports = hops.ports_to_group(at, hops.group_of(to));
        let (port, bytes) = shortest_queue(ports, settings.minimal_candidates, decision);
        let minimal = Candidate { hop: Hop { port, vc }, via: 0, bytes };
        let mut best: Option<Candidate> = None;
        for _ in 0..settings.non_minimal_candidates {
            let (via, group) = match known.via {
                Some(via) => (via, self.crossing.group_of(hops, via)),
                None => self.crossing.draw(hops, to, decision),
            };
            let port = any(hops.ports_to_group(at, group), decision.random);
            let bytes = decision.load.port_bytes(port);
            if best.is_none_or(|b| bytes < b.bytes) {
                let vc = self.channels.source + hops.vc_offset_to_group(at, group);
                best = Some(Candidate { hop: Hop { port, vc }, via, bytes });
            }
        }
        let other = best.expect("at least one candidate is drawn");
        let via = other.via;
        let (mut q_minimal, mut q_other) = (minimal.bytes, other.bytes);
        if minimal.hop.port == other.hop.port {
            q_minimal = decision.load.channel_bytes(minimal.hop.port, minimal.hop.vc);
            q_other = decision.load.channel_bytes(other.hop.port, other.hop.vc);
        }
        let prefers_other = match &self.rule.condition {
            None => q_minimal as f64 > settings.threshold * q_other as f64 + settings.bias_bytes(decision.load),
            Some(condition) => {
                let minimal = Alternative { port: minimal.hop.port, queue: q_minimal };
                let other = Alternative { port: other.hop.port, queue: q_other };
                condition.holds([minimal, other], decision, packet, |[minimal, non_minimal]| {
                    let minimal = self.crossing.hops(hops, at, minimal.port, None, to);
                    [minimal, self.crossing.hops(hops, at, non_minimal.port, Some(via), to)]
                })
            }
        };
        let non_minimal = known.minimal_is_congested || prefers_other;
        Choice { hop: if non_minimal { other.hop } else { minimal.hop }, via, non_minimal }
    }
}

/// The port with the shortest queue among `count` drawn ones, and its queue.
#[inline]
pub(super) fn shortest_queue(ports: &[Port], count: u32, decision: &mut Decision<'_>) -> (Port, u64) {
    let load = decision.load;
    let of = |port: Port| (port, load.port_bytes(port));
    if let [only] = ports {
        return of(*only);
    }
    let drawn = (0..count).map(|_| of(any(ports, decision.random)));
    drawn.min_by_key(|(_, bytes)| *bytes).expect("at least one candidate is drawn")
}
