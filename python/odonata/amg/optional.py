"""What is not among the package's own requirements."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from odonata.errors import OdonataError

Csr = Any
"""A scipy.sparse.csr_matrix; SciPy is optional and its types are not there to check."""


def optional(module: str, package: str, purpose: str) -> Any:
    """Imports a module.

    Raises:
        OdonataError: It is not installed; the hint says how to.
    """
    try:
        return import_module(module)
    except ImportError:
        raise OdonataError(f"{purpose} needs the package {package}", hint=f"pip install {package}") from None
