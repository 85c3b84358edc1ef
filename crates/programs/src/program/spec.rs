//! Programs as users write them: a name and parameters.

use super::final_barrier::FinalBarrier;
use super::{RankProgram, PROGRAMS};
use odonata_declare::{
    parameter, Kind, Parameter, ParameterError, ParameterStruct, Parameters, Reader, RuleSpec, Value, Variant,
    VariantInfo,
};
use std::sync::Arc;

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

    /// The program of this crate called `name`, with its default parameters.
    ///
    /// # Errors
    /// An unknown name, with the nearest known one.
    pub fn parse(name: &str) -> Result<Self, String> {
        Variant::find("program", PROGRAMS, name).map(Self::of)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank_walks::{build, try_build, untimed};
    use serde_json::json;

    fn names() -> impl Iterator<Item = &'static str> {
        PROGRAMS.iter().map(|program| program.name).filter(|name| !["file", "trace"].contains(name))
    }

    /// Values are written in a form that reads back, for every parameter.
    #[test]
    fn every_name_is_its_own() {
        for name in names() {
            let mut spec = ProgramSpec::parse(name).unwrap();
            assert_eq!(spec.name(), name);
            assert_eq!(names().filter(|other| *other == name).count(), 1);
            let values = spec.values();
            for (parameter, value) in &values {
                spec.set(parameter, value.clone()).unwrap();
            }
            assert_eq!(spec.values(), values, "{name}");
            assert_eq!(ProgramSpec::named(Variant::find("program", PROGRAMS, name).unwrap()).keys.len(), values.len());
        }
    }

    #[test]
    fn mistakes_name_the_nearest() {
        let error = ProgramSpec::parse("halo3d").unwrap_err();
        assert_eq!(error.to_string(), "unknown program 'halo3d'; did you mean 'halo-3d'?");
        let error = ProgramSpec::parse("lu").unwrap().set("plains", json!(3)).unwrap_err();
        assert_eq!(error.to_string(), "program 'lu': plains: unknown parameter; did you mean 'planes'?");
    }

    /// Few iterations and small messages, on odd grids and on one rank. With synchronous sends no rank blocks forever,
    /// sizes agree, no message remains, and all programs end with the barrier of 2 (p - 1) messages.
    #[test]
    fn every_program_ends() {
        for name in names() {
            for ranks in [1, 2, 7, 12, 64] {
                let mut given = Vec::new();
                for (parameter, _) in ProgramSpec::parse(name).unwrap().values() {
                    match parameter {
                        "iterations" => given.push((parameter, json!(2))),
                        "planes" => given.push((parameter, json!(25))),
                        "sweep_blocks" => given.push((parameter, json!(3))),
                        "lattice" => given.push((parameter, json!([8, 84, 24, 12]))),
                        "nx" => given.push((parameter, json!(16))),
                        _ => {}
                    }
                }
                let mut run = |barrier: bool| {
                    given.push(("final_barrier", json!(barrier)));
                    let program = build(name, ranks, &given);
                    untimed(&*program).totals()
                };
                let (with, without) = (run(true), run(false));
                assert_eq!(with.0 - without.0, 2 * u64::from(ranks - 1), "{name}");
                assert_eq!(with.1, without.1);
            }
        }
    }

    /// The marks of a program are numbers of its phases, each phase has a mark, and names are unique.
    #[test]
    fn phases_are_named() {
        for name in names() {
            let program = build(name, 12, &[("lattice", json!([8, 84, 24, 12]))][..usize::from(name == "lqcd")]);
            let phases = program.phases();
            let mut marked = vec![false; phases.len()];
            for rank in 0..12 {
                let mut cursor = super::super::Cursor::default();
                while let Some(call) = cursor.next(&*program, rank) {
                    if let super::super::Call::Mark { phase } = call {
                        marked[phase as usize] = true;
                    }
                }
            }
            assert!(marked.iter().all(|&marked| marked), "{name}: {phases:?}, {marked:?}");
            assert!(!program.is_communication(phases.len() as u32 - 1), "the end is none");
            let unique: std::collections::BTreeSet<_> = phases.iter().collect();
            assert_eq!(unique.len(), phases.len());
        }
    }

    #[test]
    fn grids_that_do_not_fit() {
        let message =
            |name, ranks, given: &[(&str, serde_json::Value)]| try_build(name, ranks, given).unwrap_err().to_string();
        assert_eq!(
            message("halo-3d", 528, &[("dims", json!([11, 8, 5]))]),
            "job 'test': program 'halo-3d': dims: 11 x 8 x 5 makes 440 points, but the job has 528 ranks; for example \
             [11, 8, 6] fits"
        );
        assert!(message("lu", 12, &[("dims", json!([12]))]).ends_with("dims: 1 sizes given, expected 2"));
        assert!(message("lulesh", 12, &[("sweep_dims", json!([4, 4]))]).contains("sweep_dims: 4 x 4 makes 16"));
        assert!(message("stencil-nd", 12, &[("dims", json!([]))]).contains("dims: no sizes given"));
        assert_eq!(
            message("fft-3d", 12, &[("rows", json!(5))]),
            "job 'test': program 'fft-3d': rows: 5 rows do not divide 12 ranks; for example 3 does"
        );
        assert_eq!(
            message("lqcd", 7, &[]),
            "job 'test': program 'lqcd': lattice: 7 divides the number of ranks, but no local size of the lattice 132 x 132 x 132 x 132; \
             expected sizes with the prime factors of the ranks"
        );
        let dims = [("dims", json!([5, 1, 1, 1]))];
        assert!(message("lqcd", 5, &dims).contains("dims: 5 does not divide 132, size 1 of the lattice"));
    }
}
