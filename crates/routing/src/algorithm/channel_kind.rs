//! Kinds of virtual channels.

use super::Routing;

/// What the packets of a virtual channel may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChannelKind {
    /// Packets follow a fixed order of directions.
    Deterministic,
    /// Packets choose among directions by load.
    Dynamic,
}

impl ChannelKind {
    /// The kind of each channel of an algorithm that has both kinds, or rings with bubbles. Empty for other
    /// algorithms, whose channels are stages of a path.
    pub fn of(routing: &dyn Routing) -> Vec<Self> {
        let (channels, reserved) = (routing.virtual_channels(), routing.reserved_from());
        let has_kinds = reserved < channels || routing.rings().is_some();
        let kind = |vc| if vc < reserved { Self::Deterministic } else { Self::Dynamic };
        (0..channels).filter(|_| has_kinds).map(kind).collect()
    }

    /// Its name.
    pub fn word(self) -> &'static str {
        match self {
            Self::Deterministic => "deterministic",
            Self::Dynamic => "dynamic",
        }
    }
}
