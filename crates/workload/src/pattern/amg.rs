//! The messages of one phase of one level of an algebraic multigrid hierarchy, read from its message lists.

use super::Silent;
use crate::{CommunicationGraph, Pattern, WorkloadError};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What a level's messages are sent for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AmgPhase {
    /// One product with the level's matrix; a cycle has three.
    #[default]
    Smooth,
    /// To the next coarser level.
    Restrict,
    /// From this level to the next finer one.
    Interpolate,
    /// Choosing the coarse points and building the interpolation, in the set-up.
    Coarsen,
    /// The product of three matrices that makes the next coarser one, in the set-up.
    Galerkin,
}

impl AmgPhase {
    /// All phases, those of a cycle first.
    pub const ALL: [Self; 5] = [Self::Smooth, Self::Restrict, Self::Interpolate, Self::Coarsen, Self::Galerkin];

    /// Its name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Smooth => "smooth",
            Self::Restrict => "restrict",
            Self::Interpolate => "interpolate",
            Self::Coarsen => "coarsen",
            Self::Galerkin => "galerkin",
        }
    }

    /// Whether it belongs to the set-up, which is recorded message by message instead of following from operators.
    pub const fn in_setup(self) -> bool {
        matches!(self, Self::Coarsen | Self::Galerkin)
    }
}

/// What a hierarchy says of who sends what.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum AmgMessages {
    /// Nobody looked yet.
    #[default]
    Unread,
    /// It is a level table without message lists: only a closed form can use it.
    LevelsOnly,
    /// The messages of the level and phase.
    Read(Arc<CommunicationGraph>),
}

/// Parameters of `amg`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct AmgPatternParameters {
    /// Name or path as the user gives it. This crate reads no files: whoever resolves it attaches the messages.
    pub hierarchy: String,
    /// Level, the finest being 0.
    pub level: u32,
    /// What is sent.
    pub phase: AmgPhase,
    /// Whether to take the levels that follow a redistribution.
    pub regrouped: bool,
    /// What was read.
    #[serde(skip)]
    pub messages: AmgMessages,
}

impl AmgPatternParameters {
    /// Whether both name the same messages.
    pub(super) fn names_the_same(&self, other: &Self) -> bool {
        (&self.hierarchy, self.level, self.phase, self.regrouped)
            == (&other.hierarchy, other.level, other.phase, other.regrouped)
    }
}

/// The messages as the pattern of a job of `ranks` ranks.
pub(super) fn pattern_for(
    owner: &str,
    parameters: &AmgPatternParameters,
    ranks: u32,
) -> Result<Arc<dyn Pattern>, WorkloadError> {
    let wrong = |reason: String| Err(WorkloadError::parameter(owner, "hierarchy", reason));
    match &parameters.messages {
        AmgMessages::Unread if parameters.hierarchy.is_empty() => {
            wrong("missing; write the name of a hierarchy or the path of its directory".into())
        }
        AmgMessages::Unread => wrong(format!("no hierarchy was read from '{}'", parameters.hierarchy)),
        AmgMessages::LevelsOnly => Ok(Arc::new(Silent { ranks })),
        AmgMessages::Read(graph) => match graph.ranks().cmp(&ranks) {
            std::cmp::Ordering::Less => Ok(Arc::new(graph.widened(ranks))),
            std::cmp::Ordering::Equal => Ok(graph.clone()),
            std::cmp::Ordering::Greater => {
                wrong(format!("'{}' has {} ranks, but the job has {ranks}", parameters.hierarchy, graph.ranks()))
            }
        },
    }
}
