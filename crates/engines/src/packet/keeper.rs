//! Where the state of a run goes that is kept: into a file, for which the watcher has a place.

use crate::checkpoint::Origin;
use crate::engine::Watcher;
use odonata_checkpoint::CheckpointWriter;
use odonata_packet::CheckpointSink;
use serde_json::Value;
use std::io::{self, BufWriter};
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

/// Where the state of a run goes while it is handed over.
#[derive(Default)]
pub(super) struct Keeper {
    file: Mutex<Option<CheckpointWriter<BufWriter<std::fs::File>>>>,
}

impl Keeper {
    fn file(&self) -> std::sync::MutexGuard<'_, Option<CheckpointWriter<BufWriter<std::fs::File>>>> {
        self.file.lock().expect("no thread panicked")
    }

    /// Begins a file if the watcher wants one at `now_ps`, and has a place for it.
    pub(super) fn begin(
        &self,
        watcher: &mut dyn Watcher,
        every: Option<Duration>,
        origin: &mut Origin,
        now_ps: u64,
    ) -> bool {
        if !watcher.wants_checkpoint(now_ps, every) {
            return false;
        }
        origin.now_ps = now_ps;
        let Some(path) = watcher.checkpoint_file(origin.before) else { return false };
        match CheckpointWriter::create(&path, &origin.to_json()) {
            Ok(file) => *self.file() = Some(file),
            Err(error) => watcher.checkpoint_taken(Err(error.to_string())),
        }
        self.file().is_some()
    }

    /// Begins a file of something else.
    pub(super) fn begin_at(&self, path: &Path, header: &Value) -> io::Result<()> {
        *self.file() = Some(CheckpointWriter::create(path, header)?);
        Ok(())
    }

    /// All parts of it are there.
    pub(super) fn end_file(&self) -> io::Result<u64> {
        self.file().take().expect("it was begun").finish()
    }

    /// All parts are there.
    pub(super) fn end(&self, watcher: &mut dyn Watcher, origin: &mut Origin) {
        let written = self.end_file().map_err(|error| error.to_string());
        origin.before += u32::from(written.is_ok());
        watcher.checkpoint_taken(written);
    }
}

impl CheckpointSink for Keeper {
    fn part(&self, number: u32, bytes: &[u8]) {
        // A thread that writes in any case holds the lock.
        self.file().as_ref().expect("it was begun").part(number, bytes);
    }
}
