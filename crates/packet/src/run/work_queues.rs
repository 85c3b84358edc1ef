//! Which thread advances which partition.
//!
//! A thread takes its own partitions first, the one that it advanced last before all others, since most of that is still in
//! the cache. When it has none left, it takes those of other threads, from the other end. What it advanced is its own in
//! the next window. So work follows the load, whatever makes it uneven: a job on part of the machine, or a slow core.
//!
//! Every share exists twice: in one window threads take from those that were filled in the window before, and fill the others.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard};

pub(super) struct WorkQueues<P> {
    of: [Vec<Mutex<VecDeque<P>>>; 2],
}

impl<P> WorkQueues<P> {
    /// Divides `partitions` layout so many threads.
    pub(super) fn new(partitions: Vec<P>, threads: usize) -> Self {
        let count = partitions.len();
        let mut rest = partitions.into_iter();
        let share = |thread| {
            Mutex::new(rest.by_ref().take(count * (thread + 1) / threads - count * thread / threads).collect())
        };
        let first = (0..threads).map(share).collect();
        Self { of: [first, (0..threads).map(|_| Mutex::default()).collect()] }
    }

    /// A partition that nobody has taken in this window: the last of `thread`'s own, else the first of another thread's.
    pub(super) fn take(&self, side: usize, thread: usize) -> Option<P> {
        let own = self.queue(side, thread).pop_back();
        let threads = self.of[side].len();
        own.or_else(|| (1..threads).find_map(|other| self.queue(side, (thread + other) % threads).pop_front()))
    }

    /// Makes a partition the last of `thread`'s own in the next window.
    pub(super) fn put_back(&self, side: usize, thread: usize, partition: P) {
        self.queue(1 - side, thread).push_back(partition);
    }

    fn queue(&self, side: usize, thread: usize) -> MutexGuard<'_, VecDeque<P>> {
        self.of[side][thread].lock().expect("no thread panicked")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_thread_steals_partitions_and_keeps_them() {
        let work_queues = WorkQueues::new((0..8).collect(), 2);
        let take = |side, thread, count: usize| -> Vec<u32> {
            let taken = (0..count)
                .map_while(|_| work_queues.take(side, thread))
                .inspect(|&p| work_queues.put_back(side, thread, p));
            taken.collect()
        };
        // Thread 0 has 0 to 3 and begins with the last; thread 1 is faster.
        assert_eq!(take(0, 1, 5), [7, 6, 5, 4, 0]);
        assert_eq!(take(0, 0, 2), [3, 2]);
        assert_eq!(take(0, 1, 2), [1]);
        assert_eq!((take(0, 0, 1), take(0, 1, 1)), (vec![], vec![]));
        // To and fro: what was taken last comes first.
        assert_eq!(take(1, 0, 2), [2, 3]);
        assert_eq!(take(1, 0, 1), [7]);
        assert_eq!(take(1, 1, 8), [1, 0, 4, 5, 6]);
    }

    #[test]
    fn every_partition_is_taken_once_in_a_window() {
        let work_queues = WorkQueues::new((0..50).collect::<Vec<u32>>(), 4);
        let barrier = std::sync::Barrier::new(4);
        let taken = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (work_queues, barrier, taken) = (&work_queues, &barrier, &taken);
                scope.spawn(move || {
                    for window in 0..200 {
                        while let Some(partition) = work_queues.take(window % 2, thread) {
                            taken.lock().unwrap().push((window, partition));
                            work_queues.put_back(window % 2, thread, partition);
                        }
                        barrier.wait();
                    }
                });
            }
        });
        let mut taken = taken.into_inner().unwrap();
        taken.sort_unstable();
        let all: Vec<(usize, u32)> = (0..200).flat_map(|window| (0..50).map(move |p| (window, p))).collect();
        assert!(taken == all, "each of 50 partitions in each of 200 windows");
    }
}
