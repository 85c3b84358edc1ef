//! Dynamic routing of Blue Gene. The directions of a packet are fixed at the source ([`crate::hints`]). At every
//! router, tokens decide which direction and dynamic channel comes next.
//!
//! Channel 0 is the bubble channel with dimension order (`torus-deterministic`); the dynamic channels follow. A
//! packet takes the direction and dynamic channel with the most tokens, among its remaining directions within the
//! mask of its zone ([`Zone`]). It draws among equals.
//!
//! The dynamic channels are *reserved*, as in `torus-adaptive`: a packet takes one only if a full packet has room,
//! and this room is then reserved. So packets wait for the bubble channel only, which they take if no dynamic channel
//! has room. From there a packet may return to a dynamic channel at the next router, unless `stay_on_bubble` is set.
//! Some messages may use other zones or deterministic routing ([`Route`]).

use super::by_message::{Classes, Route};
use super::hinted::{HintedRouting, BUBBLE};
use super::torus_deterministic::DeterministicSettings;
use super::zones::Zone;
use super::{
    Algorithm, Decision, Discipline, Engines, Header, Hop, Least, Machines, Needs, PathChoice, Refusal, Rings,
    RouteState, Routing,
};
use crate::hints::Directions;
use crate::next_hop::NextHops;
use crate::paths::PathSet;
use odonata_declare::{parameters, Kind};
use odonata_units::NodeId;
use std::cmp::Reverse;
use std::sync::Arc;

parameters! {
    /// Parameters of `torus-dynamic`.
    #[derive(PartialEq)]
    pub struct DynamicSettings {
        /// The bubble channel.
        pub bubble: DeterministicSettings = DeterministicSettings::default(), part;
        /// Dimensions that are free at the same time. 0: from the longest to the shortest, equal ones together. 1: all.
        /// 2: one after the other, the longest first. 3: like 2, with the last dimension always free. Or masks such as
        /// `["CD", "B", "A", "E"]`, used in order.
        pub zone: Zone = Zone::Numbered(1), Zone::KIND;
        /// Selection of routes by message. `zone`: all messages in `zone`. `pami`: the rules of PAMI (deterministic up
        /// to 64 KiB and along one line, otherwise by flexibility and the size of the block). Or a list of rules, of
        /// which the first match applies, such as `[{ up_to = "64 KiB", use = "deterministic" }, { flexibility = [1.5,
        /// 3.5], use = "zone 3", else = "zone 0" }]`.
        pub route: Route = Route::Zone, Route::KIND;
        /// Number of dynamic virtual channels.
        pub dynamic_channels: u8 = 2, Kind::Integer { min: 1, max: 8 };
        /// Whether a packet in the bubble channel stays there up to its destination.
        pub stay_on_bubble: bool = false;
    }
}

pub(super) const TORUS_DYNAMIC: Algorithm = Algorithm {
    name: "torus-dynamic",
    doc: "torus, mesh (Blue Gene): directions fixed at the source, the next one by tokens, bubbles as the escape",
    machines: Machines::Grids,
    needs: Needs { load: true, messages: true, ..Needs::NONE },
    engines: &Engines::both(PathSet::Torus, |_| PathChoice::AdaptiveDirect, build),
};

struct TorusDynamic {
    hinted: Arc<HintedRouting>,
    classes: Arc<Classes>,
    /// Channels, including the bubble channel.
    channels: u8,
    stays: bool,
}

fn build(hops: Arc<NextHops>, settings: &DynamicSettings) -> Result<Box<dyn Routing>, Refusal> {
    let DynamicSettings { bubble, zone, route, dynamic_channels, stay_on_bubble } = settings;
    let hinted = Arc::new(HintedRouting::of(hops, bubble.order, bubble.ties)?);
    let classes = Arc::new(Classes::of(route, zone, &hinted.grid, &hinted.hops)?);
    Ok(Box::new(TorusDynamic { hinted, classes, channels: BUBBLE + 1 + dynamic_channels, stays: *stay_on_bubble }))
}

impl TorusDynamic {
    /// Whether the packet must use the bubble channel, independent of load.
    #[inline]
    fn stays_on_bubble(&self, packet: &Header) -> bool {
        self.stays && packet.state.hops > 0 && packet.state.vc == BUBBLE
            || self.classes.masks(packet.state.via).is_none()
    }

    /// The direction and dynamic channel with the most tokens, drawn among equals.
    #[inline]
    fn dynamic_hop(&self, decision: &mut Decision<'_>, left: Directions, via: u32) -> Option<Hop> {
        let masks = self.classes.masks(via)?;
        let (at, load, random) = (decision.router, decision.load, &mut *decision.random);
        let mut most = Least::none();
        for step in left.within(masks.mask(left)) {
            for &port in self.hinted.grid.ports(at, step) {
                for vc in BUBBLE + 1..self.channels {
                    if let Some(tokens) = load.tokens(port, vc) {
                        most.offer(Reverse(tokens), Hop { port, vc }, random);
                    }
                }
            }
        }
        most.option()
    }
}

impl Routing for TorusDynamic {
    fn virtual_channels(&self) -> u8 {
        self.channels
    }

    fn reserved_from(&self) -> u8 {
        BUBBLE + 1
    }

    fn discipline(&self) -> Discipline {
        let (classes, channels) = (Arc::clone(&self.classes), self.channels);
        Discipline::Bubble(self.hinted.turns(move |left, out| {
            // The hops of any message: masks of other zones only add hops.
            let mask = classes.all().fold(0, |mask, masks| mask | masks.mask(left));
            for step in left.within(mask) {
                out.extend((BUBBLE + 1..channels).map(|vc| (step, vc)));
            }
        }))
    }

    fn rings(&self) -> Option<&dyn Rings> {
        self.hinted.rings()
    }

    fn initial_state(&self, source: NodeId, destination: NodeId, message_bytes: u64) -> RouteState {
        if self.classes.are_alike() {
            return RouteState::default();
        }
        let [from, to] = [source, destination].map(|node| self.hinted.hops.router_of(node));
        let class = self.classes.class(&self.hinted.compass, from, to, message_bytes);
        RouteState { via: class, ..RouteState::default() }
    }

    fn reads_load(&self, packet: &Header) -> bool {
        !self.stays_on_bubble(packet)
    }

    fn decide(&self, decision: &mut Decision<'_>, packet: &mut Header) -> Hop {
        let left = self.hinted.remaining_directions(decision, packet);
        let dynamic =
            if self.stays_on_bubble(packet) { None } else { self.dynamic_hop(decision, left, packet.state.via) };
        dynamic.unwrap_or_else(|| self.hinted.bubble_hop(decision.router, left, &packet.state))
    }
}
