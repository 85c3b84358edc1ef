//! Nonblocking collectives: lanes on which the host of a rank makes the calls of a collective.
//!
//! The call of the program starts the lane, which goes on up to its first wait. Whenever the host handles a notice that
//! ends the wait of a lane, it continues with the calls of this lane. So a nonblocking collective makes progress when
//! messages do: in calls, or always.

use super::state_machine::{Rank, RankContext};
use crate::requests::{Slot, SlotOwner, Wait};
use odonata_programs::Call;
use serde::{Deserialize, Serialize};

/// A nonblocking collective that is not complete.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct CollectiveLane {
    /// Request slot of the program.
    pub(super) request: u32,
    /// What it waits for, and how many of these requests are incomplete.
    wait: Option<(Wait, u32)>,
}

/// The nonblocking collectives of a rank.
#[derive(Default, Debug, Serialize, Deserialize)]
pub(super) struct CollectiveLanes {
    lanes: Vec<Option<CollectiveLane>>,
    /// Lanes whose wait is over. Zero between two notices.
    ready: u32,
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

impl Rank {
    /// Starts a nonblocking collective.
    pub(super) fn start_collective(
        &mut self,
        lane: u16,
        request: u32,
        context: &mut RankContext<'_>,
    ) -> Result<(), String> {
        self.host.requests.start(Slot::Program(request), 0)?;
        let lanes = &mut self.lane.collectives.lanes;
        if lanes.len() <= usize::from(lane) {
            lanes.resize(usize::from(lane) + 1, None);
        }
        lanes[usize::from(lane)] = Some(CollectiveLane { request, wait: None });
        self.run_collective(lane, context)
    }

    /// Continues the lanes whose wait is over, in their order.
    pub(super) fn continue_collectives(&mut self, context: &mut RankContext<'_>) -> Result<(), String> {
        self.lane.collectives.ready = 0;
        for lane in 0..self.lane.collectives.lanes.len() {
            let ended = |lane: &mut CollectiveLane| lane.wait.take_if(|(_, incomplete)| *incomplete == 0);
            let Some((wait, _)) = self.lane.collectives.lanes[lane].as_mut().and_then(ended) else { continue };
            self.host.clock += self.host.requests.free(&wait);
            self.run_collective(lane as u16, context)?;
        }
        Ok(())
    }

    /// Makes the calls of a lane up to its next wait, or to its end.
    fn run_collective(&mut self, lane: u16, context: &mut RankContext<'_>) -> Result<(), String> {
        while let Some(call) = self.lane.code.next_of_lane(lane, context.work.program())? {
            match call {
                Call::Compute { time } => {
                    self.record.compute += time;
                    self.host.clock += time.ps();
                    continue;
                }
                Call::Sleep { time } => {
                    self.host.clock += time.ps();
                    continue;
                }
                _ => {}
            }
            let Some(wait) = self.begin(call, SlotOwner::Lane(lane), context)? else { continue };
            let incomplete = self.host.requests.incomplete(&wait);
            if incomplete > 0 {
                let of_lane = self.lane.collectives.lanes[usize::from(lane)].as_mut().expect("it runs");
                of_lane.wait = Some((wait, incomplete));
                return Ok(());
            }
            self.host.clock += self.host.requests.free(&wait);
        }
        let ended = self.lane.collectives.lanes[usize::from(lane)].take().expect("it runs");
        self.host.requests.end_lane(lane);
        self.complete_request(Slot::Program(ended.request), context.settings);
        Ok(())
    }
}
