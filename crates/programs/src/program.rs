//! Rank programs: computation and calls of each rank of a job, as data.
//!
//! A program is not a thread. It is a rule that generates the instructions of any *block* of any rank. A block is code
//! without jumps, for example one iteration of a loop. The runner of a rank stores the number of its block and its
//! position in the block ([`Cursor`]). An application is written as straight code:
//!
//! ```
//! use odonata_units::Bytes;
//! use odonata_programs::{Call, Code, Cursor, RankProgram};
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
//! `docs/decisions/programs.md` explains the design and the memory of a rank.

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

/// Wildcard for a rank or a tag.
pub const ANY: u32 = u32::MAX;

/// The world communicator: all ranks of the job.
pub const WORLD: u16 = 0;

/// One instruction of a rank. Ranks are numbered within the communicator. Requests are slots of the rank, numbered by
/// the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Call {
    /// Blocking send: returns when the buffer can be reused.
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
    /// Blocking receive.
    Recv {
        /// Sending rank, or [`ANY`].
        from: u32,
        /// Size of the receive buffer.
        bytes: Bytes,
        /// Tag, or [`ANY`].
        tag: u32,
        /// Communicator.
        communicator: u16,
    },
    /// Nonblocking send.
    Isend {
        /// Receiving rank.
        to: u32,
        /// Size.
        bytes: Bytes,
        /// Tag.
        tag: u32,
        /// Communicator.
        communicator: u16,
        /// Request slot.
        request: u32,
    },
    /// Nonblocking receive.
    Irecv {
        /// Sending rank, or [`ANY`].
        from: u32,
        /// Size of the receive buffer.
        bytes: Bytes,
        /// Tag, or [`ANY`].
        tag: u32,
        /// Communicator.
        communicator: u16,
        /// Request slot.
        request: u32,
    },
    /// Waits for a request, and frees its slot.
    Wait {
        /// The slot.
        request: u32,
    },
    /// Waits for all of `count` consecutive slots. Unused slots are skipped, like null requests.
    WaitAll {
        /// The first slot.
        first: u32,
        /// How many.
        count: u32,
    },
    /// Waits for one slot. Among several complete ones the lowest number is chosen.
    WaitAny {
        /// The first slot.
        first: u32,
        /// How many.
        count: u32,
    },
    /// Waits until at least one slot is complete, and frees all complete slots.
    WaitSome {
        /// The first slot.
        first: u32,
        /// How many.
        count: u32,
    },
    /// Frees the slot if it is complete. Does not block.
    Test {
        /// The slot.
        request: u32,
    },
    /// Computes.
    Compute {
        /// Duration.
        time: Time,
    },
    /// Sleeps. This time is neither computation nor communication.
    Sleep {
        /// Duration.
        time: Time,
    },
    /// Starts a phase of the program and ends the phase before.
    Mark {
        /// Number of the phase.
        phase: u32,
    },
    /// End of a round of a repeated program. It is not a call of the rank.
    Round,
    /// A collective of all ranks of a communicator.
    Collective {
        /// Operation.
        operation: Operation,
        /// The root, if the operation has one.
        root: u32,
        /// Bytes of the whole message (broadcast, reduce, allreduce, scan) or of the block of each rank (other
        /// operations). Unused if `sizes` is set.
        bytes: Bytes,
        /// Number of the program's [sizes](RankProgram::size) for the vector forms.
        sizes: u32,
        /// Communicator.
        communicator: u16,
    },
    /// Splits a communicator: ranks of one colour form a new one, ordered by key, then by rank.
    CommSplit {
        /// Communicator to split.
        communicator: u16,
        /// Number of the new one.
        new: u16,
        /// Colour.
        color: u32,
        /// Key.
        key: u32,
    },
    /// Creates a communicator from ranks `first`, `first + stride`, ... of another.
    CommCreate {
        /// Parent communicator.
        communicator: u16,
        /// Number of the new one, equal for all its ranks.
        new: u16,
        /// Its first rank.
        first: u32,
        /// Number of ranks.
        count: u32,
        /// Distance between ranks.
        stride: u32,
    },
    /// Frees a communicator.
    CommFree {
        /// The communicator.
        communicator: u16,
    },
}

const _: () = assert!(size_of::<Call>() <= 24);

/// Collective operations.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Operation {
    /// All ranks wait for each other.
    Barrier,
    /// The root's message goes to all.
    Broadcast,
    /// The messages of all are combined at the root.
    Reduce,
    /// The messages of all are combined, and all get the result.
    Allreduce,
    /// The messages of all are combined, block by block; each rank gets its block.
    ReduceScatter,
    /// A block of each rank goes to the root. The vector form has a size for each.
    Gather,
    /// Each rank gets a block of the root. The vector form has a size for each.
    Scatter,
    /// A block of each rank goes to all. The vector form has a size for each.
    Allgather,
    /// Each rank sends a block to each other rank. The vector form has a size for each pair.
    Alltoall,
    /// Each rank gets the combination of the messages up to its own.
    Scan,
}

impl Operation {
    /// All operations, in the order of the reference.
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

    /// Name in files and messages.
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

/// All blocks have the same size.
pub const EQUAL: u32 = u32::MAX;

/// Program of every rank of a job. Pure: independent of threads and of the order of calls.
pub trait RankProgram: std::fmt::Debug + Send + Sync {
    /// Number of ranks, `0..ranks()`.
    fn ranks(&self) -> u32;

    /// Number of blocks of a rank.
    fn blocks(&self, rank: u32) -> u64;

    /// Appends the instructions of a block of `rank`. A block must be short enough for every rank to store one.
    fn block(&self, rank: u32, index: u64, code: &mut Code);

    /// Bytes from `from` to `to` (ranks of the job) in the vector form of a collective with `sizes`.
    fn size(&self, sizes: u32, from: u32, to: u32) -> Bytes {
        let _ = (sizes, from, to);
        Bytes(0)
    }

    /// Whether any rank splits a communicator ([`Call::CommSplit`]).
    fn splits(&self) -> bool {
        false
    }

    /// Names of the phases, by number.
    fn phases(&self) -> Vec<String> {
        Vec::new()
    }

    /// Whether the time of a phase, without computation, counts as communication, as in the interference study.
    fn is_communication(&self, phase: u32) -> bool {
        let _ = phase;
        true
    }

    /// Number of the program of a phase among several programs, from 0.
    fn program_of(&self, phase: u32) -> u32 {
        let _ = phase;
        0
    }

    /// Number of the program of a block among several programs, from 0. `None` if there is only one.
    fn program_at(&self, rank: u32, index: u64) -> Option<u32> {
        let _ = (rank, index);
        None
    }

    /// Line of a block's instruction, if the program was read from a file.
    fn line(&self, rank: u32, index: u64, place: usize) -> Option<u32> {
        let _ = (rank, index, place);
        None
    }
}

/// Sizes of a process grid, or a default grid.
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
    program("uniform-random", "a random permutation per iteration: every rank sends to its image", || {
        Box::new(UniformRandomParameters::default())
    }),
    program("lu", "wavefronts over a 2D process grid, forward and back, as in LU factorisation", || {
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
    program("allreduce", "computation and allreduce of gradients: training of a neural network", || {
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
    program("ping-pong", "pairs of ranks that exchange a message", || Box::new(PingPongParameters::default())),
    program("incast", "all ranks send to a few ranks", || Box::new(IncastParameters::default())),
    program("halo-2d", "exchange with 4 neighbours, dimension by dimension", || Box::new(HaloParameters::halo_2d())),
    program("sweep-3d", "wavefronts from all eight corners of a box on a 2D process grid", || {
        Box::new(LuParameters::sweep_3d())
    }),
    program("ring", "every rank sends to the next rank", || Box::new(RingParameters::default())),
    program("all-to-all", "an alltoall of all ranks", || Box::new(AllToAllProgramParameters::default())),
    program("file", "a program from a text file", || Box::new(FileProgramParameters::default())),
    program("trace", "replay of the calls of a real run, from its trace", || Box::new(TraceParameters::default())),
];

/// A position in the program of one rank.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Cursor {
    /// Number of started blocks.
    next_block: u64,
    /// Instructions of the current block, and the next one.
    code: Code,
    next: usize,
}

impl Cursor {
    /// The next instruction of `rank`. `None` at the end of the program.
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

    /// The last instruction.
    pub fn last(&self) -> Option<Call> {
        self.code.calls().get(self.next.checked_sub(1)?).copied()
    }

    /// Line of the last instruction, if the program was read from a file.
    pub fn line(&self, program: &dyn RankProgram, rank: u32) -> Option<u32> {
        program.line(rank, self.next_block.checked_sub(1)?, self.next.checked_sub(1)?)
    }

    /// Number of the program of the last instruction among several.
    pub fn program(&self, program: &dyn RankProgram, rank: u32) -> Option<u32> {
        program.program_at(rank, self.next_block.checked_sub(1)?)
    }

    /// Position: started blocks, and the next instruction of the last block.
    pub(crate) fn place(&self) -> (u64, usize) {
        (self.next_block, self.next)
    }

    /// Moves to a position in the program of `rank`. Returns whether it exists.
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
