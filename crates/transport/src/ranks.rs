//! Ranks behind NICs, as a program of the packet engine.

mod context;
mod endpoints;
mod loops;
mod records;

use crate::calls::{CallLog, CallRecords};
use crate::job::RankJob;
use crate::log::{Log, MessageRecord};
use crate::record::RankRecord;
use crate::settings::MpiSettings;
use context::RunContext;
use endpoints::RankEndpoints;
use odonata_checkpoint::{DecodeError, Reader, Writer};
use odonata_packet::{Endpoints, Nics, Program};
use odonata_units::RouterId;
use records::Records;
use std::sync::{Arc, MutexGuard};

/// The ranks of some jobs, as a program of the packet engine.
#[derive(Clone, Debug)]
pub struct Ranks(RunContext);

impl Ranks {
    /// Ranks of `jobs`.
    pub fn new(jobs: Vec<RankJob>, settings: MpiSettings) -> Self {
        let (jobs, settings) = (Arc::new(jobs), Arc::new(settings));
        Self(RunContext { jobs, settings, routers: Arc::default(), records: Arc::default(), follows_loops: false })
    }

    /// Follows the loop of the program, for fast-forward ([`odonata_packet::FastForward`]).
    ///
    /// # Errors
    /// There are several jobs, or the ranks have no loop of equal iterations.
    pub fn with_loops(self) -> Result<Self, String> {
        loops::check(&self.0.jobs)?;
        Ok(Self(RunContext { follows_loops: true, ..self.0 }))
    }

    /// Records the router of every node, so that the bytes between nodes of one router are counted.
    #[must_use]
    pub fn with_routers(self, routers: Vec<RouterId>) -> Self {
        Self(RunContext { routers: Arc::new(routers), ..self.0 })
    }

    /// Records the times of each message: about 200 B per message during the run.
    #[must_use]
    pub fn with_messages(self) -> Self {
        self.records().messages = Some(Log::default());
        self
    }

    /// Records each call and the cause of each wait: about 60 B per call and per message.
    #[must_use]
    pub fn with_calls(self) -> Self {
        self.records().calls = Some(CallLog::default());
        self
    }

    /// Whether calls are recorded.
    pub fn records_calls(&self) -> bool {
        self.records().calls.is_some()
    }

    /// Calls, waits and phases of the last run. Empty if not recorded.
    pub fn take_calls(&self) -> CallRecords {
        self.records().calls.as_mut().map(std::mem::take).unwrap_or_default().records()
    }

    /// Whether messages are recorded.
    pub fn records_messages(&self) -> bool {
        self.records().messages.is_some()
    }

    /// Messages received in the last run, by job, source, destination and number. Empty if not recorded.
    pub fn take_messages(&self) -> Vec<MessageRecord> {
        self.records().messages.as_mut().map(std::mem::take).unwrap_or_default().messages()
    }

    /// Records of the last run, by job and rank.
    pub fn take_records(&self) -> Vec<RankRecord> {
        let mut records = std::mem::take(&mut self.records().ranks);
        records.sort_unstable_by_key(|record| (record.job, record.rank));
        records
    }

    fn records(&self) -> MutexGuard<'_, Records> {
        self.0.records.lock().expect("nobody panicked")
    }
}

impl Program for Ranks {
    fn endpoints(&self, jobs: &[u16], nics: &Nics<'_>) -> Box<dyn Endpoints> {
        Box::new(RankEndpoints::new(&self.0, jobs, nics))
    }

    fn offers_by_class(&self) -> bool {
        true
    }

    fn is_finite(&self, job: u16) -> bool {
        self.0.jobs.iter().any(|of| of.job == job && !of.background)
    }

    fn export_records(&self) -> Vec<u8> {
        let mut into = Writer::default();
        into.put(&self.records().take());
        into.into_bytes()
    }

    fn import_records(&self, handed: &[u8]) -> Result<(), DecodeError> {
        let mut from = Reader::new(handed);
        self.records().append(from.get()?);
        from.end()
    }
}
