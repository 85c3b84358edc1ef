"""Makes a hierarchy: runs the program, counts, and stores the tables."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from odonata.amg import program, record, store
from odonata.amg.hierarchy import (
    MESSAGE_COLUMNS,
    RANK_COLUMNS,
    Hierarchy,
    Table,
    add_node_split,
    level_statistics,
    read_table,
)
from odonata.amg.problems import SOLVERS, Problem
from odonata.errors import OdonataError


@dataclass(frozen=True)
class Solve:
    """Result of solving a system."""

    solver: str
    """Name of the last solver that was tried."""
    iterations: int
    relative_residual: float
    """Residual that the solver reports."""
    true_residual: float
    """|b - A x| / |b|."""
    hypre_error: int
    """hypre's error flag; 0 means no error."""
    solved: bool
    """Whether the true residual is near the tolerance."""

    @property
    def words(self) -> str:
        """The result as a sentence."""
        after = f"{self.solver}: {self.iterations} iterations, residual {self.true_residual:.1e}"
        if self.solved:
            return after
        says = "" if self.relative_residual > 1e-8 else f" (the solver reports {self.relative_residual:.1e})"
        flag = f", hypre error {self.hypre_error}" if self.hypre_error else ""
        return f"not solved: {after}{says}{flag}"


@dataclass(frozen=True)
class BuildResult:
    """A new hierarchy and its tables."""

    hierarchy: Hierarchy
    regrouped: Hierarchy | None
    """Hierarchy from the redistributed level on."""
    tables: dict[str, pa.Table]
    summary: dict[str, Any]

    @property
    def solve(self) -> Solve | None:
        """Result of the solve, if one was requested."""
        return Solve(**self.summary["solve"]) if "solve" in self.summary else None


def build(
    problem: Problem,
    *,
    matrix: Path | None = None,
    solve: bool = False,
    solver: str | None = None,
    redistribute: tuple[int, int] | None = None,
    recorded: bool = False,
    ranks_per_node: int | None = None,
    progress: program.Progress | None = None,
) -> BuildResult:
    """Runs BoomerAMG on virtual ranks and reads its tables.

    Args:
        problem: Problem, number of ranks and options of BoomerAMG.
        matrix: Matrix file, for problems that are not generated.
        solve: Also solve to 1e-8 and count the iterations.
        solver: One of `problems.SOLVERS`; by default the one that fits the matrix.
        redistribute: (level, groups): gather that level on this many ranks and continue coarsening there.
        recorded: Also record every message of the set-up and of one cycle.
        ranks_per_node: Split the messages into those within and between nodes; ranks fill nodes in order.
        progress: Called with each finished level and its number of unknowns.
    """
    if redistribute is not None and redistribute[1] > problem.ranks:
        raise OdonataError(
            f"a level cannot be gathered on {redistribute[1]} ranks: the problem has {problem.ranks}"
        )
    with tempfile.TemporaryDirectory(prefix="odonata-amg-") as folder:
        out = Path(folder)
        usage = program.run(
            problem,
            out,
            matrix=matrix,
            solve=solve,
            solver=solver,
            redistribute=redistribute,
            record=recorded,
            progress=progress,
        )
        return _collect(problem, out, usage, redistribute, recorded, ranks_per_node)


@dataclass(frozen=True)
class ExecutedRedistribution:
    """An executed redistribution, together with the original hierarchy."""

    plain: Hierarchy
    regrouped: Hierarchy
    switch: tuple[int, int]
    """(level, ranks)."""
    tables: dict[str, pa.Table]
    """`messages` and `setup` of the original hierarchy, `regrouped_messages` and `regrouped_setup`."""
    iterations: tuple[int, int]
    """Iterations to 1e-8, before and after."""
    solved: tuple[bool, bool] = (True, True)
    solver: str = "cg"


def execute(
    problem: Problem,
    switch: tuple[int, int],
    *,
    matrix: Path | None = None,
    ranks_per_node: int,
    solver: str | None = None,
    progress: program.Progress | None = None,
) -> ExecutedRedistribution:
    """Makes the hierarchy twice, without and with a redistribution (level, ranks), and solves with both.

    Other arguments as in `build`.

    Raises:
        OdonataError: The system is not solved without redistribution, so there is nothing to compare with.
    """
    once = partial(
        build,
        problem,
        matrix=matrix,
        solve=True,
        recorded=True,
        ranks_per_node=ranks_per_node,
        progress=progress,
    )
    plain = once(solver=solver)
    refuse_unsolved(plain)
    assert plain.solve is not None
    moved = once(solver=plain.solve.solver, redistribute=switch)
    assert moved.regrouped is not None
    assert moved.solve is not None
    tables = {"messages": plain.tables["messages"], "regrouped_messages": moved.tables["regrouped_messages"]}
    for prefix, built in (("", plain), ("regrouped_", moved)):
        tables[f"{prefix}setup"] = record.per_rank(
            built.tables["recorded_messages"], built.tables["recorded_collectives"]
        )
    return ExecutedRedistribution(
        plain.hierarchy,
        moved.regrouped,
        switch,
        tables,
        (plain.solve.iterations, moved.solve.iterations),
        (plain.solve.solved, moved.solve.solved),
        plain.solve.solver,
    )


def refuse_unsolved(built: BuildResult) -> None:
    """Raises an OdonataError if the system was not solved: the cost of a useless cycle is no advice."""
    if built.solve is not None and not built.solve.solved:
        others = ", ".join(f"--solver {name}" for name in SOLVERS if name != built.solve.solver)
        raise OdonataError(
            built.solve.words,
            hint="The matrix is indefinite or singular, or the hierarchy does not fit it. "
            f"Try {others}, --strength or --interpolation.",
        )


def save_executed(executed: ExecutedRedistribution, target: Path, *, force: bool = False) -> Path:
    """Writes a hierarchy directory that also holds the executed redistribution."""
    level, groups = executed.switch
    summary = {
        "redistributed": {"level": level, "groups": groups},
        "iterations": list(executed.iterations),
        "solved": list(executed.solved),
        "solver": executed.solver,
    }
    tables = {"regrouped_levels": pa.Table.from_pylist(executed.regrouped.levels), **executed.tables}
    return store.write(target, executed.plain, tables, summary, force=force)


def load_executed(directory: Path) -> ExecutedRedistribution:
    """Reads a directory of `save_executed`.

    Raises:
        OdonataError: The directory holds no executed redistribution.
    """
    summary = store.read_summary(directory)
    if "iterations" not in summary:
        raise OdonataError(
            f"{directory} holds no executed redistribution",
            hint="Write one with `odonata amg redistribute --execute -o DIR`.",
        )
    moved = summary["redistributed"]
    before, after = summary["iterations"]
    names = ("messages", "setup", "regrouped_messages", "regrouped_setup")
    return ExecutedRedistribution(
        store.read(directory),
        store.read(directory, "regrouped_"),
        (moved["level"], moved["groups"]),
        {name: store.read_table(directory, name) for name in names},
        (before, after),
        tuple(summary.get("solved", (True, True))),
        summary.get("solver", "cg"),
    )


def _collect(
    problem: Problem,
    out: Path,
    usage: program.Usage,
    redistribute: tuple[int, int] | None,
    recorded: bool,
    ranks_per_node: int | None,
) -> BuildResult:
    facts = dict(line.split("=", 1) for line in (out / "summary.txt").read_text().splitlines())
    source = f"hypre {facts['hypre']} on virtual ranks"
    hierarchy, tables = _levels(problem, out, "", problem.ranks, source, ranks_per_node)
    # The system starts the child's peak memory at the size of this process.
    peak = int(facts["peak_bytes"]) or usage.peak_rss_bytes
    summary: dict[str, Any] = {"cpu_s": usage.cpu_s, "peak_rss_bytes": peak}
    if ranks_per_node is not None:
        summary["ranks_per_node"] = ranks_per_node
    if "solver" in facts:
        numbers = {"iterations": int(facts["iterations"]), "hypre_error": int(facts["hypre_error"])}
        residuals = {name: float(facts[name]) for name in ("relative_residual", "true_residual")}
        summary["solve"] = {
            "solver": facts["solver"],
            **numbers,
            **residuals,
            "solved": facts["solved"] == "1",
        }
    regrouped = None
    if redistribute is not None:
        level, groups = redistribute
        regrouped, more = _levels(problem, out, "regrouped-", groups, source, ranks_per_node, level)
        tables |= {f"regrouped_{name}": table for name, table in more.items()}
        tables["regrouped_levels"] = pa.Table.from_pylist(regrouped.levels)
        summary["redistributed"] = {"level": level, "groups": groups}
    if recorded:
        tables["recorded_messages"] = record.read(out / "record.bin")
        tables["recorded_collectives"] = record.read_collectives(out / "record.bin.collectives")
        tables["recorded_work"] = record.read_work(out / "record.bin.work")
    return BuildResult(hierarchy, regrouped, tables, summary)


def _levels(
    problem: Problem,
    out: Path,
    prefix: str,
    count: int,
    source: str,
    ranks_per_node: int | None,
    first_level: int = 0,
) -> tuple[Hierarchy, dict[str, pa.Table]]:
    ranks = read_table(out / f"{prefix}ranks.table", RANK_COLUMNS)
    messages = read_table(out / f"{prefix}messages.table", MESSAGE_COLUMNS)
    counted: Table = {**ranks, "level": ranks["level"] - first_level}
    levels = level_statistics(counted, count)
    for level in levels:
        level["level"] += first_level
    if ranks_per_node is not None:
        add_node_split(levels, messages, ranks_per_node)
    hierarchy = Hierarchy(count, levels, problem.as_dict(), source)
    return hierarchy, {"ranks": pa.table(ranks), "messages": pa.table(messages)}


def save(
    built: BuildResult, target: str | Path, *, extra: Mapping[str, Any] | None = None, force: bool = False
) -> Path:
    """Writes the hierarchy directory."""
    summary = {**built.summary, **(extra or {})}
    return store.write(Path(target), built.hierarchy, built.tables, summary, force=force)


def redistributed(directory: Path) -> tuple[int, int]:
    """(level, groups) of a directory with a redistributed hierarchy."""
    summary = store.read_summary(directory)
    if "redistributed" not in summary:
        raise OdonataError(
            f"{directory} was not redistributed",
            hint="Use `odonata amg hierarchy --redistribute LEVEL:RANKS`.",
        )
    return summary["redistributed"]["level"], summary["redistributed"]["groups"]
