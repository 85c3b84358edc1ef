"""Fits the model of the set-up to measured set-up times: c, and the matching cost m.

The computation of a set-up is measured on the recording machine, and c is the other machine's time over this
one's. With o = alpha both are linear in the time, so they follow by least squares of the relative errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from odonata.amg.ends import LEAST_CYCLES, least_squares
from odonata.amg.machines import Ends, ParameterSet
from odonata.amg.setup import Pricing, SetUp, price
from odonata.errors import OdonataError


@dataclass(frozen=True)
class MeasuredSetUp:
    """A set-up that was run and recorded."""

    name: str
    setup: SetUp
    seconds: float
    per_node: int


@dataclass(frozen=True)
class SetUpFit:
    """The costs, and what they predict."""

    factor: float
    """c."""
    matching_s: float
    predicted: list[float]
    """Seconds of each set-up."""
    left_out: list[float]
    """Seconds of each set-up, predicted from all others."""


def fit(measured: Sequence[MeasuredSetUp], machine: ParameterSet) -> SetUpFit:
    """The costs that explain the measured set-ups.

    Raises:
        OdonataError: There are too few, one has no record of its work, or they do not determine the costs.
    """
    if len(measured) < LEAST_CYCLES:
        raise OdonataError(
            f"{len(measured)} measured set-ups; fitting two costs and their error needs {LEAST_CYCLES}",
            hint="Measure other numbers of ranks or points.",
        )
    if idle := next((one.name for one in measured if not one.setup.work), None):
        raise OdonataError(
            f"{idle} has no record of the set-up's computation",
            hint="Make it again with `odonata amg hierarchy --record`.",
        )
    alpha = machine.constants["alpha_s"]
    columns, rest = [], []
    for one in measured:
        work, known = _seconds(one, machine, Ends(1.0, alpha, 0.0, 0.0))
        # Matching at 1 us per entry, in which the busiest rank is the one with the longest queue.
        _, with_matching = _seconds(one, machine, Ends(1.0, alpha, 0.0, 1e-6))
        columns.append([work / one.seconds, (with_matching - known) / 1e-6 / one.seconds])
        rest.append(1 - known / one.seconds)
    matrix, right = np.array(columns), np.array(rest)
    kept = np.arange(len(measured))
    times = np.array([one.seconds for one in measured])
    found = least_squares(matrix, right)
    others = [least_squares(matrix[kept != i], right[kept != i]) for i in kept]
    left_out = [float(times[i] * (matrix[i] @ others[i] + 1 - right[i])) for i in kept]
    predicted = [float(one) for one in times * (matrix @ found + 1 - right)]
    return SetUpFit(float(found[0]), float(found[1]), predicted, left_out)


def _seconds(one: MeasuredSetUp, machine: ParameterSet, ends: Ends) -> tuple[float, float]:
    """Work and communication."""
    costs = price(one.setup, Pricing(replace(machine, ends=ends), per_node=one.per_node, factor=1.0))
    return sum(cost.work_s for cost in costs), sum(cost.communication_s for cost in costs)
