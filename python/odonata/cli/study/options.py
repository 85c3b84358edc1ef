"""What the commands of `odonata study` have in common."""

from __future__ import annotations

from pathlib import Path

import click

STUDIES = Path("studies")
RESULTS = Path("runs") / "studies"

names = click.argument("names", metavar="STUDY...", nargs=-1, required=True)

studies = click.option(
    "--studies",
    type=click.Path(path_type=Path),
    default=STUDIES,
    metavar="DIR",
    help="Where studies are looked for (studies).",
)

output = click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default=RESULTS,
    metavar="DIR",
    help="Where each study has a directory for its results (runs/studies).",
)

quick = click.option("--quick", is_flag=True, help="The short form, with fewer points.")


def directory(output: Path, name: str, *, quick: bool) -> Path:
    """Where the results of a study lie; those of the quick form beside it."""
    return output / (f"{name}-quick" if quick else name)
