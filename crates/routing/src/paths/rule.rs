//! The path rule of a machine: its trait, demands, errors, and draws that all rules share.

use super::draws::Draws;
use odonata_declare::words;
use odonata_units::{LinkId, RouterId};

/// An amount of traffic between two different routers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Demand {
    /// Source router.
    pub source: RouterId,
    /// Target router.
    pub target: RouterId,
    /// Amount in any unit (bytes, messages, bytes per second).
    pub amount: f64,
}

/// An oblivious rule: paths that do not depend on load.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Oblivious {
    /// Minimal paths: over the cables of [`crate::gateways`], in dimension order, or over the whole graph.
    Minimal,
    /// Equal split over all direct paths.
    Direct,
    /// A random indirect path for every packet.
    Indirect,
}

words! {
    /// Intermediate group or router of an indirect path.
    pub enum Intermediate {
        Third = "third": "a third group: neither the source's nor the target's; inside a group, and on machines \
            without groups, a third router",
        Any = "any": "any group; if it is the source's or the target's, the path is direct; inside a group, and on \
            machines without groups, any router",
    }
}

/// The paths that a routing may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PathSet {
    /// All paths of the machine's rule.
    #[default]
    All,
    /// The shortest paths that go up, then down.
    UpDown,
    /// The minimal paths of a whole torus or mesh, one dimension after the other.
    Torus,
}

impl PathSet {
    /// The paths in a few words, if they are not all of the machine.
    pub const fn limit(self) -> Option<&'static str> {
        match self {
            Self::All => None,
            Self::UpDown => Some("paths go up, then down"),
            Self::Torus => Some("paths are minimal on the torus"),
        }
    }
}

/// A machine without usable paths.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PathError {
    /// Two working routers with nodes, without a path between them.
    #[error(
        "no path from router {from} to router {to}: the machine is cut in pieces; undo the edit or fault, let \
        the cut-off routers fail, too (fail_router in 'edit'), or place no job across it"
    )]
    Unreachable {
        /// Name of the source router.
        from: String,
        /// Name of the target router.
        to: String,
    },
    /// Two working routers with nodes, without a path up and then down.
    #[error(
        "router {from} can't reach router {to} by up and then down links: failed cables cut these paths; use \
         routing = \"min\""
    )]
    NoUpDownPath {
        /// Name of the source router.
        from: String,
        /// Name of the target router.
        to: String,
    },
    /// Up/down paths that are too long for the tables.
    #[error("up/down paths to router {to} have more than 253 hops; use routing = \"min\"")]
    TooLong {
        /// Name of the target router.
        to: String,
    },
    /// A routing of tori on a machine that is none.
    #[error("the routing needs a torus or mesh with all its cables; use routing = \"min\" or \"up-down\"")]
    NoTorus,
    /// The tables of minimal paths are too large.
    #[error(
        "minimal-path tables for {routers} routers need {needed_mib} MiB, more than the limit of {limit_mib} \
        MiB; describe the machine by a family instead of a plain graph"
    )]
    TooLarge {
        /// Number of routers.
        routers: usize,
        /// Size of the tables.
        needed_mib: usize,
        /// Largest size allowed.
        limit_mib: usize,
    },
}

/// A notice about the paths for the user.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Notice(pub String);

/// Paths on one machine. The routers in all calls are up, different, and connected.
pub trait PathRule: Sync + Send {
    /// Appends the links of a random minimal path from `source` to `target`, drawn from the paths of
    /// [`Oblivious::Minimal`] by their shares.
    fn minimal(&self, source: RouterId, target: RouterId, draws: &mut Draws, path: &mut Vec<LinkId>);

    /// Appends the links of a random direct path from `source` to `target`.
    fn direct(&self, source: RouterId, target: RouterId, draws: &mut Draws, path: &mut Vec<LinkId>);

    /// Appends the links of a random indirect path from `source` to `target`. The path is direct if [`Intermediate`]
    /// says so, or if there is no other router.
    fn indirect(&self, source: RouterId, target: RouterId, draws: &mut Draws, path: &mut Vec<LinkId>);

    /// Adds to `loads` (one value per link) the expected load of `demands` under `rule`. Exact, except for rules that
    /// average draws.
    fn spread(&self, demands: &[Demand], rule: Oblivious, loads: &mut [f64]);

    /// Router-to-router hops of a minimal path.
    fn distance(&self, source: RouterId, target: RouterId) -> u32;
}

/// A random router of `routers` other than `source` and `target`, which are both in it. `routers` is ascending and
/// has three or more.
#[inline]
pub(crate) fn draw_other(routers: &[RouterId], source: RouterId, target: RouterId, draws: &Draws) -> RouterId {
    let mut index = draws.turn(routers.len() - 2);
    for skip in [source.min(target), source.max(target)] {
        index += usize::from(routers[index] >= skip);
    }
    routers[index]
}

/// Adds the expected load of a rule without a closed form: the mean over `draws_per_demand` stratified draws of each
/// demand.
pub(crate) fn spread_by_draws(
    demands: &[Demand],
    loads: &mut [f64],
    draws_per_demand: u32,
    draw: impl Fn(RouterId, RouterId, &mut Draws, &mut Vec<LinkId>),
) {
    let mut path = Vec::new();
    for (i, demand) in demands.iter().enumerate() {
        let share = demand.amount / f64::from(draws_per_demand);
        for turn in 0..draws_per_demand {
            path.clear();
            let mut draws = Draws::new(0, i as u64, turn);
            draw(demand.source, demand.target, &mut draws, &mut path);
            for link in &path {
                loads[link.index()] += share;
            }
        }
    }
}
