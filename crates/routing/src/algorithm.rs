//! Routing algorithms: the one list of them, with their parameters and which kind of engine takes which.
//!
//! An algorithm is one file and one line of [`ALGORITHMS`]. What stands there says how messages choose among whole
//! paths ([`PathChoice`], for engines with a steady state), or decides hop by hop ([`Routing`], for engines that move
//! packets), or both.
//!
//! Hop by hop it is asked once per packet at every router: it gets the packet's header, the router, a read-only
//! view of the load there, the router's random stream and its [`Memory`], and answers with a port and a virtual
//! channel. What it has to remember about a packet it writes into the header's [`RouteState`]; it moves nothing.
//!
//! An algorithm keeps the network free of deadlock by its choice of virtual channels. It states that choice as
//! [`Discipline`], which [`crate::deadlock`] checks on the machine before a run; where the plainest choice does not do, the
//! algorithm is built again with next hops on whose ways channels rise more often ([`crate::next_hop::VcOrder`]).

pub mod adaptive;
mod by_message;
mod channel_kind;
mod crossing;
mod decision;
pub mod dimension_order;
mod grid;
mod hinted;
mod memory;
pub mod min;
mod no_parameters;
pub mod par;
mod piggyback;
pub mod planes;
pub mod q_adaptive;
mod steady;
pub mod torus_adaptive;
pub mod torus_deterministic;
pub mod torus_dynamic;
pub mod ugal;
pub mod up_down;
pub mod up_down_adaptive;
pub mod valiant;
mod vc_counter;
pub mod via_router;
mod zones;

use crate::hints::{Directions, Step};
use crate::next_hop::{NextHops, Port, UnreachableError};
use odonata_declare::{ParameterStruct, VariantInfo};
use odonata_machine::Machine;
use odonata_units::{NodeId, RouterId, Stream};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use zerocopy::{Immutable, IntoBytes, TryFromBytes};

pub use adaptive::AdaptiveSettings;
pub use by_message::{MessageRoute, Route, Rule};
pub use channel_kind::ChannelKind;
pub use decision::{Decision, Feedback, ReceivedReport, RouterReport};
pub use dimension_order::{DeadlockAvoidance, TorusSettings};
pub use hinted::Ties;
pub use memory::Memory;
pub use no_parameters::NoParameters;
pub use par::{ParSettings, SecondIntermediate};
pub use piggyback::PiggybackSettings;
pub use q_adaptive::QSettings;
pub use steady::{PathChoice, UgalPaths};
pub use torus_deterministic::DeterministicSettings;
pub use torus_dynamic::DynamicSettings;
pub use zones::{BubbleOrder, Zone};

/// What the algorithm remembers about one packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, TryFromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub struct RouteState {
    /// The intermediate group or router, as the algorithm uses it.
    pub via: u32,
    /// Where the packet is on its way, as the algorithm numbers it.
    pub phase: u8,
    /// Router-to-router hops done.
    pub hops: u8,
    /// Virtual channel on which the packet arrived.
    pub vc: u8,
    /// How the way so far differs from the shortest ones.
    pub path_kind: PathKind,
}

/// How the way of a packet differs from the shortest ones: whether it left them, and whether it led through a third group,
/// one that is neither the source's nor the destination's. Between groups that no working cable joins, shortest ways do, too.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, TryFromBytes, IntoBytes, Immutable)]
#[repr(u8)]
pub enum PathKind {
    /// A shortest one, through no third group.
    #[default]
    Minimal,
    /// A shortest one, through a third group.
    MinimalViaGroup,
    /// Longer than the shortest, but through no third group.
    NonMinimal,
    /// Longer than the shortest, through a third group.
    NonMinimalViaGroup,
}

const _: () = assert!(size_of::<RouteState>() == 8);

impl PathKind {
    /// Whether the packet has left the shortest ways.
    #[inline]
    pub fn is_non_minimal(self) -> bool {
        matches!(self, Self::NonMinimal | Self::NonMinimalViaGroup)
    }

    /// Whether the packet has been in a third group.
    #[inline]
    pub fn is_via_intermediate_group(self) -> bool {
        matches!(self, Self::MinimalViaGroup | Self::NonMinimalViaGroup)
    }

    /// The packet leaves the shortest ways.
    #[inline]
    pub fn mark_non_minimal(&mut self) {
        *self = if self.is_via_intermediate_group() { Self::NonMinimalViaGroup } else { Self::NonMinimal };
    }

    /// The packet goes to a third group. Whoever moves packets says so of every hop that leads there, whatever algorithm
    /// decided on it.
    #[inline]
    pub fn mark_intermediate_group(&mut self) {
        *self = if self.is_non_minimal() { Self::NonMinimalViaGroup } else { Self::MinimalViaGroup };
    }
}

/// A packet as a routing algorithm sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, TryFromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub struct Header {
    /// Source node.
    pub source: NodeId,
    /// Destination node.
    pub destination: NodeId,
    /// What the algorithm wrote at earlier routers.
    pub state: RouteState,
}

/// The answer: where a packet goes next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hop {
    /// Port of the router that decides.
    pub port: Port,
    /// Virtual channel on the link of that port.
    pub vc: u8,
}

/// A routing algorithm on one machine. It is immutable: what changes is in headers, streams and memories.
pub trait Routing: Send + Sync {
    /// Number of virtual channels that it needs.
    fn virtual_channels(&self) -> u8;

    /// How its virtual channels keep the network free of deadlock.
    fn discipline(&self) -> Discipline;

    /// The first reserved channel. A packet goes to a reserved channel only where [`has_room`](crate::view::LoadView::has_room) says so, and
    /// the room is then kept for it; so nobody ever waits for a reserved channel.
    fn reserved_from(&self) -> u8 {
        u8::MAX
    }

    /// Whether the packets of messages of different sizes may go differently.
    fn distinguishes_messages(&self) -> bool {
        false
    }

    /// What a packet's header says when it sets out, where messages are told apart.
    fn initial_state(&self, _source: NodeId, _destination: NodeId, _message_bytes: u64) -> RouteState {
        RouteState::default()
    }

    /// The rings that packets enter only where they leave room for another packet, if the algorithm relies on that.
    fn rings(&self) -> Option<&dyn Rings> {
        None
    }

    /// Whether [`Routing::decide`] may look at the load for this packet at this router; where it does not, the engine
    /// spares itself the view, and a look at it is a programming error that panics.
    fn reads_load(&self, _packet: &Header) -> bool {
        self.reads_any_load()
    }

    /// Whether any decision reads the load; asked once, so that the others need not be asked packet by packet.
    fn reads_any_load(&self) -> bool {
        true
    }

    /// The next hop of a packet that is not yet at its destination's router.
    fn decide(&self, decision: &mut Decision<'_>, packet: &mut Header) -> Hop;

    /// The memory that `router` starts with.
    fn memory(&self, router: RouterId) -> Memory {
        let _ = router;
        Memory::default()
    }

    /// Takes note of what became of a packet that `router` had sent out of `port`; returns the absolute error in ns of
    /// what was expected, if anything was.
    fn learn(&self, router: RouterId, memory: &mut Memory, port: Port, feedback: &Feedback) -> Option<f32> {
        let _ = (router, memory, port, feedback);
        None
    }

    /// The whole matrix of what `router` has learnt.
    fn estimates(&self, router: RouterId, memory: &Memory) -> Vec<f32> {
        let _ = router;
        memory.all(|_, _| 0.0)
    }

    /// A packet is at its destination's router, which may remark on it as [`Routing::decide`] does; asked only where
    /// routers learn.
    fn report_arrival(&self, decision: &mut Decision<'_>, packet: &Header) {
        let _ = (decision, packet);
    }

    /// Whether routers tell each other about packets at all: whether there are remarks.
    fn has_feedback(&self) -> bool {
        false
    }
}

/// Rings of links that never fill up (bubble flow control; Carrion, Beivide, Gregorio, Vallejo 1997). In one virtual channel a
/// packet *enters* a ring, from a node, another link or another channel, only where the output buffer has room for two full
/// packets; one that goes on in its ring needs room for one. So there is always room for a full packet in the ring, and what is
/// before it moves. For that room never to fall in pieces, every packet in the channel takes the room of a full one.
pub trait Rings: Send + Sync {
    /// The channel.
    fn channel(&self) -> u8;

    /// The port by which the ring of a link, that of `port` of `at`, goes on at the link's end; `None` if the link is in no
    /// ring. No two links go on with the same one.
    fn next_in_ring(&self, at: RouterId, port: Port) -> Option<Port>;
}

/// How an algorithm orders its virtual channels.
pub enum Discipline {
    /// The channel rises with every hop, or with every turn from a link down, to a lower router number, to one up: no
    /// cycle is possible.
    Increasing,
    /// A packet goes through legs; each has a goal and virtual channels. The legs of a packet follow the `next`
    /// lists from a leg that may start.
    Legs(Vec<Leg>),
    /// Every hop that packets may take is listed, and the channel dependency graph is made of them.
    Relation(Box<dyn Relation>),
    /// The hops are the same at every router of a torus or mesh; in a ring they keep to one channel of bubbles.
    Bubble(Box<dyn Turns>),
}

/// All the hops of an algorithm on a torus or mesh that depend on nothing but the directions that a packet has left.
pub trait Turns {
    /// Number of dimensions.
    fn dimensions(&self) -> usize;

    /// Whether there are steps along a dimension at all.
    fn has_steps(&self, dimension: usize) -> bool;

    /// Whether a packet can go on in a ring along a dimension; on a mesh, and where two routers are all, it can't.
    fn is_ring(&self, dimension: usize) -> bool;

    /// The ports of a step, by the number of the cable to which a packet keeps.
    fn ports(&self, at: RouterId, step: Step) -> &[Port];

    /// Appends every hop, as a step with its channel, of a packet with these directions left, at least one.
    fn hops(&self, left: Directions, out: &mut Vec<(Step, u8)>);
}

/// All the hops of an algorithm that depend on nothing but the router, the destination's router and a phase.
pub trait Relation {
    /// Number of phases; packets start in phase 0.
    fn phases(&self) -> u8;

    /// Appends every hop that a packet for router `to` may take at router `at`, with its phase after the hop.
    fn hops(&self, at: RouterId, to: RouterId, phase: u8, out: &mut Vec<(Hop, u8)>);
}

/// One leg of a way.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Leg {
    /// What ends it.
    pub goal: Goal,
    /// Lowest virtual channel of its hops. On a leg to a group or a router they rise from there as the next hops say:
    /// [`NextHops::vc_offset_to_group`], [`NextHops::local_vc_offset`].
    pub vc: u8,
    /// Whether a way may start with it.
    pub is_first: bool,
    /// Legs that may follow.
    pub next: Vec<usize>,
}

/// What ends a leg.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Goal {
    /// Reaching any router of another group over shortest ways.
    Group,
    /// Reaching another router of the same group over shortest ways.
    Router,
    /// One hop towards a group, after which the packet decides again.
    HopTowardsGroup,
    /// One hop to a router of another group.
    OtherGroup,
}

/// All settings of all algorithms; each takes what concerns it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RoutingSettings {
    /// Threshold, bias and numbers of candidates of UGAL.
    pub adaptive: AdaptiveSettings,
    /// The same of PAR, and what its second decision weighs.
    pub par: ParSettings,
    /// The same of PB, and what a congested cable is.
    pub piggyback: PiggybackSettings,
    /// Rates and thresholds of Q-adaptive.
    pub q: QSettings,
    /// What keeps rings of a torus free of deadlock.
    pub torus: TorusSettings,
    /// The order of `torus-deterministic`.
    pub deterministic: DeterministicSettings,
    /// BubbleOrder, zone and channels of `torus-dynamic`.
    pub dynamic: DynamicSettings,
}

impl RoutingSettings {
    /// What an algorithm's parameters say; the settings of the others are as by default.
    pub fn of(parameters: &dyn ParameterStruct) -> Self {
        let parameters = parameters.as_any();
        Self {
            adaptive: parameters.downcast_ref().copied().unwrap_or_default(),
            par: parameters.downcast_ref().copied().unwrap_or_default(),
            piggyback: parameters.downcast_ref().copied().unwrap_or_default(),
            q: parameters.downcast_ref().cloned().unwrap_or_default(),
            torus: parameters.downcast_ref().copied().unwrap_or_default(),
            deterministic: parameters.downcast_ref().copied().unwrap_or_default(),
            dynamic: parameters.downcast_ref().cloned().unwrap_or_default(),
        }
    }
}

/// Why an algorithm can't run on a machine, or what is wrong with its settings.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RoutingError {
    /// No algorithm that decides hop by hop has that name.
    #[error("unknown routing algorithm '{name}'{hint}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// The name that may have been meant, or all of them.
        hint: String,
    },
    /// The machine lacks what the algorithm needs.
    #[error("routing '{algorithm}': {reason}")]
    Machine {
        /// Name of the algorithm.
        algorithm: String,
        /// What is missing.
        reason: String,
    },
    /// A setting is out of range.
    #[error("{setting}: {reason}")]
    Setting {
        /// Its name as the user writes it.
        setting: String,
        /// What was expected.
        reason: String,
    },
}

/// Makes an algorithm for a machine; of the settings it takes its own.
pub type Build = fn(Arc<NextHops>, &RoutingSettings) -> Result<Box<dyn Routing>, RoutingError>;

/// A routing algorithm by its name.
#[derive(Clone, Copy, Debug)]
pub struct Algorithm {
    /// Its name in files.
    pub name: &'static str,
    /// What it does, in one line.
    pub doc: &'static str,
    /// Its parameters as by default.
    pub parameters: fn() -> Box<dyn ParameterStruct>,
    /// For engines with a steady state: how messages choose among paths, by the parameters.
    pub paths: Option<fn(&dyn ParameterStruct) -> PathChoice>,
    /// For engines that move packets: what decides hop by hop.
    pub hops: Option<Build>,
    /// Whether what decides hop by hop takes tables of next hops; else [`NextHops::without_tables`] is all that it needs.
    pub uses_tables: bool,
}

/// All algorithms, the plainest first.
pub const ALGORITHMS: &[Algorithm] = &[
    min::MIN,
    steady::STATIC_DIRECT,
    steady::STATIC_INDIRECT,
    steady::ADAPTIVE_DIRECT,
    steady::ADAPTIVE_INDIRECT,
    steady::ADAPTIVE_HYBRID,
    steady::OPTIMAL,
    steady::UGAL,
    valiant::VALIANT_G,
    valiant::VALIANT_N,
    via_router::VALIANT,
    ugal::UGAL_G,
    ugal::UGAL_N,
    via_router::UGAL_L,
    par::PAR,
    piggyback::PIGGYBACK,
    dimension_order::DIMENSION_ORDER,
    torus_adaptive::TORUS_ADAPTIVE,
    torus_deterministic::TORUS_DETERMINISTIC,
    torus_dynamic::TORUS_DYNAMIC,
    up_down::UP_DOWN,
    up_down_adaptive::UP_DOWN_ADAPTIVE,
    q_adaptive::Q_ADAPTIVE,
];

impl Algorithm {
    /// One that decides hop by hop and has no parameters.
    const fn hop_by_hop(name: &'static str, doc: &'static str, build: Build) -> Self {
        Self { name, doc, parameters: || Box::new(NoParameters), paths: None, hops: Some(build), uses_tables: true }
    }

    /// The algorithm called `name`.
    pub fn find(name: &str) -> Option<&'static Self> {
        ALGORITHMS.iter().find(|known| known.name == name)
    }

    /// What the algorithm called `name` has to know of a machine: tables of next hops, unless it does without.
    ///
    /// # Errors
    /// If two working routers can't reach each other.
    pub fn next_hops(name: &str, machine: &Machine) -> Result<NextHops, UnreachableError> {
        if Self::needs_tables(name) {
            NextHops::new(machine)
        } else {
            Ok(NextHops::without_tables(machine))
        }
    }

    /// Whether the algorithm called `name`, if there is one, takes tables of next hops.
    pub fn needs_tables(name: &str) -> bool {
        Self::find(name).is_none_or(|algorithm| algorithm.uses_tables)
    }

    /// What a parser and a reference page read of it.
    pub fn named(&self) -> VariantInfo {
        VariantInfo { name: self.name, doc: self.doc, keys: (self.parameters)().keys() }
    }

    /// How messages choose among paths when no parameter is given, if it says so at all.
    pub fn paths_by_default(&self) -> Option<PathChoice> {
        self.paths.map(|paths| paths(&*(self.parameters)()))
    }
}

/// What decides hop by hop under the name `name` on a machine with the tables `hops`.
///
/// # Errors
/// An unknown name, a machine on which the algorithm makes no sense, or a setting out of range.
pub fn build(name: &str, hops: Arc<NextHops>, settings: &RoutingSettings) -> Result<Box<dyn Routing>, RoutingError> {
    let known = || ALGORITHMS.iter().filter_map(|algorithm| Some((algorithm.name, algorithm.hops?)));
    match known().find(|(known, _)| *known == name) {
        Some((_, build)) => build(hops, settings),
        None => Err(RoutingError::Unknown {
            name: name.to_owned(),
            hint: odonata_declare::hint(name, known().map(|(known, _)| known)),
        }),
    }
}

/// A uniformly random port of a list; a single one costs no draw.
#[inline]
pub(crate) fn any(ports: &[Port], random: &mut Stream) -> Port {
    match ports {
        [only] => *only,
        _ => ports[random.index(ports.len())],
    }
}
