//! Collective algorithms: messages of one rank in one collective, written as calls of a program.
//!
//! An [`Algorithm`] is a rule that generates the calls of any step of any rank, so a rank only stores the number of its
//! step. Ranks are ranks of the communicator. Messages of a collective never match messages of the program.

mod algorithm;
mod binary_tree;
mod binomial;
mod bruck;
mod chain;
mod choice;
mod collectives;
mod counting;
mod dissemination;
mod doubling;
mod fold;
mod k_nomial;
mod linear;
mod neighbor_exchange;
mod pairwise;
mod preset;
mod rabenseifner;
mod recursive_doubling;
mod recursive_halving;
mod ring;
mod scatter_allgather;
mod scattered;
mod split_binary;
mod totals;

#[cfg(test)]
mod test_help;

pub use algorithm::{Algorithm, Collective, NamedAlgorithm};
pub use choice::{Choice, Rule};
pub use collectives::Collectives;
pub(crate) use counting::totals;
pub use preset::CollectivePreset;
pub use totals::Totals;

const fn known(name: &'static str, doc: &'static str, algorithm: &'static dyn Algorithm) -> NamedAlgorithm {
    NamedAlgorithm { name, doc, algorithm }
}

/// The algorithms, in the order of the reference.
pub const ALGORITHMS: &[NamedAlgorithm] = &[
    known("binary-tree", "whole messages up and down a binary tree", &binary_tree::BinaryTree),
    known("binomial", "whole messages up and down a binomial tree", &binomial::Binomial),
    known("k-nomial", "whole messages down a tree of degree 4", &k_nomial::KNomial),
    known("split-binary", "halves down the two sides of a binary tree, then exchanged", &split_binary::SplitBinary),
    known("chain", "whole messages from rank to rank", &chain::Chain),
    known(
        "scatter-allgather",
        "parts scattered by a binomial tree, collected by recursive doubling",
        &scatter_allgather::ScatterAllgather::RecursiveDoubling,
    ),
    known(
        "scatter-ring",
        "parts scattered by a binomial tree, collected by a ring",
        &scatter_allgather::ScatterAllgather::Ring,
    ),
    known("ring", "blocks passed from neighbour to neighbour", &ring::Ring),
    known("recursive-doubling", "exchanges at distances 1, 2, 4, …", &recursive_doubling::RecursiveDoublingAlgorithm),
    known("rabenseifner", "halves, quarters, … combined, then collected", &rabenseifner::Rabenseifner),
    known("recursive-halving", "halves, quarters, … combined", &recursive_halving::HalvingExchange),
    known("neighbor-exchange", "pairs of blocks to both neighbours in turn", &neighbor_exchange::NeighborExchange),
    known("bruck", "blocks move in steps of powers of two", &bruck::Bruck),
    known("dissemination", "notifications to the ranks 1, 2, 4, … further", &dissemination::Dissemination),
    known("doubling", "blocks sent 1, 2, 4, … ranks further, after a ready message", &doubling::DoublingAlgorithm),
    known("pairwise", "one partner per round", &pairwise::Pairwise),
    known("scattered", "direct messages to 32 ranks at a time", &scattered::ScatteredExchange),
    known("linear", "direct messages to or from each rank", &linear::Linear),
];
