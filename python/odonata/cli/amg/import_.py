"""`odonata amg import`: hierarchies that other codes made."""

from __future__ import annotations

from pathlib import Path

import click

from odonata.cli import options as common
from odonata.cli.amg import options


@click.command()
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--ranks", type=click.IntRange(min=1), required=True, metavar="P", help="Number of MPI ranks.")
@options.cut
@click.option(
    "--ranks-per-node",
    type=click.IntRange(min=1),
    metavar="N",
    help="Also split messages into within and between nodes.",
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="DIR", help="Where to write (amg-...)."
)
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
    """Count what the ranks hold and send of a hierarchy in files: A_0, A_1, ... and P_0, P_1, ... in DIR.

    \b
    odonata amg import dump --ranks 64 -o mine
    odonata amg redistribute mine
    odonata amg simulate mine --engine packet

    The matrices of the levels from the finest on, and the interpolations between them, in MatrixMarket
    (A_0.mtx, as AmgX writes it, too), or the binary forms of AmgX and PETSc (A_0.petsc, .bin or .dat). The
    finest level is cut among the ranks as --partition says; a coarse unknown belongs to the rank whose row it
    weighs most in.
    """  # noqa: D301 - \b keeps click from filling the lines that follow
    from odonata.amg import boomeramg, foreign, matrices
    from odonata.cli import terminal
    from odonata.cli.amg.hierarchy import show_built
    from odonata.errors import OdonataError
    from odonata.store.writer import check_target

    target = output or Path(f"amg-{directory.resolve().name}-{ranks}")
    check_target(target, force=force)
    operators, interpolations = foreign.read_directory(directory)
    rows = operators[0].shape[0]
    if ranks > rows:
        raise OdonataError(f"{ranks} ranks for {rows} unknowns", hint="Every rank needs at least one.")
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
        settings={"partition": cut.way},
    )
    written = boomeramg.save(built, target, force=force)
    show_built(built, written, quiet=quiet, as_json=as_json)
