"""Messages, bytes and injection rate of jobs, as in Table I of Kang et al. 2022."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from odonata._core import Experiment
from odonata.api import ExperimentInput, read
from odonata.errors import OdonataError
from odonata.notebook import Count, shown_count
from odonata.store.schema import TYPES, Column, declared, job_seconds
from odonata.store.sweep import Axis
from odonata.sweeps.execute import processors, run_tasks
from odonata.sweeps.point import Task
from odonata.sweeps.result import make

COLUMNS = (
    Column("job", "str", merge="key", label="Job", meaning="Name of the job."),
    Column("pattern", "str", label="Sends", meaning="Name of its program or pattern."),
    Column("ranks", "u32", "count", "sum", label="Ranks", meaning="Number of ranks."),
    Column("messages", "u64", "count", "sum", label="Messages", meaning="Number of messages with content."),
    Column(
        "zero_byte_messages",
        "u64",
        "count",
        "sum",
        label="Empty messages",
        meaning="Number of messages without content, such as in barriers.",
    ),
    Column(
        "packets",
        "u64",
        "count",
        "sum",
        label="Packets",
        meaning="Number of packets, including packets of the message protocol.",
        missing="the engine has no packets",
    ),
    Column("payload_bytes", "u64", "bytes", "sum", label="Payload", meaning="Content of all messages."),
    Column(
        "wire_bytes",
        "u64",
        "bytes",
        "sum",
        label="Volume",
        meaning="Bytes over the network, including bytes of the message protocol.",
    ),
    Column(
        "peak_ingress_bytes",
        "u64",
        "bytes",
        "max",
        label="Peak ingress",
        meaning="Maximum bytes that a rank sends in a row to different partners before it receives or waits.",
    ),
    Column(
        "compute_s", "f64", "s", "max", label="Computation", meaning="Maximum computation time of a rank."
    ),
)
MEASURED = (
    Column(
        "execution_s",
        "f64",
        "s",
        "max",
        label="Execution",
        meaning="Time from 0 to the end of its last rank, or its last packet, alone on its nodes.",
        missing="the job has no end",
    ),
    Column(
        "injection_bytes_per_s",
        "f64",
        "bytes-per-s",
        "sum",
        label="Injection rate",
        meaning="Volume divided by execution time.",
        missing="the job has no end",
    ),
)


def characterize(
    experiment: ExperimentInput,
    *,
    set: Mapping[str, Any] | None = None,  # noqa: A002 - as on the command line
    measure: str | Path | None = None,
    processes: int | None = None,
    progress: Count | None = None,
) -> pa.Table:
    """Measures messages and bytes of each job of an experiment.

    Args:
        experiment: A file, its text, or a dict.
        set: Keys to change, by their dotted path.
        measure: Directory for runs of each job alone, with the others idle or absent as `[interference]`
            says. Finished runs there are not repeated. By default no job is run.
        processes: Number of concurrent runs; by default as many as the processors allow.
        progress: Called with `checking` or `running`, the number of finished runs, and of all. Without it,
            a notebook shows a bar.

    Returns:
        One row per job with the columns `COLUMNS`, and with `measure` also `MEASURED`.

    Raises:
        ExperimentError: The experiment cannot run.
        OdonataError: A run failed.

    Examples:
        >>> table = odonata.characterize("programs.toml")
        >>> table.select(["job", "pattern", "ranks", "messages"]).to_pylist()
        [{'job': 'halo', 'pattern': 'halo-3d', 'ranks': 27, 'messages': 216}, {'job': 'sum', 'pattern':
        'allreduce', 'ranks': 32, 'messages': 640}]
        >>> alone = odonata.characterize("programs.toml", measure="runs/alone")
        >>> [f"{seconds:.2e} s" for seconds in alone["execution_s"].to_pylist()]
        ['6.12e-05 s', '1.29e-04 s']
    """
    experiment = read(experiment, set)
    rows: list[dict[str, Any]] = [dict(row) for row in experiment.characterize()]
    columns: tuple[Column, ...] = COLUMNS
    if measure is not None:
        columns = (*COLUMNS, *MEASURED)
        with shown_count(progress) as report:
            _measure(rows, experiment, Path(measure), processes, report)
    types = pa.schema([(column.name, TYPES[column.type]) for column in columns])
    return declared(columns, pa.Table.from_pylist(rows, types))


def _measure(
    rows: list[dict[str, Any]],
    experiment: Experiment,
    directory: Path,
    processes: int | None,
    progress: Count | None,
) -> None:
    sweep = make(directory, [Axis.of(experiment.alone())], experiment)
    _, failures = run_tasks(
        [Task(experiment, point, directory) for point in sweep.points],
        processes=processes or processors(),
        threads=1,
        progress=progress or (lambda *_: None),
    )
    if failures:
        raise OdonataError(f"run of {failures[0].point.name} alone failed: {failures[0].message}")
    for row, run in zip(rows, sweep.runs.values(), strict=True):
        job = next(job for job in run.jobs.to_pylist() if job["name"] == row["job"])
        seconds = job_seconds(job, run.jobs.schema)
        rate = row["wire_bytes"] / seconds if seconds and row["wire_bytes"] else None
        row |= {"execution_s": seconds, "injection_bytes_per_s": rate}
