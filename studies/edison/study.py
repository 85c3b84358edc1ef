"""Readings of unpublished choices, scored on WD1 and WD3, and all figures over placements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odonata import Run, toml
from odonata.studies import Finding, Results, Study
from odonata.studies.select import NoRowsError

PUBLISHED = Path(__file__).with_name("published.csv")
MIB = float(1 << 20)

LEAST = 0.02
"""Minimum standard deviation of a logarithm: two computations of one placement differ by this much."""

TIE = 2.0
"""Minimum significant difference of the log-likelihood: below it the simpler reading stays."""

Reading = dict[str, Any]


def _grids(grids: Sequence[Sequence[int]]) -> list[Reading]:
    return [
        {"dims": list(dims), "order": "row-major", "periodic": periodic}
        for periodic in (False, True)
        for dims in grids
    ]


READINGS: dict[str, list[Reading]] = {
    "stencil-2d": _grids([(256, 128), (128, 256), (512, 64), (64, 512), (1024, 32), (32, 1024)]),
    "stencil-4d": _grids(
        [
            (16, 16, 16, 8),
            (8, 16, 16, 16),
            (16, 16, 8, 16),
            (16, 8, 16, 16),
            (32, 16, 8, 8),
            (8, 8, 16, 32),
        ]
    ),
    "many-to-many": [{"stride": 1 << power} for power in range(11)],
    "umesh": [
        {"max_distance": reach} for reach in (50, 75, 100, 125, 150, 200, 250, 300, 400, 600, 800, 1200)
    ],
    "spread": [{"symmetric": symmetric} for symmetric in (False, True)],
}
"""Natural readings of each pattern, the simplest first."""

EXAMPLES = Path(__file__).parents[2] / "examples"


def _jobs(workload: str) -> list[dict[str, Any]]:
    """The jobs of a workload's file."""
    jobs: list[dict[str, Any]] = toml.parse((EXAMPLES / f"{workload.lower()}-edison.toml").read_text())["job"]
    return jobs


def _patterns(workload: str) -> dict[str, Reading]:
    """The reading of each pattern in a workload's file, by job name."""
    return {job["name"]: job["pattern"] for job in _jobs(workload)}


def _orders(workload: str) -> dict[str, dict[str, Any]]:
    """The jobs rotated by one, two and three places, which changes the order of placement."""
    patterns = _patterns(workload)
    jobs = list(patterns)
    turned = [jobs[by:] + jobs[:by] for by in range(len(jobs))]
    return {
        "as in the file" if names == jobs else f"{names[0]} first": {
            key: value
            for number, name in enumerate(names)
            for key, value in ((f"job.{number}.name", name), (f"job.{number}.pattern", patterns[name]))
        }
        for names in turned
    }


def _readings(workload: str) -> dict[str, dict[str, Any]]:
    """As many variants as the pattern with most readings; each variant takes one reading per pattern."""
    most = max(len(readings) for readings in READINGS.values())
    return {
        str(number): {
            f"job.{job}.pattern": {"name": job, **READINGS[job][number % len(READINGS[job])]}
            for job in _patterns(workload)
        }
        for number in range(most)
    }


def orders_wd1(_: Study) -> dict[str, dict[str, Any]]:
    """The order of placement."""
    return _orders("WD1")


def orders_wd2(_: Study) -> dict[str, dict[str, Any]]:
    """The order of placement."""
    return _orders("WD2")


def orders_wd3(_: Study) -> dict[str, dict[str, Any]]:
    """The order of placement."""
    return _orders("WD3")


def orders_wd4(_: Study) -> dict[str, dict[str, Any]]:
    """The order of placement."""
    return _orders("WD4")


def readings_wd1(_: Study) -> dict[str, dict[str, Any]]:
    """The readings of its patterns."""
    return _readings("WD1")


def readings_wd3(_: Study) -> dict[str, dict[str, Any]]:
    """The readings of its patterns."""
    return _readings("WD3")


def _draws(workload: str) -> dict[str, dict[str, Any]]:
    """Four placements: seeds 21 to 24, each with another order of placement."""
    orders = enumerate(_orders(workload).values())
    return {str(21 + number): {"engine.seed": 21 + number, **order} for number, order in orders}


def draws_wd1(_: Study) -> dict[str, dict[str, Any]]:
    """Four placements."""
    return _draws("WD1")


def draws_wd3(_: Study) -> dict[str, dict[str, Any]]:
    """Four placements."""
    return _draws("WD3")


def present_wd4(_: Study) -> dict[str, dict[str, Any]]:
    """All jobs, or one of them alone on the same nodes."""
    names = [job["name"] for job in _jobs("WD4")]
    idle = {name: {f"job.{row}.idle": other != name for row, other in enumerate(names)} for name in names}
    return {"all": {f"job.{row}.idle": False for row in range(len(names))}, **idle}


def _words(reading: Reading) -> str:
    if "dims" in reading:
        wraps = ", periodic" if reading["periodic"] else ""
        return " x ".join(map(str, reading["dims"])) + wraps
    ((key, value),) = ((key, value) for key, value in reading.items() if key != "name")
    return f"{key} {str(value).lower()}"


def _traffic(results: Results, kind: str, workloads: Sequence[str]) -> pd.DataFrame:
    """Traffic of the jobs by class, MiB per link, with the published figures if there are any."""
    parts = []
    for workload in workloads:
        name = f"{kind}-{workload.lower()}" if kind else workload.lower()
        rows = results.frame(f"{name}.traffic")
        if rows.empty:
            raise NoRowsError(f"{name} has not run")
        rows = rows[(rows["job"] != "all jobs") & (rows["class"] != "all")]
        parts.append(
            rows.assign(workload=workload, mean=rows["bytes_mean"] / MIB, max=rows["bytes_max"] / MIB)
        )
    published = pd.read_csv(PUBLISHED)
    return pd.concat(parts).merge(published, on=["workload", "job", "class"], how="left")


def _scores(rows: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """How probable the published averages are among the placements of each candidate.

    The logarithm of an average is taken as normal, its mean and standard deviation come from the
    candidate's placements, and the published number is one more draw.
    """
    # A reading under which a class carries nothing has likelihood 0.
    share = np.maximum(rows["mean"] / rows["mean_mib"], 1e-6)
    found = rows.assign(log=np.log(share))
    groups = found.groupby([*by, "workload", "job", "class"])["log"]
    table = groups.agg(["mean", "std", "count"]).reset_index()
    spread = np.maximum(table["std"], LEAST) * np.sqrt(1 + 1 / table["count"])
    table["worse"] = np.log(spread) + (table["mean"] / spread) ** 2 / 2
    table["square"] = table["mean"] ** 2
    scores = (
        table.groupby(by, sort=False).agg(worse=("worse", "sum"), square=("square", "mean")).reset_index()
    )
    return scores.assign(deviation=np.sqrt(scores.pop("square")))


def readings(results: Results) -> pd.DataFrame:
    """One row for each reading of each pattern, the simplest first."""
    rows = _traffic(results, "readings", ("WD1", "WD3"))
    parts = []
    for pattern, readings in READINGS.items():
        of = rows[rows["job"] == pattern]
        of = of.assign(choice=of["reading"].astype(int) % len(readings))
        scores = _scores(of, ["choice"]).sort_values("choice")
        parts.append(
            scores.assign(
                pattern=pattern,
                reading=[_words(readings[choice]) for choice in scores["choice"]],
                worse=scores["worse"] - scores["worse"].min(),
            )
        )
    return pd.concat(parts)[["pattern", "reading", "worse", "deviation"]]


def widths(results: Results) -> pd.DataFrame:
    """One row for each width."""
    rows = _traffic(results, "widths", ("WD1", "WD3"))
    scores = _scores(rows.rename(columns={"job.*.placement.spread": "spread"}), ["spread"])
    return scores.assign(worse=scores["worse"] - scores["worse"].min()).sort_values("spread")


DISTRIBUTION, SPREAD = "job.*.placement.distribution", "job.*.placement.spread"


REFIT = "binomial 0.45"
"""The choice of the second rule. The examples keep the first choice."""


def placements(results: Results) -> pd.DataFrame:
    """One row for each distribution and width, the simplest first."""
    rows = _traffic(results, "placements", ("WD1", "WD3"))
    rows = rows.rename(columns={DISTRIBUTION: "distribution", SPREAD: "spread"})
    scores = _scores(rows, ["distribution", "spread"])
    scores = scores.assign(worse=scores["worse"] - scores["worse"].min())
    # "geometric" is the default, so it comes first.
    return scores.sort_values(["distribution", "spread"], ascending=[False, True])


def _figures(results: Results, workloads: Sequence[str], kind: str = "") -> pd.DataFrame:
    """Median and range of every average and maximum over the placements."""
    rows = _traffic(results, kind, workloads)
    parts = []
    for figure, published in (("mean", "mean_mib"), ("max", "max_mib")):
        groups = rows.groupby(["workload", "job", "class"], sort=False)
        found = groups[figure].agg(
            median="median",
            low=lambda values: np.sort(values)[min(1, len(values) - 1)],
            high=lambda values: np.sort(values)[max(-2, -len(values))],
        )
        found["published"] = groups[published].first()
        parts.append(found.reset_index().assign(figure=figure))
    found = pd.concat(parts)
    return found.assign(off=found["median"] / found["published"] - 1)


def residuals(results: Results) -> pd.DataFrame:
    """The workloads used for the choice."""
    return _figures(results, ("WD1", "WD3"))


def predictions(results: Results) -> pd.DataFrame:
    """The workloads not used for the choice."""
    return _figures(results, ("WD2", "WD4")).drop(columns=["published", "off"])


def refit_residuals(results: Results) -> pd.DataFrame:
    """`residuals` with the placement of the second rule."""
    return _figures(results, ("WD1", "WD3"), "refit")


def refit_predictions(results: Results) -> pd.DataFrame:
    """`predictions` with the placement of the second rule."""
    return _figures(results, ("WD2", "WD4"), "refit").drop(columns=["published", "off"])


def _found(name: str, chosen: Any, names: Sequence[Any], worse: Sequence[float]) -> Finding:
    """Whether no entry on the list is significantly better than the choice."""
    by = dict(zip(names, worse, strict=True))
    best = min(by, key=lambda candidate: by[candidate])
    words = f"{chosen}, the likeliest" if best == chosen else f"{chosen}, {by[chosen]:.1f} behind {best}"
    return Finding(name, words, by[chosen] < TIE)


def patterns_are_read_by_the_rule(results: Results) -> Iterator[Finding]:
    """One finding per pattern."""
    table = readings(results)
    files = _patterns("WD1") | _patterns("WD3")
    for pattern, rows in table.groupby("pattern", sort=False):
        chosen = _words(files[str(pattern)])
        yield _found(str(pattern), chosen, list(rows["reading"]), list(rows["worse"]))


def placement_is_as_wide(results: Results) -> Iterator[Finding]:
    """The width of all jobs."""
    table = widths(results)
    (chosen,) = {
        job["placement"]["spread"] for workload in ("WD1", "WD2", "WD3", "WD4") for job in _jobs(workload)
    }
    yield _found("spread", chosen, list(table["spread"]), list(table["worse"]))


def placement_is_chosen_by_the_rule(results: Results) -> Iterator[Finding]:
    """Distribution and width of all jobs."""
    table = placements(results)
    names = [f"{row['distribution']} {row['spread']:g}" for row in table.to_dict("records")]
    first = next(name for name, worse in zip(names, table["worse"], strict=True) if worse < TIE)
    worse = dict(zip(names, table["worse"], strict=True))[REFIT]
    words = f"{REFIT}, {worse:.1f} behind the likeliest; the rule chooses {first}"
    yield Finding("placement", words, first == REFIT)


def _met(results: Results, figure: str, tolerance: float) -> Iterator[Finding]:
    table = residuals(results)
    for row in table[table["figure"] == figure].to_dict("records"):
        inside = row["low"] <= row["published"] <= row["high"]
        words = (
            f"{row['median']:.3g} ({row['low']:.3g} to {row['high']:.3g}), published {row['published']:.3g}"
        )
        holds = bool(inside or abs(row["off"]) <= tolerance)
        yield Finding(f"{row['workload']} {row['job']} {row['class']}", words, holds)


def averages_are_met(results: Results) -> Iterator[Finding]:
    """All averages of WD1 and WD3."""
    return _met(results, "mean", 0.1)


def maxima_are_met(results: Results) -> Iterator[Finding]:
    """All maxima of WD1 and WD3."""
    return _met(results, "max", 0.25)


def blue_leads(results: Results) -> Iterator[Finding]:
    """The hottest link of each class, all jobs together, workload by workload."""
    for workload in ("WD1", "WD2", "WD3", "WD4"):
        rows = results.frame(f"{workload.lower()}.traffic")
        if rows.empty:
            raise NoRowsError(f"{workload} has not run")
        hottest = rows[rows["job"] == "all jobs"].groupby("class")["bytes_max"].median() / MIB
        blue, green, black = (hottest[name] for name in ("blue", "green", "black"))
        words = f"blue {blue:.0f}, green {green:.0f}, black {black:.0f} MiB"
        yield Finding(workload, words, bool(blue > green > black))


def spread_is_met(results: Results) -> Iterator[Finding]:
    """The averages of WD1's Spread over all placements that ran."""
    rows = _figures(results, ("WD1",))
    for row in rows[(rows["job"] == "spread") & (rows["figure"] == "mean")].to_dict("records"):
        words = f"{row['median']:.3g}, published {row['published']:.3g}"
        yield Finding(str(row["class"]), words, abs(row["off"]) <= 0.1)


ABOVE = 0.25
"""Threshold of Figures 7 and 8 as a share of the job's hottest link alone. The paper states none."""

THRESHOLD_BYTES = 140e6
"""Threshold of Figure 10."""


def _job_on(run: Run, job: str, link_class: str) -> NDArray[np.float64]:
    """Bytes of a job on every link of a class."""
    links, parts = run.links.to_pandas(), run.link_jobs.to_pandas()
    row = run.jobs["name"].to_pylist().index(job)
    of_job = parts[parts["job"] == row].set_index("link")["bytes"]
    of_class = links["class"].astype(str) == link_class
    found: NDArray[np.float64] = of_job.reindex(links["link"], fill_value=0.0).to_numpy()[of_class.to_numpy()]
    return found


def _more_concentrated(results: Results, link_class: str, jobs: Sequence[str]) -> Iterator[Finding]:
    runs = {(place["engine.seed"], place["present"]): run for place, run in results.runs("alone-wd4")}
    if not runs:
        raise NoRowsError("alone-wd4 has not run")
    for job in jobs:
        for seed in sorted({seed for seed, _ in runs}):
            alone, together = (_job_on(runs[seed, present], job, link_class) for present in (job, "all"))
            least = ABOVE * alone.max()
            fewer, more = int((together > least).sum()), int((alone > least).sum())
            words = (
                f"{fewer:,} instead of {more:,} links above, hottest {together.max() / MIB:.0f} instead of "
                f"{alone.max() / MIB:.0f} MiB"
            )
            yield Finding(f"{job}, seed {seed}", words, fewer < more and together.max() > alone.max())


def fewer_blue_links(results: Results) -> Iterator[Finding]:
    """Blue links of the 4D Stencil and of Spread, in WD4 and alone."""
    return _more_concentrated(results, "blue", ("stencil-4d", "spread"))


def sparser_green_links(results: Results) -> Iterator[Finding]:
    """Green links of Many-to-many and of UMesh, in WD4 and alone."""
    return _more_concentrated(results, "green", ("many-to-many", "umesh"))


def blue_above_the_threshold(results: Results) -> Iterator[Finding]:
    """Links above the threshold by class, with Edison's cables and with +B-K."""
    shares: dict[int, dict[bool, dict[str, float]]] = {}
    for place, run in results.runs("cabling-wd2"):
        links = run.links.to_pandas()
        above = (links["bytes"] > THRESHOLD_BYTES).groupby(links["class"].astype(str)).mean()
        shares.setdefault(place["engine.seed"], {})[bool(place["machine.edit"])] = above.to_dict()
    if not shares:
        raise NoRowsError("cabling-wd2 has not run")
    for seed, of_seed in sorted(shares.items()):
        before, after = of_seed[False], of_seed[True]
        words = ", ".join(
            f"{name} {before[name]:.1%} to {after[name]:.1%}" for name in ("blue", "green", "black")
        )
        leads = before["blue"] > before["green"] > before["black"]
        moves = after["blue"] < before["blue"] and after["black"] > before["black"]
        yield Finding(f"seed {seed}", words, leads and moves)
