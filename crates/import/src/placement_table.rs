//! Placement tables from files: the node of every rank.

use odonata_declare::FileError;

/// Nodes of the ranks of one or more jobs. The readers of this crate create it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlacementTable {
    label: String,
    /// Unit of `Entry::at`: `line`, `byte` or `row`.
    unit: &'static str,
    entries: Vec<Entry>,
}

/// One rank.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Number of the job.
    pub job: u32,
    /// Rank of the job.
    pub rank: u32,
    /// Its node.
    pub place: Place,
    /// Core on its node, if the file gives it.
    pub core: Option<u32>,
    /// Position in the file.
    pub at: u64,
}

/// A node in a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Place {
    /// By its number.
    Id(u32),
    /// By its name, or its number as text.
    Name(String),
    /// By the number of a core. TraceR numbers the servers of a router so that its nodes get them in turn.
    Server(u32),
    /// By group, row, column and index at the router.
    Coordinates([u32; 4]),
}

impl PlacementTable {
    /// A table of `entries`, counted in the file by `unit`.
    pub fn new(label: &str, unit: &'static str, entries: Vec<Entry>) -> Self {
        Self { label: label.into(), unit, entries }
    }

    /// Numbers of the jobs in the table, ascending.
    pub fn jobs(&self) -> Vec<u32> {
        let mut jobs: Vec<u32> = self.entries.iter().map(|entry| entry.job).collect();
        jobs.sort_unstable();
        jobs.dedup();
        jobs
    }

    /// Number of ranks of job `job`.
    pub fn ranks(&self, job: u32) -> usize {
        self.entries.iter().filter(|entry| entry.job == job).count()
    }

    /// The entries of a job by rank, every rank from 0 exactly once.
    ///
    /// # Errors
    /// A rank is missing or appears twice.
    pub fn of_job(&self, job: u32, ranks: u32) -> Result<Vec<&Entry>, FileError> {
        let mut entries: Vec<&Entry> = self.entries.iter().filter(|entry| entry.job == job).collect();
        entries.sort_by_key(|entry| entry.rank);
        for (expected, entry) in entries.iter().enumerate() {
            if entry.rank as usize != expected {
                return Err(self.error(
                    entry,
                    if (entry.rank as usize) < expected {
                        format!("rank {} of job {job} appears a second time", entry.rank)
                    } else {
                        format!("job {job} has rank {}, but no rank {expected}", entry.rank)
                    },
                ));
            }
        }
        if entries.len() != ranks as usize {
            let reason = format!("{} ranks of job {job}, but the job has {ranks}", entries.len());
            return Err(FileError::new(&self.label, format!("job {job}"), reason));
        }
        Ok(entries)
    }

    /// An error at `entry`.
    pub fn error(&self, entry: &Entry, reason: impl Into<String>) -> FileError {
        FileError::new(&self.label, format!("{} {}", self.unit, entry.at), reason)
    }
}
