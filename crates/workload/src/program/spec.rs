//! Programs as the user writes them: a name and parameters.

use super::RankProgram;
use crate::WorkloadError;
use odonata_declare::{try_set, Declared, Named, Reader, Value, Variant};
use std::sync::Arc;

/// What a program may know of its job when it is built.
#[derive(Clone, Copy, Debug)]
pub struct ProgramContext<'a> {
    /// Name of the job.
    pub job: &'a str,
    /// Its ranks.
    pub ranks: u32,
    /// Seed of this job's program.
    pub seed: u64,
}

/// A program's parameters: what it is before it knows its job.
pub trait ProgramRule: Declared {
    /// Reads the files that the parameters name, for a job of `ranks` ranks.
    ///
    /// # Errors
    /// The parameter that names a file that is none, and why.
    fn read(&mut self, ranks: u32, files: &mut dyn Reader) -> Result<(), (&'static str, String)> {
        let _ = (ranks, files);
        Ok(())
    }

    /// The program of a job; `owner` is whom an error names.
    ///
    /// # Errors
    /// Parameters that do not fit the job.
    fn build(&self, owner: &str, context: &ProgramContext<'_>) -> Result<Arc<dyn RankProgram>, WorkloadError>;
}

/// The programs.
pub const PROGRAMS: &[Variant<dyn ProgramRule>] = &[];

/// The user's words for a program.
#[derive(Clone, Debug)]
pub struct ProgramSpec {
    name: &'static str,
    rule: Arc<dyn ProgramRule>,
}

impl ProgramSpec {
    /// A program with its default parameters.
    pub fn of(program: &'static Variant<dyn ProgramRule>) -> Self {
        Self { name: program.name, rule: Arc::from((program.default)()) }
    }

    /// What parser and reference read of a program.
    pub fn named(program: &Variant<dyn ProgramRule>) -> Named {
        Named::of(program)
    }

    /// Sets one parameter.
    ///
    /// # Errors
    /// An unknown parameter; a value of the wrong kind.
    ///
    /// # Panics
    /// If the program is already that of a job.
    pub fn set(&mut self, parameter: &str, value: impl Into<Value>) -> Result<(), WorkloadError> {
        let name = self.name;
        try_set(self.rule_mut(), parameter, &value.into())
            .map_err(|reason| WorkloadError::parameter(format!("program '{name}'"), parameter, reason))
    }

    /// Its parameters, to be changed.
    ///
    /// # Panics
    /// If the program is already that of a job.
    pub fn rule_mut(&mut self) -> &mut dyn ProgramRule {
        Arc::get_mut(&mut self.rule).expect("a program is set before it is shared")
    }

    /// All parameters and their values.
    pub fn values(&self) -> Vec<(&'static str, Value)> {
        self.rule.values()
    }

    /// Name of the program.
    pub fn name(&self) -> &'static str {
        self.name
    }

    pub(crate) fn build(&self, context: &ProgramContext<'_>) -> Result<Arc<dyn RankProgram>, WorkloadError> {
        self.rule.build(&format!("job '{}': program '{}'", context.job, self.name), context)
    }
}
