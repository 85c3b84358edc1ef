//! Communication between the processes of one run.
//!
//! An engine uses one call, [`Processes::exchange`]: each process sends a message to every other one. The transport
//! (MPI, pipes, threads of a test) is hidden. [`all_gather`] gives all processes the values of all. [`sum()`] sums
//! lists of integers, so the result does not depend on the order.
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
