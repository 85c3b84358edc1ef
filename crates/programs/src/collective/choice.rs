//! Selection of an algorithm for one operation: by name, or by size as in MPI libraries.

use super::algorithm::NamedAlgorithm;
use super::ALGORITHMS;
use crate::call::Operation;
use odonata_declare::hint;
use odonata_units::Bytes;

/// The size that limits of a rule compare.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SizeMeasure {
    /// Bytes of the call: the message, or the block of a rank. In the vector forms whose ranks know all sizes, the mean
    /// block; in the others no limit holds, since ranks that know different sizes must choose the same.
    Call,
    /// Bytes of the blocks of all ranks.
    Total,
    /// Bytes of the call, divided by the largest power of two up to the number of ranks.
    PerMember,
}

impl SizeMeasure {
    fn of(self, bytes: Bytes, ranks: u32) -> Bytes {
        match self {
            Self::Call => bytes,
            Self::Total => Bytes(bytes.0.saturating_mul(ranks.into())),
            Self::PerMember => Bytes(bytes.0 >> ranks.ilog2()),
        }
    }
}

/// A rule of a selection. The first rule whose limits hold is used.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Largest size in bytes. No limit if not given.
    pub up_to: Option<Bytes>,
    /// Largest number of ranks. No limit if not given.
    pub up_to_ranks: Option<u32>,
    /// Whether it holds for powers of two only.
    pub(super) power_of_two: bool,
    pub(super) measure: SizeMeasure,
    /// The algorithm.
    pub algorithm: NamedAlgorithm,
}

impl Rule {
    fn holds(&self, bytes: Bytes, ranks: u32) -> bool {
        self.up_to_ranks.is_none_or(|most| ranks <= most)
            && (!self.power_of_two || ranks.is_power_of_two())
            && self.up_to.is_none_or(|most| self.measure.of(bytes, ranks) <= most)
    }
}

/// The algorithms of one operation.
#[derive(Clone, Debug)]
pub struct Choice {
    pub(super) operation: Operation,
    pub(super) rules: Vec<Rule>,
}

impl Choice {
    /// One algorithm for all sizes.
    ///
    /// # Errors
    /// An unknown name, or an algorithm that does not support the operation; with the nearest suitable name.
    pub fn of(operation: Operation, name: &str) -> Result<Self, String> {
        Self::by_size(operation, &[(None, None, name)]).map_err(|reason| reason.replacen("rule 1: ", "", 1))
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
            chosen.push(Rule { up_to, up_to_ranks, power_of_two: false, measure: SizeMeasure::Call, algorithm });
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

    pub(super) fn algorithm(&self, bytes: Bytes, ranks: u32) -> NamedAlgorithm {
        self.rules.iter().find(|rule| rule.holds(bytes, ranks)).expect("the last rule has no limits").algorithm
    }
}

pub(super) fn find(operation: Operation, name: &str) -> Result<NamedAlgorithm, String> {
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

#[cfg(test)]
mod tests {
    use super::*;

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
