//! Warm-ups that are run once: `start_from`.
//!
//! The state of a run shortly before its measurement begins is kept in a file whose name says what led to it: the experiment without all that
//! comes later. A run with the same past resumes from it, with the same result as alone
//! (`odonata_packet::PacketEngine::traffic_before`); so a file is never wrong, only unused.

use super::keeper::Keeper;
use super::keys::AFTER_WARM_UP;
use super::rows::RowForwarder;
use crate::checkpoint::Origin;
use crate::engine::EngineError;
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use odonata_checkpoint::{CheckpointReader, DecodeError, FORMAT};
use odonata_packet::{
    CheckpointAccess, JobTraffic, PacketEngine, Progress, Recording, Rows, RunOptions, Schedule, Traffic, Watch,
};
use odonata_processes::{all_gather, Processes, SingleProcess};
use odonata_units::Time;
use odonata_workload::{Job, TrafficKind};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::collections::hash_map::RandomState;
use std::fs::{self, OpenOptions};
use std::hash::{BuildHasher, Hasher};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;
use toml::{Table, Value};

/// How often one looks whether another run has finished the warm-up.
const LOOK: Duration = Duration::from_millis(50);

/// A state that a run begins with.
pub(super) struct SavedWarmUp(CheckpointReader<BufReader<fs::File>>);

impl SavedWarmUp {
    pub(super) fn part(&mut self, number: u32) -> Result<Vec<u8>, DecodeError> {
        self.0.part(number).map_err(|error| DecodeError(error.to_string()))
    }
}

/// Whether a run may begin with one.
///
/// # Errors
/// It has none that others could share.
pub(super) fn possible(jobs: &[Job], recording: Recording) -> Result<(), EngineError> {
    if !jobs.iter().all(|job| matches!(job.traffic, TrafficKind::Open(_))) {
        let reason = "means something only where all traffic is open: other jobs are measured from the start";
        return Err(refused(reason.into()));
    }
    if recording.has_port_series() {
        return Err(refused("does not hold time series of links; remove them from 'series'".into()));
    }
    Ok(())
}

/// A run that begins with a warm-up that may be there.
pub(super) struct WarmUp<'a> {
    directory: &'a Path,
    engine: &'a PacketEngine,
    schedule: Schedule,
    options: RunOptions,
    /// What is known of the traffic before the state is taken, and when that is.
    before: Traffic,
    at: Time,
    /// Of everything that led to it.
    past: String,
}

impl<'a> WarmUp<'a> {
    /// Of a run that is measured after a warm-up.
    ///
    /// # Errors
    /// It has none, or one in which nothing can happen.
    pub(super) fn new(
        directory: &'a Path,
        engine: &'a PacketEngine,
        traffic: &Traffic,
        schedule: Schedule,
        options: &RunOptions,
        origin: &Origin,
    ) -> Result<Self, EngineError> {
        let at = engine.shared_warm_up_end(traffic, schedule.warm_up);
        let before = engine.traffic_before(traffic, at).expect("it was asked whether all of it is open");
        if at == Time::ZERO {
            let reason = format!("is of no use: a 'warm_up' of {} is over as soon as it begins", schedule.warm_up);
            return Err(refused(reason));
        }
        let later = |(all, known): (&_, &_)| steps(all) - steps(known);
        let later = traffic.jobs.iter().zip(&before.jobs).map(later).collect();
        let past = past(origin, at, later);
        let options = RunOptions { window_end: Some(at), ..*options };
        Ok(Self { directory, engine, schedule, options, before, at, past })
    }

    fn path(&self) -> PathBuf {
        self.directory.join(format!("{}.state", self.past))
    }

    /// The state, which is made if it is not there. `None` if the run ended before.
    ///
    /// # Errors
    /// What is there is no such state, or it can't be written.
    pub(super) fn state(
        &self,
        watch: &mut RowForwarder<'_>,
        keeper: &Keeper,
        processes: Option<&dyn Processes>,
    ) -> Result<Option<SavedWarmUp>, EngineError> {
        let path = self.path();
        let first = processes.is_none_or(|processes| processes.number() == 0);
        let made = if first { self.make(&path, watch, keeper, processes) } else { self.help(watch, processes) };
        // The others look for the file when the first has said that it is there.
        let there = processes.map(|processes| all_gather(processes, &matches!(made, Ok(true)))[0]);
        let made = made?;
        if !there.unwrap_or(made) {
            return Ok(None);
        }
        match CheckpointReader::open(&path) {
            Ok(file) if file.header()["past"] == self.past.as_str() => Ok(Some(SavedWarmUp(file))),
            Ok(_) => Err(refused(format!("holds {}, which is of another past; remove it", path.display()))),
            Err(error) => Err(refused(format!("holds {}, which {error}; remove it", path.display()))),
        }
    }

    /// Whether the file is there: it was, or another run makes it by now, or this one does.
    fn make(
        &self,
        path: &Path,
        watch: &mut RowForwarder<'_>,
        keeper: &Keeper,
        processes: Option<&dyn Processes>,
    ) -> Result<bool, EngineError> {
        let needed = self.wanted(path, watch);
        if let Some(processes) = processes {
            all_gather(processes, &matches!(needed, Ok(Some(_))));
        }
        let Some(lock) = needed? else { return Ok(path.exists()) };
        // Other processes may use the directory, also from other machines.
        let name = RandomState::new().build_hasher().finish();
        let partial = path.with_extension(format!("{name:016x}.partial"));
        let file = Some(partial.clone());
        let mut warming = WarmUpWatcher { watch, keeper, at_ps: self.at.ps(), file, result: None, past: &self.past };
        self.run(&mut warming, keeper, processes);
        let kept = match warming.result {
            None => Ok(false),
            Some(written) => written.and_then(|()| fs::rename(&partial, path)).map(|()| true),
        };
        if !matches!(kept, Ok(true)) {
            let _ = fs::remove_file(&partial);
        }
        drop(lock);
        kept.map_err(|error| unwritable(path, &error))
    }

    /// Removes what a run left that was killed while it made the same: whoever has the lock makes it alone.
    fn sweep_up(&self) {
        let files = fs::read_dir(self.directory).into_iter().flatten().flatten();
        let is_litter = |name: &str| name.starts_with(&self.past) && name.ends_with(".partial");
        for file in files.filter(|file| file.file_name().to_str().is_some_and(is_litter)) {
            let _ = fs::remove_file(file.path());
        }
    }

    /// What another process than the first does meanwhile.
    fn help(&self, watch: &mut RowForwarder<'_>, processes: Option<&dyn Processes>) -> Result<bool, EngineError> {
        let processes = processes.expect("one process is the first");
        if all_gather(processes, &false)[0] {
            let keeper = Keeper::default();
            let mut warming =
                WarmUpWatcher { watch, keeper: &keeper, at_ps: u64::MAX, file: None, result: None, past: &self.past };
            self.run(&mut warming, &keeper, Some(processes));
        }
        Ok(true)
    }

    fn run(&self, warming: &mut WarmUpWatcher<'_, '_>, keeper: &Keeper, processes: Option<&dyn Processes>) {
        let Self { engine, before, schedule, options, .. } = self;
        let keeping = CheckpointAccess { sink: Some(keeper), parts: None };
        let processes = processes.unwrap_or(&SingleProcess);
        let ran = engine.run_distributed(before, *schedule, options, warming, keeping, processes);
        ran.expect("nothing was to be read");
    }

    /// The lock under which the file is to be made, if it is not there; waits for whoever makes it.
    fn wanted(&self, path: &Path, watch: &mut RowForwarder<'_>) -> Result<Option<FileLock>, EngineError> {
        fs::create_dir_all(self.directory).map_err(|error| unwritable(self.directory, &error))?;
        let lock = path.with_extension("lock");
        loop {
            if path.exists() {
                return Ok(None);
            }
            let file = OpenOptions::new().create(true).append(true).open(&lock);
            let file = file.map_err(|error| unwritable(&lock, &error))?;
            match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
                Err((_, Errno::EWOULDBLOCK)) if watch.waits() => sleep(LOOK),
                Err((_, Errno::EWOULDBLOCK)) => return Ok(None),
                Ok(_) if path.exists() => return Ok(None),
                Ok(held) => {
                    self.sweep_up();
                    return Ok(Some(FileLock { _held: Some(held), path: lock }));
                }
                // Where a file system has no locks, two may make the same file, and the last one stays.
                Err(_) => return Ok(Some(FileLock { _held: None, path: lock })),
            }
        }
    }
}

/// A lock that is held, whose file goes with it.
struct FileLock {
    _held: Option<Flock<fs::File>>,
    path: PathBuf,
}

impl Drop for FileLock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Watches a run up to its state.
struct WarmUpWatcher<'w, 'a> {
    watch: &'w mut RowForwarder<'a>,
    keeper: &'w Keeper,
    at_ps: u64,
    /// Where the state goes that is not begun yet.
    file: Option<PathBuf>,
    /// Whether it is there.
    result: Option<io::Result<()>>,
    past: &'w str,
}

impl WarmUpWatcher<'_, '_> {
    fn is_begun(&self) -> bool {
        self.file.is_none() && self.at_ps != u64::MAX
    }
}

impl Watch for WarmUpWatcher<'_, '_> {
    fn progress(&mut self, progress: Progress) -> bool {
        self.result.is_none() && self.watch.warms_up(progress, self.at_ps)
    }

    /// The measurement belongs to the run that resumes from here.
    fn rows(&mut self, _: Rows) {}

    fn wants_checkpoint(&mut self, now_ps: u64) -> bool {
        if self.is_begun() {
            return false;
        }
        if now_ps < self.at_ps {
            return self.watch.wants_checkpoint(now_ps);
        }
        let path = self.file.take().expect("it is not begun");
        match self.keeper.begin_at(&path, &json!({ "past": self.past, "now_ps": now_ps })) {
            Ok(()) => true,
            Err(error) => {
                self.result = Some(Err(error));
                false
            }
        }
    }

    fn checkpoint_taken(&mut self) {
        if self.is_begun() {
            self.result = Some(self.keeper.end_file().map(|_| ()));
        } else {
            self.watch.checkpoint_taken();
        }
    }
}

/// Everything that a state at a time follows from, as a name; each job has some loads that come `later`.
fn past(origin: &Origin, at: Time, later: Vec<usize>) -> String {
    let mut root: Table = origin.resolved.parse().expect("it was written as TOML");
    let mut engine = root.remove("engine").expect("every experiment has an engine");
    let engine_keys = engine.as_table_mut().expect("it is a table");
    AFTER_WARM_UP.iter().for_each(|key| drop(engine_keys.remove(*key)));
    root.insert("engine".into(), engine);
    let jobs = root.get_mut("job").and_then(Value::as_array_mut).map_or(&mut [][..], |jobs| jobs);
    for (job, later) in jobs.iter_mut().zip(later) {
        for key in ["step_times", "step_loads"] {
            if let Some(steps) = job.get_mut("traffic").and_then(|t| t.get_mut(key)).and_then(Value::as_array_mut) {
                steps.truncate(steps.len() - later);
            }
        }
    }
    let inputs: Vec<&String> = origin.inputs.iter().map(|(_, sha256)| sha256).collect();
    let all = json!([origin.odonata_version, FORMAT, at.ps(), root.to_string(), inputs]);
    Sha256::digest(all.to_string()).iter().take(12).map(|byte| format!("{byte:02x}")).collect()
}

fn steps(job: &JobTraffic) -> usize {
    match job {
        JobTraffic::Open(job) => job.steps.len(),
        JobTraffic::Closed(_) | JobTraffic::Program(_) => 0,
    }
}

fn refused(reason: String) -> EngineError {
    EngineError::Refused { key: Some("start_from"), reason }
}

fn unwritable(path: &Path, error: &io::Error) -> EngineError {
    refused(format!("needs {}, which can't be written: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::settings;

    /// A key that was renamed would belong to the past, and nobody would share any more.
    #[test]
    fn keys_that_come_later_are_keys() {
        let keys = settings::keys();
        for later in AFTER_WARM_UP {
            assert!(keys.iter().any(|key| key.name == later), "{later}");
        }
    }
}
