//! Channels by counting, for algorithms whose paths have no legs.
//!
//! The simplest rule is a channel per hop. If paths have more hops than channels are possible, the channel counts
//! *turns* from a link down (to a lower router number) to a link up. Within a channel, packets then go up first and
//! down after that, which closes no cycle. A path of n hops has at most n / 2 turns.

use super::RouteState;
use crate::next_hop::{NextHops, VcOrder};
use odonata_units::RouterId;

/// The event that the channel counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum VcCounter {
    Hops,
    Turns,
}

/// Flag in `state.phase`: the last link led down.
const DOWN: u8 = 1 << 7;

impl VcCounter {
    /// The counter for the VC order of the next hops.
    pub(super) fn of(hops: &NextHops) -> Self {
        match hops.vc_order() {
            VcOrder::PerLeg | VcOrder::PerGroup => Self::Hops,
            VcOrder::PerTurn => Self::Turns,
        }
    }

    /// Channels for paths of at most `hops` hops; 255 if there are more.
    pub(super) fn channels(self, hops: u32) -> u8 {
        let channels = match self {
            Self::Hops => hops.max(1),
            Self::Turns => hops / 2 + 1,
        };
        u8::try_from(channels).unwrap_or(u8::MAX)
    }

    /// The channel of a packet's hop from `at` to `next`.
    #[inline]
    pub(super) fn channel(self, at: RouterId, next: RouterId, state: &mut RouteState) -> u8 {
        match self {
            Self::Hops => state.hops,
            Self::Turns => {
                let turned = state.phase & DOWN != 0 && next > at;
                state.phase = state.phase & !DOWN | if next < at { DOWN } else { 0 };
                state.vc + u8::from(turned)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Down, up, up, down, down, up: the channel increases with each turn up, and only there.
    #[test]
    fn turns_from_down_to_up_increase_the_vc() {
        let mut state = RouteState::default();
        let path = [5, 3, 4, 9, 7, 2, 6].map(RouterId);
        let mut channel = |pair: &[RouterId]| {
            state.vc = VcCounter::Turns.channel(pair[0], pair[1], &mut state);
            state.vc
        };
        assert_eq!(path.windows(2).map(&mut channel).collect::<Vec<_>>(), [0, 1, 1, 1, 1, 2]);
        assert_eq!(VcCounter::Turns.channels(6), 4);
        assert_eq!(VcCounter::Hops.channels(0), 1);
    }
}
