//! Requests of a rank.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;

/// Identifies a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Slot {
    /// The blocking call that the rank is in.
    BlockingCall,
    /// A request slot of the program.
    Program(u32),
    /// A request slot of the current collective.
    Inner(u32),
    /// A task of a task graph. Its window has its state.
    Task(u32),
}

impl Slot {
    /// A request slot, of the current collective or of the program.
    pub(crate) fn numbered(inner: bool, number: u32) -> Self {
        if inner {
            Self::Inner(number)
        } else {
            Self::Program(number)
        }
    }
}

/// Name in error messages.
impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BlockingCall => f.write_str("its own call"),
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

/// The requests that a blocked rank waits for. The flag selects the slots of the current collective.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Wait {
    /// One request.
    One(Slot),
    /// All of some requests.
    All(bool, Range<u32>),
    /// The first of some requests to complete.
    Any(bool, Range<u32>),
    /// At least one of some requests.
    Some(bool, Range<u32>),
}

impl Wait {
    /// The requests, in order.
    pub(crate) fn slots(&self) -> impl Iterator<Item = Slot> {
        let (one, inner, several) = match self {
            Self::One(slot) => (Some(*slot), false, 0..0),
            Self::All(inner, slots) | Self::Any(inner, slots) | Self::Some(inner, slots) => {
                (None, *inner, slots.clone())
            }
        };
        one.into_iter().chain(several.map(move |number| Slot::numbered(inner, number)))
    }

    /// Whether it includes a request.
    pub(crate) fn includes(&self, slot: Slot) -> bool {
        match (self, slot) {
            (Self::One(of), _) => *of == slot,
            (_, Slot::BlockingCall) => false,
            (Self::All(inner, slots) | Self::Any(inner, slots) | Self::Some(inner, slots), slot) => {
                let (Slot::Program(number) | Slot::Inner(number)) = slot else { return false };
                slot == Slot::numbered(*inner, number) && slots.contains(&number)
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
}

impl Requests {
    fn at(&mut self, slot: Slot) -> &mut Request {
        let (table, number) = match slot {
            Slot::BlockingCall => return &mut self.own,
            Slot::Program(number) => (&mut self.program, number as usize),
            Slot::Inner(number) => (&mut self.inner, number as usize),
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
            Wait::All(inner, slots) | Wait::Any(inner, slots) | Wait::Some(inner, slots) => {
                let known = if *inner { &self.inner } else { &self.program }.len() as u32;
                (slots.end > known && !slots.is_empty()).then(|| Slot::numbered(*inner, slots.end - 1))
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
        (self.program.capacity() + self.inner.capacity()) * size_of::<Request>()
    }
}
