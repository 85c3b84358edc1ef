"""Solved or not: true residuals, what solves what, null spaces."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sparse

from odonata.amg import boomeramg, matrices
from odonata.amg.problems import PAPER, Problem

Command = Callable[..., subprocess.CompletedProcess[str]]


def laplacian(side: int, *, ends: float = 2.0) -> sparse.csr_matrix:
    """Of a square of side x side points; `ends` 1 has no boundary that holds it."""
    line = sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(side, side)).tolil()
    line[0, 0] = line[-1, -1] = ends
    return sparse.csr_matrix(sparse.kronsum(line, line))


def convection(side: int) -> sparse.csr_matrix:
    """Diffusion with an upwind wind to the right: not symmetric."""
    wind = sparse.diags([-1.0, 1.0], [-1, 0], shape=(side, side))
    return sparse.csr_matrix(laplacian(side) + 20.0 * sparse.kron(sparse.eye(side), wind))


def built(matrix: Any, folder: Path, ranks: int = 8, **keys: Any) -> tuple[Problem, boomeramg.BuildResult]:
    path = folder / "m.mtx"
    scipy.io.mmwrite(path, matrix, symmetry="general")
    done = matrices.prepare(path, ranks, PAPER, functions=1, refinement=0, folder=folder)
    return done.problem, boomeramg.build(done.problem, matrix=done.path, solve=True, **keys)


@pytest.mark.usefixtures("amg_program")
@pytest.mark.parametrize("solver", [None, "cg", "gmres", "lgmres", "bicgstab"])
def test_every_solver_solves_a_laplacian(solver: str | None, tmp_path: Path) -> None:
    problem, made = built(laplacian(40), tmp_path, solver=solver)
    assert problem.solvers[0] == "cg"
    assert made.solve is not None
    assert made.solve.solver == (solver or "cg")
    assert made.solve.solved
    assert made.solve.true_residual <= 1.1e-8
    assert made.solve.hypre_error == 0
    assert made.solve.iterations < 25


@pytest.mark.usefixtures("amg_program")
def test_what_is_not_symmetric_is_not_left_to_conjugate_gradients(tmp_path: Path) -> None:
    problem, made = built(convection(40), tmp_path)
    assert problem.solvers == ("gmres", "bicgstab")
    assert made.solve is not None
    assert made.solve.solved
    assert made.solve.solver == "gmres"


@pytest.mark.usefixtures("amg_program")
def test_neumann_boundaries_all_around(tmp_path: Path) -> None:
    """Constants are in the null space; the rest is solved, before and after a redistribution."""
    problem, made = built(laplacian(40, ends=1.0), tmp_path)
    assert problem.options["null_space"] == "constants"
    assert made.solve is not None
    assert made.solve.solved
    assert made.solve.solver == "cg"
    assert made.solve.iterations < 30
    done = boomeramg.execute(problem, (2, 2), matrix=tmp_path / "matrix.csr", ranks_per_node=4)
    assert done.solved == (True, True)
    assert abs(done.iterations[0] - done.iterations[1]) <= 2


def indefinite(size: int) -> sparse.csr_matrix:
    """Symmetric, with eigenvalues of both signs, and not solved by a cycle: a wave of some ten lengths."""
    return sparse.csr_matrix(laplacian(size) - 1.1 * sparse.eye(size * size))


@pytest.mark.usefixtures("amg_program")
def test_an_indefinite_matrix_is_not_called_solved(odonata_command: Command, tmp_path: Path) -> None:
    matrix = indefinite(40)
    values = np.linalg.eigvalsh(matrix.toarray())
    assert values[0] < 0 < values[-1]
    _, made = built(matrix, tmp_path, solver="cg")
    solve = made.solve
    assert solve is not None
    # The reported residual equals one computed here.
    assert solve.solved == (solve.true_residual <= 1e-7)
    assert not solve.solved
    assert "not solved" in solve.words
    words = ("amg", "redistribute", "--matrix", "m.mtx", "--ranks", 8, "-q")
    result = odonata_command(*words, "--solver", "cg")
    assert result.returncode == 2
    assert "not solved: cg" in result.stderr
    assert "would take" not in result.stdout
    result = odonata_command(*words, "--solver", "cg", "--execute")
    assert result.returncode == 2


@pytest.mark.usefixtures("amg_program")
def test_a_diagonal_of_both_signs_is_not_one_iteration(tmp_path: Path) -> None:
    """The matrix that came back as solved in one iteration with residual 0."""
    size = 200
    signs = sparse.diags(np.where(np.arange(size) % 2, -1.0, 1.0))
    off = sparse.diags([0.4, 0.4], [-1, 1], shape=(size, size))
    for solver in ("cg", None):
        _, made = built(sparse.csr_matrix(signs + off), tmp_path, solver=solver)
        assert made.solve is not None
        assert made.solve.solved == (made.solve.true_residual <= 1e-7)


@pytest.mark.usefixtures("amg_program")
def test_the_command_says_it(odonata_command: Command, tmp_path: Path) -> None:
    scipy.io.mmwrite(tmp_path / "m.mtx", convection(30), symmetry="general")
    result = odonata_command("amg", "hierarchy", "--matrix", "m.mtx", "--ranks", 4, "--solve", "-o", "h")
    assert result.returncode == 0, result.stderr
    assert "gmres: " in result.stdout
    summary = json.loads((tmp_path / "h" / "summary.json").read_text())
    assert summary["solve"]["solved"] is True
    assert summary["settings"]["symmetric"] is False
