"""Tables, progress and errors on the terminal.

Results go to standard output; progress, warnings and errors go to standard error.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import cache
from typing import TYPE_CHECKING, Any

import click

from odonata.errors import ExperimentError, OdonataError

# rich is imported where something is drawn: help and completion need none of it.
if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import TaskID
    from rich.table import Table
    from rich.text import Text

SMALLEST_CHANGE = 0.0005
"""Smaller relative changes are shown as "no change"; they would print as 0.0 %."""
WIDTH_OF_FILES = 160
"""Width if the output is no terminal; narrower widths would split tables in files and pipes."""


def console() -> Console:
    """The standard output."""
    return _console(sys.stdout)


def error_console() -> Console:
    """The standard error."""
    return _console(sys.stderr)


@cache
def _console_class() -> type[Console]:
    from rich.console import Console

    class PipedConsole(Console):
        """Passes a closed pipe on to the group of commands, which sets the exit code."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    return PipedConsole


def _console(file: Any) -> Console:
    width = None if file.isatty() else WIDTH_OF_FILES
    return _console_class()(file=file, width=width, highlight=False, emoji=False, markup=False)


def print_json(value: Any) -> None:
    """Prints one JSON document. It has no number for what is infinite or not defined: null."""
    try:
        text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(value), indent=2, ensure_ascii=False, allow_nan=False)
    click.echo(text)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def print_error_as_json(error: OdonataError) -> None:
    """Prints a user's mistake as JSON: `error` with `message` and `hint`, and the `problems` of a file."""
    problems = [asdict(problem) for problem in error.problems] if isinstance(error, ExperimentError) else []
    print_json({"error": {"message": error.message, "hint": error.hint}, "problems": problems})


_LABELS = {"error:": "red", "= help:": "cyan"}


def _colored(text: str) -> str:
    """Mistakes of a file with coloured labels and carets; click removes colours without a terminal."""
    lines = []
    for line in text.split("\n"):
        start = line.lstrip(" ")
        label = next((label for label in _LABELS if start.startswith(label)), None)
        if label is not None:
            head, _, rest = line.partition(label)
            line = head + click.style(label, fg=_LABELS[label], bold=True) + rest
        elif start.startswith("|") and not start.strip("|^ "):
            line = line.replace("^", click.style("^", fg="red", bold=True))
        lines.append(line)
    return "\n".join(lines)


def print_error(error: OdonataError) -> None:
    """Prints a user's mistake."""
    if isinstance(error, ExperimentError):
        click.echo(_colored(str(error).rstrip("\n")), err=True)
        return
    click.echo(click.style("error: ", fg="red", bold=True) + error.message, err=True)
    if error.hint:
        click.echo(f"  {error.hint}", err=True)


def print_warnings(warnings: Sequence[str]) -> None:
    """Prints warnings."""
    for warning in warnings:
        click.echo(click.style("warning: ", fg="yellow", bold=True) + warning, err=True)


def table(
    columns: Sequence[str], *, title: str = "", left: Sequence[str] = (), wrap: Sequence[str] = ()
) -> Table:
    """A table of right-aligned numbers; columns in `left` are texts, those in `wrap` long texts."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    made = Table(box=SIMPLE_HEAD, header_style="dim", pad_edge=False, show_edge=False, collapse_padding=True)
    made.title = title
    for name in columns:
        text = name in left or name in wrap
        made.add_column(name, justify="left" if text else "right", no_wrap=name not in wrap)
    return made


def pairs(rows: Sequence[tuple[str, str]]) -> Table:
    """Labels and texts in two columns; long texts are wrapped in their column."""
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for label, text in rows:
        grid.add_row(Text(f"  {label}"), Text(text))
    return grid


def listed(
    rows: Iterable[Any],
    columns: Mapping[str, str | Callable[[Any], str | Text]],
    *,
    title: str = "",
    left: Sequence[str] = (),
    wrap: Sequence[str] = (),
) -> Table:
    """A table with a row for each of `rows`: by heading a format of the row's values, or a function of it."""
    made = table(list(columns), title=title, left=left, wrap=wrap)
    for row in rows:
        values = row if isinstance(row, Mapping) else vars(row)
        made.add_row(*(c.format_map(values) if isinstance(c, str) else c(row) for c in columns.values()))
    return made


def print_table(
    screen: Console, shown: Table, title: str = "", *, keys: int | None = None, legend: str = ""
) -> None:
    """Prints an empty line, the title (by default the table's), the table and the legend of its headings.

    A table wider than the screen is split into parts. Each part repeats the first `keys` columns, which
    identify a row; by default the leading text columns.
    """
    from odonata.cli.output.fitting import fit_to_width

    title, shown.title = title or str(shown.title), None
    screen.print()
    screen.print(title, style="bold")
    for i, part in enumerate(fit_to_width(shown, screen.width, keys)):
        if i:
            screen.print()
        screen.print(part)
    if legend:
        screen.print(legend, style="dim")


def number(value: float | None) -> str:
    """At least three significant digits, with thousands separators; `-` for no value."""
    if value is None or math.isnan(value):
        return "-"
    size = abs(value)
    if size == 0:
        return "0"
    if size >= 1e9 or size < 0.0005:
        return f"{value:.1e}"
    decimals = next((count for limit, count in ((99.95, 0), (9.995, 1), (0.9995, 2)) if size >= limit), 3)
    return f"{value:,.{decimals}f}"


def difference(value: float | None, base: float | None, *, plus: bool = False) -> str:
    """A difference from the base; 0 if it is a rounding of the base, as -3.3e-07 of 1; `-` for no value.

    Args:
        value: The difference.
        base: What it is the difference from.
        plus: Whether a positive one has a sign.
    """
    if value is not None and base is not None and abs(value) < SMALLEST_CHANGE * abs(base):
        return "0"
    return f"{'+' if plus and value is not None and value > 0 else ''}{number(value)}"


def change(value: float | None) -> Text:
    """A relative change with its sign; `-` if it is undefined."""
    from rich.text import Text

    if value is None:
        return Text("-", style="dim")
    if abs(value) < SMALLEST_CHANGE:
        return Text("no change", style="dim")
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
    """A progress bar for an engine's phases, with the pace of a simulation and the time left.

    Yields two functions. The first takes a phase and its finished share, the second the simulated time in
    ps and the number of events. Both are None when quiet or not on a terminal.
    """
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

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
        # A solver reports its steps relative to a limit that it rarely reaches.
        for task in tasks.values():
            bars.update(task, completed=1.0)


class Pace:
    """The speed of a simulation over about the last ten seconds, and the time left."""

    SPAN_S = 10.0

    def __init__(self) -> None:
        self.share = 0.0
        self._past: deque[tuple[float, int, float]] = deque()

    def text(self, now_ps: int, events: int, clock_s: float) -> str:
        """The simulated time, the speed and an upper limit of the time left, which follows from `share`."""
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
