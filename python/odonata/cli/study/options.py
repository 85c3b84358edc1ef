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


only = click.option(
    "--only",
    "chosen",
    multiple=True,
    metavar="KEY=VALUES",
    help="Only points with one of these values on an axis, or of these experiments, as in "
    "engine.routing=par,q-adaptive or experiment=pairs. May be repeated.",
)


def read_only(chosen: tuple[str, ...]) -> dict[str, list[str]]:
    """What `--only` says, by key.

    Raises:
        OdonataError: A key has no values.
    """
    from odonata.errors import OdonataError

    found: dict[str, list[str]] = {}
    for given in chosen:
        key, _, values = given.partition("=")
        if not key or not values:
            raise OdonataError(
                f"--only {given}: expected KEY=VALUES", hint="As in: --only engine.routing=par,q-adaptive"
            )
        found.setdefault(key, []).extend(value.strip() for value in values.split(","))
    return found


def directory(output: Path, name: str, *, quick: bool) -> Path:
    """Where the results of a study lie; those of the quick form beside it."""
    return output / (f"{name}-quick" if quick else name)
