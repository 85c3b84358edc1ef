"""Modules that are imported when a name in them is used.

Tools read the types of a function with `typing.get_type_hints`, which looks up each name in the module of the
function. A name that only type checkers import is missing there. A plain import would make `odonata check`
wait for pyarrow.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


class LazyModule:
    """Stands for a module: `LazyModule("pyarrow").Table` imports pyarrow.

    Examples:
        >>> from odonata.lazy import LazyModule
        >>> LazyModule("fractions").Fraction(1, 2)
        Fraction(1, 2)
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)

    def __repr__(self) -> str:
        return f"<module {self._name}, imported when used>"
