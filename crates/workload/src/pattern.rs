//! Communication patterns.
//!
//! A pattern is a *rule*, never a list. [`Pattern::sends`] generates the messages of one rank on demand, so the 17.8
//! million messages of a 4D stencil on 2.2 million ranks take no memory. Random patterns draw from a stream keyed by
//! the rank. So the result does not depend on the order of calls or on threads.

mod adversarial;
mod all_to_all;
mod bit_complement;
mod bit_reverse;
mod cells;
mod draw;
mod file;
mod hotspot;
mod many_to_many;
mod neighbors;
mod permutation;
mod random_neighbors;
mod random_permutation;
mod shift;
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
pub use all_to_all::{AllToAllOrder, AllToAllParameters};
pub use file::FilePatternParameters;
pub use hotspot::HotspotParameters;
pub use many_to_many::ManyToManyParameters;
pub use permutation::PermutationParameters;
pub use random_neighbors::RandomNeighborsParameters;
pub use shift::ShiftParameters;
pub(crate) use silent::SilentPattern;
pub use spec::{PatternRule, PatternSpec};
pub use stencil::StencilParameters;
pub use tornado::TornadoParameters;
pub use umesh::UmeshParameters;
pub use uniform::UniformParameters;

pub(crate) use crate::communication::{Pattern, SentMessage};

use odonata_declare::Variant;
use odonata_machine::Machine;
use odonata_units::NodeId;

/// Context of a pattern when it is built.
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

const fn pattern(
    name: &'static str,
    doc: &'static str,
    default: fn() -> Box<dyn PatternRule>,
) -> Variant<dyn PatternRule> {
    Variant { name, doc, default }
}

/// The patterns, in the order of the reference.
pub const PATTERNS: &[Variant<dyn PatternRule>] = &[
    pattern("stencil-2d", "4 neighbours on a 2D process grid", || Box::new(StencilParameters::default_2d())),
    pattern("stencil-3d", "6 neighbours on a 3D process grid", || Box::new(StencilParameters::default_3d())),
    pattern("stencil-4d", "8 neighbours on a 4D process grid", || Box::new(StencilParameters::default_4d())),
    pattern("many-to-many", "all-to-alls within groups of 16, 32 or 64 ranks", || {
        Box::new(ManyToManyParameters::default())
    }),
    pattern("spread", "6 to 27 random neighbours each (Damselfly's background noise)", || {
        Box::new(RandomNeighborsParameters::default_spread())
    }),
    pattern("umesh", "unstructured mesh: 6 to 27 neighbours with near rank numbers", || {
        Box::new(UmeshParameters::default())
    }),
    pattern("uniform", "every message to a uniformly random other rank", || Box::new(UniformParameters::default())),
    pattern("adversarial", "every rank to the group `offset` further (ADV+i)", || {
        Box::new(AdversarialParameters::default())
    }),
    pattern("tornado", "every rank to the rank just less than half-way around a ring", || {
        Box::new(TornadoParameters::default())
    }),
    pattern("shift", "every rank to the rank `offset` further", || Box::new(ShiftParameters::default())),
    pattern("transpose", "matrix transpose: rank (i, j) to (j, i)", || {
        Box::new(PermutationParameters::with_rule(transpose::rule))
    }),
    pattern("bit-complement", "rank r of n to n - 1 - r", || {
        Box::new(PermutationParameters::with_rule(bit_complement::rule))
    }),
    pattern("bit-reverse", "every rank to the rank with its bits in reverse order", || {
        Box::new(PermutationParameters::with_rule(bit_reverse::rule))
    }),
    pattern("random-permutation", "every rank to one rank and from one rank, drawn once", || {
        Box::new(PermutationParameters::with_rule(random_permutation::rule))
    }),
    pattern("hotspot", "a share of the messages to a few hot ranks, the rest uniform", || {
        Box::new(HotspotParameters::default())
    }),
    pattern("all-to-all", "every rank to every other rank", || Box::new(AllToAllParameters::default())),
    pattern("random-neighbors", "6 to 20 random neighbours each", || {
        Box::new(RandomNeighborsParameters::default_random())
    }),
    pattern("file", "a communication graph from a file", || Box::new(FilePatternParameters::default())),
];
