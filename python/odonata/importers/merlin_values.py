"""Values of SST scripts with their places, and amounts with units such as `4GB/s`, `20ns` and `1KiB`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from odonata.errors import OdonataError
from odonata.importers.sst_script import ScriptObject, Unknown

_AMOUNT = re.compile(r"\s*([0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?)\s*([kKMGT]i?|[mupn])?(B/s|b/s|B|b|s)\s*")
_PREFIXES = {
    "": 1.0,
    "k": 1e3,
    "K": 1e3,
    "M": 1e6,
    "G": 1e9,
    "T": 1e12,
    "m": 1e-3,
    "u": 1e-6,
    "n": 1e-9,
    "p": 1e-12,
}


@dataclass(frozen=True)
class Settings:
    """Values by their name, with lines; refusals name the place."""

    path: Path
    owner: str
    """What has these values, such as `topoDragonFly`."""
    values: Mapping[str, tuple[Any, int]]
    line: int = 1

    def error(self, key: str, reason: str, hint: str | None = None) -> OdonataError:
        """The refusal of a value, or of one that is missing."""
        line = self.values[key][1] if key in self.values else self.line
        return OdonataError(f"{self.path}, line {line}: {self.owner}.{key}: {reason}", hint=hint)

    def get(self, key: str, default: Any = None) -> Any:
        """A value, or the default; raises `OdonataError` if only a run of the script has it."""
        if key not in self.values:
            if default is None:
                raise self.error(key, "the script does not set it")
            return default
        value = self.values[key][0]
        if isinstance(value, Unknown):
            raise self.error(key, f"'{value.text}' has a value only when the script runs; write the number")
        return value

    def whole(self, key: str, default: int | None = None, least: int = 1) -> int:
        """A whole number, which old scripts write as a text; raises `OdonataError` if it is none."""
        value = self.get(key, default)
        text = str(int(value)) if isinstance(value, float) and value == int(value) else str(value)
        if (
            isinstance(value, ScriptObject | bool)
            or not text.strip().isdecimal()
            or not least <= int(text) < 1 << 32
        ):
            raise self.error(key, f"expected a whole number from {least}")
        return int(text)

    def number(self, key: str, most: float) -> float:
        """A number above 0; raises `OdonataError` if it is none."""
        value = self.get(key)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= most:
            raise self.error(key, f"expected a number above 0, at most {most:g}")
        return float(value)

    def text(self, key: str, default: str | None = None) -> str:
        """A text; raises `OdonataError` if it is none."""
        value = self.get(key, default)
        if not isinstance(value, str):
            raise self.error(key, "expected a text")
        return value

    def sizes(self, key: str, between: str, default: str | None = None) -> list[int]:
        """Numbers with a letter between them, such as `4x4`."""
        text = self.text(key, default)
        parts = [part.strip() for part in text.split(between)]
        if not all(part.isdecimal() and 1 <= int(part) < 1 << 24 for part in parts) or len(parts) > 16:
            raise self.error(key, f"'{text}'; expected numbers such as 4{between}4")
        return [int(part) for part in parts]

    def amount(self, key: str, unit: str, default: str | None = None) -> float:
        """Bytes, bytes per second or seconds; raises `OdonataError` if the text is no such amount."""
        text = self.text(key, default)
        found = _AMOUNT.fullmatch(text)
        if found is None or found[3].replace("b", "B") != unit:
            example = {"B": "4kB", "B/s": "4GB/s", "s": "20ns"}[unit]
            raise self.error(key, f"'{text}'; expected an amount such as {example}")
        prefix = found[2] or ""
        power = (
            1024.0 ** ("kMGT".index(prefix[0].replace("K", "k")) + 1)
            if prefix.endswith("i")
            else _PREFIXES[prefix]
        )
        value = float(found[1]) * power / (8 if found[3].startswith("b") else 1)
        if not value < 1e18:
            raise self.error(key, f"'{text}' is too large")
        return value


def unread(settings: Settings, known: Sequence[str], reasons: Mapping[str, str]) -> list[str]:
    """A line for each value that has no effect here."""
    found = []
    for key, (value, line) in settings.values.items():
        if key in known or key.startswith("_"):
            continue
        shown = (
            value.text
            if isinstance(value, Unknown)
            else value.kind
            if isinstance(value, ScriptObject)
            else value
        )
        reason = f": {reasons[key]}" if key in reasons else ""
        found.append(f"dropped: {settings.owner}.{key} = {shown} (line {line}){reason}")
    return found


def bytes_text(value: float) -> str:
    """An amount of data for an experiment."""
    return f"{max(1, round(value))} B"


def rate_text(value: float) -> str:
    """A bandwidth for an experiment."""
    return f"{value / 1e9:.10g} GB/s"


def time_text(value: float) -> str:
    """A duration for an experiment."""
    return f"{round(value * 1e12)} ps"
