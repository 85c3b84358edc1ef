"""The best of many combinations: what `[sweep]` lists, looked through for what `[optimize]` asks."""

from odonata.optimization.result import Optimization
from odonata.optimization.search import optimize, run_optimization

__all__ = ["Optimization", "optimize", "run_optimization"]
