"""Words of SST, CODES, BookSim, CAMINOS, SimGrid, htsim, NCCL, MPI libraries and Slurm lead to ours."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from running import Command

import odonata
from odonata import _core
from odonata.errors import ExperimentError, nearest
from odonata.names import named

FILE = {
    "machine": {"topology": "dragonfly", "p": 2, "a": 4, "h": 2, "g": 9},
    "job": [{"pattern": "uniform", "ranks": 8, "ranks_per_node": 1}],
    "engine": {"kind": "packet"},
}


def help_of(**changes: object) -> str:
    """The help of the one mistake of a file with changes."""
    experiment = {**FILE, "job": [dict(FILE["job"][0])], "engine": dict(FILE["engine"])}
    experiment["machine"] = dict(FILE["machine"])
    for key, value in changes.items():
        section, _, name = key.partition("__")
        table = experiment[section]
        (table[0] if isinstance(table, list) else table)[name] = value
    with pytest.raises(ExperimentError) as refused:
        odonata.check(experiment)
    return refused.value.problems[0].help or ""


@pytest.mark.parametrize(
    ("topic", "word", "ours"),
    [
        # SST: Merlin and Ember
        ("routings", "minimal", "min"),
        ("routings", "adaptive-local", "par"),
        ("topologies", "hamming", "hyperx"),
        ("programs", "Halo3D26", "halo-3d"),
        ("programs", "FFT3D", "fft-3d"),
        ("programs", "Sweep3D", "sweep-3d"),
        ("patterns", "NearestNeighbor", "stencil-3d"),
        ("placements", "linear", "compact"),
        # CODES
        ("routings", "adaptive", "ugal-g"),
        ("routings", "prog-adaptive", "par"),
        ("routings", "nonminimal", "valiant-g"),
        ("placements", "rand_rotr", "random-routers"),
        ("placements", "cont", "compact"),
        ("topologies", "dragonfly-dally", "dragonfly"),
        # BookSim
        ("patterns", "bitcomp", "bit-complement"),
        ("patterns", "bitrev", "bit-reverse"),
        ("patterns", "randperm", "random-permutation"),
        ("patterns", "bad_dragon", "adversarial"),
        ("topologies", "dragonflynew", "dragonfly"),
        ("topologies", "flatfly", "hyperx"),
        ("topologies", "kncube", "torus"),
        ("routings", "dim_order", "dimension-order"),
        ("routings", "xy", "dimension-order"),
        ("routings", "anca", "up-down-adaptive"),
        # CAMINOS
        ("topologies", "CanonicDragonfly", "dragonfly"),
        ("topologies", "RandomRegularGraph", "jellyfish"),
        ("routings", "Shortest", "min"),
        ("patterns", "RandomPermutation", "random-permutation"),
        # SimGrid and MPI libraries
        ("collectives", "rab", "rabenseifner"),
        ("collectives", "lr", "ring"),
        ("collectives", "recursive_doubling", "recursive-doubling"),
        ("collectives", "basic_linear", "linear"),
        # htsim
        ("routings", "ecmp_host", "ecmp"),
        ("routings", "spray", "up-down"),
        ("patterns", "permutation", "random-permutation"),
        ("topologies", "leaf-spine", "fat-tree"),
        # NCCL
        ("collectives", "tree", "binary-tree"),
        ("collectives", "NVLS", "ring"),
        ("patterns", "all2all", "all-to-all"),
        ("mpi-presets", "nccl", "openmpi"),
        # what people say
        ("topologies", "fat-tree-3", "fat-tree"),
        ("topologies", "dragonfly+", "dragonfly-plus"),
        ("topologies", "mesh", "torus"),
        ("routings", "updn", "up-down-static"),
        ("routings", "dor", "dimension-order"),
        ("placements", "random", "random-nodes"),
        ("placements", "cyclic", "round-robin-nodes"),
    ],
)
def test_a_word_of_another_program_has_a_name_here(topic: str, word: str, ours: str) -> None:
    known = [row["name"] for row in named(topic)]
    assert ours in known, "the table names what exists"
    assert _core.nearest_name(word, known)[0] == ours


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"job__pattern": "allreduce"}, "write it as a program"),
        ({"job__pattern": "incast"}, "did you mean 'hotspot'?"),
        ({"job__num_tasks": 8}, "did you mean 'ranks'?"),
        ({"job__injection_rate": 0.5}, "a load belongs to the traffic"),
        ({"engine__num_vcs": 4}, "the routing decides"),
        ({"engine__vc_buf_size": "8 KiB"}, "did you mean 'input_buffer'?"),
        ({"engine__packet_size": "8 KiB"}, "did you mean 'packet'?"),
        ({"engine__routing": "adaptive"}, "did you mean 'ugal-g'? (on a fat tree 'up-down-adaptive'"),
        ({"machine__link_bw": "25 GB/s"}, "class.NAME.bandwidth"),
        ({"machine__routers_per_group": 4}, "did you mean 'a'?"),
        ({"machine__topology": "fat-tree-3"}, "did you mean 'fat-tree'?"),
    ],
)
def test_errors_of_files_use_the_table(changes: dict[str, object], part: str) -> None:
    assert part in help_of(**changes)


def test_misspelt_names_are_compared_by_letters_as_before() -> None:
    assert nearest("patern", ["pattern", "placement"], "") == "Did you mean pattern?"
    assert nearest("colour", ["pattern"], "Patterns: pattern.") == "Patterns: pattern."
    assert help_of(job__patern="uniform").startswith("did you mean 'pattern'?")


def test_options_with_a_list_of_values_name_the_nearest(odonata_command: Command) -> None:
    wrong = odonata_command("list", "patern")
    assert wrong.returncode == 2
    assert wrong.stderr.rstrip().endswith("Did you mean patterns?")


def test_every_topic_is_listed(odonata_command: Command) -> None:
    shown = odonata_command("list").stdout
    for part in ("Programs", "Engines", "MPI presets", "Algorithms of collectives", "halo-3d", "loggops"):
        assert part in shown


def test_a_terminal_without_arrows_shows_the_rest(odonata_command: Command, tmp_path: Path) -> None:
    (tmp_path / "wrong.toml").write_text('[machine]\npreset = "\u2192"\n')
    for locale in ("latin-1", "ascii"):
        result = odonata_command("check", "wrong.toml", PYTHONIOENCODING=locale)
        assert result.returncode == 2, result.stderr
        assert "internal error" not in result.stderr
        listed = odonata_command("list", "routings", PYTHONIOENCODING=locale)
        assert listed.returncode == 0, listed.stderr


def test_arguments_that_the_locale_cannot_decode_are_no_defect(
    odonata_command: Command, tmp_path: Path
) -> None:
    (tmp_path / "x.toml").write_text('[machine]\npreset = "dragonfly-1056"\n')
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    for arguments in (("new", "--like", "\u2192"), ("check", "x.toml", "--set", "job.0.name=\u00f6")):
        result = odonata_command(*arguments, **locale)
        assert result.returncode == 2, result.stderr
        assert "LC_ALL=C.UTF-8" in result.stderr


def test_colors_are_read_in_any_locale() -> None:
    code = "import odonata.colors"
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    subprocess.run([sys.executable, "-c", code], check=True, env=os.environ | locale)
