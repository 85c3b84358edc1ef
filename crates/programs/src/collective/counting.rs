//! Counts the messages of a collective.
//!
//! Every algorithm has a formula for blocks of one size ([`Algorithm::totals`]). The vector forms have a size for every
//! pair of ranks. Their messages are counted rank by rank, of a sample of the ranks if there are many.

use super::algorithm::{Algorithm, Collective};
use super::totals::Totals;
use crate::call::Call;
use crate::code::Code;
use crate::fingerprint::mixed;
use crate::message_counts::Partners;

/// The totals of a collective. Vector forms count about `steps` messages.
pub(crate) fn totals(algorithm: &dyn Algorithm, collective: &Collective<'_>, steps: u64) -> Totals {
    match collective.sizes {
        _ if collective.size == 1 => Totals::default(),
        None => algorithm.totals(collective),
        Some(_) => sampled(algorithm, collective, steps),
    }
}

/// The messages of a vector form, from as many ranks as `steps` allow, evenly spread.
fn sampled(algorithm: &dyn Algorithm, collective: &Collective<'_>, steps: u64) -> Totals {
    let size = u64::from(collective.size);
    // A rank of a vector form takes up to about as many steps as there are ranks.
    let ranks = (steps / size).clamp(1, size);
    let mut totals = Totals { is_estimate: ranks < size, ..Totals::default() };
    let mut code = Code::default();
    for number in 0..ranks {
        let (first, next) = (number * size / ranks, (number + 1) * size / ranks);
        // A random rank of each part: evenly spaced ranks could all have the same place on a grid.
        let rank = first + mixed(size, number as u32, collective.operation as u32) % (next - first);
        let of_rank = Collective { rank: rank as u32, ..*collective };
        let mut partners = Partners::default();
        let mut index = 0;
        loop {
            code.clear();
            if !algorithm.step(&of_rank, index, &mut code) {
                break;
            }
            index += 1;
            for call in code.calls() {
                if let Call::Send { to, bytes, .. } | Call::Isend { to, bytes, .. } = *call {
                    match totals.by_size.last_mut() {
                        Some((size, messages)) if *size == bytes => *messages += 1,
                        _ => totals.by_size.push((bytes, 1)),
                    }
                    totals.pairs += u64::from(partners.insert(to));
                }
            }
        }
    }
    let scaled = |count: u64| (u128::from(count) * u128::from(size) / u128::from(ranks)) as u64;
    totals.by_size.iter_mut().for_each(|(_, messages)| *messages = scaled(*messages));
    Totals { pairs: scaled(totals.pairs), ..totals }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::Operation;
    use crate::collective::ALGORITHMS;
    use odonata_units::Bytes;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// The messages of all ranks, step by step: by size, and their pairs.
    fn walked(algorithm: &dyn Algorithm, collective: &Collective<'_>) -> (BTreeMap<Bytes, u64>, u64) {
        let (mut by_size, mut pairs) = (BTreeMap::new(), std::collections::BTreeSet::new());
        for rank in 0..collective.size {
            let of_rank = Collective { rank, ..*collective };
            let mut code = Code::default();
            let mut index = 0;
            while algorithm.step(&of_rank, index, &mut code) {
                index += 1;
                for call in code.calls() {
                    if let Call::Send { to, bytes, .. } | Call::Isend { to, bytes, .. } = *call {
                        *by_size.entry(bytes).or_insert(0) += 1;
                        pairs.insert((rank, to));
                    }
                }
                code.clear();
            }
        }
        (by_size, pairs.len() as u64)
    }

    fn merged(totals: &Totals) -> BTreeMap<Bytes, u64> {
        let mut by_size = BTreeMap::new();
        for &(bytes, messages) in totals.by_size.iter().filter(|(_, messages)| *messages > 0) {
            *by_size.entry(bytes).or_insert(0) += messages;
        }
        by_size
    }

    /// Every algorithm, every operation, every number of ranks up to 40 and every root of some of them.
    #[test]
    fn the_formula_is_the_walk() {
        for known in ALGORITHMS {
            for &operation in known.algorithm.operations() {
                for size in 1..=40 {
                    for (root, bytes) in [(0, 0), (0, 1), (size / 3, 7), (size - 1, 64), (size / 2, 1001)] {
                        let bytes = Bytes(bytes);
                        let collective = Collective { operation, rank: 0, size, root, bytes, sizes: None };
                        let found = totals(known.algorithm, &collective, 0);
                        let (by_size, pairs) = walked(known.algorithm, &collective);
                        let what = format!("{} {operation:?} of {size}, root {root}, {bytes}", known.name);
                        assert_eq!(merged(&found), by_size, "{what}");
                        assert!((pairs..=2 * pairs).contains(&found.pairs), "{what}: {} of {pairs}", found.pairs);
                        assert!(!found.is_estimate);
                    }
                }
            }
        }
    }

    proptest! {
        /// With enough steps the vector forms are counted in full. With a few, the number of messages of an alltoall is
        /// exact, and its bytes are near.
        #[test]
        fn vector_forms(size in 2u32..40, root in 0u32..40, factor in 1u64..50) {
            let sizes = move |from: u32, to: u32| Bytes(1_000 + factor * u64::from(from % 3 + to % 5));
            for known in ALGORITHMS {
                for &operation in known.algorithm.operations() {
                    if matches!(operation, Operation::Gather | Operation::Alltoall | Operation::Allgather) {
                        let collective =
                            Collective { operation, rank: 0, size, root: root % size, bytes: Bytes(0), sizes: Some(&sizes) };
                        let found = totals(known.algorithm, &collective, u64::MAX);
                        prop_assert_eq!((merged(&found), found.pairs), walked(known.algorithm, &collective));
                    }
                }
            }
            let collective =
                Collective { operation: Operation::Alltoall, rank: 0, size, root: 0, bytes: Bytes(0), sizes: Some(&sizes) };
            let found = totals(ALGORITHMS.iter().find(|known| known.name == "pairwise").unwrap().algorithm,
                &collective, u64::from(size));
            prop_assert!(found.is_estimate);
            let messages: u64 = found.by_size.iter().map(|(_, messages)| messages).sum();
            prop_assert_eq!(messages, u64::from(size) * u64::from(size - 1));
        }
    }
}
