//! The declaration of an algorithm: name, parameters, needs, and the engines that take it.

use super::error::{Refusal, RoutingError};
use super::path_choice::PathChoice;
use super::routing::Routing;
use crate::next_hop::{NextHops, UnreachableError};
use crate::paths::PathSet;
use odonata_declare::{parameters, ParameterStruct, Parameters, VariantInfo};
use odonata_machine::{Machine, Shape};
use std::sync::Arc;

/// What a hop-by-hop algorithm needs of an engine. Without a need, the engine saves the work for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Needs {
    /// Tables of next hops. Without them, [`NextHops::without_tables`] is enough.
    pub tables: bool,
    /// The load. [`Routing::reads_load`] says for which packets.
    pub load: bool,
    /// Reports between routers about packets: [`Routing::learn`] and [`Routing::report_arrival`].
    pub reports: bool,
    /// Estimates that a run can start from and end with: [`Routing::estimates`].
    pub estimates: bool,
    /// The message of a packet: [`Routing::initial_state`].
    pub messages: bool,
    /// Tables of its own, without next hops. They may need more channels than one per leg, too.
    pub own_tables: bool,
    /// Names of routers and nodes: [`NextHops::machine`].
    pub names: bool,
}

impl Needs {
    /// Positions only.
    pub const NONE: Self = Self {
        tables: false,
        load: false,
        reports: false,
        estimates: false,
        messages: false,
        own_tables: false,
        names: false,
    };
    /// Tables of next hops.
    pub const TABLES: Self = Self { tables: true, ..Self::NONE };
    /// Tables of next hops, and the load.
    pub const LOAD: Self = Self { load: true, ..Self::TABLES };
    /// One path per flow.
    pub const ONE_PATH: Self = Self { own_tables: true, ..Self::NONE };
}

/// Machines, with nothing missing, that a hop-by-hop algorithm accepts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Machines {
    /// All machines.
    Any,
    /// Machines of at least three groups.
    Groups,
    /// Machines without groups, of at least three routers.
    WithoutGroups,
    /// Machines with a third group or, without groups, a third router.
    WithIntermediate,
    /// Tori and meshes.
    Grids,
    /// Trees with levels.
    Trees,
    /// The machine of the file that the parameters name.
    Listed,
}

impl Machines {
    /// Whether the machine is one of these.
    pub fn include(self, hops: &NextHops) -> bool {
        match self {
            Self::Any => true,
            Self::Groups => hops.groups() > 2,
            Self::WithoutGroups => hops.groups() == 1 && hops.routers() > 2,
            Self::WithIntermediate => Self::Groups.include(hops) || Self::WithoutGroups.include(hops),
            Self::Grids => matches!(hops.shape(), Shape::Torus { .. }),
            Self::Trees => matches!(hops.shape(), Shape::FatTree { .. }),
            Self::Listed => false,
        }
    }

    /// The machines, for the reference.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::Groups => "three groups or more",
            Self::WithoutGroups => "without groups",
            Self::WithIntermediate => "three groups or more, or without groups",
            Self::Grids => "torus, mesh",
            Self::Trees => "fat tree",
            Self::Listed => "the one of the file",
        }
    }
}

/// Builds a hop-by-hop algorithm for a machine from its parameters.
pub(super) type Build<P> = fn(Arc<NextHops>, &P) -> Result<Box<dyn Routing>, Refusal>;

/// The choice among paths that an algorithm stands for, from its parameters.
pub(super) type Choose<P> = fn(&P) -> PathChoice;

/// What engines get from an algorithm with parameters `P`.
#[derive(Debug)]
pub(super) struct Engines<P> {
    /// For engines with a steady state: the paths, and the choice among them.
    pub(super) paths: Option<(PathSet, Choose<P>)>,
    /// For engines that move packets: the hop-by-hop algorithm.
    pub(super) hops: Option<Build<P>>,
}

impl<P> Engines<P> {
    /// For engines with a steady state only.
    pub(super) const fn paths(paths: Choose<P>) -> Self {
        Self { paths: Some((PathSet::All, paths)), hops: None }
    }

    /// For engines that move packets only.
    pub(super) const fn hops(build: Build<P>) -> Self {
        Self { paths: None, hops: Some(build) }
    }

    /// For both kinds of engines.
    pub(super) const fn both(set: PathSet, paths: Choose<P>, build: Build<P>) -> Self {
        Self { paths: Some((set, paths)), hops: Some(build) }
    }
}

/// [`Engines`] with parameters of any type.
pub(super) trait AnyEngines: std::fmt::Debug + Sync {
    fn take_hops(&self) -> bool;
    fn parameters(&self) -> Box<dyn ParameterStruct>;
    fn path_set(&self) -> Option<PathSet>;
    fn paths(&self, parameters: &dyn ParameterStruct) -> Option<PathChoice>;
    fn build(&self, hops: Arc<NextHops>, parameters: &dyn ParameterStruct) -> Result<Box<dyn Routing>, Refusal>;
}

impl<P: Parameters + Default> AnyEngines for Engines<P> {
    fn take_hops(&self) -> bool {
        self.hops.is_some()
    }

    fn parameters(&self) -> Box<dyn ParameterStruct> {
        Box::new(P::default())
    }

    fn path_set(&self) -> Option<PathSet> {
        self.paths.map(|(set, _)| set)
    }

    fn paths(&self, parameters: &dyn ParameterStruct) -> Option<PathChoice> {
        self.paths.map(|(_, choice)| choice(own(parameters)))
    }

    fn build(&self, hops: Arc<NextHops>, parameters: &dyn ParameterStruct) -> Result<Box<dyn Routing>, Refusal> {
        self.hops.expect("an algorithm for engines that move packets")(hops, own(parameters))
    }
}

fn own<P: Parameters>(parameters: &dyn ParameterStruct) -> &P {
    parameters.as_any().downcast_ref().expect("the parameters of this algorithm")
}

/// A routing algorithm.
#[derive(Clone, Copy, Debug)]
pub struct Algorithm {
    /// Name in files.
    pub name: &'static str,
    /// Description in one line.
    pub doc: &'static str,
    /// Machines that it accepts. Engines with a steady state need them only for [`PathChoice::OnePath`]; their other
    /// paths take any machine.
    pub machines: Machines,
    /// What it needs of an engine that moves packets.
    pub needs: Needs,
    pub(super) engines: &'static dyn AnyEngines,
}

impl Algorithm {
    /// Whether engines with a steady state take it.
    pub fn has_paths(&self) -> bool {
        self.path_set().is_some()
    }

    /// The paths that messages choose among, for engines with a steady state.
    pub fn path_set(&self) -> Option<PathSet> {
        self.engines.path_set()
    }

    /// Whether engines that move packets take it.
    pub fn has_hops(&self) -> bool {
        self.engines.take_hops()
    }

    /// Description for parser and reference.
    pub fn named(&self) -> VariantInfo {
        VariantInfo { name: self.name, doc: self.doc, keys: self.engines.parameters().keys() }
    }

    /// The algorithm with its default parameters.
    pub fn with_defaults(&self) -> RoutingChoice {
        RoutingChoice { algorithm: *self, parameters: self.engines.parameters() }
    }
}

/// An algorithm with its parameters, as a user chose it.
#[derive(Debug)]
pub struct RoutingChoice {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// Its parameters.
    pub parameters: Box<dyn ParameterStruct>,
}

impl RoutingChoice {
    /// How messages choose among paths, for engines with a steady state.
    pub fn paths(&self) -> Option<PathChoice> {
        self.algorithm.engines.paths(&*self.parameters)
    }

    /// The next hops for the algorithm, with tables if it needs them.
    ///
    /// # Errors
    /// If two working routers can't reach each other.
    pub fn next_hops(&self, machine: &Machine) -> Result<NextHops, UnreachableError> {
        if self.algorithm.needs.tables {
            NextHops::new(machine)
        } else {
            let hops = NextHops::without_tables(machine);
            Ok(if self.algorithm.needs.names { hops.with_machine(machine) } else { hops })
        }
    }

    /// Builds the hop-by-hop algorithm on the machine of `hops`.
    ///
    /// # Errors
    /// A machine that does not fit the algorithm, or a parameter out of range.
    ///
    /// # Panics
    /// If engines that move packets do not take the algorithm.
    pub fn build(&self, hops: Arc<NextHops>) -> Result<Box<dyn Routing>, RoutingError> {
        let values = self.parameters.values();
        for key in self.parameters.keys() {
            let value = values.iter().find(|(name, _)| *name == key.name);
            if let Some(Err(expected)) = value.map(|(_, value)| key.kind.accept(value)) {
                return Err(Refusal::Setting(key.name, expected).of(self.algorithm.name));
            }
        }
        let built = self.algorithm.engines.build(hops, &*self.parameters);
        built.map_err(|refusal| refusal.of(self.algorithm.name))
    }
}

parameters! {
    /// The parameters of an algorithm without parameters.
    pub struct NoParameters {}
}
