//! Communication patterns: who sends how much to whom.
//!
//! A pattern is a *rule*, never a list: [`Pattern::sends`] generates the messages of one rank on demand, so that the
//! 17.8 million messages of a 4D stencil on 2.2 million ranks take no memory. Random patterns draw from a stream
//! keyed by the rank, so the answer depends neither on the order of the calls nor on the thread that asks.

mod adversarial;
mod all_to_all;
mod bit_complement;
mod bit_reverse;
mod cells;
mod draw;
mod file;
mod grid;
mod hotspot;
mod many_to_many;
mod neighbors;
mod permutation;
mod random_neighbors;
mod random_permutation;
mod silent;
mod spec;
mod stencil;
mod tornado;
mod transpose;
mod umesh;
mod uniform;

#[cfg(test)]
mod test_help;

pub use adversarial::{AdversarialParameters, GroupTarget};
pub use all_to_all::AllToAllParameters;
pub use file::FilePatternParameters;
pub use grid::{near_cubic, GridOrder};
pub use hotspot::HotspotParameters;
pub use many_to_many::ManyToManyParameters;
pub use permutation::PermutationParameters;
pub use random_neighbors::RandomNeighborsParameters;
pub(crate) use silent::Silent;
pub use spec::{PatternRule, PatternSpec, PATTERNS};
pub use stencil::StencilParameters;
pub use tornado::TornadoParameters;
pub use umesh::UmeshParameters;
pub use uniform::UniformParameters;

use odonata_machine::Machine;
use odonata_units::{Bytes, NodeId, RankId, Stream};

/// One message of a rank.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Send {
    /// Receiving rank, of the same job.
    pub target: RankId,
    /// Size.
    pub bytes: Bytes,
}

/// Who sends how much to whom, within one job.
pub trait Pattern: std::fmt::Debug + std::marker::Send + Sync {
    /// Number of ranks; they are `0..ranks()`.
    fn ranks(&self) -> u32;

    /// Appends what `rank` sends in one iteration, in a fixed order. Pure: the same for any thread and any order of
    /// calls.
    fn sends(&self, rank: RankId, out: &mut Vec<Send>);

    /// Draws the receiver of one more message of `rank`, for open-loop injection; `None` if the rank sends nothing.
    ///
    /// Patterns that are a rule of destinations (uniform, adversarial, …) draw a fresh one each time; the others
    /// take one of their [`sends`](Pattern::sends), each equally likely, and generate them all for it: a caller that
    /// draws often from such a pattern keeps them.
    fn destination(&self, rank: RankId, stream: &mut Stream) -> Option<RankId> {
        let mut sends = Vec::new();
        self.sends(rank, &mut sends);
        (!sends.is_empty()).then(|| sends[stream.index(sends.len())].target)
    }

    /// Why nobody can say what the ranks send, if they send more than [`sends`](Pattern::sends) says.
    fn unknown(&self) -> Option<&Unknown> {
        None
    }
}

/// Messages that are sent, but that what a parameter names does not list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unknown {
    /// The parameter of the pattern.
    pub parameter: &'static str,
    /// What it lacks, and what to do.
    pub reason: String,
}

/// What a pattern may know of its job when it is built.
#[derive(Clone, Copy, Debug)]
pub struct PatternContext<'a> {
    /// The hardware.
    pub machine: &'a Machine,
    /// Name of the job.
    pub job: &'a str,
    /// Its ranks.
    pub ranks: u32,
    /// Seed of this job's pattern, derived from the seed of the run and the name of the job.
    pub seed: u64,
    /// The node of every rank.
    pub node_of_rank: &'a [NodeId],
}
