//! What the messages of a level are sent for.

use odonata_declare::words;

words! {
    /// What a level's messages are sent for.
    #[derive(Default, PartialOrd, Ord)]
    pub enum Phase {
        #[default]
        Smooth = "smooth": "one product with the level's matrix; a cycle has three on each level",
        Restrict = "restrict": "to the next coarser level",
        Interpolate = "interpolate": "to the next finer level",
        Coarsen = "coarsen": "choosing coarse points and interpolation, in the set-up; needs a hierarchy made with `--record`",
        Galerkin = "galerkin": "the triple matrix product, in the set-up; needs a hierarchy made with `--record`",
    }
}

impl Phase {
    /// Whether it belongs to the set-up, which is recorded message by message instead of following from operators.
    pub const fn in_setup(self) -> bool {
        matches!(self, Self::Coarsen | Self::Galerkin)
    }
}
