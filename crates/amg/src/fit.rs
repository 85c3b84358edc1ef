//! Fit of charges to measured times.
//!
//! The paper's rule (Section 5.2) picks the closest charges. A run may not have more penalties than the best fit of a
//! run with more tasks per node. The reason: penalties stand for contention of messages, and fewer tasks send fewer
//! messages.

use crate::Charges;
use odonata_declare::Word;
use odonata_model::ModelError;

/// A measured configuration and the prediction of each scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    /// MPI tasks per node of the run.
    pub tasks_per_node: u32,
    /// Measured time of each level.
    pub measured_s: Vec<f64>,
    /// Predicted time of each level, per scenario in the order of [`Charges::ALL`].
    pub predicted_s: [Vec<f64>; 6],
}

impl Observation {
    /// Mean of |ln(predicted / measured)| over the levels. Errors by a factor of two count the same in both directions,
    /// and coarse levels count as much as fine ones.
    fn misfit(&self, scenario: usize) -> f64 {
        let pairs = self.predicted_s[scenario].iter().zip(&self.measured_s);
        pairs.map(|(p, m)| (p / m).ln().abs()).sum::<f64>() / self.measured_s.len() as f64
    }

    fn check(&self) -> Result<(), ModelError> {
        if self.measured_s.is_empty() {
            return Err(ModelError::Length {
                what: "measured level times",
                got: 0,
                expected: "one level or more".into(),
            });
        }
        for predicted in &self.predicted_s {
            if predicted.len() != self.measured_s.len() {
                return Err(ModelError::Length {
                    what: "measured level times",
                    got: self.measured_s.len(),
                    expected: format!("{}, as many as predicted", predicted.len()),
                });
            }
        }
        for (i, &m) in self.measured_s.iter().enumerate() {
            odonata_model::positive(&format!("measured time of level {i}"), m)?;
        }
        Ok(())
    }
}

/// The best scenario of each observation under the paper's rule, in the given order. Among equal fits the one with
/// fewer penalties wins.
///
/// # Errors
/// No levels, unequal lengths, or times that are not positive.
pub fn best_fit(observations: &[Observation]) -> Result<Vec<Charges>, ModelError> {
    for observation in observations {
        observation.check()?;
    }
    let mut order: Vec<usize> = (0..observations.len()).collect();
    order.sort_by_key(|&i| std::cmp::Reverse(observations[i].tasks_per_node));
    let mut best = vec![Charges::AlphaBeta; observations.len()];
    let mut allowed = u32::MAX;
    let mut start = 0;
    while start < order.len() {
        let tasks = observations[order[start]].tasks_per_node;
        let end = start + order[start..].iter().take_while(|&&i| observations[i].tasks_per_node == tasks).count();
        let mut most = 0;
        for &i in &order[start..end] {
            best[i] = closest(&observations[i], allowed);
            most = most.max(best[i].penalties());
        }
        allowed = allowed.min(most);
        start = end;
    }
    Ok(best)
}

fn closest(observation: &Observation, allowed: u32) -> Charges {
    let mut best = (f64::INFINITY, Charges::AlphaBeta);
    for (index, &charges) in Charges::ALL.iter().enumerate() {
        let misfit = observation.misfit(index);
        if charges.penalties() <= allowed && misfit < best.0 {
            best = (misfit, charges);
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Predictions are 1, 2, 3, ... times a base, so the measurement selects its multiple.
    fn observation(tasks_per_node: u32, measured: f64) -> Observation {
        let predicted_s = std::array::from_fn(|i| vec![(i + 1) as f64; 2]);
        Observation { tasks_per_node, measured_s: vec![measured; 2], predicted_s }
    }

    #[test]
    fn the_closest_wins_and_fewer_tasks_take_no_more_penalties() {
        let fit = best_fit(&[observation(4, 5.9), observation(16, 2.1), observation(8, 1.0)]).unwrap();
        // 16 tasks: 2.1 is nearest to scenario 2 (one penalty). 8 tasks: scenario 1. So 4 tasks may have no penalty.
        assert_eq!(fit, [Charges::AlphaBeta, Charges::AlphaBetaGamma, Charges::AlphaBeta]);
        assert_eq!(best_fit(&[observation(4, 5.9)]).unwrap(), [Charges::AlphaBetaGammaPenalties]);
    }

    #[test]
    fn bad_measurements_are_refused() {
        assert!(best_fit(&[observation(4, 0.0)]).is_err());
        let mut o = observation(4, 1.0);
        o.measured_s.pop();
        assert!(best_fit(&[o]).is_err());
    }
}
