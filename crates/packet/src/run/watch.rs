//! What watches a run.

use crate::record::Rows;

/// Progress of a run, reported now and then.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// Simulated time.
    pub now_ps: u64,
    /// Latest simulated end of the run.
    pub end_ps: u64,
    /// Events so far.
    pub events: u64,
}

/// Observes a run in the calling thread. It returns `false` to stop the run.
pub type Observer<'a> = &'a mut dyn FnMut(Progress) -> bool;

/// Watches a run in the calling thread and takes its rows.
pub trait Watch {
    /// Takes the progress of the run; returns `false` to stop the run.
    fn progress(&mut self, progress: Progress) -> bool;

    /// Takes more rows, in order.
    fn rows(&mut self, rows: Rows);

    /// Whether to save the state of the run at `now_ps`; called now and then. If so, the run's [`CheckpointSink`](crate::CheckpointSink)
    /// gets all parts of the state before the next call of the watcher.
    fn wants_checkpoint(&mut self, now_ps: u64) -> bool {
        let _ = now_ps;
        false
    }

    /// Called when the sink has got all parts of the state.
    fn checkpoint_taken(&mut self) {}
}
