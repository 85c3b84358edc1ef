//! Rank programs: what each rank of a job computes and calls, as data.
//!
//! A program is no thread. It is a rule that says, for any rank, the instructions of any *block*: a stretch of code
//! without jumps, one iteration of a loop, say. Whoever runs a rank holds the number of its block and its place in it
//! ([`Cursor`]); an application is written as straight code:
//!
//! ```
//! use odonata_units::Bytes;
//! use odonata_workload::program::{Call, Code, Cursor, RankProgram};
//!
//! /// Everybody passes a message to the right, ten times.
//! #[derive(Debug)]
//! struct Ring;
//!
//! impl RankProgram for Ring {
//!     fn ranks(&self) -> u32 {
//!         4
//!     }
//!     fn blocks(&self, _: u32) -> u64 {
//!         10
//!     }
//!     fn block(&self, rank: u32, _: u64, code: &mut Code) {
//!         let request = code.irecv((rank + 3) % 4, Bytes(64), 0);
//!         code.send((rank + 1) % 4, Bytes(64), 0);
//!         code.wait(request);
//!     }
//! }
//! let mut cursor = Cursor::default();
//! let first = cursor.next(&Ring, 0).unwrap();
//! assert!(matches!(first, Call::Irecv { from: 3, .. }));
//! ```
//! `docs/decisions/programs.md` says why it is made so and what a rank takes.

mod all_to_all;
mod allreduce;
mod code;
mod communicators;
mod fft_3d;
mod file;
mod final_barrier;
mod halo;
mod incast;
mod lqcd;
mod lu;
mod lulesh;
mod pattern;
mod pf3d;
mod ping_pong;
mod ring;
mod sequence;
mod spec;
mod stencil_nd;
mod sweep;
pub mod text;
mod trace;
mod uniform_random;
mod words;

#[cfg(test)]
mod table_one;

pub use all_to_all::AllToAllProgramParameters;
pub use allreduce::AllreduceParameters;
pub use code::Code;
pub use communicators::{Communicators, GroupLists, Splits};
pub use fft_3d::Fft3dParameters;
pub use file::FileProgramParameters;
pub use halo::HaloParameters;
pub use incast::IncastParameters;
pub use lqcd::LqcdParameters;
pub use lu::LuParameters;
pub use lulesh::LuleshParameters;
pub use pattern::PatternProgram;
pub use pf3d::{Pf3dParameters, Pf3dPhase};
pub use ping_pong::PingPongParameters;
pub use ring::RingParameters;
pub use sequence::{Rounds, Sequence};
pub use spec::{ProgramContext, ProgramRule, ProgramSpec};
pub use stencil_nd::StencilNdParameters;
pub use trace::{Trace, TraceParameters};
pub use uniform_random::UniformRandomParameters;

use odonata_declare::{Kind, Variant, AUTO};
use odonata_units::{Bytes, Time};
use serde::{Deserialize, Serialize};

/// Instead of a rank: whoever sends first. Instead of a tag: whatever it is.
pub const ANY: u32 = u32::MAX;

/// The communicator of all ranks of the job.
pub const WORLD: u16 = 0;

/// One instruction of a rank. Ranks are numbered within the communicator; requests are slots of the rank that the
/// program numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Call {
    /// Sends, and returns when the data are the system's.
    Send {
        /// Receiving rank.
        to: u32,
        /// Size.
        bytes: Bytes,
        /// Tag.
        tag: u32,
        /// Communicator.
        communicator: u16,
    },
    /// Receives.
    Recv {
        /// Sending rank, or [`ANY`].
        from: u32,
        /// Room for the message.
        bytes: Bytes,
        /// Tag, or [`ANY`].
        tag: u32,
        /// Communicator.
        communicator: u16,
    },
    /// Begins to send.
    Isend {
        /// Receiving rank.
        to: u32,
        /// Size.
        bytes: Bytes,
        /// Tag.
        tag: u32,
        /// Communicator.
        communicator: u16,
        /// Slot to wait for.
        request: u32,
    },
    /// Begins to receive.
    Irecv {
        /// Sending rank, or [`ANY`].
        from: u32,
        /// Room for the message.
        bytes: Bytes,
        /// Tag, or [`ANY`].
        tag: u32,
        /// Communicator.
        communicator: u16,
        /// Slot to wait for.
        request: u32,
    },
    /// Waits for a request, and frees its slot.
    Wait {
        /// The slot.
        request: u32,
    },
    /// Waits for all of `count` consecutive slots; those not in use are passed over, as null requests are.
    WaitAll {
        /// The first slot.
        first: u32,
        /// How many.
        count: u32,
    },
    /// Waits for one of them, the one with the least number if several are done.
    WaitAny {
        /// The first slot.
        first: u32,
        /// How many.
        count: u32,
    },
    /// Waits until at least one of them is done, and frees all that are.
    WaitSome {
        /// The first slot.
        first: u32,
        /// How many.
        count: u32,
    },
    /// Frees the slot if it is done, and goes on in any case.
    Test {
        /// The slot.
        request: u32,
    },
    /// Computes.
    Compute {
        /// For how long.
        time: Time,
    },
    /// Does nothing, which counts neither as computation nor as communication.
    Sleep {
        /// For how long.
        time: Time,
    },
    /// A phase of the program begins; the one before ends.
    Mark {
        /// Number of the phase.
        phase: u32,
    },
    /// The program of a job that runs it several times was run through once more. No call that a rank makes.
    Round,
    /// All ranks of a communicator do something together.
    Collective {
        /// What.
        operation: Operation,
        /// The root, where there is one.
        root: u32,
        /// Bytes: of the whole message (broadcast, reduce, allreduce, scan), of the block of each rank (the others);
        /// unused where `sizes` says.
        bytes: Bytes,
        /// Which of the program's [sizes](RankProgram::size) the vector forms go by.
        sizes: u32,
        /// Communicator.
        communicator: u16,
    },
    /// Divides a communicator: ranks of one colour make a new one, ordered by key, then by rank.
    CommSplit {
        /// Communicator that is divided.
        communicator: u16,
        /// Number of the new one.
        new: u16,
        /// Colour.
        color: u32,
        /// Key.
        key: u32,
    },
    /// Makes a communicator of some ranks of another: `first`, `first + stride`, ..
    CommCreate {
        /// Communicator that they are of.
        communicator: u16,
        /// Number of the new one; all its ranks give it the same.
        new: u16,
        /// Its first rank.
        first: u32,
        /// How many ranks it has.
        count: u32,
        /// From one rank to the next.
        stride: u32,
    },
    /// Gives a communicator back.
    CommFree {
        /// The communicator.
        communicator: u16,
    },
}

const _: () = assert!(size_of::<Call>() <= 24);

/// What ranks may do together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Operation {
    /// Everybody waits for everybody.
    Barrier,
    /// The root's message goes to all.
    Broadcast,
    /// The messages of all are combined at the root.
    Reduce,
    /// The messages of all are combined, and all get the result.
    Allreduce,
    /// The messages of all are combined, block by block; each rank gets its block.
    ReduceScatter,
    /// A block of each rank goes to the root; the vector form has a size for each.
    Gather,
    /// Each rank gets a block of the root; the vector form has a size for each.
    Scatter,
    /// A block of each rank goes to all; the vector form has a size for each.
    Allgather,
    /// Each rank sends a block to each other; the vector form has a size for each pair.
    Alltoall,
    /// Each rank gets the combination of the messages up to its own.
    Scan,
}

impl Operation {
    /// All of them, in the order of the reference.
    pub const ALL: [Self; 10] = [
        Self::Barrier,
        Self::Broadcast,
        Self::Reduce,
        Self::Allreduce,
        Self::ReduceScatter,
        Self::Gather,
        Self::Scatter,
        Self::Allgather,
        Self::Alltoall,
        Self::Scan,
    ];

    /// Its name in files and messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Barrier => "barrier",
            Self::Broadcast => "bcast",
            Self::Reduce => "reduce",
            Self::Allreduce => "allreduce",
            Self::ReduceScatter => "reduce-scatter",
            Self::Gather => "gather",
            Self::Scatter => "scatter",
            Self::Allgather => "allgather",
            Self::Alltoall => "alltoall",
            Self::Scan => "scan",
        }
    }
}

/// Instead of a number of sizes: all blocks have the same size.
pub const EQUAL: u32 = u32::MAX;

/// What every rank of a job does. Pure: the same for any thread and any order of calls.
pub trait RankProgram: std::fmt::Debug + Send + Sync {
    /// Number of ranks; they are `0..ranks()`.
    fn ranks(&self) -> u32;

    /// Number of blocks of a rank.
    fn blocks(&self, rank: u32) -> u64;

    /// Appends the instructions of a block of `rank`; few enough to be held by every rank at a time.
    fn block(&self, rank: u32, index: u64, code: &mut Code);

    /// Bytes that `from` sends to `to` (ranks of the job) in the vector form of a collective that goes by `sizes`.
    fn size(&self, sizes: u32, from: u32, to: u32) -> Bytes {
        let _ = (sizes, from, to);
        Bytes(0)
    }

    /// Whether any rank divides a communicator ([`Call::CommSplit`]).
    fn splits(&self) -> bool {
        false
    }

    /// Names of the phases, by number.
    fn phases(&self) -> Vec<String> {
        Vec::new()
    }

    /// Whether the time of a phase, less what is computed in it, is communication: what the interference study adds up.
    fn is_communication(&self, phase: u32) -> bool {
        let _ = phase;
        true
    }

    /// Which of several programs that run one after the other a phase belongs to, from 0 on.
    fn program_of(&self, phase: u32) -> u32 {
        let _ = phase;
        0
    }

    /// Which of several programs that run one after the other a block belongs to, from 0 on; `None` if there is but one.
    fn program_at(&self, rank: u32, index: u64) -> Option<u32> {
        let _ = (rank, index);
        None
    }

    /// Line of the file that the program was read from where a block's instruction stands.
    fn line(&self, rank: u32, index: u64, place: usize) -> Option<u32> {
        let _ = (rank, index, place);
        None
    }
}

/// Sizes of a process grid, or those that are worked out.
const DIMS: Kind = Kind::WordOr(AUTO, &Kind::List(&Kind::count(1)));

const fn program(
    name: &'static str,
    doc: &'static str,
    default: fn() -> Box<dyn ProgramRule>,
) -> Variant<dyn ProgramRule> {
    Variant { name, doc, default }
}

/// The programs, in the order of the reference.
pub const PROGRAMS: &[Variant<dyn ProgramRule>] = &[
    program("uniform-random", "a random permutation per iteration: one message to one's image", || {
        Box::new(UniformRandomParameters::default())
    }),
    program("lu", "wavefronts over a 2D process grid, there and back, as LU factorisations have them", || {
        Box::new(LuParameters::lu())
    }),
    program("fft-3d", "a 3D FFT on pencils: alltoalls in rows and columns of ranks", || {
        Box::new(Fft3dParameters::default())
    }),
    program("halo-3d", "exchange with 6 neighbours, dimension by dimension", || Box::new(HaloParameters::halo_3d())),
    program("lqcd", "4D lattice QCD: first and third neighbours of two parities, then two sums", || {
        Box::new(LqcdParameters::default())
    }),
    program("stencil-nd", "exchange with the neighbours on a grid of any dimensions, first up, then down", || {
        Box::new(StencilNdParameters::default())
    }),
    program("allreduce", "compute, then add up gradients: training of a neural network", || {
        Box::new(AllreduceParameters::default())
    }),
    program("lulesh", "broadcast, reduction, exchange with 26 neighbours, a wavefront", || {
        Box::new(LuleshParameters::default())
    }),
    program(
        "pf3d",
        "laser and plasma: transforms of planes, advection along the beam, exchange with 6 neighbours",
        || Box::new(Pf3dParameters::default()),
    ),
    program("ping-pong", "pairs of ranks that send a message to and fro", || Box::new(PingPongParameters::default())),
    program("incast", "everybody sends to a few", || Box::new(IncastParameters::default())),
    program("halo-2d", "exchange with 4 neighbours, dimension by dimension", || Box::new(HaloParameters::halo_2d())),
    program("sweep-3d", "wavefronts from all eight corners of a box on a 2D process grid", || {
        Box::new(LuParameters::sweep_3d())
    }),
    program("ring", "everybody sends to the next rank", || Box::new(RingParameters::default())),
    program("all-to-all", "an alltoall of all ranks", || Box::new(AllToAllProgramParameters::default())),
    program("file", "a program of your own, from a file", || Box::new(FileProgramParameters::default())),
    program("trace", "what the ranks of a real run called, from its trace", || Box::new(TraceParameters::default())),
];

/// A place in the program of one rank.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Cursor {
    /// Blocks that were begun.
    next_block: u64,
    /// Instructions of the present block, and the next one.
    code: Code,
    next: usize,
}

impl Cursor {
    /// The next instruction of `rank`; `None` at the end of the program.
    pub fn next(&mut self, program: &dyn RankProgram, rank: u32) -> Option<Call> {
        while self.next == self.code.calls().len() {
            if self.next_block == program.blocks(rank) {
                return None;
            }
            self.code.clear();
            self.next = 0;
            program.block(rank, self.next_block, &mut self.code);
            self.next_block += 1;
        }
        self.next += 1;
        Some(self.code.calls()[self.next - 1])
    }

    /// The instruction that came last.
    pub fn last(&self) -> Option<Call> {
        self.code.calls().get(self.next.checked_sub(1)?).copied()
    }

    /// Line of the instruction that came last, where the program was read from a file.
    pub fn line(&self, program: &dyn RankProgram, rank: u32) -> Option<u32> {
        program.line(rank, self.next_block.checked_sub(1)?, self.next.checked_sub(1)?)
    }

    /// Which of several programs the instruction that came last belongs to.
    pub fn program(&self, program: &dyn RankProgram, rank: u32) -> Option<u32> {
        program.program_at(rank, self.next_block.checked_sub(1)?)
    }

    /// Where it is: blocks that were begun, and the next instruction of the last of them.
    pub(crate) fn place(&self) -> (u64, usize) {
        (self.next_block, self.next)
    }

    /// Goes to a place where it was in the program of `rank`; whether there is such a place.
    pub(crate) fn go_to(&mut self, (next_block, next): (u64, usize), program: &dyn RankProgram, rank: u32) -> bool {
        if next_block > program.blocks(rank) {
            return false;
        }
        (self.next_block, self.next) = (next_block, next);
        self.code.clear();
        if let Some(last) = next_block.checked_sub(1) {
            program.block(rank, last, &mut self.code);
        }
        next <= self.code.calls().len()
    }

    /// Memory beyond the struct itself.
    pub fn memory_bytes(&self) -> usize {
        self.code.memory_bytes()
    }
}
