//! The pattern of a communication graph from a file.

use super::{Pattern, PatternContext, PatternRule, SentMessage};
use odonata_declare::{parameter, Kind, Parameter, ParameterError, Parameters, Reader, AUTO};
use odonata_import::{CommunicationGraph, GraphFormat};
use odonata_units::RankId;
use std::sync::Arc;

/// Parameters of `file`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FilePatternParameters {
    /// Path given by the user.
    pub path: String,
    /// File format. If not given, it is detected.
    pub format: Option<GraphFormat>,
    /// Content of the file, after it was read.
    pub graph: Option<Arc<CommunicationGraph>>,
}

impl Parameters for FilePatternParameters {
    const PARAMETERS: &'static [Parameter<Self>] = &[
        parameter!(
            path,
            Kind::Path,
            "Path of the communication graph: CSV, Parquet, Damselfly's binary format, or \
            htsim's `.cm`.",
            required
        ),
        parameter!(
            format,
            Kind::WordOr(AUTO, &GraphFormat::KIND),
            "File format. If not given, it is detected from the content."
        ),
    ];
}

impl PatternRule for FilePatternParameters {
    fn read(&mut self, ranks: u32, files: &mut dyn Reader) -> Result<(), (&'static str, String)> {
        let bytes = files.read_filled(&self.path).map_err(|reason| ("path", reason))?;
        let format = self.format.unwrap_or_else(|| GraphFormat::detect(&bytes));
        let graph = format.read(&self.path, &bytes, ranks).map_err(|error| ("path", error.to_string()))?;
        self.graph = Some(Arc::new(graph));
        Ok(())
    }

    fn build(&self, owner: &str, context: &PatternContext<'_>) -> Result<Arc<dyn Pattern>, ParameterError> {
        let graph = graph_for(owner, self, context.ranks)?;
        Ok(graph)
    }
}

impl Pattern for CommunicationGraph {
    fn ranks(&self) -> u32 {
        self.ranks()
    }

    fn sends(&self, rank: RankId, out: &mut Vec<SentMessage>) {
        out.extend(self.messages_of(rank).map(|(target, bytes)| SentMessage { target, bytes }));
    }
}

/// The graph as the pattern of a job of `ranks` ranks. Ranks that the file does not mention send nothing.
pub(super) fn graph_for(
    owner: &str,
    parameters: &FilePatternParameters,
    ranks: u32,
) -> Result<Arc<CommunicationGraph>, ParameterError> {
    let wrong = |reason: String| Err(ParameterError::new(owner, "path", reason));
    let Some(graph) = &parameters.graph else {
        return wrong(match parameters.path.as_str() {
            "" => "missing; write the path of a communication graph".into(),
            path => format!("no communication graph was read from '{path}'"),
        });
    };
    let mentioned = graph.ranks();
    match mentioned.cmp(&ranks) {
        std::cmp::Ordering::Equal => Ok(Arc::clone(graph)),
        std::cmp::Ordering::Less => Ok(Arc::new(graph.widen(ranks))),
        std::cmp::Ordering::Greater => {
            wrong(format!("'{}' has {mentioned} ranks, but the job has {ranks}", parameters.path))
        }
    }
}
