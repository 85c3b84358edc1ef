//! Messages of a program as a communication pattern, for engines without time.

use super::{CallExpander, JobProgram, Step};
use crate::program::Call;
use crate::{Pattern, SentMessage};
use odonata_units::RankId;

/// Messages of a program, with collectives expanded.
#[derive(Debug)]
pub(crate) struct ProgramMessages {
    pub(crate) shared: JobProgram,
}

impl Pattern for ProgramMessages {
    fn ranks(&self) -> u32 {
        self.shared.program.ranks()
    }

    /// In the order of the calls, up to an invalid call. The check at build time leaves at most one, after the checked
    /// calls.
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
