//! The program `all-to-all`: an alltoall of all ranks.

use crate::call::Operation;
use crate::rank_program::RankProgram;
use crate::repeat::repeat;
use crate::rule::{ProgramContext, ProgramRule};
use odonata_declare::{parameters, Kind, ParameterMistake};
use odonata_units::{Bytes, Time};
use std::sync::Arc;

parameters! {
    /// Parameters of `all-to-all`.
    pub struct AllToAllProgramParameters {
        /// Size of the block for each other rank.
        pub bytes: Bytes = Bytes::kib(32);
        /// Time that each rank computes before an alltoall.
        pub compute: Time = Time::ZERO;
        /// Number of alltoalls.
        pub iterations: u32 = 1, Kind::COUNT;
    }
}

impl ProgramRule for AllToAllProgramParameters {
    fn build(&self, context: &ProgramContext<'_>) -> Result<Arc<dyn RankProgram>, ParameterMistake> {
        let Self { bytes, compute, iterations } = *self;
        Ok(repeat(context.ranks, iterations, &["alltoall"], move |_, code| {
            code.mark(0);
            code.compute_if_any(compute);
            code.collective(Operation::Alltoall, 0, bytes);
        }))
    }
}
