"""Why a job took as long as it did, and why it takes longer or shorter than in another run."""

from __future__ import annotations

from odonata.explanation.against import Difference, difference, no_effect, reason
from odonata.explanation.answer import Explanation, explain
from odonata.explanation.job import job_of, overview, time_of

__all__ = [
    "Difference",
    "Explanation",
    "difference",
    "explain",
    "job_of",
    "no_effect",
    "overview",
    "reason",
    "time_of",
]
