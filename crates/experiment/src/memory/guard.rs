//! Whether a run fits: what its tables take, and what is left for its engine.

use super::{address_space, available, Available};
use crate::scenario::Scenario;
use odonata_units::Bytes;
use odonata_workload::volumes::Volumes;

/// What the libraries take that hold and store tables, whatever the size of the run. Measured: 72 MB.
const STORING_BYTES: u64 = 80 << 20;
/// A row of `links`, with what engines hand out for it, and while it is written.
const LINK_BYTES: u64 = 320;
/// A row of `nodes` or `routers`, with its name.
const NODE_BYTES: u64 = 320;
/// A row of `placement`.
const RANK_BYTES: u64 = 32;
/// A row of `communication`, and how many a job has at most.
const CELL_BYTES: u64 = 128;
const CELLS_MAX: u64 = 256 * 256;

/// Says whether a run may take memory.
#[derive(Clone, Debug)]
pub struct Guard {
    /// What may be taken, in the words of a refusal; nothing if that is not known.
    allowed: Option<(u64, String)>,
    /// What is taken beside the engine.
    tables: u64,
}

/// More memory than may be taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TooMuch {
    /// Why, and what to do.
    pub reason: String,
}

impl Guard {
    /// For a scenario whose machine and jobs are there, but not its tables. A limit that the user gives stands in for what the
    /// system has left, but not for the limits at which a process is refused memory.
    pub fn new(scenario: &Scenario, limit: Option<Bytes>) -> Self {
        let words = |of: Available| (of.bytes, of.to_string());
        let allowed = match limit {
            None => available().map(words),
            Some(limit) => {
                let given = (limit.0, format!("{limit} are allowed (memory_limit)"));
                address_space().map(words).into_iter().chain([given]).min()
            }
        };
        Self { allowed, tables: of_tables(scenario) }
    }

    /// Lets an engine take so many bytes.
    ///
    /// # Errors
    /// With the tables, that is more than is left.
    pub fn admit(&self, engine_bytes: u64) -> Result<(), TooMuch> {
        match &self.allowed {
            Some((allowed, words)) if self.total(engine_bytes) > *allowed => {
                let needed = Bytes(self.total(engine_bytes));
                let reason = format!("the run needs about {needed} but {words}; use a smaller machine or fewer messages or records, or raise the limit");
                Err(TooMuch { reason })
            }
            _ => Ok(()),
        }
    }

    /// What is left for an engine.
    pub fn left(&self) -> u64 {
        self.allowed.as_ref().map_or(u64::MAX, |(allowed, _)| allowed.saturating_sub(self.tables))
    }

    /// What a run takes whose engine takes so many bytes.
    pub fn total(&self, engine_bytes: u64) -> u64 {
        self.tables.saturating_add(engine_bytes)
    }
}

/// What the tables of every run take.
fn of_tables(Scenario { machine, workload, output, .. }: &Scenario) -> u64 {
    let places = (machine.node_count() + machine.router_count()) as u64;
    let ranks: u64 = workload.jobs.iter().map(|job| u64::from(job.ranks)).sum();
    let links = machine.link_count() as u64;
    let of_jobs = if output.link_jobs { 48 * links * (workload.jobs.len() as u64).saturating_sub(1) } else { 0 };
    let cells: u64 = match output.communication {
        false => 0,
        true => workload.jobs.iter().map(|job| u64::from(job.ranks).pow(2).min(CELLS_MAX)).sum(),
    };
    // A job of few messages has few cells: worth a walk only where all of them would count.
    let cells = if cells < 20 * CELLS_MAX {
        cells
    } else {
        workload.jobs.iter().map(|job| Volumes::of(machine, job).messages.min(CELLS_MAX)).sum()
    };
    STORING_BYTES + LINK_BYTES * links + of_jobs + NODE_BYTES * places + RANK_BYTES * ranks + CELL_BYTES * cells
}
