"""A run in one sentence: its slowest job, what limits it, and whose traffic that is."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from odonata.analysis.bottleneck import Row
from odonata.analysis.job_bottleneck import busiest, times_of
from odonata.analysis.links import Floats, floats, job_bytes, link_name, of_class
from odonata.analysis.terms import cost_rows, slowest_level
from odonata.quantity import digits, percent, quantity
from odonata.store.arrays import numbers
from odonata.store.run import RunData

LIMITS_FROM = 0.5
"""A link that is busy for a smaller share of a job's time does not limit the job."""
EVEN = 0.05
"""Cables between two groups are named together if their traffic differs by at most this share."""


@dataclass(frozen=True)
class Headline:
    """A sentence, and the place that it names.

    Examples:
        >>> str(odonata.analysis.headline(odonata.load("runs/both")))
        '2 jobs on dragonfly...'
    """

    parts: tuple[tuple[str, str], ...]
    """Words, and what they name: `job:0`, `link:NAME`, `pair:1>2`, `node:NAME`; empty for plain words."""
    label: str = ""
    """The place in few words; empty without a place."""
    links: tuple[int, ...] = ()
    """Numbers of the links of the place; empty for a NIC."""

    def __str__(self) -> str:
        return "".join(words for words, _ in self.parts)


@dataclass
class _Sentence:
    parts: list[tuple[str, str]] = field(default_factory=list)

    def add(self, words: str, names: str = "") -> None:
        self.parts.append((words, names))


def headline(run: RunData) -> Headline:
    """The slowest job of a run, its bottleneck and the traffic there; without job times, the hottest links.

    Examples:
        >>> odonata.analysis.headline(odonata.load("runs/both")).label
        'injection port'
    """
    jobs = run.jobs["name"].to_pylist()
    machine = run.summary["machine"]["name"]
    said = _Sentence()
    number = f"{len(jobs):,} jobs on" if len(jobs) > 1 else "1 job on" if jobs else "No jobs are known on"
    times = times_of(run)
    said.add(f"{number} {machine}{':' if times and len(jobs) == 1 else '.'} ")
    if not times:
        return _of_links(run, said, jobs)
    slowest = max(times, key=lambda job: times[job])
    if len(jobs) > 1:
        said.add("Slowest: ")
    said.add(jobs[slowest], f"job:{slowest}")
    said.add(f", {quantity(times[slowest], 's')}")
    if (costs := cost_rows(run, slowest)) is not None:
        first = costs[0][0]
        said.add(f"; largest term of its slowest rank: {first['term']}, {percent(first['share'])}.")
    elif (level := slowest_level(run, slowest)) is not None:
        said.add(f"; longest level: {level['level']}, {percent(level['share'])}, mostly {level['term']}.")
    elif run.routed and run.link_jobs.num_rows:
        found = busiest(run, slowest, times[slowest])
        if found is not None:
            return _of_bottleneck(run, said, jobs[slowest], *found)
    if said.parts[-1][0][-1] != ".":
        said.add(".")
    return Headline(tuple(said.parts))


def _of_bottleneck(run: RunData, said: _Sentence, job: str, first: Row, rows: list[Row]) -> Headline:
    limits = first["share"] >= LIMITS_FROM
    said.add(", limited by " if limits else "; busiest: ")
    place = _place(run, first["link"], first["name"])
    said.add(place.words, place.focus)
    said.add(place.detail)
    if not limits:
        said.add(f", {percent(first['share'])} busy")
    if first["link"] is not None:
        own = sum(row["share"] for row in rows if row["name"] == job)
        others = [row for row in rows if row["name"] != job]
        said.add(f", {percent(own)} of it its own traffic")
        if others and own < 1 - EVEN:
            said.add(f", {percent(others[0]['share'])} of {others[0]['name']}")
    said.add(".")
    return Headline(tuple(said.parts), place.label, place.links)


def _of_links(run: RunData, said: _Sentence, jobs: list[str]) -> Headline:
    """Without times: the job with the highest latency, and the hottest links."""
    if "latency_mean_ns" in run.jobs.column_names and len(jobs) > 1:
        latency = [one or 0.0 for one in run.jobs["latency_mean_ns"].to_pylist()]
        worst = max(range(len(jobs)), key=lambda job: latency[job])
        if latency[worst]:
            said.add("Highest mean latency: ")
            said.add(jobs[worst], f"job:{worst}")
            said.add(f", {quantity(latency[worst], 'ns')}. ")
    values = floats(run.links, "bytes") if "bytes" in run.links.column_names else np.zeros(0)
    if not run.routed or not values.size or not np.nanmax(values, initial=0.0):
        unknown = run.routed and values.size > 0 and bool(np.isnan(values).all())
        said.add("Traffic was not measured." if unknown else "No link has traffic.")
        return Headline(tuple(said.parts))
    hottest = int(np.nanargmax(values))
    place = _place(run, hottest, link_name(run.links, run.routers, hottest))
    said.add("Hottest: ")
    said.add(place.words, place.focus)
    said.add(place.detail)
    if run.link_jobs.num_rows and len(jobs) > 1:
        numbers = run.jobs["job"].to_pylist()
        shares = [job_bytes(run.links, run.link_jobs, job)[hottest] for job in numbers]
        most = int(np.argmax(shares))
        said.add(f", {percent(shares[most] / values[hottest])} of it traffic of ")
        said.add(jobs[most], f"job:{numbers[most]}")
    said.add(".")
    return Headline(tuple(said.parts), place.label, place.links)


@dataclass(frozen=True)
class _Place:
    words: str
    detail: str
    focus: str
    label: str
    links: tuple[int, ...]


def _place(run: RunData, link: int | None, name: str) -> _Place:
    """A NIC port, a link, or all cables between two groups if they carry the same."""
    if link is None:
        return _Place(f"the {name}", "", f"node:{name.rsplit(' ', 1)[-1]}", name.split(" of ")[0], ())
    values = floats(run.links, "bytes")
    link_class = run.links["class"][link].as_py()
    if not values[link] > 0:  # NaN, too
        return _Place(name, "", f"link:{name}", f"{link_class} link", (link,))
    mean = np.nanmean(values[of_class(run.links, link_class)])
    amount = quantity(values[link], "bytes")
    times = f"{digits(values[link] / mean)} times the mean of {link_class} links"
    cables = _cables_like(run.links, run.routers, link, values)
    if len(cables) == 1:
        return _Place(name, f" ({amount}, {times})", f"link:{name}", f"{link_class} link, {amount}", (link,))
    group = numbers(run.routers["group"])
    ends = [int(group[run.links[end][link].as_py()]) for end in ("source", "target")]
    noun = f"{len(cables)} {link_class} cables"
    return _Place(
        f"the {noun} from group {ends[0]} to group {ends[1]}",
        f" ({amount} each, {times})",
        f"pair:{ends[0]}>{ends[1]}",
        f"{noun}, {amount} each",
        tuple(map(int, cables)),
    )


def _cables_like(links: pa.Table, routers: pa.Table, link: int, values: Floats) -> np.ndarray:
    """The links of the same class between the same two groups, if their traffic is even; else the link."""
    group = numbers(routers["group"])
    source, target = (group[numbers(links[end])] for end in ("source", "target"))
    alone = np.array([link])
    if source[link] == target[link]:
        return alone
    same = (source == source[link]) & (target == target[link])
    same &= of_class(links, links["class"][link].as_py())
    found = np.flatnonzero(same)
    return found if values[found].min() >= (1 - EVEN) * values[found].max() else alone
