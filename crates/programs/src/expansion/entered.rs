//! Calls of a rank for counts: a collective as one call that is not expanded.

use super::{ActiveCollective, CallExpander, JobProgram, Step};
use crate::call::{Call, EQUAL};
use crate::collective::Collective;
use odonata_units::Bytes;

/// A collective that a rank begins.
pub(crate) struct EnteredCollective<'a> {
    /// The call.
    pub(crate) call: Call,
    /// The collective, as the rank sees it.
    pub(crate) collective: Collective<'a>,
    /// Fingerprint of the ranks of its communicator.
    pub(crate) group: u64,
}

impl CallExpander {
    /// The next call of the program; a collective is returned without its calls, after `meet` got it and how often it
    /// counts. `None` at the end of the program.
    ///
    /// # Errors
    /// Errors of [`Self::next`].
    pub(crate) fn next_with_collectives(
        &mut self,
        shared: &JobProgram,
        mut meet: impl FnMut(&EnteredCollective<'_>, u64),
    ) -> Result<Option<Call>, String> {
        let call = match self.next(shared)? {
            None => return Ok(None),
            Some(Step::Call(call)) => return Ok(Some(call)),
            Some(Step::Enter(call) | Step::Start { call, .. }) => call,
            Some(step) => unreachable!("{step:?} outside of a collective"),
        };
        let entered = self.inside.take().or_else(|| self.lanes.iter_mut().find_map(Option::take));
        let entered = entered.expect("it was just entered");
        let (group, times) = (self.communicators.mark_of_group(entered.communicator)?, self.times(shared));
        self.as_collective(shared, &entered, |collective| meet(&EnteredCollective { call, collective, group }, times))?;
        self.leave(shared, entered)?;
        Ok(Some(call))
    }

    /// Passes a collective to `to`.
    fn as_collective(
        &self,
        shared: &JobProgram,
        of: &ActiveCollective,
        to: impl FnOnce(Collective<'_>),
    ) -> Result<(), String> {
        let (size, rank) = self.communicators.size_and_rank(of.communicator)?;
        let job_rank = |rank| self.communicators.job_rank(of.communicator, rank).expect("a rank of the collective");
        let of_program = |from, to| shared.program.size(of.sizes, job_rank(from), job_rank(to));
        let sizes: Option<&dyn Fn(u32, u32) -> Bytes> = if of.sizes == EQUAL { None } else { Some(&of_program) };
        to(Collective { operation: of.operation, rank, size, root: of.root, bytes: of.bytes, sizes });
        Ok(())
    }

    /// How often the messages of the last call count, in a program that stands for a longer one.
    pub(crate) fn times(&self, shared: &JobProgram) -> u64 {
        self.cursor.times(&*shared.program, self.rank)
    }

    /// Calls of the current block if the last call was its first, else 0.
    pub(crate) fn begun_calls(&self) -> u64 {
        self.cursor.begun_calls()
    }

    /// Whether the last call was the last of its block.
    pub(crate) fn is_block_done(&self) -> bool {
        self.cursor.is_block_done()
    }
}
