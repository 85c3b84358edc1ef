//! The choice between a minimal and a non-minimal path, shared by UGAL and PAR.
//!
//! With q the queue estimate of a candidate's port, a packet takes the non-minimal path iff `q(minimal) > threshold *
//! q(non-minimal) + bias`. If both candidates have the same port, only their two virtual channels are compared,
//! because other traffic of the port delays both alike.
//!
//! Threshold 2 and bias 0 are the setting of the interference study. One queued packet on the minimal port and none
//! on the other is then enough for a detour, so many packets are misrouted even on a nearly idle machine. A bias of a
//! few packets prevents this.
//!
//! The default is one candidate of each kind. The simulator behind the study's published figures compares one of each
//! where two groups share one cable; the text of the papers says two of each. `studies/packet-routing/page.md` shows
//! both.

use super::crossing::Crossing;
use super::decision::any;
use super::{Decision, Header, Hop};
use crate::next_hop::{NextHops, Port};
use odonata_declare::{parameter, Kind, Parameter, Parameters};
use odonata_units::Bytes;

/// Settings of the choice.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AdaptiveSettings {
    /// Factor on the non-minimal queue.
    pub threshold: f64,
    /// Added to the non-minimal queue, in favour of the minimal path.
    pub bias: Bytes,
    /// Minimal ports to draw; the one with the shortest queue is used.
    pub minimal_candidates: u32,
    /// Non-minimal paths to draw; the one with the shortest queue is used.
    pub non_minimal_candidates: u32,
}

impl Default for AdaptiveSettings {
    fn default() -> Self {
        Self { threshold: 2.0, bias: Bytes(0), minimal_candidates: 1, non_minimal_candidates: 1 }
    }
}

// Descriptions of the choice's parameters, for every algorithm that uses them.
pub(super) const THRESHOLD: Kind = Kind::Number { min: 1e-6, max: 1e6 };
pub(super) const THRESHOLD_DOC: &str =
    "Factor on the non-minimal queue: a packet takes the non-minimal path if q(minimal) > \
    threshold * q(non-minimal) + bias.";
pub(super) const BIAS_DOC: &str = "Bias in favour of the minimal path; see `threshold`.";
pub(super) const CANDIDATES: Kind = Kind::Integer { min: 1, max: 16 };
pub(super) const MINIMAL_DOC: &str = "Minimal ports to draw; the one with the shortest queue is used.";
pub(super) const NON_MINIMAL_DOC: &str = "Non-minimal paths to draw; the one with the shortest queue is used.";

impl Parameters for AdaptiveSettings {
    const PARAMETERS: &'static [Parameter<Self>] = &[
        parameter!(threshold, THRESHOLD, THRESHOLD_DOC),
        parameter!(bias, Kind::Bytes, BIAS_DOC),
        parameter!(minimal_candidates, CANDIDATES, MINIMAL_DOC),
        parameter!(non_minimal_candidates, CANDIDATES, NON_MINIMAL_DOC),
    ];
}

/// A possible first hop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) hop: Hop,
    pub(super) via: u32,
    bytes: u64,
}

/// Channels of the two kinds of first hop.
#[derive(Clone, Copy, Debug)]
pub(super) struct FirstHopChannels {
    /// Channel of a minimal hop.
    pub(super) minimal: u8,
    /// Lowest channel of the leg to an intermediate group.
    pub(super) non_minimal: u8,
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

/// Decides between the minimal and the non-minimal path.
pub(super) fn choose(
    hops: &NextHops,
    settings: &AdaptiveSettings,
    crossing: Crossing,
    channels: FirstHopChannels,
    known: PriorKnowledge,
    decision: &mut Decision<'_>,
    packet: &Header,
) -> Choice {
    let at = decision.router;
    let to = hops.router_of(packet.destination);
    let minimal = shortest_minimal(hops.ports_to_group(at, hops.group_of(to)), settings, channels.minimal, decision);
    let mut best: Option<Candidate> = None;
    for _ in 0..settings.non_minimal_candidates {
        let (via, group) = match known.via {
            Some(via) => (via, crossing.group_of(hops, via)),
            None => crossing.draw(hops, (at, to), decision),
        };
        let port = any(hops.ports_to_group(at, group), decision.random);
        let bytes = decision.load.port_bytes(port);
        if best.is_none_or(|b| bytes < b.bytes) {
            let vc = channels.non_minimal + hops.vc_offset_to_group(at, group);
            best = Some(Candidate { hop: Hop { port, vc }, via, bytes });
        }
    }
    let other = best.expect("at least one candidate is drawn");
    let (mut q_minimal, mut q_other) = (minimal.bytes, other.bytes);
    if minimal.hop.port == other.hop.port {
        q_minimal = decision.load.channel_bytes(minimal.hop.port, minimal.hop.vc);
        q_other = decision.load.channel_bytes(other.hop.port, other.hop.vc);
    }
    let longer = q_minimal as f64 > settings.threshold * q_other as f64 + settings.bias.as_f64();
    let non_minimal = known.minimal_is_congested || longer;
    Choice { hop: if non_minimal { other.hop } else { minimal.hop }, via: other.via, non_minimal }
}

fn shortest_minimal(ports: &[Port], settings: &AdaptiveSettings, vc: u8, decision: &mut Decision<'_>) -> Candidate {
    let of = |port: Port, bytes: u64| Candidate { hop: Hop { port, vc }, via: 0, bytes };
    if let [only] = ports {
        return of(*only, decision.load.port_bytes(*only));
    }
    let mut best: Option<Candidate> = None;
    for _ in 0..settings.minimal_candidates {
        let port = any(ports, decision.random);
        let bytes = decision.load.port_bytes(port);
        if best.is_none_or(|b| bytes < b.bytes) {
            best = Some(of(port, bytes));
        }
    }
    best.expect("at least one candidate is drawn")
}
