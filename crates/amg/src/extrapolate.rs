//! Extrapolation of a weak-scaling series. It brackets a hierarchy that does not fit in memory.
//!
//! Given are the hierarchies on P/f and on P ranks with the same points per rank. On f P ranks the unknowns of each
//! level grow by f: this is weak scaling, and the growth from P/f to P shows how exact it is. For the other numbers of
//! a level (stencil, partners, values) there are two ends. *Low* keeps the numbers of P ranks, because most ranks
//! already have all their neighbours. *High* repeats the growth from P/f to P. Coarse levels are matched from the
//! finest down. A level that the smaller hierarchy does not have is copied. The coarsest level is f times larger, so
//! both ends repeat it as one more level below. The true values should lie between the ends; tests check this where all
//! three hierarchies are known.

use crate::{Hierarchy, Level};
use odonata_model::ModelError;
use odonata_model::{at_least, positive};

/// The two ends.
#[derive(Debug, Clone, PartialEq)]
pub struct Bracket {
    /// Only the unknowns grow.
    pub low: Hierarchy,
    /// All numbers repeat their growth.
    pub high: Hierarchy,
}

/// Extrapolates from `small` (P/f ranks) and `large` (P ranks) to f P ranks.
///
/// # Errors
/// The ranks of `large` are not a multiple of the ranks of `small`, or the result has more than 2^32 ranks.
pub fn extrapolate(small: &Hierarchy, large: &Hierarchy) -> Result<Bracket, ModelError> {
    let factor = f64::from(large.ranks()) / f64::from(small.ranks());
    at_least("ratio of the ranks", factor, 1.0)?;
    positive("ratio of the ranks minus one", factor - 1.0)?;
    if large.ranks() % small.ranks() != 0 {
        return Err(ModelError::OutOfRange {
            what: "ratio of the ranks".into(),
            value: factor,
            expected: "a whole number",
        });
    }
    let ranks = large.ranks().checked_mul(large.ranks() / small.ranks()).ok_or(ModelError::OutOfRange {
        what: "number of ranks".into(),
        value: f64::from(large.ranks()) * factor,
        expected: "less than 2^32",
    })?;
    let ends = [false, true].map(|grows| {
        let mut levels: Vec<Level> = large
            .levels()
            .iter()
            .enumerate()
            .map(|(i, level)| next(small.levels().get(i).filter(|_| grows), level, factor, f64::from(ranks)))
            .collect();
        if let Some(&last) = levels.last() {
            let known = large.levels()[large.levels().len() - 1];
            let inner = large.levels().len().checked_sub(2).map_or(last, |i| large.levels()[i]);
            // The former coarsest level interpolates to the new one like its finer neighbour did to it.
            let at = levels.len() - 1;
            levels[at].interpolation_nonzeros_per_row = inner.interpolation_nonzeros_per_row;
            levels[at].interpolation_sends = inner.interpolation_sends;
            levels[at].interpolation_values_sent = inner.interpolation_values_sent;
            // As many per active rank: 3.1 and 3.1 on levels of 227 and 476 active ranks of 512 and 4,096.
            levels[at].interpolation_messages =
                inner.interpolation_messages * levels[at].active_ranks / inner.active_ranks.max(1.0);
            levels.push(known);
        }
        levels
    });
    let [low, high] = ends;
    Ok(Bracket { low: Hierarchy::new(ranks, low)?, high: Hierarchy::new(ranks, high)? })
}

/// Level `large` on f times the ranks. `small`, if given, provides the growth.
fn next(small: Option<&Level>, large: &Level, factor: f64, ranks: f64) -> Level {
    let grown = |value: f64, before: Option<f64>| match before {
        Some(before) if before > 0.0 && value > before => value * (value / before),
        _ => value,
    };
    let per_level = |field: fn(&Level) -> f64| grown(field(large), small.map(field));
    let unknowns = large.unknowns * factor;
    let active_ranks = (large.active_ranks * factor).min(ranks);
    // A rank has at most as many partners as there are other active ranks.
    let most = (active_ranks - 1.0).max(0.0);
    Level {
        unknowns,
        nonzeros_per_row: per_level(|l| l.nonzeros_per_row).min(unknowns),
        sends: per_level(|l| l.sends).min(most),
        values_sent: per_level(|l| l.values_sent),
        interpolation_nonzeros_per_row: per_level(|l| l.interpolation_nonzeros_per_row),
        interpolation_sends: per_level(|l| l.interpolation_sends).min(most),
        interpolation_values_sent: per_level(|l| l.interpolation_values_sent),
        active_ranks,
        messages: large.messages * factor * per_level(|l| l.sends).min(most) / large.sends.max(1.0),
        interpolation_messages: large.interpolation_messages * factor * per_level(|l| l.interpolation_sends).min(most)
            / large.interpolation_sends.max(1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_help::laplace_512;

    #[test]
    fn a_series_that_stands_still_is_continued_exactly() {
        let large = laplace_512();
        let small = Hierarchy::new(
            64,
            large
                .levels()
                .iter()
                .map(|l| Level { unknowns: l.unknowns / 8.0, active_ranks: 64.0_f64.min(l.active_ranks), ..*l })
                .collect(),
        )
        .unwrap();
        let bracket = extrapolate(&small, &large).unwrap();
        assert_eq!(bracket.low, bracket.high);
        assert_eq!(bracket.low.ranks(), 4096);
        assert_eq!(bracket.low.levels().len(), 8);
        assert_eq!(bracket.low.levels()[0].unknowns, 8.0 * 13_824_000.0);
        assert_eq!(bracket.low.levels()[3].sends, 33.0);
        assert_eq!(bracket.low.levels()[3].messages, 88_000.0);
        assert_eq!(bracket.low.levels()[7].unknowns, 34.0);
    }

    /// Weak scaling: 8 times the ranks send 8 times the messages on every level and between every two levels, since each
    /// rank sends as many as before. The former coarsest level interpolates from 8 x 33 ranks like its finer neighbour from
    /// 227 ranks, which sent 700 messages.
    #[test]
    fn messages_grow_with_the_ranks() {
        let large = laplace_512();
        let on_fewer =
            |l: &Level| Level { unknowns: l.unknowns / 8.0, active_ranks: 64.0_f64.min(l.active_ranks), ..*l };
        let small = Hierarchy::new(64, large.levels().iter().map(on_fewer).collect()).unwrap();
        for found in [extrapolate(&small, &large).unwrap().low, extrapolate(&small, &large).unwrap().high] {
            for (level, before) in found.levels().iter().zip(large.levels()).take(6) {
                assert_eq!(level.messages, 8.0 * before.messages);
                assert_eq!(level.interpolation_messages, 8.0 * before.interpolation_messages);
            }
            let former = found.levels()[6];
            assert_eq!((former.active_ranks, former.messages), (264.0, 8.0 * 778.0));
            assert_eq!(former.interpolation_messages, 700.0 * 264.0 / 227.0);
            assert_eq!(found.levels()[7], large.levels()[6]);
        }
    }

    #[test]
    fn growth_is_repeated_and_capped() {
        let large = laplace_512();
        let levels = large.levels().iter().map(|l| Level { sends: l.sends / 2.0, active_ranks: 1.0, ..*l }).collect();
        let small = Hierarchy::new(64, levels).unwrap();
        let bracket = extrapolate(&small, &large).unwrap();
        assert_eq!(bracket.low.levels()[4].sends, 97.0);
        assert_eq!(bracket.high.levels()[4].sends, 194.0);
        assert!(bracket.high.levels()[6].sends <= bracket.high.levels()[6].active_ranks - 1.0);
    }

    #[test]
    fn ratios_must_be_whole() {
        let large = laplace_512();
        let level = Level { active_ranks: 1.0, ..large.levels()[6] };
        assert!(extrapolate(&Hierarchy::new(100, vec![level]).unwrap(), &large).is_err());
        assert!(extrapolate(&large, &large).is_err());
    }
}
