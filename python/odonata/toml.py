"""TOML text from Python values, for experiments and overrides given as objects, and back."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DecodeError = tomllib.TOMLDecodeError


def parse(text: str) -> dict[str, Any]:
    """The content of a document.

    Raises:
        DecodeError: It is not TOML.
    """
    content: dict[str, Any] = tomllib.loads(text)
    return content


_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def value(given: Any) -> str:
    """One TOML value on one line; tables become inline tables.

    Raises:
        TypeError: TOML has no such value.
    """
    if isinstance(given, bool):
        return "true" if given else "false"
    if isinstance(given, str):
        # A JSON string is a TOML basic string, except that TOML needs DEL escaped.
        return json.dumps(given, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(given, Mapping):
        return "{" + ", ".join(f"{key(name)} = {value(item)}" for name, item in given.items()) + "}"
    if isinstance(given, list | tuple):
        return "[" + ", ".join(value(item) for item in given) + "]"
    if isinstance(given, PurePath):
        return value(str(given))
    if hasattr(given, "tolist"):  # a number or an array of NumPy
        return value(given.tolist())
    if isinstance(given, int):
        return str(given)
    if isinstance(given, float):
        return repr(given) if math.isfinite(given) else str(given)
    if given is None:
        raise TypeError("an experiment cannot contain None; omit the key for its default")
    raise TypeError(f"TOML has no type {type(given).__name__}, the type of {given!r}")


def key(name: str) -> str:
    """A key, quoted if TOML requires it."""
    if not isinstance(name, str):
        raise TypeError(f"keys of an experiment must be texts, not {type(name).__name__}: {name!r}")
    return name if _BARE_KEY.fullmatch(name) else value(name)


def document(content: Mapping[str, Any]) -> str:
    """A TOML file with one line per top-level key."""
    return "".join(f"{key(name)} = {value(item)}\n" for name, item in content.items())


def sections(content: Mapping[str, Any]) -> str:
    """A TOML file with a section for each table, as people write it; a list of tables repeats its section."""
    plain, parts = {}, []
    for name, item in content.items():
        if isinstance(item, Mapping):
            parts.append(f"[{key(name)}]\n{document(item)}")
        elif isinstance(item, list | tuple) and item and all(isinstance(table, Mapping) for table in item):
            parts += [f"[[{key(name)}]]\n{document(table)}" for table in item]
        else:
            plain[name] = item
    return "\n".join([document(plain)] * bool(plain) + parts)
