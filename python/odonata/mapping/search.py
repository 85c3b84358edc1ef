"""Searches for a better mapping: every order of the axes, recursive bisection, and exchanges of ranks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from odonata import _core
from odonata.mapping.measure import Figures, Integers, Job, hops, measure

if TYPE_CHECKING:
    from odonata._core import MappingProblem


@dataclass(frozen=True, eq=False)
class MeasuredMapping:
    """A mapping and its cost."""

    name: str
    place_of_rank: Integers
    figures: Figures


@dataclass(frozen=True, eq=False)
class SearchResult:
    """Result of a search."""

    order: MeasuredMapping
    """The best order of the axes."""
    bisection: MeasuredMapping
    """Recursive bisection without exchanges."""
    best: MeasuredMapping
    """The mapping with the fewest hops, by exchanges from either of these."""

    @property
    def saved_share(self) -> float:
        """Share of the hops of the best order that the best mapping saves."""
        return 1 - self.best.figures.hops_per_byte / max(self.order.figures.hops_per_byte, 1e-300)


def orders(job: Job) -> Iterator[str]:
    """Every order of the axes and `T`. A letter with a single value stays at its end."""
    alone = "".join(letter for letter, size in zip(job.letters, job.box, strict=True) if size == 1)
    for order in permutations([letter for letter in job.letters if letter not in alone]):
        yield "".join(order) + alone


def by_order(job: Job, order: str) -> Integers:
    """The place of each rank for an order of the axes."""
    axes = [job.letters.index(letter) for letter in order]
    slowest_first = axes[::-1] if job.first_fastest else axes
    places = np.arange(int(np.prod(job.box))).reshape(job.box).transpose(slowest_first)
    place_of_rank: Integers = places.ravel()[: job.ranks]
    return place_of_rank


def best_orders(job: Job, count: int = 1) -> list[MeasuredMapping]:
    """The orders with the fewest hops, best first; equal ones in the order of the letters."""
    ranked = sorted((hops(job, by_order(job, order)), order) for order in orders(job))
    return [_measured(job, order, by_order(job, order)) for _, order in ranked[:count]]


def search(job: Job, *, seed: int = 1, tries_per_rank: int = 500) -> SearchResult:
    """Searches for a mapping with few hops.

    Simulated annealing moves ranks next to partners, starting from recursive bisection and from the best
    order. The result depends only on the job and the arguments.

    Args:
        job: The job.
        seed: Seed of the annealing.
        tries_per_rank: Number of tries per rank.
    """
    starts, partners, both = job.graph
    problem: MappingProblem = {
        "sizes": list(job.sizes),
        "wraps": list(job.wraps),
        "ranks_per_node": job.ranks_per_node,
        "starts": starts,
        "partners": partners,
        "bytes": both,
    }
    order = best_orders(job)[0]
    bisection = _measured(job, "bisection", _core.bisected_mapping(problem))
    tries = tries_per_rank * job.ranks
    # Best heats for pF3D's graph of 2,048 ranks. More heat destroys a good start, less heat keeps a rough
    # one.
    improved = [
        _measured(job, name, _core.improved_mapping(problem, start.place_of_rank.tolist(), seed, tries, heat))
        for name, start, heat in ((f"from {order.name}", order, 0.2), ("from bisection", bisection, 0.8))
    ]
    best = min(improved, key=lambda tried: (tried.figures.hops_per_byte, tried.figures.largest_link_bytes))
    return SearchResult(order, bisection, best)


def _measured(job: Job, name: str, place_of_rank: Integers) -> MeasuredMapping:
    return MeasuredMapping(name, place_of_rank, measure(job, place_of_rank))
