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
