"""`odonata amg import`: import hierarchies of other codes."""

from __future__ import annotations

from pathlib import Path

import click

from odonata.cli import options as common
from odonata.cli.options import amg as options
from odonata.cli.output import terminal
from odonata.errors import OdonataError


@click.command()
@common.directory
@common.count("--ranks", required=True, metavar="P", help="Number of MPI ranks.")
@options.cut
@common.count("--ranks-per-node", help="Also count messages within and between nodes separately.")
@common.output("DIR", "Output directory (amg-...).")
@common.force
@common.quiet
@common.as_json
def command(
    directory: Path,
    ranks: int,
    partition_by: str | None,
    coordinates: Path | None,
    ranks_per_node: int | None,
    output: Path | None,
    force: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Import the hierarchy A_0, A_1, ... and P_0, P_1, ... in DIR and count its messages.

    \b
    odonata amg import dump --ranks 64 -o mine
    odonata amg redistribute mine
    odonata amg simulate mine --engine packet

    A_i is the matrix of level i, where 0 is the finest; P_i interpolates from level i + 1 to i. Formats are
    MatrixMarket (A_0.mtx, also of AmgX) and the binary forms of AmgX and PETSc (A_0.petsc, .bin or .dat).
    --partition distributes the finest level among the ranks. A coarse unknown belongs to the rank with the
    largest weight in its interpolation.
    """  # noqa: D301 - \b keeps click from wrapping the next lines
    from odonata.amg import boomeramg, foreign, matrices
    from odonata.cli.commands.amg.hierarchy import show_built
    from odonata.store.writer import check_target

    target = output or Path(f"amg-{directory.resolve().name}-{ranks}")
    check_target(target, force=force)
    operators, interpolations = foreign.read_directory(directory)
    rows = operators[0].shape[0]
    if ranks > rows:
        raise OdonataError(f"{ranks} ranks for {rows} unknowns", hint="Use at most one rank per unknown.")
    cut, notes, warnings = matrices.cut(operators[0], ranks, 1, partition_by, coordinates)
    terminal.print_warnings(warnings)
    for note in () if quiet else notes:
        terminal.error_console().print(note)
    built = foreign.from_matrices(
        operators,
        interpolations,
        ranks,
        owners=cut.part,
        source=f"imported from {directory.resolve().name}",
        ranks_per_node=ranks_per_node,
        settings={"partition": cut.method},
    )
    written = boomeramg.save(built, target, force=force)
    show_built(built, written, quiet=quiet, as_json=as_json)
