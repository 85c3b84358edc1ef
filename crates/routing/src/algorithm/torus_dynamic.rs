//! Dynamic routing of Blue Gene: the directions of a packet are fixed where it sets out ([`crate::hints`]); which of them it goes
//! next, and in which dynamic channel, is decided at every router by tokens.
//!
//! Channel 0 is the bubble channel, in which a packet goes one dimension after the other (`torus-deterministic`); the dynamic ones are
//! above it. Among the directions that are left, within the mask of its zone ([`Zone`]), and the dynamic channels a packet takes where most
//! tokens are, and draws among equals. The dynamic channels are *reserved*, as that of `torus-adaptive` is: taken only where a full packet has room,
//! which is then kept. So packets wait for the bubble channel only, where they go if no dynamic one has room. From there a packet
//! may go back to a dynamic channel at the next router, unless it is to stay. Messages of some sizes, or between some places, may go in other
//! zones, or deterministically ([`Route`]).

use super::by_message::{Classes, Route};
use super::hinted::{HintedRouting, Ties, UniformTurns, BUBBLE};
use super::torus_deterministic::{ORDER, TIES};
use super::zones::{BubbleOrder, Zone};
use super::{Algorithm, Decision, Discipline, Header, Hop, Rings, RouteState, Routing, RoutingError, RoutingSettings};
use crate::hints::Directions;
use crate::next_hop::{NextHops, Port};
use odonata_declare::{parameter, Kind, Parameter, Parameters};
use odonata_units::NodeId;
use std::sync::Arc;

/// Parameters of `torus-dynamic`.
#[derive(Clone, PartialEq, Debug)]
pub struct DynamicSettings {
    /// The order of dimensions in the bubble channel.
    pub order: BubbleOrder,
    /// Which way half round a ring.
    pub ties: Ties,
    /// Which dimensions are free at a time.
    pub zone: Zone,
    /// Which messages go otherwise.
    pub route: Route,
    /// Dynamic channels.
    pub dynamic_channels: u8,
    /// Whether a packet in the bubble channel stays there.
    pub stay_on_bubble: bool,
}

impl Default for DynamicSettings {
    fn default() -> Self {
        Self {
            order: BubbleOrder::default(),
            ties: Ties::default(),
            zone: Zone::default(),
            route: Route::default(),
            dynamic_channels: 2,
            stay_on_bubble: false,
        }
    }
}

impl Parameters for DynamicSettings {
    const PARAMETERS: &'static [Parameter<Self>] = &[
        parameter!(order, BubbleOrder::KIND, ORDER),
        parameter!(ties, Ties::KIND, TIES),
        parameter!(
            zone,
            Zone::KIND,
            "Which dimensions are free at a time: 0 from the longest to the shortest, equally long ones together; 1 all; 2 one after the \
             other, the longest first; 3 as 2, and the last dimension at any time; or masks such as `[\"CD\", \"B\", \"A\", \"E\"]`, used one after \
             the other.",
        ),
        parameter!(
            route,
            Route::KIND,
            "Which messages go how: all in `zone`, as PAMI chooses (deterministically up to 64 KiB and along one line, else by flexibility and the \
             size of the block), or rules, of which the first that holds counts, such as `[{ up_to = \"64 KiB\", use = \"deterministic\" }, { \
             flexibility = [1.5, 3.5], use = \"zone 3\", else = \"zone 0\" }]`.",
        ),
        parameter!(dynamic_channels, Kind::Integer { min: 1, max: 8 }, "Dynamic virtual channels."),
        parameter!(
            stay_on_bubble,
            Kind::Flag,
            "Whether a packet that had to take the bubble channel stays there to its end."
        ),
    ];
}

pub(super) const TORUS_DYNAMIC: Algorithm = Algorithm {
    parameters: || Box::new(DynamicSettings::default()),
    uses_tables: false,
    ..Algorithm::hop_by_hop(
        "torus-dynamic",
        "torus, mesh (Blue Gene): directions fixed at the source, the next one by tokens, bubbles as the escape",
        build,
    )
};

struct TorusDynamic {
    hinted: Arc<HintedRouting>,
    classes: Arc<Classes>,
    /// Channels, the bubble channel included.
    channels: u8,
    stays: bool,
}

fn build(hops: Arc<NextHops>, settings: &RoutingSettings) -> Result<Box<dyn Routing>, RoutingError> {
    let DynamicSettings { order, ties, zone, route, dynamic_channels, stay_on_bubble } = &settings.dynamic;
    let hinted = Arc::new(HintedRouting::of("torus-dynamic", hops, (*order, *ties))?);
    let classes = Arc::new(Classes::of(route, zone, &hinted.grid, &hinted.hops)?);
    Ok(Box::new(TorusDynamic { hinted, classes, channels: BUBBLE + 1 + dynamic_channels, stays: *stay_on_bubble }))
}

impl TorusDynamic {
    /// Whether a packet that arrived as its header says goes on in the bubble channel whatever the load.
    #[inline]
    fn stays_on_bubble(&self, packet: &Header) -> bool {
        self.stays && packet.state.hops > 0 && packet.state.vc == BUBBLE
            || self.classes.masks(packet.state.via).is_none()
    }

    /// The direction and dynamic channel with most tokens; among equals each with the same probability, drawn on the way.
    #[inline]
    fn dynamic_hop(&self, decision: &mut Decision<'_>, left: Directions, via: u32) -> Option<Hop> {
        let masks = self.classes.masks(via)?;
        let (at, load, random) = (decision.router, decision.load, &mut *decision.random);
        let mut best: Option<(u64, Hop)> = None;
        let mut equals = 0;
        let mut look = |port: Port| {
            for vc in BUBBLE + 1..self.channels {
                let Some(tokens) = load.tokens(port, vc) else { continue };
                match best {
                    Some((most, _)) if tokens < most => continue,
                    Some((most, _)) if tokens == most => {
                        equals += 1;
                        if random.below(equals) != 0 {
                            continue;
                        }
                    }
                    _ => equals = 1,
                }
                best = Some((tokens, Hop { port, vc }));
            }
        };
        for step in left.within(masks.mask(left)) {
            self.hinted.grid.ports(at, step).iter().for_each(|&port| look(port));
        }
        best.map(|(_, hop)| hop)
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
        let extra_hops = move |left: Directions, out: &mut Vec<_>| {
            // What any message may do: masks of another zone are no other hops, only more of them.
            let mask = classes.all().fold(0, |mask, masks| mask | masks.mask(left));
            for step in left.within(mask) {
                out.extend((BUBBLE + 1..channels).map(|vc| (step, vc)));
            }
        };
        Discipline::Bubble(Box::new(UniformTurns {
            hinted: Arc::clone(&self.hinted),
            extra_hops: Box::new(extra_hops),
        }))
    }

    fn rings(&self) -> Option<&dyn Rings> {
        self.hinted.rings()
    }

    fn distinguishes_messages(&self) -> bool {
        self.classes.differ()
    }

    fn initial_state(&self, source: NodeId, destination: NodeId, message_bytes: u64) -> RouteState {
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
