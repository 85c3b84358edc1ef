//! Training of a neural network: computation, then an allreduce of the gradients.

use crate::call::Operation;
use crate::rank_program::RankProgram;
use crate::repeat::repeat_unequal;
use crate::representatives::Representatives;
use crate::rule::{ProgramContext, ProgramRule};
use crate::slices::Slice;
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
        /// Number of separate allreduces at the same time: of the ranks with equal numbers modulo it.
        pub slices: u32 = 1, Kind::COUNT;
    }
}

impl ProgramRule for AllreduceParameters {
    fn build(&self, context: &ProgramContext<'_>) -> Result<Arc<dyn RankProgram>, ParameterMistake> {
        let (ranks, &Self { bytes, compute, iterations, slices }) = (context.ranks, self);
        let blocks = Representatives::with_ends(iterations.into());
        Ok(repeat_unequal(ranks, iterations, &["compute", "allreduce"], blocks, move |rank, index, code| {
            let slice = Slice::of(rank, ranks, slices);
            code.mark(0);
            if index == 0 {
                slice.create(code);
            }
            slice.select(code);
            code.compute(compute);
            code.mark(1);
            code.collective(Operation::Allreduce, 0, bytes);
            if index + 1 == u64::from(iterations) && slices > 1 {
                code.mark(0);
                slice.free(code);
            }
        }))
    }
}
