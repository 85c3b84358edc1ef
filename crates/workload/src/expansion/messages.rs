//! A program's messages as a communication graph, for engines that know no time.

use super::{CallExpander, JobProgram, Step};
use crate::program::Call;
use crate::{Pattern, SentMessage};
use odonata_units::RankId;

/// What the ranks of a program send, collectives expanded, from the first call to the last.
#[derive(Debug)]
pub(crate) struct ProgramMessages {
    pub(crate) shared: JobProgram,
}

impl Pattern for ProgramMessages {
    fn ranks(&self) -> u32 {
        self.shared.program.ranks()
    }

    /// In the order of the calls, up to one that can't be: in a job there is one at most after the calls that were looked at
    /// when it was built.
    fn sends(&self, rank: RankId, out: &mut Vec<SentMessage>) {
        let mut code = CallExpander::new(self.ranks(), rank.0);
        while let Ok(Some(step)) = code.next(&self.shared) {
            let (Step::Call(call) | Step::Inner(call)) = step else { continue };
            if let Call::Send { to, bytes, .. } | Call::Isend { to, bytes, .. } = call {
                out.push(SentMessage { target: RankId(to), bytes });
            }
        }
    }
}
