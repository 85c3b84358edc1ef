"""Hierarchies from the real BoomerAMG on virtual ranks."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pytest
from openmpi_tools import openmpi

from odonata.amg import boomeramg, matrices, partition, program, store
from odonata.amg.hierarchy import MESSAGE_COLUMNS, RANK_COLUMNS, read_table
from odonata.amg.problems import PAPER, Problem, choose_grid, make, matrix_problem
from odonata.errors import OdonataError


def mpirun(ranks: int, *command: object) -> None:
    """Runs a program on real MPI processes."""
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    # Single-copy transfers need ptrace rights that containers lack; without them Open MPI only warns, but
    # loudly.
    options = ["--oversubscribe", "--mca", "btl_vader_single_copy_mechanism", "none", "-np", str(ranks)]
    subprocess.run(
        [openmpi("mpirun"), *options, *map(str, command)], env=environment, check=True, capture_output=True
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ranks", "points", "redistribute"),
    [(8, (30, 30, 30), None), (64, (10, 10, 10), None), (64, (10, 10, 10), (3, 8)), (8, (12, 9, 7), (2, 3))],
)
@pytest.mark.usefixtures("amg_program")
def test_same_bytes_as_on_real_mpi(
    openmpi_program: Path,
    tmp_path: Path,
    ranks: int,
    points: tuple[int, int, int],
    redistribute: tuple[int, int] | None,
) -> None:
    # Differential: one source, two MPIs. Counts of rows, non-zeros and messages must agree to the byte.
    problem = make("laplace7", ranks, points)
    virtual, real = tmp_path / "virtual", tmp_path / "real"
    virtual.mkdir()
    real.mkdir()
    program.run(problem, virtual, solve=True, redistribute=redistribute)
    pair = None if redistribute is None else f"{redistribute[0]}:{redistribute[1]}"
    mpirun(
        ranks,
        openmpi_program,
        *program.arguments(problem, real, matrix=None, solve=True, redistribute=pair),
    )
    names = sorted(path.name for path in real.glob("*.table"))
    assert len(names) == (2 if redistribute is None else 4)
    for name in names:
        assert (virtual / name).read_bytes() == (real / name).read_bytes(), name
    iterations = [(folder / "summary.txt").read_text().splitlines()[3] for folder in (virtual, real)]
    assert iterations[0] == iterations[1]


@pytest.mark.usefixtures("amg_program")
def test_line_of_points_has_known_partners() -> None:
    # A line of 4 ranks with 50 points each: 200 unknowns; the matrix has 3 entries per row but for the two
    # ends; inner
    # ranks send 1 value to each of 2 neighbours, end ranks to 1: 6 messages.
    problem = Problem("laplace7", 4, (50, 1, 1), (4, 1, 1))
    level = boomeramg.build(problem).hierarchy.levels[0]
    assert level["unknowns"] == 200
    assert level["nonzeros_per_row"] == pytest.approx((3 * 200 - 2) / 200)
    assert (level["sends"], level["values_sent"], level["messages"]) == (2, 2, 6)
    assert level["sends_mean"] == 1.5


@pytest.mark.usefixtures("amg_program")
def test_box_of_ranks_has_known_partners() -> None:
    # 3 x 3 x 3 ranks of 5 x 6 x 7 points: the inner rank sends its six faces, 2 (5*6 + 5*7 + 6*7) = 214
    # values; each of
    # the 3 directions has 2 * 9 pairs of neighbours, that is 36 messages.
    level = boomeramg.build(Problem("laplace7", 27, (5, 6, 7), (3, 3, 3))).hierarchy.levels[0]
    assert (level["sends"], level["values_sent"], level["messages"]) == (6, 214, 108)
    level = boomeramg.build(Problem("laplace27", 27, (5, 6, 7), (3, 3, 3))).hierarchy.levels[0]
    assert level["sends"] == 26  # corners and edges too


@pytest.mark.usefixtures("amg_program")
def test_recorded_cycle_is_what_the_model_charges() -> None:
    # Per level the model counts three products with the solve operator (two sweeps and the residual) and one
    # each of
    # restriction and interpolation. The record of a real cycle must have exactly those messages and bytes.
    built = boomeramg.build(make("laplace7", 64, (8, 8, 8)), recorded=True, ranks_per_node=16)
    recorded = built.tables["recorded_messages"].to_pandas()
    total = recorded.groupby(["phase", "level"], observed=True)[["messages", "bytes"]].sum()
    levels = built.hierarchy.levels
    assert len(levels) > 3
    for level in levels[:-1]:
        number = level["level"]
        assert total.loc[("smooth", number), "messages"] == 2 * level["messages"]
        assert total.loc[("residual", number), "messages"] == level["messages"]
        assert total.loc[("smooth", number), "bytes"] == 2 * 8 * level["values"]
        for phase in ("restrict", "interpolate"):
            assert total.loc[(phase, number), "messages"] == level["interpolation_messages"]
            assert total.loc[(phase, number), "bytes"] == 8 * level["interpolation_values"]
    assert ("smooth", levels[-1]["level"]) not in total.index  # solved directly


@pytest.mark.usefixtures("amg_program")
def test_redistribution_keeps_the_convergence() -> None:
    problem = make("laplace7", 64, (12, 12, 12))
    plain = boomeramg.build(problem, solve=True)
    moved = boomeramg.build(problem, solve=True, redistribute=(3, 4))
    assert moved.regrouped is not None
    assert moved.regrouped.ranks == 4
    assert moved.regrouped.levels[0]["unknowns"] == plain.hierarchy.levels[3]["unknowns"]
    assert moved.regrouped.levels[0]["nonzeros_per_row"] == plain.hierarchy.levels[3]["nonzeros_per_row"]
    assert all(level["sends"] <= 3 for level in moved.regrouped.levels)
    assert plain.solve is not None
    assert moved.solve is not None
    assert plain.solve.true_residual <= 1.01e-8
    assert moved.solve.true_residual <= 1.01e-8
    assert abs(moved.solve.iterations - plain.solve.iterations) <= 2


@pytest.mark.usefixtures("amg_program")
def test_systems_keep_their_functions_when_gathered(tmp_path: Path) -> None:
    # Three functions that do not touch, interleaved. On a coarse level a row's function is not its number
    # modulo 3 any more: gathered without saying which it is, conjugate gradients took 13 steps instead of 9.
    sparse = pytest.importorskip("scipy.sparse")
    line = sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(12, 12))
    laplacian = sparse.kronsum(sparse.kronsum(line, line), line)
    scales = sparse.diags([1.0, 10.0, 100.0])
    matrix = sparse.kron(laplacian, scales).tocsr()
    settings = replace(PAPER, functions=3, aggressive_levels=0)
    path = tmp_path / "matrix.csr"
    matrices.write(matrix, partition.by_order(matrix.shape[0], 8, 3).starts, path)
    problem = matrix_problem("file", 8, matrix.shape[0], matrix.nnz, settings)
    done = boomeramg.execute(problem, (1, 3), matrix=path, ranks_per_node=4)
    assert abs(done.iterations[0] - done.iterations[1]) <= 2
    assert done.regrouped.levels[0]["unknowns"] == done.plain.levels[1]["unknowns"]
    saved = boomeramg.save_executed(done, tmp_path / "kept")
    again = boomeramg.load_executed(saved)
    assert (again.switch, again.iterations) == (done.switch, done.iterations)
    assert again.tables["regrouped_messages"].equals(done.tables["regrouped_messages"])


@pytest.mark.usefixtures("amg_program")
def test_restriction_is_recorded_as_the_transpose_of_interpolation() -> None:
    # What the pattern `amg` assumes: interpolation sends its operator's list, restriction the same backwards.
    built = boomeramg.build(make("laplace7", 27, (6, 6, 6)), recorded=True)
    listed = built.tables["messages"].to_pandas().query("operator == 1 and level == 1")
    recorded = built.tables["recorded_messages"].to_pandas().query("level == 1")
    pairs = {
        phase: set(zip(part["source"], part["destination"], part["bytes"], strict=True))
        for phase, part in recorded.groupby("phase", observed=True)
    }
    forward = set(zip(listed["source"], listed["destination"], 8 * listed["values"], strict=True))
    assert forward
    assert pairs["interpolate"] == forward
    assert pairs["restrict"] == {(b, a, size) for a, b, size in forward}


@pytest.mark.usefixtures("amg_program")
def test_groups_are_adjacent_and_the_first_are_larger() -> None:
    # 8 active ranks in 3 groups: 3, 3 and 2 ranks, kept by ranks 0, 3 and 6.
    built = boomeramg.build(make("laplace7", 8, (8, 8, 8)), redistribute=(1, 3))
    ranks = built.tables["regrouped_ranks"].to_pandas()
    first = ranks[ranks["level"] == 1]
    assert first["rank"].tolist() == [0, 3, 6]
    rows = built.tables["ranks"].to_pandas().query("level == 1")["rows"].to_numpy()
    assert first["rows"].tolist() == [rows[:3].sum(), rows[3:6].sum(), rows[6:].sum()]


@pytest.mark.usefixtures("amg_program")
def test_directory_round_trip(tmp_path: Path) -> None:
    built = boomeramg.build(make("laplace7", 8, (6, 6, 6)), redistribute=(1, 2), recorded=True)
    target = boomeramg.save(built, str(tmp_path / "run"))
    assert boomeramg.store.read(str(target)) == boomeramg.store.read(tmp_path / "run")
    assert store.read(target).rows == built.hierarchy.rows
    assert built.regrouped is not None
    assert store.read(target, "regrouped_").ranks == 2
    messages = store.read_table(target, "messages")
    solve_0 = pc.and_(pc.equal(messages["level"], 0), pc.equal(messages["operator"], 0))
    assert pc.sum(solve_0).as_py() == 24  # 2 x 2 x 2 ranks: each has three neighbours
    with pytest.raises(OdonataError, match="already holds"):
        boomeramg.save(built, target)
    boomeramg.save(built, target, force=True)
    (target / "levels.parquet").write_bytes((target / "levels.parquet").read_bytes()[:100])
    with pytest.raises(OdonataError, match="cannot be read"):
        store.read(target)


@pytest.mark.usefixtures("amg_program")
def test_shipped_table_is_what_the_program_counts() -> None:
    made = boomeramg.build(make("laplace27", 64, (20, 20, 20)), ranks_per_node=16).hierarchy
    found = store.find_shipped(made.settings)
    assert found is not None
    for ours, theirs in zip(made.levels, found.levels, strict=True):
        assert ours.keys() == theirs.keys()
        for name, value in ours.items():
            assert theirs[name] == pytest.approx(value, rel=1e-8), name


@pytest.mark.long
@pytest.mark.usefixtures("amg_program")
def test_the_known_example() -> None:
    built = boomeramg.build(make("laplace7", 512, (30, 30, 30)))
    assert built.summary["cpu_s"] <= 60
    assert built.summary["peak_rss_bytes"] <= 3.5e9
    names = ("unknowns", "nonzeros_per_row", "sends", "values_sent", "interpolation_nonzeros_per_row")
    names += ("interpolation_sends", "interpolation_values_sent", "active_ranks", "messages")
    assert [[round(level[n], 2) for n in names] for level in built.hierarchy.levels] == EXAMPLE


EXAMPLE = [
    [13824000, 6.97, 6, 5400, 2.15, 19, 773, 512, 2688],
    [1002907, 20.02, 24, 1625, 3.42, 22, 243, 512, 8080],
    [190641, 54.07, 26, 988, 3.68, 23, 95, 512, 9872],
    [20227, 77.82, 33, 483, 3.66, 23, 41, 512, 11000],
    [2208, 78.01, 97, 355, 3.49, 50, 60, 509, 24284],
    [283, 57.08, 130, 177, 2.93, 120, 120, 227, 12210],
    [34, 24.65, 32, 32, 0, 0, 0, 33, 778],
]
"""C, s, p, n, s^, p^, n^, active ranks, messages of 512 x 30^3, counted independently of this program."""


def test_domain_is_cut_like_a_cube() -> None:
    assert choose_grid(1024, (50, 50, 25)) == (8, 8, 16)
    assert choose_grid(512, (30, 30, 30)) == (8, 8, 8)
    assert choose_grid(256, (100, 50, 50)) == (4, 8, 8)
    assert choose_grid(12, (10, 10, 1)) == (3, 4, 1)
    assert choose_grid(4, (50, 1, 1)) == (4, 1, 1)
    assert choose_grid(7, (10, 10, 10)) == (1, 1, 7)


def test_memory_is_refused_with_both_figures() -> None:
    problem = make("laplace7", 1024, (50, 50, 25))
    assert 12e9 < problem.memory_bytes < 14e9
    with pytest.raises(OdonataError, match=r"need about 13\.0 GB; 4\.0 GB are available"):
        program.check_memory(problem, int(4e9))


def test_missing_program_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(program.PROGRAM, str(tmp_path / "none"))
    with pytest.raises(OdonataError, match="not a program") as caught:
        program.find()
    assert "make hypre" in str(caught.value)


def test_tables_cut_short_are_refused(tmp_path: Path) -> None:
    head = b"ODOTABLE" + np.array([len(RANK_COLUMNS), 2], dtype="<i8").tobytes()
    path = tmp_path / "ranks.table"
    for content in (head[:20], head + bytes(8 * 21), b"WRONG" + head[5:] + bytes(8 * 22)):
        path.write_bytes(content)
        with pytest.raises(OdonataError):
            read_table(path, RANK_COLUMNS)
    path.write_bytes(head + bytes(8 * 22))
    assert len(read_table(path, RANK_COLUMNS)["rank"]) == 2
    with pytest.raises(OdonataError):
        read_table(path, MESSAGE_COLUMNS)
