//! The reason why a rank has not finished.

use super::lane::LaneState;
use super::state_machine::Rank;
use crate::job::RankWork;
use crate::record::RankRecord;
use crate::requests::{RequestState, Slot, Wait};
use odonata_packet::Activity;
use odonata_programs::expansion::JobProgram;
use odonata_programs::{Call, ANY};
use odonata_units::Time;

impl Rank {
    pub(crate) fn into_record(self) -> RankRecord {
        self.record
    }

    /// What the rank does at `end_ps`. Its clock may be ahead: then its host computes, or works on a call.
    pub(crate) fn activity(&self, work: &RankWork, end_ps: u64, task_window: u32) -> Activity {
        if let Some(tasks) = &self.tasks {
            return match &self.lane.state {
                LaneState::Failed(reason) => Activity::Failed { what: format!("can't continue: {reason}") },
                _ => tasks.activity(end_ps, task_window),
            };
        }
        let shared = work.program();
        if let LaneState::Failed(reason) = &self.lane.state {
            return Activity::Failed { what: format!("can't continue at {}: {reason}", self.lane.code.place(shared)) };
        }
        let entered = self.lane.call.as_ref().map_or(self.clock(), |call| call.since);
        if entered > end_ps {
            return Activity::Computing { until: Time(entered) };
        }
        let (peer, what) = self.waits_for(shared);
        if self.clock() > end_ps {
            return Activity::InCall { until: Time(self.clock()), what };
        }
        let since = match &self.lane.state {
            LaneState::Blocked { since, .. } => *since,
            _ => self.clock(),
        };
        Activity::Waiting { since: Time(since), peer, what }
    }

    /// The rank that its call waits for, if it is known, and a description of the call.
    fn waits_for(&self, shared: &JobProgram) -> (Option<u32>, String) {
        let place = self.lane.code.place(shared);
        let wait = match &self.lane.state {
            LaneState::Blocked { wait, .. } => Some(wait),
            _ => None,
        };
        let within = self.lane.code.collective().map_or(String::new(), |(operation, before)| {
            format!(" in {} (collective {} of its communicator)", operation.name(), before + 1)
        });
        let pending = wait.and_then(|wait| self.first_pending(wait));
        let call = self.lane.last.map_or_else(|| "no call".into(), |call| call.to_string());
        let of = match (&pending, self.lane.last) {
            (
                Some((text, _)),
                Some(Call::Wait { .. } | Call::WaitAll { .. } | Call::WaitAny { .. } | Call::WaitSome { .. }),
            ) => {
                format!(", of which {text} is incomplete")
            }
            _ => String::new(),
        };
        let own = self.lane.last.and_then(|call| peer_of(&call)).filter(|peer| *peer != ANY);
        let peer = own.or(pending.and_then(|(_, peer)| peer));
        (peer, format!("{call}{of}{within} at {place}"))
    }

    /// The first incomplete request of a wait: a description and its peer.
    fn first_pending(&self, wait: &Wait) -> Option<(String, Option<u32>)> {
        let slot = wait.slots().find(|slot| self.host.requests.state(*slot) == RequestState::Pending)?;
        if let Slot::Program(request) = slot {
            if let Some((lane, wait)) = self.lane.collectives.of_request(request) {
                let peer = wait.and_then(|wait| self.first_pending(wait)).and_then(|(_, peer)| peer);
                let (operation, before) = self.lane.code.collective_of_lane(lane)?;
                let number = before + 1;
                return Some((
                    format!("{} (collective {number} of its communicator)", operation.nonblocking_name()),
                    peer,
                ));
            }
        }
        if let Some(label) = self.host.posted.find(|posted| posted.slot == slot) {
            return Some(("a receive".into(), (label.source != ANY).then_some(label.source)));
        }
        match self.host.sends.peer_of(slot) {
            Some(peer) => Some(("a send".into(), Some(peer))),
            None => Some(("a receive".into(), self.host.receives.peer_of(slot))),
        }
    }

    /// Memory of the rank.
    pub(crate) fn memory_bytes(&self) -> usize {
        size_of::<Self>()
            + self.lane.code.memory_bytes()
            + self.lane.collectives.memory_bytes()
            + self.host.memory_bytes()
            + self.tasks.as_ref().map_or(0, |tasks| tasks.memory_bytes())
    }
}

fn peer_of(call: &Call) -> Option<u32> {
    match *call {
        Call::Send { to, .. } | Call::Isend { to, .. } | Call::Put { to, .. } => Some(to),
        Call::Recv { from, .. } | Call::Irecv { from, .. } | Call::Get { from, .. } => Some(from),
        _ => None,
    }
}
