//! Deterministic routing of Blue Gene: dimension order in one channel with bubbles.
//!
//! The directions are fixed at the source ([`crate::hints`]). The rest is dimension order with bubble flow control
//! (Carrion, Beivide, Gregorio, Vallejo 1997), as `dimension-order` with `deadlock_avoidance = "bubble"`. Two things
//! differ: `dimension-order` draws ties at every router, and it uses both cables of a ring of two for either
//! direction.

use super::hinted::{HintedRouting, Ties};
use super::zones::BubbleOrder;
use super::{Algorithm, Decision, Discipline, Engines, Header, Hop, Machines, Needs, Refusal, Rings, Routing};
use crate::next_hop::NextHops;
use odonata_declare::parameters;
use std::sync::Arc;

parameters! {
    /// Parameters of `torus-deterministic`, and of the bubble channel of `torus-dynamic`.
    #[derive(Copy, PartialEq, Eq)]
    pub struct DeterministicSettings {
        /// Order of dimensions in the bubble channel.
        pub order: BubbleOrder = BubbleOrder::FirstToLast;
        /// Direction of a packet if both directions of a ring are equally long.
        pub ties: Ties = Ties::Parity;
    }
}

pub(super) const TORUS_DETERMINISTIC: Algorithm = Algorithm {
    name: "torus-deterministic",
    doc: "torus, mesh (Blue Gene): directions fixed at the source, dimension order, bubbles",
    machines: Machines::Grids,
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
        Discipline::Bubble(self.hinted.turns(|_, _| ()))
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
