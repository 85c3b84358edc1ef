//! The time of one V-cycle, divided into terms.
//!
//! With alpha(D) = alpha + (D - h_m) gamma (Section 4.1, 4.2 of the paper):
//!
//! ```text
//! T_smooth_i   = 6 C_i / P s_i t_i           + 3 (p_i alpha(D) + n_i beta)
//! T_restrict_i = 2 C_(i+1) / P s^_i t_i      + p^_i alpha(D) + n^_i beta               i < L - 1
//! T_interp_i   = 2 C_(i-1) / P s^_(i-1) t_i  + p^_(i-1) alpha(D) + n^_(i-1) beta       i > 0
//! ```
//!
//! Penalties multiply beta by B_max / B + m / l, and alpha and gamma each by ceil(t P_i / P), the tasks of a node that
//! still have work. The paper's text lost the brackets of the ceiling. Without them a level with fewer active tasks
//! than nodes would have a start-up below the measured one. With j threads per task, the threads share the work and
//! each is slower by b_1 / b_j: t_i (b_1 / b_j) / j.

use crate::{Charges, Hierarchy, Level};
use odonata_model::{Constants, Mix, ModelError};

/// Terms of a time in seconds. A penalty holds only its addition, so the terms sum to the time.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Terms {
    /// Floating-point work.
    pub compute_s: f64,
    /// Start-ups to the nearest node.
    pub startup_s: f64,
    /// Further hops.
    pub hops_s: f64,
    /// Values sent at the measured bandwidth.
    pub bandwidth_s: f64,
    /// Addition by the penalty on beta.
    pub bandwidth_penalty_s: f64,
    /// Addition by the multicore penalty on alpha.
    pub startup_penalty_s: f64,
    /// Addition by the multicore penalty on gamma.
    pub hops_penalty_s: f64,
}

impl Terms {
    /// Names and values, in the order of the fields.
    #[must_use]
    pub fn named(&self) -> [(&'static str, f64); 7] {
        [
            ("compute", self.compute_s),
            ("startup", self.startup_s),
            ("hops", self.hops_s),
            ("bandwidth", self.bandwidth_s),
            ("bandwidth-penalty", self.bandwidth_penalty_s),
            ("startup-penalty", self.startup_penalty_s),
            ("hops-penalty", self.hops_penalty_s),
        ]
    }

    /// Sum of all terms.
    #[must_use]
    pub fn total_s(&self) -> f64 {
        self.named().iter().map(|(_, value)| value).sum()
    }
}

/// Costs of one level in its three phases.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LevelCosts {
    /// Smoothing before and after, and the residual.
    pub smooth: Terms,
    /// To level i + 1. Zero on the coarsest level.
    pub restrict: Terms,
    /// To level i - 1. Zero on the finest level.
    pub interpolate: Terms,
}

impl LevelCosts {
    /// Names and terms of the phases.
    #[must_use]
    pub fn named(&self) -> [(&'static str, &Terms); 3] {
        [("smooth", &self.smooth), ("restrict", &self.restrict), ("interpolate", &self.interpolate)]
    }

    /// T_cycle_i.
    #[must_use]
    pub fn total_s(&self) -> f64 {
        self.named().iter().map(|(_, terms)| terms.total_s()).sum()
    }
}

/// Costs of a cycle, finest level first.
#[derive(Debug, Clone, PartialEq)]
pub struct CycleCosts {
    /// One entry per level.
    pub levels: Vec<LevelCosts>,
}

impl CycleCosts {
    /// T_cycle: the sum over all levels.
    #[must_use]
    pub fn total_s(&self) -> f64 {
        self.levels.iter().map(LevelCosts::total_s).sum()
    }
}

/// Factors of the penalties of a scenario, for one level and operator. 1 means no penalty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Factors {
    /// For alpha: tasks of a node that have unknowns.
    pub startup: f64,
    /// For gamma: the same.
    pub hops: f64,
    /// For beta: hardware bandwidth over measured bandwidth, and messages over links.
    pub value: f64,
}

/// Inputs of the penalties for one hierarchy on a machine.
#[derive(Debug, Clone, Copy)]
pub struct Penalties {
    charges: Charges,
    tasks_per_node: f64,
    ranks: f64,
    links: f64,
    bandwidth_ratio: f64,
}

impl Penalties {
    /// Penalties for `ranks` processes in a mix.
    ///
    /// # Errors
    /// Errors of [`Constants::check`] and [`Mix::check`].
    pub fn new(constants: &Constants, mix: Mix, charges: Charges, ranks: u32) -> Result<Self, ModelError> {
        constants.check()?;
        mix.check(constants)?;
        Ok(Self {
            charges,
            tasks_per_node: f64::from(mix.tasks_per_node),
            ranks: f64::from(ranks),
            links: constants.network.links(mix.nodes(ranks))?,
            bandwidth_ratio: constants.node_bandwidth / constants.measured_bandwidth(),
        })
    }

    /// Factors for `active` processes with unknowns and an exchange of `messages` messages.
    #[must_use]
    pub fn at(&self, active: f64, messages: f64) -> Factors {
        let tasks = (self.tasks_per_node * active / self.ranks).ceil().max(1.0);
        let only = |charged: bool, factor: f64| if charged { factor } else { 1.0 };
        Factors {
            startup: only(self.charges.multicore_alpha(), tasks),
            hops: only(self.charges.multicore_gamma(), tasks),
            value: only(self.charges.limits_bandwidth(), self.bandwidth_ratio + messages / self.links),
        }
    }
}

/// Floating-point operations of all ranks in one exchange of each phase. A cycle has three products per level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Work {
    pub(crate) product: f64,
    /// To the next coarser level. Zero on the coarsest level.
    pub(crate) restrict: f64,
    /// To the next finer level. Zero on the finest level.
    pub(crate) interpolate: f64,
}

impl Work {
    /// Work of level `i`: two operations per non-zero. A transfer counts the non-zeros of the rows that it computes.
    pub(crate) fn of(levels: &[Level], i: usize) -> Self {
        let level = &levels[i];
        let transfer = |rows: &Level, operator: &Level| 2.0 * rows.unknowns * operator.interpolation_nonzeros_per_row;
        Self {
            product: 2.0 * level.unknowns * level.nonzeros_per_row,
            restrict: levels.get(i + 1).map_or(0.0, |coarser| transfer(coarser, level)),
            interpolate: i.checked_sub(1).map_or(0.0, |finer| transfer(&levels[finer], &levels[finer])),
        }
    }
}

/// alpha, beta and gamma on one level and operator, with the factors of the penalties.
struct Prices {
    startup: f64,
    hops: f64,
    value: f64,
    factors: Factors,
}

impl Prices {
    fn new(constants: &Constants, charges: Charges, factors: Factors) -> Self {
        Self {
            startup: constants.alpha_s,
            hops: if charges.distance() { constants.extra_hops() * constants.gamma_s } else { 0.0 },
            value: constants.beta_s_per_value,
            factors,
        }
    }

    /// Terms of `exchanges` times `sends` messages with `values` values in total, after `compute_s` of work.
    fn terms(&self, compute_s: f64, exchanges: f64, sends: f64, values: f64) -> Terms {
        let startup_s = exchanges * sends * self.startup;
        let hops_s = exchanges * sends * self.hops;
        let bandwidth_s = exchanges * values * self.value;
        Terms {
            compute_s,
            startup_s,
            hops_s,
            bandwidth_s,
            bandwidth_penalty_s: bandwidth_s * (self.factors.value - 1.0),
            startup_penalty_s: startup_s * (self.factors.startup - 1.0),
            hops_penalty_s: hops_s * (self.factors.hops - 1.0),
        }
    }
}

/// Prices one cycle.
///
/// # Errors
/// Errors of [`Constants::check`], [`Mix::check`] and [`Constants::thread_slowdown`].
pub fn cycle_costs(
    hierarchy: &Hierarchy,
    constants: &Constants,
    mix: Mix,
    charges: Charges,
) -> Result<CycleCosts, ModelError> {
    price_cycle(hierarchy, constants, mix, charges, &Penalties::new(constants, mix, charges, hierarchy.ranks())?)
}

/// Like [`cycle_costs`]. The penalties may count more ranks than the hierarchy has.
pub(crate) fn price_cycle(
    hierarchy: &Hierarchy,
    constants: &Constants,
    mix: Mix,
    charges: Charges,
    penalties: &Penalties,
) -> Result<CycleCosts, ModelError> {
    let ranks = f64::from(hierarchy.ranks());
    let thread_factor = constants.thread_slowdown(mix.threads)? / f64::from(mix.threads);
    let levels = hierarchy.levels();
    let price =
        |level: &Level, messages: f64| Prices::new(constants, charges, penalties.at(level.active_ranks, messages));
    let mut costs = Vec::with_capacity(levels.len());
    for (i, level) in levels.iter().enumerate() {
        let flop_s = constants.flop_s_at(i) * thread_factor / ranks;
        let work = Work::of(levels, i);
        let mut cost = LevelCosts {
            smooth: price(level, level.messages).terms(
                3.0 * work.product * flop_s,
                3.0,
                level.sends,
                level.values_sent,
            ),
            ..LevelCosts::default()
        };
        if i + 1 < levels.len() {
            cost.restrict = price(level, level.interpolation_messages).terms(
                work.restrict * flop_s,
                1.0,
                level.interpolation_sends,
                level.interpolation_values_sent,
            );
        }
        if i > 0 {
            let finer = &levels[i - 1];
            cost.interpolate = price(level, finer.interpolation_messages).terms(
                work.interpolate * flop_s,
                1.0,
                finer.interpolation_sends,
                finer.interpolation_values_sent,
            );
        }
        costs.push(cost);
    }
    Ok(CycleCosts { levels: costs })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_help::eos;
    use crate::test_help::laplace_512;
    use odonata_declare::Word;
    use proptest::prelude::*;

    const ALL_MPI: Mix = Mix { tasks_per_node: 16, threads: 1 };

    fn close(got: f64, expected: f64) {
        assert!((got - expected).abs() <= 1e-12 * expected.abs().max(1e-9), "{got:e} is not {expected:e}");
    }

    /// The 1-D Laplacian with 8 points on each of 4 ranks. The next level has every second point, 4 per rank. An inner
    /// rank sends 1 value to each of 2 neighbours. s = (3 * 32 - 2) / 32 because of the ends. Interpolation averages:
    /// odd points have 2 coefficients, even points 1, so s^ = 1.5. It needs one value from one neighbour.
    fn line() -> Hierarchy {
        let fine = Level {
            unknowns: 32.0,
            nonzeros_per_row: 94.0 / 32.0,
            sends: 2.0,
            values_sent: 2.0,
            interpolation_nonzeros_per_row: 1.5,
            interpolation_sends: 1.0,
            interpolation_values_sent: 1.0,
            active_ranks: 4.0,
            messages: 6.0,
            interpolation_messages: 3.0,
        };
        let coarse = Level {
            unknowns: 16.0,
            nonzeros_per_row: 46.0 / 16.0,
            interpolation_nonzeros_per_row: 0.0,
            interpolation_sends: 0.0,
            interpolation_values_sent: 0.0,
            interpolation_messages: 0.0,
            ..fine
        };
        Hierarchy::new(4, vec![fine, coarse]).unwrap()
    }

    #[test]
    fn line_by_hand() {
        let costs =
            cycle_costs(&line(), &eos(), Mix { tasks_per_node: 2, threads: 1 }, Charges::AlphaBetaGamma).unwrap();
        let (alpha_d, beta) = (2.318e-6, 0.858e-9);
        // Level 0: 6 * 32/4 * 94/32 flops; 3 * (2 alpha + 2 beta).
        close(costs.levels[0].smooth.total_s(), 6.0 * 8.0 * 2.9375 * 1.59e-9 + 3.0 * 2.0 * (alpha_d + beta));
        // Restriction: 2 * 16/4 * 1.5 flops and one message of one value; interpolation from level 1 at t_1:
        // 2 * 32/4 * 1.5 flops.
        close(costs.levels[0].restrict.total_s(), 12.0 * 1.59e-9 + alpha_d + beta);
        close(costs.levels[0].interpolate.total_s(), 0.0);
        close(costs.levels[1].smooth.total_s(), 6.0 * 4.0 * 2.875 * 0.806e-9 + 6.0 * (alpha_d + beta));
        close(costs.levels[1].restrict.total_s(), 0.0);
        close(costs.levels[1].interpolate.total_s(), 24.0 * 0.806e-9 + alpha_d + beta);
    }

    #[test]
    fn penalties_by_hand() {
        let mix = Mix { tasks_per_node: 2, threads: 1 };
        let costs = cycle_costs(&line(), &eos(), mix, Charges::AlphaBetaGammaPenalties).unwrap();
        let smooth = costs.levels[0].smooth;
        // 2 tasks per node, all active: alpha and gamma doubled.
        close(smooth.startup_penalty_s, smooth.startup_s);
        close(smooth.hops_penalty_s, smooth.hops_s);
        close(smooth.hops_s, 3.0 * 2.0 * 5.0 * 0.416e-6);
        // Two nodes of Eos: fewest links 2 + 170, most 2 + 340 + 4: midpoint 259. 6 messages.
        // B_max / B = 16e9 * 0.858e-9 / 8 = 1.716.
        close(smooth.bandwidth_penalty_s, smooth.bandwidth_s * (1.716 + 6.0 / 259.0 - 1.0));
    }

    #[test]
    fn each_charge_adds_its_penalties() {
        let total = |s| cycle_costs(&laplace_512(), &eos(), ALL_MPI, s).unwrap().total_s();
        let times: Vec<f64> = Charges::ALL.iter().map(|&s| total(s)).collect();
        assert!(times[0] < times[1] && times[1] < times[2] && times[2] < times[3] && times[2] < times[4]);
        assert!(times[3] < times[5] && times[4] < times[5]);
        // alpha and gamma penalties are independent additions to the beta penalty.
        close(times[5] - times[2], (times[3] - times[2]) + (times[4] - times[2]));
    }

    #[test]
    fn threads_share_the_work_and_slow_each_other_down() {
        let one = cycle_costs(&line(), &eos(), Mix { tasks_per_node: 1, threads: 1 }, Charges::AlphaBeta).unwrap();
        let four = cycle_costs(&line(), &eos(), Mix { tasks_per_node: 1, threads: 4 }, Charges::AlphaBeta).unwrap();
        let (a, b) = (one.levels[0].smooth, four.levels[0].smooth);
        close(b.compute_s, a.compute_s * (11106.0 / 2755.0) / 4.0);
        close(b.startup_s, a.startup_s);
    }

    #[test]
    fn two_ranks_alone() {
        // One level on two ranks that exchange one value: only smoothing.
        let level = Level { unknowns: 2.0, nonzeros_per_row: 2.0, sends: 1.0, values_sent: 1.0, ..line().levels()[1] };
        let level = Level { active_ranks: 2.0, messages: 2.0, ..level };
        let h = Hierarchy::new(2, vec![level]).unwrap();
        let costs = cycle_costs(&h, &eos(), Mix { tasks_per_node: 1, threads: 1 }, Charges::AlphaBeta).unwrap();
        close(costs.total_s(), 6.0 * 2.0 * 1.59e-9 + 3.0 * (0.238e-6 + 0.858e-9));
    }

    proptest! {
        /// The terms sum to the cycle time. Doubling every time constant doubles the cycle time.
        #[test]
        fn terms_sum_and_scale(which in 0_usize..6, tasks in 1_u32..=16, factor in 0.1_f64..10.0) {
            let mix = Mix { tasks_per_node: tasks, threads: 1 };
            let costs = cycle_costs(&laplace_512(), &eos(), mix, Charges::ALL[which]).unwrap();
            let sum: f64 = costs
                .levels
                .iter()
                .flat_map(|l| l.named().map(|(_, t)| t.named().iter().map(|x| x.1).sum::<f64>()))
                .sum();
            prop_assert!((sum - costs.total_s()).abs() <= 1e-12 * sum);
            let eos = eos();
            let scaled = Constants {
                alpha_s: eos.alpha_s * factor,
                beta_s_per_value: eos.beta_s_per_value * factor,
                gamma_s: eos.gamma_s * factor,
                flop_s: eos.flop_s.iter().map(|t| t * factor).collect(),
                node_bandwidth: eos.node_bandwidth / factor,
                ..eos
            };
            let slower = cycle_costs(&laplace_512(), &scaled, mix, Charges::ALL[which]).unwrap();
            prop_assert!((slower.total_s() / costs.total_s() / factor - 1.0).abs() < 1e-9);
        }
    }
}
