"""The command `odonata`. Each subcommand reads its arguments, calls the API and prints the result.

To add a command, write a module in `commands` with a click command called `command`, and add a line to
`COMMANDS`.
"""

from __future__ import annotations

import click

from odonata import __version__
from odonata.cli.group import Entry, Group

COMMANDS = {
    "examples": Entry("First steps", "List the examples and studies of this package; copy one."),
    "new": Entry("First steps", "Write an experiment file from a machine and jobs, or for a comparison."),
    "run": Entry("Experiments", "Run an experiment file and write its run directory."),
    "check": Entry("Experiments", "Check an experiment file without running it."),
    "sweep": Entry("Experiments", "Run every combination of a file's [sweep] or [interference]."),
    "optimize": Entry("Experiments", "Search a file's [sweep] for the best configurations."),
    "characterize": Entry("Experiments", "Measure messages, bytes and injection rate of each job."),
    "map": Entry("Experiments", "Price a job's mapping on a torus and search for a better one."),
    "gpcnet": Entry("Experiments", "Run GPCNeT: tests of the network alone, then with congestors."),
    "study": Entry("Experiments", "Run a study, judge its claims and write its page."),
    "show": Entry("Results", "Show a run: its summary, hottest links and the jobs on them."),
    "explain": Entry("Results", "Explain a job's time: bottleneck, competing jobs and their cost."),
    "counters": Entry("Results", "Show hardware counters; find one that predicts a job's time."),
    "compare": Entry("Results", "Compare runs by link class, job and link."),
    "view": Entry("Results", "View runs in the browser."),
    "plot": Entry("Results", "Draw figures of a run."),
    "export": Entry("Results", "Write a run in another program's format."),
    "machine": Entry("Machines", "Build and measure a machine; change its cabling."),
    "prices": Entry("Machines", "Print a price list, or what a machine costs."),
    "import": Entry("Machines", "Import files of batch systems and other simulators, or counters of LDMS."),
    "trace": Entry("Machines", "Show what a trace of a real run has, and what a replay uses."),
    "amg": Entry("Models", "Predict and improve algebraic multigrid on a network."),
    "list": Entry("Reference", "List machines, patterns, programs, routings, engines and other names."),
    "schema": Entry("Reference", "Print all keys of experiment files and all columns of tables."),
}
"""Commands in the order of `odonata --help`. Each module is imported when its command is used."""


@click.group(cls=Group, commands_by_name=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="odonata")
def main() -> None:
    """Odonata, a workbench for supercomputer interconnects.

    An experiment file describes a machine, its cabling, jobs, their placement and the routing. A run gives
    the bytes on every link, the job they belong to, and the effect on each job's time.

    \b
    odonata new --like dragonfly-1056 --job halo:216 --job incast:64 -o first.toml
    odonata run first.toml
    odonata explain runs/first
    odonata run first.toml --set engine.routing=min -o runs/minimal
    odonata compare runs/first runs/minimal
    odonata view runs/first runs/minimal

    Help on a command: odonata COMMAND --help. All keys of the file: odonata schema --page.
    """  # noqa: D301 - \b keeps click from wrapping the next lines
