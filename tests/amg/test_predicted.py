"""Redistributions predicted from the messages against executed ones, on five problems."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import scipy.io

from odonata.amg import boomeramg, load_machine, make, matrices
from odonata.amg.advice import LEAST_GAIN, Adviser
from odonata.amg.problems import PAPER, Problem
from odonata.amg.ranked import RankModel
from odonata.amg.samples import convection_diffusion, random_mesh

EOS = load_machine("eos")
RANKS = 64


def matrix_problem(matrix: Any, folder: Path) -> tuple[Problem, Path]:
    path = folder / "m.mtx"
    scipy.io.mmwrite(path, matrix, symmetry="general")
    keys: dict[str, Any] = {"functions": 1, "refinement": 0, "folder": folder, "partition_by": "metis"}
    done = matrices.prepare(path, RANKS, PAPER, **keys)
    return done.problem, done.path


@pytest.mark.usefixtures("amg_program")
@pytest.mark.parametrize("name", ["laplace7", "laplace27", "anisotropic", "random mesh", "convection"])
def test_what_is_advised_is_what_comes_of_it(name: str, tmp_path: Path) -> None:
    if name == "random mesh":
        problem, path = matrix_problem(random_mesh(20_000)[0], tmp_path)
    elif name == "convection":
        problem, path = matrix_problem(convection_diffusion(30), tmp_path)
    else:
        options = {"coefficients": [1.0, 1.0, 0.001]} if name == "anisotropic" else None
        problem, path = make(name, RANKS, (10, 10, 10), options=options), None
    built = boomeramg.build(problem, matrix=path)
    adviser = Adviser(built.hierarchy, EOS, RankModel(built.hierarchy, built.tables["messages"], EOS))
    advice = adviser.advice("ranked")
    assert advice.switch is not None
    done = boomeramg.execute(problem, advice.switch, matrix=path, ranks_per_node=16)
    executed_s = adviser.executed_s("ranked", done)
    assert advice.predicted_s(advice.switch) == pytest.approx(executed_s, rel=0.03)
    assert executed_s < (1 - 0.8 * LEAST_GAIN) * advice.before_s
    assert done.solved == (True, True)
    assert done.solver == ("gmres" if name == "convection" else "cg")
    assert abs(done.iterations[0] - done.iterations[1]) <= 2
