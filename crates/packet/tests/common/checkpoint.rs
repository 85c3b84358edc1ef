//! Runs with checkpoints, and resumed runs.

use odonata_checkpoint::DecodeError;
use odonata_packet::{
    CheckpointAccess, CheckpointParts, CheckpointSink, PacketEngine, PacketResult, Progress, Rows, RunOptions,
    Schedule, Traffic, Watch,
};
use odonata_processes::{Processes, SingleProcess};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Parts by number.
pub(crate) type State = BTreeMap<u32, Vec<u8>>;

/// Everything that a run passes on.
#[derive(PartialEq, Debug)]
pub(crate) struct RunOutput {
    pub(crate) result: PacketResult,
    pub(crate) rows: Vec<Rows>,
}

/// States at some times, with the rows passed on before.
pub(crate) struct SavedStates {
    times: Vec<u64>,
    now: Mutex<State>,
    states: Mutex<Vec<(State, Vec<Rows>)>>,
}

impl SavedStates {
    /// Takes states at the ends of the windows from these times on.
    pub(crate) fn at(times: &[u64]) -> Self {
        Self { times: times.to_vec(), now: Mutex::default(), states: Mutex::default() }
    }

    pub(crate) fn states(&self) -> Vec<(State, Vec<Rows>)> {
        self.states.lock().unwrap().clone()
    }
}

impl CheckpointSink for SavedStates {
    fn part(&self, number: u32, bytes: &[u8]) {
        assert!(self.now.lock().unwrap().insert(number, bytes.to_vec()).is_none(), "part {number} twice");
    }
}

struct Watcher<'a> {
    kept: Option<&'a SavedStates>,
    next: usize,
    rows: Vec<Rows>,
    /// The state is being passed to the sink.
    waits: bool,
}

impl Watch for Watcher<'_> {
    fn progress(&mut self, _: Progress) -> bool {
        true
    }

    fn rows(&mut self, rows: Rows) {
        self.rows.push(rows);
    }

    fn wants_checkpoint(&mut self, now_ps: u64) -> bool {
        let Some(kept) = self.kept else { return false };
        let due = kept.times[self.next..].iter().filter(|time| **time <= now_ps).count();
        self.next += due;
        self.waits = due > 0;
        self.waits
    }

    fn checkpoint_taken(&mut self) {
        assert!(std::mem::take(&mut self.waits));
        let kept = self.kept.unwrap();
        let state = std::mem::take(&mut *kept.now.lock().unwrap());
        kept.states.lock().unwrap().push((state, self.rows.clone()));
    }
}

pub(crate) fn everything(
    engine: &PacketEngine,
    traffic: &Traffic,
    schedule: Schedule,
    options: &RunOptions,
    kept: Option<&SavedStates>,
) -> RunOutput {
    let mut watcher = Watcher { kept, next: 0, rows: Vec::new(), waits: false };
    let keeping = CheckpointAccess { sink: kept.map(|kept| kept as &dyn CheckpointSink), parts: None };
    let result = engine.run_distributed(traffic, schedule, options, &mut watcher, keeping, &SingleProcess).unwrap();
    RunOutput { result: result.unwrap(), rows: watcher.rows }
}

/// Result and rows of one of several processes. The first process saves states; all may resume `from` one.
pub(crate) fn rows_distributed(
    engine: &PacketEngine,
    (traffic, schedule, options): (&Traffic, Schedule, &RunOptions),
    (kept, from): (Option<&SavedStates>, Option<&State>),
    processes: &dyn Processes,
) -> (Option<PacketResult>, Vec<Rows>) {
    let kept = kept.filter(|_| processes.number() == 0);
    let mut watcher = Watcher { kept, next: 0, rows: Vec::new(), waits: false };
    let mut part =
        from.map(|state| |number| state.get(&number).cloned().ok_or_else(|| DecodeError(format!("{number}"))));
    let from = part.as_mut().map(|part| part as CheckpointParts<'_>);
    let keeping = CheckpointAccess { sink: kept.map(|kept| kept as &dyn CheckpointSink), parts: from };
    let result = engine.run_distributed(traffic, schedule, options, &mut watcher, keeping, processes).unwrap();
    (result, watcher.rows)
}

pub(crate) fn try_resumed(
    engine: &PacketEngine,
    traffic: &Traffic,
    schedule: Schedule,
    options: &RunOptions,
    state: &State,
) -> Result<RunOutput, DecodeError> {
    let mut watcher = Watcher { kept: None, next: 0, rows: Vec::new(), waits: false };
    let mut part = |number| state.get(&number).cloned().ok_or_else(|| DecodeError(format!("no part {number}")));
    let keeping = CheckpointAccess { sink: None, parts: Some(&mut part) };
    let result = engine.run_distributed(traffic, schedule, options, &mut watcher, keeping, &SingleProcess)?.unwrap();
    Ok(RunOutput { result, rows: watcher.rows })
}

pub(crate) fn resumed(
    engine: &PacketEngine,
    traffic: &Traffic,
    schedule: Schedule,
    options: &RunOptions,
    state: &State,
) -> RunOutput {
    try_resumed(engine, traffic, schedule, options, state).unwrap()
}
