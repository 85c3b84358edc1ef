//! Patterns as the user writes them: a name and parameters.

use super::adversarial::{Adversarial, AdversarialParameters};
use super::all_to_all::{AllToAll, AllToAllParameters};
use super::amg::{pattern_for, AmgMessages, AmgPatternParameters};
use super::bit_complement::{BitComplement, BitComplementParameters};
use super::bit_reverse::{BitReverse, BitReverseParameters};
use super::file::{graph_for, FilePatternParameters};
use super::hotspot::{Hotspot, HotspotParameters};
use super::many_to_many::{ManyToMany, ManyToManyParameters};
use super::random_neighbors::{RandomNeighbors, RandomNeighborsParameters};
use super::random_permutation::{RandomPermutation, RandomPermutationParameters};
use super::stencil::{Stencil, StencilParameters};
use super::tornado::{Tornado, TornadoParameters};
use super::transpose::{Transpose, TransposeParameters};
use super::umesh::{Umesh, UmeshParameters};
use super::uniform::{Uniform, UniformParameters};
use super::{Pattern, PatternContext};
use crate::parameters::{self, Known};
use crate::{CommunicationGraph, WorkloadError};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::Arc;

/// A pattern with its parameters. In files its name is the variant's name in kebab case (`stencil-2d`).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
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
    /// All-to-alls within groups.
    ManyToMany(ManyToManyParameters),
    /// Random neighbours, with the figures of the Damselfly papers.
    Spread(RandomNeighborsParameters),
    /// Near neighbours.
    Umesh(UmeshParameters),
    /// Uniformly random receivers.
    Uniform(UniformParameters),
    /// Receivers in the i-th next group.
    Adversarial(AdversarialParameters),
    /// Receivers just less than half-way around.
    Tornado(TornadoParameters),
    /// Matrix transpose.
    Transpose(TransposeParameters),
    /// The rank with inverted bits.
    BitComplement(BitComplementParameters),
    /// The rank with reversed bits.
    BitReverse(BitReverseParameters),
    /// Everyone to one other rank, drawn once.
    RandomPermutation(RandomPermutationParameters),
    /// A share of the messages to a few ranks.
    Hotspot(HotspotParameters),
    /// Everyone to everyone.
    AllToAll(AllToAllParameters),
    /// Random neighbours, with the figures of the interference study.
    RandomNeighbors(RandomNeighborsParameters),
    /// One phase of one level of an algebraic multigrid hierarchy.
    Amg(AmgPatternParameters),
    /// A communication graph from a file.
    File(FilePatternParameters),
}

const KNOWN: &[Known<PatternKind>] = &[
    Known {
        name: "stencil-2d",
        summary: "4 neighbours on a 2D process grid",
        default: || PatternKind::Stencil2d(StencilParameters::default_2d()),
    },
    Known {
        name: "stencil-3d",
        summary: "6 neighbours on a 3D process grid",
        default: || PatternKind::Stencil3d(StencilParameters::default_3d()),
    },
    Known {
        name: "stencil-4d",
        summary: "8 neighbours on a 4D process grid",
        default: || PatternKind::Stencil4d(StencilParameters::default_4d()),
    },
    Known {
        name: "many-to-many",
        summary: "all-to-alls within groups of 16, 32 or 64 ranks",
        default: || PatternKind::ManyToMany(ManyToManyParameters::default()),
    },
    Known {
        name: "spread",
        summary: "6 to 27 random neighbours each (Damselfly's background noise)",
        default: || PatternKind::Spread(RandomNeighborsParameters::default_spread()),
    },
    Known {
        name: "umesh",
        summary: "unstructured mesh: 6 to 27 neighbours near in rank",
        default: || PatternKind::Umesh(UmeshParameters::default()),
    },
    Known {
        name: "uniform",
        summary: "every message to a uniformly random other rank",
        default: || PatternKind::Uniform(UniformParameters::default()),
    },
    Known {
        name: "adversarial",
        summary: "everyone to the group `offset` further (ADV+i)",
        default: || PatternKind::Adversarial(AdversarialParameters::default()),
    },
    Known {
        name: "tornado",
        summary: "everyone just less than half-way around",
        default: || PatternKind::Tornado(TornadoParameters::default()),
    },
    Known {
        name: "transpose",
        summary: "matrix transpose: rank (i, j) to (j, i)",
        default: || PatternKind::Transpose(TransposeParameters::default()),
    },
    Known {
        name: "bit-complement",
        summary: "rank r of n to n - 1 - r",
        default: || PatternKind::BitComplement(BitComplementParameters::default()),
    },
    Known {
        name: "bit-reverse",
        summary: "the rank with the bits of the sender in the opposite order",
        default: || PatternKind::BitReverse(BitReverseParameters::default()),
    },
    Known {
        name: "random-permutation",
        summary: "everyone to one other rank and from one, drawn once",
        default: || PatternKind::RandomPermutation(RandomPermutationParameters::default()),
    },
    Known {
        name: "hotspot",
        summary: "a share of the messages to a few hot ranks, the rest uniform",
        default: || PatternKind::Hotspot(HotspotParameters::default()),
    },
    Known {
        name: "all-to-all",
        summary: "each rank to every other",
        default: || PatternKind::AllToAll(AllToAllParameters::default()),
    },
    Known {
        name: "random-neighbors",
        summary: "6 to 20 random neighbours each",
        default: || PatternKind::RandomNeighbors(RandomNeighborsParameters::default_random()),
    },
    Known {
        name: "amg",
        summary: "one phase of one level of an algebraic multigrid hierarchy",
        default: || PatternKind::Amg(AmgPatternParameters::default()),
    },
    Known {
        name: "file",
        summary: "a communication graph from a file",
        default: || PatternKind::File(FilePatternParameters::default()),
    },
];

const NAMES: [&str; KNOWN.len()] = parameters::names(KNOWN);

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
        parameters::find("pattern", name, KNOWN).map(|known| known.summary)
    }

    /// Pattern `name` with its default parameters.
    ///
    /// # Errors
    /// An unknown name, with the nearest known one.
    pub fn parse(name: &str) -> Result<Self, WorkloadError> {
        let known = parameters::find("pattern", name, KNOWN)?;
        Ok(Self { kind: (known.default)(), iterations: 1 })
    }

    /// Pattern `name` with `given` parameters, the others as by default. Whether they fit the job is checked when the
    /// workload is built.
    ///
    /// # Errors
    /// An unknown pattern or parameter name with the nearest known one; a value of the wrong type.
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
        let changed = parameters::with(&format!("pattern '{}'", self.name()), self, parameter, value)?;
        let before = std::mem::replace(self, changed);
        // What was attached is no parameter and would be lost; another path makes it void.
        match (before.kind, &mut self.kind) {
            (PatternKind::File(old), PatternKind::File(new)) => {
                new.graph = old.graph.filter(|_| old.path == new.path);
            }
            (PatternKind::Amg(old), PatternKind::Amg(new)) if old.names_the_same(new) => new.messages = old.messages,
            _ => {}
        }
        Ok(())
    }

    /// All parameters and their values, those left at their default included.
    pub fn parameters(&self) -> Map<String, Value> {
        parameters::of(self)
    }

    /// Path of the file that this pattern needs, if it needs one.
    pub fn file(&self) -> Option<&str> {
        match &self.kind {
            PatternKind::File(parameters) => Some(&parameters.path),
            _ => None,
        }
    }

    /// Which messages of which hierarchy this pattern needs, if it needs some.
    pub fn amg(&self) -> Option<&AmgPatternParameters> {
        match &self.kind {
            PatternKind::Amg(parameters) => Some(parameters),
            _ => None,
        }
    }

    /// Hands over what the hierarchy of [`PatternSpec::amg`] says.
    ///
    /// # Panics
    /// If the pattern needs no hierarchy.
    pub fn attach_messages(&mut self, messages: AmgMessages) {
        match &mut self.kind {
            PatternKind::Amg(parameters) => parameters.messages = messages,
            _ => panic!("pattern '{}' is not of a hierarchy", self.name()),
        }
    }

    /// Hands over what [`PatternSpec::file`] holds.
    ///
    /// # Panics
    /// If the pattern needs no file.
    pub fn attach(&mut self, graph: Arc<CommunicationGraph>) {
        match &mut self.kind {
            PatternKind::File(parameters) => parameters.graph = Some(graph),
            _ => panic!("pattern '{}' is not read from a file", self.name()),
        }
    }

    /// Name of the pattern.
    pub fn name(&self) -> &'static str {
        match &self.kind {
            PatternKind::Stencil2d(_) => "stencil-2d",
            PatternKind::Stencil3d(_) => "stencil-3d",
            PatternKind::Stencil4d(_) => "stencil-4d",
            PatternKind::ManyToMany(_) => "many-to-many",
            PatternKind::Spread(_) => "spread",
            PatternKind::Umesh(_) => "umesh",
            PatternKind::Uniform(_) => "uniform",
            PatternKind::Adversarial(_) => "adversarial",
            PatternKind::Tornado(_) => "tornado",
            PatternKind::Transpose(_) => "transpose",
            PatternKind::BitComplement(_) => "bit-complement",
            PatternKind::BitReverse(_) => "bit-reverse",
            PatternKind::RandomPermutation(_) => "random-permutation",
            PatternKind::Hotspot(_) => "hotspot",
            PatternKind::AllToAll(_) => "all-to-all",
            PatternKind::RandomNeighbors(_) => "random-neighbors",
            PatternKind::Amg(_) => "amg",
            PatternKind::File(_) => "file",
        }
    }

    pub(crate) fn build(&self, context: &PatternContext<'_>) -> Result<Arc<dyn Pattern>, WorkloadError> {
        let owner = &format!("job '{}': pattern '{}'", context.job, self.name());
        Ok(match &self.kind {
            PatternKind::Stencil2d(p) => Arc::new(Stencil::new(owner, 2, p, context)?),
            PatternKind::Stencil3d(p) => Arc::new(Stencil::new(owner, 3, p, context)?),
            PatternKind::Stencil4d(p) => Arc::new(Stencil::new(owner, 4, p, context)?),
            PatternKind::ManyToMany(p) => Arc::new(ManyToMany::new(owner, p, context)?),
            PatternKind::Umesh(p) => Arc::new(Umesh::new(owner, p, context)?),
            PatternKind::Uniform(p) => Arc::new(Uniform::new(p, context)),
            PatternKind::Adversarial(p) => Arc::new(Adversarial::new(owner, p, context)?),
            PatternKind::Tornado(p) => Arc::new(Tornado::new(owner, p, context)?),
            PatternKind::Transpose(p) => Arc::new(Transpose::new(p, context)),
            PatternKind::BitComplement(p) => Arc::new(BitComplement::new(p, context)),
            PatternKind::BitReverse(p) => Arc::new(BitReverse::new(p, context)),
            PatternKind::RandomPermutation(p) => Arc::new(RandomPermutation::new(p, context)),
            PatternKind::Hotspot(p) => Arc::new(Hotspot::new(owner, p, context)?),
            PatternKind::AllToAll(p) => Arc::new(AllToAll::new(p, context)),
            PatternKind::Spread(p) | PatternKind::RandomNeighbors(p) => {
                Arc::new(RandomNeighbors::new(owner, p, context)?)
            }
            PatternKind::Amg(p) => pattern_for(owner, p, context.ranks)?,
            PatternKind::File(p) => graph_for(owner, p, context.ranks)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_help::{build, check, try_build};
    use super::*;
    use odonata_units::{RankId, Stream};
    use serde_json::json;

    #[test]
    fn every_name_is_its_own() {
        for name in PatternSpec::names() {
            let spec = PatternSpec::parse(name).unwrap();
            assert_eq!(spec.name(), *name);
            assert_eq!(serde_json::to_value(&spec).unwrap()["name"], *name);
            assert_eq!(PatternSpec::with_parameters(name, &spec.parameters()).unwrap(), spec);
            assert!(!PatternSpec::summary(name).unwrap().is_empty());
        }
    }

    #[test]
    fn mistakes_name_the_nearest() {
        let message = |result: Result<PatternSpec, WorkloadError>| result.unwrap_err().to_string();
        assert_eq!(message(PatternSpec::parse("stencil-4")), "unknown pattern 'stencil-4'; did you mean 'stencil-4d'?");
        let set = |parameter: &str, value: Value| {
            let mut spec = PatternSpec::parse("spread").unwrap();
            spec.set(parameter, &value).unwrap_err().to_string()
        };
        assert_eq!(set("byte", json!("1 MiB")), "unknown parameter of pattern 'spread' 'byte'; did you mean 'bytes'?");
        assert!(set("bytes", json!(4096)).contains("bytes: expected a text like \"64 KiB\""));
        assert!(set("bytes", json!("4096")).contains("has no unit"));
        assert!(set("neighbors_min", json!("six")).contains("expected u32"));
        assert!(set("neighbors_min", json!(-1)).contains("neighbors_min: invalid value: integer `-1`"));
        assert!(set("iterations", json!(1.5)).contains("iterations: invalid type"));
        assert!(set("name", json!("umesh")).contains("unknown parameter"));
    }

    #[test]
    fn amounts_are_written_so_that_they_read_back() {
        let mut spec = PatternSpec::parse("spread").unwrap();
        for text in ["3 MiB", "1536 B", "576000 B", "0 B"] {
            spec.set("bytes", &json!(text)).unwrap();
            assert_eq!(spec.parameters()["bytes"], text);
        }
    }

    /// Everything that a pattern of 100 ranks sends or draws stays within the job; two patterns built alike agree.
    #[test]
    fn every_pattern_is_pure_and_closed() {
        for name in PatternSpec::names().iter().filter(|name| !["file", "amg"].contains(name)) {
            let given: &[(&str, Value)] = if *name == "adversarial" { &[("group_ranks", json!(10))] } else { &[] };
            let pattern = build(name, 100, given);
            assert_eq!(check(&*pattern), check(&*build(name, 100, given)), "{name}");
            for rank in (0..100).map(RankId) {
                let draw = |pattern: &dyn Pattern| pattern.destination(rank, &mut Stream::new(1, "test", &[]));
                assert_eq!(draw(&*pattern), draw(&*build(name, 100, given)), "{name}");
                let mut sends = Vec::new();
                pattern.sends(rank, &mut sends);
                assert_eq!(draw(&*pattern).is_none(), sends.is_empty(), "{name}");
                assert!(draw(&*pattern).is_none_or(|target| target.0 < 100 && target != rank), "{name}");
            }
        }
    }

    #[test]
    fn a_file_must_be_read_first() {
        let message = |given: &[(&str, Value)]| try_build("file", 4, given).unwrap_err().to_string();
        assert!(message(&[]).ends_with("path: missing; write the path of a communication graph"));
        assert!(message(&[("path", json!("a.csv"))]).ends_with("no communication graph was read from 'a.csv'"));
    }

    #[test]
    fn a_hierarchy_must_be_read_first() {
        let message = |given: &[(&str, Value)]| try_build("amg", 4, given).unwrap_err().to_string();
        assert!(message(&[]).contains("hierarchy: missing"));
        assert!(message(&[("hierarchy", json!("h"))]).ends_with("no hierarchy was read from 'h'"));
        let mut spec = PatternSpec::parse("amg").unwrap();
        spec.attach_messages(AmgMessages::LevelsOnly);
        spec.set("iterations", &json!(3)).unwrap();
        assert_eq!(spec.amg().unwrap().messages, AmgMessages::LevelsOnly);
        spec.set("level", &json!(1)).unwrap();
        assert_eq!(spec.amg().unwrap().messages, AmgMessages::Unread);
    }

    #[test]
    fn an_attached_graph_stays_until_the_path_changes() {
        let messages = [(RankId(0), RankId(1), odonata_units::Bytes(8))];
        let graph = Arc::new(CommunicationGraph::from_messages("a.csv", 2, &messages).unwrap());
        let mut spec = PatternSpec::parse("file").unwrap();
        spec.set("path", &json!("a.csv")).unwrap();
        spec.attach(Arc::clone(&graph));
        spec.set("iterations", &json!(3)).unwrap();
        assert_eq!(spec.kind, PatternKind::File(FilePatternParameters { path: "a.csv".into(), graph: Some(graph) }));
        spec.set("path", &json!("b.csv")).unwrap();
        assert_eq!(spec.file(), Some("b.csv"));
        assert_eq!(spec.kind, PatternKind::File(FilePatternParameters { path: "b.csv".into(), graph: None }));
    }
}
