//! Where threads wait for each other, and learn that one of them failed.
//!
//! A thread that panics never comes to a [`std::sync::Barrier`], and the others wait for it for ever. Here it leaves word.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A barrier that a panic breaks.
pub(crate) struct Meeting {
    threads: usize,
    state: Mutex<State>,
    all_here: Condvar,
}

#[derive(Default)]
struct State {
    waiting: usize,
    /// Number of meetings that were held.
    held: u64,
    broken: bool,
}

/// Membership of a thread: dropped by a panic, it breaks the meeting.
pub(crate) struct Member<'a>(&'a Meeting);

impl Meeting {
    pub(crate) fn new(threads: usize) -> Self {
        Self { threads, state: Mutex::default(), all_here: Condvar::new() }
    }

    /// Every thread joins once, before it waits.
    pub(crate) fn join(&self) -> Member<'_> {
        Member(self)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Member<'_> {
    /// Waits until all threads are here.
    ///
    /// # Panics
    /// If another thread panicked.
    pub(crate) fn wait(&self) {
        let Meeting { threads, all_here, .. } = self.0;
        let mut state = self.0.state();
        state.waiting += 1;
        if state.waiting == *threads {
            (state.waiting, state.held) = (0, state.held + 1);
            all_here.notify_all();
        } else {
            let held = state.held;
            while state.held == held && !state.broken {
                state = all_here.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
        let broken = state.broken;
        drop(state);
        assert!(!broken, "another thread of the run panicked");
    }
}

impl Drop for Member<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.state().broken = true;
            self.0.all_here.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{catch_unwind, AssertUnwindSafe};
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn nobody_is_a_round_ahead() {
        let (meeting, rounds) = (Meeting::new(3), AtomicU32::new(0));
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let member = meeting.join();
                    for round in 0..1000 {
                        rounds.fetch_add(1, Ordering::SeqCst);
                        member.wait();
                        assert_eq!(rounds.load(Ordering::SeqCst), 3 * (round + 1));
                        member.wait();
                    }
                });
            }
        });
    }

    #[test]
    fn a_panic_ends_those_that_wait() {
        let meeting = Meeting::new(2);
        let ended = catch_unwind(AssertUnwindSafe(|| {
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    let _member = meeting.join();
                    panic!("on purpose");
                });
                meeting.join().wait();
            });
        }));
        assert!(ended.is_err());
    }
}
