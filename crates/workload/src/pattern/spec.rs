//! Patterns as the user writes them: a name and parameters.

use super::all_to_all::{AllToAll, AllToAllParameters};
use super::stencil::{Stencil, StencilParameters};
use super::{Pattern, PatternContext};
use crate::{parameters, WorkloadError};
use odonata_units::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::Arc;

/// A pattern with its parameters. In files its name is the variant's name in kebab case (`stencil-2d`).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "name")]
pub enum PatternKind {
    /// 4 neighbours on a plane.
    #[serde(rename = "stencil-2d")]
    Stencil2d(StencilParameters),
    /// 6 neighbours in space.
    #[serde(rename = "stencil-3d")]
    Stencil3d(StencilParameters),
    /// 8 neighbours in four dimensions.
    #[serde(rename = "stencil-4d")]
    Stencil4d(StencilParameters),
    /// Everyone to everyone.
    #[serde(rename = "all-to-all")]
    AllToAll(AllToAllParameters),
}

/// A known pattern: its name, what it is, and the parameters it has when none are given.
struct Known {
    name: &'static str,
    summary: &'static str,
    default: fn() -> PatternKind,
}

const KNOWN: &[Known] = &[
    Known {
        name: "stencil-2d",
        summary: "4 neighbours on a 2D process grid",
        default: || PatternKind::Stencil2d(StencilParameters { bytes: Bytes::kib(64), dims: None, periodic: true }),
    },
    Known {
        name: "stencil-3d",
        summary: "6 neighbours on a 3D process grid",
        default: || PatternKind::Stencil3d(StencilParameters { bytes: Bytes::kib(576), dims: None, periodic: true }),
    },
    Known {
        name: "stencil-4d",
        summary: "8 neighbours on a 4D process grid",
        default: || PatternKind::Stencil4d(StencilParameters { bytes: Bytes::mib(4), dims: None, periodic: true }),
    },
    Known {
        name: "all-to-all",
        summary: "each rank to every other",
        default: || PatternKind::AllToAll(AllToAllParameters { bytes: Bytes::kib(32) }),
    },
];

const NAMES: [&str; KNOWN.len()] = {
    let mut names = [""; KNOWN.len()];
    let mut i = 0;
    while i < KNOWN.len() {
        names[i] = KNOWN[i].name;
        i += 1;
    }
    names
};

/// The user's words for a pattern.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PatternSpec {
    /// Which pattern, with its parameters.
    #[serde(flatten)]
    pub kind: PatternKind,
    /// How often every rank sends its messages.
    pub iterations: u32,
}

impl PatternSpec {
    /// All pattern names.
    pub fn names() -> &'static [&'static str] {
        &NAMES
    }

    /// One line on what pattern `name` is.
    ///
    /// # Errors
    /// An unknown name, with the nearest known one.
    pub fn summary(name: &str) -> Result<&'static str, WorkloadError> {
        known(name).map(|known| known.summary)
    }

    /// Pattern `name` with its default parameters.
    ///
    /// # Errors
    /// An unknown name, with the nearest known one.
    pub fn parse(name: &str) -> Result<Self, WorkloadError> {
        Ok(Self { kind: (known(name)?.default)(), iterations: 1 })
    }

    /// Pattern `name` with `given` parameters, the others as by default.
    ///
    /// # Errors
    /// An unknown pattern or parameter name with the nearest known one; a value of the wrong type or out of range.
    pub fn with_parameters(name: &str, given: &Map<String, Value>) -> Result<Self, WorkloadError> {
        let mut spec = Self::parse(name)?;
        for (parameter, value) in given {
            spec.set(parameter, value)?;
        }
        Ok(spec)
    }

    /// Sets one parameter.
    ///
    /// # Errors
    /// As [`PatternSpec::with_parameters`].
    pub fn set(&mut self, parameter: &str, value: &Value) -> Result<(), WorkloadError> {
        *self = parameters::with(&format!("pattern '{}'", self.name()), self, parameter, value)?;
        Ok(())
    }

    /// All parameters and their values, those left at their default included.
    pub fn parameters(&self) -> Map<String, Value> {
        parameters::of(self)
    }

    /// Name of the pattern.
    pub fn name(&self) -> &'static str {
        match &self.kind {
            PatternKind::Stencil2d(_) => "stencil-2d",
            PatternKind::Stencil3d(_) => "stencil-3d",
            PatternKind::Stencil4d(_) => "stencil-4d",
            PatternKind::AllToAll(_) => "all-to-all",
        }
    }

    pub(crate) fn build(&self, context: &PatternContext<'_>) -> Result<Arc<dyn Pattern>, WorkloadError> {
        let owner = format!("job '{}': pattern '{}'", context.job, self.name());
        Ok(match &self.kind {
            PatternKind::Stencil2d(p) => Arc::new(Stencil::new(&owner, 2, p, context)?),
            PatternKind::Stencil3d(p) => Arc::new(Stencil::new(&owner, 3, p, context)?),
            PatternKind::Stencil4d(p) => Arc::new(Stencil::new(&owner, 4, p, context)?),
            PatternKind::AllToAll(p) => Arc::new(AllToAll::new(p, context)),
        })
    }
}

fn known(name: &str) -> Result<&'static Known, WorkloadError> {
    KNOWN
        .iter()
        .find(|known| known.name == name)
        .ok_or_else(|| WorkloadError::unknown("pattern", name, NAMES.iter().copied()))
}
