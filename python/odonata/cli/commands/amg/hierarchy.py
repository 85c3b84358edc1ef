"""`odonata amg hierarchy`: run BoomerAMG and write its hierarchy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from odonata.cli import options as common
from odonata.cli.options import amg as options
from odonata.cli.output import terminal
from odonata.errors import OdonataError


@click.command()
@options.problem
@options.matrix
@click.option("--solve", is_flag=True, help="Also solve to 1e-8 and count the iterations.")
@options.solver
@click.option(
    "--record", "recorded", is_flag=True, help="Also record every message of the set-up and of one cycle."
)
@click.option(
    "--redistribute", metavar="LEVEL:RANKS", help="Gather this level on fewer ranks and continue to coarsen."
)
@common.count("--ranks-per-node", help="Also count messages within and between nodes separately.")
@click.option(
    "--fallback",
    type=click.Choice(["none", "pyamg"]),
    default="none",
    help="Substitute for hypre; PyAMG builds a different hierarchy, which is marked as such.",
)
@common.output("DIR", "Output directory (amg-...).")
@common.force
@common.quiet
@common.as_json
def command(
    matrix: Path | None,
    solve: bool,
    solver: str | None,
    recorded: bool,
    redistribute: str | None,
    ranks_per_node: int | None,
    fallback: str,
    output: Path | None,
    force: bool,
    quiet: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Run BoomerAMG's set-up on virtual ranks in one process; write the level table and the messages.

    \b
    odonata amg hierarchy --problem laplace7 --ranks 512 --points 30x30x30
    odonata amg hierarchy --matrix A.mtx --ranks 64 --record -o my-matrix

    Needs hypre. Build it with make hypre in the source tree of Odonata.
    """  # noqa: D301 - \b keeps click from wrapping the next lines
    import tempfile

    from odonata.amg import boomeramg, program
    from odonata.store.writer import check_target

    with tempfile.TemporaryDirectory(prefix="odonata-amg-") as folder:
        if options.is_matrix(matrix, given):
            problem, path = options.prepared(matrix, given, Path(folder), quiet=quiet)
        else:
            problem, path = options.problem_of(given), None
        target = output or Path(f"amg-{problem.name}-{problem.ranks}")
        check_target(target, force=force)
        screen = terminal.error_console()
        if fallback == "pyamg":
            from odonata.amg import fallback as pyamg

            terminal.print_warnings([pyamg.WARNING])
            built = pyamg.build(problem, path, ranks_per_node=ranks_per_node)
        else:
            program.find()
            if not quiet:
                takes = f"{_memory(problem.memory_bytes)} and {terminal.seconds(problem.cpu_s)}"
                what = f"{problem.unknowns:,} unknowns on {problem.ranks:,} virtual ranks"
                screen.print(f"{what}, about {takes} of CPU time")
            built = boomeramg.build(
                problem,
                matrix=path,
                solve=solve or solver is not None,
                solver=solver,
                redistribute=parse_redistribution(redistribute),
                recorded=recorded,
                ranks_per_node=ranks_per_node,
                progress=None
                if quiet
                else lambda level, rows: screen.print(f"  level {level}: {rows:,} unknowns"),
            )
    written = boomeramg.save(built, target, force=force)
    show_built(built, written, quiet=quiet, as_json=as_json)


def parse_redistribution(text: str | None) -> tuple[int, int] | None:
    """`4:8` as (4, 8)."""
    if text is None:
        return None
    level, _, groups = text.partition(":")
    if not (level.isdigit() and groups.isdigit() and int(level) > 0 and int(groups) > 0):
        raise OdonataError(
            f"--redistribute {text!r}: expected LEVEL:RANKS, such as 4:8, with a level above 0"
        )
    return int(level), int(groups)


def show_built(built: Any, written: Path, *, quiet: bool, as_json: bool) -> None:
    """Prints the level tables and the output directory."""
    from odonata.cli.commands.amg.model import LEVEL_LEGEND, level_table

    if as_json:
        regrouped = None if built.regrouped is None else built.regrouped.levels
        terminal.print_json(
            {
                "directory": str(written),
                "source": built.hierarchy.source,
                **built.summary,
                "levels": built.hierarchy.levels,
                "regrouped_levels": regrouped,
            }
        )
        return
    if quiet:
        return
    screen = terminal.console()
    terminal.print_table(screen, level_table(built.hierarchy), legend=LEVEL_LEGEND)
    if built.regrouped is not None:
        screen.print("Redistributed:")
        terminal.print_table(screen, level_table(built.regrouped))
    if built.solve is not None:
        screen.print(built.solve.words, style=None if built.solve.solved else "bold red")
    if "cpu_s" in built.summary:
        screen.print(f"{built.summary['cpu_s']:.1f} CPU s, {_memory(built.summary['peak_rss_bytes'])}")
    screen.print(f"written: {written}")


def _memory(count: float) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"
