//! Patterns as users write them: a name and parameters.

use crate::communication::Pattern;
use odonata_declare::{parameters, Kind, ParameterMistake, ParameterStruct, Reader, RuleSpec};
use odonata_machine::Machine;
use odonata_units::NodeId;
use std::sync::Arc;

/// Context of a pattern when it is built.
#[derive(Clone, Copy, Debug)]
pub struct PatternContext<'a> {
    /// The hardware.
    pub machine: &'a Machine,
    /// Name of the job.
    pub job: &'a str,
    /// Its ranks.
    pub ranks: u32,
    /// Seed of this job's pattern, derived from the seed of the run and the name of the job.
    pub seed: u64,
    /// The node of every rank.
    pub node_of_rank: &'a [NodeId],
}

/// A pattern's parameters, before its job is known.
pub trait PatternRule: ParameterStruct {
    /// Reads the files named by the parameters, for a job of `ranks` ranks.
    ///
    /// # Errors
    /// The parameter of an unreadable file, and the reason.
    fn read(&mut self, ranks: u32, files: &mut dyn Reader) -> Result<(), ParameterMistake> {
        let _ = (ranks, files);
        Ok(())
    }

    /// Builds the pattern of a job.
    ///
    /// # Errors
    /// Parameters that do not fit the job.
    fn build(&self, context: &PatternContext<'_>) -> Result<Arc<dyn Pattern>, ParameterMistake>;
}

parameters! {
    /// Parameters of every pattern.
    pub struct Repetition {
        /// Number of times that every rank sends its messages.
        pub iterations: u32 = 1, Kind::COUNT;
    }
}

/// Specification of a pattern.
pub type PatternSpec = RuleSpec<dyn PatternRule>;
