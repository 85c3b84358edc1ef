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
    digests: BTreeMap<usize, [u8; 32]>,
}

impl Verdicts {
    /// Adds the verdict of a partition: its state at a boundary, and at the one to compare with.
    pub(super) fn add(&self, boundary: u64, partition: usize, now: &Snapshot, earlier: Option<&Snapshot>) {
        let verdict = earlier.map_or(Err(Difference::State("the run")), |earlier| now.advances_since(earlier));
        let digest = now.digest();
        let mut board = self.0.lock().expect("no thread panicked");
        if board.boundary != boundary {
            *board = Board { boundary, ..Board::default() };
        }
        board.verdicts.insert(partition, verdict);
        board.digests.insert(partition, digest);
    }

    /// Digest of the state at a boundary, and whether it is the state of `iterations` iterations before: `None`, or
    /// what differs in the first partition with a difference.
    pub(super) fn of(&self, boundary: u64, iterations: u64) -> ([u8; 32], Option<Difference>) {
        let board = self.0.lock().expect("no thread panicked");
        assert_eq!(board.boundary, boundary, "partitions looked at this boundary");
        let mut digest = Sha256::new();
        board.digests.values().for_each(|of| digest.update(of));
        (digest.finalize().into(), board.difference(iterations).err())
    }
}

impl Board {
    fn difference(&self, iterations: u64) -> Result<(), Difference> {
        // A stream that drew is the better reason: other differences follow from it.
        let drew = |verdict: &&Result<Advances, Difference>| matches!(verdict, Err(Difference::Random(_)));
        if let Some(Err(drew)) = self.verdicts.values().find(drew) {
            return Err(drew.clone());
        }
        let mut all = Advances::new();
        for verdict in self.verdicts.values() {
            for (class, advance) in verdict.as_ref().map_err(Clone::clone)? {
                add_advance(&mut all, *class, *advance)?;
                if class.kind == "iterations" && *advance != iterations {
                    return Err(Difference::Counters(class.kind));
                }
            }
        }
        Ok(())
    }
}

/// A digest in hexadecimal digits.
pub(super) fn hexadecimal(digest: &[u8]) -> String {
    digest.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string grows");
        text
    })
}
