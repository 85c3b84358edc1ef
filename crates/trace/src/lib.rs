//! Task graphs: the tasks of each rank of a job, on lanes, with their dependencies.
//!
//! A [`Task`] is one operation of one rank: a send, a receive or a computation. It occupies a lane, which runs one task
//! at a time, and waits for events of other tasks of its rank: their start or their end. A sequence of calls is the
//! special case in which each task waits for the task before it on lane 0.
//!
//! Readers make task graphs of files: [`goal`]. A reader takes a stream and holds no more of the file than one rank.
//! [`dumpi`] and [`allprof`] read the records of sequences of calls, [`otf2`] the events of Score-P, [`chakra`] nodes
//! with collectives. A [`Survey`] says which records a reader used.
//! A [`BlockFile`] has the records of a trace in compressed blocks; [`BlockWriter`] writes it.
//!
//! ```
//! use odonata_trace::{Dependency, Event, RankTasks, Work};
//! use odonata_units::{Bytes, Time};
//!
//! // Rank 0 computes for 1 us, then sends 8 B to rank 1.
//! let compute = Work::Compute { time: Time::from_us(1) };
//! let send = Work::Send { to: 1, bytes: Bytes(8), tag: 0, communicator: 0 };
//! let after = Dependency { on: 0, event: Event::End };
//! let rank = RankTasks::new(vec![compute.into(), send.into()], &[(1, after)]);
//! assert_eq!(rank.dependencies(1), [after]);
//! ```

pub mod allprof;
mod block_file;
pub mod chakra;
mod columns;
pub mod dumpi;
pub mod goal;
mod input;
pub mod otf2;
mod protobuf;
mod slice;
mod survey;
mod task;

pub use block_file::{is_trace_file, BlockFile, BlockWriter};
pub use columns::Column;
pub use survey::{RecordKind, Survey, NOTHING};
pub use task::{Dependency, Event, RankTasks, Task, TaskGraph, Work, ANY};
