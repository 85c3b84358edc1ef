"""Machine parameter sets of the AMG model: TOML files whose keys contain the unit.

A name selects a file of the package; a path selects a user's file, as `odonata amg calibrate` writes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from odonata import _core, files
from odonata.amg import library
from odonata.errors import OdonataError, nearest


@dataclass(frozen=True)
class Ends:
    """Cost of messages and work at the endpoints, in addition to the network (`odonata.amg.ends`)."""

    compute_factor: float
    """Measured time divided by counted work."""
    overhead_s: float
    """o: processor time of sending one message and receiving one, half for each."""
    gap_s: float
    """g: smallest time between two messages of a NIC."""
    matching_s: float
    """m: time per queue entry that is compared with a message."""


@dataclass(frozen=True)
class ParameterSet:
    """Constants of the closed forms, measured on a machine and checked."""

    name: str
    constants: dict[str, Any]
    """Constants for the compiled module: seconds, bytes per second."""
    scenario: str = "alpha-beta-gamma"
    """Scenario that fits measured cycles of this machine best; `odonata amg fit` finds it."""
    ends: Ends | None = None
    """Endpoint costs, if known; `odonata amg fit` finds them from whole cycles."""

    @property
    def cores_per_node(self) -> int:
        """Number of cores of a node."""
        return int(self.constants["cores_per_node"])


def names() -> list[str]:
    """Names of the parameter sets in the package."""
    return [name for name, _ in library.files("machines")]


def load(name_or_path: str) -> ParameterSet:
    """Reads a parameter set by name or path.

    Raises:
        OdonataError: There is no such set, or the file is not valid; the message names the key.
    """
    known = dict(library.files("machines"))
    path = known.get(name_or_path, Path(name_or_path))
    where = f"{name_or_path}.toml" if name_or_path in known else name_or_path
    if name_or_path in known or path.suffix == ".toml" or path.exists():
        try:
            text = files.read_utf8(path)
        except (OSError, ValueError) as error:
            raise OdonataError(f"cannot read the machine file {path}: {error}") from None
    else:
        from odonata.machines import presets

        hint = nearest(
            name_or_path, names(), f"Use one of {', '.join(names())}, or the path of a .toml file."
        )
        if any(preset["name"] == name_or_path for preset in presets()):
            hint = (
                f"{name_or_path} is a preset of [machine], and its costs of messages are not measured: "
                f"amg simulate takes it as --preset {name_or_path}."
            )
        raise OdonataError(f"there is no machine parameter set {name_or_path!r}", hint=hint)
    return parse(text, where)


def parse(text: str, where: str) -> ParameterSet:
    """A parameter set from the text of a file; `where` names the file in errors."""
    name, scenario, constants, ends = _core.amg.parameters(text, where)
    return ParameterSet(name or Path(where).stem, constants, scenario, Ends(*ends) if ends else None)
