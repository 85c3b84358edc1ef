//! The steps of a rank for its nonblocking collectives.

use super::collectives::CollectiveLane;
use super::state_machine::{Rank, RankContext};
use crate::requests::{Slot, SlotOwner};
use odonata_programs::Call;

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
