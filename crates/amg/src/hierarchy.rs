//! Levels of a multigrid hierarchy.

use odonata_model::ModelError;
use odonata_model::{at_least, positive};

/// One level. The coarsest level has no interpolation operator: its four numbers are 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level {
    /// C_i, unknowns of the level.
    pub unknowns: f64,
    /// s_i, average non-zeros per row of the solve operator.
    pub nonzeros_per_row: f64,
    /// p_i, the largest number of messages that a rank sends in one product with the solve operator.
    pub sends: f64,
    /// n_i, the largest number of values (8 bytes) that a rank sends in this product.
    pub values_sent: f64,
    /// s^_i, average non-zeros per row of the interpolation operator from level i + 1.
    pub interpolation_nonzeros_per_row: f64,
    /// p^_i for the interpolation operator.
    pub interpolation_sends: f64,
    /// n^_i for the interpolation operator.
    pub interpolation_values_sent: f64,
    /// P_i, ranks that have unknowns.
    pub active_ranks: f64,
    /// Messages of all ranks in one product with the solve operator.
    pub messages: f64,
    /// Messages of all ranks in one product with the interpolation operator.
    pub interpolation_messages: f64,
}

impl Level {
    fn numbers(&self) -> [(&'static str, f64); 9] {
        [
            ("non-zeros per row", self.nonzeros_per_row),
            ("sends", self.sends),
            ("values sent", self.values_sent),
            ("interpolation non-zeros per row", self.interpolation_nonzeros_per_row),
            ("interpolation sends", self.interpolation_sends),
            ("interpolation values sent", self.interpolation_values_sent),
            ("active ranks", self.active_ranks),
            ("messages", self.messages),
            ("interpolation messages", self.interpolation_messages),
        ]
    }
}

/// A hierarchy on a number of ranks, finest level first. It has at least one level, finite non-negative numbers,
/// unknowns on every level, and no more active ranks than ranks.
#[derive(Debug, Clone, PartialEq)]
pub struct Hierarchy {
    ranks: u32,
    levels: Vec<Level>,
}

impl Hierarchy {
    /// Checks the levels.
    ///
    /// # Errors
    /// An invalid level. The message names the level and the number.
    pub fn new(ranks: u32, levels: Vec<Level>) -> Result<Self, ModelError> {
        at_least("number of ranks", f64::from(ranks), 1.0)?;
        if levels.is_empty() {
            return Err(ModelError::Length { what: "the level table", got: 0, expected: "one level or more".into() });
        }
        for (i, level) in levels.iter().enumerate() {
            positive(&format!("level {i}: unknowns"), level.unknowns)?;
            for (what, value) in level.numbers() {
                at_least(&format!("level {i}: {what}"), value, 0.0)?;
            }
            if level.active_ranks > f64::from(ranks) {
                return Err(ModelError::OutOfRange {
                    what: format!("level {i}: active ranks"),
                    value: level.active_ranks,
                    expected: "no more than the ranks of the hierarchy",
                });
            }
        }
        Ok(Self { ranks, levels })
    }

    /// P.
    #[must_use]
    pub fn ranks(&self) -> u32 {
        self.ranks
    }

    /// The levels, finest first.
    #[must_use]
    pub fn levels(&self) -> &[Level] {
        &self.levels
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_help::laplace_512;

    #[test]
    fn bad_tables_are_refused_with_the_place() {
        let good = laplace_512();
        assert!(Hierarchy::new(512, vec![]).is_err());
        let mut levels = good.levels().to_vec();
        levels[2].sends = f64::NAN;
        let error = Hierarchy::new(512, levels).unwrap_err();
        assert!(error.to_string().starts_with("level 2: sends is NaN"), "{error}");
        let error = Hierarchy::new(256, good.levels().to_vec()).unwrap_err();
        assert!(error.to_string().contains("no more than the ranks"), "{error}");
        let mut levels = good.levels().to_vec();
        levels[6].unknowns = 0.0;
        assert!(Hierarchy::new(512, levels).is_err());
    }
}
