//! The messages of one phase of one level of an algebraic multigrid hierarchy, read from its message lists.

use super::{PatternContext, PatternRule, Silent};
use crate::{CommunicationGraph, Pattern, WorkloadError};
use odonata_declare::{parameter, words, Kind, Parameter, Parameters};
use std::sync::Arc;

words! {
    /// What a level's messages are sent for.
    #[derive(Default)]
    pub enum AmgPhase {
        #[default]
        Smooth = "smooth": "one product with the level's matrix; a cycle has three on each level",
        Restrict = "restrict": "to the next coarser level",
        Interpolate = "interpolate": "to the next finer level",
        Coarsen = "coarsen": "choosing coarse points and interpolation, in the set-up; needs a hierarchy made with `--record`",
        Galerkin = "galerkin": "the triple matrix product, in the set-up; needs a hierarchy made with `--record`",
    }
}

impl AmgPhase {
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
#[derive(Clone, PartialEq, Eq, Debug, Default)]
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
    pub messages: AmgMessages,
}

impl Parameters for AmgPatternParameters {
    const PARAMETERS: &'static [Parameter<Self>] = &[
        parameter!(
            hierarchy,
            Kind::KnownOrPath("hierarchies"),
            "A directory of `odonata amg hierarchy`, a table of levels (JSON, CSV, Parquet) or of messages (CSV, Parquet), or the name \
             of a hierarchy that comes with the package. Tables of levels have no messages: only the model engine can use them.",
            required,
        ),
        parameter!(level, Kind::count(0), "The level, the finest being 0."),
        parameter!(phase, AmgPhase::KIND, "What is sent."),
        parameter!(regrouped, Kind::Flag, "Whether to take the levels that follow the redistribution with which the directory was made."),
    ];
}

impl PatternRule for AmgPatternParameters {
    fn build(&self, owner: &str, context: &PatternContext<'_>) -> Result<Arc<dyn Pattern>, WorkloadError> {
        pattern_for(owner, self, context.ranks)
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
