//! Requests of a rank.

use serde::{Deserialize, Serialize};
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

/// All requests of a rank.
#[derive(Default, Debug, Serialize, Deserialize)]
pub(crate) struct Requests {
    own: Request,
    program: Vec<Request>,
    inner: Vec<Request>,
}

impl Requests {
    fn table(&self, inner: bool) -> &Vec<Request> {
        if inner {
            &self.inner
        } else {
            &self.program
        }
    }

    fn at(&mut self, slot: Slot) -> &mut Request {
        let (table, number) = match slot {
            Slot::BlockingCall => return &mut self.own,
            Slot::Program(number) => (&mut self.program, number as usize),
            Slot::Inner(number) => (&mut self.inner, number as usize),
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
        let request = self.at(slot);
        if matches!(request.state, RequestState::Pending | RequestState::Complete) {
            return Err(format!("starts {}, which has not been waited for", name(slot)));
        }
        *request = Request { state: RequestState::Pending, deregistration_ps };
        Ok(())
    }

    /// Completes a request.
    pub(crate) fn complete(&mut self, slot: Slot) {
        self.at(slot).state = RequestState::Complete;
    }

    pub(crate) fn state(&self, slot: Slot) -> RequestState {
        match slot {
            Slot::BlockingCall => self.own.state,
            Slot::Program(number) => {
                self.program.get(number as usize).map_or(RequestState::Unused, |request| request.state)
            }
            Slot::Inner(number) => {
                self.inner.get(number as usize).map_or(RequestState::Unused, |request| request.state)
            }
        }
    }

    /// Checks that every request of a wait was started.
    ///
    /// # Errors
    /// A slot that was never used.
    pub(crate) fn check(&self, wait: &Wait) -> Result<(), String> {
        let never = |slot: Slot| (self.state(slot) == RequestState::Unused).then_some(slot);
        let missing = match wait {
            Wait::One(slot) => never(*slot),
            Wait::All(inner, slots) | Wait::Any(inner, slots) | Wait::Some(inner, slots) => {
                let known = self.table(*inner).len() as u32;
                let beyond = (slots.end > known && !slots.is_empty()).then(|| numbered(*inner, slots.end - 1));
                beyond.or_else(|| slots.clone().find_map(|slot| never(numbered(*inner, slot))))
            }
        };
        missing.map_or(Ok(()), |slot| Err(format!("waits for {}, which was never started", name(slot))))
    }

    /// Incomplete requests of a wait. 0 means that the wait is over.
    pub(crate) fn incomplete(&self, wait: &Wait) -> u32 {
        let states = |inner: bool, slots: &Range<u32>| {
            let table = self.table(inner);
            slots.clone().map(|slot| table[slot as usize].state)
        };
        match wait {
            Wait::One(slot) => u32::from(self.state(*slot) == RequestState::Pending),
            Wait::All(inner, slots) => {
                states(*inner, slots).filter(|state| *state == RequestState::Pending).count() as u32
            }
            Wait::Any(inner, slots) | Wait::Some(inner, slots) => {
                let done = states(*inner, slots).any(|state| state == RequestState::Complete);
                let pending = states(*inner, slots).any(|state| state == RequestState::Pending);
                u32::from(pending && !done)
            }
        }
    }

    /// Whether a wait includes a request.
    pub(crate) fn includes(wait: &Wait, slot: Slot) -> bool {
        match wait {
            Wait::One(of) => *of == slot,
            Wait::All(inner, slots) | Wait::Any(inner, slots) | Wait::Some(inner, slots) => match slot {
                Slot::BlockingCall => false,
                Slot::Program(number) => !inner && slots.contains(&number),
                Slot::Inner(number) => *inner && slots.contains(&number),
            },
        }
    }

    /// Frees the completed requests of a wait. Returns the time to deregister their memory.
    pub(crate) fn free(&mut self, wait: &Wait) -> u64 {
        let mut free = |slot: Slot| {
            let request = self.at(slot);
            if request.state != RequestState::Complete {
                return None;
            }
            request.state = RequestState::Inactive;
            Some(request.deregistration_ps)
        };
        match wait {
            Wait::One(slot) => free(*slot).unwrap_or(0),
            Wait::All(inner, slots) | Wait::Some(inner, slots) => {
                slots.clone().filter_map(|slot| free(numbered(*inner, slot))).sum()
            }
            Wait::Any(inner, slots) => slots.clone().find_map(|slot| free(numbered(*inner, slot))).unwrap_or(0),
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        (self.program.capacity() + self.inner.capacity()) * size_of::<Request>()
    }
}

fn numbered(inner: bool, number: u32) -> Slot {
    if inner {
        Slot::Inner(number)
    } else {
        Slot::Program(number)
    }
}

/// Name in error messages.
fn name(slot: Slot) -> String {
    match slot {
        Slot::BlockingCall => "its own call".into(),
        Slot::Program(number) | Slot::Inner(number) => format!("request {number}"),
    }
}
