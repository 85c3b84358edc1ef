//! What packets may do in a virtual channel.

use super::Routing;

/// What the packets of a virtual channel may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChannelKind {
    /// They go by the one way that their order of directions says.
    Deterministic,
    /// They choose among directions by the load.
    Dynamic,
}

impl ChannelKind {
    /// Of each channel of an algorithm, where it has channels of both kinds or rings that it keeps from filling up; nothing of others, whose
    /// channels are stages of a way.
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
