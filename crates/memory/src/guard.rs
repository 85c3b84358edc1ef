//! Whether a run fits: what its tables take, and what is left for its engine.

use crate::{address_space, available, AvailableMemory};
use odonata_units::Bytes;

/// What libraries take while tables are stored, beyond what they took when they were loaded: buffers of Arrow and of its
/// threads (16 to 23 MiB for 72 to 1,056 nodes). Then the closing summary is printed: 6 MiB on 1,056 nodes. On 92,544
/// nodes it takes 43 MiB, less than the margin of the tables' estimate.
const STORING_BYTES: u64 = 50 << 20;

/// Modules that a process imports for a run, but not for a check: NumPy and Arrow, 56 MiB on x86-64.
pub const LIBRARIES_BYTES: u64 = 56 << 20;

/// Says whether a run may take memory.
#[derive(Clone, Debug)]
pub struct Guard {
    /// What may be taken, in the words of a refusal; nothing if that is not known.
    allowed: Option<(u64, String)>,
    /// What tables take, which are made when the engine has run.
    tables: u64,
}

/// Memory that an engine takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Need {
    /// About as much as it takes.
    pub expected: u64,
    /// As much as it takes if things go badly: what there must be room for.
    pub at_most: u64,
    /// What of it is still there while tables are made and written.
    pub kept: u64,
}

impl From<u64> for Need {
    fn from(bytes: u64) -> Self {
        Self { expected: bytes, at_most: bytes, kept: bytes }
    }
}

/// More memory than may be taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TooMuch {
    /// Why, and what to do.
    pub reason: String,
}

impl Guard {
    /// For a run whose machine and jobs are there, but not its tables, which take so many bytes. A limit that the user gives stands in for what the
    /// system has left, but not for the limits at which a process is refused memory.
    pub fn new(tables: u64, limit: Option<Bytes>) -> Self {
        let words = |of: AvailableMemory| (of.bytes, of.to_string());
        let allowed = match limit {
            None => available().map(words),
            Some(limit) => {
                let given = (limit.0, format!("{limit} are allowed (memory_limit)"));
                address_space().map(words).into_iter().chain([given]).min()
            }
        };
        Self { allowed, tables }
    }

    /// Lets an engine take so much.
    ///
    /// # Errors
    /// With the tables, that is more than is left.
    pub fn admit(&self, engine: impl Into<Need>) -> Result<(), TooMuch> {
        let engine = engine.into();
        let needed = self.total(Need { expected: engine.at_most, ..engine });
        match &self.allowed {
            Some((allowed, words)) if needed > *allowed => {
                let needed = Bytes(needed);
                let reason = format!("the run needs about {needed} but {words}; use a smaller machine or fewer messages or records, or raise the limit");
                Err(TooMuch { reason })
            }
            _ => Ok(()),
        }
    }

    /// What is left for an engine.
    pub fn left(&self) -> u64 {
        self.allowed.as_ref().map_or(u64::MAX, |(allowed, _)| allowed.saturating_sub(STORING_BYTES))
    }

    /// What a run takes whose engine takes so much: tables are made when it has run, of what it has kept.
    pub fn total(&self, engine: impl Into<Need>) -> u64 {
        let Need { expected, kept, .. } = engine.into();
        STORING_BYTES.saturating_add(expected.max(kept.saturating_add(self.tables)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    /// The engine's expectation and the tables with what the engine keeps are not there at one time: the larger counts.
    #[test]
    fn a_run_takes_its_tables_or_its_engine() {
        let guard = Guard::new(100 * MIB, None);
        let total = |expected, kept| guard.total(Need { expected, at_most: 2 * expected, kept }) - STORING_BYTES;
        assert_eq!(total(0, 0), 100 * MIB, "the tables of an engine that keeps nothing");
        assert_eq!(total(10 * MIB, 10 * MIB), 110 * MIB);
        assert_eq!(total(500 * MIB, 10 * MIB), 500 * MIB);
        assert_eq!(total(500 * MIB, 450 * MIB), 550 * MIB);
    }

    /// What must fit is the worst case of the engine, and the tables.
    #[test]
    fn a_limit_holds_for_tables_and_the_worst_case() {
        let limit = Some(Bytes(STORING_BYTES + 100 * MIB));
        let need = |at_most, kept| Need { expected: MIB, at_most, kept };
        let fits = |tables, need: Need| Guard::new(tables, limit).admit(need).is_ok();
        assert!(fits(100 * MIB, need(MIB, 0)) && !fits(100 * MIB, need(MIB, 1)) && !fits(100 * MIB + 1, need(MIB, 0)));
        assert!(fits(0, need(100 * MIB, MIB)) && !fits(0, need(100 * MIB + 1, MIB)));
        assert_eq!(Guard::new(0, limit).left(), 100 * MIB);
    }
}
