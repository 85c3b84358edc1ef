"""Loads and latencies of a job with open traffic, which has no time that ends."""

from __future__ import annotations

from dataclasses import dataclass

from odonata.quantity import percent, quantity
from odonata.store.run import RunData

PS_PER_S = 1e12
NS_PER_S = 1e9
BELOW_OFFERED = 0.95
"""A smaller share of the offered load that is accepted is called saturated, as the engine's warning does."""


@dataclass(frozen=True)
class OpenTraffic:
    """What the network accepted of a job's open traffic, and how long its packets took.

    Examples:
        >>> from odonata.explanation import OpenTraffic
        >>> flowing = OpenTraffic(0.3, 0.12, 17e-6, 6e-6, 10e-6)
        >>> flowing.sentence()
        'Accepted load 12.0 % of 30.0 % offered: saturated. Mean latency 17 us, of it 6 us in the source.'
    """

    offered_load: float
    accepted_load: float
    latency_mean_s: float | None
    """None if no packet was delivered."""
    source_wait_mean_s: float | None
    """The part of the latency before a packet enters the network."""
    measured_s: float
    """Length of the measurement."""

    def sentence(self) -> str:
        """The loads and the latency in one line."""
        saturated = self.accepted_load < BELOW_OFFERED * self.offered_load
        words = f"Accepted load {percent(self.accepted_load)} of {percent(self.offered_load)} offered"
        words += ": saturated." if saturated else "."
        if self.latency_mean_s is None or self.source_wait_mean_s is None:
            return words
        latency, wait = (quantity(value, "s") for value in (self.latency_mean_s, self.source_wait_mean_s))
        return f"{words} Mean latency {latency}, of it {wait} in the source."


def open_traffic_of(run: RunData, job: int) -> OpenTraffic | None:
    """The open traffic of a job.

    Returns:
        None if the job has none, or the run ended before its measurement.
    """
    if not {"offered_load", "accepted_load"} <= set(run.jobs.column_names):
        return None
    row = run.jobs.slice(job, 1).to_pylist()[0]
    measured = (run.summary.get("packet") or {}).get("measured_ps", 0) / PS_PER_S
    if row["offered_load"] is None or not measured:
        return None
    latency, wait = (_seconds(row.get(name)) for name in ("latency_mean_ns", "source_wait_mean_ns"))
    return OpenTraffic(row["offered_load"], row["accepted_load"] or 0.0, latency, wait, measured)


def _seconds(ns: float | None) -> float | None:
    return None if ns is None else ns / NS_PER_S
