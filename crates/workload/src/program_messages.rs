//! Messages of a program as a communication pattern, for engines without time.

use crate::{Pattern, SentMessage};
use odonata_programs::expansion::JobProgram;
use odonata_units::RankId;

/// Messages of a program, with collectives expanded.
#[derive(Debug)]
pub(crate) struct ProgramMessages(pub(crate) JobProgram);

impl Pattern for ProgramMessages {
    fn ranks(&self) -> u32 {
        self.0.program.ranks()
    }

    fn sends(&self, rank: RankId, out: &mut Vec<SentMessage>) {
        self.0.each_send(rank.0, |to, bytes| out.push(SentMessage { target: RankId(to), bytes }));
    }
}
