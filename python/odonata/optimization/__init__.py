"""Search of `[sweep]` for the configurations that are best by `[optimize]`."""

from odonata.optimization.result import Optimization
from odonata.optimization.search import optimize

__all__ = ["Optimization", "optimize"]
