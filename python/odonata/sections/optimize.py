"""The section `optimize` of an experiment.

Written from the declared keys: see `tests/section_types.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict


class Optimize(TypedDict, total=False):
    """Keys of the section `optimize`.

    Search of `odonata optimize` over the combinations of `[sweep]`. Seeds are repetitions, and
    quantities are means over them. Other commands ignore the section.
    """

    objectives: Sequence[str]
    """Quantities to minimize: `slowest job`, `hottest link` (bytes over capacity, in seconds), `price`
    (of all cables, from the `price` of their classes), or `time of NAME` of a job. For several, the
    search finds the Pareto front.
    """
    constraints: Sequence[Mapping[str, Any]]
    """Upper limits of quantities: `[{ quantity = "price", max = 1.5e6 }]`. A quantity needs no
    objective.
    """
    trials: int
    """Combinations to try. Trials run in batches of eight, so up to seven more may run. Default: 100."""
    sampler: Literal["auto", "grid", "random", "tpe", "nsga2"]
    """Algorithm that proposes the next combination. Default: "auto"."""
