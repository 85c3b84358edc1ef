"""Which rank has which rows: METIS, bisection, a file, the order of the rows."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sparse

from odonata.amg import boomeramg, matrices, partition
from odonata.amg.machines import load
from odonata.amg.model import cycle
from odonata.amg.problems import PAPER
from odonata.amg.samples import random_mesh

Command = Callable[..., subprocess.CompletedProcess[str]]


MESH, PLACES = random_mesh(3000)
FUNCTIONS = 2
SYSTEM = sparse.kron(MESH, np.array([[2.0, 0.5], [0.5, 2.0]])).tocsr()


@pytest.mark.parametrize("ranks", [1, 2, 7, 16, 64])
@pytest.mark.parametrize("method", partition.METHODS)
def test_every_rank_has_its_share(method: str, ranks: int) -> None:
    cut = {
        "metis": lambda: partition.by_metis(SYSTEM, ranks, FUNCTIONS),
        "bisection": lambda: partition.by_bisection(PLACES, ranks, FUNCTIONS),
        "order": lambda: partition.by_order(SYSTEM.shape[0], ranks, FUNCTIONS),
    }[method]()
    sizes = np.diff(cut.starts)
    assert len(sizes) == ranks
    assert sizes.sum() == SYSTEM.shape[0]
    mean = SYSTEM.shape[0] / ranks
    assert sizes.min() > 0.8 * mean
    assert sizes.max() < 1.2 * mean
    # Unknowns of a point stay together, next to one another.
    assert (cut.part[0::2] == cut.part[1::2]).all()
    assert (cut.starts % FUNCTIONS == 0).all()


@pytest.mark.parametrize("method", ["metis", "bisection"])
def test_renumbered_is_the_same_matrix(method: str) -> None:
    cut = partition.by_metis(MESH, 8, 1) if method == "metis" else partition.by_bisection(PLACES, 8, 1)
    x = np.random.default_rng(1).random(MESH.shape[0])
    order = np.argsort(cut.part, kind="stable")
    assert cut.apply(MESH) @ x[order] == pytest.approx((MESH @ x)[order])


def test_the_cut_is_counted_right() -> None:
    """Against one rank at a time, one entry at a time."""
    cut = partition.by_bisection(PLACES, 6, 1)
    entries = MESH.tocoo()
    sent: dict[int, set[tuple[int, int]]] = {rank: set() for rank in range(6)}
    for row, column in zip(entries.row, entries.col, strict=True):
        if cut.part[row] != cut.part[column]:
            sent[int(cut.part[column])].add((int(cut.part[row]), int(column)))
    assert cut.cut(MESH) == partition.Cut(
        max(len({to for to, _ in pairs}) for pairs in sent.values()), max(map(len, sent.values()))
    )


def test_parts_of_a_mesh_have_few_neighbours() -> None:
    """Random order: everybody needs everybody. Parts of a plane have some six neighbours."""
    order = partition.by_order(MESH.shape[0], 32, 1).cut(MESH)
    assert order.partners == 31
    for cut in (partition.by_metis(MESH, 32, 1), partition.by_bisection(PLACES, 32, 1)):
        assert cut.cut(MESH).partners <= 10
        assert cut.cut(MESH).values < order.values / 4


@pytest.mark.usefixtures("amg_program")
def test_a_good_cut_is_cheaper_and_converges_faster(tmp_path: Path) -> None:
    scipy.io.mmwrite(tmp_path / "m.mtx", MESH, symmetry="general")
    eos, found = load("eos"), {}
    for method in ("order", "metis"):
        done = matrices.prepare(
            tmp_path / "m.mtx", 32, PAPER, functions=1, refinement=0, folder=tmp_path, partition_by=method
        )
        built = boomeramg.build(done.problem, matrix=done.path, solve=True)
        assert built.solve is not None
        assert built.solve.solved
        found[method] = (cycle(built.hierarchy, eos).seconds, built.solve.iterations)
        # What the cut promises is what hypre's messages are.
        level = built.hierarchy.levels[0]
        cut = (
            partition.by_metis(MESH, 32, 1) if method == "metis" else partition.by_order(MESH.shape[0], 32, 1)
        )
        assert (level["sends"], level["values_sent"]) == (cut.cut(MESH).partners, cut.cut(MESH).values)
    assert found["metis"][0] < 0.6 * found["order"][0]
    assert found["metis"][1] < 0.8 * found["order"][1]


@pytest.mark.usefixtures("amg_program")
def test_the_command_takes_a_file_and_says_how_it_cut(odonata_command: Command, tmp_path: Path) -> None:
    scipy.io.mmwrite(tmp_path / "m.mtx", MESH, symmetry="general")
    cut = partition.by_metis(MESH, 8, 1)
    (tmp_path / "m.part").write_text("\n".join(map(str, cut.part)) + "\n")
    np.savetxt(tmp_path / "m.xy", PLACES)
    words = ("amg", "hierarchy", "--matrix", "m.mtx", "--ranks", 8)
    tables = {}
    for name, more in {
        "file": ("--partition", "m.part"),
        "metis": (),
        "bisection": ("--partition", "bisection", "--coordinates", "m.xy"),
        "order": ("--partition", "order"),
    }.items():
        result = odonata_command(*words, *more, "-o", name)
        assert result.returncode == 0, result.stderr
        said = " ".join(result.stderr.split())
        expected = {"file": "cut by m.part", "order": "cut in the order of the rows"}
        assert expected.get(name, f"cut by {name}") in said
        assert "7 partners" in said
        tables[name] = (tmp_path / name / "messages.parquet").read_bytes()
    assert tables["file"] == tables["metis"] != tables["order"]


@pytest.mark.parametrize(
    ("option", "text", "message"),
    [
        ("--partition", "0\n1\n0\n", "3 lines; expected a rank for each of 4 unknowns"),
        ("--partition", "0\n1\n0\n2\n", "line 4: '2'; expected a rank from 0 to 1"),
        ("--partition", "0\n1\n-1\n1\n", "line 3: '-1'"),
        ("--partition", "0\n0\n0\n0\n", "gives rank 1 no row"),
        ("--partition", None, "missing.txt"),
        ("--coordinates", "0 0\n1 0\n", "2 lines; expected the coordinates of each of 4 grid points"),
        ("--coordinates", "0 0\n1 0\n2 x\n3 0\n", "line 3: '2 x'; expected 2 numbers"),
        ("--coordinates", "0 0\n1 0\n2\n3 0\n", "line 3"),
        ("--coordinates", "0 0\n1 0\n2 nan\n3 0\n", "line 3: a number is not finite"),
        ("--coordinates", "0,0,0,0\n" * 4, "4 numbers; expected 1 to 3"),
    ],
)
def test_mistakes(
    option: str, text: str | None, message: str, odonata_command: Command, tmp_path: Path
) -> None:
    scipy.io.mmwrite(tmp_path / "m.mtx", sparse.diags([2.0, 2.0, 2.0, 2.0]), symmetry="general")
    name = "missing.txt" if text is None else "given.txt"
    if text is not None:
        (tmp_path / name).write_text(text)
    result = odonata_command("amg", "hierarchy", "--matrix", "m.mtx", "--ranks", 2, option, name)
    assert result.returncode == 2
    assert message in " ".join(result.stderr.split())


def test_bisection_needs_places(odonata_command: Command, tmp_path: Path) -> None:
    scipy.io.mmwrite(tmp_path / "m.mtx", sparse.diags([2.0, 2.0]), symmetry="general")
    words = ("amg", "hierarchy", "--matrix", "m.mtx", "--ranks", 2, "--partition", "bisection")
    assert "--coordinates" in odonata_command(*words).stderr


def test_blocks_of_many_functions_join_their_points() -> None:
    """Of 16 functions a block has 256 entries: points of a line stay joined in both directions."""
    chain = sparse.diags([[1.0] * 2, [1.0] * 3, [1.0] * 2], [-1, 0, 1])
    graph = partition._graph(sparse.kron(chain, np.ones((16, 16))).tocsr(), 16)
    assert graph.toarray().astype(int).tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
