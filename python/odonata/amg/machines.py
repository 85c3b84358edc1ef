"""Machine parameter sets of the AMG model: TOML files with the unit in each key.

A name stands for a file of the package, a path for the user's own, as `odonata amg calibrate` writes it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import resources
from pathlib import Path
from typing import Any

from odonata import _core
from odonata.errors import OdonataError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_SCALES = {
    "alpha_us": ("alpha_s", 1e-6),
    "beta_ns_per_value": ("beta_s_per_value", 1e-9),
    "gamma_us": ("gamma_s", 1e-6),
    "node_bandwidth_gb_per_s": ("node_bandwidth", 1e9),
    "cache_mb_per_node": ("cache_bytes_per_node", 1e6),
}
"""Key in the file, key of the compiled module, and the unit's factor."""

_NETWORKS: dict[str, dict[str, type]] = {
    "dragonfly": dict.fromkeys(
        ["groups", "rows", "columns", "nodes_per_router", "links_between_groups"], int
    ),
    "fat-tree": dict.fromkeys(["levels", "down", "up"], int),
    "torus": {"shape": list, "wraps": bool},
}
_OTHER_KEYS = ["name", "flop_ns", "cores_per_node", "thread_bandwidth_mb_per_s", "network"]


@dataclass(frozen=True)
class Machine:
    """A checked parameter set."""

    name: str
    constants: dict[str, Any]
    """As the compiled module takes them: seconds, bytes per second."""

    @property
    def cores_per_node(self) -> int:
        """Cores of a node."""
        return int(self.constants["cores_per_node"])


def names() -> list[str]:
    """The parameter sets of the package."""
    folder = resources.files("odonata.amg") / "data" / "machines"
    return sorted(
        entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml")
    )


def load(name_or_path: str) -> Machine:
    """Reads a parameter set by name or path.

    Raises:
        OdonataError: There is none, or the file is not as it should be; the message names the key.
    """
    path = Path(name_or_path)
    if name_or_path in names():
        text = (resources.files("odonata.amg") / "data" / "machines" / f"{name_or_path}.toml").read_text(
            "utf-8"
        )
    elif path.suffix == ".toml" or path.exists():
        try:
            text = path.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise OdonataError(f"cannot read the machine file {path}: {error}") from None
    else:
        near = get_close_matches(name_or_path, names(), n=1)
        hint = f"Did you mean {near[0]}?" if near else f"Known: {', '.join(names())}; or give a .toml file."
        raise OdonataError(f"there is no machine parameter set {name_or_path!r}", hint=hint)
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise OdonataError(f"{name_or_path} is not TOML: {error}") from None
    return parse(content, name_or_path)


def parse(content: Mapping[str, Any], where: str) -> Machine:
    """A parameter set from the content of a file; `where` names it in errors."""
    known = [*_SCALES, *_OTHER_KEYS]
    for key in content:
        if key not in known:
            near = get_close_matches(key, known, n=1)
            hint = f"Did you mean {near[0]}?" if near else f"Known keys: {', '.join(known)}."
            raise OdonataError(f"{where}: there is no key {key!r}", hint=hint)
    for key in known:
        if key not in content and key != "name":
            raise OdonataError(
                f"{where}: the key {key} is missing", hint="See docs/models/amg.md for an example."
            )
    constants: dict[str, Any] = {
        name: _number(content[key], f"{where}: {key}") * factor for key, (name, factor) in _SCALES.items()
    }
    constants["flop_s"] = [
        _number(value, f"{where}: flop_ns[{i}]") * 1e-9
        for i, value in enumerate(_typed(content["flop_ns"], list, f"{where}: flop_ns"))
    ]
    constants["cores_per_node"] = _whole(content["cores_per_node"], f"{where}: cores_per_node")
    constants["thread_bandwidth"] = _threads(content["thread_bandwidth_mb_per_s"], where)
    constants["network"] = _network(content["network"], where)
    try:
        _core.amg_check_machine(constants)
    except OdonataError as error:
        raise OdonataError(f"{where}: {error.message}") from None
    return Machine(str(content.get("name", where)), constants)


def _typed(value: Any, kind: type, where: str) -> Any:
    if not isinstance(value, kind):
        raise OdonataError(f"{where} is {value!r}; expected a {kind.__name__}")
    return value


def _number(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise OdonataError(f"{where} is {value!r}; expected a number, without its unit")
    return float(value)


def _whole(value: Any, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**32:
        raise OdonataError(f"{where} is {value!r}; expected a whole number")
    return value


def _threads(table: Any, where: str) -> list[tuple[int, float]]:
    pairs = []
    for threads, bandwidth in _typed(table, dict, f"{where}: thread_bandwidth_mb_per_s").items():
        if not threads.isdigit():
            raise OdonataError(
                f"{where}: thread_bandwidth_mb_per_s has the key {threads!r}; expected a number"
            )
        pairs.append((int(threads), _number(bandwidth, f"{where}: bandwidth of {threads} threads") * 1e6))
    return sorted(pairs)


def _network(table: Any, where: str) -> dict[str, Any]:
    kind = _typed(table, dict, f"{where}: network").get("kind")
    if kind not in _NETWORKS:
        raise OdonataError(f"{where}: network.kind is {kind!r}; expected one of {', '.join(_NETWORKS)}")
    wanted = _NETWORKS[kind]
    for key in [*wanted, *table]:
        if key != "kind" and (key not in wanted or key not in table):
            state = "is missing" if key in wanted else f"does not belong to a {kind}"
            raise OdonataError(f"{where}: network.{key} {state}")
    for key, expected in wanted.items():
        if expected is int and _whole(table[key], f"{where}: network.{key}") < 1:
            raise OdonataError(f"{where}: network.{key} is 0; expected at least 1")
        _typed(table[key], expected, f"{where}: network.{key}")
        if expected is list and not (
            table[key] and all(_whole(n, f"{where}: network.{key}") for n in table[key])
        ):
            raise OdonataError(f"{where}: network.{key} is {table[key]!r}; expected sizes of at least 1")
    return {"kind": kind, "parameters": {key: table[key] for key in wanted}}
