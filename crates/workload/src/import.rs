//! Readers of communication graphs and placements, one file per format. They accept bytes or columns and a label for
//! messages; the caller reads the file.
//!
//! Every error names the label and the place (`line 12`, `byte 144`, `row 7`) and what was expected.

pub mod codes;
pub mod columns;
pub mod csv;
pub mod damselfly;
pub mod htsim;
pub mod tracer;

use crate::graph::rank_out_of_range;
use crate::{CommunicationGraph, PlacementTable, WorkloadError};
use odonata_declare::{words, Reader};
use odonata_units::{Bytes, RankId};

/// Limit on a number of ranks that follows from the messages. A typing error in a file must not use all memory; a
/// larger job must give its number of ranks.
pub const MAX_DERIVED_RANKS: u32 = 1 << 24;

/// The bytes of a table or of records.
pub(crate) fn open(name: &str, files: &mut dyn Reader) -> Result<Vec<u8>, String> {
    let bytes = files.read(name)?;
    match bytes.is_empty() {
        true => Err(format!("{name} is empty; expected a table or records")),
        false => Ok(bytes),
    }
}

/// Whether a file is a table. Binary 32-bit numbers below 2^24 have zero bytes.
pub(crate) fn is_text(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(256)];
    !start.contains(&0)
        && (start.iter().any(u8::is_ascii_alphabetic) || start.iter().all(|&b| b >= b' ' || b.is_ascii_whitespace()))
}

words! {
    /// File format of a placement.
    pub enum PlacementFormat {
        Csv = "csv": "a table with the columns `rank` and `node`, CSV or Parquet",
        Damselfly = "damselfly": "the map of Damselfly: six 32-bit numbers per rank",
        Codes = "codes": "the allocation of CODES: a line of nodes per job",
        Tracer = "tracer": "the global map of TraceR: three 32-bit numbers per rank (server, rank, job)",
    }
}

words! {
    /// File format of a communication graph.
    pub enum GraphFormat {
        Csv = "csv": "a table with the columns `src`, `dst`, `bytes`, CSV or Parquet",
        Damselfly = "damselfly": "records of Damselfly: two 32-bit numbers and one 64-bit number",
        Htsim = "htsim": "the connection matrix of htsim (`.cm`)",
    }
}

impl PlacementFormat {
    /// Detects the format from the content.
    ///
    /// # Errors
    /// Binary data that fit both formats: their names, and the key that decides.
    pub(crate) fn detect(bytes: &[u8]) -> Result<Self, String> {
        let start = &bytes[..bytes.len().min(4096)];
        let cut = start.iter().rposition(|&b| b == b'\n').unwrap_or(start.len());
        if is_text(bytes) {
            return Ok(if codes::matches_format(&start[..cut]) { Self::Codes } else { Self::Csv });
        }
        match (damselfly::matches_format(bytes), tracer::matches_format(bytes)) {
            (true, true) => {
                Err("records fit both a map of Damselfly and one of TraceR; give format = \"damselfly\" or format = \
                    \"tracer\""
                    .into())
            }
            (false, true) => Ok(Self::Tracer),
            _ => Ok(Self::Damselfly),
        }
    }

    /// Reads a placement of this format.
    pub(crate) fn read(self, label: &str, bytes: &[u8]) -> Result<PlacementTable, WorkloadError> {
        match self {
            Self::Csv => csv::placement(label, bytes),
            Self::Damselfly => damselfly::placement(label, bytes),
            Self::Codes => codes::placement(label, bytes),
            Self::Tracer => tracer::placement(label, bytes),
        }
    }
}

impl GraphFormat {
    /// Detects the format from the content.
    pub(crate) fn detect(bytes: &[u8]) -> Self {
        match is_text(bytes) {
            true if htsim::matches_format(&bytes[..bytes.len().min(4096)]) => Self::Htsim,
            true => Self::Csv,
            false => Self::Damselfly,
        }
    }

    /// Reads a graph of this format.
    pub(crate) fn read(self, label: &str, bytes: &[u8], ranks: u32) -> Result<CommunicationGraph, WorkloadError> {
        match self {
            Self::Csv => csv::communication_graph(label, bytes, Some(ranks)),
            Self::Damselfly => damselfly::communication_graph(label, bytes, Some(ranks)),
            Self::Htsim => htsim::communication_graph(label, bytes, Some(ranks)),
        }
    }
}

/// The text of a file.
fn text<'a>(label: &str, bytes: &'a [u8]) -> Result<&'a str, WorkloadError> {
    let text = std::str::from_utf8(bytes);
    text.map_err(|error| {
        WorkloadError::file(label, format!("byte {}", error.valid_up_to()), "expected UTF-8 text, found binary data")
    })
}

/// Messages of a graph, checked as they are read.
#[derive(Debug)]
pub struct MessageList<'a> {
    label: &'a str,
    ranks: Option<u32>,
    messages: Vec<(RankId, RankId, Bytes)>,
    largest: Option<u32>,
}

impl<'a> MessageList<'a> {
    /// An empty list for a graph of `ranks` ranks, or of as many as the messages mention. `label` names the file in
    /// errors.
    pub fn new(label: &'a str, ranks: Option<u32>) -> Self {
        Self { label, ranks, messages: Vec::new(), largest: None }
    }

    /// Adds the message at `place`.
    ///
    /// # Errors
    /// A rank out of range, or an invalid number of bytes.
    pub fn push(
        &mut self,
        source: i64,
        target: i64,
        bytes: f64,
        place: impl Fn() -> String,
    ) -> Result<(), WorkloadError> {
        let wrong = |reason: String| Err(WorkloadError::file(self.label, place(), reason));
        let most = self.ranks.unwrap_or(MAX_DERIVED_RANKS);
        for rank in [source, target] {
            if rank < 0 || rank >= i64::from(most) {
                return wrong(match self.ranks {
                    Some(ranks) => rank_out_of_range(rank, ranks),
                    None => format!("rank {rank}, expected 0 to {}; give the number of ranks if it is right", most - 1),
                });
            }
        }
        // About 2^63 bytes. Larger values are errors in the file.
        if !(0.0..=9.2e18).contains(&bytes) {
            return wrong(format!("{bytes} bytes, expected a number of at least 0"));
        }
        self.largest = self.largest.max(Some(source.max(target) as u32));
        // Averages give fractions of a byte, which are rounded.
        self.messages.push((RankId(source as u32), RankId(target as u32), Bytes(bytes.round() as u64)));
        Ok(())
    }

    /// Whether there are no messages yet.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// The graph of all messages.
    ///
    /// # Errors
    /// The messages mention too many ranks.
    pub fn finish(self) -> Result<CommunicationGraph, WorkloadError> {
        let ranks = self.ranks.unwrap_or(self.largest.map_or(0, |rank| rank + 1));
        CommunicationGraph::from_messages(self.label, ranks, &self.messages)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_without_a_header_is_no_list_of_numbers() {
        assert!(is_text(b"src,dst,bytes\n0,4,512\n"));
        assert!(is_text(b"0,4,512\n1,5,512\n"));
        let records: Vec<u8> = [0u32, 4, 512, 1, 5, 512].iter().flat_map(|n| n.to_le_bytes()).collect();
        assert!(!is_text(&records));
    }
}
