//! Communication patterns.
//!
//! A pattern is a *rule*, never a list. [`Pattern::sends`] generates the messages of one rank on demand, so the 17.8
//! million messages of a 4D stencil on 2.2 million ranks take no memory. Random patterns draw from a stream keyed by
//! the rank. So the result does not depend on the order of calls or on threads.

mod adversarial;
mod all_to_all;
mod bit_complement;
mod bit_reverse;
mod cells;
mod draw;
mod file;
mod hotspot;
mod many_to_many;
mod neighbors;
mod permutation;
mod random_neighbors;
mod random_permutation;
mod rule;
mod shift;
mod stencil;
mod tornado;
mod transpose;
mod umesh;
mod uniform;

#[cfg(test)]
mod counts;
#[cfg(test)]
mod test_help;

pub use adversarial::{AdversarialParameters, GroupTarget};
pub use all_to_all::{AllToAllOrder, AllToAllParameters};
pub use file::FilePatternParameters;
pub use hotspot::HotspotParameters;
pub use many_to_many::ManyToManyParameters;
pub use permutation::PermutationParameters;
pub use random_neighbors::RandomNeighborsParameters;
pub use rule::{PatternContext, PatternRule, PatternSpec};
pub use shift::ShiftParameters;
pub use stencil::StencilParameters;
pub use tornado::TornadoParameters;
pub use umesh::UmeshParameters;
pub use uniform::UniformParameters;

use odonata_declare::{RuleFamily, Variant};
use rule::Repetition;

/// The patterns, in the order of the reference.
pub const PATTERNS: &[Variant<dyn PatternRule>] =
    &[
        Variant::new("stencil-2d", "4 neighbours on a 2D process grid", || Box::new(StencilParameters::default())),
        Variant::new("stencil-3d", "6 neighbours on a 3D process grid", || Box::new(StencilParameters::default_3d())),
        Variant::new("stencil-4d", "8 neighbours on a 4D process grid", || Box::new(StencilParameters::default_4d())),
        Variant::new("many-to-many", "all-to-alls within groups of 16, 32 or 64 ranks", || {
            Box::new(ManyToManyParameters::default())
        }),
        Variant::new("spread", "6 to 27 random neighbours each (Damselfly's background noise)", || {
            Box::new(RandomNeighborsParameters::default())
        }),
        Variant::new("umesh", "unstructured mesh: 6 to 27 neighbours with near rank numbers", || {
            Box::new(UmeshParameters::default())
        }),
        Variant::new("uniform", "every message to a uniformly random other rank", || {
            Box::new(UniformParameters::default())
        }),
        Variant::new("adversarial", "every rank to the group `offset` further (ADV+i)", || {
            Box::new(AdversarialParameters::default())
        }),
        Variant::new("tornado", "every rank to the rank just less than half-way around a ring", || {
            Box::new(TornadoParameters::default())
        }),
        Variant::new("shift", "every rank to the rank `offset` further", || Box::new(ShiftParameters::default())),
        Variant::new("transpose", "matrix transpose: rank (i, j) to (j, i)", || {
            Box::new(PermutationParameters::with_rule(transpose::rule))
        }),
        Variant::new("bit-complement", "rank r of n to n - 1 - r", || {
            Box::new(PermutationParameters::with_rule(bit_complement::rule))
        }),
        Variant::new("bit-reverse", "every rank to the rank with its bits in reverse order", || {
            Box::new(PermutationParameters::with_rule(bit_reverse::rule))
        }),
        Variant::new("random-permutation", "every rank to one rank and from one rank, drawn once", || {
            Box::new(PermutationParameters::with_rule(random_permutation::rule))
        }),
        Variant::new("hotspot", "a share of the messages to a few hot ranks, the rest uniform", || {
            Box::new(HotspotParameters::default())
        }),
        Variant::new("all-to-all", "every rank to every other rank", || Box::new(AllToAllParameters::default())),
        Variant::new("random-neighbors", "6 to 20 random neighbours each", || {
            Box::new(RandomNeighborsParameters::default_random())
        }),
        Variant::new("file", "a communication graph from a file", || Box::new(FilePatternParameters::default())),
    ];

impl RuleFamily for dyn PatternRule {
    const NOUN: &'static str = "pattern";
    const RULES: &'static [Variant<Self>] = PATTERNS;
    type Common = Repetition;
}

#[cfg(test)]
mod tests {
    use super::test_help::{build, check, try_build};
    use super::*;
    use crate::Pattern;
    use odonata_declare::{Reader, Value};
    use odonata_import::CommunicationGraph;
    use odonata_units::{Bytes, RankId, Stream};
    use serde_json::json;

    fn names() -> impl Iterator<Item = &'static str> {
        PATTERNS.iter().map(|pattern| pattern.name)
    }

    /// Values are written in a form that reads back, for every parameter.
    #[test]
    fn every_name_is_its_own() {
        for name in names() {
            let mut spec = PatternSpec::parse(name).unwrap();
            assert_eq!(spec.name(), name);
            assert_eq!(names().filter(|other| *other == name).count(), 1);
            let values = spec.values();
            for (parameter, value) in &values {
                if *value != Value::text("") {
                    spec.set(parameter, value.clone()).unwrap();
                }
            }
            assert_eq!(spec.values(), values, "{name}");
            assert_eq!(PatternSpec::named(Variant::find("pattern", PATTERNS, name).unwrap()).keys.len(), values.len());
        }
    }

    #[test]
    fn mistakes_name_the_nearest() {
        assert_eq!(
            PatternSpec::parse("stencil-4").unwrap_err(),
            "unknown pattern 'stencil-4'; did you mean 'stencil-4d'?"
        );
        let set = |parameter: &str, value: serde_json::Value| {
            let mut spec = PatternSpec::parse("spread").unwrap();
            spec.set(parameter, value).unwrap_err().to_string()
        };
        assert_eq!(set("byte", json!("1 MiB")), "pattern 'spread': byte: unknown parameter; did you mean 'bytes'?");
        assert!(set("bytes", json!(4096)).contains("bytes: expected an amount of data like \"64 KiB\", found 4096"));
        assert!(set("bytes", json!("4096")).contains("has no unit"));
        assert!(set("neighbors_min", json!("six")).contains("expected a whole number from 0 up, found \"six\""));
        assert!(set("neighbors_min", json!(-1)).contains("neighbors_min: expected a whole number from 0 up, found -1"));
        assert!(set("iterations", json!(1.5)).contains("iterations: expected a whole number from 1 up"));
        assert!(set("name", json!("umesh")).contains("unknown parameter"));
    }

    #[test]
    fn amounts_are_written_so_that_they_read_back() {
        let mut spec = PatternSpec::parse("spread").unwrap();
        for text in ["3 MiB", "1537 B", "576 kB", "0 B"] {
            spec.set("bytes", json!(text)).unwrap();
            assert_eq!(spec.values()[0].1.to_json(), text);
        }
    }

    /// All messages and draws of a pattern of 100 ranks stay within the job. Two equal patterns agree.
    #[test]
    fn every_pattern_is_pure_and_closed() {
        for name in names().filter(|name| *name != "file") {
            let given: &[(&str, serde_json::Value)] =
                if name == "adversarial" { &[("group_ranks", json!(10))] } else { &[] };
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
        let message = |given: &[(&str, serde_json::Value)]| try_build("file", 4, given).unwrap_err().to_string();
        assert!(message(&[]).ends_with("path: missing; write the path of a communication graph"));
        assert!(message(&[("path", json!("a.csv"))]).ends_with("no communication graph was read from 'a.csv'"));
    }

    /// A directory of one file.
    struct OneFile(&'static [u8]);

    impl Reader for OneFile {
        fn read(&mut self, name: &str) -> Result<Vec<u8>, String> {
            if name == "a.csv" {
                Ok(self.0.to_vec())
            } else {
                Err(format!("can't read {name}"))
            }
        }

        fn locate(&self, _: &str, name: &str) -> Result<std::path::PathBuf, String> {
            Ok(name.into())
        }
    }

    #[test]
    fn a_graph_is_read_from_its_file() {
        let mut spec = PatternSpec::parse("file").unwrap();
        spec.set("path", json!("b.csv")).unwrap();
        let mut files = OneFile(b"src,dst,bytes\n0,1,8\n");
        assert_eq!(spec.rule_mut().read(2, &mut files), Err(("path", "can't read b.csv".into())));
        assert_eq!(spec.rule_mut().read(2, &mut OneFile(b"")).unwrap_err().0, "path");
        spec.set("path", json!("a.csv")).unwrap();
        spec.rule_mut().read(2, &mut files).unwrap();
        let graph = CommunicationGraph::from_messages("a.csv", 2, &[(RankId(0), RankId(1), Bytes(8))]).unwrap();
        let parameters: &FilePatternParameters = spec.rule().as_any().downcast_ref().unwrap();
        assert_eq!(parameters.graph.as_deref(), Some(&graph));
    }
}
