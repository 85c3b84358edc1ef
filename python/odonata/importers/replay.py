"""Jobs of trace replays: workload files of CODES and configurations of TraceR.

A DUMPI set or an OTF2 archive that is there is replayed. BigSim's traces are not read, so the caller gives
a pattern. Synthetic workloads of CODES contain their pattern. Ranks, names, iterations and placements come
from the files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from odonata.errors import OdonataError
from odonata.files import read_lines
from odonata.importers.jobs import ImportedJob, file_name, listed
from odonata.quantity import counted

SYNTHETIC: Mapping[int, str] = {
    1: "uniform",
    2: "shift",
    3: "all-to-all",
    4: "stencil-2d",
    5: "random-permutation",
    6: "shift",
}
"""CODES' patterns by number: uniform, nearest neighbour, all to all, stencil, permutation, bisection."""
BISECTION = 6


def codes(
    path: Path,
    allocation: Path | None,
    directory: Path,
    *,
    pattern: str = "uniform",
    message_bytes: str | None = None,
) -> list[ImportedJob]:
    """The jobs of a workload file (`--workload_conf_file`): one line each with ranks, trace, and options.

    Args:
        path: The file.
        allocation: The file of `--alloc_file`, a line of nodes for each job.
        directory: Directory of the experiment file; its paths are relative to it.
        pattern: Pattern of jobs that replay a trace.
        message_bytes: Size of each message, from the command line of CODES; by default from the pattern.

    Raises:
        OdonataError: A line has another form, or the allocation another size; the message gives the line.
    """
    jobs: list[ImportedJob] = []
    places = None if allocation is None else _filled(allocation)
    for number, words in _filled(path):
        if len(words) < 2:
            raise OdonataError(
                f"{path}, line {number}: '{words[0]}'; expected ranks and a trace, like 216 amg/dumpi-"
            )
        ranks = _count(path, number, words[0], "ranks")
        synthetic = _synthetic(path, number, words[1], ranks)
        sends = synthetic or {"name": pattern}
        if message_bytes is not None:
            sends["bytes"] = message_bytes
        placement: dict[str, Any] = {}
        if places is not None and allocation is not None:
            if len(jobs) == len(places):
                raise OdonataError(
                    f"{allocation} has {len(places)} jobs, but line {number} of {path} is another job"
                )
            line, nodes = places[len(jobs)]
            if len(nodes) != ranks:
                raise OdonataError(
                    f"{allocation}, line {line}: {len(nodes)} nodes, but job {len(jobs)} has {ranks} ranks"
                )
            placement = _file(allocation, "codes", len(jobs), directory)
        program = None if synthetic else _dumpi(path.parent / words[1], directory)
        replaced = None if synthetic or program else words[1]
        jobs.append(_job(words[1], len(jobs), ranks, sends, placement, replaced, program))
    if not jobs:
        raise OdonataError(f"{path} has no jobs; expected lines like '216 amg/dumpi-'")
    if places is not None and len(places) > len(jobs):
        raise OdonataError(f"{allocation} has {len(places)} jobs, but {path} has {len(jobs)}")
    return jobs


def tracer(path: Path, directory: Path, *, pattern: str = "uniform") -> list[ImportedJob]:
    """The jobs of a TraceR configuration: global map or NA, number of jobs, then a line for each.

    A line has the trace, the job's map, its ranks and (since version 1.1) iterations. The global map places
    all ranks; maps of jobs repeat it and are not read. Lines after the jobs (`S`, `E`, ..) change times of a
    replay and are not read.

    Raises:
        OdonataError: A line has another form, or jobs are missing; the message gives the line.
    """
    lines = _filled(path)
    if len(lines) < 2 or len(lines[0][1]) != 1 or len(lines[1][1]) != 1:
        raise OdonataError(f"{path}, line 1: expected a global map or NA, then the number of jobs")
    (_, (globally,)), (number, (announced,)), *rest = lines
    count = _count(path, number, announced, "jobs")
    if len(rest) < count:
        raise OdonataError(f"{path}, line {number}: {count} jobs, but {len(rest)} lines follow")
    jobs = []
    for job, (at, words) in enumerate(rest[:count]):
        if len(words) not in (3, 4):
            raise OdonataError(
                f"{path}, line {at}: {len(words)} words; expected trace, map, ranks, iterations"
            )
        ranks = _count(path, at, words[2], "ranks")
        sends: dict[str, Any] = {"name": pattern}
        if len(words) == 4 and (iterations := _count(path, at, words[3], "iterations")) > 1:
            sends["iterations"] = iterations
        placement = {} if globally == "NA" else _file(path.parent / globally, "tracer", job, directory)
        program = _otf2(path.parent / words[0], directory)
        replaced = None if program else words[0]
        jobs.append(_job(words[0], job, ranks, sends, placement, replaced, program))
    for at, words in rest[count:]:
        if not re.fullmatch("[A-Z]", words[0]):
            raise OdonataError(f"{path}, line {at}: '{words[0]}' after the {count} jobs of line {number}")
    return jobs


def codes_notes(path: Path, jobs: Sequence[ImportedJob], *, sized: bool) -> Iterator[str]:
    """What the workload file does not say, and what stands for it; a line each.

    Args:
        path: The file.
        jobs: Its jobs.
        sized: Whether the user gave the size of messages.
    """
    lines = _filled(path)
    yield f"CODES workload file: {_sizes(jobs)}"
    read = {
        words[1]: job
        for (_, words), job in zip(lines, jobs, strict=True)
        if job.replaced is None and job.program is None
    }
    for word, job in read.items():
        yield f"{word} is read as pattern '{_pattern_name(job)}'"
    yield from replaced_notes(jobs)
    if read and not sized:
        yield "sizes of messages come from the patterns: the file gives none (set --bytes)"
    if rest := list(dict.fromkeys(" ".join(words[2:]) for _, words in lines if len(words) > 2)):
        yield f"what follows the workload on a line is not read: {listed(rest)}"


def _sizes(jobs: Sequence[ImportedJob]) -> str:
    return f"{counted(len(jobs), 'job')}, {counted(sum(job.ranks for job in jobs), 'rank')}"


def tracer_notes(path: Path, jobs: Sequence[ImportedJob]) -> Iterator[str]:
    """What the configuration does not say, and what stands for it; a line each."""
    yield f"TraceR configuration: {_sizes(jobs)}"
    yield from replaced_notes(jobs)
    if rest := len(_filled(path)) - 2 - len(jobs):
        yield f"not read: {counted(rest, 'line')} after the jobs"


def replaced_notes(jobs: Sequence[ImportedJob]) -> Iterator[str]:
    """The workloads that a pattern stands for: a file names them, but does not have their messages."""
    by_pattern: dict[str, list[ImportedJob]] = {}
    for job in jobs:
        if job.replaced is not None:
            by_pattern.setdefault(_pattern_name(job), []).append(job)
    for pattern, of in by_pattern.items():
        words = listed(list(dict.fromkeys(str(job.replaced) for job in of)))
        yield (
            f"pattern '{pattern}' replaces {words}: the file only names "
            f"{'it' if len(of) == 1 else 'them'} (set --pattern, or pattern or program in the experiment)"
        )


def _pattern_name(job: ImportedJob) -> str:
    return job.pattern if isinstance(job.pattern, str) else str(job.pattern["name"])


def _job(
    source: str,
    number: int,
    ranks: int,
    sends: dict[str, Any],
    placement: dict[str, Any],
    replaced: str | None,
    program: dict[str, Any] | None = None,
) -> ImportedJob:
    """A job with the name of its trace, or of the keyword that replaces one."""
    pattern = sends["name"] if len(sends) == 1 else sends
    return ImportedJob(f"{_name(source)}-{number}", ranks, pattern, None, placement, replaced, program)


def _dumpi(prefix: Path, directory: Path) -> dict[str, Any] | None:
    """The replay of a DUMPI set, if it is there: CODES names it up to the number of a rank, as `dumpi-`."""
    meta = prefix.with_name(prefix.name.removesuffix("-") + ".meta")
    return {"name": "trace", "path": file_name(meta, directory)} if meta.is_file() else None


def _otf2(anchor: Path, directory: Path) -> dict[str, Any] | None:
    """The replay of an OTF2 archive, if it is there: TraceR names its anchor file."""
    is_there = anchor.suffix == ".otf2" and anchor.is_file()
    return {"name": "trace", "path": file_name(anchor, directory)} if is_there else None


def _synthetic(path: Path, line: int, word: str, ranks: int) -> dict[str, Any] | None:
    """The pattern of a synthetic workload; None for a trace."""
    match = re.fullmatch(r"synthetic(\d+)", word)
    if match is None:
        return None
    kind = int(match[1])
    if kind not in SYNTHETIC:
        raise OdonataError(
            f"{path}, line {line}: '{word}'; expected synthetic1 to synthetic{max(SYNTHETIC)}",
            hint="Use 1 uniform, 2 nearest neighbour, 3 all to all, 4 stencil, 5 permutation, 6 bisection.",
        )
    found: dict[str, Any] = {"name": SYNTHETIC[kind]}
    if kind == BISECTION:
        found["offset"] = max(1, ranks // 2)
    return found


def _name(source: str) -> str:
    """The directory of a trace (more descriptive than its file), or the word."""
    parts = [part for part in re.split(r"[/\\]+", source) if part]
    word = parts[-2] if len(parts) > 1 else parts[0]
    return re.sub(r"[^\w-]+", "-", word, flags=re.ASCII).strip("-") or "job"


def _file(path: Path, kind: str, job: int, directory: Path) -> dict[str, Any]:
    return {"name": "file", "path": file_name(path, directory), "format": kind, "job": job}


def _filled(path: Path) -> list[tuple[int, list[str]]]:
    lines = read_lines(path, "a line for each job")
    return [(number, line.split()) for number, line in enumerate(lines, 1) if line.strip()]


def _count(path: Path, line: int, word: str, what: str) -> int:
    if not (word.isascii() and word.isdigit()) or not 0 < int(word) < 1 << 32:
        raise OdonataError(f"{path}, line {line}: '{word}' {what}; expected a positive integer")
    return int(word)
