//! What is recorded of the ranks of programs.

use crate::scenario::Scenario;
use odonata_declare::Values;
use odonata_transport::{CallRecords, MessageRecord, RankRecord, Ranks};
use odonata_units::Time;

/// Records of the ranks of programs.
#[derive(Default)]
pub(super) struct ProgramRecords {
    /// By job and rank.
    pub(super) ranks: Vec<RankRecord>,
    /// By job, source, destination and number, if they are recorded.
    pub(super) messages: Vec<MessageRecord>,
    pub(super) records_messages: bool,
    /// Whether nodes had injection FIFOs.
    pub(super) has_fifos: bool,
    /// Calls, waits and phases in time, if they are recorded.
    pub(super) recorded: CallRecords,
    pub(super) records_calls: bool,
    /// When the run ended.
    pub(super) end: Time,
    /// Names of the phases of all jobs with the numbers of their programs, and the first phase of each job.
    pub(super) phases: Vec<String>,
    pub(super) program_of: Vec<u32>,
    pub(super) first_phase: Vec<usize>,
    /// What places of calls in files count, by job.
    pub(super) place_words: Vec<&'static str>,
}

impl ProgramRecords {
    /// In a run that ended at `end`; whether nodes had injection FIFOs.
    pub(super) fn new(ranks: Option<&Ranks>, scenario: &Scenario, end: Time, has_fifos: bool) -> Self {
        let mut records = Self { end, has_fifos, ..Self::default() };
        if let Some(ranks) = ranks {
            records.ranks = ranks.take_records();
            records.messages = ranks.take_messages();
            records.records_messages = ranks.records_messages();
            records.recorded = ranks.take_calls();
            records.records_calls = ranks.records_calls();
        }
        for job in &scenario.workload.jobs {
            records.first_phase.push(records.phases.len());
            records.place_words.push(match (&job.program, &job.graph) {
                (Some(shared), _) => shared.program.place_word(),
                (None, Some(graph)) => graph.place_word,
                (None, None) => "",
            });
            let Some(shared) = &job.program else { continue };
            let own = shared.program.phases();
            records.program_of.extend((0..own.len() as u32).map(|phase| shared.program.program_of(phase)));
            records.phases.extend(own);
        }
        records
    }

    /// The ranks of a job; none if it has no program.
    pub(super) fn ranks_of(&self, job: usize) -> &[RankRecord] {
        let first = self.ranks.partition_point(|rank| usize::from(rank.job) < job);
        &self.ranks[first..self.ranks.partition_point(|rank| usize::from(rank.job) <= job)]
    }

    /// End of the last rank of a job, if all ranks reached the end of the program.
    pub(super) fn last_rank_end(&self, job: usize) -> Option<Time> {
        let ends: Option<Vec<Time>> = self.ranks_of(job).iter().map(|rank| rank.end).collect();
        ends?.into_iter().max()
    }
}

/// Names of phases, each given by its job and its number in the job's programs.
pub(super) fn phase_names(ran: &ProgramRecords, phases: impl Iterator<Item = (u16, usize)>) -> Values {
    let (mut texts, first) = (ran.phases.clone(), &ran.first_phase);
    let codes: Vec<i32> = phases.map(|(job, phase)| (first[usize::from(job)] + phase) as i32).collect();
    let most = codes.iter().copied().max().unwrap_or(-1);
    (texts.len() as i32..=most).for_each(|code| texts.push(format!("phase {code}")));
    Values::Text { codes, texts }
}
