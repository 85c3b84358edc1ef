//! Patterns as users write them: a name and parameters.

use super::{Pattern, PatternContext, PATTERNS};
use odonata_declare::{
    parameter, Kind, Parameter, ParameterError, ParameterStruct, Parameters, Reader, RuleSpec, Value, Variant,
    VariantInfo,
};
use std::sync::Arc;

/// A pattern's parameters, before its job is known.
pub trait PatternRule: ParameterStruct {
    /// Reads the files named by the parameters, for a job of `ranks` ranks.
    ///
    /// # Errors
    /// The parameter of an unreadable file, and the reason.
    fn read(&mut self, ranks: u32, files: &mut dyn Reader) -> Result<(), (&'static str, String)> {
        let _ = (ranks, files);
        Ok(())
    }

    /// Builds the pattern of a job. Errors name `owner`.
    ///
    /// # Errors
    /// Parameters that do not fit the job.
    fn build(&self, owner: &str, context: &PatternContext<'_>) -> Result<Arc<dyn Pattern>, ParameterError>;
}

/// Parameters of every pattern.
#[derive(Clone, Copy, Debug)]
struct Repetition {
    iterations: u32,
}

impl Default for Repetition {
    fn default() -> Self {
        Self { iterations: 1 }
    }
}

impl Parameters for Repetition {
    const PARAMETERS: &'static [Parameter<Self>] =
        &[parameter!(iterations, Kind::count(1), "Number of times that every rank sends its messages.")];
}

/// Specification of a pattern.
#[derive(Clone, Debug)]
pub struct PatternSpec(RuleSpec<dyn PatternRule, Repetition>);

impl PatternSpec {
    /// A pattern with its default parameters.
    pub fn of(pattern: &'static Variant<dyn PatternRule>) -> Self {
        Self(RuleSpec::of("pattern", pattern))
    }

    /// The pattern of this crate called `name`, with its default parameters.
    ///
    /// # Errors
    /// An unknown name, with the nearest known one.
    pub fn parse(name: &str) -> Result<Self, String> {
        Variant::find("pattern", PATTERNS, name).map(Self::of)
    }

    /// Description for parser and reference: parameters of this pattern and of every pattern.
    pub fn named(pattern: &Variant<dyn PatternRule>) -> VariantInfo {
        let mut named = VariantInfo::of(pattern);
        named.keys.extend(Repetition::default().keys());
        named
    }

    /// Sets one parameter. The build checks whether it fits the job.
    ///
    /// # Errors
    /// An unknown parameter, with the nearest known one, or a value of the wrong kind.
    ///
    /// # Panics
    /// If a job already uses the pattern.
    pub fn set(&mut self, parameter: &str, value: impl Into<Value>) -> Result<(), ParameterError> {
        self.0.set(parameter, &value.into())
    }

    /// All parameters and their values, including defaults.
    pub fn values(&self) -> Vec<(&'static str, Value)> {
        self.0.values()
    }

    /// The rule with its parameters.
    pub fn rule(&self) -> &Arc<dyn PatternRule> {
        self.0.rule()
    }

    /// The rule, for changes.
    ///
    /// # Panics
    /// If a job already uses the pattern.
    pub fn rule_mut(&mut self) -> &mut dyn PatternRule {
        self.0.rule_mut()
    }

    /// Number of times that every rank sends its messages.
    pub fn iterations(&self) -> u32 {
        self.0.common().iterations
    }

    /// Name of the pattern.
    pub fn name(&self) -> &'static str {
        self.0.name()
    }

    pub(crate) fn build(&self, context: &PatternContext<'_>) -> Result<Arc<dyn Pattern>, ParameterError> {
        self.rule().build(&self.0.owner(context.job), context)
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_help::{build, check, try_build};
    use super::super::FilePatternParameters;
    use super::*;
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
