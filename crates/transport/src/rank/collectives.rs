//! Nonblocking collectives: lanes on which the host of a rank makes the calls of a collective.
//!
//! The call of the program starts the lane, which goes on up to its first wait. Whenever the host handles a notice that
//! ends the wait of a lane, it continues with the calls of this lane. So a nonblocking collective makes progress when
//! messages do: in calls, or always.

use crate::requests::{Slot, Wait};
use serde::{Deserialize, Serialize};

/// A nonblocking collective that is not complete.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct CollectiveLane {
    /// Request slot of the program.
    pub(super) request: u32,
    /// What it waits for, and how many of these requests are incomplete.
    pub(super) wait: Option<(Wait, u32)>,
}

/// The nonblocking collectives of a rank.
#[derive(Default, Debug, Serialize, Deserialize)]
pub(super) struct CollectiveLanes {
    pub(super) lanes: Vec<Option<CollectiveLane>>,
    /// Lanes whose wait is over. Zero between two notices.
    pub(super) ready: u32,
}

impl CollectiveLanes {
    /// Notes that a request of a lane is complete.
    pub(super) fn complete(&mut self, lane: u16, slot: Slot) {
        let Some(Some((wait, incomplete))) = self.lanes[usize::from(lane)].as_mut().map(|lane| lane.wait.as_mut())
        else {
            return;
        };
        if *incomplete > 0 && wait.includes(slot) {
            *incomplete = if matches!(wait, Wait::All(..)) { *incomplete - 1 } else { 0 };
            self.ready += u32::from(*incomplete == 0);
        }
    }

    pub(super) fn has_ready(&self) -> bool {
        self.ready > 0
    }

    /// The lane of the collective with a request, and what it waits for.
    pub(super) fn of_request(&self, request: u32) -> Option<(u16, Option<&Wait>)> {
        let of = (0..).zip(&self.lanes).filter_map(|(number, lane)| Some((number, lane.as_ref()?)));
        let (number, lane) = of.into_iter().find(|(_, lane)| lane.request == request)?;
        Some((number, lane.wait.as_ref().map(|(wait, _)| wait)))
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.lanes.capacity() * size_of::<Option<CollectiveLane>>()
    }
}
