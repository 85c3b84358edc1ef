//! A short program that stands for a long one: of blocks that send the same, one.

use crate::code::Code;
use crate::rank_program::RankProgram;
use crate::representatives::Representatives;
use odonata_units::Bytes;
use std::sync::Arc;

/// The representatives of a program as a program. Each counts as often as it occurs.
#[derive(Debug)]
pub(crate) struct Excerpt {
    program: Arc<dyn RankProgram>,
    representatives: Representatives,
}

impl Excerpt {
    /// `None` for programs without known representatives.
    pub(crate) fn of(program: &Arc<dyn RankProgram>) -> Option<Self> {
        Some(Self { representatives: program.representatives()?, program: Arc::clone(program) })
    }

    /// Whether the blocks that are left out send about the same instead of the same.
    pub(crate) fn is_estimate(&self) -> bool {
        self.representatives.is_estimate
    }

    fn at(&self, index: u64) -> u64 {
        self.representatives.blocks[index as usize].index
    }
}

impl RankProgram for Excerpt {
    fn ranks(&self) -> u32 {
        self.program.ranks()
    }

    fn blocks(&self, _: u32) -> u64 {
        self.representatives.blocks.len() as u64
    }

    fn block(&self, rank: u32, index: u64, code: &mut Code) {
        self.program.block(rank, self.at(index), code);
    }

    fn times(&self, _: u32, index: u64) -> u64 {
        self.representatives.blocks[index as usize].times
    }

    fn size(&self, sizes: u32, from: u32, to: u32) -> Bytes {
        self.program.size(sizes, from, to)
    }

    fn splits(&self) -> bool {
        self.program.splits()
    }

    fn streams(&self) -> u8 {
        self.program.streams()
    }

    fn phases(&self) -> Vec<String> {
        self.program.phases()
    }

    fn is_communication(&self, phase: u32) -> bool {
        self.program.is_communication(phase)
    }

    fn program_of(&self, phase: u32) -> u32 {
        self.program.program_of(phase)
    }

    fn program_at(&self, rank: u32, index: u64) -> Option<u32> {
        self.program.program_at(rank, self.at(index))
    }

    fn failure(&self) -> Option<String> {
        self.program.failure()
    }

    fn place_word(&self) -> &'static str {
        self.program.place_word()
    }

    fn line(&self, rank: u32, index: u64, place: usize) -> Option<u32> {
        self.program.line(rank, self.at(index), place)
    }
}
