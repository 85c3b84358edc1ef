//! The selections of all operations: a preset, and what is set instead.

use super::algorithm::{Collective, NamedAlgorithm};
use super::choice::Choice;
use super::preset::{CollectivePreset, Form};
use crate::call::Operation;
use odonata_units::Bytes;

/// The selections of all operations.
#[derive(Clone, Debug)]
pub struct Collectives {
    preset: CollectivePreset,
    equal: Vec<Choice>,
    vector: Vec<Choice>,
    /// Operations whose selection was set.
    set: Vec<Operation>,
}

impl Collectives {
    /// The selections of a preset.
    pub fn of(preset: CollectivePreset) -> Self {
        let choices = |form| Operation::ALL.iter().map(|&operation| preset.choice(operation, form)).collect();
        Self { preset, equal: choices(Form::Equal), vector: choices(Form::Vector), set: Vec::new() }
    }

    /// The algorithms of the interference study, or for reduce-scatter and scan the default of MPI libraries.
    pub fn study() -> Self {
        Self::of(CollectivePreset::Study)
    }

    /// The preset.
    pub fn preset(&self) -> CollectivePreset {
        self.preset
    }

    /// Sets the selection of an operation, in both forms.
    pub fn set(&mut self, choice: Choice) {
        let place = choice.operation as usize;
        self.set.push(choice.operation);
        self.vector[place] = choice.clone();
        self.equal[place] = choice;
    }

    /// The selection of an operation, if it was set instead of the preset's.
    pub fn chosen(&self, operation: Operation) -> Option<&Choice> {
        self.set.contains(&operation).then(|| &self.equal[operation as usize])
    }

    /// The algorithm of a collective, the same on all its ranks.
    pub fn algorithm(&self, collective: &Collective<'_>) -> NamedAlgorithm {
        let Collective { operation, size, bytes, sizes, .. } = *collective;
        let place = operation as usize;
        if sizes.is_none() {
            return self.equal[place].algorithm(bytes, size);
        }
        let choice = &self.vector[place];
        let bytes = match (operation, &choice.rules[..]) {
            // The size would not matter.
            (_, [_]) => Bytes(u64::MAX),
            // Every rank knows all sizes.
            (Operation::Allgather | Operation::ReduceScatter, _) if !self.set.contains(&operation) => {
                Bytes(collective.blocks_of(0, size).0 / u64::from(size))
            }
            _ => Bytes(u64::MAX),
        };
        choice.algorithm(bytes, size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collective::ALGORITHMS;
    use odonata_declare::Word;

    fn collective(operation: Operation, bytes: u64, size: u32) -> Collective<'static> {
        Collective { operation, rank: 0, size, root: 0, bytes: Bytes(bytes), sizes: None }
    }

    /// Every operation of every preset finds an algorithm in its place, every algorithm supports an operation, and names
    /// are unique.
    #[test]
    fn every_operation_has_an_algorithm() {
        for &preset in CollectivePreset::ALL {
            let collectives = Collectives::of(preset);
            for (place, operation) in Operation::ALL.into_iter().enumerate() {
                assert_eq!(operation as usize, place);
                let sizes = |from: u32, to: u32| Bytes(u64::from(from * to));
                for size in 1..70 {
                    for bytes in [0, 8, 1 << 14, 1 << 24] {
                        let equal = collective(operation, bytes, size);
                        let vector = Collective { sizes: Some(&sizes), ..equal };
                        for named in [collectives.algorithm(&equal), collectives.algorithm(&vector)] {
                            assert!(named.algorithm.operations().contains(&operation), "{operation:?} {named:?}");
                        }
                    }
                }
                assert_eq!(Operation::ALL.iter().filter(|other| other.name() == operation.name()).count(), 1);
            }
        }
        for known in ALGORITHMS {
            assert!(!known.algorithm.operations().is_empty());
            assert_eq!(ALGORITHMS.iter().filter(|other| other.name == known.name).count(), 1);
        }
    }

    #[test]
    fn by_size() {
        let rules =
            [(Some(Bytes::kib(16)), None, "recursive-doubling"), (None, Some(8), "ring"), (None, None, "rabenseifner")];
        let mut collectives = Collectives::study();
        collectives.set(Choice::by_size(Operation::Allreduce, &rules).unwrap());
        let name = |bytes, ranks| collectives.algorithm(&collective(Operation::Allreduce, bytes, ranks)).name;
        assert_eq!(name(16 << 10, 100), "recursive-doubling");
        assert_eq!(name((16 << 10) + 1, 100), "rabenseifner");
        assert_eq!(name((16 << 10) + 1, 8), "ring");
        assert_eq!(collectives.algorithm(&collective(Operation::Barrier, 0, 9)).name, "binary-tree");
        assert!(collectives.chosen(Operation::Barrier).is_none());
        assert_eq!(collectives.chosen(Operation::Allreduce).unwrap().rules().len(), 3);
    }
}
