//! Selection of an algorithm for an operation: by name, or by size as in MPI libraries.

use super::algorithm::{Algorithm, NamedAlgorithm};
use super::ALGORITHMS;
use crate::call::Operation;
use odonata_declare::hint;
use odonata_units::Bytes;

/// A rule of a selection. The first rule whose limits hold is used.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Largest size in bytes, as in the call. No limit if not given.
    pub up_to: Option<Bytes>,
    /// Largest number of ranks. No limit if not given.
    pub up_to_ranks: Option<u32>,
    /// The algorithm.
    pub algorithm: NamedAlgorithm,
}

/// The algorithms of one operation.
#[derive(Clone, Debug)]
pub struct Choice {
    operation: Operation,
    rules: Vec<Rule>,
}

impl Choice {
    /// One algorithm for all sizes.
    ///
    /// # Errors
    /// An unknown name, or an algorithm that does not support the operation; with the nearest suitable name.
    pub fn of(operation: Operation, name: &str) -> Result<Self, String> {
        Ok(Self { operation, rules: vec![Rule { up_to: None, up_to_ranks: None, algorithm: find(operation, name)? }] })
    }

    /// Limits on bytes and ranks, with the name of the algorithm below them. The last rule has no limits.
    ///
    /// # Errors
    /// Errors of [`Choice::of`], a last rule with limits, or an unreachable rule, with the number of the rule.
    pub fn by_size(operation: Operation, rules: &[(Option<Bytes>, Option<u32>, &str)]) -> Result<Self, String> {
        let mut chosen: Vec<Rule> = Vec::with_capacity(rules.len());
        for (number, &(up_to, up_to_ranks, name)) in rules.iter().enumerate() {
            let at = |reason: String| format!("rule {}: {reason}", number + 1);
            let algorithm = find(operation, name).map_err(at)?;
            let reaches = |before: &Rule| {
                let more = |mine: Option<u64>, theirs: Option<u64>| {
                    theirs.is_some_and(|theirs| mine.is_none_or(|mine| mine > theirs))
                };
                more(up_to.map(|b| b.0), before.up_to.map(|b| b.0))
                    || more(up_to_ranks.map(u64::from), before.up_to_ranks.map(u64::from))
            };
            if !chosen.iter().all(reaches) {
                return Err(at("unreachable; limits must increase from rule to rule".into()));
            }
            chosen.push(Rule { up_to, up_to_ranks, algorithm });
        }
        match chosen.last() {
            Some(Rule { up_to: None, up_to_ranks: None, .. }) => Ok(Self { operation, rules: chosen }),
            _ => Err("the last rule has a limit; expected a last rule without limits".into()),
        }
    }

    /// The operation.
    pub fn operation(&self) -> Operation {
        self.operation
    }

    /// The rules, in order.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    fn algorithm(&self, bytes: Bytes, ranks: u32) -> NamedAlgorithm {
        let holds = |rule: &&Rule| {
            rule.up_to.is_none_or(|most| bytes <= most) && rule.up_to_ranks.is_none_or(|most| ranks <= most)
        };
        self.rules.iter().find(holds).expect("the last rule has no limits").algorithm
    }
}

fn find(operation: Operation, name: &str) -> Result<NamedAlgorithm, String> {
    let able = || ALGORITHMS.iter().filter(|known| known.algorithm.operations().contains(&operation));
    if let Some(known) = able().find(|known| known.name == name) {
        return Ok(*known);
    }
    let hint = hint(name, able().map(|known| known.name));
    Err(match ALGORITHMS.iter().any(|known| known.name == name) {
        true => format!("'{name}' does not support {}{hint}", operation.name()),
        false => format!("unknown algorithm '{name}'{hint}"),
    })
}

/// The selections of all operations.
#[derive(Clone, Debug)]
pub struct Collectives {
    choices: Vec<Choice>,
}

impl Collectives {
    /// The default algorithm of an operation. It is the algorithm of the interference study, or for reduce-scatter and
    /// scan the default of MPI libraries.
    pub const fn default_of(operation: Operation) -> &'static str {
        match operation {
            Operation::Barrier
            | Operation::Broadcast
            | Operation::Reduce
            | Operation::Allreduce
            | Operation::Gather
            | Operation::Scatter => "binary-tree",
            Operation::Allgather => "doubling",
            Operation::Alltoall | Operation::ReduceScatter => "pairwise",
            Operation::Scan => "recursive-doubling",
        }
    }

    /// Sets the selection of an operation.
    pub fn set(&mut self, choice: Choice) {
        let place = choice.operation as usize;
        self.choices[place] = choice;
    }

    /// The selection of an operation.
    pub fn choice(&self, operation: Operation) -> &Choice {
        &self.choices[operation as usize]
    }

    /// The algorithm of an operation with `bytes`, as in the call, on a communicator of `ranks` ranks. All ranks must
    /// pass the same numbers. If ranks have different sizes, they must agree on one number.
    pub fn algorithm(&self, operation: Operation, bytes: Bytes, ranks: u32) -> &dyn Algorithm {
        self.choice(operation).algorithm(bytes, ranks).algorithm
    }
}

impl Default for Collectives {
    fn default() -> Self {
        let choice = |&operation: &Operation| {
            Choice::of(operation, Self::default_of(operation)).expect("the default supports the operation")
        };
        Self { choices: Operation::ALL.iter().map(choice).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every operation finds its default in its place, every algorithm supports an operation, and names are unique.
    #[test]
    fn every_operation_has_an_algorithm() {
        let collectives = Collectives::default();
        for (place, operation) in Operation::ALL.into_iter().enumerate() {
            assert_eq!(operation as usize, place);
            assert_eq!(collectives.choice(operation).operation(), operation);
            assert!(collectives.algorithm(operation, Bytes(8), 7).operations().contains(&operation));
            assert_eq!(Operation::ALL.iter().filter(|other| other.name() == operation.name()).count(), 1);
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
        let mut collectives = Collectives::default();
        collectives.set(Choice::by_size(Operation::Allreduce, &rules).unwrap());
        let name = |bytes, ranks| collectives.choice(Operation::Allreduce).algorithm(Bytes(bytes), ranks).name;
        assert_eq!(name(16 << 10, 100), "recursive-doubling");
        assert_eq!(name((16 << 10) + 1, 100), "rabenseifner");
        assert_eq!(name((16 << 10) + 1, 8), "ring");
        assert_eq!(collectives.choice(Operation::Barrier).rules()[0].algorithm.name, "binary-tree");
        assert_eq!(collectives.choice(Operation::Allreduce).rules().len(), 3);
    }

    #[test]
    fn mistakes() {
        let wrong = |name| Choice::of(Operation::Allreduce, name).unwrap_err();
        assert_eq!(wrong("rabenseifer"), "unknown algorithm 'rabenseifer'; did you mean 'rabenseifner'?");
        assert!(wrong("pairwise").starts_with("'pairwise' does not support allreduce"), "{}", wrong("pairwise"));
        let rules =
            |rules: &[(Option<Bytes>, Option<u32>, &str)]| Choice::by_size(Operation::Allreduce, rules).unwrap_err();
        assert!(rules(&[]).contains("expected a last rule without limits"));
        assert!(rules(&[(Some(Bytes(1)), None, "ring")]).contains("expected a last rule without limits"));
        assert!(rules(&[(None, None, "ring"), (None, None, "linear")]).starts_with("rule 2: unreachable"));
        let down = [(Some(Bytes(9)), None, "ring"), (Some(Bytes(8)), None, "ring"), (None, None, "ring")];
        assert!(rules(&down).starts_with("rule 2: unreachable"));
        assert!(rules(&[(None, None, "rong")]).starts_with("rule 1: unknown algorithm 'rong'"));
    }
}
