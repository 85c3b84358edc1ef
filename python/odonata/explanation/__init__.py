"""Explanations of a job's time, and of its difference from another run."""

from __future__ import annotations

from odonata.analysis.job_bottleneck import job_of, reason, time_of
from odonata.analysis.open_traffic import OpenTraffic
from odonata.analysis.overview import overview
from odonata.explanation.against import Difference, difference, no_effect
from odonata.explanation.answer import Explanation, explain
from odonata.explanation.what_if import (
    SENSITIVITY_ACCURACY,
    changes_by_seed,
    edited,
    measure_changes,
    sensitivities,
)

__all__ = [
    "SENSITIVITY_ACCURACY",
    "Difference",
    "Explanation",
    "OpenTraffic",
    "changes_by_seed",
    "difference",
    "edited",
    "explain",
    "job_of",
    "measure_changes",
    "no_effect",
    "overview",
    "reason",
    "sensitivities",
    "time_of",
]
