//! Whole paths from router to router.
//!
//! A [`PathRule`] is made once for a machine and answers two questions:
//!
//! * *Draw* one path: [`PathRule::minimal`], [`PathRule::direct`] and [`PathRule::indirect`] append the links of a random path. The same
//!   [`Draws`] give the same path, so a path can be drawn again instead of stored.
//! * *Expect* the load of an oblivious rule: [`PathRule::spread`] adds, without dice, the mean load that demands put
//!   on every link.
//!
//! | rule | machines | minimal | direct | indirect |
//! |---|---|---|---|---|
//! | [`GroupedPaths`] | dragonfly, Cascade | over the global links on shortest paths | leg to any gateway, one global link, leg | through a random router of a random third group, or of any ([`Intermediate`]) |
//! | [`TorusPaths`] | torus, mesh | in dimension order | dimension by dimension, in any order | through a random router |
//! | [`GraphPaths`] | fat tree, any graph | hop by hop along shortest paths | the same | through a random router |
//!
//! A machine whose faults break the structure that a rule relies on gets the [`GraphPaths`] rule, and a [`Notice`] says so.

mod draws;
mod graph;
mod grouped;
mod planes;
mod torus;

pub use draws::Draws;
pub use graph::GraphPaths;
pub use grouped::GroupedPaths;
pub use torus::TorusPaths;

use odonata_declare::words;
use odonata_machine::{Machine, Shape};
use odonata_units::{LinkId, RouterId};

/// An amount to bring from one router to another; `source` and `target` differ.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Demand {
    /// Router where it starts.
    pub source: RouterId,
    /// Router where it ends.
    pub target: RouterId,
    /// How much, in any unit (bytes, messages, bytes per second).
    pub amount: f64,
}

/// An oblivious rule: paths that do not depend on load.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Oblivious {
    /// Shortest paths: over the cables that [`crate::gateways`] says, in dimension order, or over all of a graph.
    Minimal,
    /// Equal split over all direct paths.
    Direct,
    /// Every packet its own random indirect path.
    Indirect,
}

words! {
    /// Where an indirect path goes through.
    pub enum Intermediate {
        Third = "third": "a third group: neither the source's nor the target's; inside a group, and on machines without groups, a third router",
        Any = "any": "any group; if it is the source's or the target's, the path is a direct one; inside a group, and on machines without groups, any router",
    }
}

/// Why a machine can't be routed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PathError {
    /// Two working routers with nodes and no path between them.
    #[error("no path from router {from} to router {to}: the machine is cut in pieces; take back the edit or fault that cut it, or place no job across it")]
    Unreachable {
        /// Name of the source router.
        from: String,
        /// Name of the target router.
        to: String,
    },
    /// The tables of shortest paths would not fit.
    #[error("shortest-path tables for {routers} routers need {needed_mib} MiB, more than the limit of {limit_mib} MiB; describe the machine by a family instead of a plain graph")]
    TooLarge {
        /// Number of routers.
        routers: usize,
        /// Size of the tables.
        needed_mib: usize,
        /// Largest size allowed.
        limit_mib: usize,
    },
}

/// Something about the paths that a user should know.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Notice(pub String);

/// Direct and indirect paths on one machine. Routers given to it are up, differ, and are connected.
pub trait PathRule: Sync + Send {
    /// Appends the links of a random shortest path from `source` to `target`: of those that [`Oblivious::Minimal`] spreads
    /// over, each as likely as its share.
    fn minimal(&self, source: RouterId, target: RouterId, draws: &mut Draws, path: &mut Vec<LinkId>);

    /// Appends the links of a random direct path from `source` to `target`.
    fn direct(&self, source: RouterId, target: RouterId, draws: &mut Draws, path: &mut Vec<LinkId>);

    /// Appends the links of a random indirect path from `source` to `target`; a direct one where [`Intermediate`] says so, or the
    /// machine has no router to go through.
    fn indirect(&self, source: RouterId, target: RouterId, draws: &mut Draws, path: &mut Vec<LinkId>);

    /// Adds to `loads` (one value per link) the expected load of `demands` under `rule`. Exact unless the rule says
    /// that it averages draws.
    fn spread(&self, demands: &[Demand], rule: Oblivious, loads: &mut [f64]);

    /// Router-to-router hops of a shortest path.
    fn distance(&self, source: RouterId, target: RouterId) -> u32;
}

/// The rule for a machine, with indirect paths through `intermediate`, and what the user should know about it.
///
/// # Errors
/// A working router that can't be reached from another one, or a graph too large for shortest-path tables.
pub fn path_rule(
    machine: &Machine,
    intermediate: Intermediate,
) -> Result<(Box<dyn PathRule + '_>, Vec<Notice>), PathError> {
    if !machine.planes().is_empty() {
        return planes::path_rule(machine, intermediate);
    }
    let structured: Option<Box<dyn PathRule + '_>> = match machine.shape() {
        Shape::Grouped { .. } if grouped::has_equal_groups(machine) => {
            GroupedPaths::<true>::new(machine, intermediate).map(|rule| Box::new(rule) as _)
        }
        Shape::Grouped { .. } => GroupedPaths::<false>::new(machine, intermediate).map(|rule| Box::new(rule) as _),
        Shape::Torus { .. } => TorusPaths::new(machine, intermediate).map(|rule| Box::new(rule) as _),
        Shape::FatTree { .. } | Shape::Graph => {
            return Ok((Box::new(GraphPaths::new(machine, intermediate)?), Vec::new()))
        }
    };
    match structured {
        Some(rule) => Ok((rule, Vec::new())),
        None => {
            let notice = Notice(
                "faults or edits break the regular structure of the machine: all direct paths are shortest paths of the \
                 whole graph"
                    .into(),
            );
            Ok((Box::new(GraphPaths::new(machine, intermediate)?), vec![notice]))
        }
    }
}

/// A random one of `routers` (ascending, three or more) that is neither `source` nor `target`, which are among them.
#[inline]
pub(crate) fn draw_other(routers: &[RouterId], source: RouterId, target: RouterId, draws: &Draws) -> RouterId {
    let mut index = draws.turn(routers.len() - 2);
    for skip in [source.min(target), source.max(target)] {
        index += usize::from(routers[index] >= skip);
    }
    routers[index]
}

/// Adds the expected load of a rule that has no closed form here, as the mean over `draws_per_demand` stratified
/// draws of each demand.
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
