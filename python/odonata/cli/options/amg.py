"""Options of several `odonata amg` commands."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from odonata.cli import options as common
from odonata.cli.output import terminal
from odonata.errors import OdonataError

if TYPE_CHECKING:
    from odonata.amg.hierarchy import Hierarchy
    from odonata.amg.problems import Problem, Settings

hierarchy = click.argument("directory", required=False, metavar="[DIR]", type=click.Path(path_type=Path))

machine = click.option(
    "--machine",
    "machine_name",
    default="eos",
    metavar="NAME|FILE",
    help="Parameter set of the machine (eos).",
)

mix = common.together(
    common.count("--tasks", metavar="T", help="MPI tasks per node; cores / threads by default."),
    common.count("--threads", default=1, metavar="J", help="OpenMP threads per MPI task (1)."),
)

problem = common.together(
    click.option(
        "--problem",
        "problem_name",
        metavar="NAME",
        help="Problem: laplace7, laplace27, anisotropic or rotated; with hypre also elasticity.",
    ),
    common.count("--ranks", metavar="P", help="Number of MPI ranks."),
    click.option("--points", metavar="AxBxC", help="Grid points per rank."),
    click.option(
        "--coefficients", metavar="X,Y,Z", help="Coefficients of the anisotropic problem (1,1,0.001)."
    ),
    click.option("--angle", type=float, metavar="DEGREES", help="Angle of the rotated problem (45)."),
    click.option("--epsilon", type=float, metavar="X", help="Anisotropy of the rotated problem (0.001)."),
    click.option("--strength", type=float, metavar="X", help="Strength threshold (0.25)."),
    common.count("--aggressive", least=0, help="Number of aggressive levels (1)."),
    common.count("--max-elements", least=0, help="Maximum coefficients per interpolation row (4)."),
    click.option(
        "--truncation",
        type=float,
        metavar="X",
        help="Drop interpolation coefficients below this share of the largest in their row (0).",
    ),
    click.option(
        "--coarsening",
        metavar="NAME",
        help="Coarsening: hmis (default), pmis, falgout, ... or hypre's number.",
    ),
    click.option(
        "--interpolation",
        metavar="NAME",
        help="Interpolation: ext+i (default), standard, multipass, direct, ... or hypre's number.",
    ),
    click.option(
        "--smoother",
        metavar="NAME",
        help="Smoother: gauss-seidel (default), jacobi, l1-gauss-seidel, l1-jacobi, chebyshev, ...",
    ),
    click.option("--relax-weight", type=float, metavar="X", help="Weight of the smoother (1)."),
    click.option("--cycle", "cycle_type", metavar="v|w|f", help="Type of the cycle (v)."),
)
"""A problem on a grid, and BoomerAMG's options."""

cut = common.together(
    click.option(
        "--partition",
        "partition_by",
        metavar="METHOD|FILE",
        help="Partition: metis, bisection, order (of rows), or a file with the rank of each grid point.",
    ),
    common.path(
        "--coordinates",
        metavar="FILE",
        help="File with the coordinates of one grid point per line, for bisection.",
    ),
)
"""How the rows of a matrix are distributed among ranks."""

matrix = common.together(
    common.path("--matrix", metavar="FILE", help="Matrix: a MatrixMarket file or a hypre IJ prefix."),
    common.count("--functions", default=1, help="Unknowns per grid point (1)."),
    click.option(
        "--nodal",
        metavar="NORM",
        help="Norm of blocks to coarsen grid points: frobenius, absolute-sum, largest, row-sum or sum. "
        "By default unknowns are coarsened one by one.",
    ),
    common.count("--refinement", least=0, default=1, help="Refinement of the elasticity mesh (1)."),
    cut,
)
"""A matrix file, or elasticity."""

solver = click.option(
    "--solver",
    type=click.Choice(["cg", "gmres", "lgmres", "bicgstab"]),
    help="Solver with the cycle as preconditioner; by default cg for symmetric matrices, else gmres.",
)


def prepared(
    matrix: Path | None, given: dict[str, Any], folder: Path, *, quiet: bool
) -> tuple[Problem, Path]:
    """The problem of a matrix or of elasticity, and its matrix file; prints how rows are distributed."""
    from odonata.amg import matrices

    names = ("functions", "refinement", "partition_by", "coordinates")
    keys = {name: given[name] for name in names}
    done = matrices.prepare(matrix, given.get("ranks"), settings_of(given), folder=folder, **keys)
    terminal.print_warnings(done.warnings)
    for note in () if quiet else done.notes:
        terminal.error_console().print(note)
    return done.problem, done.path


def is_matrix(matrix: Path | None, given: dict[str, Any]) -> bool:
    """Whether the matrix comes from a file or a mesh."""
    return matrix is not None or given.get("problem_name") in ("elasticity", "file")


def settings_of(given: dict[str, Any]) -> Settings:
    """BoomerAMG's settings from the options; defaults are the paper's settings for the problem."""
    from dataclasses import replace

    from odonata.amg.problems import COARSENINGS, ELASTICITY, INTERPOLATIONS, PAPER, type_number

    names = {
        "strength": "strength",
        "truncation": "truncation",
        "aggressive": "aggressive_levels",
        "max_elements": "max_elements",
        "smoother": "smoother",
        "relax_weight": "relax_weight",
        "cycle_type": "cycle",
    }
    base = ELASTICITY if given.get("problem_name") == "elasticity" else PAPER
    changes = {field: given[name] for name, field in names.items() if given.get(name) is not None}
    if given.get("nodal") is not None:
        changes |= {"nodal": given["nodal"], "functions": max(base.functions, given["functions"])}
    for name, known in (("coarsening", COARSENINGS), ("interpolation", INTERPOLATIONS)):
        if given.get(name) is not None:
            changes[name] = type_number(name, given[name], known)
    return replace(base, **changes)


def problem_of(given: dict[str, Any]) -> Problem:
    """The problem on a grid that the options describe."""
    from odonata.amg.problems import make, parse_points

    for name, flag in (("problem_name", "--problem"), ("ranks", "--ranks"), ("points", "--points")):
        if given.get(name) is None:
            raise OdonataError(
                f"{flag} is missing", hint="Example: --problem laplace7 --ranks 1024 --points 50x50x25"
            )
    chosen: dict[str, Any] = {}
    if given["problem_name"] == "anisotropic":
        text = given.get("coefficients") or "1,1,0.001"
        try:
            chosen["coefficients"] = [float(part) for part in text.split(",")]
        except ValueError:
            raise OdonataError(
                f"--coefficients {text!r}: expected three numbers, such as 1,1,0.001"
            ) from None
        if len(chosen["coefficients"]) != 3 or not all(c > 0 for c in chosen["coefficients"]):
            raise OdonataError(f"--coefficients {text!r}: expected three positive numbers")
    if given["problem_name"] == "rotated":
        chosen["angle"] = 45.0 if given.get("angle") is None else given["angle"]
        chosen["epsilon"] = 0.001 if given.get("epsilon") is None else given["epsilon"]
    return make(
        given["problem_name"],
        given["ranks"],
        parse_points(given["points"]),
        settings=settings_of(given),
        options=chosen,
    )


def warn_of_cycle(hierarchy: Hierarchy) -> None:
    """Warns if the hierarchy is for cycles that the model does not price."""
    from odonata.amg.problems import stored_settings

    known = stored_settings(hierarchy.settings)
    if not known.is_priced:
        what = f"{known.cycle.upper()}-cycles smoothed by {known.smoother}"
        terminal.print_warnings(
            [f"the hierarchy was made for {what}; the price is of a V-cycle with a product per sweep"]
        )


def hierarchy_of(directory: Path | None, given: dict[str, Any]) -> Hierarchy:
    """A hierarchy from a directory, or a shipped one by its problem."""
    from odonata.amg import store

    if directory is not None:
        return store.read(directory)
    wanted = problem_of(given)
    found = store.find_shipped(wanted.as_dict())
    if found is None:
        raise OdonataError(
            f"the package has no table of {wanted.name} on {wanted.ranks} ranks with {given['points']} "
            "points each and these settings",
            hint="Make it with `odonata amg hierarchy` (needs hypre), or see `odonata amg tables`.",
        )
    return found
