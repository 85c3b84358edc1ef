"""Settings of a sweep from best to worst, with their spread over seeds, and the result in one sentence.

A setting is a combination of all keys that are not seeds. Its score is the geometric mean over jobs of its
mean value relative to the base, the first setting, over the seeds that both have. Settings without a value of
a job that the base has rank after those with it. Intervals are Student's, of the mean over seeds.

A change is the ratio of these means, as in the tables of differences. Its evidence is from the ratios of the
seeds: it is certain if the interval of their logarithms excludes 0. It is within noise if it is not, and
seeds disagree on its sign or differ by more than it. In between, which only two or three seeds can be, the
range of the seeds is printed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from statistics import mean

import pyarrow as pa

from odonata.analysis.intervals import mean_interval
from odonata.quantity import digits, percent
from odonata.store.schema import declarations, job_seconds, job_times

Setting = Mapping[str, object]
"""Values of keys, as text or numbers."""

LATENCY = "latency_mean_ns"
UNCHANGED = 1e-3
"""A smaller relative change without seeds counts as none."""
JOBS_NAMED = 4
TIMES_FROM = 1.5
"""A larger ratio is said as a factor instead of a percentage."""
INTERVAL_FROM = 3
"""Fewest values with an interval: between two, it would be 13 times as wide as their distance."""


@dataclass(frozen=True)
class Spread:
    """Values of a job by point, their mean and its 95 % interval; no interval for one or two points.

    Examples:
        >>> spread = odonata.Sweep.load("runs/design").ranking.base.jobs[0]
        >>> len(spread.values), min(spread.values) <= spread.mean <= max(spread.values), spread.low
        (2, True, None)
    """

    values: tuple[float, ...]
    mean: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class RankedSetting:
    """A setting, its points and the values of each job; None for a job without a value.

    Examples:
        >>> best = odonata.Sweep.load("runs/design").ranking.rows[0]
        >>> len(best.points), len(best.jobs), best.score <= 1
        (2, 2, True)
    """

    setting: dict[str, object]
    points: tuple[int, ...]
    jobs: tuple[Spread | None, ...]
    score: float | None
    """None without a value of a job that the base has, too."""


@dataclass(frozen=True)
class Ranking:
    """Settings from best to worst. See `rank`.

    Examples:
        >>> ranking = odonata.Sweep.load("runs/design").ranking
        >>> len(ranking.rows), ranking.label, ranking.unit, ranking.base in ranking.rows
        (4, 'Time', 's', True)
    """

    headline: str
    jobs: tuple[str, ...]
    rows: tuple[RankedSetting, ...]
    base: RankedSetting
    """The first setting of the sweep, with which the others are compared."""
    label: str
    """What the values are."""
    unit: str


def spread(values: Sequence[float]) -> Spread:
    """Mean and 95 % interval; None for the ends of the interval of fewer than three values.

    Examples:
        >>> odonata.analysis.ranking.spread([1.0, 3.0])
        Spread(values=(1.0, 3.0), mean=2.0, low=None, high=None)
    """
    ends = mean_interval(values) if len(values) >= INTERVAL_FROM else (None, None)
    return Spread(tuple(values), mean(values), *ends)


def rank(
    settings: Sequence[Setting],
    values: Sequence[Mapping[str, float | None]],
    *,
    seeds: Sequence[str] = (),
    at: Setting | None = None,
    less_is_better: bool = True,
    label: str = "Time",
    unit: str = "s",
) -> Ranking | None:
    """Ranks the settings of points by a value of their jobs.

    Args:
        settings: Values of the keys by point.
        values: Positive value of each job by point, such as its time; None if it has none.
        seeds: Keys that are seeds.
        at: Values of keys that are no choice, such as a load: only points with them are ranked.
        less_is_better: Whether smaller values are better.
        label: What the values are.
        unit: Their unit, as of columns.

    Returns:
        None if no job has a value, or if `at` has all keys but seeds.

    Examples:
        >>> settings = [{"routing": r, "seed": s} for r in ("min", "ugal") for s in (1, 2)]
        >>> times = [{"fft": t} for t in (4.0, 4.1, 2.0, 2.1)]
        >>> odonata.analysis.ranking.rank(settings, times, seeds=["seed"]).headline
        'Best: routing=ugal: fft 1.98 times faster, compared with routing=min, 2 seeds.'
    """
    groups: dict[tuple[object, ...], list[int]] = {}
    at = at or {}
    names = [key for key in (settings[0] if settings else {}) if key not in seeds and key not in at]
    for point, setting in enumerate(settings):
        if all(setting[key] == value for key, value in at.items()):
            groups.setdefault(tuple(setting[name] for name in names), []).append(point)
    ranked = [values[point] for points in groups.values() for point in points]
    jobs = list(dict.fromkeys(job for row in ranked for job, value in row.items() if value))
    if not jobs or (at and not names):
        return None
    base = next(iter(groups.values()))
    sweep = _Points(settings, values, tuple(seeds), less_is_better)
    rows = []
    for key, points in groups.items():
        found = [[value for point in points if (value := values[point].get(job))] for job in jobs]
        spreads = tuple(spread(one) if one else None for one in found)
        changes = [change for job in jobs if (change := sweep.change(points, base, job)) is not None]
        score = math.exp(mean(math.log(change.ratio) for change in changes)) if changes else None
        rows.append(RankedSetting(dict(zip(names, key, strict=True)), tuple(points), spreads, score))
    first = rows[0]
    sign = 1 if less_is_better else -1
    rows.sort(
        key=lambda row: (len(_lost(row, first, jobs)), math.inf if row.score is None else sign * row.score)
    )
    headline = sweep.headline(rows, first, jobs)
    if at:
        headline = f"At {text_of(at)}, {headline[0].lower()}{headline[1:]}"
    return Ranking(headline, tuple(jobs), tuple(rows), first, label, unit)


def loads_in(settings: Sequence[Setting], keys: Sequence[str]) -> list[dict[str, object]]:
    """Values of keys that are loads, in points of a sweep: from the least load to the highest.

    In the order of the points if they are no numbers.

    Examples:
        >>> odonata.analysis.ranking.loads_in([{"load": "0.5"}, {"load": "0.1"}], ["load"])
        [{'load': '0.1'}, {'load': '0.5'}]
    """
    found = list(dict.fromkeys(tuple(setting[key] for key in keys) for setting in settings))
    with suppress(ValueError):
        found.sort(key=lambda values: [float(str(value)) for value in values])
    return [dict(zip(keys, values, strict=True)) for values in found]


def _lost(row: RankedSetting, base: RankedSetting, jobs: Sequence[str]) -> list[str]:
    """Jobs of the base without a value: a failure ends them, and the others gain what they leave."""
    of_each = zip(jobs, row.jobs, base.jobs, strict=True)
    return [job for job, one, before in of_each if one is None and before is not None]


class Evidence(Enum):
    """How sure a change over seeds is."""

    CERTAIN = "certain"
    BY_SEED = "by seed"
    """All seeds agree, but they are too few for an interval that excludes chance."""
    NOISE = "noise"


@dataclass(frozen=True)
class Change:
    """A value relative to the base, paired by seed.

    Examples:
        >>> odonata.analysis.ranking.change_of([1.0, 1.0], [0.4, 0.5]).evidence.value
        'by seed'
    """

    ratio: float
    """Mean over seeds divided by the mean of the base: 1 plus `change` of `paired_differences`."""
    low: float
    """Smallest ratio of a seed."""
    high: float
    """Largest ratio of a seed."""
    evidence: Evidence


def change_of(before: Sequence[float], after: Sequence[float]) -> Change:
    """The change that the pairs of the seeds show.

    Args:
        before: Positive values of the base; one for each seed, at least one.
        after: Positive values of the setting, for the same seeds.

    Examples:
        >>> change = odonata.analysis.ranking.change_of([1.0, 1.0, 1.0], [2.0, 2.1, 2.2])
        >>> change.evidence.value, round(change.ratio, 2)
        ('certain', 2.1)
    """
    ratios = [b / a for a, b in zip(before, after, strict=True)]
    ratio = mean(after) / mean(before)
    logs = [math.log(one) for one in ratios]
    middle, least, most = mean(logs), min(logs), max(logs)
    low, high = mean_interval(logs)
    # Seeds of very different size may have a mean with another sign than most of their ratios.
    if abs(middle) < UNCHANGED or middle * math.log(ratio) <= 0:
        evidence = Evidence.NOISE
    elif low is None or high is None or low > 0 or high < 0:
        evidence = Evidence.CERTAIN
    else:
        agree = (least > 0 or most < 0) and abs(middle) > most - least
        evidence = Evidence.BY_SEED if agree else Evidence.NOISE
    return Change(ratio, min(ratios), max(ratios), evidence)


@dataclass(frozen=True)
class _Points:
    """The points of a sweep, for its sentence."""

    settings: Sequence[Setting]
    values: Sequence[Mapping[str, float | None]]
    seeds: tuple[str, ...]
    less_is_better: bool

    def headline(self, rows: list[RankedSetting], base: RankedSetting, jobs: list[str]) -> str:
        """The best setting against the base, or the next one against the base if that is the best."""
        count = len({self._seed(point) for point in range(len(self.settings))})
        if len(rows) == 1:
            ranges = [(max(one.values) - min(one.values)) / one.mean for one in base.jobs if one is not None]
            return f"Only seeds differ: {count} seeds, values within {percent(max(ranges, default=0.0))}."
        shown, first = rows[1] if rows[0] is base else rows[0], text_of(base.setting)
        compared = [(job, found) for job in jobs if (found := self.change(shown.points, base.points, job))]
        compared.sort(key=lambda one: -abs(math.log(one[1].ratio)))
        changed = [(job, found) for job, found in compared if found.evidence is not Evidence.NOISE]
        over = f", {count} seeds" if count > 1 else ""
        lost = _lost(shown, base, jobs)
        if compared and not changed and not lost:
            best, other = (row.setting for row in (rows[0], base if rows[0] is not base else shown))
            same = "are within noise of each other" if count > 1 else "give the same"
            return f"No clear best of {len(rows)}: {text_of(best)} and {text_of(other)} {same}{over}."
        words = [f"{job} {self._words(found, count)}" for job, found in changed[:JOBS_NAMED]]
        if len(changed) > JOBS_NAMED:
            words.append(f"{len(changed) - JOBS_NAMED} more jobs changed")
        if quiet := [job for job, found in compared if found.evidence is Evidence.NOISE]:
            noise = "within noise" if count > 1 else "unchanged"
            words.append(f"{quiet[0] if len(quiet) == 1 else f'{len(quiet)} jobs'} {noise}")
        if lost:
            words.append(f"without {lost[0] if len(lost) == 1 else f'{len(lost)} jobs'}")
        start = f"Best: {first}. The next of {len(rows)}, " if rows[0] is base else "Best: "
        return f"{start}{text_of(shown.setting)}: {', '.join(words)}, compared with {first}{over}."

    def _seed(self, point: int) -> tuple[object, ...]:
        return tuple(self.settings[point][key] for key in self.seeds)

    def change(self, points: Sequence[int], base: Sequence[int], job: str) -> Change | None:
        """The change of a job's value, paired by seed; None without a pair."""
        at_base = {self._seed(point): self.values[point].get(job) for point in base}
        pairs = [
            (before, after)
            for point in points
            if (before := at_base.get(self._seed(point))) and (after := self.values[point].get(job))
        ]
        return change_of(*zip(*pairs, strict=True)) if pairs else None

    def _words(self, change: Change, seeds: int) -> str:
        """A change as text: `9.8 % faster`, `2.3 times slower`, or the range of its seeds."""
        worse, better = ("slower", "faster") if self.less_is_better else ("lower", "higher")
        word = better if (change.ratio < 1) is self.less_is_better else worse
        ends = (change.ratio,) if change.evidence is Evidence.CERTAIN else (change.low, change.high)
        as_times = max(max(end, 1 / end) for end in ends) >= TIMES_FROM
        sizes = sorted(max(end, 1 / end) if as_times else abs(end - 1) for end in ends)
        text = " to ".join(dict.fromkeys((digits if as_times else percent)(size) for size in sizes))
        span = f" (range of {seeds} seeds)" if len(sizes) > 1 else ""
        return f"{text}{' times' if as_times else ''} {word}{span}"


def text_of(setting: Setting) -> str:
    """A setting as text, such as `routing=min, ranks=32`."""
    return ", ".join(f"{key}={value}" for key, value in setting.items())


def job_values(jobs: pa.Table) -> tuple[str, str, dict[str, float | None]] | None:
    """What ranks the jobs of a run: their times, or their mean packet latencies.

    Args:
        jobs: The table `jobs` of a run.

    Returns:
        Label and unit of the value, and the value of each job by name; None if the run has neither.
    """
    known = declarations(jobs.schema)
    names = jobs["name"].to_pylist()
    if job_times(jobs.schema):
        times = [job_seconds(row, jobs.schema) for row in jobs.to_pylist()]
        if any(times):
            return "Time", "s", dict(zip(names, times, strict=True))
    if LATENCY in known:
        return (
            known[LATENCY].label,
            known[LATENCY].unit,
            dict(zip(names, jobs[LATENCY].to_pylist(), strict=True)),
        )
    return None
