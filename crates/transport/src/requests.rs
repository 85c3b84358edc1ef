//! Requests of a rank.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;

/// Whose request slots.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum SlotOwner {
    Program,
    /// The current collective.
    Collective,
    /// The nonblocking collective of a lane.
    Lane(u16),
}

/// Identifies a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Slot {
    /// The blocking call that the rank is in.
    BlockingCall,
    /// A request slot of the program.
    Program(u32),
    /// A request slot of the current collective.
    Inner(u32),
    /// A request slot of the nonblocking collective of a lane, from 1; slot 0 is its blocking call.
    Lane { lane: u16, slot: u32 },
    /// A task of a task graph. Its window has its state.
    Task(u32),
}

impl Slot {
    /// A request slot of its owner.
    pub(crate) fn numbered(owner: SlotOwner, number: u32) -> Self {
        match owner {
            SlotOwner::Program => Self::Program(number),
            SlotOwner::Collective => Self::Inner(number),
            SlotOwner::Lane(lane) => Self::Lane { lane, slot: number + 1 },
        }
    }

    /// The slot of a blocking call.
    pub(crate) fn blocking(owner: SlotOwner) -> Self {
        match owner {
            SlotOwner::Program | SlotOwner::Collective => Self::BlockingCall,
            SlotOwner::Lane(lane) => Self::Lane { lane, slot: 0 },
        }
    }
}

/// Name in error messages.
impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BlockingCall | Self::Lane { slot: 0, .. } => f.write_str("its own call"),
            Self::Lane { slot, .. } => write!(f, "request {}", slot - 1),
            Self::Program(number) | Self::Inner(number) => write!(f, "request {number}"),
            Self::Task(number) => write!(f, "task {number}"),
        }
    }
}

/// State of a request.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub(crate) enum RequestState {
    /// Never used.
    #[default]
    Unused,
    /// Waited for, and free.
    Inactive,
    Pending,
    Complete,
}

/// A request.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
struct Request {
    state: RequestState,
    /// Time to deregister its memory after the wait.
    deregistration_ps: u64,
}

/// The requests that a blocked rank waits for, or a lane.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Wait {
    /// One request.
    One(Slot),
    /// All of some requests.
    All(SlotOwner, Range<u32>),
    /// The first of some requests to complete.
    Any(SlotOwner, Range<u32>),
    /// At least one of some requests.
    Some(SlotOwner, Range<u32>),
}

impl Wait {
    /// The requests, in order.
    pub(crate) fn slots(&self) -> impl Iterator<Item = Slot> {
        let (one, owner, several) = match self {
            Self::One(slot) => (Some(*slot), SlotOwner::Program, 0..0),
            Self::All(owner, slots) | Self::Any(owner, slots) | Self::Some(owner, slots) => {
                (None, *owner, slots.clone())
            }
        };
        one.into_iter().chain(several.map(move |number| Slot::numbered(owner, number)))
    }

    /// Whether it includes a request.
    pub(crate) fn includes(&self, slot: Slot) -> bool {
        match (self, slot) {
            (Self::One(of), _) => *of == slot,
            (_, Slot::BlockingCall | Slot::Lane { slot: 0, .. }) => false,
            (Self::All(owner, slots) | Self::Any(owner, slots) | Self::Some(owner, slots), slot) => {
                let number = match slot {
                    Slot::Program(number) | Slot::Inner(number) => number,
                    Slot::Lane { slot, .. } => slot - 1,
                    Slot::BlockingCall | Slot::Task(_) => return false,
                };
                slot == Slot::numbered(*owner, number) && slots.contains(&number)
            }
        }
    }
}

/// All requests of a rank.
#[derive(Default, Debug, Serialize, Deserialize)]
pub(crate) struct Requests {
    own: Request,
    program: Vec<Request>,
    inner: Vec<Request>,
    /// Of nonblocking collectives, by lane.
    lanes: Vec<Vec<Request>>,
}

impl Requests {
    fn at(&mut self, slot: Slot) -> &mut Request {
        let (table, number) = match slot {
            Slot::BlockingCall => return &mut self.own,
            Slot::Program(number) => (&mut self.program, number as usize),
            Slot::Inner(number) => (&mut self.inner, number as usize),
            Slot::Lane { lane, slot } => {
                let lane = usize::from(lane);
                if self.lanes.len() <= lane {
                    self.lanes.resize(lane + 1, Vec::new());
                }
                (&mut self.lanes[lane], slot as usize)
            }
            Slot::Task(_) => unreachable!("a task has no request slot"),
        };
        if table.len() <= number {
            table.resize(number + 1, Request::default());
        }
        &mut table[number]
    }

    /// Starts a request.
    ///
    /// # Errors
    /// The slot is in use.
    pub(crate) fn start(&mut self, slot: Slot, deregistration_ps: u64) -> Result<(), String> {
        if let Slot::Task(_) = slot {
            return Ok(());
        }
        let request = self.at(slot);
        if matches!(request.state, RequestState::Pending | RequestState::Complete) {
            return Err(format!("starts {slot}, which has not been waited for"));
        }
        *request = Request { state: RequestState::Pending, deregistration_ps };
        Ok(())
    }

    /// Completes a request.
    pub(crate) fn complete(&mut self, slot: Slot) {
        self.at(slot).state = RequestState::Complete;
    }

    pub(crate) fn state(&self, slot: Slot) -> RequestState {
        let (table, number) = match slot {
            Slot::BlockingCall => return self.own.state,
            Slot::Program(number) => (&self.program, number),
            Slot::Inner(number) => (&self.inner, number),
            Slot::Lane { lane, slot } => match self.lanes.get(usize::from(lane)) {
                Some(of_lane) => (of_lane, slot),
                None => return RequestState::Unused,
            },
            Slot::Task(_) => return RequestState::Unused,
        };
        table.get(number as usize).map_or(RequestState::Unused, |request| request.state)
    }

    /// Checks that every request of a wait was started.
    ///
    /// # Errors
    /// A slot that was never used.
    pub(crate) fn check(&self, wait: &Wait) -> Result<(), String> {
        // The last one first, since a range may be far longer than the table.
        let last = match wait {
            Wait::One(_) => None,
            Wait::All(owner, slots) | Wait::Any(owner, slots) | Wait::Some(owner, slots) => {
                let known = match owner {
                    SlotOwner::Program => self.program.len(),
                    SlotOwner::Collective => self.inner.len(),
                    SlotOwner::Lane(lane) => {
                        self.lanes.get(usize::from(*lane)).map_or(0, |of_lane| of_lane.len().saturating_sub(1))
                    }
                };
                let is_beyond = slots.end > known as u32 && !slots.is_empty();
                is_beyond.then(|| Slot::numbered(*owner, slots.end - 1))
            }
        };
        let missing = last.or_else(|| wait.slots().find(|slot| self.state(*slot) == RequestState::Unused));
        missing.map_or(Ok(()), |slot| Err(format!("waits for {slot}, which was never started")))
    }

    /// Incomplete requests of a wait. 0 means that the wait is over.
    pub(crate) fn incomplete(&self, wait: &Wait) -> u32 {
        let pending = wait.slots().filter(|slot| self.state(*slot) == RequestState::Pending);
        match wait {
            Wait::One(_) | Wait::All(..) => pending.count() as u32,
            Wait::Any(..) | Wait::Some(..) => {
                let is_done = wait.slots().any(|slot| self.state(slot) == RequestState::Complete);
                u32::from(!is_done) * pending.take(1).count() as u32
            }
        }
    }

    /// Frees the completed requests of a wait. Returns the time to deregister their memory.
    pub(crate) fn free(&mut self, wait: &Wait) -> u64 {
        let mut freed = wait.slots().filter_map(|slot| {
            let request = self.at(slot);
            let is_complete = request.state == RequestState::Complete;
            is_complete.then(|| {
                request.state = RequestState::Inactive;
                request.deregistration_ps
            })
        });
        match wait {
            Wait::One(_) | Wait::All(..) | Wait::Some(..) => freed.sum(),
            Wait::Any(..) => freed.next().unwrap_or(0),
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        let lanes: usize = self.lanes.iter().map(Vec::capacity).sum();
        (self.program.capacity() + self.inner.capacity() + lanes) * size_of::<Request>()
    }

    /// Frees the slots of a lane whose collective is complete.
    pub(crate) fn end_lane(&mut self, lane: u16) {
        if let Some(of_lane) = self.lanes.get_mut(usize::from(lane)) {
            of_lane.clear();
        }
    }
}
