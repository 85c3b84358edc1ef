//! The exact LogGOPS model: how long do task graphs take without a network?
//!
//! [`run`] executes the tasks of all ranks of a job in the order of time. It has the rules of the program LogGOPSim
//! (Hoefler, Schneider, Lumsdaine: LogGOPSim, simulating large-scale applications in the LogGOPS model, HPDC 2010), with
//! its errors repaired (`executor.rs`). The time of a message depends on its size alone, never on other messages in the
//! network.
//!
//! ```
//! use odonata_loggops::{run, Costs};
//! use odonata_trace::{RankTasks, Work};
//! use odonata_units::{Bytes, Time};
//!
//! let send = Work::Send { to: 1, bytes: Bytes(1_000), tag: 0, communicator: 0 };
//! let receive = Work::Receive { from: 0, bytes: Bytes(1_000), tag: 0, communicator: 0 };
//! let ranks = [RankTasks::new(vec![send.into()], &[]), RankTasks::new(vec![receive.into()], &[])];
//! let record = run(&ranks, &Costs::default());
//! // o at the sender; o + L + o + 999 G at the receiver.
//! assert_eq!(record.ranks[0].end, Time::from_ns(1_500));
//! assert_eq!(record.ranks[1].end, Time::from_ns(1_500 + 2_500 + 1_500 + 999 * 6));
//! ```

mod costs;
mod executor;
mod matching;
mod rank;
mod waiting;

pub use costs::Costs;
pub use executor::{run, run_with_progress, BlockedTask, RankRecord, RunRecord};

use odonata_trace::RankTasks;

/// Memory of a run of these tasks, with the tasks: their progress, dependents and about one event for each.
pub fn memory_bytes(tasks: &RankTasks) -> u64 {
    const TASK: usize = 1 + 4 + 8 + 8 + 32;
    const DEPENDENCY: usize = 8;
    let run = tasks.tasks().len() * TASK + tasks.dependency_count() * DEPENDENCY;
    (tasks.memory_bytes() + run) as u64
}
