//! A rank in its program.

use crate::call::Call;
use crate::code::Code;
use crate::rank_program::RankProgram;

/// A position in the program of one rank.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Cursor {
    /// Number of started blocks.
    next_block: u64,
    /// Instructions of the current block, and the next one.
    code: Code,
    next: usize,
}

impl Cursor {
    /// The next instruction of `rank`. `None` at the end of the program.
    pub fn next(&mut self, program: &dyn RankProgram, rank: u32) -> Option<Call> {
        while self.next == self.code.calls().len() {
            if self.next_block == program.blocks(rank) {
                return None;
            }
            self.code.clear();
            self.next = 0;
            program.block(rank, self.next_block, &mut self.code);
            self.next_block += 1;
        }
        self.next += 1;
        Some(self.code.calls()[self.next - 1])
    }

    /// The last instruction.
    pub fn last(&self) -> Option<Call> {
        self.code.calls().get(self.next.checked_sub(1)?).copied()
    }

    /// Line of the last instruction, if the program was read from a file.
    pub fn line(&self, program: &dyn RankProgram, rank: u32) -> Option<u32> {
        program.line(rank, self.next_block.checked_sub(1)?, self.next.checked_sub(1)?)
    }

    /// Number of the program of the last instruction among several.
    pub fn program(&self, program: &dyn RankProgram, rank: u32) -> Option<u32> {
        program.program_at(rank, self.next_block.checked_sub(1)?)
    }

    /// How often the messages of the current block count.
    pub(crate) fn times(&self, program: &dyn RankProgram, rank: u32) -> u64 {
        self.next_block.checked_sub(1).map_or(1, |block| program.times(rank, block))
    }

    /// Calls of the current block if the last one was its first, else 0.
    pub(crate) fn begun_calls(&self) -> u64 {
        if self.next == 1 {
            self.code.calls().len() as u64
        } else {
            0
        }
    }

    /// Whether the last instruction was the last of its block.
    pub(crate) fn is_block_done(&self) -> bool {
        self.next == self.code.calls().len()
    }

    /// Position: started blocks, and the next instruction of the last block.
    pub(crate) fn place(&self) -> (u64, usize) {
        (self.next_block, self.next)
    }

    /// Continues in a later block with the same instructions as the current one.
    pub(crate) fn skip_blocks(&mut self, blocks: u64) {
        self.next_block += blocks;
    }

    /// Moves to a position in the program of `rank`. Returns whether it exists.
    pub(crate) fn go_to(&mut self, next_block: u64, next: usize, program: &dyn RankProgram, rank: u32) -> bool {
        if next_block > program.blocks(rank) {
            return false;
        }
        (self.next_block, self.next) = (next_block, next);
        self.code.clear();
        if let Some(last) = next_block.checked_sub(1) {
            program.block(rank, last, &mut self.code);
        }
        next <= self.code.calls().len()
    }

    /// Memory beyond the struct itself.
    pub fn memory_bytes(&self) -> usize {
        self.code.memory_bytes()
    }
}
