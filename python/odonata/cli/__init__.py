"""The command `odonata`: each subcommand reads its arguments, calls the API, and prints the result.

A new command is a module here with a click command called `command`, and one line in `COMMANDS`.
"""

from __future__ import annotations

import click

from odonata import __version__
from odonata.cli.group import Entry, Group

COMMANDS = {
    "run": Entry("Experiments", "Run an experiment file and write its run directory."),
    "check": Entry("Experiments", "Check an experiment file without running it."),
    "sweep": Entry("Experiments", "Run every combination of a file's [sweep] or [interference]."),
    "optimize": Entry("Experiments", "Look among a file's [sweep] for what its [optimize] asks."),
    "characterize": Entry("Experiments", "What every job of a file asks of the network."),
    "map": Entry("Experiments", "Hops and largest link of a mapping on a torus; a better one."),
    "study": Entry("Experiments", "Run a study, judge its published claims, write its page."),
    "show": Entry("Results", "Summary of a run, its hottest links and the jobs on them."),
    "explain": Entry("Results", "What binds a job, who shares it, what others cost it; where it waited."),
    "counters": Entry("Results", "What links counted, and which counter predicts the time of a job."),
    "compare": Entry("Results", "Differences between runs, per class and job."),
    "view": Entry("Results", "Look at runs in the browser."),
    "plot": Entry("Results", "Draw figures of a run."),
    "export": Entry("Results", "Write a run in another program's format."),
    "machine": Entry("Machines", "Build and measure a machine, with other cabling if wanted."),
    "import": Entry("Machines", "Make an experiment of what other programs say: jobs of Slurm."),
    "amg": Entry("Models", "Algebraic multigrid: hierarchies, cycle times, redistribution."),
    "list": Entry("Reference", "What presets, patterns, placements and routings there are."),
    "schema": Entry("Reference", "Every key of an experiment file, every column of a run directory."),
}
"""By name, in the order and sections of `odonata --help`. A module is imported when its command is used."""


@click.group(cls=Group, commands_by_name=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="odonata")
def main() -> None:
    """Odonata, a workbench for supercomputer interconnects.

    An experiment file says which machine, cabling, jobs, placement and routing; a run says what every link
    carries, which job put it there, and what that does to the jobs.

    \b
    odonata run examples/wd1-edison.toml
    odonata show runs/wd1-edison --class blue
    odonata run examples/wd1-edison.toml --set machine.edit=-K -o runs/less
    odonata compare runs/wd1-edison runs/less
    odonata view runs/wd1-edison runs/less

    odonata COMMAND --help explains a command, odonata schema --page every key of the file.
    """  # noqa: D301 - \b keeps click from filling the lines that follow
