"""Imports of optional packages."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from odonata.errors import OdonataError

Csr = Any
"""A scipy.sparse.csr_matrix; SciPy is optional, so its types are not available to the type checker."""


def optional(module: str, package: str, purpose: str) -> Any:
    """Imports an optional module.

    Args:
        module: Module to import.
        package: Package to install.
        purpose: Purpose, for the error message.

    Raises:
        OdonataError: The module is not installed; the hint says how to install it.
    """
    try:
        return import_module(module)
    except ImportError:
        raise OdonataError(
            f"{purpose} needs the package {package}", hint=f"Run: pip install {package}"
        ) from None
