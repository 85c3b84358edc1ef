//! Phases of a level.

use odonata_declare::{words, Word};

words! {
    /// A phase of a level.
    #[derive(Default, PartialOrd, Ord)]
    pub enum Phase {
        #[default]
        Smooth = "smooth": "one product with the level's matrix (a cycle has three on each level)",
        Restrict = "restrict": "to the next coarser level",
        Interpolate = "interpolate": "to the next finer level",
        Regroup = "regroup": "gathering of a level on fewer ranks, in the set-up (as all following: needs a hierarchy \
            made with `--record`)",
        Strength = "strength": "strength of connection, in the set-up",
        Coarsen = "coarsen": "selection of coarse points, in the set-up",
        Weights = "weights": "interpolation weights, in the set-up",
        Galerkin = "galerkin": "triple matrix product, in the set-up",
        Packages = "packages": "building of communication packages, in the set-up",
        Elimination = "elimination": "factors of the coarsest matrix, in the set-up",
    }
}

impl Phase {
    /// Whether it belongs to the set-up. Set-up phases are recorded; the others follow from operators.
    pub const fn in_setup(self) -> bool {
        !matches!(self, Self::Smooth | Self::Restrict | Self::Interpolate)
    }

    /// The kernel of the set-up with this word.
    pub fn of_setup(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|phase| phase.in_setup() && phase.word() == word)
    }
}
