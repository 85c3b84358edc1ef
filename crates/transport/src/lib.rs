//! Transport layer on the packet engine's endpoints: ranks of MPI programs, and the cost of a message at hosts and
//! NICs.
//!
//! ```text
//! RankProgram ─► Rank (host: clock, calls, matching) ─► Outbox ─► packets ─► network ─► Inbox ─► Rank
//!  (workload)       eager · announcement, get, data, acknowledgement          (packet)
//! ```
//! [`Ranks`] is a program of the packet engine. It runs every rank as a state machine on its host's clock. Messages up
//! to [`MpiSettings::eager_limit`] are eager. Longer ones use a rendezvous: header, get request, data, acknowledgement.
//! `docs/models/mpi.md` lists every step with its time, and closed forms.
//!
//! ```
//! use odonata_machine::topology::{Dragonfly, LinkFigures};
//! use odonata_packet::{Ending, PacketEngine, PacketSettings, RunOptions, Schedule, Traffic};
//! use odonata_transport::{MpiSettings, RankJob, RankWork, Ranks};
//! use odonata_units::{NodeId, Time};
//! use odonata_programs::collective::Collectives;
//! use odonata_programs::expansion::JobProgram;
//! use odonata_programs::{ProgramContext, ProgramSpec};
//! use std::sync::Arc;
//!
//! let figures = |ns| LinkFigures::new(25_000_000_000, ns);
//! let machine = Dragonfly { terminal: figures(10), local: figures(30), global: figures(300), ..Dragonfly::default() };
//! let machine = machine.builder()?.build()?;
//! let engine = PacketEngine::new(&machine, &PacketSettings::study(), &"min".parse().unwrap())?;
//!
//! let program = odonata_programs::build(&ProgramSpec::parse("ring")?, &ProgramContext { job: "a", ranks: 8, seed: 1 })?;
//! let job = RankJob {
//!     job: 0,
//!     work: RankWork::Calls(JobProgram::new(program, Arc::new(Collectives::study()))),
//!     rails: None,
//!     node_of_rank: Arc::new((0..8).map(|rank| NodeId(100 * rank)).collect()),
//!     start: Time::ZERO,
//!     background: false,
//! };
//! let ranks = Ranks::new(vec![job], MpiSettings::study());
//! let schedule = Schedule { warm_up: Time::ZERO, measure: Time::from_us(1_000_000), drain: Time::ZERO };
//! let traffic = Traffic::program(Arc::new(ranks.clone()));
//! let result = engine.run(&traffic, schedule, &RunOptions::default(), &mut |_| true);
//! assert_eq!(result.ending, Ending::Complete);
//! assert!(ranks.take_records().iter().all(|rank| rank.communication > Time::ZERO));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(test)]
mod allocation;
mod calls;
mod inbox;
mod job;
mod log;
mod matching;
mod nic_choice;
mod outbox;
mod rank;
mod ranks;
mod record;
mod relative;
mod reorder;
mod requests;
mod settings;
mod stuck;
mod wire;

pub use calls::{CallName, CallRecord, CallRecords, PhaseTime, RankWait, WaitEvent};
pub use job::{RankJob, RankWork};
pub use log::{MessageRecord, Protocol};
pub use ranks::Ranks;
pub use record::{CallKind, PhaseRecord, RankRecord};
pub use settings::{HostCosts, MpiSettings, Progress};
pub use stuck::{by_cause, describe_unfinished, explain_unfinished};
pub use wire::{one_sided_volume, wire_volume};
