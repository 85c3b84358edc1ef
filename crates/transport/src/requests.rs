//! The requests of a rank: what it has begun and may wait for.

use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Which request something belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Slot {
    /// The blocking call that the rank is in.
    BlockingCall,
    /// A slot that the program numbers.
    Program(u32),
    /// A slot of the collective that the rank is in.
    Inner(u32),
}

/// State of a request.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub(crate) enum RequestState {
    /// There never was one.
    #[default]
    Unused,
    /// It was waited for.
    Inactive,
    Pending,
    Complete,
}

/// A request.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
struct Request {
    state: RequestState,
    /// Time in ps that it takes to give its memory back, once it is waited for.
    deregistration_ps: u64,
}

/// What a blocked rank waits for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Wait {
    /// One slot.
    One(Slot),
    /// All of some slots.
    All(bool, Range<u32>),
    /// The first of some slots that is done.
    Any(bool, Range<u32>),
    /// At least one of some slots.
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

    /// Begins one.
    ///
    /// # Errors
    /// The slot is in use.
    pub(crate) fn start(&mut self, slot: Slot, deregistration_ps: u64) -> Result<(), String> {
        let request = self.at(slot);
        if matches!(request.state, RequestState::Pending | RequestState::Complete) {
            return Err(format!("begins {}, which has not been waited for", name(slot)));
        }
        *request = Request { state: RequestState::Pending, deregistration_ps };
        Ok(())
    }

    /// One is done.
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

    /// Whether what is waited for can ever be.
    ///
    /// # Errors
    /// A slot that was never begun.
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
        missing.map_or(Ok(()), |slot| Err(format!("waits for {}, which it never began", name(slot))))
    }

    /// How many of what is waited for are not done; any other number than 0 if none of those needed is.
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

    /// Whether a slot is among those that are waited for.
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

    /// Frees what was waited for and is done; time in ps to give its memory back.
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

/// As errors call it.
fn name(slot: Slot) -> String {
    match slot {
        Slot::BlockingCall => "its own call".into(),
        Slot::Program(number) | Slot::Inner(number) => format!("request {number}"),
    }
}
