//! Decides where a run looks at its state, and which iterations it skips. Every worker decides the same from the same
//! sums.
//!
//! A *mark* is the time at which the last rank begins an iteration. The *boundary* of a mark lies at least one step
//! later: no window is longer, so every worker knows the mark before the boundary, and a window ends there.

use super::limits::STEP;
use super::tally::Tally;
use super::verdict::{hexadecimal, Verdicts};
use super::windows::Windows;
use crate::endpoint::{LoopProgress, SkippedIterations};
use crate::fast_forward::{half_width_of_total, Checks, CycleStatistics, FastForward, FastForwardReport};
use odonata_checkpoint::Difference;
use odonata_units::Time;
use std::collections::HashMap;

/// Iterations before the sample: the first ones have an empty network and cold tables.
const UNSAMPLED: u64 = 2;

/// Boundaries with random draws since the one before after which the exact form stops looking. The first iterations may
/// draw where later ones do not; each further boundary costs a look at the state.
const MOST_DRAWS: u64 = 16;

/// The exact form looks when all but this part of an iteration is over. A state that becomes the same before is then
/// found in this iteration, not in the next one. With a smaller part, iterations that are shorter than the first one end
/// before the boundary: with an eighth, small random programs ran one iteration more.
const LATE: u64 = 2;

/// What happens at the start of a window.
#[derive(Clone, Default, Debug)]
pub(super) struct LoopStep {
    /// The number of a boundary, if partitions look at their state.
    pub(super) boundary: Option<Boundary>,
    /// Whether partitions look at what the last iteration of the sample added.
    pub(super) samples: bool,
    /// Iterations that are skipped.
    pub(super) skips: Vec<Skip>,
    /// Latest end of the window: the next boundary.
    pub(super) until: Option<u64>,
}

/// A boundary at which partitions look at their state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Boundary {
    /// Its number, from 1.
    pub(super) number: u64,
    /// Whether the boundary before becomes the one that it is compared with.
    pub(super) replaces: bool,
    /// Whether states are compared, not only sums recorded.
    pub(super) compares: bool,
}

impl Boundary {
    /// Adds something to a list with an entry for each remembered boundary: of those that are compared, the last two.
    pub(super) fn add_to<T>(self, list: &mut Vec<T>, of_this: T) {
        if self.compares && list.len() == 2 {
            list.remove(usize::from(!self.replaces));
        }
        list.push(of_this);
    }
}

/// Iterations between two of the remembered boundaries, which stand for skipped ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Skip {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) skipped: SkippedIterations,
}

/// Iterations begun and time of a boundary.
#[derive(Clone, Copy, Debug)]
struct Place {
    reached: u64,
    at_ps: u64,
}

pub(super) struct Director<'a> {
    form: FastForward,
    verdicts: &'a Verdicts,
    /// Iterations that all ranks have begun, and when.
    reached: u64,
    mark_ps: u64,
    /// Time of the next boundary, and whether partitions look at their state there, not only at their sums.
    next: Option<u64>,
    looks_at_state: bool,
    /// Number of boundaries at which partitions looked at their state so far, and the remembered ones.
    boundaries: u64,
    places: Vec<Place>,
    /// Whether the last window began with a boundary.
    awaits_verdict: bool,
    search: Search,
    sample: Sample,
    is_done: bool,
    report: FastForwardReport,
}

/// The search of the exact form for a state that repeats.
#[derive(Default)]
struct Search {
    /// The boundary of each digest.
    seen: HashMap<[u8; 32], u64>,
    /// After the digest of an earlier boundary came again: the boundary with which a later one is compared, and that
    /// one. Otherwise each boundary is compared with the one before.
    repeats: Option<(u64, u64)>,
    /// Boundaries in turn with random draws.
    draws: u64,
    /// Time from a mark to its boundary; 0 until an iteration is over.
    lag_ps: u64,
}

/// Iteration times of the form with an error.
struct Sample {
    times: Vec<u64>,
    checks: Checks,
    /// Fewest packets in the network since the last mark.
    fewest_in_flight: u64,
    is_complete: bool,
}

impl<'a> Director<'a> {
    pub(super) fn new(form: FastForward, verdicts: &'a Verdicts) -> Self {
        let sample = Sample { times: Vec::new(), checks: Checks::START, fewest_in_flight: 0, is_complete: false };
        Self {
            form,
            verdicts,
            reached: 0,
            mark_ps: 0,
            next: None,
            looks_at_state: false,
            boundaries: 0,
            places: Vec::new(),
            awaits_verdict: false,
            search: Search::default(),
            sample,
            is_done: false,
            report: FastForwardReport::new(form),
        }
    }

    /// What was skipped. Time that it took is not in the times of the run.
    pub(super) fn report(mut self) -> FastForwardReport {
        if self.report.skipped == 0 {
            let none = || "the loop ended before".to_owned();
            self.report.reason.get_or_insert_with(none);
        } else {
            self.report.reason = None;
        }
        self.report
    }

    /// Decides about the next window.
    pub(super) fn step(&mut self, sum: &Tally, windows: &mut Windows) -> LoopStep {
        let step = self.next(sum, windows.now(), windows.end());
        windows.end_by(step.until);
        step.skips.iter().for_each(|skip| windows.skip(skip.skipped.skipped_ps()));
        step
    }

    /// Decides about the window after `now`; `end` is the limit of the run.
    fn next(&mut self, sum: &Tally, now: u64, end: u64) -> LoopStep {
        let mut step = LoopStep::default();
        let Some(progress) = sum.loops.filter(|_| !self.is_done) else { return step };
        self.report.iterations = progress.iterations;
        if progress.is_left {
            self.is_done = true;
            return step;
        }
        if std::mem::take(&mut self.awaits_verdict) {
            step.skips = self.decide(&progress, now, end);
            if self.is_done {
                return step;
            }
        }
        if progress.reached > self.reached {
            self.mark(&progress, sum.in_flight);
        }
        self.sample.fewest_in_flight = self.sample.fewest_in_flight.min(sum.in_flight);
        if self.next == Some(now) {
            self.next = None;
            step.samples = self.form != FastForward::Exact;
            step.boundary = std::mem::take(&mut self.looks_at_state).then(|| self.boundary(now));
        }
        step.until = self.next;
        step
    }

    /// Takes a new mark.
    fn mark(&mut self, progress: &LoopProgress, in_flight: u64) {
        let before = Place { reached: self.reached, at_ps: self.mark_ps };
        (self.reached, self.mark_ps) = (progress.reached, progress.at_ps);
        let (lag, is_boundary) = match self.form {
            FastForward::Exact => self.lag(before).map_or((0, false), |lag| (lag, true)),
            FastForward::Mean { error_ppm } => (STEP, self.add_to_sample(before, progress, f64::from(error_ppm) / 1e6)),
        };
        self.sample.fewest_in_flight = in_flight;
        let is_sampled = self.form != FastForward::Exact && self.reached > UNSAMPLED;
        if (is_boundary || is_sampled) && !self.is_done {
            // A boundary that has not come stands for a later mark, too.
            self.next.get_or_insert(progress.at_ps + lag);
            self.looks_at_state |= is_boundary;
        }
    }

    /// Time from the last mark to its boundary, in the exact form. It stays the same, since states are compared that
    /// follow their marks by the same time. `None` before an iteration is over.
    fn lag(&mut self, before: Place) -> Option<u64> {
        if before.reached == 0 {
            return None;
        }
        let iteration = (self.mark_ps - before.at_ps) / (self.reached - before.reached);
        if self.search.lag_ps == 0 || self.search.lag_ps >= iteration {
            self.search.lag_ps = STEP.max(iteration - iteration / LATE);
        }
        Some(self.search.lag_ps)
    }

    /// Adds an iteration to the sample. Returns whether partitions remember their sums here: at its start, after 1, 2, 4,
    /// 8, ... iterations and at its end.
    fn add_to_sample(&mut self, before: Place, progress: &LoopProgress, error: f64) -> bool {
        let first = UNSAMPLED + 1;
        if self.reached <= first {
            return self.reached == first;
        }
        if let Some(why) = self.objection(before, progress) {
            self.report.reason = Some(why);
            self.is_done = true;
            return false;
        }
        self.sample.times.push(progress.at_ps - before.at_ps);
        let count = self.sample.times.len();
        if !self.sample.is_complete && self.sample.checks.is_due(count) {
            self.report.reason = CycleStatistics::of(&self.sample.times).objection(error);
            self.sample.is_complete = self.report.reason.is_none();
        }
        self.sample.is_complete || count.is_power_of_two()
    }

    /// Why the last mark is no regeneration point.
    fn objection(&self, before: Place, progress: &LoopProgress) -> Option<String> {
        let iteration = before.reached;
        if progress.reached > before.reached + 1 || progress.ahead > progress.reached {
            return Some(format!(
                "ranks drift apart: a rank began iteration {} before all ranks had begun iteration {iteration}; expected \
                 a barrier or another collective of all ranks in each iteration",
                progress.ahead
            ));
        }
        // A barrier has at most one packet of each rank in the network: early ranks wait for the last one.
        (self.sample.fewest_in_flight > progress.ranks).then(|| {
            format!(
                "the network always had more packets than ranks in iteration {iteration}, so the iteration after it \
                 depends on it; expected a barrier after all messages of an iteration"
            )
        })
    }

    /// Takes a boundary.
    fn boundary(&mut self, now: u64) -> Boundary {
        let replaces = self.search.repeats.is_none_or(|(from, _)| from == self.boundaries);
        self.boundaries += 1;
        self.awaits_verdict = true;
        let boundary = Boundary { number: self.boundaries, replaces, compares: self.form == FastForward::Exact };
        boundary.add_to(&mut self.places, Place { reached: self.reached, at_ps: now });
        boundary
    }

    /// Whether the state at the last boundary is the one that it was compared with. If not, looks for its digest.
    fn repeats(&mut self, iterations: u64) -> bool {
        let (digest, difference) = self.verdicts.of(self.boundaries, iterations);
        if self.search.repeats.is_some_and(|(_, to)| self.boundaries < to) {
            return false;
        }
        let Some(why) = difference else {
            self.report.digest = Some(hexadecimal(&digest));
            return true;
        };
        let drew = matches!(why, Difference::Random(_));
        self.search.draws = if drew { self.search.draws + 1 } else { 0 };
        self.is_done = self.search.draws >= MOST_DRAWS;
        self.report.reason = Some(why.to_string());
        let before = self.search.seen.insert(digest, self.boundaries);
        // A digest without equality repeats where counters of two partitions advance differently.
        self.search.repeats = before.map(|before| (self.boundaries, 2 * self.boundaries - before));
        false
    }

    /// Decides after a boundary which iterations to skip.
    fn decide(&mut self, progress: &LoopProgress, now: u64, end: u64) -> Vec<Skip> {
        let [first, .., last] = self.places[..] else { return Vec::new() };
        let (repeated, period_ps) = (last.reached - first.reached, last.at_ps - first.at_ps);
        let is_found = match self.form {
            FastForward::Exact => self.repeats(repeated),
            FastForward::Mean { .. } => self.sample.is_complete,
        };
        if !is_found {
            return Vec::new();
        }
        self.is_done = true;
        // No rank leaves the loop in the skipped iterations, nor in the window after the boundary. The run does not
        // reach its limit there.
        let left = progress.iterations.saturating_sub(progress.ahead);
        let skips = skips(&self.places, left, end.saturating_sub(now).saturating_sub(1));
        self.report.skipped = skips.iter().map(|skip| skip.skipped.skipped()).sum();
        if self.report.skipped == 0 {
            self.report.reason = Some("too few iterations are left".into());
            return Vec::new();
        }
        self.report.repeated = repeated;
        self.report.period = Time(period_ps);
        self.report.skipped_time = Time(skips.iter().map(|skip| skip.skipped.skipped_ps()).sum());
        if self.form != FastForward::Exact {
            let of = CycleStatistics::of(&self.sample.times);
            let half_width = half_width_of_total(of.deviation, of.count, self.report.skipped);
            self.report.interval = Some((Time(of.mean as u64), Time(half_width.ceil() as u64)));
        }
        skips
    }
}

/// Skips up to `left` iterations in less than `time_ps`. All iterations between the first and the last place stand for
/// others equally often, and those between some neighbouring places for one more.
///
/// If places lie after 0, 1, 2, 4, 8, ... iterations and at the end, the largest gaps first leave no iteration.
fn skips(places: &[Place], left: u64, time_ps: u64) -> Vec<Skip> {
    let of = |from: usize, to: usize, times: u64| {
        let (iterations, period_ps) =
            (places[to].reached - places[from].reached, places[to].at_ps - places[from].at_ps);
        Skip { from, to, skipped: SkippedIterations { times, iterations, period_ps } }
    };
    let last = places.len() - 1;
    let SkippedIterations { iterations, period_ps, .. } = of(0, last, 0).skipped;
    let whole = of(0, last, (left / iterations.max(1)).min(time_ps / period_ps.max(1)));
    let (mut left, mut time_ps) = (left - whole.skipped.skipped(), time_ps - whole.skipped.skipped_ps());
    let mut gaps: Vec<Skip> = (0..last).map(|from| of(from, from + 1, 1)).collect();
    gaps.sort_by_key(|gap| std::cmp::Reverse(gap.skipped.iterations));
    gaps.retain(|gap| {
        let fits = gap.skipped.skipped() <= left && gap.skipped.skipped_ps() <= time_ps;
        if fits {
            left -= gap.skipped.skipped();
            time_ps -= gap.skipped.skipped_ps();
        }
        fits
    });
    std::iter::once(whole).filter(|whole| whole.skipped.times > 0).chain(gaps).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Iterations of 10 ps from 3 on: places after 0, 1, 2, 4, 8, ... of them, and after `count`.
    fn places(count: u64) -> Vec<Place> {
        let powers = (0..).map(|power| 1 << power).take_while(|power| *power < count);
        let after = std::iter::once(0).chain(powers).chain([count]);
        after.map(|after| Place { reached: 3 + after, at_ps: 10 * after }).collect()
    }

    #[test]
    fn no_iteration_is_left_after_whole_repetitions() {
        for (count, left) in [(10, 0), (10, 9), (10, 57), (27, 2_997), (87, 2_907), (16, 31), (100, 99)] {
            let skips = skips(&places(count), left, 1_000_000);
            let sum = |get: fn(&SkippedIterations) -> u64| skips.iter().map(|skip| get(&skip.skipped)).sum::<u64>();
            assert_eq!(sum(SkippedIterations::skipped), left, "{count}");
            assert_eq!(sum(SkippedIterations::skipped_ps), 10 * left, "{count}");
            // Each iteration stands for equally many others, or for one more.
            assert!(skips.iter().skip(1).all(|skip| skip.skipped.times == 1), "{skips:?}");
        }
    }

    #[test]
    fn no_skip_takes_longer_than_the_run() {
        let of = |time_ps| skips(&places(10), 57, time_ps).iter().map(|skip| skip.skipped.skipped_ps()).sum::<u64>();
        assert_eq!([of(0), of(9), of(10), of(456), of(1_000)], [0, 0, 10, 450, 570]);
    }

    /// Of compared boundaries two are remembered, of a sample all.
    #[test]
    fn boundaries_are_remembered() {
        let after = |boundaries: &[(bool, bool)]| {
            let mut list = Vec::new();
            for (number, (replaces, compares)) in (1..).zip(boundaries) {
                Boundary { number, replaces: *replaces, compares: *compares }.add_to(&mut list, number);
            }
            list
        };
        assert_eq!(after(&[(true, true); 4]), [3, 4]);
        assert_eq!(after(&[(true, true), (true, true), (true, true), (false, true), (false, true)]), [2, 5]);
        assert_eq!(after(&[(true, false); 4]), [1, 2, 3, 4]);
    }
}
