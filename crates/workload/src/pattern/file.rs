//! The pattern of a communication graph from a file.

use super::rule::{PatternContext, PatternRule};
use crate::communication::{Pattern, SentMessage};
use odonata_declare::{parameters, Kind, ParameterMistake, Reader, AUTO};
use odonata_import::{CommunicationGraph, GraphFormat};
use odonata_programs::{MessageCounts, Sender};
use odonata_units::RankId;
use std::cmp::Ordering;
use std::sync::Arc;

parameters! {
    /// Parameters of `file`.
    pub struct FilePatternParameters {
        /// Path of the communication graph: CSV, Parquet, a matrix of bytes as text, Damselfly's binary format, or htsim's `.cm`.
        pub path: String, Kind::Path;
        /// File format. If not given, it is detected from the content.
        pub format: Option<GraphFormat> = None, Kind::WordOr(AUTO, &GraphFormat::KIND);
        /// Content of the file, after it was read.
        pub graph: Option<Arc<CommunicationGraph>> = None, no key;
    }
}

impl PatternRule for FilePatternParameters {
    fn read(&mut self, ranks: u32, files: &mut dyn Reader) -> Result<(), ParameterMistake> {
        let bytes = files.read_filled(&self.path).map_err(|reason| ("path", reason))?;
        let format = self.format.unwrap_or_else(|| GraphFormat::detect(&bytes));
        let graph = format.read(&self.path, &bytes, ranks).map_err(|error| ("path", error.to_string()))?;
        self.graph = Some(Arc::new(graph));
        Ok(())
    }

    fn build(&self, context: &PatternContext<'_>) -> Result<Arc<dyn Pattern>, ParameterMistake> {
        let wrong = |reason: String| Err(("path", reason));
        let Some(graph) = &self.graph else {
            return wrong(match self.path.as_str() {
                "" => "missing; write the path of a communication graph".into(),
                path => format!("no communication graph was read from '{path}'"),
            });
        };
        let (mentioned, ranks) = (graph.ranks(), context.ranks);
        Ok(match mentioned.cmp(&ranks) {
            Ordering::Equal => Arc::clone(graph) as Arc<dyn Pattern>,
            // Ranks that the file does not mention send nothing.
            Ordering::Less => Arc::new(graph.widen(ranks)),
            Ordering::Greater => {
                return wrong(format!("'{}' has {mentioned} ranks, but the job has {ranks}", self.path));
            }
        })
    }
}

impl Pattern for CommunicationGraph {
    fn ranks(&self) -> u32 {
        self.ranks()
    }

    fn sends(&self, rank: RankId, out: &mut Vec<SentMessage>) {
        out.extend(self.messages_of(rank).map(|(target, bytes)| SentMessage { target, bytes }));
    }

    fn counts(&self) -> MessageCounts {
        let (mut counts, mut sender) = (MessageCounts::default(), Sender::default());
        for rank in 0..self.ranks() {
            self.messages_of(RankId(rank)).for_each(|(target, bytes)| sender.send(target.0, bytes, 1, &mut counts));
            sender.hand_over(&mut counts);
            sender = Sender::default();
        }
        counts
    }
}
