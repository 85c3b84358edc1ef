//! The program of every rank of a job.

use crate::code::Code;
use crate::repetition::Repetition;
use crate::representatives::Representatives;
use odonata_units::Bytes;

/// Program of every rank of a job. Pure: independent of threads and of the order of calls.
pub trait RankProgram: std::fmt::Debug + Send + Sync {
    /// Number of ranks, `0..ranks()`.
    fn ranks(&self) -> u32;

    /// Number of blocks of a rank.
    fn blocks(&self, rank: u32) -> u64;

    /// Appends the instructions of a block of `rank`. A block must be short enough for every rank to store one.
    fn block(&self, rank: u32, index: u64, code: &mut Code);

    /// The longest loop of `rank` whose iterations are equal, if the program knows one.
    fn repetition(&self, rank: u32) -> Option<Repetition> {
        let _ = rank;
        None
    }

    /// Bytes from `from` to `to` (ranks of the job) in the vector form of a collective with `sizes`.
    fn size(&self, sizes: u32, from: u32, to: u32) -> Bytes {
        let _ = (sizes, from, to);
        Bytes(0)
    }

    /// Blocks that stand for all. `None` if they are unknown, as for traces.
    fn representatives(&self) -> Option<Representatives> {
        None
    }

    /// How often the messages of a block count, in a program that stands for a longer one.
    fn times(&self, rank: u32, index: u64) -> u64 {
        let _ = (rank, index);
        1
    }

    /// Whether any rank splits a communicator ([`Call::CommSplit`](crate::Call::CommSplit)).
    fn splits(&self) -> bool {
        false
    }

    /// Number of streams ([`Call::Stream`](crate::Call::Stream)). A program with streams runs as a task graph.
    fn streams(&self) -> u8 {
        0
    }

    /// Names of the phases, by number.
    fn phases(&self) -> Vec<String> {
        Vec::new()
    }

    /// Whether the time of a phase, without computation, counts as communication, as in the interference study.
    fn is_communication(&self, phase: u32) -> bool {
        let _ = phase;
        true
    }

    /// Number of the program of a phase among several programs, from 0.
    fn program_of(&self, phase: u32) -> u32 {
        let _ = phase;
        0
    }

    /// Number of the program of a block among several programs, from 0. `None` if there is only one.
    fn program_at(&self, rank: u32, index: u64) -> Option<u32> {
        let _ = (rank, index);
        None
    }

    /// Why a block could not be read from a file, if that happened. Then the block was empty.
    fn failure(&self) -> Option<String> {
        None
    }

    /// What [`Self::line`] counts: lines of a text, or records of a trace.
    fn place_word(&self) -> &'static str {
        "line"
    }

    /// Line of a block's instruction, if the program was read from a file.
    fn line(&self, rank: u32, index: u64, place: usize) -> Option<u32> {
        let _ = (rank, index, place);
        None
    }
}
