"""Functions of a study's `study.py`, by name."""

from __future__ import annotations

import importlib.util
import re
import sys
import traceback
from collections.abc import Callable
from functools import wraps
from inspect import isgenerator
from pathlib import Path
from types import ModuleType
from typing import Any

from odonata.errors import OdonataError
from odonata.studies.read import nearest
from odonata.studies.spec import FUNCTIONS


class Functions:
    """Imports `study.py` on first access. Its other modules are imported with `from . import`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self._module: ModuleType | None = None

    def get(self, name: str, user: str) -> Callable[..., Any]:
        """A function of `study.py`.

        Args:
            name: Name of the function.
            user: The part of the study that uses it, for error messages.

        Raises:
            OdonataError: There is no function of this name.
        """
        path = self._folder / FUNCTIONS
        if self._module is None:
            if not path.is_file():
                raise OdonataError(f"{user} names the function {name}, but there is no {path}")
            self._module = _imported(self._folder)
        found = getattr(self._module, name, None)
        if not callable(found) or name.startswith("_"):
            known = [
                key
                for key, value in vars(self._module).items()
                if callable(value)
                and not key.startswith("_")
                and getattr(value, "__module__", None) == self._module.__name__
            ]
            raise OdonataError(f"{user}: {path} has no function {name}", hint=nearest(name, known))
        return self._named(found, name)

    def _named(self, function: Callable[..., Any], name: str) -> Callable[..., Any]:
        """Wraps the function so that its errors name the study."""

        @wraps(function)
        def call(*arguments: Any, **keys: Any) -> Any:
            try:
                made = function(*arguments, **keys)
                return list(made) if isgenerator(made) else made
            except OdonataError:
                raise
            except Exception as error:
                frames = traceback.extract_tb(error.__traceback__)
                inside = [frame for frame in frames if Path(frame.filename).parent == self._folder]
                place = f"{inside[-1].filename}:{inside[-1].lineno}" if inside else str(self._folder)
                raise OdonataError(f"{place}: {name}: {type(error).__name__}: {error}") from error

        return call


def _imported(folder: Path) -> ModuleType:
    """Imports `study.py` as a module of a package for its folder, so that it can import its other modules."""
    package = "odonata_study_" + re.sub(r"\W", "_", str(folder))
    if package not in sys.modules:
        spec = importlib.util.spec_from_loader(package, loader=None, is_package=True)
        assert spec is not None
        assert spec.submodule_search_locations is not None
        spec.submodule_search_locations.append(str(folder))
        sys.modules[package] = importlib.util.module_from_spec(spec)
    return importlib.import_module(f"{package}.{Path(FUNCTIONS).stem}")
