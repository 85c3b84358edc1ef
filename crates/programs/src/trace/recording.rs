//! A trace of any format.

use super::{NodeGraph, Trace};
use odonata_declare::words;
use odonata_trace::{Survey, TaskGraph};
use std::fmt::{Debug, Formatter};
use std::sync::Arc;

words! {
    /// Format of a trace.
    pub enum TraceFormat {
        SimGrid = "simgrid": "time-independent trace of SimGrid",
        Dumpi = "dumpi": "records of MPI calls of sst-dumpi, one file per rank",
        Otf2 = "otf2": "archive of Score-P, `traces.otf2`",
        Allprof = "liballprof": "calls of MPI in text, one file per rank, the source of Schedgen's GOAL files",
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
