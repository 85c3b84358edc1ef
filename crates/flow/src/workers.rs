//! Work shared among threads so that the result is the same for any number of them.
//!
//! Items are claimed one by one; what they add up goes into one accumulator per thread, merged at the end. Sums are
//! integers, so neither the order of claims nor the number of accumulators shows in the result.

use crate::progress::Interruption;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;

/// Calls `work(item, accumulator)` once for every item, on as many threads as there are accumulators. The calling thread asks
/// whether to `should_continue`, first and before each of its items.
///
/// # Errors
/// If it is told not to: then some items are left as they are.
pub(crate) fn for_each<T: Send, A: Send>(
    items: &[Mutex<T>],
    accumulators: &mut [A],
    should_continue: &mut dyn FnMut() -> bool,
    work: impl Fn(usize, &mut T, &mut A) + Sync,
) -> Result<(), Interruption> {
    // Whoever watches is told of every call, even if other threads take all items.
    if !should_continue() {
        return Err(Interruption);
    }
    let next = AtomicUsize::new(0);
    let claim = |accumulator: &mut A, should_continue: &mut dyn FnMut() -> bool| loop {
        let i = next.fetch_add(1, Ordering::Relaxed);
        let Some(item) = items.get(i) else { return Ok(()) };
        if !should_continue() {
            // The others find nothing left.
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

/// Adds every accumulator into the first and clears the others.
pub(crate) fn merge(accumulators: &mut [Vec<u64>]) {
    let (first, rest) = accumulators.split_first_mut().expect("at least one thread");
    for other in rest {
        for (sum, value) in first.iter_mut().zip(other.iter_mut()) {
            *sum += std::mem::take(value);
        }
    }
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
}
