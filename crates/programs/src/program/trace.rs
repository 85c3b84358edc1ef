//! The program `trace`: replay of the calls of a real run.

use super::file;
use crate::rank_program::RankProgram;
use crate::rule::{ProgramContext, ProgramRule};
use crate::trace::Trace;
use odonata_declare::{parameter, Kind, Parameter, ParameterError, Parameters, Reader};
use std::sync::Arc;

/// Parameters of `trace`.
#[derive(Clone, Debug)]
pub struct TraceParameters {
    /// Path given by the user.
    pub path: String,
    /// Floating-point operations per second.
    pub flops_per_s: f64,
    /// Content of the files, after they were read.
    pub trace: Option<Arc<Trace>>,
}

impl Default for TraceParameters {
    fn default() -> Self {
        Self { path: String::new(), flops_per_s: 1e9, trace: None }
    }
}

impl Parameters for TraceParameters {
    const PARAMETERS: &'static [Parameter<Self>] = &[
        parameter!(
            path,
            Kind::Path,
            "Path of a list of files, one per rank, or of one file with the lines of all \
            ranks.",
            required
        ),
        parameter!(
            flops_per_s,
            Kind::Number { min: 1.0, max: 1e18 },
            "Floating-point operations of the trace that a rank computes per second."
        ),
    ];
}

impl ProgramRule for TraceParameters {
    fn read(&mut self, ranks: u32, files: &mut dyn Reader) -> Result<(), (&'static str, String)> {
        let trace = Trace::read(&self.path, ranks, self.flops_per_s, files).map_err(|reason| ("path", reason))?;
        self.trace = Some(Arc::new(trace));
        Ok(())
    }

    fn build(&self, owner: &str, context: &ProgramContext<'_>) -> Result<Arc<dyn RankProgram>, ParameterError> {
        let trace = self.trace.clone().map(|trace| trace as Arc<dyn RankProgram>);
        file::built(owner, &self.path, "trace", trace, context)
    }
}
