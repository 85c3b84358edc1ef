//! A trace of any format.

use super::{astra, chakra, dumpi, file, foreign, ChakraSettings, ComputeTimes, NodeGraph, Trace};
use odonata_declare::{words, Reader};
use odonata_trace::{goal, is_trace_file, Survey, TaskGraph, Work};
use std::fmt::{Debug, Formatter};
use std::sync::Arc;

words! {
    /// Format of a trace.
    pub enum TraceFormat {
        SimGrid = "simgrid": "time-independent trace of SimGrid",
        Dumpi = "dumpi": "records of MPI calls of sst-dumpi, one file per rank",
        Goal = "goal": "task graph of LogGOPSim, as text or binary",
        Chakra = "chakra": "execution trace of Chakra, one file per rank, as protocol buffers or JSON",
        Astra = "astra-sim": "text workload of ASTRA-sim",
        File = "odonata": "trace file of `odonata trace convert`",
    }
}

/// A trace that was read.
pub struct Recording {
    /// Its format.
    pub format: TraceFormat,
    /// The format of the original of a trace file, else the same.
    pub source: TraceFormat,
    pub(crate) content: Content,
    pub(crate) path: String,
}

impl Debug for Recording {
    // Descriptions of different jobs differ. The calls would be long, so their fingerprint stands for them.
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let fingerprint = match &self.content {
            Content::Calls(trace) => trace.fingerprint,
            Content::Tasks(..) | Content::Nodes(..) => 0,
        };
        let mut text = f.debug_struct("Recording");
        text.field("format", &self.format).field("path", &self.path).field("fingerprint", &fingerprint);
        text.finish_non_exhaustive()
    }
}

/// What a trace has for each rank.
pub(crate) enum Content {
    Calls(Arc<Trace>),
    Tasks(Arc<TaskGraph>, Survey),
    Nodes(Arc<NodeGraph>, Survey),
}

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

    /// What the files have, and what of it is replayed.
    pub fn survey(&self) -> &Survey {
        match &self.content {
            Content::Calls(trace) => trace.survey(),
            Content::Tasks(_, survey) | Content::Nodes(_, survey) => survey,
        }
    }

    /// Whether the files say for how many ranks they are.
    pub fn has_ranks(&self) -> bool {
        self.format != TraceFormat::Astra
    }

    /// Number of ranks.
    pub fn ranks(&self) -> u32 {
        use crate::rank_program::RankProgram;
        match &self.content {
            Content::Calls(trace) => trace.ranks(),
            Content::Tasks(graph, _) => graph.ranks.len() as u32,
            Content::Nodes(nodes, _) => nodes.ranks(),
        }
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
