"""Why a job took as long as it did, and why it takes longer or shorter than in another run."""

from __future__ import annotations

from odonata.analysis.binding import job_of, overview, reason, time_of
from odonata.explanation.against import Difference, difference, no_effect
from odonata.explanation.answer import Explanation, explain

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
