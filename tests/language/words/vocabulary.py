"""Reads `docs/vocabulary.toml`."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import cache, cached_property
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[3]
FILE = ROOT / "docs/vocabulary.toml"


@dataclass
class Vocabulary:
    """The refused words, each with what to say instead."""

    data: dict[str, Any]
    names: dict[str, str] = field(default_factory=dict)
    """By a name in snake case, as `way` or `at_most`."""
    types: dict[str, str] = field(default_factory=dict)
    prose: list[tuple[re.Pattern[str], str]] = field(default_factory=list)
    allow: list[re.Pattern[str]] = field(default_factory=list)
    old_names: dict[str, str] = field(default_factory=dict)
    """Renamed keys and columns whose old name is refused everywhere."""

    def __post_init__(self) -> None:
        for rule in [*self.data["term"], *self.data["style"]]:
            say = rule.get("say") or rule["term"]
            self.names |= dict.fromkeys(rule.get("names", []), say)
            self.types |= {name.replace(" ", ""): say for name in rule.get("types", [])}
            self.prose += [(pattern(text), say) for text in rule.get("prose", [])]
            self.allow += [pattern(text) for text in rule.get("allow", [])]
        for renamed in self.data["renamed"]:
            self.old_names |= renamed["everywhere"]

    def renamed(self, kind: str) -> dict[str, str]:
        """Old names of columns or keys, each with its new one."""
        found: dict[str, str] = {}
        for renamed in self.data["renamed"]:
            if renamed["kind"] == kind:
                found |= renamed["everywhere"] | renamed.get(kind + "s", {})
        return found

    def excepts(self, file: str, rule: str) -> bool:
        """Whether a file is free of a rule."""
        return any({rule, "*"} & set(entry.get("rules", [])) for entry in self._exceptions(file))

    def excepts_name(self, file: str, name: str) -> bool:
        """Whether a refused word is right in the names of a file."""
        return any(name in entry.get("names", []) for entry in self._exceptions(file))

    def _exceptions(self, file: str) -> list[dict[str, Any]]:
        return [
            entry for entry in self.data["exception"] if any(fnmatch(file, glob) for glob in entry["files"])
        ]

    @cached_property
    def any_prose(self) -> re.Pattern[str]:
        """Finds whatever any of the patterns finds: most texts are clean, and one search says so."""
        texts = [text for rule in [*self.data["term"], *self.data["style"]] for text in rule.get("prose", [])]
        return pattern("|".join(texts))


def pattern(text: str) -> re.Pattern[str]:
    """An entry of `prose` or `allow`, between word borders; its spaces stand for any space."""
    text = text.replace(" ", r"\s+")
    return re.compile(rf"(?<![\w-])(?:{text})(?![\w-])", re.IGNORECASE)


@cache
def vocabulary() -> Vocabulary:
    """The one of this checkout."""
    return Vocabulary(tomllib.loads(FILE.read_text()))
