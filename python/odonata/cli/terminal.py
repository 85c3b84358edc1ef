"""What the terminal shows: tables and progress, and errors.

Results go to the standard output; progress, warnings and errors to the standard error.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from odonata.errors import ExperimentError, OdonataError

SMALLEST_CHANGE = 0.0005
"""Relative changes below are shown as equal."""
WIDTH_OF_FILES = 160
"""Columns when the output is no terminal, so that tables in files and pipes are not cut."""


def console() -> Console:
    """The standard output."""
    return _console(sys.stdout)


def error_console() -> Console:
    """The standard error."""
    return _console(sys.stderr)


class _Console(Console):
    """Leaves a closed pipe to the group of commands, which knows the exit code."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def _console(file: Any) -> Console:
    width = None if file.isatty() else WIDTH_OF_FILES
    return _Console(file=file, width=width, highlight=False, emoji=False, markup=False)


def print_json(value: Any) -> None:
    """Prints one JSON document."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


def print_error_as_json(error: OdonataError) -> None:
    """Prints a user's mistake as JSON: `error` with `message` and `hint`, and the `problems` of a file."""
    problems = [asdict(problem) for problem in error.problems] if isinstance(error, ExperimentError) else []
    print_json({"error": {"message": error.message, "hint": error.hint}, "problems": problems})


def print_error(error: OdonataError) -> None:
    """Prints a user's mistake."""
    if isinstance(error, ExperimentError):
        click.echo(str(error).rstrip("\n"), err=True)
        return
    click.echo(click.style("error: ", fg="red", bold=True) + error.message, err=True)
    if error.hint:
        click.echo(f"  {error.hint}", err=True)


def print_warnings(warnings: Sequence[str]) -> None:
    """Prints what nobody should miss."""
    for warning in warnings:
        click.echo(click.style("warning: ", fg="yellow", bold=True) + warning, err=True)


def table(columns: Sequence[str], *, left: Sequence[str] = (), wrap: Sequence[str] = ()) -> Table:
    """A table of numbers, aligned right, but for the texts in `left` and the long ones in `wrap`."""
    made = Table(box=SIMPLE_HEAD, header_style="dim", pad_edge=False, show_edge=False, collapse_padding=True)
    for name in columns:
        text = name in left or name in wrap
        made.add_column(name, justify="left" if text else "right", no_wrap=name not in wrap)
    return made


def print_table(screen: Console, title: str, shown: Table, *, keys: int | None = None) -> None:
    """Prints a table below its title and an empty line, in parts if it is wider than the screen.

    Each part then has the first `keys` columns, which say what a row is; as many as are texts by default.
    """
    from odonata.cli.fitting import fitted

    screen.print()
    screen.print(title, style="bold")
    for i, part in enumerate(fitted(shown, screen.width, keys)):
        if i:
            screen.print()
        screen.print(part)


def number(value: float | None) -> str:
    """Three significant digits, or all those before the point, thousands separated; `-` for no value."""
    if value is None or math.isnan(value):
        return "-"
    size = abs(value)
    if size == 0:
        return "0"
    if size >= 1e9 or size < 0.0005:
        return f"{value:.1e}"
    decimals = next((count for limit, count in ((99.95, 0), (9.995, 1), (0.9995, 2)) if size >= limit), 3)
    return f"{value:,.{decimals}f}"


def change(value: float | None) -> Text:
    """A relative change with its sign; `-` where it has no meaning."""
    if value is None:
        return Text("-", style="dim")
    if abs(value) < SMALLEST_CHANGE:
        return Text("=", style="dim")
    return Text(f"{100 * value:+.1f} %", style="red" if value > 0 else "green")


def seconds(value: float) -> str:
    """A duration."""
    if value < 60:
        return f"{value:.2g} s" if value < 10 else f"{value:.0f} s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes} min {rest} s"


@contextmanager
def progress(
    *, quiet: bool
) -> Iterator[tuple[Callable[[str, float], None] | None, Callable[[int, int], None] | None]]:
    """A bar for an engine's phases; beside it what a simulation has reached, its pace, and the time left.

    Gives a function for the phase and its share and one for the simulated time in ps and the events; both
    None, and nothing shown, when quiet or not on a terminal.
    """
    screen = error_console()
    if quiet or not screen.is_terminal:
        yield None, None
        return
    with Progress(
        TextColumn("{task.description:<12}"),
        BarColumn(bar_width=24),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[pace]}"),
        console=screen,
        transient=True,
    ) as bars:
        tasks: dict[str, TaskID] = {}
        meter = Pace()

        def report(phase: str, share: float) -> None:
            if phase not in tasks:
                for earlier in tasks.values():
                    bars.update(earlier, completed=1.0)
                tasks[phase] = bars.add_task(phase, total=1.0, pace="")
            bars.update(tasks[phase], completed=share)
            meter.share = share

        def report_pace(now_ps: int, events: int) -> None:
            if tasks:
                bars.update(list(tasks.values())[-1], pace=meter.text(now_ps, events, time.monotonic()))

        yield report, report_pace
        # A solver counts its steps against a limit that it hardly ever needs.
        for task in tasks.values():
            bars.update(task, completed=1.0)


class Pace:
    """How fast a simulation goes, over about the last ten seconds, and how long it may still take."""

    SPAN_S = 10.0

    def __init__(self) -> None:
        self.share = 0.0
        self._past: deque[tuple[float, int, float]] = deque()

    def text(self, now_ps: int, events: int, clock_s: float) -> str:
        """What has been reached, in words; `share` says how far that is."""
        past = self._past
        past.append((clock_s, events, self.share))
        while len(past) > 2 and clock_s - past[1][0] >= self.SPAN_S:
            past.popleft()
        then_s, then_events, then_share = past[0]
        shown = f"{now_ps / 1e6:,.1f} us simulated"
        passed = clock_s - then_s
        if passed < 0.5:
            return shown
        shown += f", {number((events - then_events) / passed / 1e6)} million events/s"
        if self.share > then_share:
            left = (1.0 - self.share) * passed / (self.share - then_share)
            shown += f", at most {seconds(left)} left"
        return shown
