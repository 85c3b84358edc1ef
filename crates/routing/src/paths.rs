//! Whole paths between routers.
//!
//! A [`PathRule`] is created once per machine and has two uses:
//!
//! * Draw a path: [`PathRule::minimal`], [`PathRule::direct`] and [`PathRule::indirect`] append the links of a random
//!   path. The same [`Draws`] give the same path, so a path can be drawn again instead of stored.
//! * Compute the expected load of an oblivious rule: [`PathRule::spread`] adds the mean load of demands on every
//!   link, without random draws.
//!
//! | rule | machines | minimal | direct | indirect |
//! |---|---|---|---|---|
//! | [`GroupedPaths`] | dragonfly, Cascade | over the global links on minimal paths | leg to any gateway, one global link, leg | via a random router of a random third group, or of any group ([`Intermediate`]) |
//! | [`TorusPaths`] | torus, mesh | in dimension order | dimension by dimension, in any order | via a random router |
//! | [`UpDownPaths`] | any, for up/down routings | the shortest paths that go up, then down | the same | the same |
//! | [`GraphPaths`] | fat tree, any graph | hop by hop on minimal paths | the same | via a random router |
//!
//! Of parallel cables, a rule draws each as often as the others. [`by_bandwidth`] changes that where they are unequal.
//!
//! If faults break the structure that a rule needs, the machine gets the [`GraphPaths`] rule and a [`Notice`].

mod by_bandwidth;
mod draws;
mod graph;
mod grouped;
mod planes;
mod rule;
mod torus;
mod up_down;

pub use by_bandwidth::by_bandwidth;
pub use draws::Draws;
pub use graph::GraphPaths;
pub use grouped::GroupedPaths;
pub use rule::{Demand, Intermediate, Notice, Oblivious, PathError, PathRule, PathSet};
pub use torus::TorusPaths;
pub use up_down::UpDownPaths;

use odonata_machine::{Machine, Shape};

/// The rule for the paths of `set` on a machine, with indirect paths through `intermediate`, and notices for the user.
///
/// # Errors
/// See [`path_rule`]; also a machine without the paths of the set.
pub fn path_rule_of(
    machine: &Machine,
    set: PathSet,
    intermediate: Intermediate,
) -> Result<(Box<dyn PathRule + '_>, Vec<Notice>), PathError> {
    if !machine.planes().is_empty() {
        return planes::path_rule(machine, |plane| path_rule_of(plane, set, intermediate));
    }
    match set {
        PathSet::All => path_rule(machine, intermediate),
        PathSet::UpDown => Ok((Box::new(UpDownPaths::new(machine)?), Vec::new())),
        PathSet::Torus => match TorusPaths::new(machine, intermediate) {
            Some(rule) => Ok((Box::new(rule), Vec::new())),
            None => Err(PathError::NoTorus),
        },
    }
}

/// The rule for a machine, with indirect paths through `intermediate`, and notices for the user.
///
/// # Errors
/// A working router without a path to another one, or a graph too large for the tables.
pub fn path_rule(
    machine: &Machine,
    intermediate: Intermediate,
) -> Result<(Box<dyn PathRule + '_>, Vec<Notice>), PathError> {
    if !machine.planes().is_empty() {
        return planes::path_rule(machine, |plane| path_rule(plane, intermediate));
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
                "faults or edits break the regular structure of the machine: all direct paths are minimal paths of \
                 the whole graph"
                    .into(),
            );
            Ok((Box::new(GraphPaths::new(machine, intermediate)?), vec![notice]))
        }
    }
}
