"""The text of a new experiment file, with its assumptions as comments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from odonata import toml
from odonata._core import Experiment
from odonata.drafts.jobs import JobDraft
from odonata.drafts.machine_word import machine_draft
from odonata.errors import OdonataError
from odonata.prices.price_list import PriceList
from odonata.prices.sizing import Design

PLACED = 'placement = "random-nodes"    # assumed: free nodes of a busy machine are scattered; or "compact"\n'


@dataclass(frozen=True)
class Draft:
    """A new file."""

    text: str
    command: str
    """What to do with it: `run` or `sweep`."""
    notes: tuple[str, ...] = ()
    """What to say about it."""


def experiment(
    like: str, jobs: Sequence[JobDraft], *, engine: str | None = None, directory: Path = Path()
) -> Draft:
    """An experiment on one machine.

    Args:
        like: A preset, a topology, or a file of cables.
        jobs: The jobs; without any, a stencil and an all-to-all on a quarter of the nodes each.
        engine: `flow` or `packet`; by default `packet` if a job is a program.
        directory: Directory of the new file.

    Raises:
        OdonataError: The machine is unknown, or too small for the jobs.

    Examples:
        >>> draft = odonata.drafts.experiment("dragonfly-1056", [odonata.drafts.read_job("halo:216")])
        >>> odonata.check(draft.text)["summary"]["engine"]
        'packet'
    """
    machine = machine_draft(like, directory)
    jobs = _named(jobs or _default_jobs(machine.nodes))
    kind = engine or _engine(jobs)
    hint = "Take fewer ranks, or a larger machine."
    per_node = _ranks_per_node(jobs, machine.nodes, machine.cores_per_node, hint)
    notes = "".join(f"# {note}\n" for note in machine.notes)
    parts = [
        f"format = 3\n\n{notes}[machine]\n{toml.document(machine.keys)}",
        *(_job(job, per_node) for job in jobs),
        _engine_section(kind),
    ]
    return Draft("\n".join(parts), "run")


def comparison(
    designs: Sequence[Design], jobs: Sequence[JobDraft], prices: PriceList, *, engine: str | None = None
) -> Draft:
    """A sweep over machines of several families, each with its default routing, with three seeds."""
    smallest = min(design.nodes for design in designs)
    jobs = _named(jobs or _default_jobs(smallest))
    kind = engine or _engine(jobs)
    ranks = sum(job.ranks for job in jobs)
    _ranks_per_node(jobs, smallest, 1, f"Each rank gets a node here. Ask for as many: --nodes {ranks}")
    first, *_ = designs
    lines = "".join(f"#   {line}\n" for line in table(designs))
    tori = any(design.machine["topology"] == "torus" for design in designs)
    balanced = "Every family except the torus" if tori else "Every family"
    head = (
        f"# Prices of hardware by the list {prices.name} of {prices.date}, in {prices.currency}; "
        f"`odonata prices` prints it:\n{lines}"
        f"# {balanced} is balanced for uniform traffic. The jobs have the same size on all machines.\n\n"
        f"format = 3\n\n[machine]\n{toml.document(first.machine)}"
    )
    parts = [
        head,
        *(_job(job, 1) for job in jobs),
        _engine_section(kind),
    ]
    base = "\n".join(parts)
    choices = cables = ""
    for design in designs:
        given = Experiment(base, "<draft>", [f"machine={toml.value(design.machine)}"]).check()
        routing = given["summary"]["routing"]
        setting = {"machine": design.machine, "engine.routing": routing}
        choices += f"{toml.key(design.family)} = {toml.value(setting)}\n"
        cables += f"#   {design.family}: {_cables(given['summary']['assumptions'])}\n"
    text = (
        f'{base}\n[sweep]\n"engine.seed" = [1, 2, 3]\n\n'
        "# Each line is one choice: a machine with the default routing of its family.\n"
        f"[sweep.network]\n{choices}"
        f"\n# Assumed of the cables, by the defaults of each family:\n{cables}"
    )
    return Draft(text, "sweep", tuple(table(designs)))


def _cables(assumptions: Sequence[Mapping[str, str]]) -> str:
    """Bandwidth and latency of each class of links that a machine gets by default."""
    classes: dict[str, list[str]] = {}
    for known in assumptions:
        match known["key"].split("."):
            case ["machine", "class", name, "bandwidth" | "latency"]:
                classes.setdefault(name, []).append(known["value"].strip('"'))
    return "; ".join(f"{name} {', '.join(values)}" for name, values in classes.items())


def table(designs: Sequence[Design]) -> list[str]:
    """Family, nodes, price, price per node and bisection of designs; a line each, with a heading."""
    rows = [("family", "nodes", "price", "per node", "power, kW", "bisection at most, TB/s")]
    for design in designs:
        total = design.bill.total
        rows.append(
            (
                design.family,
                f"{design.nodes:,}",
                f"{total:,.0f}",
                f"{total / design.nodes:,.0f}",
                f"{design.bill.power_w / 1e3:,.1f}",
                f"{design.bisection / 1e12:,.2f}",
            )
        )
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]


def _default_jobs(nodes: int) -> list[JobDraft]:
    ranks = max(nodes // 4, 2)
    return [
        JobDraft("stencil", "pattern", "stencil-3d", ranks),
        JobDraft("transpose", "pattern", "all-to-all", ranks),
    ]


def _named(jobs: Sequence[JobDraft]) -> list[JobDraft]:
    """The jobs with different names: a second `halo` is `halo-2`."""
    seen: dict[str, int] = {}
    named = []
    for job in jobs:
        seen[job.name] = seen.get(job.name, 0) + 1
        count = seen[job.name]
        named.append(job if count == 1 else replace(job, name=f"{job.name}-{count}"))
    return named


def _engine(jobs: Sequence[JobDraft]) -> str:
    return "packet" if any(job.kind == "program" for job in jobs) else "flow"


def _ranks_per_node(jobs: Sequence[JobDraft], nodes: int, cores: int, hint: str) -> int:
    ranks = sum(job.ranks for job in jobs)
    per_node = next((n for n in range(1, cores + 1) if sum(-(-job.ranks // n) for job in jobs) <= nodes), 0)
    if not per_node:
        limit = f"{nodes:,} nodes" + (f" of {cores} cores" if cores > 1 else "")
        raise OdonataError(f"the jobs have {ranks:,} ranks, but the machine has {limit}", hint=hint)
    return per_node


def _job(job: JobDraft, per_node: int) -> str:
    why = "one rank per node, which drives its NIC" if per_node == 1 else "as many as it takes to fit"
    value = job.value()
    # A plain name has no parameters that results depend on.
    assumed = "sizes and times" if job.bytes is None else "the values besides bytes"
    note = "" if not value.startswith("{") else f"# assumed: {assumed} are defaults of the {job.kind}\n"
    return (
        f"[[job]]\nname = {toml.value(job.name)}\n{note}{job.kind} = {value}\n"
        f"ranks = {job.ranks}\nranks_per_node = {per_node}    # assumed: {why}\n{PLACED}"
    )


def _engine_section(kind: str) -> str:
    says = {
        "packet": "every packet with latencies, queues and routing decisions",
        "flow": 'the steady state in seconds, without latencies; or "packet"',
    }
    return f'[engine]\nkind = "{kind}"    # {says.get(kind, "")}\nseed = 1\n'


def with_assumptions(text: str, lines: Sequence[str]) -> str:
    """The text with what it assumes as comments at its end."""
    if not lines:
        return text
    comments = "".join(f"#   {line}\n" for line in lines)
    return f"{text}\n# Assumed, since this file does not say it:\n{comments}"


def header(command: str, name: str, verb: str) -> str:
    """The first lines of a file: how it was made, and what to do next."""
    stem = Path(name).stem
    next_steps = (
        f"#   odonata sweep {name}\n#   odonata plot runs/{stem}-sweep\n"
        if verb == "sweep"
        else f"#   odonata run {name}\n#   odonata explain runs/{stem}\n"
    )
    return f"# Made by: {command}\n#\n{next_steps}\n"


def check(text: str, name: str) -> Mapping[str, Any]:
    """Checks a new file before it is written: every file runs.

    Raises:
        OdonataError: It does not; the error is the same as in `odonata check`.
    """
    found = Experiment(text, name).check()
    Experiment(text, name).sweep()
    return found
