//! The processes that make one run together, and what they tell each other.
//!
//! An engine knows them by one call, [`Processes::exchange`]: each gives every other one a message and takes theirs. What is behind it
//! (MPI, pipes, threads of a test) is not its business. On top of it stand [`told`], after which all know what each has, and [`sum()`], which adds
//! up lists of integers, so that the order in which processes are added does not show.
//!
//! ```
//! use odonata_processes::{sum, told, Alone};
//!
//! let mut loads = vec![3, 4];
//! sum(&Alone, &mut [&mut loads]);
//! assert_eq!(loads, [3, 4]);
//! assert_eq!(told(&Alone, &"here".to_owned()), ["here"]);
//! ```

mod exchange;
mod shares;
mod sum;
mod threads;

pub use exchange::{gather, told, understood, Alone, Processes};
pub use shares::shares;
pub use sum::sum;
pub use threads::in_threads;
