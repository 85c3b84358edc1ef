//! Placements as the user writes them: a name and parameters.

use super::{compact, FreeNodes};
use crate::{parameters, WorkloadError};
use odonata_units::{NodeId, Stream};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A placement with its parameters. In files its name is the variant's name in kebab case (`random-nodes`).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum PlacementKind {
    /// The first free nodes, router by router.
    Compact {},
}

/// The user's words for a placement.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PlacementSpec {
    /// Which placement, with its parameters.
    #[serde(flatten)]
    pub kind: PlacementKind,
}

struct Known {
    name: &'static str,
    summary: &'static str,
    default: fn() -> PlacementKind,
}

const KNOWN: &[Known] = &[Known {
    name: "compact",
    summary: "the first free nodes, router by router",
    default: || PlacementKind::Compact {},
}];

const NAMES: [&str; KNOWN.len()] = {
    let mut names = [""; KNOWN.len()];
    let mut i = 0;
    while i < KNOWN.len() {
        names[i] = KNOWN[i].name;
        i += 1;
    }
    names
};

impl PlacementSpec {
    /// All placement names.
    pub fn names() -> &'static [&'static str] {
        &NAMES
    }

    /// One line on what placement `name` is.
    ///
    /// # Errors
    /// An unknown name, with the nearest known one.
    pub fn summary(name: &str) -> Result<&'static str, WorkloadError> {
        known(name).map(|known| known.summary)
    }

    /// Placement `name` with its default parameters.
    ///
    /// # Errors
    /// An unknown name, with the nearest known one.
    pub fn parse(name: &str) -> Result<Self, WorkloadError> {
        Ok(Self { kind: (known(name)?.default)() })
    }

    /// Placement `name` with `given` parameters, the others as by default.
    ///
    /// # Errors
    /// An unknown placement or parameter name with the nearest known one; a value of the wrong type or out of range.
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
    /// As [`PlacementSpec::with_parameters`].
    pub fn set(&mut self, parameter: &str, value: &Value) -> Result<(), WorkloadError> {
        *self = parameters::with(&format!("placement '{}'", self.name()), self, parameter, value)?;
        Ok(())
    }

    /// All parameters and their values, those left at their default included.
    pub fn parameters(&self) -> Map<String, Value> {
        parameters::of(self)
    }

    /// Name of the placement.
    pub fn name(&self) -> &'static str {
        match &self.kind {
            PlacementKind::Compact {} => "compact",
        }
    }

    /// The `count` nodes of a job, in the order in which its ranks fill them.
    pub(crate) fn nodes(
        &self,
        free: &FreeNodes<'_>,
        count: usize,
        _stream: &mut Stream,
    ) -> Result<Vec<NodeId>, WorkloadError> {
        Ok(match &self.kind {
            PlacementKind::Compact {} => compact::nodes(free, count),
        })
    }
}

fn known(name: &str) -> Result<&'static Known, WorkloadError> {
    KNOWN
        .iter()
        .find(|known| known.name == name)
        .ok_or_else(|| WorkloadError::unknown("placement", name, NAMES.iter().copied()))
}
