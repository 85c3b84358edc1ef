"""GPCNeT, the benchmark of network congestion, on a simulated machine.

A fifth of the nodes run three tests of the network, first alone, then with four congestors on the other
nodes. Both runs come from one experiment, so they differ in the congestors only. `docs/models/gpcnet.md` says
how the simulation differs from the benchmark.

Chunduri et al., "GPCNeT: Designing a Benchmark Suite for Inducing and Measuring Contention in HPC Networks",
SC 2019. Splits, tests, statistics and tables are as in version 1.3.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from odonata import toml
from odonata._core import Experiment
from odonata.api import run_until_interrupted
from odonata.errors import OdonataError
from odonata.machines import build, origin_of
from odonata.notebook import Progress, shown_progress
from odonata.store.schema import COMPLETE, INTERRUPTED

if TYPE_CHECKING:
    from odonata.runs import Run
    from odonata.store.run import RunData

CONGESTORS = ("all-to-all", "incast", "put-incast", "get-broadcast")
"""The congestors, in the benchmark's order."""

VICTIMS = "victims"
"""Name of the job of the tests."""

RINGS = 3
"""Default number of random rings. The benchmark has 30, and repeats them for 10 s."""

NODES_MIN = 10
"""Least nodes, as in the benchmark."""

BINS = 100_000
"""Bins of the histogram of which the benchmark takes the 99th percentile."""

Samples: TypeAlias = "npt.NDArray[np.float64]"
"""Durations in s by rank and sample."""


@dataclass(frozen=True)
class NetworkTest:
    """A test of the network."""

    title: str
    unit: str
    program: Mapping[str, Any]
    """The rank program, without the number of rings and slices."""
    phase: str
    """Phase of the program of which each occurrence is a sample."""
    per_ring: int
    """Samples in each ring."""
    skipped: int = 0
    """First samples that do not count."""
    mib: float | None = None
    """MiB of a rank in a sample, of a test of the bandwidth."""

    def values(self, samples: Samples) -> Samples:
        """Durations in s as values in the test's unit."""
        if self.mib is None:
            return samples * 1e6 / (2 if self.program["name"] == "random-ring" else 1)
        return self.mib / samples

    @property
    def is_bandwidth(self) -> bool:
        """Whether more is better."""
        return self.mib is not None


_EXCHANGES = 10
_BULKS = 2
_MESSAGES = 8
_BULK_BYTES = 131072

TESTS = (
    NetworkTest(
        "RR Two-sided Lat (8 B)",
        "usec",
        {"name": "random-ring", "bytes": "8 B", "warm_up": 2, "iterations": _EXCHANGES},
        "exchange",
        _EXCHANGES,
    ),
    NetworkTest(
        f"RR Two-sided BW+Sync ({_BULK_BYTES} B)",
        "MiB/s/rank",
        {
            "name": "random-ring",
            "bytes": f"{_BULK_BYTES} B",
            "messages": _MESSAGES,
            "barrier": True,
            "warm_up": 1,
            "iterations": _BULKS,
        },
        "exchange",
        _BULKS,
        mib=2 * _MESSAGES * _BULK_BYTES / 2**20,
    ),
    NetworkTest(
        "Multiple Allreduce (8 B)",
        "usec",
        {"name": "allreduce", "bytes": "8 B", "compute": "0 ns"},
        "allreduce",
        _EXCHANGES,
        skipped=1,
    ),
)
"""The tests, in the benchmark's order."""


@dataclass(frozen=True)
class Value:
    """Results of one test."""

    average: float
    percentile_99: float
    """99 % of the samples are better."""
    samples: int


@dataclass(frozen=True)
class Row:
    """Results of one test, alone and with the congestors.

    If a run did not complete, its values are about the samples that ended. Without any, a value is None.
    """

    test: str
    unit: str
    samples: int
    """Number of samples of the whole test."""
    isolated: Value | None
    congested: Value | None
    factor_average: float | None
    """Impact factors; None if the test did not end in both runs."""
    factor_99: float | None

    def is_whole(self, value: Value | None) -> bool:
        """Whether a value of the row has all samples."""
        return value is not None and value.samples == self.samples

    def printed_factors(self, is_bandwidth: bool) -> tuple[float, float]:
        """The benchmark's factors, of the values with one decimal; NaN if there is none or a value is 0.0."""

        def factor(isolated: float, congested: float) -> float:
            isolated, congested = round(isolated, 1), round(congested, 1)
            return _factor(isolated, congested, is_bandwidth)

        if self.isolated is None or self.congested is None or self.factor_average is None:
            return math.nan, math.nan
        return (
            factor(self.isolated.average, self.congested.average),
            factor(self.isolated.percentile_99, self.congested.percentile_99),
        )


@dataclass(frozen=True)
class Result:
    """Results of the benchmark."""

    machine: str
    ranks_per_node: int
    victim_nodes: int
    congestor_nodes: int
    congestors: tuple[str, ...]
    rows: tuple[Row, ...]
    path: Path | None
    ending: str = COMPLETE
    """How the last run ended, as in `summary.json`."""
    partial: str | None = None
    """What is missing, if a run did not complete."""

    def as_data(self) -> dict[str, Any]:
        """The results as plain data."""
        data = asdict(self)
        return data | {"path": None if self.path is None else str(self.path)}


def experiment(
    origin: str | Path | Mapping[str, Any] | Experiment,
    *,
    congestors: Sequence[str] = CONGESTORS,
    ranks_per_node: int = 1,
    rings: int = RINGS,
    set: Mapping[str, Any] | Sequence[str] | None = None,  # noqa: A002 - as on the command line
) -> Experiment:
    """The experiment with victims and congestors.

    Args:
        origin: A preset, a topology, a file of cables, or an experiment, whose jobs are replaced.
        congestors: The congestors that share the other nodes.
        ranks_per_node: Ranks on each node. All ranks of a node do the same, each in a slice of its own.
        rings: Number of random rings, and a tenth of the all-reduces.
        set: Keys to change.

    Raises:
        OdonataError: Too few nodes, or an unknown congestor.
    """
    for name in congestors:
        if name not in CONGESTORS:
            raise OdonataError(f"unknown congestor {name}", hint=f"Congestors: {', '.join(CONGESTORS)}.")
    if not congestors:
        raise OdonataError("no congestor is given", hint=f"Congestors: {', '.join(CONGESTORS)}.")
    given = origin if isinstance(origin, Experiment) else origin_of(origin, (), {})
    content = toml.parse(given.text)
    for section in ("job", "sweep", "interference", "optimize", "cluster"):
        content.pop(section, None)
    changes = list(given.overrides) + _changes(set)
    # The jobs, which changes may name, follow from the number of nodes.
    of_machine = [change for change in changes if change.startswith("machine")]
    metrics = build(_experiment({"machine": content.get("machine", {})}, given.path, of_machine)).metrics
    nodes, cores = int(metrics["nodes_up"]), int(metrics["cores_per_node"])
    if nodes < NODES_MIN:
        raise OdonataError(f"GPCNeT needs at least {NODES_MIN} nodes, and this machine has {nodes}")
    if ranks_per_node > cores:
        raise OdonataError(
            f"{ranks_per_node} ranks per node, and a node of this machine has {cores} cores",
            hint="Set machine.cores_per_node.",
        )
    content["engine"] = {"kind": "packet"} | content.get("engine", {}) | {"record_calls": True}
    content["job"] = _jobs(nodes, tuple(congestors), ranks_per_node, rings)
    return _experiment(content, given.path, changes)


def _changes(set: Mapping[str, Any] | Sequence[str] | None) -> list[str]:  # noqa: A002
    from odonata.api import overrides

    return overrides(set) if set is None or isinstance(set, Mapping) else list(set)


def _experiment(content: Mapping[str, Any], path: str, changes: Sequence[str]) -> Experiment:
    # The path stays, because names of files in the text are relative to it.
    return Experiment(toml.document(content), path, list(changes))


def _jobs(nodes: int, congestors: Sequence[str], per_node: int, rings: int) -> list[dict[str, Any]]:
    """The jobs: victims and congestors share one random order of the nodes."""
    congested = 8 * nodes // 10
    victims = nodes - congested
    programs = [
        dict(test.program)
        | ({"rings": rings} if test.phase == "exchange" else {"iterations": test.per_ring * rings + 1})
        | {"slices": per_node}
        for test in TESTS
    ]
    jobs: list[dict[str, Any]] = [
        {"name": VICTIMS, "program": programs, "start": "20 us"} | _placed(victims, 0, per_node)
    ]
    first = victims
    for number, name in enumerate(congestors):
        # Position modulo the number of congestors: the first ones have one node more.
        own = (congested - number + len(congestors) - 1) // len(congestors)
        program = {"name": "congestor", "kind": name, "slices": per_node, "final_barrier": False}
        jobs.append({"name": name, "program": program, "background": True} | _placed(own, first, per_node))
        first += own
    return jobs


def _placed(nodes: int, skip: int, per_node: int) -> dict[str, Any]:
    placement = {"name": "random-order", "order": 1, "skip": skip}
    return {"ranks": nodes * per_node, "ranks_per_node": per_node, "placement": placement}


def gpcnet(
    origin: str | Path | Mapping[str, Any] | Experiment,
    *,
    congestors: Sequence[str] = CONGESTORS,
    ranks_per_node: int = 1,
    rings: int = RINGS,
    set: Mapping[str, Any] | Sequence[str] | None = None,  # noqa: A002 - as on the command line
    out: str | Path | None = None,
    threads: int | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> Result:
    """Runs the tests alone and with the congestors.

    If a run does not complete, for example at `engine.time_limit`, the results are partial.

    Args:
        origin: A preset, a topology, a file of cables, or an experiment, whose jobs are replaced.
        congestors: The congestors that share the other nodes.
        ranks_per_node: Ranks on each node.
        rings: Number of random rings, and a tenth of the all-reduces.
        set: Keys to change.
        out: Directory to write: the run directories `isolated` and `congested`, and `gpcnet.json`.
        threads: Number of threads; all processors by default. Results do not depend on it.
        force: Whether to replace results at `out`.
        progress: Called during the runs, with the name of the run before the phase. Without it, a
            notebook shows a bar.

    Raises:
        OdonataError: Too few nodes, or an unknown congestor.
        ExperimentError: The experiment cannot run.
        KeyboardInterrupt: Ctrl-C. The partial results are in `out`.
    """
    both = experiment(origin, congestors=congestors, ranks_per_node=ranks_per_node, rings=rings, set=set)
    with shown_progress(progress) as report:
        result, interrupt = run_both(
            both,
            Settings(tuple(congestors), ranks_per_node, rings),
            out=out,
            threads=threads,
            force=force,
            progress=report,
        )
    if interrupt is not None:
        raise interrupt
    return result


@dataclass(frozen=True)
class Settings:
    """Settings of the benchmark, with which an `experiment` was made."""

    congestors: tuple[str, ...] = CONGESTORS
    ranks_per_node: int = 1
    rings: int = RINGS


def run_both(
    both: Experiment,
    settings: Settings,
    *,
    out: str | Path | None = None,
    threads: int | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> tuple[Result, BaseException | None]:
    """`gpcnet` of an `experiment`. Returns an interrupt together with the partial results."""
    directory = None if out is None else Path(out)
    runs: dict[str, Run] = {}
    interrupt: BaseException | None = None
    for name in ("isolated", "congested"):
        absent = [] if name == "congested" else [f"job.{job}.absent=true" for job in settings.congestors]
        try:
            runs[name], interrupt = run_until_interrupted(
                both.with_overrides(absent),
                out=None if directory is None else directory / name,
                threads=threads,
                force=force,
                progress=None if progress is None else _progress(progress, name),
            )
        except (KeyboardInterrupt, SystemExit) as early:
            # A run that does not simulate yet has no results. The isolated run keeps its own.
            if not runs:
                raise
            interrupt = early
        if interrupt is not None or not runs[name].is_complete:
            break
    result = _result(both, settings, runs, directory)
    if directory is not None:
        (directory / "gpcnet.json").write_text(json.dumps(result.as_data(), indent=2) + "\n")
    return result, interrupt


def _result(both: Experiment, settings: Settings, runs: Mapping[str, Run], directory: Path | None) -> Result:
    isolated, congested = runs["isolated"], runs.get("congested")
    # The isolated run has no congestors, so their nodes are counted without a run.
    jobs = both.check()["summary"]["jobs"] if congested is None else congested.jobs.to_pylist()
    nodes = [job["nodes"] for job in jobs]
    last = congested or isolated
    ending, partial = last.ending, None
    if not last.is_complete:
        at_us = last.summary["packet"]["end_ps"] / 1e6
        partial = f"the {list(runs)[-1]} run ended at {at_us:,.1f} us of simulated time ({ending})"
    elif congested is None:
        ending, partial = INTERRUPTED, "the congested run was interrupted before it simulated"
    return Result(
        isolated.summary["machine"]["name"],
        settings.ranks_per_node,
        nodes[0],
        sum(nodes[1:]),
        settings.congestors,
        tuple(_row(test, isolated, congested, settings.rings) for test in TESTS),
        directory,
        ending,
        partial,
    )


def _progress(progress: Progress, run: str) -> Progress:
    return lambda phase, share: progress(f"{run} {phase}", share)


def _row(test: NetworkTest, isolated: RunData, congested: RunData | None, rings: int) -> Row:
    before = measure_ended(isolated, test, rings)
    after = None if congested is None else measure_ended(congested, test, rings)
    samples = rings * test.per_ring * int(isolated.jobs["ranks"][0].as_py())
    row = Row(test.title, test.unit, samples, before, after, None, None)
    if before is None or after is None or not (row.is_whole(before) and row.is_whole(after)):
        return row
    return replace(
        row,
        factor_average=_factor(before.average, after.average, test.is_bandwidth),
        factor_99=_factor(before.percentile_99, after.percentile_99, test.is_bandwidth),
    )


def _factor(isolated: float, congested: float, is_bandwidth: bool) -> float:
    over, under = (isolated, congested) if is_bandwidth else (congested, isolated)
    return over / under if under > 0 else math.nan


def measure(run: RunData, test: NetworkTest, rings: int, job: str = VICTIMS) -> Value:
    """Results of one test in a run.

    Raises:
        OdonataError: The tests did not end.
    """
    samples = durations(run, test, job)
    values = test.values(samples)
    if test.is_bandwidth:
        # A ring is one measurement, and its value the mean over ranks.
        batches = samples.reshape(len(samples), rings, -1).mean(axis=2)
        average = float(test.values(batches).mean())
    else:
        average = float(values.mean())
    return Value(average, percentile_99(values.ravel(), test.is_bandwidth), values.size)


def measure_ended(run: RunData, test: NetworkTest, rings: int, job: str = VICTIMS) -> Value | None:
    """Results of one test in a run that may not be complete: of the samples that ended. None without any."""
    if run.is_complete:
        return measure(run, test, rings, job)
    took, _ = _ended(run, test, job)
    if took.size == 0:
        return None
    values = test.values(took)
    return Value(float(values.mean()), percentile_99(values, test.is_bandwidth), values.size)


def durations(run: RunData, test: NetworkTest, job: str = VICTIMS) -> Samples:
    """Durations of the samples of a test in s, by rank and sample.

    Raises:
        OdonataError: The tests did not end.
    """
    took, ranks = _ended(run, test, job)
    if took.size == 0 or took.size % ranks != 0:
        raise OdonataError(f"the tests of job {job} did not end", hint="Increase engine.time_limit.")
    found: Samples = took.reshape(ranks, -1)
    return found


def _ended(run: RunData, test: NetworkTest, job: str) -> tuple[Samples, int]:
    """Durations in s of the samples of a test that ended, by rank, and the number of ranks."""
    (of_job,) = [one for one in run.jobs.to_pylist() if one["name"] == job]
    table = run.table("phase_times")
    own = table.filter((pc.field("job") == of_job["job"]) & (pc.field("phase") == test.phase)).to_pandas()
    # The tests run in one order, so their phases have ascending numbers.
    place = [other for other in TESTS if other.phase == test.phase].index(test)
    numbers = sorted(own["phase_number"].unique())
    of_test = own[own["phase_number"] == (numbers[place] if place < len(numbers) else -1)]
    of_test = of_test.sort_values(["rank", "number"])
    counted = of_test[of_test.groupby("rank").cumcount() >= test.skipped]
    took: Samples = (counted["end_ps"] - counted["start_ps"]).to_numpy(dtype=np.float64) * 1e-12
    return took, int(of_job["ranks"])


def percentile_99(values: Samples, is_bandwidth: bool) -> float:
    """The benchmark's 99th percentile, of a histogram of 100,000 equal bins.

    The bins lie between the least and the greatest value. It is the edge of the bin at which 99 % of the
    values are counted: from below, the upper edge; of bandwidths from above, the lower edge.
    """
    least, most = float(values.min()), float(values.max())
    if least == most:
        return least
    counts, edges = np.histogram(values, bins=BINS, range=(least, most))
    wanted = math.floor(0.99 * values.size)
    if is_bandwidth:
        place = int(np.searchsorted(np.cumsum(counts[::-1]), max(wanted, 1)))
        return float(edges[BINS - 1 - place])
    place = int(np.searchsorted(np.cumsum(counts), max(wanted, 1)))
    return float(edges[place + 1])
