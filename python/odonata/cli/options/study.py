"""Options of the commands of `odonata study`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from odonata.cli import options as common
from odonata.errors import OdonataError

if TYPE_CHECKING:
    from odonata.studies import Study

STUDIES = Path("studies")
RESULTS = Path("runs") / "studies"

names = click.argument("names", metavar="STUDY...", nargs=-1, required=True)

studies = common.path("--studies", default=STUDIES, metavar="DIR", help="Directory of studies (studies).")

output = common.output("DIR", "Directory of the results of all studies (runs/studies).", default=RESULTS)

quick = click.option("--quick", is_flag=True, help="Use the quick form, with fewer points.")


only = click.option(
    "--only",
    "chosen",
    multiple=True,
    metavar="KEY=VALUES",
    help="Points to run: values on an axis, or experiments, such as engine.routing=par,q-adaptive or "
    "experiment=pairs. May be repeated.",
)


def read_only(chosen: tuple[str, ...]) -> dict[str, list[str]]:
    """The values of `--only` by key.

    Raises:
        OdonataError: A key has no values.
    """
    found: dict[str, list[str]] = {}
    for given in chosen:
        key, _, values = given.partition("=")
        if not key or not values:
            raise OdonataError(
                f"--only {given}: expected KEY=VALUES", hint="Example: --only engine.routing=par,q-adaptive"
            )
        found.setdefault(key, []).extend(value.strip() for value in values.split(","))
    return found


def directory(output: Path, study: Study) -> Path:
    """The directory of a study's results; the quick form has its own."""
    return output / (f"{study.name}-quick" if study.quick else study.name)
