//! The program `all-to-all`: an alltoall of all ranks.

use crate::call::Operation;
use crate::code::Code;
use crate::rank_program::RankProgram;
use crate::rule::{ProgramContext, ProgramRule};
use odonata_declare::{parameter, Kind, Parameter, ParameterError, Parameters};
use odonata_units::{Bytes, Time};
use std::sync::Arc;

/// Parameters of `all-to-all`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AllToAllProgramParameters {
    /// Size of the block for each other rank.
    pub bytes: Bytes,
    /// Computing time before each alltoall.
    pub compute: Time,
    /// Number of alltoalls.
    pub iterations: u32,
}

impl Parameters for AllToAllProgramParameters {
    const PARAMETERS: &'static [Parameter<Self>] = &[
        parameter!(bytes, Kind::Bytes, "Size of the block for each other rank."),
        parameter!(compute, Kind::Time, "Time that each rank computes before an alltoall."),
        parameter!(iterations, Kind::count(1), "Number of alltoalls."),
    ];
}

impl Default for AllToAllProgramParameters {
    fn default() -> Self {
        Self { bytes: Bytes::kib(32), compute: Time::ZERO, iterations: 1 }
    }
}

impl ProgramRule for AllToAllProgramParameters {
    fn build(&self, _: &str, context: &ProgramContext<'_>) -> Result<Arc<dyn RankProgram>, ParameterError> {
        Ok(Arc::new(AllToAll { ranks: context.ranks, parameters: self.clone() }))
    }
}

#[derive(Debug)]
struct AllToAll {
    ranks: u32,
    parameters: AllToAllProgramParameters,
}

impl RankProgram for AllToAll {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn blocks(&self, _: u32) -> u64 {
        self.parameters.iterations.into()
    }

    fn block(&self, _: u32, _: u64, code: &mut Code) {
        code.mark(0);
        if self.parameters.compute > Time::ZERO {
            code.compute(self.parameters.compute);
        }
        code.collective(Operation::Alltoall, 0, self.parameters.bytes);
    }

    fn phases(&self) -> Vec<String> {
        vec!["alltoall".into()]
    }
}
