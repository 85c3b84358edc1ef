"""`[machine]` from a word: a preset, `frontier` for `frontier-like`, a topology, a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from odonata import machines
from odonata.errors import OdonataError, nearest
from odonata.importers.jobs import machine_section


@dataclass(frozen=True)
class MachineDraft:
    """The keys of `[machine]` and what is assumed about them."""

    keys: Mapping[str, Any]
    notes: tuple[str, ...]
    nodes: int
    cores_per_node: int


def machine_draft(word: str, directory: Path = Path()) -> MachineDraft:
    """The machine that a word names, built once to count its nodes.

    Raises:
        OdonataError: There is no such preset, topology or file.
    """
    presets = {preset["name"]: preset for preset in machines.presets()}
    families = machines.topologies()
    name = word.lower()
    if f"{name}-like" in presets:
        name = f"{name}-like"
    notes: list[str] = []
    if name in presets:
        keys: dict[str, Any] = {"preset": name}
        notes.append(presets[name]["summary"])
        if name.endswith("-like"):
            notes.append(f"assumed: {name} is made from public descriptions, not from the site's cabling")
    elif name in families:
        keys = {"topology": name} | _defaults(name)
        notes.append("assumed: the sizes are the defaults of the family; give your own")
    elif Path(word).exists():
        keys = machine_section(word, directory)
    else:
        known = [*presets, *families]
        raise OdonataError(
            f"unknown preset, topology or file {word}",
            hint=nearest(word, known, "See: odonata list presets; odonata list topologies"),
        )
    built = machines.machine(_here(keys, directory))
    return MachineDraft(
        keys, tuple(notes), int(built.metrics["nodes_up"]), int(built.metrics["cores_per_node"])
    )


def _here(keys: Mapping[str, Any], directory: Path) -> dict[str, Any]:
    """The keys with file names as the working directory sees them."""
    return {key: str(directory / value) if key == "file" else value for key, value in keys.items()}


def _defaults(family: str) -> dict[str, Any]:
    """The sizes of a family that its machine has without keys."""
    from odonata import toml

    resolved = toml.parse(machines.machine({"topology": family}).resolved)["machine"]
    wanted = (
        "p a h g dims nodes_per_router k levels q children parents parallel leaves spines routers degree "
        "groups switches nodes ports rows columns"
    )
    return {key: resolved[key] for key in wanted.split() if key in resolved}
