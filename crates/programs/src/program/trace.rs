//! The program `trace`: replay of the calls of a real run.

use super::file;
use crate::rank_program::RankProgram;
use crate::rule::{ProgramContext, ProgramRule};
use crate::trace::Trace;
use odonata_declare::{parameters, Kind, ParameterMistake, Reader};
use std::sync::Arc;

parameters! {
    /// Parameters of `trace`.
    pub struct TraceParameters {
        /// Path of a list of files, one per rank, or of one file with the lines of all ranks.
        pub path: String, Kind::Path;
        /// Floating-point operations of the trace that a rank computes per second.
        pub flops_per_s: f64 = 1e9, Kind::Number { min: 1.0, max: 1e18 };
        /// Content of the files, after they were read.
        pub trace: Option<Arc<Trace>> = None, no key;
    }
}

impl ProgramRule for TraceParameters {
    fn read(&mut self, ranks: u32, files: &mut dyn Reader) -> Result<(), ParameterMistake> {
        let trace = Trace::read(&self.path, ranks, self.flops_per_s, files).map_err(|reason| ("path", reason))?;
        self.trace = Some(Arc::new(trace));
        Ok(())
    }

    fn build(&self, context: &ProgramContext<'_>) -> Result<Arc<dyn RankProgram>, ParameterMistake> {
        let trace = self.trace.clone().map(|trace| trace as Arc<dyn RankProgram>);
        file::built(&self.path, "trace", trace, context)
    }
}
