"""Jobs of trace replays: workload files of CODES and configurations of TraceR.

What a job sends stands in traces (DUMPI, OTF2, BigSim), which are not read: the caller says a pattern. Ranks,
names and where ranks are come from the files.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from odonata import toml
from odonata.errors import OdonataError


@dataclass(frozen=True)
class ReplayJob:
    """A job of a replay.

    Attributes:
        source: Its trace, or the word that stands for one (`synthetic`).
        ranks: Its ranks.
        placement: The placement of the experiment file, if the files say one.
    """

    source: str
    ranks: int
    placement: Mapping[str, Any] | None


def codes(path: Path, allocation: Path | None, beside: Path) -> list[ReplayJob]:
    """The jobs of a workload file (`--workload_conf_file`): a line for each, ranks, trace, and what follows.

    Args:
        path: The file.
        allocation: The file of `--alloc_file`, a line of nodes for each job.
        beside: The directory of the experiment file: paths are seen from there.

    Raises:
        OdonataError: A line of another form, or an allocation of other sizes; with the line.
    """
    jobs: list[ReplayJob] = []
    places = None if allocation is None else _filled(allocation)
    for number, words in _filled(path):
        if len(words) < 2:
            raise OdonataError(
                f"{path}, line {number}: '{words[0]}'; expected ranks and a trace: 216 amg/dumpi-"
            )
        ranks = _count(path, number, words[0], "ranks")
        placement = None
        if places is not None and allocation is not None:
            if len(jobs) == len(places):
                raise OdonataError(
                    f"{allocation} has {len(places)} jobs; line {number} of {path} is one more"
                )
            line, nodes = places[len(jobs)]
            if len(nodes) != ranks:
                raise OdonataError(
                    f"{allocation}, line {line}: {len(nodes)} nodes; job {len(jobs)} has {ranks} ranks"
                )
            placement = _file(allocation, "codes", len(jobs), beside)
        jobs.append(ReplayJob(words[1], ranks, placement))
    if not jobs:
        raise OdonataError(f"{path} has no jobs; expected lines as '216 amg/dumpi-'")
    if places is not None and len(places) > len(jobs):
        raise OdonataError(f"{allocation} has {len(places)} jobs, {path} has {len(jobs)}")
    return jobs


def tracer(path: Path, beside: Path) -> list[ReplayJob]:
    """The jobs of a configuration of TraceR: global map or NA, number of jobs, then a line for each.

    A line has the trace, the job's map, its ranks and (since version 1.1) iterations. The global map says
    where all ranks are; maps of jobs say the same again and are not read. Lines after the jobs (`S`, `E`, ..)
    change times of a replay and are not read either.

    Raises:
        OdonataError: A line of another form, fewer jobs than announced; with the line.
    """
    lines = _filled(path)
    if len(lines) < 2 or len(lines[0][1]) != 1 or len(lines[1][1]) != 1:
        raise OdonataError(f"{path}, line 1: expected a global map or NA, then the number of jobs")
    (_, (globally,)), (number, (announced,)), *rest = lines
    count = _count(path, number, announced, "jobs")
    if len(rest) < count:
        raise OdonataError(f"{path}, line {number}: {count} jobs; {len(rest)} lines follow")
    jobs = []
    for job, (at, words) in enumerate(rest[:count]):
        if len(words) not in (3, 4):
            raise OdonataError(
                f"{path}, line {at}: {len(words)} words; expected trace, map, ranks, iterations"
            )
        ranks = _count(path, at, words[2], "ranks")
        if len(words) == 4:
            _count(path, at, words[3], "iterations")
        placement = None if globally == "NA" else _file(path.parent / globally, "tracer", job, beside)
        jobs.append(ReplayJob(words[0], ranks, placement))
    for at, words in rest[count:]:
        if not re.fullmatch("[A-Z]", words[0]):
            raise OdonataError(f"{path}, line {at}: '{words[0]}' after the {count} jobs of line {number}")
    return jobs


def experiment(jobs: Sequence[ReplayJob], *, pattern: str, machine: Mapping[str, Any] | None) -> str:
    """The text of an experiment file, or of its jobs alone where no `[machine]` is given."""
    parts = [] if machine is None else ["format = 2\n\n[machine]\n" + toml.document(machine)]
    for number, job in enumerate(jobs):
        keys: dict[str, Any] = {
            "name": f"{_name(job.source)}-{number}",
            "pattern": pattern,
            "ranks": job.ranks,
        }
        if job.placement is not None:
            keys["placement"] = job.placement
        parts.append(f"# {job.source}\n[[job]]\n" + toml.document(keys))
    if machine is not None:
        parts.append('[engine]\nkind = "flow"\n')
    return "\n".join(parts)


def _name(source: str) -> str:
    """The directory of a trace, which says more than its file, or the word."""
    parts = [part for part in re.split(r"[/\\]+", source) if part]
    word = parts[-2] if len(parts) > 1 else parts[0]
    return re.sub(r"[^\w-]+", "-", word, flags=re.ASCII).strip("-") or "job"


def _file(path: Path, kind: str, job: int, beside: Path) -> dict[str, Any]:
    return {"name": "file", "path": os.path.relpath(path, beside), "format": kind, "job": job}


def _filled(path: Path) -> list[tuple[int, list[str]]]:
    """The words of the lines that have some."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        raise OdonataError(f"{path} is no text; expected a line for each job") from None
    except OSError as error:
        raise OdonataError(f"{path} cannot be read: {error.strerror}") from None
    return [(number, line.split()) for number, line in enumerate(lines, 1) if line.strip()]


def _count(path: Path, line: int, word: str, what: str) -> int:
    if not (word.isascii() and word.isdigit()) or not 0 < int(word) < 1 << 32:
        raise OdonataError(f"{path}, line {line}: '{word}' {what}; expected a whole number from 1")
    return int(word)
