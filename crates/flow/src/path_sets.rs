//! The number of path sets for a stated error.
//!
//! With few path sets, messages between two routers share paths, so a job finds less free capacity and its bytes move to
//! other links. This error is mostly a bias: two draws of the same number agree much better than two numbers of sets.
//! So the spread of draws does not show it, and neither does a step from one number to the next while each pair of
//! routers still has one set.
//!
//! Trials show it: solves with few slices, as in a step of the completion times. Of the [`COUNTS`], the first is chosen
//! whose trial has the loads of the trial with the largest count, within [`TRIAL_SHARE`] of the error.

use crate::job_loads::JobLoads;
use odonata_machine::Machine;

/// Numbers of path sets to choose from. Twice as many steps would cost twice as many trials.
const COUNTS: [u32; 7] = [64, 256, 1_024, 4_096, 16_384, 65_536, MAX_PATH_SETS];
/// The reference: nearly every message has its own paths.
pub(crate) const MAX_PATH_SETS: u32 = 262_144;
/// Share of the stated error that a trial may have. In seven cases on three families, runs deviated by up to 1.5 times the
/// deviation of their trials.
const TRIAL_SHARE: f64 = 0.5;

/// A number of path sets, and what it follows from.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PathSetChoice {
    /// Path sets of a job in every iteration.
    pub path_sets: u32,
    /// The stated error.
    pub path_error: f64,
    /// The error in trials; 0 with the largest number, which is the reference.
    pub trial_error: f64,
}

/// Chooses the number of path sets. `loads` solves a trial with a number of sets: loads by job.
pub(crate) fn choose<E>(
    machine: &Machine,
    path_error: f64,
    mut loads: impl FnMut(u32) -> Result<Vec<JobLoads>, E>,
) -> Result<PathSetChoice, E> {
    let reference = class_bytes(machine, &loads(MAX_PATH_SETS)?);
    for path_sets in COUNTS {
        let trial_error = if path_sets == MAX_PATH_SETS {
            0.0
        } else {
            deviation(&class_bytes(machine, &loads(path_sets)?), &reference)
        };
        if trial_error <= TRIAL_SHARE * path_error {
            return Ok(PathSetChoice { path_sets, path_error, trial_error });
        }
    }
    unreachable!("the reference does not deviate from itself")
}

/// Bytes of each job on the links of each class.
fn class_bytes(machine: &Machine, loads: &[JobLoads]) -> Vec<f64> {
    let classes = machine.classes().len();
    let mut bytes = vec![0.0; loads.len() * classes];
    for (job, loads) in loads.iter().enumerate() {
        for (link, load) in loads.iter() {
            bytes[job * classes + machine.class(link).index()] += load;
        }
    }
    bytes
}

/// Largest relative deviation; where the reference has nothing, there is nothing to compare.
fn deviation(bytes: &[f64], reference: &[f64]) -> f64 {
    let pairs = bytes.iter().zip(reference).filter(|(_, &reference)| reference > 0.0);
    pairs.map(|(bytes, reference)| (bytes / reference - 1.0).abs()).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    /// A load of 100 (1 + 100 / n) on every link: 4,096 sets are 2.4 % off, 16,384 0.57 % and 65,536 0.11 %.
    #[test]
    fn the_first_count_within_half_of_the_error_is_chosen() {
        let machine = odonata_machine::presets::builder("dragonfly-1056").unwrap().build().unwrap();
        let links = machine.link_count();
        let chosen = |path_error| {
            let load = |sets: u32| {
                Ok::<_, Infallible>(vec![JobLoads::of(vec![100.0 + 1e4 / f64::from(sets); links]), JobLoads::default()])
            };
            choose(&machine, path_error, load).unwrap()
        };
        assert_eq!(chosen(0.05).path_sets, 4_096);
        assert_eq!(chosen(0.012).path_sets, 16_384);
        assert_eq!(chosen(0.01).path_sets, 65_536);
        let most = PathSetChoice { path_sets: MAX_PATH_SETS, path_error: 0.0001, trial_error: 0.0 };
        assert_eq!(chosen(0.0001), most);
    }
}
