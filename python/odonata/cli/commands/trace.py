"""`odonata trace`: what a trace has, trace files, and tables of records."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from odonata import files
from odonata.cli import options
from odonata.cli.output import terminal
from odonata.errors import OdonataError
from odonata.quantity import counted, quantity

_FORMAT = click.option(
    "--format", "trace_format", metavar="NAME", help="Format, if the content does not show it."
)
_RANKS = click.option(
    "--ranks", type=click.IntRange(min=1), help="Number of ranks, for workloads of ASTRA-sim."
)
_GROUPS = click.option("--groups", metavar="FILE", help="File with the groups of Chakra's nodes.")


@click.group()
def command() -> None:
    """Show traces of real runs, convert and export them: DUMPI, OTF2, GOAL, Chakra, SimGrid, ASTRA-sim."""


@command.command()
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@_FORMAT
@click.option(
    "--strict",
    is_flag=True,
    help="Fail if a replay lacks something: ignored or missing records, assumptions.",
)
@options.as_json
def show(file: Path, trace_format: str | None, strict: bool, as_json: bool) -> None:
    """Show ranks, messages, collectives, computation, and every kind of record of a trace.

    \b
    odonata trace show traces/app.meta
    odonata trace show workload.0.et --strict

    FILE is a file of the trace, as in program = { name = "trace", path = "FILE" }.
    """  # noqa: D301 - \b keeps click from wrapping the next lines
    from odonata import _core

    with _no_experiment(file):
        found = _core.trace(file, trace_format)
    if strict and (lost := _lost(found)):
        raise OdonataError(
            f"{file}: a replay ignores {'; '.join(lost)}", hint="Leave out --strict to see the rest."
        )
    if as_json:
        terminal.print_json(found)
        return
    screen = terminal.console()
    screen.print(terminal.pairs(_summary(file, found)))
    if found["collectives"]:
        shown = terminal.table(["collective", "ranks", "calls", "bytes"], left=["collective"])
        for row in found["collectives"]:
            shown.add_row(row["name"], f"{row['ranks']:,}", f"{row['calls']:,}", f"{row['bytes']:,}")
        terminal.print_table(screen, shown, "Collectives")
    if found["messages_by_pair"]:
        terminal.print_table(screen, _largest_pairs(found), "Largest messages between two ranks")
    shown = terminal.table(
        ["record", "seen", "used", "ignored", "not recorded", "why"], left=["record"], wrap=["why"]
    )
    for row in found["kinds"]:
        numbers = (row["seen"], row["used"], row["ignored"], row["not_recorded"])
        shown.add_row(row["kind"], *(f"{number:,}" for number in numbers), row["why"])
    terminal.print_table(screen, shown, "Records")
    for oddity in found["oddities"]:
        screen.print(f"\n{oddity}")
    terminal.print_warnings([*_missing(found), *found["notes"]])


@command.command()
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option(
    "-o", "--out", metavar="OUT", type=click.Path(path_type=Path), required=True, help="Trace file to write."
)
@_FORMAT
@_RANKS
@_GROUPS
@options.as_json
def convert(
    file: Path,
    out: Path,
    trace_format: str | None,
    ranks: int | None,
    groups: str | None,
    as_json: bool,
) -> None:
    """Convert a trace to a trace file: checked, compressed, read in blocks by a run.

    \b
    odonata trace convert traces/app.meta -o app.odt

    Use it as the trace: program = { name = "trace", path = "app.odt" }.
    """  # noqa: D301 - \b keeps click from wrapping the next lines
    from odonata import _core

    with _no_experiment(file):
        written = _core.convert_trace(file, out, trace_format, ranks, groups)
    if as_json:
        terminal.print_json(written)
        return
    each = f", {written['bytes'] / written['records']:.1f} B per record" if written["records"] else ""
    rows = [
        ("trace", f"{file}, {written['format']}"),
        ("trace file", f"{out}, {written['bytes']:,} B{each}"),
        ("ranks", f"{written['ranks']:,}"),
        ("records", f"{written['records']:,}"),
        ("SHA-256", written["sha256"]),
    ]
    terminal.console().print(terminal.pairs(rows))
    terminal.print_warnings(written["warnings"])


@command.command()
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option(
    "--parquet",
    "directory",
    metavar="DIR",
    type=click.Path(path_type=Path),
    required=True,
    help="Directory for the table records.parquet.",
)
@_FORMAT
@_RANKS
@_GROUPS
def export(
    file: Path, directory: Path, trace_format: str | None, ranks: int | None, groups: str | None
) -> None:
    """Export the records of a trace as a Parquet table, one row for each.

    \b
    odonata trace export app.odt --parquet app-records
    """  # noqa: D301 - \b keeps click from wrapping the next lines
    from odonata.export.records import write_records

    with _no_experiment(file):
        rows = write_records(file, directory, trace_format=trace_format, ranks=ranks, groups=groups)
    terminal.console().print(f"{directory / 'records.parquet'}: {counted(rows, 'record')}")


@contextmanager
def _no_experiment(file: Path) -> Iterator[None]:
    """Reports an experiment file as one; a reader of traces would take its lines for names of files."""
    try:
        yield
    except OdonataError:
        traces = _traces_of(file)
        if traces is None:
            raise
        hint = f"Choose its trace: {', '.join(traces)}." if traces else "Its jobs have no trace."
        raise OdonataError(f"{file} is an experiment file, not a trace", hint=hint) from None


def _traces_of(file: Path) -> list[str] | None:
    """The traces of the jobs of an experiment file; None if the file is no experiment."""
    try:
        content = files.parse_toml(files.read_utf8(file))
    except (OSError, ValueError, files.UnreadableError):
        return None
    if not {"machine", "job", "engine"} & content.keys():
        return None
    jobs = content.get("job")
    traces = []
    for job in jobs if isinstance(jobs, list) else []:
        program = job.get("program") if isinstance(job, dict) else None
        for one in program if isinstance(program, list) else [program]:
            if isinstance(one, dict) and one.get("name") == "trace" and isinstance(one.get("path"), str):
                traces.append(str(file.parent / one["path"]))
    return list(dict.fromkeys(traces))


def _summary(file: Path, found: dict[str, Any]) -> list[tuple[str, str]]:
    compute = found["compute_s"]
    origin = found["format"]
    if found["source"] != origin:
        origin += f" (from {found['source']})"
    rows = [
        ("trace", f"{file}, {origin}"),
        ("ranks", f"{found['ranks']:,}"),
        ("calls", f"{found['calls']:,}"),
        ("messages", f"{found['messages']:,} of {found['bytes']:,} B, without messages of collectives"),
    ]
    if found["messages"]:
        most = f"at most {counted(found['targets_max'], 'target')} of a rank"
        rows.append(("pairs of ranks", f"{found['pairs']:,}, {most}"))
    if compute and max(compute) > 0:
        mean = sum(compute) / len(compute)
        least, most, middle = (quantity(value, "s") for value in (min(compute), max(compute), mean))
        rows.append(("computation", f"{least} to {most} per rank, mean {middle}"))
    else:
        rows.append(("computation", "none"))
    return rows


def _largest_pairs(found: dict[str, Any], most: int = 8) -> Any:
    pairs: dict[tuple[int, int], list[int]] = {}
    for source, target, _, messages, size in found["messages_by_pair"]:
        total = pairs.setdefault((source, target), [0, 0])
        total[0] += messages
        total[1] += size
    shown = terminal.table(["source", "target", "messages", "bytes"])
    for (source, target), (messages, size) in sorted(pairs.items(), key=lambda pair: (-pair[1][1], pair[0]))[
        :most
    ]:
        shown.add_row(f"{source}", f"{target}", f"{messages:,}", f"{size:,}")
    return shown


def _missing(found: dict[str, Any]) -> list[str]:
    """Kinds of which the trace has no record for some calls."""
    return [
        f"{row['kind']}: {row['seen']:,} recorded of {row['seen'] + row['not_recorded']:,} called"
        for row in found["kinds"]
        if row["not_recorded"]
    ]


def _lost(found: dict[str, Any]) -> list[str]:
    """What a replay does not have, one text for each kind."""
    ignored = [
        f"{row['lost']:,} of {row['seen']:,} {row['kind']} ({row['why']})"
        for row in found["kinds"]
        if row["lost"]
    ]
    return [*ignored, *_missing(found), *found["notes"]]
