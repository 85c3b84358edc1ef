"""hypre's options by name: what smoothers and cycles send, systems of PDEs, what is refused."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import scipy.io
import scipy.sparse as sparse

from odonata.amg import boomeramg, matrices
from odonata.amg.problems import CYCLES, NODAL, PAPER, SMOOTHERS, Settings, make
from odonata.errors import OdonataError

Command = Callable[..., subprocess.CompletedProcess[str]]


def recorded(settings: Settings) -> tuple[boomeramg.BuildResult, dict[int, int]]:
    """A small Laplacian on 8 ranks, and the messages of products (sweeps, residuals) by level of a cycle."""
    problem = make("laplace7", 8, (6, 6, 6), settings=settings)
    made = boomeramg.build(problem, solve=True, recorded=True)
    frame = made.tables["recorded_messages"].to_pandas()
    products = frame[frame["phase"].isin(("smooth", "residual"))]
    return made, {int(level): int(n) for level, n in products.groupby("level")["messages"].sum().items()}


@pytest.mark.usefixtures("amg_program")
@pytest.mark.parametrize("smoother", SMOOTHERS)
def test_every_smoother_solves_and_sends_what_is_priced(smoother: str) -> None:
    """Three products a level, but where hypre's sweep has several."""
    weight = 2 / 3 if smoother == "jacobi" else 1.0
    settings = Settings(smoother=smoother, relax_weight=weight)
    made, sent = recorded(settings)
    assert made.solve is not None
    assert made.solve.solved
    one = made.hierarchy.levels[0]["messages"]
    assert (sent[0] == 3 * one) == settings.is_priced, (sent, one)


@pytest.mark.usefixtures("amg_program")
def test_cycles_visit_coarse_levels_more_often() -> None:
    """A V-cycle is on each level once; the others are on level 1 more often, and nowhere less."""
    sent = {cycle: recorded(Settings(cycle=cycle, aggressive_levels=0))[1] for cycle in CYCLES}
    for cycle in ("w", "f"):
        assert all(sent[cycle][level] >= count for level, count in sent["v"].items())
        assert sent[cycle][1] > sent["v"][1]


def system(side: int) -> sparse.csr_matrix:
    """Two functions at each point of a square, weakly coupled, point by point."""
    line = sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(side, side))
    return sparse.csr_matrix(sparse.kron(sparse.kronsum(line, line), [[1.0, 0.1], [0.1, 1.0]]))


@pytest.mark.usefixtures("amg_program")
@pytest.mark.parametrize("nodal", ["", *NODAL])
@pytest.mark.parametrize("redistribute", [None, (1, 2)])
def test_systems_are_coarsened_by_unknowns_and_by_points(
    nodal: str, redistribute: tuple[int, int] | None, tmp_path: Path
) -> None:
    path = tmp_path / "m.mtx"
    scipy.io.mmwrite(path, system(24), symmetry="general")
    settings = Settings(functions=2, nodal=nodal, aggressive_levels=0)
    done = matrices.prepare(path, 4, settings, functions=2, refinement=0, folder=tmp_path)
    made = boomeramg.build(done.problem, matrix=done.path, solve=True, redistribute=redistribute)
    assert made.solve is not None
    assert made.solve.solved, made.solve.words
    assert made.solve.iterations < 30
    # Whole points stay together.
    if nodal:
        assert made.hierarchy.levels[1]["unknowns"] % 2 == 0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"smoother": "gaus-seidel"}, "unknown smoother 'gaus-seidel'"),
        ({"cycle": "x"}, "unknown cycle 'x'"),
        ({"nodal": "frobenius"}, "nodal coarsening is for systems"),
        ({"nodal": "frob", "functions": 3}, "unknown norm for nodal coarsening 'frob'"),
        ({"relax_weight": 2.0}, "the relaxation weight is 2.0"),
    ],
)
def test_mistakes(given: dict[str, object], message: str) -> None:
    with pytest.raises(OdonataError, match=message):
        Settings(**given)  # type: ignore[arg-type]


def test_summaries_of_old_tables_are_found_again() -> None:
    assert set(PAPER.as_dict()) == {
        "coarsening",
        "interpolation",
        "max_elements",
        "aggressive_levels",
        "strength",
        "max_levels",
        "functions",
    }
    assert Settings(**Settings(cycle="w").as_dict()) == Settings(cycle="w")


@pytest.mark.usefixtures("amg_program")
def test_the_command(odonata_command: Command, tmp_path: Path) -> None:
    small = ("--problem", "laplace7", "--ranks", "8", "--points", "4x4x4")
    result = odonata_command("amg", "hierarchy", *small, "--smoother", "l1-jacobi", "--cycle", "w", "-o", "h")
    assert result.returncode == 0, result.stderr
    result = odonata_command("amg", "redistribute", "h")
    assert "made for W-cycles smoothed by l1-jacobi" in result.stderr
    result = odonata_command("amg", "hierarchy", *small, "--cycle", "w", "--redistribute", "1:2", "-o", "g")
    assert (result.returncode, "V-cycles only, not in a W-cycle" in result.stderr) == (2, True)
    result = odonata_command("amg", "hierarchy", *small, "--smoother", "chebichev", "-o", "g")
    assert (result.returncode, "Did you mean chebyshev?" in result.stderr) == (2, True)
    assert not (tmp_path / "g").exists()
