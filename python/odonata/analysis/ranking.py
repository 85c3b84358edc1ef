"""Settings of a sweep from best to worst, with their spread over seeds, and the result in one sentence.

A setting is a combination of all keys that are not seeds. Its score is the geometric mean over jobs of its
mean value relative to the base, the first setting. Intervals are Student's, of the mean over seeds; changes
are paired by seed, as ratios. Two settings whose ratio's interval contains 1 are within noise.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Spread:
    """Values of a job by point, their mean and its 95 % interval; no interval for one point.

    Examples:
        >>> spread = odonata.Sweep.load("runs/design").ranking.base.jobs[0]
        >>> len(spread.values), spread.low < spread.mean < spread.high
        (2, True)
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
    """Mean and 95 % interval.

    Examples:
        >>> odonata.analysis.ranking.spread([1.0, 3.0])
        Spread(values=(1.0, 3.0), mean=2.0, low=-10.706, high=14.706)
    """
    return Spread(tuple(values), mean(values), *mean_interval(values))


def rank(
    settings: Sequence[Setting],
    values: Sequence[Mapping[str, float | None]],
    *,
    seeds: Sequence[str] = (),
    less_is_better: bool = True,
    label: str = "Time",
    unit: str = "s",
) -> Ranking | None:
    """Ranks the settings of points by a value of their jobs.

    Args:
        settings: Values of the keys by point.
        values: Positive value of each job by point, such as its time; None if it has none.
        seeds: Keys that are seeds.
        less_is_better: Whether smaller values are better.
        label: What the values are.
        unit: Their unit, as of columns.

    Returns:
        None if no job has a value.

    Examples:
        >>> settings = [{"routing": r, "seed": s} for r in ("min", "ugal") for s in (1, 2)]
        >>> times = [{"fft": t} for t in (4.0, 4.1, 2.0, 2.1)]
        >>> odonata.analysis.ranking.rank(settings, times, seeds=["seed"]).headline
        'Best: routing=ugal: fft 1.98 times faster, compared with routing=min, 2 seeds.'
    """
    groups: dict[tuple[object, ...], list[int]] = {}
    names = [key for key in (settings[0] if settings else {}) if key not in seeds]
    for point, setting in enumerate(settings):
        groups.setdefault(tuple(setting[name] for name in names), []).append(point)
    jobs = list(dict.fromkeys(job for row in values for job, value in row.items() if value))
    if not jobs:
        return None
    base = next(iter(groups.values()))
    rows = []
    for key, points in groups.items():
        found = [[value for point in points if (value := values[point].get(job))] for job in jobs]
        spreads = tuple(spread(one) if one else None for one in found)
        at_base = [[value for point in base if (value := values[point].get(job))] for job in jobs]
        ratios = [mean(a) / mean(b) for a, b in zip(found, at_base, strict=True) if a and b]
        score = math.exp(mean(math.log(ratio) for ratio in ratios)) if ratios else None
        rows.append(RankedSetting(dict(zip(names, key, strict=True)), tuple(points), spreads, score))
    first = rows[0]
    sign = 1 if less_is_better else -1
    rows.sort(key=lambda row: math.inf if row.score is None else sign * row.score)
    sweep = _Points(settings, values, tuple(seeds), less_is_better)
    return Ranking(sweep.headline(rows, first, jobs), tuple(jobs), tuple(rows), first, label, unit)


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
        compared = [(job, *found) for job in jobs if (found := self._ratio(shown, base, job)) is not None]
        compared.sort(key=lambda change: -abs(math.log(change[1])))
        real = [(job, ratio) for job, ratio, is_noise in compared if not is_noise]
        quiet = [job for job, _, is_noise in compared if is_noise]
        words = [f"{job} {self._change(ratio)}" for job, ratio in real[:JOBS_NAMED]]
        if len(real) > JOBS_NAMED:
            words.append(f"{len(real) - JOBS_NAMED} more jobs changed")
        if quiet:
            noise = "within noise" if count > 1 else "unchanged"
            words.append(f"{quiet[0] if len(quiet) == 1 else f'{len(quiet)} jobs'} {noise}")
        start = f"Best: {first}. The next of {len(rows)}, " if rows[0] is base else "Best: "
        over = f", {count} seeds" if count > 1 else ""
        return f"{start}{text_of(shown.setting)}: {', '.join(words)}, compared with {first}{over}."

    def _seed(self, point: int) -> tuple[object, ...]:
        return tuple(self.settings[point][key] for key in self.seeds)

    def _ratio(self, row: RankedSetting, base: RankedSetting, job: str) -> tuple[float, bool] | None:
        """Geometric mean of the ratios paired by seed, and whether it is within noise."""
        at_base = {self._seed(point): self.values[point].get(job) for point in base.points}
        logs = []
        for point in row.points:
            before, after = at_base.get(self._seed(point)), self.values[point].get(job)
            if before and after:
                logs.append(math.log(after / before))
        if not logs:
            return None
        found = spread(logs)
        covers = found.low is not None and found.high is not None and found.low <= 0 <= found.high
        return math.exp(found.mean), covers or abs(found.mean) < UNCHANGED

    def _change(self, ratio: float) -> str:
        """A ratio as text: `9.8 % faster`, `2.3 times slower`; for other values `lower` and `higher`."""
        worse, better = ("slower", "faster") if self.less_is_better else ("lower", "higher")
        word = better if (ratio < 1) is self.less_is_better else worse
        size = max(ratio, 1 / ratio)
        return f"{digits(size)} times {word}" if size >= TIMES_FROM else f"{percent(abs(ratio - 1))} {word}"


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
