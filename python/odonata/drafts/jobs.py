"""Jobs from words such as `allreduce:256` and `halo:216:1MiB`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from odonata import _core, toml
from odonata.errors import OdonataError, nearest

ITERATIONS_MAX = 5
"""Most iterations in a new file, so that its first run is short."""

SHOWN = ("bytes", "iterations", "compute")
"""Parameters that a new file gives, since results depend on them most."""

_SIZE = re.compile(r"([0-9.]+)\s*([KMG]i?B|[kMG]B|B)")


@dataclass(frozen=True)
class JobDraft:
    """A job to write: a pattern or a program with its number of ranks."""

    name: str
    kind: str
    """`pattern` or `program`."""
    source: str
    """Name of the pattern or program."""
    ranks: int
    bytes: str | None = None
    """Size of each message, if given."""

    def value(self) -> str:
        """The value of `pattern` or `program`, with the parameters that decide results."""
        known = _variants(self.kind)[self.source]
        given: dict[str, Any] = {"name": self.source}
        for key in SHOWN:
            if key == "bytes" and self.bytes is not None and key in known:
                given[key] = self.bytes
            elif key in known and known[key] is not None:
                given[key] = min(known[key], ITERATIONS_MAX) if key == "iterations" else known[key]
        return toml.value(given) if len(given) > 1 else toml.value(self.source)


def read_job(text: str) -> JobDraft:
    """The job of a word `NAME:RANKS` or `NAME:RANKS:SIZE`.

    Raises:
        OdonataError: The name is no pattern or program, or the numbers are none.

    Examples:
        >>> odonata.drafts.read_job("halo:216")
        JobDraft(name='halo', kind='program', source='halo-3d', ranks=216, bytes=None)
    """
    word, _, rest = text.partition(":")
    count, _, size = rest.partition(":")
    if not count.isdecimal() or not int(count):
        raise OdonataError(
            f"'{text}' is no job; expected NAME:RANKS or NAME:RANKS:SIZE", hint="Example: allreduce:256:4MiB"
        )
    match = _SIZE.fullmatch(size) if size else None
    if size and match is None:
        raise OdonataError(f"'{size}' in '{text}' is no size", hint="Example: 64KiB")
    kind, source = source_of(word)
    written = None if match is None else f"{match[1]} {match[2]}"
    if written is not None and "bytes" not in _variants(kind)[source]:
        raise OdonataError(f"the {kind} '{source}' has no message size; write '{word}:{count}'")
    return JobDraft(word, kind, source, int(count), written)


def source_of(word: str) -> tuple[str, str]:
    """Whether a word names a program or a pattern, and which. Programs go first, since they have calls.

    Raises:
        OdonataError: It names neither.
    """
    wanted = _plain(word)
    for kind in ("program", "pattern"):
        names = [name for name in _variants(kind) if name not in ("file", "trace", "amg")]
        for name in names:
            if name == word or _plain(name) == wanted:
                return kind, name
        # `halo` is short for `halo-3d`: the table of other programs' words knows it.
        near, _ = _core.nearest_name(word, names)
        if near is not None and _plain(near).startswith(wanted):
            return kind, near
    known = list(dict.fromkeys([*_variants("program"), *_variants("pattern")]))
    raise OdonataError(
        f"unknown program or pattern {word}",
        hint=nearest(word, known, "See: odonata list programs; odonata list patterns"),
    )


def _plain(word: str) -> str:
    return re.sub(r"[^a-z0-9]", "", word.lower())


@cache
def _variants(kind: str) -> Mapping[str, Mapping[str, Any]]:
    """The patterns or programs with their parameters and defaults."""
    rule = json.loads(_core.schema())["properties"]["job"]["items"]["properties"][kind]
    found: dict[str, dict[str, Any]] = {}
    _collect(rule, found)
    return found


def _collect(rule: Any, found: dict[str, dict[str, Any]]) -> None:
    """Adds the tables with a constant `name` of a schema."""
    if isinstance(rule, list):
        for part in rule:
            _collect(part, found)
    elif isinstance(rule, dict):
        properties = rule.get("properties", {})
        if "const" in properties.get("name", {}):
            found[properties["name"]["const"]] = {
                key: of.get("default") for key, of in properties.items() if key != "name"
            }
            return
        for part in ("anyOf", "oneOf", "items"):
            _collect(rule.get(part), found)
