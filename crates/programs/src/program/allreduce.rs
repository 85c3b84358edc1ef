//! Training of a neural network: computation, then an allreduce of the gradients.

use crate::call::Operation;
use crate::code::Code;
use crate::rank_program::RankProgram;
use crate::rule::{ProgramContext, ProgramRule};
use odonata_declare::{parameter, Kind, Parameter, ParameterError, Parameters};
use odonata_units::{Bytes, Time};
use std::sync::Arc;

/// Parameters of `allreduce`. The defaults are CosmoFlow of the interference study.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AllreduceParameters {
    /// Size of the gradients.
    pub bytes: Bytes,
    /// Computing time before the allreduce.
    pub compute: Time,
    /// Number of steps.
    pub iterations: u32,
}

impl Parameters for AllreduceParameters {
    const PARAMETERS: &'static [Parameter<Self>] = &[
        parameter!(bytes, Kind::Bytes, "Size of the gradients."),
        parameter!(compute, Kind::Time, "Time that each rank computes before an allreduce."),
        parameter!(iterations, Kind::count(1), "Number of training steps."),
    ];
}

impl Default for AllreduceParameters {
    fn default() -> Self {
        Self { bytes: Bytes(1_126_000), compute: Time::from_us(5160), iterations: 2 }
    }
}

impl ProgramRule for AllreduceParameters {
    fn build(&self, _: &str, context: &ProgramContext<'_>) -> Result<Arc<dyn RankProgram>, ParameterError> {
        Ok(Arc::new(Allreduce { ranks: context.ranks, parameters: self.clone() }))
    }
}

#[derive(Debug)]
struct Allreduce {
    ranks: u32,
    parameters: AllreduceParameters,
}

impl RankProgram for Allreduce {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn blocks(&self, _: u32) -> u64 {
        self.parameters.iterations.into()
    }

    fn block(&self, _: u32, _: u64, code: &mut Code) {
        code.mark(0);
        code.compute(self.parameters.compute);
        code.mark(1);
        code.collective(Operation::Allreduce, 0, self.parameters.bytes);
    }

    fn phases(&self) -> Vec<String> {
        ["compute", "allreduce"].map(Into::into).into()
    }

    fn is_communication(&self, phase: u32) -> bool {
        phase == 1
    }
}
