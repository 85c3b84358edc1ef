//! Decides where a run looks at its state, and which iterations it skips. Every worker decides the same from the same
//! sums.
//!
//! A *mark* is the time at which the last rank begins an iteration. The *boundary* of a mark lies one step later: no
//! window is longer, so every worker knows the mark before the boundary, and a window ends there.

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

/// What happens at the start of a window.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct LoopStep {
    /// The number of a boundary, if partitions look at their state.
    pub(super) boundary: Option<Boundary>,
    /// Whether partitions look at what the last iteration of the sample added.
    pub(super) samples: bool,
    /// Iterations that are skipped.
    pub(super) skip: Option<SkippedIterations>,
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
    /// Number of boundaries so far, the last one, and the one that it is compared with.
    boundaries: u64,
    last: Option<Place>,
    earlier: Option<Place>,
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
}

/// Iteration times of the form with an error.
struct Sample {
    times: Vec<u64>,
    checks: Checks,
    /// Fewest packets in the network since the last mark.
    fewest_in_flight: u64,
    /// Number of iterations begun at which the sample ends, once it may.
    end: Option<u64>,
}

impl<'a> Director<'a> {
    pub(super) fn new(form: FastForward, verdicts: &'a Verdicts) -> Self {
        let sample = Sample { times: Vec::new(), checks: Checks::START, fewest_in_flight: 0, end: None };
        Self {
            form,
            verdicts,
            reached: 0,
            mark_ps: 0,
            next: None,
            looks_at_state: false,
            boundaries: 0,
            last: None,
            earlier: None,
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
        step.skip.iter().for_each(|skip| windows.skip(skip.skipped_ps()));
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
            step.skip = self.decide(&progress, now, end);
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
        let is_boundary = match self.form {
            FastForward::Exact => true,
            FastForward::Mean { error_ppm } => self.add_to_sample(before, progress, f64::from(error_ppm) / 1e6),
        };
        self.sample.fewest_in_flight = in_flight;
        let is_sampled = self.form != FastForward::Exact && self.reached > UNSAMPLED;
        if (is_boundary || is_sampled) && !self.is_done {
            // A boundary that has not come stands for a later mark, too.
            self.next.get_or_insert(progress.at_ps + STEP);
            self.looks_at_state |= is_boundary;
        }
    }

    /// Adds an iteration to the sample. Returns whether the sample begins or ends here.
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
        if self.sample.end.is_none() && self.sample.checks.is_due(count) {
            match CycleStatistics::of(&self.sample.times).objection(error) {
                Some(why) => self.report.reason = Some(why),
                None => self.sample.end = Some(first + best_length(count as u64, progress.iterations - first)),
            }
        }
        self.sample.end == Some(self.reached)
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
        if replaces {
            self.earlier = self.last;
        }
        self.boundaries += 1;
        self.last = Some(Place { reached: self.reached, at_ps: now });
        self.awaits_verdict = true;
        Boundary { number: self.boundaries, replaces, compares: self.form == FastForward::Exact }
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
    fn decide(&mut self, progress: &LoopProgress, now: u64, end: u64) -> Option<SkippedIterations> {
        let (Some(earlier), Some(last)) = (self.earlier, self.last) else { return None };
        let iterations = last.reached - earlier.reached;
        if self.form == FastForward::Exact && !self.repeats(iterations) {
            return None;
        }
        let period_ps = last.at_ps - earlier.at_ps;
        // No rank leaves the loop in the skipped iterations, nor in the window after the boundary. The run does not
        // reach its limit there.
        let left = progress.iterations.saturating_sub(progress.ahead) / iterations.max(1);
        let times = left.min(end.saturating_sub(now).saturating_sub(1) / period_ps.max(1));
        self.is_done = true;
        if times == 0 {
            self.report.reason = Some("too few iterations are left".into());
            return None;
        }
        let skip = SkippedIterations { times, iterations, period_ps };
        self.report.skipped = skip.skipped();
        self.report.repeated = iterations;
        (self.report.period, self.report.skipped_time) = (Time(period_ps), Time(skip.skipped_ps()));
        if self.form != FastForward::Exact {
            let of = CycleStatistics::of(&self.sample.times);
            let half_width = half_width_of_total(of.deviation, of.count, skip.skipped());
            self.report.interval = Some((Time(of.mean as u64), Time(half_width.ceil() as u64)));
        }
        Some(skip)
    }
}

/// Length of a sample of at least `least` iterations with the fewest iterations to run: the sample, and the rest of the
/// `left` ones after whole repetitions of it. Of several such lengths, the longest.
fn best_length(least: u64, left: u64) -> u64 {
    (least..2 * least).rev().min_by_key(|length| length + left % length).unwrap_or(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_after_whole_repetitions_is_short() {
        // 2,997 = 136 * 22 + 5 = 111 * 27.
        assert_eq!(best_length(20, 2_997), 27);
        assert_eq!(best_length(20, 30), 30);
        assert_eq!(best_length(20, 100), 20);
    }
}
