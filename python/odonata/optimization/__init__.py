"""Search of `[sweep]` for the configurations that are best by `[optimize]`."""

from odonata.optimization.result import Optimization
from odonata.optimization.search import optimize, run_optimization

__all__ = ["Optimization", "optimize", "run_optimization"]
