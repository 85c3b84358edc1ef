"""`odonata new`: write an experiment file from a few words."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from odonata.cli import options
from odonata.cli.output import terminal
from odonata.errors import OdonataError

if TYPE_CHECKING:
    from odonata.drafts import Draft, JobDraft

DEFAULT_MACHINE = "dragonfly-1056"
"""A machine whose runs take seconds."""

_AMOUNTS = {"k": 1e3, "M": 1e6, "G": 1e9}


@dataclass(frozen=True)
class Request:
    """What the user asks for."""

    like: str | None
    jobs: tuple[str, ...]
    queue: Path | None
    families: tuple[str, ...]
    budget: float | None
    nodes: int | None
    prices: str
    engine: str | None

    def command(self) -> str:
        """The command line that makes the same file."""
        words = ["odonata", "new"]
        given = {
            "--like": self.like,
            "--from": self.queue,
            "--compare": ",".join(self.families) or None,
            "--budget": None if self.budget is None else f"{self.budget:.12g}",
            "--nodes": self.nodes,
            "--prices": None if self.prices == "default" else self.prices,
            "--engine": self.engine,
        }
        for option, value in given.items():
            words += [] if value is None else [option, str(value)]
        for job in self.jobs:
            words += ["--job", job]
        return shlex.join(words)


class Amount(click.ParamType):  # type: ignore[type-arg,unused-ignore] # generic since click 8.3
    """A number with k, M or G."""

    name = "amount"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number."""
        if isinstance(value, float):
            return value
        text = str(value).strip()
        factor = _AMOUNTS.get(text[-1:], 1.0)
        try:
            number = float(text.rstrip("".join(_AMOUNTS)).replace(",", "")) * factor
        except ValueError:
            number = 0.0
        if not 0 < number < 1e15:
            self.fail(f"{value!r} is no amount; expected a number such as 1.5M", param, ctx)
        return number


@click.command()
@click.option(
    "--like", metavar="MACHINE", help="A preset (frontier, edison), a topology, or a list of cables."
)
@click.option(
    "--job",
    "jobs",
    metavar="NAME:RANKS[:SIZE]",
    multiple=True,
    help="A program or pattern, such as allreduce:256 or halo:216:1MiB. May be repeated.",
)
@options.path("--from", "queue", metavar="FILE", help="Jobs and nodes from squeue, sacct, bjobs or qstat.")
@click.option(
    "--compare",
    metavar="FAMILIES",
    help="Compare families of one price: fat-tree, dragonfly, dragonfly-plus, hyperx, slim-fly, torus.",
)
@click.option("--budget", type=Amount(), metavar="AMOUNT", help="Price of each machine, such as 1.5M.")
@options.count("--nodes", help="Least number of nodes of each machine.")
@click.option("--prices", metavar="FILE", default="default", help="A price list of your own.")
@click.option(
    "--engine", type=click.Choice(["flow", "packet"]), help="Engine; by what the jobs need if absent."
)
@options.output("FILE", "File to write; new.toml by default. `-` prints it.")
def command(
    like: str | None,
    jobs: tuple[str, ...],
    queue: Path | None,
    compare: str | None,
    budget: float | None,
    nodes: int | None,
    prices: str,
    engine: str | None,
    output: Path | None,
) -> None:
    """Write an experiment file from a machine and jobs, from a batch system, or for a comparison.

    \b
    odonata new --like frontier --job allreduce:256 --job halo:216
    odonata new --compare fat-tree,dragonfly,hyperx --budget 1.5M
    odonata new --from squeue.txt --like topology.conf

    Without options, it asks. The file passes `odonata check`, and its comments say what it assumes.
    """  # noqa: D301 - \b keeps click from wrapping the next lines
    families = tuple(word.strip() for word in compare.split(",") if word.strip()) if compare else ()
    request = Request(like, jobs, queue, families, budget, nodes, prices, engine)
    if not (like or jobs or queue or families):
        request, output = _ask(request, output)
    _refuse_combinations(request)
    target = output or Path("new.toml")
    draft = _draft(request, target)
    text = _finished(draft, target, request.command())
    if str(target) == "-":
        click.echo(text, nl=False)
        return
    try:
        with target.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise OdonataError(
            f"{target} exists and is not overwritten", hint="Name another file with -o."
        ) from None
    for note in draft.notes:
        click.echo(note, err=True)
    click.echo(f"{target}: read its comments, then run: odonata {draft.command} {shlex.quote(str(target))}")


def _refuse_combinations(request: Request) -> None:
    if request.families and (request.like or request.queue):
        raise click.UsageError("--compare cannot be combined with --like or --from.")
    if request.queue and request.jobs:
        raise click.UsageError("--from cannot be combined with --job.")
    if request.families and request.budget is None and request.nodes is None:
        raise click.UsageError("--compare needs --budget or --nodes.")
    if not request.families and (request.budget is not None or request.nodes is not None):
        raise click.UsageError("--budget and --nodes need --compare.")


def _draft(request: Request, target: Path) -> Draft:
    from odonata import drafts

    jobs = [drafts.read_job(text) for text in request.jobs]
    folder = Path() if str(target) == "-" else target.parent
    if request.queue is not None:
        return _from_queue(request.queue, request.like, folder)
    if request.families:
        return _comparison(request, jobs)
    return drafts.experiment(request.like or DEFAULT_MACHINE, jobs, engine=request.engine, directory=folder)


def _comparison(request: Request, jobs: Sequence[JobDraft]) -> Draft:
    from odonata import drafts
    from odonata.prices import PriceList
    from odonata.prices.sizing import compare

    prices = PriceList.load(request.prices)
    designs = compare(request.families, prices, budget=request.budget, nodes=request.nodes)
    return drafts.comparison(designs, jobs, prices, engine=request.engine)


def _from_queue(queue: Path, like: str | None, folder: Path) -> Draft:
    from odonata.drafts import Draft
    from odonata.importers import from_slurm

    if like is None:
        raise click.UsageError(
            "--from needs --like: a preset, topology.conf, ibnetdiscover output or a list of cables."
        )
    found = from_slurm(queue, machine=like, directory=folder)
    notes = "".join(f"# {note}\n" for note in found.notes)
    why = "# assumed: a batch system does not know what a job sends; every job has the pattern `uniform`\n"
    return Draft(f"{notes}{why}\n{found.text}", "run", found.notes)


def _finished(draft: Draft, target: Path, command: str) -> str:
    """The whole text, checked."""
    from odonata.cli.output.assumptions import assumption_lines
    from odonata.drafts import draft as drafting

    name = "new.toml" if str(target) == "-" else str(target)
    checked = drafting.check(draft.text, name)
    summary = checked["summary"]
    known = summary["assumptions"]
    if draft.command == "sweep":
        # Of the first machine only; the draft names the cables of each.
        known = [one for one in known if not one["key"].startswith("machine.class.")]
    lines = assumption_lines(known, len(summary["jobs"]))
    return drafting.header(command, name, draft.command) + drafting.with_assumptions(draft.text, lines)


def _ask(request: Request, output: Path | None) -> tuple[Request, Path | None]:
    """Asks for what the options would give."""
    from odonata import drafts

    click.echo("A new experiment. Press Enter for the value in brackets.")
    like = click.prompt("Machine (see: odonata list presets, odonata list topologies)", DEFAULT_MACHINE)
    jobs: list[str] = []
    while True:
        default = "halo:216" if not jobs else "none"
        text = click.prompt("Job NAME:RANKS, such as allreduce:64 (see: odonata list programs)", default)
        if text == "none":
            break
        try:
            drafts.read_job(text)
        except OdonataError as error:
            terminal.print_error(error)
            continue
        jobs.append(text)
    target = output or Path(click.prompt("File", "new.toml"))
    return Request(like, tuple(jobs), None, (), None, None, request.prices, request.engine), target
