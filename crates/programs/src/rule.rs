//! Programs as users write them: a name and parameters.

use crate::final_barrier::FinalBarrier;
use crate::rank_program::RankProgram;
use odonata_declare::{
    parameter, Kind, Parameter, ParameterError, ParameterStruct, Parameters, Reader, RuleSpec, Value, Variant,
    VariantInfo, AUTO,
};
use std::sync::Arc;

/// Sizes of a process grid, or a default grid.
pub(crate) const DIMS: Kind = Kind::WordOr(AUTO, &Kind::List(&Kind::count(1)));

/// Context of a program when it is built.
#[derive(Clone, Copy, Debug)]
pub struct ProgramContext<'a> {
    /// Name of the job.
    pub job: &'a str,
    /// Its ranks.
    pub ranks: u32,
    /// Seed of this job's program, derived from the seed of the run and the name of the job.
    pub seed: u64,
}

/// A program's parameters, before its job is known.
pub trait ProgramRule: ParameterStruct {
    /// Reads the files named by the parameters, for a job of `ranks` ranks.
    ///
    /// # Errors
    /// The parameter of an unreadable file, and the reason.
    fn read(&mut self, ranks: u32, files: &mut dyn Reader) -> Result<(), (&'static str, String)> {
        let _ = (ranks, files);
        Ok(())
    }

    /// Builds the program of a job, without its end. Errors name `owner`.
    ///
    /// # Errors
    /// Parameters that do not fit the job.
    fn build(&self, owner: &str, context: &ProgramContext<'_>) -> Result<Arc<dyn RankProgram>, ParameterError>;
}

/// Parameters of every program.
#[derive(Clone, Copy, Debug)]
struct End {
    final_barrier: bool,
}

impl Default for End {
    fn default() -> Self {
        Self { final_barrier: true }
    }
}

impl Parameters for End {
    const PARAMETERS: &'static [Parameter<Self>] =
        &[parameter!(final_barrier, Kind::Flag, "Whether all ranks end with a barrier, as in `MPI_Finalize`.")];
}

/// Specification of a program.
#[derive(Clone, Debug)]
pub struct ProgramSpec(RuleSpec<dyn ProgramRule, End>);

impl ProgramSpec {
    /// A program with its default parameters.
    pub fn of(program: &'static Variant<dyn ProgramRule>) -> Self {
        Self(RuleSpec::of("program", program))
    }

    /// Description for parser and reference: parameters of this program and of every program.
    pub fn named(program: &Variant<dyn ProgramRule>) -> VariantInfo {
        let mut named = VariantInfo::of(program);
        named.keys.extend(End::default().keys());
        named
    }

    /// Sets one parameter. The build checks whether it fits the job.
    ///
    /// # Errors
    /// An unknown parameter, with the nearest known one, or a value of the wrong kind.
    ///
    /// # Panics
    /// If a job already uses the program.
    pub fn set(&mut self, parameter: &str, value: impl Into<Value>) -> Result<(), ParameterError> {
        self.0.set(parameter, &value.into())
    }

    /// All parameters and their values, including defaults.
    pub fn values(&self) -> Vec<(&'static str, Value)> {
        self.0.values()
    }

    /// The rule with its parameters.
    pub fn rule(&self) -> &Arc<dyn ProgramRule> {
        self.0.rule()
    }

    /// The rule, for changes.
    ///
    /// # Panics
    /// If a job already uses the program.
    pub fn rule_mut(&mut self) -> &mut dyn ProgramRule {
        self.0.rule_mut()
    }

    /// Name of the program.
    pub fn name(&self) -> &'static str {
        self.0.name()
    }

    /// Builds the program of a job.
    ///
    /// # Errors
    /// Parameters that do not fit the job.
    pub fn build(&self, context: &ProgramContext<'_>) -> Result<Arc<dyn RankProgram>, ParameterError> {
        let program = self.rule().build(&self.0.owner(context.job), context)?;
        Ok(if self.0.common().final_barrier { Arc::new(FinalBarrier(program)) } else { program })
    }
}
