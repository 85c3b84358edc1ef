//! A lane of a rank: its clock, its place in the program and its current call.

use super::collectives::CollectiveLanes;
use crate::calls::{call_name, CallName};
use crate::job::RankWork;
use crate::record::CallKind;
use crate::requests::Wait;
use odonata_checkpoint::{DecodeError, Reader, Writer};
use odonata_programs::expansion::CallExpander;
use odonata_programs::{Call, GroupLists};
use odonata_units::Time;
use serde::{Deserialize, Serialize};

/// State of a lane.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum LaneState {
    Ready,
    /// Computes or sleeps up to its clock while the host makes progress.
    Computing,
    Blocked {
        wait: Wait,
        incomplete: u32,
        since: u64,
    },
    /// At the end of a call; `test` is the request of a test.
    LeavingCall {
        test: Option<u32>,
    },
    /// At the end of a round of a repeated program, or of the program.
    EndingRound,
    Finishing,
    Finished,
    /// The program made an invalid call.
    Failed(String),
}

/// The call that a rank is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct ActiveCall {
    pub(super) kind: CallKind,
    pub(super) since: u64,
    pub(super) blocked: Time,
    /// Name of the call, if calls are recorded.
    #[serde(deserialize_with = "call_name")]
    pub(super) name: CallName,
}

/// A lane: what runs one call or computation at a time.
#[derive(Debug)]
pub(super) struct Lane {
    pub(super) code: CallExpander,
    /// Its clock outside calls. In a call the clock of the host holds.
    pub(super) clock: u64,
    pub(super) state: LaneState,
    pub(super) call: Option<ActiveCall>,
    /// Its nonblocking collectives.
    pub(super) collectives: CollectiveLanes,
    /// Start of this round of a repeated program.
    pub(super) round_start: u64,
    /// The current phase, its start, and the time in calls at its start.
    pub(super) phase: Option<(u32, u64, Time)>,
    /// The last call, or the last call inside a collective. Reports use it.
    pub(super) last: Option<Call>,
}

impl Lane {
    pub(super) fn new(ranks: u32, rank: u32, start: Time) -> Self {
        Self {
            code: CallExpander::new(ranks, rank),
            clock: start.ps(),
            state: LaneState::Ready,
            call: None,
            collectives: CollectiveLanes::default(),
            round_start: start.ps(),
            phase: None,
            last: None,
        }
    }

    /// Saves the state. Group lists that communicators share go into `lists`.
    pub(super) fn save(&self, is_calls: bool, lists: &mut GroupLists, into: &mut Writer) {
        let Self { code, clock, state, call, collectives, round_start, phase, last } = self;
        if is_calls {
            code.save(lists, into);
        }
        into.put(&(clock, state, call, collectives, round_start, phase, last));
    }

    /// Loads the state.
    pub(super) fn load(
        &mut self,
        work: &RankWork,
        lists: &GroupLists,
        from: &mut Reader<'_>,
    ) -> Result<(), DecodeError> {
        if let RankWork::Calls(shared) = work {
            self.code.load(shared, lists, from)?;
        }
        (self.clock, self.state, self.call, self.collectives, self.round_start, self.phase, self.last) = from.get()?;
        Ok(())
    }
}
