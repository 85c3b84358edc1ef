//! Phases of a level.

use odonata_declare::words;

words! {
    /// A phase of a level.
    #[derive(Default, PartialOrd, Ord)]
    pub enum Phase {
        #[default]
        Smooth = "smooth": "one product with the level's matrix (a cycle has three on each level)",
        Restrict = "restrict": "to the next coarser level",
        Interpolate = "interpolate": "to the next finer level",
        Coarsen = "coarsen": "selection of coarse points and interpolation, in the set-up (needs a hierarchy made \
            with `--record`)",
        Galerkin = "galerkin": "triple matrix product, in the set-up (needs a hierarchy made with `--record`)",
    }
}

impl Phase {
    /// Whether it belongs to the set-up. Set-up phases are recorded; the others follow from operators.
    pub const fn in_setup(self) -> bool {
        matches!(self, Self::Coarsen | Self::Galerkin)
    }
}
