"""A leaf-spine of a file carries what its bisection allows, in every format that lists cables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import odonata

LEAVES, SPINES, NODES = 8, 4, 4
LOAD = 0.7
CABLES = [(leaf, spine) for leaf in range(LEAVES) for spine in range(SPINES)]


def edge_list(cables: list[tuple[int, int]]) -> str:
    rows = [f"leaf{leaf},spine{spine},100 Gb/s,{NODES},0" for leaf, spine in cables]
    return "\n".join(["src,dst,bandwidth,src_nodes,dst_nodes", *rows])


def slurm(cables: list[tuple[int, int]]) -> str:
    leaves = [f"SwitchName=leaf{i} Nodes=n[{i * NODES}-{(i + 1) * NODES - 1}]" for i in range(LEAVES)]
    below = [",".join(f"leaf{leaf}" for leaf, spine in cables if spine == s) for s in range(SPINES)]
    return "\n".join([*leaves, *(f"SwitchName=spine{s} Switches={names}" for s, names in enumerate(below))])


def booksim(cables: list[tuple[int, int]]) -> str:
    def line(leaf: int) -> str:
        nodes = "".join(f" node {leaf * NODES + n}" for n in range(NODES))
        return f"router {leaf}{nodes}" + "".join(f" router {LEAVES + s}" for a, s in cables if a == leaf)

    return "\n".join(line(leaf) for leaf in range(LEAVES))


def ibnetdiscover(cables: list[tuple[int, int]]) -> str:
    lines = ["# Topology file: generated"]
    for leaf in range(LEAVES):
        lines += ["", f'Switch\t36 "S-leaf{leaf}"\t# "leaf{leaf}"']
        lines += [f'[{n + 1}]\t"H-{leaf}-{n}"[1](1)\t# "n{leaf}-{n} HCA-1" lid 1 4xEDR' for n in range(NODES)]
        lines += [
            f'[{10 + s}]\t"S-spine{s}"[{leaf + 1}]\t# "spine{s}" lid 1 4xEDR' for a, s in cables if a == leaf
        ]
    for spine in range(SPINES):
        lines += ["", f'Switch\t36 "S-spine{spine}"\t# "spine{spine}"']
        lines += [
            f'[{leaf + 1}]\t"S-leaf{leaf}"[{10 + spine}]\t# "leaf{leaf}" lid 1 4xEDR'
            for leaf, s in cables
            if s == spine
        ]
    return "\n".join(lines)


@pytest.mark.parametrize("routing", ["up-down", "up-down-adaptive"])
@pytest.mark.parametrize("write", [edge_list, slurm, booksim, ibnetdiscover])
@pytest.mark.parametrize("missing", [0, 1])
def test_up_down_uses_every_spine(
    tmp_path: Path, write: Callable[[list[tuple[int, int]]], str], routing: str, missing: int
) -> None:
    path = tmp_path / "network.txt"
    path.write_text(write(CABLES[missing:]) + "\n")
    figures = {"bandwidth": "100 Gb/s"}
    run = odonata.run(
        {
            "machine": {"file": str(path), "class": {"terminal": figures, **_local(write, figures)}},
            "job": [
                {
                    "pattern": "uniform",
                    "ranks": LEAVES * NODES,
                    "ranks_per_node": 1,
                    "traffic": {"name": "open", "load": LOAD},
                }
            ],
            "engine": {"kind": "packet", "routing": routing, "warm_up": "20 us", "measure": "40 us"},
        }
    )
    assert run.summary["machine"]["levels"] == 2
    # One spine alone carries 8 of the 32 nodes' bandwidth, of which 28/31 leave their leaf: 27.7 %. Four
    # spines of full bisection carry the offered load.
    accepted = run.jobs["accepted_load"][0].as_py()
    assert accepted == pytest.approx(LOAD, rel=0.02)


def _local(
    write: Callable[[list[tuple[int, int]]], str], figures: dict[str, str]
) -> dict[str, dict[str, str]]:
    """The class of formats without bandwidths."""
    return {"local": figures} if write in (slurm, booksim) else {}
