//! The program `trace`: replay of a real run.

use super::file;
use crate::collective::Collectives;
use crate::rank_program::RankProgram;
use crate::rule::{ProgramContext, ProgramRule};
use crate::trace::{ChakraSettings, ComputeTimes, Content, Recording, TraceFormat};
use odonata_declare::{parameters, Choice, Kind, ParameterMistake, Reader, AUTO};
use odonata_trace::TaskGraph;
use odonata_units::Time;
use std::sync::Arc;

parameters! {
    /// Parameters of `trace`.
    pub struct TraceParameters {
        /// Path of the trace, or of one of its files. `chakra`: the file of any rank. `dumpi`: the `.meta` file, or the file of any rank. `simgrid`: a list of files, one per rank, or one file with the lines of all ranks.
        pub path: String, Kind::Path;
        /// Format of the file. `auto` finds it in the content.
        pub format: Option<TraceFormat> = None, Kind::WordOr(AUTO, &TraceFormat::KIND);
        /// `simgrid`, and `chakra` for nodes without a duration: floating-point operations of the trace that a rank computes per second.
        pub flops_per_s: f64 = 1e9, Kind::Number { min: 1.0, max: 1e18 };
        /// Factor of the computation times in the trace, for a faster or slower processor.
        pub compute_factor: f64 = 1.0, Kind::Number { min: 0.0, max: 1e6 };
        /// Time of each computation, instead of the times in the trace.
        pub compute: Option<Time> = None, Kind::WordOr(MEASURED, &Kind::Time);
        /// `chakra`: whether nodes of a CPU take their time. Their dependencies count in any case.
        pub cpu_nodes: bool = true;
        /// `chakra`: file with the groups of ranks, in JSON.
        pub groups: Option<String> = None, Kind::Path, else "`NAME.json` for `NAME.0.et`";
        /// Content of the files, after they were read.
        pub recording: Option<Arc<Recording>> = None, no key;
    }
}

/// Computation as in the trace.
const MEASURED: &Choice = &Choice { name: "measured", doc: "as in the trace, times `compute_factor`" };

impl TraceParameters {
    fn settings(&self) -> ChakraSettings {
        let times =
            ComputeTimes { ps_per_flop: 1e12 / self.flops_per_s, factor: self.compute_factor, each: self.compute };
        ChakraSettings { times, cpu_nodes: self.cpu_nodes, groups: self.groups.clone() }
    }
}

impl ProgramRule for TraceParameters {
    fn read(&mut self, ranks: u32, files: &mut dyn Reader) -> Result<(), ParameterMistake> {
        let recording = Recording::read(&self.path, self.format, Some(ranks), &self.settings(), files);
        self.recording = Some(Arc::new(recording.map_err(|reason| ("path", reason))?));
        Ok(())
    }

    fn read_ranks(&mut self, files: &mut dyn Reader) -> Result<Option<u32>, ParameterMistake> {
        let recording = Recording::read(&self.path, self.format, None, &self.settings(), files);
        let recording = recording.map_err(|reason| ("path", reason))?;
        let ranks = recording.has_ranks().then(|| recording.ranks());
        self.recording = ranks.map(|_| Arc::new(recording));
        Ok(ranks)
    }

    fn warnings(&self) -> Vec<String> {
        self.recording.as_ref().map_or_else(Vec::new, |recording| recording.survey().warnings())
    }

    fn graph(&self, collectives: &Collectives) -> Result<Option<Arc<TaskGraph>>, ParameterMistake> {
        let content = self.recording.as_ref().map(|recording| &recording.content);
        match content {
            Some(Content::Tasks(graph, _)) => Ok(Some(Arc::clone(graph))),
            Some(Content::Nodes(nodes, _)) => {
                nodes.tasks(collectives).map(|graph| Some(Arc::new(graph))).map_err(|reason| ("path", reason))
            }
            Some(Content::Calls(_)) | None => Ok(None),
        }
    }

    fn build(&self, context: &ProgramContext<'_>) -> Result<Arc<dyn RankProgram>, ParameterMistake> {
        let trace = self.recording.as_ref().and_then(|recording| match &recording.content {
            Content::Calls(trace) => Some(Arc::clone(trace) as Arc<dyn RankProgram>),
            Content::Tasks(..) | Content::Nodes(..) => None,
        });
        file::built(&self.path, "trace", trace, context)
    }
}
