"""Makes experiments from whole configurations of other simulators: machine, traffic, routing, buffers."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from odonata import _core, toml
from odonata._core import Experiment
from odonata.errors import OdonataError
from odonata.importers import booksim, caminos, merlin, simgrid
from odonata.importers.experiments import File, ImportResult


def from_booksim(
    table: File, *, flit_bytes: int = 16, cycle: str = "1 ns", directory: File = "."
) -> ImportResult:
    """The experiment of a BookSim configuration: machine, traffic, routing, buffers and periods.

    Args:
        table: The configuration.
        flit_bytes: Size of a flit.
        cycle: Length of a cycle.
        directory: As in `from_slurm`.

    Raises:
        OdonataError: The file is not in BookSim's format, or something in it has no counterpart here.

    Examples:
        >>> found = odonata.importers.from_booksim("torus44")
        >>> odonata.run(found.text)
        <odonata.Run of uniform on torus-4x4, packet engine, in memory>
    """
    cycle_ps = _cycle(cycle, flit_bytes, "flit")
    given = booksim.read(Path(table))
    content, notes = booksim.sections(given, flit_bytes, cycle_ps, Path(directory))
    first = f"BookSim: {given.text('topology')}, traffic {given.text('traffic')}"
    return _checked(content, Path(table), Path(directory), (first, *notes))


def from_caminos(
    table: File, *, phit_bytes: int = 16, cycle: str = "1 ns", directory: File = "."
) -> ImportResult:
    """The experiment of a CAMINOS configuration; its lists of runs become `[sweep]`.

    Args:
        table: The configuration, `main.cfg`.
        phit_bytes: Size of a phit.
        cycle: Length of a cycle.
        directory: As in `from_slurm`.

    Raises:
        OdonataError: The file is not in CAMINOS' language, or something in it has no counterpart here.

    Examples:
        >>> found = odonata.importers.from_caminos("main.cfg")
        >>> found.notes[0]
        'CAMINOS: Torus, traffic uniform'
    """
    cycle_ps = _cycle(cycle, phit_bytes, "phit")
    content, notes = caminos.sections(Path(table), phit_bytes, cycle_ps, Path(directory))
    return _checked(content, Path(table), Path(directory), notes)


def from_simgrid(table: File, *, trace: File | None = None, directory: File = ".") -> ImportResult:
    """The experiment of a SimGrid platform with one cluster, and of the trace of an SMPI program.

    Args:
        table: The platform, in XML.
        trace: Time-independent trace: the list of its files, as for `smpirun -replay`.
        directory: As in `from_slurm`.

    Raises:
        OdonataError: The platform has no cluster that is read, or the trace is none.

    Examples:
        >>> found = odonata.importers.from_simgrid("torus.xml")
        >>> found.notes[0]
        'SimGrid: TORUS cluster of 16 hosts'
    """
    given = None if trace is None else Path(trace)
    content, notes = simgrid.sections(Path(table), given, Path(directory))
    return _checked(content, Path(table), Path(directory), notes)


def from_sst(table: File, *, directory: File = ".") -> ImportResult:
    """The experiment of an SST script with a Merlin network, which is read and not run.

    Args:
        table: The script, in Python. A platform file that it loads is read next to it.
        directory: As in `from_slurm`.

    Raises:
        OdonataError: The script makes no topology or job of Merlin, or one that has no counterpart here.

    Examples:
        >>> found = odonata.importers.from_sst("dragonfly.py")
        >>> found.notes[0]
        'SST Merlin: topoDragonFly, 72 nodes'
    """
    content, notes = merlin.sections(Path(table), Path(directory))
    return _checked(content, Path(table), Path(directory), notes)


def _cycle(cycle: str, size: int, unit: str) -> int:
    """The length of a cycle, after both settings were checked."""
    try:
        cycle_ps = _core.time_ps(cycle)
    except ValueError as error:
        raise OdonataError(f"cycle: {error}") from None
    if size < 1 or cycle_ps < 1:
        raise OdonataError(f"a {unit} has at least 1 byte, and a cycle at least 1 ps")
    return cycle_ps


def _checked(content: Mapping[str, Any], table: Path, directory: Path, notes: Sequence[str]) -> ImportResult:
    """The experiment with its notes as comments, after it was checked as `odonata check` does."""
    text = _comments(table, notes) + toml.sections(content)
    Experiment(text, str(directory / "<imported experiment>")).check()
    return ImportResult(text, len(content["job"]), notes=tuple(notes))


def _comments(table: Path, notes: Sequence[str]) -> str:
    """The source of an experiment, and what was assumed or dropped, as comments."""
    lines = [f"From {table.name}. {notes[0]}.", *(f"- {note}" for note in notes[1:])]
    return (
        "".join(
            textwrap.fill(
                line,
                98,
                initial_indent="# ",
                subsequent_indent="#   ",
                break_long_words=False,
                break_on_hyphens=False,
            )
            + "\n"
            for line in (" ".join(line.split()) for line in lines)
        )
        + "\n"
    )
