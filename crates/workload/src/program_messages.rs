//! Messages of a program as a communication pattern, for engines without time.

use crate::{Pattern, SentMessage};
use odonata_programs::expansion::JobProgram;
use odonata_trace::TaskGraph;
use odonata_units::RankId;
use std::sync::Arc;

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

/// Messages of a task graph.
#[derive(Debug)]
pub(crate) struct GraphMessages(pub(crate) Arc<TaskGraph>);

impl Pattern for GraphMessages {
    fn ranks(&self) -> u32 {
        self.0.ranks.len() as u32
    }

    fn sends(&self, rank: RankId, out: &mut Vec<SentMessage>) {
        out.extend(self.0.sends(rank.0).map(|(to, bytes)| SentMessage { target: RankId(to), bytes }));
    }
}
