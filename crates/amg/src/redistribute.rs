//! Gathering a coarse grid on fewer processes: the paper's decision at run time (Section 6.1).
//!
//! ```text
//! T_noswitch_i   = 10 C_i / P s_i t_i + 5 (p_i alpha + n_i beta)
//! T_collective_i = 3 ceil(log2(P_i / C)) alpha + C_i / C (2 + ceil(log2(P_i / C))) beta
//! T_newmatvec_i  = 2 C_i / C s_i t_i + (C - 1) (alpha + n_i / p_i beta)
//! T_switch_i     = 5 T_newmatvec_i + T_collective_i
//! ```
//!
//! alpha means alpha(D), the best fit on Eos. At each level i > 0 the candidates C are the powers of two below p_i and
//! not above P_i. The candidate with the smallest T_switch is chosen. The cache excludes a candidate whose local
//! problem gets a worse category, or comes at least half-way to one. A rank's matrix takes 12 bytes per non-zero and 4
//! per row, its source vector 8 per unknown. In its share of the cache *small* holds both, *medium* only the vector,
//! *large* neither. Half-way means that the data that must fit take more than half of the cache. The first level with
//! T_switch < T_noswitch switches, unless the gain is below 5 % of the sum of T_noswitch over levels 0 to i.

use crate::category::Footprint;
use crate::{cycle_costs, Category, Charges, Hierarchy, Level, Penalties};
use odonata_model::{Constants, Mix, ModelError};

/// Smallest gain that causes a switch, as a share of the cycle so far: the paper's value.
const MIN_GAIN: f64 = 0.05;

/// A candidate number of groups.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// C.
    pub groups: u32,
    /// T_switch, seconds.
    pub switch_s: f64,
    /// T_collective, seconds. It is a part of T_switch.
    pub collective_s: f64,
    /// Category of a leader's local problem.
    pub category: Category,
    /// False if its category excludes it.
    pub allowed: bool,
}

/// The reason for a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// The finest level never switches.
    Finest,
    /// No power of two below p_i, or none that the cache permits.
    NoCandidate,
    /// The best T_switch is not below T_noswitch.
    NoGain,
    /// T_switch is smaller, but by less than 5 % of the cycle so far.
    GainTooSmall,
    /// The level switches.
    Switch,
    /// A finer level has switched, so the figures of this level do not apply.
    Decided,
}

impl Reason {
    /// A description for reports.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::Finest => "the finest level is never redistributed",
            Self::NoCandidate => "no number of groups is allowed",
            Self::NoGain => "switching would not be faster",
            Self::GainTooSmall => "the gain is below 5 % of the cycle so far",
            Self::Switch => "switch here",
            Self::Decided => "a finer level has switched",
        }
    }
}

/// The figures of one level.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelDecision {
    /// T_noswitch, seconds.
    pub noswitch_s: f64,
    /// Sum of T_noswitch over this level and all finer ones.
    pub running_s: f64,
    /// Category of the largest local problem before a switch.
    pub category: Category,
    /// All candidates, ascending.
    pub choices: Vec<Candidate>,
    /// Index of the best allowed candidate.
    pub best: Option<usize>,
    /// The decision.
    pub reason: Reason,
}

/// The decisions of all levels, and the switch, if any.
#[derive(Debug, Clone, PartialEq)]
pub struct Redistribution {
    /// One entry per level.
    pub levels: Vec<LevelDecision>,
    /// (level, C).
    pub switch: Option<(usize, u32)>,
}

/// Inputs of the formulas from machine, mix and scenario.
struct Basis<'a> {
    constants: &'a Constants,
    charges: Charges,
    penalties: Penalties,
    thread_factor: f64,
    cache_bytes: f64,
}

/// alpha(D) and beta with their penalties.
struct Prices {
    alpha_s: f64,
    beta_s: f64,
}

impl<'a> Basis<'a> {
    fn new(hierarchy: &Hierarchy, constants: &'a Constants, mix: Mix, charges: Charges) -> Result<Self, ModelError> {
        Ok(Self {
            penalties: Penalties::new(constants, mix, charges, hierarchy.ranks())?,
            constants,
            charges,
            thread_factor: constants.thread_slowdown(mix.threads)? / f64::from(mix.threads),
            cache_bytes: constants.cache_bytes_per_node / f64::from(mix.tasks_per_node),
        })
    }

    /// Prices for `active` processes and `messages` messages.
    fn prices(&self, active: f64, messages: f64) -> Prices {
        let factors = self.penalties.at(active, messages);
        let hops = if self.charges.distance() { self.constants.extra_hops() * self.constants.gamma_s } else { 0.0 };
        Prices {
            alpha_s: self.constants.alpha_s * factors.startup + hops * factors.hops,
            beta_s: self.constants.beta_s_per_value * factors.value,
        }
    }

    /// Prices of a level before a switch.
    fn before(&self, level: &Level) -> Prices {
        self.prices(level.active_ranks, level.messages)
    }

    fn flop_s(&self, level: usize) -> f64 {
        self.constants.flop_s_at(level) * self.thread_factor
    }
}

fn noswitch_s(level: &Level, ranks: f64, flop_s: f64, prices: &Prices) -> f64 {
    10.0 * level.unknowns / ranks * level.nonzeros_per_row * flop_s
        + 5.0 * (level.sends * prices.alpha_s + level.values_sent * prices.beta_s)
}

/// ceil(log2(P_i / C)): the depth of a binary tree over the largest group.
fn tree_depth(active: f64, groups: f64) -> f64 {
    (active / groups).log2().max(0.0).ceil()
}

/// A step of the tree sends at most one message per active rank.
fn collective_s(level: &Level, groups: f64, basis: &Basis<'_>) -> f64 {
    let depth = tree_depth(level.active_ranks, groups);
    let prices = basis.prices(level.active_ranks, level.active_ranks);
    3.0 * depth * prices.alpha_s + level.unknowns / groups * (2.0 + depth) * prices.beta_s
}

/// `C` groups send to at most C - 1 others each.
fn after(basis: &Basis<'_>, level: &Level, groups: f64) -> Prices {
    basis.prices(groups, groups * (groups - 1.0).min(level.sends))
}

fn choice(level: &Level, groups: u32, before: Category, flop_s: f64, basis: &Basis<'_>) -> Candidate {
    let c = f64::from(groups);
    let values_per_message = if level.sends > 0.0 { level.values_sent / level.sends } else { 0.0 };
    let prices = after(basis, level, c);
    let product_s = 2.0 * level.unknowns / c * level.nonzeros_per_row * flop_s
        + (c - 1.0) * (prices.alpha_s + values_per_message * prices.beta_s);
    let collective_s = collective_s(level, c, basis);
    let footprint = Footprint::new(level.unknowns / c, level.nonzeros_per_row);
    let category = footprint.category(basis.cache_bytes);
    let allowed = category <= before && !footprint.exceeds_midpoint(before, basis.cache_bytes);
    Candidate { groups, switch_s: 5.0 * product_s + collective_s, collective_s, category, allowed }
}

fn level_decision(level: &Level, flop_s: f64, ranks: f64, finer_s: f64, basis: &Basis<'_>) -> LevelDecision {
    let noswitch_s = noswitch_s(level, ranks, flop_s, &basis.before(level));
    let rows = level.unknowns / level.active_ranks.max(1.0);
    let category = Footprint::new(rows, level.nonzeros_per_row).category(basis.cache_bytes);
    let choices: Vec<Candidate> = (0..31)
        .map(|power| 1_u32 << power)
        .take_while(|&c| f64::from(c) < level.sends && f64::from(c) <= level.active_ranks)
        .map(|c| choice(level, c, category, flop_s, basis))
        .collect();
    let best = (0..choices.len())
        .filter(|&i| choices[i].allowed)
        .min_by(|&a, &b| choices[a].switch_s.total_cmp(&choices[b].switch_s));
    let running_s = finer_s + noswitch_s;
    let reason = match best {
        None => Reason::NoCandidate,
        Some(i) if choices[i].switch_s >= noswitch_s => Reason::NoGain,
        Some(i) if noswitch_s - choices[i].switch_s < MIN_GAIN * running_s => Reason::GainTooSmall,
        Some(_) => Reason::Switch,
    };
    LevelDecision { noswitch_s, running_s, category, choices, best, reason }
}

/// Decides for a whole hierarchy. `charges` should be the scenario that fits best. It prices alpha(D) and beta: with
/// each level's active ranks and messages before the switch, with C ranks after it.
///
/// # Errors
/// Unusable machine constants or mix.
pub fn decide(
    hierarchy: &Hierarchy,
    constants: &Constants,
    mix: Mix,
    charges: Charges,
) -> Result<Redistribution, ModelError> {
    let basis = Basis::new(hierarchy, constants, mix, charges)?;
    let ranks = f64::from(hierarchy.ranks());
    let (mut running_s, mut switch, mut levels) = (0.0, None, Vec::new());
    for (i, level) in hierarchy.levels().iter().enumerate() {
        let mut decided = level_decision(level, basis.flop_s(i), ranks, running_s, &basis);
        running_s = decided.running_s;
        if i == 0 {
            decided.reason = Reason::Finest;
        } else if switch.is_some() {
            decided.reason = Reason::Decided;
        } else if let (Reason::Switch, Some(best)) = (decided.reason, decided.best) {
            switch = Some((i, decided.choices[best].groups));
        }
        levels.push(decided);
    }
    Ok(Redistribution { levels, switch })
}

/// A possible switch, and the cycle time predicted by the same formulas.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Alternative {
    /// The level that is gathered.
    pub level: usize,
    /// C.
    pub groups: u32,
    /// Sum of T_noswitch above the level, T_collective there, and five T_newmatvec on it and on each level below.
    pub cycle_s: f64,
    /// Whether the cache rule permits it.
    pub allowed: bool,
}

/// Predicts every switch: all levels except the finest, all powers of two up to the active ranks. The paper takes the
/// first level that gains. Here the levels below the switch count as well. Each has at most as many partners as the C
/// ranks permit or the level had before.
///
/// # Errors
/// Unusable machine constants or mix.
pub fn alternatives(
    hierarchy: &Hierarchy,
    constants: &Constants,
    mix: Mix,
    charges: Charges,
) -> Result<Vec<Alternative>, ModelError> {
    let basis = Basis::new(hierarchy, constants, mix, charges)?;
    let decision = decide(hierarchy, constants, mix, charges)?;
    let levels = hierarchy.levels();
    let mut found = Vec::new();
    for (i, level) in levels.iter().enumerate().skip(1) {
        for groups in (0..31).map(|power| 1_u32 << power).take_while(|&c| f64::from(c) <= level.active_ranks) {
            let below: f64 = levels[i..]
                .iter()
                .enumerate()
                .map(|(k, l)| 5.0 * regrouped_product_s(l, groups, basis.flop_s(i + k), &basis))
                .sum();
            let choice = choice(level, groups, decision.levels[i].category, basis.flop_s(i), &basis);
            let cycle_s = decision.levels[i - 1].running_s + choice.collective_s + below;
            found.push(Alternative { level: i, groups, cycle_s, allowed: choice.allowed });
        }
    }
    Ok(found)
}

/// T_newmatvec with no more partners than the level had before.
fn regrouped_product_s(level: &Level, groups: u32, flop_s: f64, basis: &Basis<'_>) -> f64 {
    let c = f64::from(groups).min(level.unknowns);
    let prices = after(basis, level, c);
    let partners = (c - 1.0).min(level.sends);
    let values_per_message = if level.sends > 0.0 { level.values_sent / level.sends } else { 0.0 };
    2.0 * level.unknowns / c * level.nonzeros_per_row * flop_s
        + partners * (prices.alpha_s + values_per_message * prices.beta_s)
}

/// T_collective of a level and C: the cost of its gathers and its scatter in a cycle.
///
/// # Errors
/// The level is not in the hierarchy, C is 0, or the constants are unusable.
pub fn gather_s(
    hierarchy: &Hierarchy,
    level: usize,
    groups: u32,
    constants: &Constants,
    mix: Mix,
    charges: Charges,
) -> Result<f64, ModelError> {
    let Some(gathered) = hierarchy.levels().get(level) else {
        return Err(ModelError::OutOfRange {
            what: "level to redistribute".into(),
            value: level as f64,
            expected: "a level of the hierarchy",
        });
    };
    odonata_model::at_least("ranks to redistribute to", f64::from(groups), 1.0)?;
    Ok(collective_s(gathered, f64::from(groups), &Basis::new(hierarchy, constants, mix, charges)?))
}

/// The cycle time when levels 0 to k - 1 run on all ranks and the rest on C ranks. `before` is the hierarchy whose
/// level k was gathered, `after` starts with level k on its C ranks. The time includes the phases of the finer levels,
/// T_collective for the gathers and the scatter, and the phases of `after`. The interpolation from level k to k - 1
/// runs on all ranks.
///
/// # Errors
/// `switch_level` is 0 or not in `before`, or the constants are unusable.
pub fn regrouped_cycle_s(
    before: &Hierarchy,
    after: &Hierarchy,
    switch_level: usize,
    constants: &Constants,
    mix: Mix,
    charges: Charges,
) -> Result<f64, ModelError> {
    if switch_level == 0 || switch_level >= before.levels().len() {
        return Err(ModelError::OutOfRange {
            what: "level to redistribute".into(),
            value: switch_level as f64,
            expected: "a level of the hierarchy other than the finest",
        });
    }
    let costs = cycle_costs(before, constants, mix, charges)?;
    let fine_s: f64 = costs.levels[..switch_level].iter().map(crate::LevelCosts::total_s).sum();
    let down_s = costs.levels[switch_level].interpolate.total_s();
    // The remaining ranks are spread over all nodes.
    let basis = Basis::new(before, constants, mix, charges)?;
    let coarse =
        crate::cycle::price_cycle(after, &shift_levels(constants, switch_level), mix, charges, &basis.penalties)?;
    let gather_s = collective_s(&before.levels()[switch_level], f64::from(after.ranks()), &basis);
    Ok(fine_s + down_s + gather_s + coarse.total_s())
}

/// The constants with t_i counted from `level` on.
fn shift_levels(constants: &Constants, level: usize) -> Constants {
    let last = constants.flop_s.len() - 1;
    Constants { flop_s: constants.flop_s[level.min(last)..].to_vec(), ..constants.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_help::eos;
    use crate::test_help::laplace_512;

    const ALL_MPI: Mix = Mix { tasks_per_node: 16, threads: 1 };

    fn decision() -> Redistribution {
        decide(&laplace_512(), &eos(), ALL_MPI, Charges::AlphaBetaGamma).unwrap()
    }

    #[test]
    fn the_known_example() {
        let decision = decision();
        assert_eq!(decision.switch, Some((4, 8)));
        let level = &decision.levels[4];
        // 10 * 2208/512 * 78.01 * 0.545 ns + 5 (97 * 2.318 us + 355 * 0.858 ns) = 1.1276 ms
        assert!((level.noswitch_s - 1.1276e-3).abs() < 1e-7, "{}", level.noswitch_s);
        // 5 (2 * 276 * 78.01 * 0.545 ns + 7 (2.318 us + 355/97 * 0.858 ns)) = 198.6 us, and
        // 3 * 6 * 2.318 us + 276 * 8 * 0.858 ns = 43.6 us for the collectives (ceil(log2(509/8)) = 6).
        let best = level.choices[level.best.unwrap()];
        assert_eq!(best.groups, 8);
        assert!((best.switch_s - 242.2e-6).abs() < 2e-7, "{}", best.switch_s);
        assert!((best.collective_s - 43.6e-6).abs() < 1e-7, "{}", best.collective_s);
        let alone = |level, groups| gather_s(&laplace_512(), level, groups, &eos(), ALL_MPI, Charges::AlphaBetaGamma);
        assert_eq!(alone(4, 8), Ok(best.collective_s));
        assert!(alone(7, 8).is_err() && alone(4, 0).is_err());
    }

    /// 509 of 512 ranks are active, so 16 tasks of a node contend. Afterwards 8 ranks are on one node each. Values cost
    /// 16 / 9.32 GB/s, and messages over links as much.
    #[test]
    fn penalties_count_only_the_remaining_ranks() {
        let decision = decide(&laplace_512(), &eos(), ALL_MPI, Charges::AlphaBetaGammaPenalties).unwrap();
        let links = eos().network.links(32).unwrap();
        let ratio = 16e9 * 0.858e-9 / 8.0;
        let (before, after) = (ratio + 24284.0 / links, ratio + 8.0 * 7.0 / links);
        let noswitch_s = 10.0 * 2208.0 / 512.0 * 78.01 * 0.545e-9
            + 5.0 * (97.0 * 16.0 * (0.238e-6 + 5.0 * 0.416e-6) + 355.0 * 0.858e-9 * before);
        let level = &decision.levels[4];
        assert!((level.noswitch_s - noswitch_s).abs() < 1e-6 * noswitch_s, "{} {noswitch_s}", level.noswitch_s);
        let eight = level.choices[3];
        let product_s = 2.0 * 276.0 * 78.01 * 0.545e-9 + 7.0 * (2.318e-6 + 355.0 / 97.0 * 0.858e-9 * after);
        assert!((eight.switch_s - eight.collective_s - 5.0 * product_s).abs() < 1e-6 * product_s, "{eight:?}");
    }

    #[test]
    fn reasons_of_the_other_levels() {
        let decision = decision();
        assert_eq!(decision.levels[0].reason, Reason::Finest);
        assert_eq!(decision.levels[5].reason, Reason::Decided);
        // Powers of two below p_4 = 97.
        let groups: Vec<u32> = decision.levels[4].choices.iter().map(|c| c.groups).collect();
        assert_eq!(groups, [1, 2, 4, 8, 16, 32, 64]);
        let sum: f64 = decision.levels[..=3].iter().map(|l| l.noswitch_s).sum();
        assert!((decision.levels[3].running_s - sum).abs() < 1e-15);
    }

    #[test]
    fn cache_rules_out_large_local_problems() {
        // 2208 rows of 78 non-zeros are 2208 * (78.01 * 12 + 12) = 2.1 MB on one rank. Half of the 2 MB share is 1 MB.
        // So C = 1 and C = 2 (1.05 MB) are excluded, and 4 is allowed.
        let constants = Constants { cache_bytes_per_node: 32e6, ..eos() };
        let decision = decide(&laplace_512(), &constants, ALL_MPI, Charges::AlphaBetaGamma).unwrap();
        let allowed: Vec<bool> = decision.levels[4].choices.iter().map(|c| c.allowed).collect();
        assert_eq!(allowed, [false, false, true, true, true, true, true]);
        // Without a cache nothing gets worse than large.
        let constants = Constants { cache_bytes_per_node: 0.0, ..eos() };
        let decision = decide(&laplace_512(), &constants, ALL_MPI, Charges::AlphaBetaGamma).unwrap();
        assert!(decision.levels[4].choices.iter().all(|c| c.allowed && c.category == Category::Large));
        // On 16 ranks, the work on a million unknowns takes longer than their messages on 512.
        assert_eq!(decision.levels[1].reason, Reason::NoGain);
    }

    #[test]
    fn small_gains_are_left_alone() {
        // The same coarse levels with a finest level a hundred times as expensive.
        let mut levels = laplace_512().levels().to_vec();
        levels[0].unknowns *= 100.0;
        let h = Hierarchy::new(512, levels).unwrap();
        let decision = decide(&h, &eos(), ALL_MPI, Charges::AlphaBetaGamma).unwrap();
        assert_eq!(decision.switch, None);
        assert_eq!(decision.levels[4].reason, Reason::GainTooSmall);
    }

    #[test]
    fn two_ranks_have_no_choice() {
        // p_i = 1: there is no power of two below.
        let level = Level { sends: 1.0, values_sent: 1.0, active_ranks: 2.0, ..laplace_512().levels()[5] };
        let h = Hierarchy::new(2, vec![level, level]).unwrap();
        let mix = Mix { tasks_per_node: 2, threads: 1 };
        let decision = decide(&h, &eos(), mix, Charges::AlphaBetaGamma).unwrap();
        assert_eq!(decision.levels[1].reason, Reason::NoCandidate);
    }

    #[test]
    fn the_papers_choice_is_among_the_alternatives() {
        let found = alternatives(&laplace_512(), &eos(), ALL_MPI, Charges::AlphaBetaGamma).unwrap();
        let paper = found.iter().find(|a| (a.level, a.groups) == (4, 8)).unwrap();
        let decision = decision();
        // The levels above, the switched level as decided, and levels 5 and 6 with 7 partners each: 5 (2 C_i/8 s_i t_2
        // + 7 (2.318 us + n_i/p_i 0.858 ns)).
        let best = decision.levels[4].choices[3];
        let below =
            |c: f64, s: f64, ratio: f64| 5.0 * (2.0 * c / 8.0 * s * 0.545e-9 + 7.0 * (2.318e-6 + ratio * 0.858e-9));
        let expected =
            decision.levels[3].running_s + best.switch_s + below(283.0, 57.08, 177.0 / 130.0) + below(34.0, 24.65, 1.0);
        assert!((paper.cycle_s - expected).abs() < 1e-12, "{} {expected}", paper.cycle_s);
        assert!(found.iter().all(|a| a.level > 0 && f64::from(a.groups) <= 512.0));
    }

    #[test]
    fn the_regrouped_cycle_adds_up() {
        let before = laplace_512();
        let alone = Level { interpolation_nonzeros_per_row: 0.0, ..before.levels()[6] };
        let after = Hierarchy::new(33, vec![alone]).unwrap();
        let s = Charges::AlphaBetaGamma;
        let got = regrouped_cycle_s(&before, &after, 6, &eos(), ALL_MPI, s).unwrap();
        // The same level on its 33 active ranks. The compute time changes (34/512 to 34/33 rows per rank). Groups of
        // one gather nothing, but the formula charges 34/33 * 2 beta for their own data.
        let costs = cycle_costs(&before, &eos(), ALL_MPI, s).unwrap();
        let work = 6.0 * 34.0 * 24.65 * 0.545e-9;
        let expected = costs.total_s() + work * (1.0 / 33.0 - 1.0 / 512.0) + 34.0 / 33.0 * 2.0 * 0.858e-9;
        assert!((got - expected).abs() < 1e-15, "{got} {expected}");
        assert!(regrouped_cycle_s(&before, &after, 0, &eos(), ALL_MPI, s).is_err());
        assert!(regrouped_cycle_s(&before, &after, 7, &eos(), ALL_MPI, s).is_err());
    }
}
