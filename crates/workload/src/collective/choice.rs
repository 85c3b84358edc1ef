//! Which algorithm does which operation: by name, or by size as MPI libraries choose.

use super::{Algorithm, NamedAlgorithm, ALGORITHMS};
use crate::program::Operation;
use odonata_declare::hint;
use odonata_units::Bytes;

/// One line of a choice: the first one whose limits hold is taken.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Up to how many bytes, as the call says them; all if not given.
    pub up_to: Option<Bytes>,
    /// Up to how many ranks; any number if not given.
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
    /// An unknown name, or an algorithm that does not do this operation; with the nearest one that does.
    pub fn of(operation: Operation, name: &str) -> Result<Self, String> {
        Ok(Self { operation, rules: vec![Rule { up_to: None, up_to_ranks: None, algorithm: find(operation, name)? }] })
    }

    /// By limits on bytes and ranks, with the name of the algorithm below them; the last one has none.
    ///
    /// # Errors
    /// What [`Choice::of`] refuses, a last rule with limits, and rules that can never be reached, with the number of
    /// the rule.
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
                return Err(at("never reached; limits go up from rule to rule".into()));
            }
            chosen.push(Rule { up_to, up_to_ranks, algorithm });
        }
        match chosen.last() {
            Some(Rule { up_to: None, up_to_ranks: None, .. }) => Ok(Self { operation, rules: chosen }),
            _ => {
                Err("the last rule has a limit, but some algorithm must do what is above it; expected one without"
                    .into())
            }
        }
    }

    /// The operation that it is for.
    pub fn operation(&self) -> Operation {
        self.operation
    }

    /// Its lines, in order.
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
        true => format!("'{name}' does no {}{hint}", operation.name()),
        false => format!("unknown algorithm '{name}'{hint}"),
    })
}

/// The algorithms of all operations.
#[derive(Clone, Debug)]
pub struct Collectives {
    choices: Vec<Choice>,
}

impl Collectives {
    /// The algorithm of an operation that nothing was said of: that of the interference study, and for what it does not
    /// have (reduce-scatter, scan) the one that MPI libraries take by default.
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

    /// Takes a choice for its operation.
    pub fn set(&mut self, choice: Choice) {
        let place = choice.operation as usize;
        self.choices[place] = choice;
    }

    /// The choice for an operation.
    pub fn choice(&self, operation: Operation) -> &Choice {
        &self.choices[operation as usize]
    }

    /// What does an operation of `bytes`, as the call says them, on a communicator of `ranks` ranks. All ranks must ask
    /// with the same numbers; where each has sizes of its own, that is a number that they agree on.
    pub fn algorithm(&self, operation: Operation, bytes: Bytes, ranks: u32) -> &dyn Algorithm {
        self.choice(operation).algorithm(bytes, ranks).algorithm
    }
}

impl Default for Collectives {
    fn default() -> Self {
        let choice = |&operation: &Operation| {
            Choice::of(operation, Self::default_of(operation)).expect("the default does the operation")
        };
        Self { choices: Operation::ALL.iter().map(choice).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every operation has its default and finds it at its place, every algorithm does something, names are unique.
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
        assert!(wrong("pairwise").starts_with("'pairwise' does no allreduce"), "{}", wrong("pairwise"));
        let rules =
            |rules: &[(Option<Bytes>, Option<u32>, &str)]| Choice::by_size(Operation::Allreduce, rules).unwrap_err();
        assert!(rules(&[]).contains("expected one without"));
        assert!(rules(&[(Some(Bytes(1)), None, "ring")]).contains("expected one without"));
        assert!(rules(&[(None, None, "ring"), (None, None, "linear")]).starts_with("rule 2: never reached"));
        let down = [(Some(Bytes(9)), None, "ring"), (Some(Bytes(8)), None, "ring"), (None, None, "ring")];
        assert!(rules(&down).starts_with("rule 2: never reached"));
        assert!(rules(&[(None, None, "rong")]).starts_with("rule 1: unknown algorithm 'rong'"));
    }
}
