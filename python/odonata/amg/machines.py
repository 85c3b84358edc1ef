"""Machine parameter sets of the AMG model: TOML files with the unit in each key.

A name stands for a file of the package, a path for the user's own, as `odonata amg calibrate` writes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from odonata import _core
from odonata.amg import library
from odonata.errors import OdonataError


@dataclass(frozen=True)
class Ends:
    """What messages and work cost at the ends, beside what the network takes: `odonata.amg.ends`."""

    compute_factor: float
    """Measured over counted work."""
    overhead_s: float
    """o: processor time of sending a message and receiving one, half of it each."""
    gap_s: float
    """g: the least time between two messages of an interface."""
    matching_s: float
    """For each entry of a queue that is compared with a message."""


@dataclass(frozen=True)
class ParameterSet:
    """Constants of the closed forms, measured on a machine; checked."""

    name: str
    constants: dict[str, Any]
    """As the compiled module takes them: seconds, bytes per second."""
    scenario: str = "alpha-beta-gamma"
    """Which phenomena fit cycles best that were measured there; `odonata amg fit` finds it."""
    ends: Ends | None = None
    """Costs at the ends, if they are known; `odonata amg fit` finds them from whole cycles."""

    @property
    def cores_per_node(self) -> int:
        """Cores of a node."""
        return int(self.constants["cores_per_node"])


def names() -> list[str]:
    """The parameter sets of the package."""
    return [name for name, _ in library.files("machines")]


def load(name_or_path: str) -> ParameterSet:
    """Reads a parameter set by name or path.

    Raises:
        OdonataError: There is none, or the file is not as it should be; the message names the key.
    """
    known = dict(library.files("machines"))
    path = known.get(name_or_path, Path(name_or_path))
    where = f"{name_or_path}.toml" if name_or_path in known else name_or_path
    if name_or_path in known or path.suffix == ".toml" or path.exists():
        try:
            text = path.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise OdonataError(f"cannot read the machine file {path}: {error}") from None
    else:
        near = get_close_matches(name_or_path, names(), n=1)
        hint = f"Did you mean {near[0]}?" if near else f"Known: {', '.join(names())}; or give a .toml file."
        raise OdonataError(f"there is no machine parameter set {name_or_path!r}", hint=hint)
    return parse(text, where)


def parse(text: str, where: str) -> ParameterSet:
    """A parameter set from the text of a file; `where` names it in errors."""
    name, scenario, constants, ends = _core.amg.parameters(text, where)
    return ParameterSet(name or Path(where).stem, constants, scenario, Ends(*ends) if ends else None)
