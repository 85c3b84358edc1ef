//! The program `trace`: replay of the calls of a real run.

use super::file;
use crate::rank_program::RankProgram;
use crate::rule::{ProgramContext, ProgramRule};
use crate::trace::Trace;
use odonata_declare::{parameters, words, Kind, ParameterMistake, Reader, AUTO};
use odonata_trace::{goal, TaskGraph};
use std::sync::Arc;

words! {
    /// Format of a trace.
    pub enum TraceFormat {
        SimGrid = "simgrid": "time-independent trace of SimGrid",
        Goal = "goal": "task graph of LogGOPSim, as text or binary",
    }
}

parameters! {
    /// Parameters of `trace`.
    pub struct TraceParameters {
        /// Path of a GOAL file, or for `simgrid` of a list of files, one per rank, or of one file with the lines of all ranks.
        pub path: String, Kind::Path;
        /// Format of the file. `auto` finds it in the content.
        pub format: Option<TraceFormat> = None, Kind::WordOr(AUTO, &TraceFormat::KIND);
        /// `simgrid`: floating-point operations of the trace that a rank computes per second.
        pub flops_per_s: f64 = 1e9, Kind::Number { min: 1.0, max: 1e18 };
        /// Content of the files, after they were read.
        pub trace: Option<Arc<Trace>> = None, no key;
        /// The task graph, if the file has one.
        pub graph: Option<Arc<TaskGraph>> = None, no key;
    }
}

impl TraceParameters {
    fn read_graph(&self, ranks: u32, files: &mut dyn Reader) -> Result<TaskGraph, String> {
        let graph = goal::read(&self.path, &mut *files.open(&self.path)?)?;
        if graph.ranks.len() != ranks as usize {
            let of = graph.ranks.len();
            return Err(format!("{}: a graph of {of} ranks, but the job has {ranks}", self.path));
        }
        Ok(graph)
    }

    /// The format by the first bytes of the file.
    fn found_format(&self, files: &mut dyn Reader) -> Result<TraceFormat, String> {
        let mut input = files.open(&self.path)?;
        let start = input.fill_buf().map_err(|error| format!("{}: {error}", self.path))?;
        Ok(if goal::is_goal(start) { TraceFormat::Goal } else { TraceFormat::SimGrid })
    }
}

impl ProgramRule for TraceParameters {
    fn read(&mut self, ranks: u32, files: &mut dyn Reader) -> Result<(), ParameterMistake> {
        let wrong = |reason| ("path", reason);
        let format = self.format.map_or_else(|| self.found_format(files), Ok).map_err(wrong)?;
        match format {
            TraceFormat::Goal => self.graph = Some(Arc::new(self.read_graph(ranks, files).map_err(wrong)?)),
            TraceFormat::SimGrid => {
                let trace = Trace::read(&self.path, ranks, self.flops_per_s, files).map_err(wrong)?;
                self.trace = Some(Arc::new(trace));
            }
        }
        Ok(())
    }

    fn graph(&self) -> Option<Arc<TaskGraph>> {
        self.graph.clone()
    }

    fn build(&self, context: &ProgramContext<'_>) -> Result<Arc<dyn RankProgram>, ParameterMistake> {
        let trace = self.trace.clone().map(|trace| trace as Arc<dyn RankProgram>);
        file::built(&self.path, "trace", trace, context)
    }
}
