//! Training of a neural network: computation, then an allreduce of the gradients.

use crate::call::Operation;
use crate::rank_program::RankProgram;
use crate::repeat::repeat;
use crate::rule::{ProgramContext, ProgramRule};
use odonata_declare::{parameters, Kind, ParameterMistake};
use odonata_units::{Bytes, Time};
use std::sync::Arc;

parameters! {
    /// Parameters of `allreduce`. The defaults are CosmoFlow of the interference study.
    pub struct AllreduceParameters {
        /// Size of the gradients.
        pub bytes: Bytes = Bytes(1_126_000);
        /// Time that each rank computes before an allreduce.
        pub compute: Time = Time::from_us(5160);
        /// Number of training steps.
        pub iterations: u32 = 2, Kind::COUNT;
    }
}

impl ProgramRule for AllreduceParameters {
    fn build(&self, context: &ProgramContext<'_>) -> Result<Arc<dyn RankProgram>, ParameterMistake> {
        let Self { bytes, compute, iterations } = *self;
        Ok(repeat(context.ranks, iterations, &["compute", "allreduce"], move |_, _, code| {
            code.mark(0);
            code.compute(compute);
            code.mark(1);
            code.collective(Operation::Allreduce, 0, bytes);
        }))
    }
}
