//! Work for threads with a result that does not depend on their number.
//!
//! Threads claim items one by one and sum into one accumulator per thread; the accumulators are merged at the end.
//! Sums are integers, so the order of claims and the number of accumulators do not matter.

use crate::progress::Interruption;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;

/// Calls `work(item, accumulator)` once for every item, with one thread per accumulator. The calling thread calls
/// `should_continue` first and before each of its items.
///
/// # Errors
/// `should_continue` returned false. Some items may be unchanged.
pub(crate) fn for_each<T: Send, A: Send>(
    items: &[Mutex<T>],
    accumulators: &mut [A],
    should_continue: &mut dyn FnMut() -> bool,
    work: impl Fn(usize, &mut T, &mut A) + Sync,
) -> Result<(), Interruption> {
    // Call it at least once, even if other threads take all items.
    if !should_continue() {
        return Err(Interruption);
    }
    let next = AtomicUsize::new(0);
    let claim = |accumulator: &mut A, should_continue: &mut dyn FnMut() -> bool| loop {
        let i = next.fetch_add(1, Ordering::Relaxed);
        let Some(item) = items.get(i) else { return Ok(()) };
        if !should_continue() {
            // Other threads find no more items.
            next.store(items.len(), Ordering::Relaxed);
            return Err(Interruption);
        }
        work(i, &mut item.lock().expect("no other thread has this item"), accumulator);
    };
    let (first, rest) = accumulators.split_first_mut().expect("at least one thread");
    std::thread::scope(|scope| {
        for accumulator in rest {
            scope.spawn(|| claim(accumulator, &mut || true));
        }
        claim(first, should_continue)
    })
}

/// Adds all accumulators to the first and clears the others.
pub(crate) fn merge(accumulators: &mut [Vec<u64>]) {
    merge_into_first(accumulators.iter_mut().map(Vec::as_mut_slice).collect());
}

/// Adds all accumulators of equal length to the first and clears the others. Every thread adds a part of all: with many
/// threads, a large machine has more to merge than a thread has to do otherwise.
pub(crate) fn merge_into_first(accumulators: Vec<&mut [u64]>) {
    let threads = accumulators.len();
    let mut accumulators = accumulators.into_iter();
    let first = accumulators.next().expect("at least one thread");
    if threads == 1 || first.is_empty() {
        return;
    }
    let length = first.len().div_ceil(threads);
    let mut parts: Vec<(&mut [u64], Vec<&mut [u64]>)> =
        first.chunks_mut(length).map(|part| (part, Vec::with_capacity(threads - 1))).collect();
    for other in accumulators {
        parts.iter_mut().zip(other.chunks_mut(length)).for_each(|(part, own)| part.1.push(own));
    }
    std::thread::scope(|scope| {
        for (sums, others) in parts {
            scope.spawn(move || {
                for other in others {
                    sums.iter_mut().zip(other).for_each(|(sum, value)| *sum += std::mem::take(value));
                }
            });
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_done_once() {
        for threads in [1, 2, 5] {
            let items: Vec<Mutex<u64>> = (0..100).map(Mutex::new).collect();
            let mut sums = vec![vec![0u64; 1]; threads];
            for_each(&items, &mut sums, &mut || true, |_, item, sum| {
                sum[0] += *item;
                *item = 0;
            })
            .unwrap();
            merge(&mut sums);
            assert_eq!(sums[0][0], 99 * 100 / 2);
        }
    }

    #[test]
    fn parts_of_any_length_are_merged() {
        for (length, threads) in [(0, 3), (1, 3), (10, 3), (7, 1)] {
            let mut sums: Vec<Vec<u64>> = (0..threads).map(|k| vec![k + 1; length]).collect();
            merge(&mut sums);
            assert_eq!(sums[0], vec![threads * (threads + 1) / 2; length]);
            assert!(sums[1..].iter().flatten().all(|&left| left == 0));
        }
    }
}
