"""Functions that run and load experiments; the command line uses them, too."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from odonata import _core, toml
from odonata._core import Experiment
from odonata.checkpointing import CheckpointControl, ignore_checkpoint_signal
from odonata.errors import MissingFileError, OdonataError, OtherProcessError, PartialRunWarning
from odonata.foreign_files import import_for
from odonata.lazy import LazyModule
from odonata.notebook import Progress, shown_progress
from odonata.records import CheckResult
from odonata.store.checkpoint import CheckpointDirectory

if TYPE_CHECKING:
    from odonata import runs
    from odonata.processes import Processes
else:
    runs = LazyModule("odonata.runs")

ExperimentInput: TypeAlias = str | Path | Mapping[str, Any] | Experiment
"""The path of an experiment file, its text (anything with a line break), or its content as a dict."""

Pace: TypeAlias = Callable[[int, int], None]
"""Takes the simulated time in ps and the number of events, from engines that simulate time."""


def read(experiment: ExperimentInput, set: Mapping[str, Any] | None = None) -> Experiment:  # noqa: A002
    """Reads an experiment from a file, text or dict; `set` are keys to change."""
    changes = overrides(set)
    if isinstance(experiment, Experiment):
        return experiment.with_overrides(changes)
    if isinstance(experiment, Mapping):
        return Experiment(toml.sections(experiment), "<dict>", changes)
    if isinstance(experiment, str) and "\n" in experiment:
        return Experiment(experiment, "<text>", changes)
    if not isinstance(experiment, str | os.PathLike):
        raise TypeError(
            f"an experiment is the path of a file, its text or a dict, not {type(experiment).__name__}"
        )
    try:
        text = _core.read_experiment(experiment)
    except OdonataError as error:
        if Path(experiment).exists():
            raise
        raise MissingFileError(error.message, hint=error.hint) from None
    _refuse_foreign(text, Path(experiment))
    return Experiment(text, str(experiment), changes)


def _refuse_foreign(text: str, path: Path) -> None:
    """Refuses a file of another simulator by one error, instead of one for each line."""
    found = import_for(text)
    if found is None:
        return
    try:
        toml.parse(text)
    except toml.DecodeError:
        name, command = found
        raise OdonataError(
            f"{path} is a file of {name}, not an experiment file",
            hint=f"Make one of it: odonata import {command} {path} -o {path.stem}.toml",
        ) from None


def overrides(set: Mapping[str, Any] | None) -> list[str]:  # noqa: A002 - the name that users write
    """Keys and Python values as overrides `KEY=VALUE`, as on the command line."""
    if set is None:
        return []
    if not isinstance(set, Mapping):
        raise TypeError(
            f"set must be a dict of keys and values, such as {{'engine.seed': 2}}, not {type(set).__name__}"
        )
    return [f"{key}={toml.value(value)}" for key, value in set.items()]


def run(
    experiment: ExperimentInput,
    *,
    set: Mapping[str, Any] | None = None,  # noqa: A002 - as on the command line
    out: str | Path | None = None,
    threads: int | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> runs.Run:
    """Runs one experiment.

    Args:
        experiment: A file, its text, or a dict.
        set: Keys to change, by their dotted path: `{"engine.seed": 2, "machine.edit": ["-K"]}`.
        out: Run directory to write; by default the run stays in memory.
        threads: Number of threads; all processors by default. Results do not depend on it.
        force: Whether to replace an existing run at `out`.
        progress: Called during the run. An exception that it raises ends the run. Without it, a run in a
            notebook that takes longer than a second shows a bar.

    Returns:
        The run: its tables, one row per link, node, job and so on, and its summary. Column names end in their
        units, such as `_ps` and `_bytes_per_s`; `bytes` are bytes.

    Raises:
        ExperimentError: The experiment cannot run; the error lists every mistake and its place.
        StoreError: `out` exists or cannot be written.
        KeyboardInterrupt: Ctrl-C. The packet engine writes its partial results to `out` and marks them as
            `partial`. The flow engine writes nothing.

    Examples:
        >>> run = odonata.run("both.toml", set={"engine.seed": 2})
        >>> run
        <odonata.Run of cfd, fft on dragonfly-p2-a4-h2-g9, flow engine, in memory>
        >>> run.links.num_rows, run.links["bytes"].type
        (180, DataType(double))
        >>> odonata.run("both.toml", out="runs/again").path.name
        'again'
    """
    with shown_progress(progress) as report:
        finished, interrupt = run_until_interrupted(
            read(experiment, set), out=out, threads=threads, force=force, progress=report
        )
    if interrupt is not None:
        raise interrupt
    return finished


def run_until_interrupted(
    experiment: Experiment,
    *,
    out: str | Path | None = None,
    threads: int | None = None,
    force: bool = False,
    progress: Progress | None = None,
    pace: Pace | None = None,
    checkpoints: CheckpointControl | None = None,
    processes: Processes | None = None,
) -> tuple[runs.Run, BaseException | None]:
    """`run`, but returns the interrupt that stopped a run together with its partial results.

    With `processes`, this is the first process of the run; the others call `assist`.

    Raises:
        CheckpointStop: The run ended with a checkpoint that `checkpoints` requested.
    """
    from odonata.store import columns
    from odonata.store.writer import GrowingTables

    if threads is not None and threads < 1:
        raise OdonataError(f"threads is {threads}; expected at least 1, or None for all processors")

    target = None if out is None else Path(out)
    checkpoints = checkpoints or CheckpointControl()
    with GrowingTables(target, force=force, parts=checkpoints.parts) as growing:
        requests = None if target is None else checkpoints.start(growing)
        result = experiment.run(
            threads or 0,
            progress,
            pace,
            growing.rows,
            checkpoints=requests,
            resume=checkpoints.state,
            processes=processes,
        )
        if processes is not None:
            processes.end()
        if checkpoints.stopped is not None:
            raise checkpoints.stopped
        if result is None:
            assert processes is not None, "a run of one process returns a result"
            raise OtherProcessError(processes)
        summary, resolved, interrupt = result["summary"], result["resolved"], result["interrupt"]
        axes, engine = summary["machine"]["axes"], summary["engine"]
        tables = {
            name: columns.table(name, given, axes, engine=engine) for name, given in result["tables"].items()
        }
        if target is not None:
            path = growing.commit(
                summary=summary, tables=tables, experiment=experiment.text, resolved=resolved
            )
            made = runs.Run.from_directory(path)
            if made.partial is None:
                CheckpointDirectory(target).remove()
            return made, interrupt
        tables |= growing.tables()
        return runs.Run.from_tables(summary, tables, experiment=experiment.text, resolved=resolved), interrupt


def assist(
    experiment: Experiment, processes: Processes, *, threads: int | None = None, resumed: Path | None = None
) -> None:
    """Does the share of every process but the first in a run of several processes."""
    with ignore_checkpoint_signal():
        result = experiment.run(
            threads or 0,
            rows=lambda _name, _rows: None,
            processes=processes,
            resume=None if resumed is None else CheckpointDirectory(resumed).state,
        )
    processes.end()
    assert result is None, "only the first process has the result"
    if processes.failed or processes.disagreement:
        raise OtherProcessError(processes)


def check(
    experiment: ExperimentInput,
    *,
    set: Mapping[str, Any] | None = None,  # noqa: A002 - as on the command line
) -> CheckResult:
    """Checks an experiment without running it.

    Returns:
        A dict:

        - `resolved`: TOML with every key and the value in use.
        - `summary`: Engine, counts of the machine, and a dict per job (`ranks`, `nodes`, `messages`, ...).
        - `warnings`: Texts.
        - `memory_estimate_bytes`: Estimated memory of a process that runs it.

    Raises:
        ExperimentError: It cannot run; the error lists every mistake and its place.

    Examples:
        >>> checked = odonata.check("both.toml", set={"engine.routing": "static-direct"})
        >>> checked["summary"]["routing"], checked["summary"]["machine"]["nodes"], checked["warnings"]
        ('static-direct', 72, [])
        >>> [(job["name"], job["messages"], job["bytes"]) for job in checked["summary"]["jobs"]]
        [('cfd', 128, 73728000.0), ('fft', 992, 32505856.0)]
    """
    return read(experiment, set).check()


def load_run(directory: str | Path) -> runs.Run:
    """Opens a run directory. A partial run causes a `PartialRunWarning`."""
    run = runs.Run.from_directory(directory)
    if run.partial is not None:
        warnings.warn(PartialRunWarning(f"{directory} holds a partial run: {run.partial}"), stacklevel=2)
    return run
