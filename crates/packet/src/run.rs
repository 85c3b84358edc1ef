//! A run: partitions advance by windows until the run ends.
//!
//! ```text
//! worker:  ┌► take mail ─► advance to the window's end ─► count, rows ─┐   its own partition, or a stolen one (`work_queues`)
//!          └───────────────────────────────────────────────────────────┘
//!          ─► post mail ─► synchronize: the sum of all counts (`exchange`) ─► next window or end (`windows`)
//! ```
//! A partition takes its mail and advances in one go, while its state is in the cache. No result depends on the
//! number of workers or partitions, or on the worker that advances a partition: `docs/decisions/windows.md`.

mod barrier;
mod director;
mod exchange;
mod limits;
mod loop_memory;
mod processes;
mod rows;
mod run_state;
mod tally;
mod team;
mod threads;
mod totals;
mod verdict;
mod watch;
mod windows;
mod work_queues;

pub use limits::Ending;
pub(crate) use limits::{RunLimits, RunPlan};
pub(crate) use processes::ProcessLayout;
pub use run_state::CheckpointSink;
pub(crate) use run_state::{RunCheckpoints, RunState, RUN_PART};
pub(crate) use team::{run, RunOutcome};
pub use totals::Cost;
pub(crate) use totals::Totals;
pub use watch::{Observer, Progress, Watch};
