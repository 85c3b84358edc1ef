//! Requests of one rank as far as they are known without a run.

use crate::call::{Call, BLOCKING};

/// State of a request slot.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum RequestState {
    #[default]
    Unused,
    /// Started and not waited for.
    Active,
    /// A test or a wait for any or some may have freed it.
    MaybeActive,
    Free,
}

/// The slots of a rank.
#[derive(Clone, Default, Debug)]
pub(super) struct Requests {
    slots: Vec<RequestState>,
}

impl Requests {
    /// Follows a call.
    pub(super) fn follow(&mut self, call: &Call) -> Result<(), String> {
        match *call {
            Call::Isend { request, .. } | Call::Irecv { request, .. } => self.begin(request),
            Call::Collective { request, .. } if request != BLOCKING => self.begin(request),
            Call::Wait { request } => self.end(request, 1, RequestState::Free),
            Call::Test { request } => self.end(request, 1, RequestState::MaybeActive),
            Call::WaitAll { first, count } => self.end(first, count, RequestState::Free),
            Call::WaitAny { first, count } | Call::WaitSome { first, count } => {
                // Any of one request is this request.
                self.end(first, count, if count == 1 { RequestState::Free } else { RequestState::MaybeActive })
            }
            _ => Ok(()),
        }
    }

    fn begin(&mut self, request: u32) -> Result<(), String> {
        let slot = request as usize;
        if self.slots.len() <= slot {
            self.slots.resize(slot + 1, RequestState::Unused);
        }
        if self.slots[slot] == RequestState::Active {
            return Err(format!(
                "request {request} has not been waited for; expected a wait before it is started again"
            ));
        }
        self.slots[slot] = RequestState::Active;
        Ok(())
    }

    fn end(&mut self, first: u32, count: u32, after: RequestState) -> Result<(), String> {
        let all = first..first.saturating_add(count);
        let never =
            |request: &u32| self.slots.get(*request as usize).is_none_or(|state| *state == RequestState::Unused);
        if let Some(request) = all.clone().find(never) {
            return Err(format!(
                "request {request} was never started; expected an isend, an irecv or a nonblocking collective before"
            ));
        }
        for request in all {
            let state = &mut self.slots[request as usize];
            if matches!(state, RequestState::Active | RequestState::MaybeActive) {
                *state = after;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use odonata_units::Bytes;

    fn follow(calls: &[Call]) -> Result<(), String> {
        let mut requests = Requests::default();
        calls.iter().try_for_each(|call| requests.follow(call))
    }

    const fn begin(request: u32) -> Call {
        Call::Isend { to: 0, bytes: Bytes(1), tag: 0, communicator: 0, request }
    }

    #[test]
    fn invalid_request_use_is_refused() {
        let wait = Call::Wait { request: 0 };
        assert!(follow(&[wait]).unwrap_err().contains("request 0 was never started"));
        assert!(follow(&[begin(0), Call::WaitAll { first: 0, count: 2 }]).unwrap_err().contains("request 1 was never"));
        assert!(follow(&[begin(1), Call::Test { request: 0 }]).unwrap_err().contains("request 0 was never started"));
        assert!(follow(&[begin(0), begin(0)]).unwrap_err().contains("has not been waited for"));
        // A second wait is a wait for a null request. An empty range waits for nothing.
        assert_eq!(follow(&[begin(0), wait, wait, begin(0), Call::WaitAll { first: 7, count: 0 }]), Ok(()));
    }

    /// Only a run shows whether a test or a wait for any frees a slot.
    #[test]
    fn possibly_valid_request_use_is_allowed() {
        let any = |count| Call::WaitAny { first: 0, count };
        assert_eq!(follow(&[begin(0), Call::Test { request: 0 }, begin(0)]), Ok(()));
        assert_eq!(follow(&[begin(0), begin(1), any(2), begin(0)]), Ok(()));
        assert_eq!(follow(&[begin(0), any(1), begin(0)]), Ok(()));
        assert!(follow(&[begin(0), begin(1), any(2), begin(0), begin(0)]).is_err());
    }
}
