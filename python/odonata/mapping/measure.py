"""Cost of a mapping: hops, loads of links, and lower bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from odonata.api import ExperimentInput, read

Integers = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Job:
    """A job on a torus: its places, and the bytes between its ranks.

    A place is a node and one of its `T` ranks, numbered in row-major order of the axes and `T`.
    """

    name: str
    axes: str
    """Letters of the axes, without `T`."""
    sizes: tuple[int, ...]
    wraps: tuple[bool, ...]
    ranks_per_node: int
    first_fastest: bool
    """Whether the first letter of an order is the fastest, instead of the last."""
    sources: Integers
    """Sending ranks; with `targets` and `bytes`, one entry per communicating pair."""
    targets: Integers
    bytes: Integers
    place_of_rank: Integers
    """Placement of the ranks in the experiment."""

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return len(self.place_of_rank)

    @property
    def letters(self) -> str:
        """Letters of the axes and `T`."""
        return self.axes + "T"

    @property
    def box(self) -> tuple[int, ...]:
        """Number of places along each axis and on each node."""
        return (*self.sizes, self.ranks_per_node)

    @property
    def links(self) -> int:
        """Number of links between routers; each direction of a cable counts."""
        nodes = int(np.prod(self.sizes))
        each = [
            0 if size == 1 else nodes if ring else nodes - nodes // size
            for size, ring in zip(self.sizes, self.wraps, strict=True)
        ]
        return 2 * sum(each)

    @cached_property
    def total_bytes(self) -> float:
        """Bytes that all ranks send to others."""
        return float(self.bytes.sum(dtype=np.float64))

    @cached_property
    def graph(self) -> tuple[Integers, Integers, Integers]:
        """Where the partners of each rank start, the partners, and the bytes to and from each."""
        ends = np.concatenate([self.sources, self.targets]).astype(np.uint64)
        others = np.concatenate([self.targets, self.sources]).astype(np.uint64)
        pairs, position = np.unique(ends * np.uint64(self.ranks) + others, return_inverse=True)
        both = np.zeros(len(pairs), dtype=np.uint64)
        np.add.at(both, position, np.concatenate([self.bytes, self.bytes]).astype(np.uint64))
        starts = np.searchsorted(pairs // np.uint64(self.ranks), np.arange(self.ranks + 1, dtype=np.uint64))
        return starts.astype(np.uint64), (pairs % np.uint64(self.ranks)).astype(np.uint32), both

    @cached_property
    def hop_bytes_bound(self) -> float:
        """Lower bound of bytes times hops of all messages, for any mapping.

        It places the heaviest partners of each rank on its node, the next ones a hop away, and so on, for
        each rank alone. A mesh counts as a torus.
        """
        starts, _, both = self.graph
        rank = np.searchsorted(starts, np.arange(len(both)), side="right") - 1
        order = np.lexsort((-both.astype(np.float64), rank))
        place = np.arange(len(order)) - starts.astype(np.int64)[rank]
        return float((both[order].astype(np.float64) * self._nearest[place]).sum()) / 2

    @cached_property
    def _nearest(self) -> Integers:
        """Hops to the other places, nearest first."""
        steps = np.indices(self.sizes).reshape(len(self.sizes), -1)
        sizes = np.array(self.sizes)[:, None]
        hops = np.sort(np.minimum(steps, sizes - steps).sum(axis=0))
        return np.repeat(hops, self.ranks_per_node)[1:]

    def coordinates(self, place_of_rank: Integers) -> list[Integers]:
        """Coordinates of the ranks' nodes, axis by axis."""
        nodes = np.asarray(place_of_rank, dtype=np.int64) // self.ranks_per_node
        return list(np.unravel_index(nodes, self.sizes))


def jobs(
    experiment: ExperimentInput,
    *,
    set: Mapping[str, Any] | None = None,  # noqa: A002 - as on the command line
) -> list[Job]:
    """The jobs of an experiment that send messages.

    Raises:
        ExperimentError: The experiment has mistakes.
        OdonataError: The machine is not a torus whose axes are letters.
    """
    return [Job(**job) for job in read(experiment, set).mapped_jobs()]


@dataclass(frozen=True)
class Figures:
    """Cost of a mapping."""

    hops_per_byte: float
    """Mean hops of a byte between different ranks; 0 on one node."""
    largest_link_bytes: float
    """Most bytes on a link with dimension order and minimal directions; equal distances split in half."""
    mean_link_bytes: float
    """Mean over all links, a lower bound of the largest load for any routing with this mapping."""


def hops(job: Job, place_of_rank: Integers) -> float:
    """Mean hops per byte."""
    sum_of_hops = np.zeros(len(job.sources), dtype=np.int64)
    for axis, at in enumerate(job.coordinates(place_of_rank)):
        steps = np.abs(at[job.sources] - at[job.targets])
        sum_of_hops += np.minimum(steps, job.sizes[axis] - steps) if job.wraps[axis] else steps
    return float((sum_of_hops * job.bytes.astype(np.float64)).sum()) / max(job.total_bytes, 1.0)


def measure(job: Job, place_of_rank: Integers | None = None) -> Figures:
    """Cost of a mapping; `place_of_rank` is the place of each rank, by default the experiment's."""
    places = job.place_of_rank if place_of_rank is None else place_of_rank
    byte_hops_mean = hops(job, places)
    loads = link_loads(job, places)
    largest = max((float(load.max(initial=0.0)) for load in loads), default=0.0)
    return Figures(byte_hops_mean, largest, byte_hops_mean * job.total_bytes / max(job.links, 1))


def link_loads(job: Job, place_of_rank: Integers) -> list[Integers]:
    """Bytes on each link: per axis an array (2, nodes) of links up and down, by source node.

    In a ring of two, both links between the two nodes carry the same.
    """
    at = [axis[job.sources] for axis in job.coordinates(place_of_rank)]
    to = [axis[job.targets] for axis in job.coordinates(place_of_rank)]
    weight = job.bytes.astype(np.float64)
    loads = []
    for axis, (size, ring) in enumerate(zip(job.sizes, job.wraps, strict=True)):
        # Earlier axes are finished, later ones follow.
        others = [(to if other < axis else at)[other] for other in range(len(job.sizes)) if other != axis]
        across = [other for number, other in enumerate(job.sizes) if number != axis]
        start = at[axis]
        line = np.ravel_multi_index(others, across) if others else np.zeros_like(start)
        up = (to[axis] - start) % size if ring else np.maximum(to[axis] - start, 0)
        down = (start - to[axis]) % size if ring else np.maximum(start - to[axis], 0)
        if ring:
            share = np.where(up == down, 0.5, 1.0) * weight
            goes_up, goes_down = (up > 0) & (up <= down), (down > 0) & (down <= up)
        else:
            share, goes_up, goes_down = weight, up > 0, down > 0
        lines = int(np.prod(job.sizes)) // size
        rising = _covered(line[goes_up], start[goes_up], up[goes_up], share[goes_up], lines, size)
        low = (start - down + 1) % size
        falling = _covered(line[goes_down], low[goes_down], down[goes_down], share[goes_down], lines, size)
        if size == 2 and ring:
            # Up and down are the same pair of links, which share the traffic of both directions.
            rising = falling = (rising + falling) / 2
        both = [np.moveaxis(load.T.reshape([size, *across]), 0, axis).ravel() for load in (rising, falling)]
        loads.append(np.stack(both))
    return loads


def _covered(
    line: Integers, first: Integers, steps: Integers, share: Integers, lines: int, size: int
) -> Integers:
    """Sums (lines, size) of shares over the `steps` cells from `first` on, around a ring."""
    change = np.zeros(lines * (size + 1))
    for column, sign in ((first, 1.0), (np.minimum(first + steps, size), -1.0)):
        change += np.bincount(line * (size + 1) + column, sign * share, minlength=len(change))
    beyond = first + steps - size
    over = beyond > 0
    for column, sign in ((beyond * 0, 1.0), (beyond, -1.0)):
        where = (line * (size + 1) + column)[over]
        change += np.bincount(where, sign * share[over], minlength=len(change))
    sums: Integers = np.cumsum(change.reshape(lines, size + 1), axis=1)[:, :size]
    return sums


def write_map_file(job: Job, place_of_rank: Integers, path: str | Path) -> None:
    """Writes a mapping as a map file: line r has the coordinates of rank r and its `T`."""
    places = np.stack(np.unravel_index(np.asarray(place_of_rank, dtype=np.int64), job.box), axis=1)
    np.savetxt(path, places, fmt="%d")
