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
mod by_bandwidth;
mod by_message;
mod channel_kind;
mod crossing;
mod d_mod_k;
mod decision;
mod declaration;
mod detour_condition;
pub mod dimension_order;
mod discipline;
mod ecmp;
mod error;
pub mod expression;
mod forwarding_tables;
mod grid;
mod header;
mod hinted;
mod least;
mod memory;
pub mod min;
mod min_hop;
mod one_path;
mod one_path_rule;
pub mod par;
mod path_choice;
mod piggyback;
pub mod planes;
pub mod q_adaptive;
mod routing;
mod steady;
pub mod torus_adaptive;
pub mod torus_deterministic;
pub mod torus_dynamic;
pub mod ugal;
pub mod up_down;
pub mod up_down_adaptive;
mod up_down_static;
pub mod valiant;
mod vc_counter;
pub mod via_router;
mod zones;

use crate::next_hop::NextHops;
use decision::any;
use declaration::{AnyEngines, Engines};
use least::Least;
use odonata_declare::ParameterStruct;
use std::str::FromStr;

pub use adaptive::{AdaptivePreset, AdaptiveSettings};
pub use by_message::{MessageRoute, Route, Rule};
pub use channel_kind::ChannelKind;
pub use decision::{Decision, Feedback, Hop, ReceivedReport, RouterReport};
pub use declaration::{Algorithm, Machines, Needs, NoParameters, RoutingChoice};
pub use detour_condition::{Quantity, QUANTITIES};
pub use dimension_order::{DeadlockAvoidance, TorusSettings};
pub use discipline::{Discipline, Goal, Leg, Relation, TurnHops, Turns};
pub use error::{Refusal, RoutingError};
pub use expression::{ExpressionSettings, Intermediate};
pub use header::{Header, PathKind, RouteState};
pub use hinted::Ties;
pub use memory::Memory;
pub(crate) use one_path::Flows;
pub use one_path_rule::{EcmpSettings, OnePath, TableSettings};
pub use par::{ParSettings, SecondIntermediate};
pub use path_choice::{PathChoice, UgalPaths};
pub use piggyback::PiggybackSettings;
pub use q_adaptive::QSettings;
pub use routing::{Rings, Routing};
pub use torus_deterministic::DeterministicSettings;
pub use torus_dynamic::DynamicSettings;
pub use zones::{BubbleOrder, Zone};

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
    expression::EXPRESSION,
    dimension_order::DIMENSION_ORDER,
    torus_adaptive::TORUS_ADAPTIVE,
    torus_deterministic::TORUS_DETERMINISTIC,
    torus_dynamic::TORUS_DYNAMIC,
    up_down::UP_DOWN,
    up_down_adaptive::UP_DOWN_ADAPTIVE,
    q_adaptive::Q_ADAPTIVE,
    ecmp::ECMP,
    d_mod_k::D_MOD_K,
    min_hop::MIN_HOP,
    up_down_static::UP_DOWN_STATIC,
    forwarding_tables::FORWARDING_TABLES,
];

impl Algorithm {
    /// The algorithm called `name`.
    pub fn find(name: &str) -> Option<&'static Self> {
        ALGORITHMS.iter().find(|known| known.name == name)
    }

    /// The hop-by-hop algorithms that accept the machine of `hops`, if nothing is missing there.
    pub fn on(hops: &NextHops) -> impl Iterator<Item = &'static Self> + '_ {
        ALGORITHMS.iter().filter(|known| known.has_hops() && known.machines.include(hops))
    }
}

impl OnePath {
    /// The name of the algorithm.
    pub fn name(&self) -> &'static str {
        let is_own = |algorithm: &&Algorithm| match algorithm.with_defaults().paths() {
            Some(PathChoice::OnePath(rule)) => std::mem::discriminant(&rule) == std::mem::discriminant(self),
            _ => false,
        };
        ALGORITHMS.iter().find(is_own).expect("every rule has an algorithm").name
    }
}

/// The hop-by-hop algorithm of a name, with its default parameters.
impl FromStr for RoutingChoice {
    type Err = RoutingError;

    fn from_str(name: &str) -> Result<Self, RoutingError> {
        let unknown = || {
            let known = ALGORITHMS.iter().filter(|algorithm| algorithm.has_hops()).map(|algorithm| algorithm.name);
            RoutingError::Unknown { name: name.to_owned(), hint: odonata_declare::hint(name, known) }
        };
        let found = Algorithm::find(name).filter(|algorithm| algorithm.has_hops());
        found.map(Algorithm::with_defaults).ok_or_else(unknown)
    }
}

impl RoutingChoice {
    /// Reads the file of forwarding tables, if the algorithm has one.
    ///
    /// # Errors
    /// The name of the parameter, and the reason.
    pub fn read_files(&mut self, reader: &mut dyn odonata_declare::Reader) -> Result<(), (&'static str, String)> {
        match self.parameters.as_any_mut().downcast_mut::<TableSettings>() {
            Some(settings) => settings.read(reader),
            None => Ok(()),
        }
    }

    /// The hop-by-hop algorithm called `name` with these parameters, which must be its own.
    ///
    /// # Errors
    /// An unknown name.
    pub fn with(name: &str, parameters: impl ParameterStruct + 'static) -> Result<Self, RoutingError> {
        Ok(Self { parameters: Box::new(parameters), ..name.parse()? })
    }
}
