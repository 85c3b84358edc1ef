//! Messages of a program as a communication pattern, for engines without time.

use crate::{Pattern, SentMessage};
use odonata_programs::expansion::JobProgram;
use odonata_programs::MessageCounts;
use odonata_trace::TaskGraph;
use odonata_units::RankId;
use std::sync::Arc;

/// Messages of a program, with collectives expanded.
#[derive(Debug)]
pub(crate) struct ProgramMessages {
    pub(crate) program: JobProgram,
    /// Their counts, from the check of the program.
    pub(crate) counts: MessageCounts,
}

impl Pattern for ProgramMessages {
    fn ranks(&self) -> u32 {
        self.program.program.ranks()
    }

    fn sends(&self, rank: RankId, out: &mut Vec<SentMessage>) {
        self.program.each_send(rank.0, |to, bytes| out.push(SentMessage { target: RankId(to), bytes }));
    }

    fn repeated_sends(&self, rank: RankId, out: &mut Vec<SentMessage>, times: &mut Vec<u64>) {
        self.program.each_repeated_send(rank.0, |to, bytes, of_block| {
            out.push(SentMessage { target: RankId(to), bytes });
            times.push(of_block);
        });
    }

    fn counts(&self) -> MessageCounts {
        self.counts.clone()
    }
}

/// Messages of a task graph.
#[derive(Debug)]
pub(crate) struct GraphMessages {
    pub(crate) graph: Arc<TaskGraph>,
    /// Their counts, from the check of the graph.
    pub(crate) counts: MessageCounts,
}

impl Pattern for GraphMessages {
    fn ranks(&self) -> u32 {
        self.graph.ranks.len() as u32
    }

    fn sends(&self, rank: RankId, out: &mut Vec<SentMessage>) {
        out.extend(self.graph.sends(rank.0).map(|(to, bytes)| SentMessage { target: RankId(to), bytes }));
    }

    fn counts(&self) -> MessageCounts {
        self.counts.clone()
    }
}
