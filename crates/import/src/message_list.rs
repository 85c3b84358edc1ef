//! Messages of a file as they are read.

use crate::graph::rank_out_of_range;
use crate::CommunicationGraph;
use odonata_declare::FileError;
use odonata_units::{Bytes, RankId};

/// Limit on a number of ranks that follows from the messages. A typing error in a file must not use all memory; a
/// larger job must give its number of ranks.
pub const MAX_DERIVED_RANKS: u32 = 1 << 24;

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
    pub fn push(&mut self, source: i64, target: i64, bytes: f64, place: impl Fn() -> String) -> Result<(), FileError> {
        let wrong = |reason: String| Err(FileError::new(self.label, place(), reason));
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
    pub fn finish(self) -> Result<CommunicationGraph, FileError> {
        let ranks = self.ranks.unwrap_or(self.largest.map_or(0, |rank| rank + 1));
        CommunicationGraph::from_messages(self.label, ranks, &self.messages)
    }
}
