"""The functions of a study's `study.py`, by their names."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from odonata.errors import OdonataError
from odonata.studies.read import nearest
from odonata.studies.spec import FUNCTIONS


class Functions:
    """Imports `study.py` when a function of it is asked for first; its other modules are `from . import`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self._module: ModuleType | None = None

    def get(self, name: str, wanted_by: str) -> Callable[..., Any]:
        """A function.

        Raises:
            OdonataError: There is none of this name.
        """
        path = self._folder / FUNCTIONS
        if self._module is None:
            if not path.is_file():
                raise OdonataError(f"{wanted_by} names the function {name}, but there is no {path}")
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
            raise OdonataError(f"{wanted_by}: {path} has no function {name}", hint=nearest(name, known))
        function: Callable[..., Any] = found
        return function


def _imported(folder: Path) -> ModuleType:
    """`study.py`, a module of a package that stands for its folder, so that it can have others beside it."""
    package = "odonata_study_" + re.sub(r"\W", "_", str(folder))
    if package not in sys.modules:
        spec = importlib.util.spec_from_loader(package, loader=None, is_package=True)
        assert spec is not None
        assert spec.submodule_search_locations is not None
        spec.submodule_search_locations.append(str(folder))
        sys.modules[package] = importlib.util.module_from_spec(spec)
    return importlib.import_module(f"{package}.{Path(FUNCTIONS).stem}")
