//! Formats of files, and their detection.

use crate::text::is_text;
use crate::{codes, csv, damselfly, htsim, matrix, tracer, CommunicationGraph, PlacementTable};
use odonata_declare::{words, FileError};

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
        Matrix = "matrix": "a matrix of bytes as text, a row for each sender",
    }
}

impl PlacementFormat {
    /// Detects the format from the content.
    ///
    /// # Errors
    /// Binary data that fit both formats: their names, and the key that decides.
    pub fn detect(bytes: &[u8]) -> Result<Self, String> {
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
    pub fn read(self, label: &str, bytes: &[u8]) -> Result<PlacementTable, FileError> {
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
    pub fn detect(bytes: &[u8]) -> Self {
        match is_text(bytes) {
            true if htsim::matches_format(&bytes[..bytes.len().min(4096)]) => Self::Htsim,
            true if matrix::matches_format(first_lines(bytes)) => Self::Matrix,
            true => Self::Csv,
            false => Self::Damselfly,
        }
    }

    /// Reads a graph of this format.
    pub fn read(self, label: &str, bytes: &[u8], ranks: u32) -> Result<CommunicationGraph, FileError> {
        match self {
            Self::Csv => csv::communication_graph(label, bytes, Some(ranks)),
            Self::Damselfly => damselfly::communication_graph(label, bytes, Some(ranks)),
            Self::Htsim => htsim::communication_graph(label, bytes, Some(ranks)),
            Self::Matrix => matrix::communication_graph(label, bytes, Some(ranks)),
        }
    }
}

/// The whole lines at the start of a text, or its only line.
fn first_lines(bytes: &[u8]) -> &[u8] {
    let start = &bytes[..bytes.len().min(1 << 20)];
    let cut = start.iter().rposition(|&byte| byte == b'\n').unwrap_or(start.len());
    &start[..cut]
}
