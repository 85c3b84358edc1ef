//! A barrier that sums contributions and reports failed threads.
//!
//! With [`std::sync::Barrier`], the other threads wait forever if one panics. Here a panic breaks the barrier.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A barrier that sums the contributions of its threads. A panic breaks it.
pub(super) struct Barrier<S> {
    threads: usize,
    state: Mutex<State<S>>,
    all_here: Condvar,
}

struct State<S> {
    waiting: usize,
    /// Sum of the contributions of the waiting threads.
    brought: S,
    /// Sum of the last round.
    sum: S,
    /// Number of completed rounds.
    held: u64,
    broken: bool,
}

/// Membership of a thread. If a panic drops it, it breaks the barrier.
pub(super) struct BarrierMember<'a, S>(&'a Barrier<S>);

impl<S: Clone + Default> Barrier<S> {
    pub(super) fn new(threads: usize) -> Self {
        let state = State { waiting: 0, brought: S::default(), sum: S::default(), held: 0, broken: false };
        Self { threads, state: Mutex::new(state), all_here: Condvar::new() }
    }

    /// Adds a thread; each thread joins once, before it waits.
    pub(super) fn join(&self) -> BarrierMember<'_, S> {
        BarrierMember(self)
    }
}

impl<S> Barrier<S> {
    fn state(&self) -> MutexGuard<'_, State<S>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: Clone + Default> BarrierMember<'_, S> {
    /// Adds to the sum, waits for all threads, and returns the sum.
    ///
    /// # Panics
    /// If another thread panicked.
    pub(super) fn wait(&self, add: impl FnOnce(&mut S)) -> S {
        let Barrier { threads, all_here, .. } = self.0;
        let mut state = self.0.state();
        add(&mut state.brought);
        state.waiting += 1;
        if state.waiting == *threads {
            (state.waiting, state.held) = (0, state.held + 1);
            state.sum = std::mem::take(&mut state.brought);
            all_here.notify_all();
        } else {
            let held = state.held;
            while state.held == held && !state.broken {
                state = all_here.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
        // No thread reaches the next round before all have left this one.
        let (broken, sum) = (state.broken, state.sum.clone());
        drop(state);
        assert!(!broken, "another thread of the run panicked");
        sum
    }
}

impl<S> Drop for BarrierMember<'_, S> {
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

    #[test]
    fn no_thread_is_a_round_ahead_and_all_get_the_sum() {
        let barrier = Barrier::<u64>::new(3);
        std::thread::scope(|scope| {
            for thread in 1..=3 {
                let member = barrier.join();
                scope.spawn(move || {
                    for round in 0..1000 {
                        assert_eq!(member.wait(|sum| *sum += thread * round), 6 * round);
                    }
                });
            }
        });
    }

    #[test]
    fn a_panic_ends_waiting_threads() {
        let barrier = Barrier::<u64>::new(2);
        let ended = catch_unwind(AssertUnwindSafe(|| {
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    let _member = barrier.join();
                    panic!("on purpose");
                });
                barrier.join().wait(|_| {});
            });
        }));
        assert!(ended.is_err());
    }
}
