//! Reads a trace of any format.

use super::{
    allprof, astra, chakra, dumpi, file, foreign, otf2, ChakraSettings, ComputeTimes, Content, Recording, Trace,
    TraceFormat,
};
use odonata_declare::Reader;
use odonata_trace::allprof::is_allprof;
use odonata_trace::{goal, is_trace_file, Survey, Work};
use std::sync::Arc;

impl Recording {
    /// Reads a trace. `ranks` is the number of ranks of the job, if it is given.
    pub(crate) fn read(
        path: &str,
        format: Option<TraceFormat>,
        ranks: Option<u32>,
        settings: &ChakraSettings,
        files: &mut dyn Reader,
    ) -> Result<Self, String> {
        let format = format.map_or_else(|| found_format(path, files), Ok)?;
        let mut source = format;
        let content = match format {
            TraceFormat::SimGrid => Content::Calls(Arc::new(Trace::read(path, ranks, settings.times, files)?)),
            TraceFormat::Dumpi => Content::Calls(Arc::new(dumpi::read(path, ranks, settings.times, files)?)),
            TraceFormat::Otf2 => Content::Calls(Arc::new(otf2::read(path, ranks, settings.times, files)?)),
            TraceFormat::Allprof => Content::Calls(Arc::new(allprof::read(path, ranks, settings.times, files)?)),
            TraceFormat::Goal => read_goal(path, ranks, settings, files)?,
            TraceFormat::Chakra => {
                let (nodes, survey) = chakra::read(path, ranks, settings, files)?;
                Content::Nodes(Arc::new(nodes), survey)
            }
            TraceFormat::Astra => {
                let (nodes, survey) = astra::read(path, ranks, settings, files)?;
                Content::Nodes(Arc::new(nodes), survey)
            }
            TraceFormat::File => {
                let (original, content) = file::read(path, ranks, settings, files)?;
                source = original;
                content
            }
        };
        Ok(Self { format, source, content, path: path.to_owned() })
    }

    /// Reads a trace with its own times; an operation takes 1 ns. `ranks` is for formats without a number of ranks,
    /// `groups` the file with the groups of Chakra's nodes.
    ///
    /// # Errors
    /// A mistake in a file: its place and what was expected.
    pub fn open(
        path: &str,
        format: Option<TraceFormat>,
        ranks: Option<u32>,
        groups: Option<String>,
        files: &mut dyn Reader,
    ) -> Result<Self, String> {
        let times = ComputeTimes { ps_per_flop: 1e3, factor: 1.0, each: None };
        Self::read(path, format, ranks, &ChakraSettings { times, cpu_nodes: true, groups }, files)
    }
}

/// The format by the first bytes of the file.
fn found_format(path: &str, files: &mut dyn Reader) -> Result<TraceFormat, String> {
    let mut input = files.open(path)?;
    let start = input.fill_buf().map_err(|error| format!("{path}: {error}"))?;
    if let Some(kind) = foreign::refusal(start) {
        return Err(format!("{path}: {kind}"));
    }
    Ok(match start {
        _ if is_trace_file(start) => TraceFormat::File,
        _ if goal::is_goal(start) => TraceFormat::Goal,
        _ if dumpi::is_set(start) => TraceFormat::Dumpi,
        _ if otf2::is_archive(start) => TraceFormat::Otf2,
        _ if is_allprof(start) => TraceFormat::Allprof,
        _ if chakra::is_trace(start) => TraceFormat::Chakra,
        _ if astra::is_workload(start) => TraceFormat::Astra,
        _ => TraceFormat::SimGrid,
    })
}

fn read_goal(
    path: &str,
    ranks: Option<u32>,
    settings: &ChakraSettings,
    files: &mut dyn Reader,
) -> Result<Content, String> {
    let graph = goal::read(path, &mut *files.open(path)?)?;
    let of = graph.ranks.len();
    if let Some(ranks) = ranks.filter(|&ranks| ranks as usize != of) {
        return Err(format!("{path}: a graph of {of} ranks, but the job has {ranks}"));
    }
    let graph = settings.times.of_graph(graph).map_err(|reason| format!("{path}: {reason}"))?;
    let mut survey = Survey::default();
    for task in graph.ranks.iter().flat_map(|rank| rank.tasks()) {
        let kind = match task.work {
            Work::Send { .. } => "send",
            Work::Receive { .. } => "recv",
            Work::Compute { .. } => "calc",
        };
        survey.count(kind, true, "");
    }
    Ok(Content::Tasks(Arc::new(graph), survey))
}
