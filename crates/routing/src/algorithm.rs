//! Routing algorithms, with their parameters and the engines that use them.
//!
//! An algorithm is one file and one line of [`ALGORITHMS`]. It defines how messages choose among whole paths
//! ([`PathChoice`], for engines with a steady state), or decides hop by hop ([`Routing`], for engines that move
//! packets), or both.
//!
//! A hop-by-hop algorithm is called once per packet at every router. It gets the packet's header, the router, a
//! read-only view of the load, the router's random stream and its [`Memory`]. It returns a port and a virtual
//! channel. State of a packet belongs into the header's [`RouteState`].
//!
//! An algorithm avoids deadlock by its choice of virtual channels. It declares this choice as a [`Discipline`], which
//! [`crate::deadlock`] checks on the machine before a run. If the simplest choice has a cycle, the algorithm is built
//! again with a stricter VC order ([`crate::next_hop::VcOrder`]).

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

/// Routing state of one packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, TryFromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub struct RouteState {
    /// Intermediate group or router, as the algorithm uses it.
    pub via: u32,
    /// Phase of the path, as the algorithm numbers it.
    pub phase: u8,
    /// Router-to-router hops so far.
    pub hops: u8,
    /// Virtual channel on which the packet arrived.
    pub vc: u8,
    /// Kind of the path so far.
    pub path_kind: PathKind,
}

/// The kind of a packet's path: minimal or not, and whether it visited an intermediate group (neither the source's
/// nor the destination's). A minimal path does so if no working cable joins the two groups.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, TryFromBytes, IntoBytes, Immutable)]
#[repr(u8)]
pub enum PathKind {
    /// Minimal, without an intermediate group.
    #[default]
    Minimal,
    /// Minimal, via an intermediate group.
    MinimalViaGroup,
    /// Non-minimal, without an intermediate group.
    NonMinimal,
    /// Non-minimal, via an intermediate group.
    NonMinimalViaGroup,
}

const _: () = assert!(size_of::<RouteState>() == 8);

impl PathKind {
    /// Whether the packet has left the minimal paths.
    #[inline]
    pub fn is_non_minimal(self) -> bool {
        matches!(self, Self::NonMinimal | Self::NonMinimalViaGroup)
    }

    /// Whether the packet has been in an intermediate group.
    #[inline]
    pub fn is_via_intermediate_group(self) -> bool {
        matches!(self, Self::MinimalViaGroup | Self::NonMinimalViaGroup)
    }

    /// Records that the packet leaves the minimal paths.
    #[inline]
    pub fn mark_non_minimal(&mut self) {
        *self = if self.is_via_intermediate_group() { Self::NonMinimalViaGroup } else { Self::NonMinimal };
    }

    /// Records that the packet enters an intermediate group. The engine calls this for every such hop, whatever the
    /// algorithm.
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
    /// State written at earlier routers.
    pub state: RouteState,
}

/// The next hop of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hop {
    /// Port of the router that decides.
    pub port: Port,
    /// Virtual channel on the link of that port.
    pub vc: u8,
}

/// A routing algorithm on one machine. It is immutable; mutable state is in headers, streams and memories.
pub trait Routing: Send + Sync {
    /// Number of virtual channels.
    fn virtual_channels(&self) -> u8;

    /// How the virtual channels prevent deadlock.
    fn discipline(&self) -> Discipline;

    /// First reserved channel. A packet takes a reserved channel only if
    /// [`has_room`](crate::view::LoadView::has_room) holds. The room is then reserved for it, so no packet ever waits
    /// for a reserved channel.
    fn reserved_from(&self) -> u8 {
        u8::MAX
    }

    /// Whether routes depend on the message, for example on its size.
    fn distinguishes_messages(&self) -> bool {
        false
    }

    /// Initial route state of a packet, if routes depend on the message.
    fn initial_state(&self, _source: NodeId, _destination: NodeId, _message_bytes: u64) -> RouteState {
        RouteState::default()
    }

    /// The rings with bubble flow control, if the algorithm relies on them.
    fn rings(&self) -> Option<&dyn Rings> {
        None
    }

    /// Whether [`Routing::decide`] may read the load for this packet at this router. If not, the engine provides no
    /// view, and a read panics.
    fn reads_load(&self, _packet: &Header) -> bool {
        self.reads_any_load()
    }

    /// Whether any decision reads the load. It is called once, to skip [`Routing::reads_load`] for the others.
    fn reads_any_load(&self) -> bool {
        true
    }

    /// The next hop of a packet that is not yet at its destination's router.
    fn decide(&self, decision: &mut Decision<'_>, packet: &mut Header) -> Hop;

    /// The initial memory of `router`.
    fn memory(&self, router: RouterId) -> Memory {
        let _ = router;
        Memory::default()
    }

    /// Learns from the feedback for a packet that `router` sent through `port`. Returns the absolute error of the
    /// estimate in ns, if there was one.
    fn learn(&self, router: RouterId, memory: &mut Memory, port: Port, feedback: &Feedback) -> Option<f32> {
        let _ = (router, memory, port, feedback);
        None
    }

    /// The whole matrix of estimates of `router`.
    fn estimates(&self, router: RouterId, memory: &Memory) -> Vec<f32> {
        let _ = router;
        memory.all(|_, _| 0.0)
    }

    /// Sets the report for a packet at its destination's router. Only called if [`Routing::has_feedback`] holds.
    fn report_arrival(&self, decision: &mut Decision<'_>, packet: &Header) {
        let _ = (decision, packet);
    }

    /// Whether routers exchange reports about packets.
    fn has_feedback(&self) -> bool {
        false
    }
}

/// Rings of links that never fill (bubble flow control; Carrion, Beivide, Gregorio, Vallejo 1997). In one virtual
/// channel, a packet enters a ring (from a node, another link or another channel) only if the output buffer has room
/// for two full packets. A packet that stays in its ring needs room for one. The ring therefore always has room for a
/// full packet, and the packet before that room moves. Every packet takes the room of a full one, so that the free
/// room is never fragmented.
pub trait Rings: Send + Sync {
    /// The virtual channel with bubbles.
    fn channel(&self) -> u8;

    /// The port that continues the ring of the link at `port` of `at`, at the far end of that link. `None` if the
    /// link is in no ring. No two links continue with the same port.
    fn next_in_ring(&self, at: RouterId, port: Port) -> Option<Port>;
}

/// How an algorithm orders its virtual channels.
pub enum Discipline {
    /// The VC number increases with every hop, or with every turn from a link down (to a lower router number) to a
    /// link up. No cycle is possible.
    Increasing,
    /// A packet follows legs, each with a goal and virtual channels. It starts with a leg that `is_first` and
    /// continues along the `next` lists.
    Legs(Vec<Leg>),
    /// The relation lists every possible hop; the channel dependency graph is built from it.
    Relation(Box<dyn Relation>),
    /// The hops are the same at every router of a torus or mesh. Rings use one channel with bubbles.
    Bubble(Box<dyn Turns>),
}

/// All hops of an algorithm on a torus or mesh, if they depend only on a packet's remaining directions.
pub trait Turns {
    /// Number of dimensions.
    fn dimensions(&self) -> usize;

    /// Whether the dimension has more than one router.
    fn has_steps(&self, dimension: usize) -> bool;

    /// Whether a packet can continue in a ring along a dimension. False on a mesh and in a ring of two routers.
    fn is_ring(&self, dimension: usize) -> bool;

    /// The ports of a step, by cable number. A packet keeps its cable number.
    fn ports(&self, at: RouterId, step: Step) -> &[Port];

    /// Appends every possible hop (step and channel) of a packet with these remaining directions; there is at least
    /// one.
    fn hops(&self, left: Directions, out: &mut Vec<(Step, u8)>);
}

/// All hops of an algorithm, if they depend only on the router, the destination's router and a phase.
pub trait Relation {
    /// Number of phases; packets start in phase 0.
    fn phases(&self) -> u8;

    /// Appends every possible hop at router `at` of a packet for router `to`, with its phase after the hop.
    fn hops(&self, at: RouterId, to: RouterId, phase: u8, out: &mut Vec<(Hop, u8)>);
}

/// One leg of a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Leg {
    /// End of the leg.
    pub goal: Goal,
    /// Lowest virtual channel of the leg. On a leg to a group or router, [`NextHops::vc_offset_to_group`] or
    /// [`NextHops::local_vc_offset`] is added.
    pub vc: u8,
    /// Whether a path may start with this leg.
    pub is_first: bool,
    /// Legs that may follow.
    pub next: Vec<usize>,
}

/// The end of a leg.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Goal {
    /// Any router of another group, on minimal paths.
    Group,
    /// Another router of the same group, on minimal paths.
    Router,
    /// One hop towards a group; then the packet decides again.
    HopTowardsGroup,
    /// One hop to a router of another group.
    OtherGroup,
}

/// The settings of all algorithms; each algorithm uses its own.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RoutingSettings {
    /// Threshold, bias and numbers of candidates of UGAL.
    pub adaptive: AdaptiveSettings,
    /// Settings of PAR.
    pub par: ParSettings,
    /// Settings of PB.
    pub piggyback: PiggybackSettings,
    /// Rates and thresholds of Q-adaptive.
    pub q: QSettings,
    /// Deadlock avoidance in the rings of a torus.
    pub torus: TorusSettings,
    /// The order of `torus-deterministic`.
    pub deterministic: DeterministicSettings,
    /// Order, zone and channels of `torus-dynamic`.
    pub dynamic: DynamicSettings,
}

impl RoutingSettings {
    /// The parameters of one algorithm, with defaults for all others.
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

/// An algorithm that can't run on a machine, or a wrong setting.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RoutingError {
    /// No hop-by-hop algorithm has that name.
    #[error("unknown routing algorithm '{name}'{hint}")]
    Unknown {
        /// Requested name.
        name: String,
        /// Nearest known name, or all of them.
        hint: String,
    },
    /// The machine does not fit the algorithm.
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
        /// Key as the user writes it.
        setting: String,
        /// Expected value.
        reason: String,
    },
}

/// Builds an algorithm for a machine from its own part of the settings.
pub type Build = fn(Arc<NextHops>, &RoutingSettings) -> Result<Box<dyn Routing>, RoutingError>;

/// A routing algorithm by name.
#[derive(Clone, Copy, Debug)]
pub struct Algorithm {
    /// Name in files.
    pub name: &'static str,
    /// Description in one line.
    pub doc: &'static str,
    /// Default parameters.
    pub parameters: fn() -> Box<dyn ParameterStruct>,
    /// For engines with a steady state: choice among paths, from the parameters.
    pub paths: Option<fn(&dyn ParameterStruct) -> PathChoice>,
    /// For engines that move packets: builds the hop-by-hop algorithm.
    pub hops: Option<Build>,
    /// Whether the hop-by-hop algorithm needs tables of next hops. If not, [`NextHops::without_tables`] is enough.
    pub uses_tables: bool,
}

/// All algorithms, simple ones first.
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
    /// A hop-by-hop algorithm without parameters.
    const fn hop_by_hop(name: &'static str, doc: &'static str, build: Build) -> Self {
        Self { name, doc, parameters: || Box::new(NoParameters), paths: None, hops: Some(build), uses_tables: true }
    }

    /// The algorithm called `name`.
    pub fn find(name: &str) -> Option<&'static Self> {
        ALGORITHMS.iter().find(|known| known.name == name)
    }

    /// The next hops for the algorithm called `name`, with tables if it needs them.
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

    /// Whether the algorithm called `name` needs tables of next hops; true for unknown names.
    pub fn needs_tables(name: &str) -> bool {
        Self::find(name).is_none_or(|algorithm| algorithm.uses_tables)
    }

    /// Description for parser and reference.
    pub fn named(&self) -> VariantInfo {
        VariantInfo { name: self.name, doc: self.doc, keys: (self.parameters)().keys() }
    }

    /// Choice among paths with default parameters, if the algorithm has one.
    pub fn paths_by_default(&self) -> Option<PathChoice> {
        self.paths.map(|paths| paths(&*(self.parameters)()))
    }
}

/// Builds the hop-by-hop algorithm called `name` on the machine of `hops`.
///
/// # Errors
/// An unknown name, a machine that does not fit the algorithm, or a setting out of range.
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

/// A uniformly random port of a list. A list of one needs no draw.
#[inline]
pub(crate) fn any(ports: &[Port], random: &mut Stream) -> Port {
    match ports {
        [only] => *only,
        _ => ports[random.index(ports.len())],
    }
}
