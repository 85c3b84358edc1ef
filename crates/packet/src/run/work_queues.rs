//! Distribution of partitions to threads by work stealing.
//!
//! A thread takes its own partitions first. It starts with the last one of the previous window, which is still in its
//! cache. Without own partitions, it steals from the other end of another thread's queue. It keeps the stolen
//! partitions for the next window. So work follows the load, also for a job on part of the machine or a slow core.
//!
//! Every queue exists twice: a window takes from the queues that the previous window filled, and fills the others.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard};

pub(super) struct WorkQueues<P> {
    of: [Vec<Mutex<VecDeque<P>>>; 2],
}

impl<P> WorkQueues<P> {
    /// Divides `partitions` among the threads.
    pub(super) fn new(partitions: Vec<P>, threads: usize) -> Self {
        let count = partitions.len();
        let mut rest = partitions.into_iter();
        let share = |thread| {
            Mutex::new(rest.by_ref().take(count * (thread + 1) / threads - count * thread / threads).collect())
        };
        let first = (0..threads).map(share).collect();
        Self { of: [first, (0..threads).map(|_| Mutex::default()).collect()] }
    }

    /// Takes a partition of this window: the last one of `thread`, else the first one of another thread.
    pub(super) fn take(&self, side: usize, thread: usize) -> Option<P> {
        // The last one is most likely in the cache; thieves take from the front.
        let own = self.queue(side, thread).pop_back();
        let threads = self.of[side].len();
        own.or_else(|| (1..threads).find_map(|other| self.queue(side, (thread + other) % threads).pop_front()))
    }

    /// Appends a partition to the queue of `thread` for the next window.
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
        // Thread 0 has 0 to 3 and starts with the last; thread 1 is faster.
        assert_eq!(take(0, 1, 5), [7, 6, 5, 4, 0]);
        assert_eq!(take(0, 0, 2), [3, 2]);
        assert_eq!(take(0, 1, 2), [1]);
        assert_eq!((take(0, 0, 1), take(0, 1, 1)), (vec![], vec![]));
        // Back and forth: the last partition of a window is the first of the next.
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
