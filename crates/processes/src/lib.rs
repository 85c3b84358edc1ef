//! The processes that make one run together, and what they tell each other.
//!
//! An engine knows them by one call, [`Processes::exchange`]: each gives every other one a message and takes theirs. What is behind it
//! (MPI, pipes, threads of a test) is not its business. On top of it stand [`all_gather`], after which all know what each has, and [`sum()`], which adds
//! up lists of integers, so that the order in which processes are added does not show.
//!
//! ```
//! use odonata_processes::{sum, all_gather, SingleProcess};
//!
//! let mut loads = vec![3, 4];
//! sum(&SingleProcess, &mut [&mut loads]);
//! assert_eq!(loads, [3, 4]);
//! assert_eq!(all_gather(&SingleProcess, &"here".to_owned()), ["here"]);
//! ```

mod balanced_ranges;
mod exchange;
mod sum;
mod threads;

pub use balanced_ranges::balanced_ranges;
pub use exchange::{all_gather, decode_message, gather, Processes, SingleProcess};
pub use sum::sum;
pub use threads::run_in_threads;
