//! Sums of integers over processes. Integers make the order of addition irrelevant.

use crate::exchange::Processes;
use zerocopy::IntoBytes;

/// Sums lists of equal length over all processes. All get the sums, which wrap around as in a single process.
///
/// Each process sums a part of the lists and sends it to the others. So a process sends its lists about twice, for
/// any number of processes.
pub fn sum(processes: &dyn Processes, lists: &mut [&mut [u64]]) {
    let (count, number) = (processes.count(), processes.number());
    if count == 1 {
        return;
    }
    let all: usize = lists.iter().map(|list| list.len()).sum();
    let part = |process: usize| all * process / count..all * (process + 1) / count;
    let mut flat = Vec::with_capacity(all);
    lists.iter().for_each(|list| flat.extend_from_slice(list));
    let others = |message: &dyn Fn(usize) -> Vec<u8>| {
        let to = |process| if process == number { Vec::new() } else { message(process) };
        processes.exchange((0..count).map(to).collect())
    };
    let came = others(&|process| to_bytes(&flat[part(process)]));
    for bytes in came.iter().enumerate().filter(|(process, _)| *process != number).map(|(_, bytes)| bytes) {
        for (sum, value) in flat[part(number)].iter_mut().zip(from_bytes(bytes)) {
            *sum = sum.wrapping_add(value);
        }
    }
    let own = to_bytes(&flat[part(number)]);
    for (process, bytes) in others(&|_| own.clone()).iter().enumerate().filter(|(process, _)| *process != number) {
        flat[part(process)].iter_mut().zip(from_bytes(bytes)).for_each(|(sum, value)| *sum = value);
    }
    let mut rest = flat.as_slice();
    for list in lists {
        let (own, further) = rest.split_at(list.len());
        list.copy_from_slice(own);
        rest = further;
    }
}

fn to_bytes(values: &[u64]) -> Vec<u8> {
    values.as_bytes().to_vec()
}

fn from_bytes(bytes: &[u8]) -> impl Iterator<Item = u64> + '_ {
    bytes.chunks_exact(8).map(|eight| u64::from_ne_bytes(eight.try_into().expect("eight bytes")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_in_threads;

    #[test]
    fn all_get_the_sum_of_lists_of_any_length() {
        for (count, lengths) in [(1, [3, 0]), (2, [3, 4]), (3, [1, 0]), (4, [0, 0]), (4, [5, 9])] {
            let sums = run_in_threads(count, |process| {
                let mut lists = lengths.map(|length| vec![1 << process.number(); length]);
                let [a, b] = &mut lists;
                sum(process, &mut [a, b]);
                lists
            });
            let expected = lengths.map(|length| vec![(1 << count) - 1; length]);
            assert!(sums.iter().all(|lists| *lists == expected), "{count} processes: {sums:?}");
        }
    }
}
