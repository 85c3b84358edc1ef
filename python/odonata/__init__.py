"""Odonata: a workbench for supercomputer interconnects."""

from odonata._core import version as _version

__all__ = ["__version__"]

__version__: str = _version()
