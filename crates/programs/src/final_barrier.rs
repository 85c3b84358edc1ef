//! The end of every job: a barrier of all ranks, as in `MPI_Finalize`.

use crate::call::Operation;
use crate::code::Code;
use crate::rank_program::RankProgram;
use crate::repetition::Repetition;
use crate::representatives::Representatives;
use odonata_units::Bytes;
use std::sync::Arc;

/// Adds a barrier at the end of a program. It is a phase of its own that does not count as communication.
#[derive(Debug)]
pub(super) struct FinalBarrier(pub(super) Arc<dyn RankProgram>);

impl FinalBarrier {
    fn phase(&self) -> u32 {
        self.0.phases().len() as u32
    }
}

impl RankProgram for FinalBarrier {
    fn ranks(&self) -> u32 {
        self.0.ranks()
    }

    fn blocks(&self, rank: u32) -> u64 {
        self.0.blocks(rank) + 1
    }

    fn block(&self, rank: u32, index: u64, code: &mut Code) {
        if index < self.0.blocks(rank) {
            return self.0.block(rank, index, code);
        }
        code.mark(self.phase());
        code.collective(Operation::Barrier, 0, Bytes(0));
    }

    fn repetition(&self, rank: u32) -> Option<Repetition> {
        self.0.repetition(rank)
    }

    fn representatives(&self) -> Option<Representatives> {
        let mut all = self.0.representatives()?;
        all.push(self.0.blocks(0), [(0, 1)]);
        Some(all)
    }

    fn size(&self, sizes: u32, from: u32, to: u32) -> Bytes {
        self.0.size(sizes, from, to)
    }

    fn splits(&self) -> bool {
        self.0.splits()
    }

    fn streams(&self) -> u8 {
        self.0.streams()
    }

    fn phases(&self) -> Vec<String> {
        let mut phases = self.0.phases();
        phases.push("end".into());
        phases
    }

    fn is_communication(&self, phase: u32) -> bool {
        phase != self.phase() && self.0.is_communication(phase)
    }

    fn failure(&self) -> Option<String> {
        self.0.failure()
    }

    fn place_word(&self) -> &'static str {
        self.0.place_word()
    }

    fn line(&self, rank: u32, index: u64, place: usize) -> Option<u32> {
        (index < self.0.blocks(rank)).then(|| self.0.line(rank, index, place))?
    }
}
