//! Programs as users write them: a name and parameters.

use crate::collective::Collectives;
use crate::final_barrier::FinalBarrier;
use crate::rank_program::RankProgram;
use odonata_declare::{parameters, Kind, ParameterError, ParameterMistake, ParameterStruct, Reader, RuleSpec, AUTO};
use odonata_trace::TaskGraph;
use std::sync::Arc;

/// Sizes of a process grid, or a default grid.
pub(crate) const DIMS: Kind = Kind::WordOr(AUTO, &Kind::List(&Kind::COUNT));

/// Context of a program when it is built.
#[derive(Clone, Copy, Debug)]
pub struct ProgramContext<'a> {
    /// Name of the job.
    pub job: &'a str,
    /// Its ranks.
    pub ranks: u32,
    /// Seed of this job's program, derived from the seed of the run and the name of the job.
    pub seed: u64,
}

/// A program's parameters, before its job is known.
pub trait ProgramRule: ParameterStruct {
    /// Reads the files named by the parameters, for a job of `ranks` ranks.
    ///
    /// # Errors
    /// The parameter of an unreadable file, and the reason.
    fn read(&mut self, ranks: u32, files: &mut dyn Reader) -> Result<(), ParameterMistake> {
        let _ = (ranks, files);
        Ok(())
    }

    /// Reads the files for as many ranks as they have, and returns how many. `None` if they have no number of ranks.
    ///
    /// # Errors
    /// Errors of [`Self::read`].
    fn read_ranks(&mut self, files: &mut dyn Reader) -> Result<Option<u32>, ParameterMistake> {
        let _ = files;
        Ok(None)
    }

    /// The task graph that was read, if the program is a graph instead of a sequence of calls. It has as many
    /// ranks as [`Self::read`] was given. Collectives become the messages of their algorithms.
    ///
    /// # Errors
    /// Too many tasks.
    fn graph(&self, collectives: &Collectives) -> Result<Option<Arc<TaskGraph>>, ParameterMistake> {
        let _ = collectives;
        Ok(None)
    }

    /// What a user should know of the files that were read, such as calls that a trace lacks.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// Number of the job's last ranks that are I/O ranks. On a machine with storage nodes they run there.
    fn io_ranks(&self) -> u32 {
        0
    }

    /// Builds the program of a job, without its end.
    ///
    /// # Errors
    /// Parameters that do not fit the job.
    fn build(&self, context: &ProgramContext<'_>) -> Result<Arc<dyn RankProgram>, ParameterMistake>;
}

parameters! {
    /// Parameters of every program.
    pub struct End {
        /// Whether all ranks end with a barrier, as in `MPI_Finalize`.
        pub final_barrier: bool = true;
    }
}

/// Specification of a program.
pub type ProgramSpec = RuleSpec<dyn ProgramRule>;

/// Builds the program of a job.
///
/// # Errors
/// Parameters that do not fit the job.
pub fn build(spec: &ProgramSpec, context: &ProgramContext<'_>) -> Result<Arc<dyn RankProgram>, ParameterError> {
    let program = spec.rule().build(context).map_err(|mistake| spec.error(context.job, mistake))?;
    Ok(if spec.common().final_barrier { Arc::new(FinalBarrier(program)) } else { program })
}
