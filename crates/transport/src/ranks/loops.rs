//! How far ranks are in the loops of their programs.

use crate::job::{RankJob, RankWork};
use crate::rank::Rank;
use odonata_packet::{LoopProgress, SkippedIterations};
use odonata_programs::Repetition;

/// The loops of some ranks.
#[derive(Debug)]
pub(super) struct RankLoops {
    repetitions: Vec<Repetition>,
    /// Iterations that each rank has begun.
    begun: Vec<u64>,
    /// The least of them, how many ranks have begun no more, and when the last rank began it.
    reached: u64,
    behind: usize,
    at_ps: u64,
    is_left: bool,
}

fn repetition(job: &RankJob, rank: u32) -> Option<Repetition> {
    match &job.work {
        RankWork::Calls(program) => program.program.repetition(rank),
        RankWork::Tasks(_) => None,
    }
}

/// Checks that there is one job, whose ranks all have a loop with the same number of iterations.
pub(super) fn check(jobs: &[RankJob]) -> Result<(), String> {
    let [job] = jobs else {
        return Err(format!("{} jobs run programs, whose iterations need not end together; expected one", jobs.len()));
    };
    if job.background {
        return Err("the job runs in the background, without an end; expected a job that ends".into());
    }
    if job.rails.is_some() {
        return Err("nodes have several NICs with routers of their own; expected one".into());
    }
    let first = repetition(job, 0).map(|of| of.iterations);
    for rank in 0..job.node_of_rank.len() as u32 {
        let own = repetition(job, rank).map(|of| of.iterations);
        if own.is_none() {
            return Err(format!(
                "rank {rank} has no loop whose iterations are equal; expected a built-in program that repeats one \
                 exchange, or a program file with an outer `repeat` that does not use its round"
            ));
        }
        if own != first {
            return Err(format!(
                "rank {rank} has {} iterations, but rank 0 has {}; expected equal numbers",
                own.unwrap_or(0),
                first.unwrap_or(0)
            ));
        }
    }
    Ok(())
}

impl RankLoops {
    /// The loops of `ranks`. `None` without ranks. The loops were checked.
    pub(super) fn new(ranks: &[Rank], jobs: &[RankJob]) -> Option<Self> {
        let of_rank = |rank: &Rank| repetition(jobs.iter().find(|job| job.job == rank.job)?, rank.number);
        let repetitions = ranks.iter().map(of_rank).collect::<Option<Vec<_>>>()?;
        let (begun, behind) = (vec![0; ranks.len()], ranks.len());
        (behind > 0).then_some(Self { repetitions, begun, reached: 0, behind, at_ps: 0, is_left: false })
    }

    /// The loop of a rank.
    pub(super) fn repetition(&self, rank: usize) -> &Repetition {
        &self.repetitions[rank]
    }

    /// Follows a rank that has started so many blocks by `now_ps`.
    pub(super) fn follow(&mut self, rank: usize, started: u64, now_ps: u64) {
        let repetition = &self.repetitions[rank];
        let begun = repetition.begun(started);
        self.is_left |= repetition.is_left(started);
        let before = std::mem::replace(&mut self.begun[rank], begun);
        if begun == before || before > self.reached {
            return;
        }
        self.behind -= 1;
        if self.behind == 0 {
            self.reached = self.begun.iter().copied().min().unwrap_or(0);
            self.behind = self.begun.iter().filter(|begun| **begun == self.reached).count();
            self.at_ps = now_ps;
        }
    }

    pub(super) fn progress(&self) -> LoopProgress {
        LoopProgress {
            reached: self.reached,
            at_ps: self.at_ps,
            ahead: self.begun.iter().copied().max().unwrap_or(0),
            is_left: self.is_left,
            iterations: self.repetitions[0].iterations,
            ranks: self.begun.len() as u64,
        }
    }

    /// Skips iterations; returns the number of blocks that each rank skips.
    pub(super) fn skip(&mut self, skipped: &SkippedIterations) -> Vec<u64> {
        self.begun.iter_mut().for_each(|begun| *begun += skipped.skipped());
        self.reached += skipped.skipped();
        self.repetitions.iter().map(|of| of.blocks * skipped.skipped()).collect()
    }
}
