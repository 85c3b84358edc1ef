//! What partitions say about the boundaries of a loop: whether their state is the same as before.

use odonata_checkpoint::{add_advance, Advances, Difference, Snapshot};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Mutex;

/// Verdicts on the last boundary, from all partitions.
#[derive(Default)]
pub(super) struct Verdicts(Mutex<Board>);

#[derive(Default)]
struct Board {
    boundary: u64,
    /// By partition.
    verdicts: BTreeMap<usize, Result<Advances, Difference>>,
    digests: BTreeMap<usize, Vec<u8>>,
}

impl Verdicts {
    /// Adds the verdict of a partition: its state at a boundary, and at the one to compare with.
    pub(super) fn add(&self, boundary: u64, partition: usize, now: &Snapshot, earlier: Option<&Snapshot>) {
        let verdict = earlier.map_or(Err(Difference::State), |earlier| now.advances_since(earlier));
        let mut digest = Sha256::new();
        now.digest_into(&mut digest);
        let mut board = self.0.lock().expect("no thread panicked");
        if board.boundary != boundary {
            *board = Board { boundary, ..Board::default() };
        }
        board.verdicts.insert(partition, verdict);
        board.digests.insert(partition, digest.finalize().to_vec());
    }

    /// Digest of the state at a boundary, if it is the state of `iterations` iterations before.
    ///
    /// # Errors
    /// What differs, in the first partition with a difference.
    pub(super) fn of(&self, boundary: u64, iterations: u64) -> Result<String, Difference> {
        let board = self.0.lock().expect("no thread panicked");
        assert_eq!(board.boundary, boundary, "partitions looked at this boundary");
        let mut all = Advances::new();
        for verdict in board.verdicts.values() {
            for (class, advance) in verdict.clone()? {
                add_advance(&mut all, class, advance)?;
                if class.kind == "iterations" && advance != iterations {
                    return Err(Difference::Counters(class.kind));
                }
            }
        }
        let mut digest = Sha256::new();
        board.digests.values().for_each(|of| digest.update(of));
        let mut text = String::new();
        digest.finalize().iter().for_each(|byte| write!(text, "{byte:02x}").expect("a string grows"));
        Ok(text)
    }
}
