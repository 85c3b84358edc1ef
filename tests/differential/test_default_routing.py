"""The default routing of every kind of machine: the same in all engines, on paths that exist."""

from __future__ import annotations

from pathlib import Path

import pytest

import odonata

SLURM = "\n".join(
    [f"SwitchName=leaf{leaf} Nodes=n[{4 * leaf}-{4 * leaf + 3}]" for leaf in range(4)]
    + ["SwitchName=spine0 Switches=leaf[0-3]", "SwitchName=spine1 Switches=leaf[0-3]"]
)

MACHINES = {
    "dragonfly": ('topology = "dragonfly"\np = 2\na = 4\nh = 2\ng = 5', "ugal", "ugal-n"),
    "dragonfly-plus": ('topology = "dragonfly-plus"', "ugal", "ugal-n"),
    "slingshot": ('topology = "slingshot"', "ugal", "ugal-n"),
    "cascade": ('topology = "cascade"\ngroups = 3', "ugal", "ugal-n"),
    "torus": ('topology = "torus"\ndims = [4, 4, 3]', "dimension-order", "dimension-order"),
    "blue-gene": ('preset = "bgq-midplane"', "torus-dynamic", "torus-dynamic"),
    "express-mesh": ('topology = "express-mesh"', "min", "min"),
    "fat-tree": ('topology = "fat-tree"\nk = 8', "up-down-adaptive", "up-down-adaptive"),
    "xgft": ('topology = "xgft"', "up-down-adaptive", "up-down-adaptive"),
    "hyperx": ('topology = "hyperx"', "min", "min"),
    "slim-fly": ('topology = "slim-fly"', "min", "min"),
    "polarfly": ('topology = "polarfly"', "min", "min"),
    "jellyfish": ('topology = "jellyfish"', "min", "min"),
    "file": ('file = "topology.conf"\nuplinks = 2\nformat = "slurm"', "d-mod-k", "d-mod-k"),
    "torus with a fault": ('topology = "torus"\ndims = [4, 4, 3]\nedit = "fail 2% local"', "min", "min"),
    "two groups": ('topology = "dragonfly"\np = 2\na = 4\nh = 2\ng = 2', "min", "min"),
}
"""Keys of `[machine]`, and the default of the flow and of the packet engine."""

JOBS = {
    "uniform": 'pattern = { name = "uniform", messages = 8, bytes = "8 KiB" }',
    "all-to-all": 'pattern = { name = "all-to-all", bytes = "4 KiB" }',
    "halo-3d": 'program = { name = "halo-3d", iterations = 2 }',
}

MINIMAL = {"min", "d-mod-k", "dimension-order", "torus-dynamic", "up-down", "up-down-adaptive"}
NON_MINIMAL_HOPS_MAX = 8
"""Two minimal paths of up to 4 hops: to a router of a third group, and from there."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("machines")
    (place / "topology.conf").write_text(SLURM + "\n")
    return place


def run(place: Path, machine: str, job: str, engine: str) -> odonata.Run:
    file = place / "experiment.toml"
    file.write_text(
        f"[machine]\n{machine}\n[[job]]\n{job}\nranks = 8\nranks_per_node = 1\n[engine]\n{engine}\n"
    )
    return odonata.run(file, threads=1)


def used(run: odonata.Run) -> set[int]:
    return {link for link, load in enumerate(run.table("links")["bytes"].to_pylist()) if load > 0}


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("name", MACHINES)
def test_engines_take_the_default_of_the_machine(place: Path, name: str, job: str) -> None:
    machine, flow, packet = MACHINES[name]
    shortest = run(place, machine, JOBS[job], 'kind = "flow"\nrouting = "min"')
    hops = shortest.table("jobs")["byte_hops_mean"][0].as_py()
    for engine, routing in (("flow", flow), ("packet", packet)):
        found = run(place, machine, JOBS[job], f'kind = "{engine}"')
        assert found.summary["routing"] == routing
        [assumed] = [known for known in found.summary["assumptions"] if known["key"] == "engine.routing"]
        assert assumed["value"] == f'"{routing}"'
        assert assumed["reason"].startswith("default for ")
        took = found.table("jobs")["byte_hops_mean"][0].as_py()
        # Barriers of a program send small messages, which the flow engine leaves out.
        if routing in MINIMAL:
            assert took == pytest.approx(hops, rel=1e-3)
        else:
            assert hops - 1e-9 <= took <= NON_MINIMAL_HOPS_MAX
            other = {"ugal": "ugal-n in the packet engine", "ugal-n": "ugal in the flow engine"}[routing]
            assert assumed["reason"].endswith(other)
        # `min` on a torus is dimension order; torus-dynamic takes other minimal links too.
        if routing in MINIMAL - {"torus-dynamic"} and job != "halo-3d":
            assert used(found) <= used(shortest)


def test_an_engine_without_routing_says_so(place: Path) -> None:
    found = run(place, MACHINES["torus"][0], JOBS["uniform"], 'kind = "model"')
    assert found.summary["routing"] == "none"


def test_the_preset_of_a_program_has_its_routing(place: Path) -> None:
    found = run(place, MACHINES["fat-tree"][0], JOBS["uniform"], 'kind = "flow"\npreset = "damselfly"')
    assert found.summary["routing"] == "adaptive-hybrid"


def test_a_pod_keeps_its_traffic() -> None:
    """Two edge switches of one pod: 4 links up and 4 down at each, of 512."""
    experiment = """
        [machine]
        topology = "fat-tree"
        k = 8
        [[job]]
        pattern = "uniform"
        ranks = 8
        ranks_per_node = 1
    """
    for engine in ("flow", "packet"):
        assert len(used(odonata.run(experiment, set={"engine.kind": engine}, threads=1))) == 16


def test_a_full_fat_tree_needs_the_time_of_its_nics() -> None:
    """128 nodes of 25 GB/s send 1 MB to each other: 127 MB / 25 GB/s = 5.08 ms."""
    run = odonata.run(
        """
        [machine]
        topology = "fat-tree"
        k = 8
        [[job]]
        pattern = { name = "all-to-all", bytes = "1 MB" }
        ranks = 128
        ranks_per_node = 1
        [engine]
        kind = "flow"
        """,
        threads=1,
    )
    assert run.table("jobs")["completion_time_s"][0].as_py() == pytest.approx(127e6 / 25e9, rel=0.01)
