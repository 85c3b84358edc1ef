"""`odonata amg report`: the paper's figures and tables beside the model's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from odonata.cli.amg import options


@click.command()
@options.machine
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default=Path("amg-report.html"),
    metavar="FILE",
    help="The page.",
)
@click.option(
    "--recorded",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="A hierarchy made with --record, for the communication matrices.",
)
@click.option(
    "--executed",
    type=click.Path(path_type=Path),
    multiple=True,
    metavar="FILE",
    help="Output of `redistribute --execute --json`. May be repeated.",
)
def command(machine_name: str, output: Path, recorded: Path | None, executed: tuple[Path, ...]) -> None:
    """Writes one HTML page, with its tables as CSV beside it."""
    from odonata.amg import report
    from odonata.amg.machines import load
    from odonata.cli import terminal

    results = {}
    for path in executed:
        done = _read(path)
        results[(done["cores"], done["threads"])] = done["executed"]
    machine = load(machine_name)
    for path in report.write(output, machine, recorded=recorded, executed=results):
        terminal.console().print(f"written: {path}")


def _read(path: Path) -> dict[str, Any]:
    from odonata.errors import OdonataError

    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise OdonataError(f"{path} cannot be read: {error}") from None
    if not isinstance(content, dict) or not content.get("executed"):
        raise OdonataError(f"{path} holds no executed redistribution", hint="Write it with --execute --json.")
    return content
