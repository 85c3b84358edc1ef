//! Deterministic routing of Blue Gene: dimension order in one channel with bubbles.
//!
//! The directions are fixed at the source ([`crate::hints`]). The rest is dimension order with bubble flow control
//! (Carrion, Beivide, Gregorio, Vallejo 1997), as `dimension-order` with `deadlock_avoidance = "bubble"`. Two things
//! differ: `dimension-order` draws ties at every router, and it uses both cables of a ring of two for either
//! direction.

use super::declaration::Engines;
use super::hinted::{HintedRouting, Ties, UniformTurns};
use super::zones::BubbleOrder;
use super::{Algorithm, Decision, Discipline, Header, Hop, Needs, Refusal, Rings, Routing};
use crate::next_hop::NextHops;
use odonata_declare::{parameter, Parameter, Parameters};
use std::sync::Arc;

/// Description of `order`.
pub(super) const ORDER: &str = "Order of dimensions in the bubble channel.";

/// Description of `ties`.
pub(super) const TIES: &str = "Direction of a packet if both directions of a ring are equally long.";

/// Parameters of `torus-deterministic`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DeterministicSettings {
    /// The order of dimensions.
    pub order: BubbleOrder,
    /// Direction if both are equally long.
    pub ties: Ties,
}

impl Parameters for DeterministicSettings {
    const PARAMETERS: &'static [Parameter<Self>] =
        &[parameter!(order, BubbleOrder::KIND, ORDER), parameter!(ties, Ties::KIND, TIES)];
}

pub(super) const TORUS_DETERMINISTIC: Algorithm = Algorithm {
    name: "torus-deterministic",
    doc: "torus, mesh (Blue Gene): directions fixed at the source, dimension order, bubbles",
    needs: Needs { load: true, ..Needs::NONE },
    engines: &Engines::hops(build),
};

struct TorusDeterministic {
    hinted: Arc<HintedRouting>,
}

fn build(hops: Arc<NextHops>, settings: &DeterministicSettings) -> Result<Box<dyn Routing>, Refusal> {
    let hinted = Arc::new(HintedRouting::of(hops, settings.order, settings.ties)?);
    Ok(Box::new(TorusDeterministic { hinted }))
}

impl Routing for TorusDeterministic {
    fn virtual_channels(&self) -> u8 {
        1
    }

    fn discipline(&self) -> Discipline {
        Discipline::Bubble(Box::new(UniformTurns { hinted: Arc::clone(&self.hinted), extra_hops: Box::new(|_, _| ()) }))
    }

    fn rings(&self) -> Option<&dyn Rings> {
        self.hinted.rings()
    }

    fn reads_load(&self, _: &Header) -> bool {
        false
    }

    fn decide(&self, decision: &mut Decision<'_>, packet: &mut Header) -> Hop {
        let left = self.hinted.remaining_directions(decision, packet);
        self.hinted.bubble_hop(decision.router, left, &packet.state)
    }
}
