"""Scripts of SST with Merlin networks as experiments: read, never run."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from running import Command

import odonata
from odonata import toml
from odonata.errors import OdonataError
from odonata.importers import from_sst

ROUTER = """
router = hr_router()
router.link_bw = "4GB/s"
router.flit_size = "8B"
router.xbar_bw = "6GB/s"
router.input_latency = "20ns"
router.output_latency = "30ns"
router.input_buf_size = "4kB"
router.output_buf_size = "1KiB"
topo.router = router
topo.link_latency = "10ns"
"""
DRAGONFLY = """
topo = topoDragonFly()
topo.hosts_per_router = 2
topo.routers_per_group = 4
topo.intergroup_links = 2
topo.num_groups = 5
topo.algorithm = "ugal"
"""
JOB = """
ep = TestJob(0, topo.getNumNodes())
system = System()
system.allocateNodes(ep, "linear")
"""


def script(folder: Path, text: str) -> Path:
    path = folder / "run.py"
    path.write_text("import sst\nfrom sst.merlin.base import *\n" + text)
    return path


@pytest.mark.parametrize(
    ("topology", "nodes", "routers", "links"),
    [
        # 20 routers: 3 links within the group each, and 2 cables for each of 10 pairs of groups.
        (DRAGONFLY, 40, 20, 20 * 3 + 2 * 2 * 10),
        # Levels of 32, 32 and 16 routers: 128 cables from each of the lower ones.
        ('topo = topoFatTree()\ntopo.shape = "4,4:4,4:8"\n', 128, 80, 2 * 2 * 128),
        (
            'topo = topoHyperX()\ntopo.shape = "4x3"\ntopo.width = "2x1"\ntopo.local_ports = 3\n',
            36,
            12,
            12 * (6 + 2),
        ),
        (
            'topo = topoTorus()\ntopo.shape = "4x4x4"\ntopo.width = "1x1x1"\ntopo.local_ports = 2\n',
            128,
            64,
            64 * 6,
        ),
        ('topo = topoMesh()\ntopo.shape = "4x4"\ntopo.width = "1x1"\ntopo.local_ports = 1\n', 16, 16, 48),
        ("topo = topoPolarFly()\ntopo.q = 3\ntopo.hosts_per_router = 2\n", 26, 13, 48),
        ("topo = topoSingle()\ntopo.num_ports = 8\n", 8, 1, 0),
    ],
)
def test_a_topology_has_its_nodes_routers_and_links(
    topology: str, nodes: int, routers: int, links: int, tmp_path: Path
) -> None:
    found = toml.parse(from_sst(script(tmp_path, topology + ROUTER + JOB)).text)
    machine = odonata.machine(found["machine"])
    sizes = (machine.nodes.num_rows, machine.routers.num_rows, machine.links.num_rows)
    assert sizes == (nodes, routers, links)
    assert found["job"][0]["ranks"] == nodes


def test_the_first_dimension_is_the_fastest(tmp_path: Path) -> None:
    text = 'topo = topoHyperX()\ntopo.shape = "4x3"\ntopo.width = "2x1"\ntopo.local_ports = 1\n'
    machine = toml.parse(from_sst(script(tmp_path, text + ROUTER + JOB)).text)["machine"]
    assert (machine["dims"], machine["parallel"]) == ([3, 4], [1, 2])
    # Routers 0 to 3 are neighbours in the dimension of four, with two cables.
    links = odonata.machine(machine).links.to_pylist()
    assert sum(link["source"] == 0 and link["target"] == 3 for link in links) == 2


def test_figures_of_routers_and_links(tmp_path: Path) -> None:
    more = 'topo.host_link_latency = "5ns"\nnic = LinkControl()\nnic.link_bw = "16Gb/s"\n'
    found = toml.parse(from_sst(script(tmp_path, DRAGONFLY + ROUTER + more + JOB)).text)
    assert found["machine"]["class"] == {
        "local": {"bandwidth": "4 GB/s", "latency": "10000 ps"},
        "global": {"bandwidth": "4 GB/s", "latency": "10000 ps"},
        "terminal": {"bandwidth": "2 GB/s", "latency": "5000 ps"},
    }
    engine = found["engine"]
    assert (engine["crossbar_speedup"], engine["flit"], engine["routing"]) == (1.5, "8 B", "ugal-g")
    assert (engine["input_buffer"], engine["output_buffer"]) == ("4000 B", "1024 B")
    assert (engine["input_latency"], engine["output_latency"]) == ("20000 ps", "30000 ps")


def test_a_test_job_sends_its_messages(tmp_path: Path) -> None:
    text = DRAGONFLY + ROUTER + JOB + 'ep.num_messages = 3\nep.message_size = "256B"\n'
    run = odonata.run(from_sst(script(tmp_path, text)).text)
    assert run.jobs["messages"].to_pylist() == [40 * 39 * 3]
    assert run.jobs["bytes"].to_pylist() == [40 * 39 * 3 * 256]


def test_loads_of_open_traffic_become_a_sweep(tmp_path: Path) -> None:
    text = (
        "LOADS = [0.1, 0.2 * 2]\ntargets = ShiftTarget()\ntargets.shift = 8\n"
        "ep = OfferedLoadJob(0, topo.getNumNodes())\nep.pattern = targets\nep.offered_load = LOADS\n"
        'ep.message_size = f"{16 * 2}B"\nep.warmup_time = "2us"\nep.collect_time = "4us"\n'
    )
    found = toml.parse(from_sst(script(tmp_path, DRAGONFLY + ROUTER + text)).text)
    assert found["sweep"] == {"job.job-0.traffic.load": [0.1, 0.4]}
    assert found["job"][0]["pattern"] == {"name": "shift", "offset": 8}
    engine = found["engine"]
    assert (engine["packet"], engine["warm_up"], engine["measure"]) == ("32 B", "2000000 ps", "4000000 ps")


def test_jobs_share_the_nodes_as_the_system_gives_them(tmp_path: Path) -> None:
    text = (
        "a = TestJob(0, 4)\nb = EmberMPIJob(1, 3, 2)\nc = TestJob(2, 5)\nb.addMotif('Init')\n"
        "b.addMotif('PingPong iterations=7 messageSize=64')\nb.addMotif('Fini')\nsystem = System()\n"
        "system.allocateNodes(a, 'interval', 0, 8, 2)\nsystem.allocateNodes(b, 'indexed', [1, 0, 5])\n"
        "system.allocateNodes(c, 'linear')\n"
    )
    found = from_sst(script(tmp_path, DRAGONFLY + ROUTER + text))
    first, second, third = toml.parse(found.text)["job"]
    assert first["placement"]["nodes"] == [0, 1, 8, 9]
    # The free nodes are 2, 3, 4, 5, 6, 7, 10, ..
    assert second["placement"]["nodes"] == [3, 2, 7]
    assert (second["ranks"], second["ranks_per_node"]) == (6, 2)
    assert second["program"] == {"name": "ping-pong", "bytes": "64 B", "iterations": 7}
    assert (third["placement"], third["ranks"]) == ("compact", 5)


def test_an_interval_has_single_nodes_or_blocks(tmp_path: Path) -> None:
    """Every third node from 1; then pairs of nodes, four apart, of those that are left."""
    text = (
        "a = TestJob(0, 3)\nb = TestJob(1, 4)\nsystem = System()\n"
        "system.allocateNodes(a, 'interval', 1, 3)\nsystem.allocateNodes(b, 'interval', 1, 4, 2)\n"
    )
    first, second = toml.parse(from_sst(script(tmp_path, DRAGONFLY + ROUTER + text)).text)["job"]
    assert first["placement"]["nodes"] == [1, 4, 7]
    # The free nodes are 0, 2, 3, 5, 6, 8, 9, ..
    assert second["placement"]["nodes"] == [2, 3, 8, 9]


def test_an_allocation_gives_each_node_once(tmp_path: Path) -> None:
    text = "a = TestJob(0, 3)\nsystem = System()\nsystem.allocateNodes(a, 'indexed', [5, 1, 5])\n"
    with pytest.raises(OdonataError, match="the allocation in line 23 gives 2 of 3 nodes"):
        from_sst(script(tmp_path, DRAGONFLY + ROUTER + text))


def test_the_old_style_is_read(tmp_path: Path) -> None:
    text = """
topo = topoTorus()
params = {}
params["torus:shape"] = "4x4"
params["torus.local_ports"] = 1
sst.merlin._params.update(params)
sst.merlin._params["link_bw"] = "4GB/s"
sst.merlin._params["link_lat"] = "20ns"
sst.merlin._params["flit_size"] = "8B"
sst.merlin._params["input_buf_size"] = "4kB"
sst.merlin._params["output_buf_size"] = "4kB"
sst.merlin._params["checkerboard"] = "1"
end = TestEndPoint()
"""
    found = from_sst(script(tmp_path, text))
    parsed = toml.parse(found.text)
    assert (parsed["job"][0]["ranks"], parsed["engine"]["routing"]) == (16, "dimension-order")
    assert parsed["machine"]["class"]["local"]["latency"] == "20000 ps"
    assert "dropped: _params.checkerboard = 1 (line 14)" in found.notes


def test_a_platform_file_is_read_next_to_the_script(tmp_path: Path) -> None:
    (tmp_path / "site.py").write_text(
        'base = PlatformDefinition("small")\nPlatformDefinition.registerPlatformDefinition(base)\n'
        'base.addParamSet("topology", {"shape": "3x3", "width": "1x1", "local_ports": 2,\n'
        '  "link_latency": "20ns"})\n'
        'base.addClassType("topology", "sst.merlin.topology.topoHyperX")\n'
        'base.addParamSet("router", {"link_bw": "4GB/s", "flit_size": "8B", "input_buf_size": "4kB",\n'
        '  "output_buf_size": "4kB"})\n'
        'more = PlatformDefinition.compose("careful", [("small", "ALL")])\n'
        'more.addParamSet("router", {"enable_congestion_management": True})\n'
    )
    text = (
        'PlatformDefinition.loadPlatformFile("site")\nPlatformDefinition.setCurrentPlatform("careful")\n'
        "system = System()\nep = TestJob(0, system.topology.getNumNodes() // 2)\n"
        "ep.message_size = '64B'\n"
    )
    found = toml.parse(from_sst(script(tmp_path, text)).text)
    assert (found["machine"]["topology"], found["job"][0]["ranks"]) == ("hyperx", 9)
    assert found["engine"]["control"] == {
        "name": "pair",
        "rule": "merlin",
        "q_hi": "8000 B",
        "sources_min": 6,
    }


def test_functions_and_conditions_are_followed_and_loops_left_out(tmp_path: Path) -> None:
    text = (
        "import os\n"
        f"def build():\n    global topo\n{indented(DRAGONFLY + ROUTER + JOB)}\n    build()\n"
        "if 2 * 3 > 5:\n    build()\nelse:\n    topo = topoTorus()\n"
        "for number in range(3):\n    ep = TestJob(number, 4)\n"
        "if os.environ.get('BIG'):\n    topo.num_groups = 9\n"
    )
    found = from_sst(script(tmp_path, text))
    assert toml.parse(found.text)["machine"]["g"] == 5
    assert [note for note in found.notes if note.startswith("not read")] == [
        "not read: a loop in line 31",
        "not read: a condition in line 33",
    ]


def indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines() if line)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("topo = (\n", "no Python program"),
        ("x = 1\n", "makes no topology of Merlin"),
        ("topo = topoAny()\n", "line 3: topoAny: no family here has this topology"),
        (DRAGONFLY + ROUTER, "makes no job"),
        (DRAGONFLY + ROUTER + "job = HgJob(0, 4)\n", "line 21: HgJob: no job here sends like it"),
        (DRAGONFLY + ROUTER + "job = TestJob(0, 400)\n", "line 21: TestJob.size: 400 nodes"),
        (DRAGONFLY + ROUTER + "topo.num_groups = 'x'\n" + JOB, "num_groups: expected a whole number from 1"),
        (DRAGONFLY + ROUTER + "topo.num_groups = n()\n" + JOB, "'n()' has a value only when the script runs"),
        (
            DRAGONFLY + ROUTER + "router.link_bw = '4 apples'\n" + JOB,
            "link_bw: '4 apples'; expected an amount",
        ),
        (DRAGONFLY + ROUTER + "router.link_bw = '20ns'\n" + JOB, "expected an amount such as 4GB/s"),
        (DRAGONFLY + JOB, "hr_router.flit_size: the script does not set it"),
        (DRAGONFLY + DRAGONFLY + ROUTER + JOB, "a second network"),
        (
            "topo = topoFatTree()\ntopo.shape = '4,4:8,8'\n" + ROUTER + JOB,
            "shape: '4,4:8,8'; expected down,up",
        ),
        (
            "topo = topoHyperX()\ntopo.shape = '4x4'\ntopo.width = '1'\ntopo.local_ports = 1\n"
            + ROUTER
            + JOB,
            "width: 1 dimensions, but the shape has 2",
        ),
        (
            DRAGONFLY + ROUTER + "job = OfferedLoadJob(0, 4)\njob.offered_load = 1.5\n",
            "line 22: OfferedLoadJob.offered_load: expected a number above 0, at most 1",
        ),
    ],
)
def test_a_mistake_has_its_place(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(OdonataError) as caught:
        from_sst(script(tmp_path, text))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "x = 'a' * 10**12\n",
        "x = '%999999999d' % 1\n",
        "x = 9**9**9\n",
        "x = " + "+".join(["1"] * 20000) + "\n",
        "x = " + "(" * 500 + ")" * 500 + "\n",
        "x = [1] * 10**9\n",
        "def f():\n    f()\nf()\n",
        "import os\nos.remove('run.py')\nopen('made', 'w')\n",
    ],
)
def test_a_hostile_script_is_not_run_and_ends_at_once(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    begun = time.process_time()
    path = script(tmp_path, text)
    with pytest.raises(OdonataError):
        from_sst(path)
    assert time.process_time() - begun < 2
    assert sorted(file.name for file in tmp_path.iterdir()) == ["run.py"]


def test_the_file_of_the_command_runs_and_lists_what_was_dropped(
    odonata_command: Command, tmp_path: Path
) -> None:
    script(tmp_path, DRAGONFLY + ROUTER + "router.num_vns = 2\n" + JOB)
    done = odonata_command("import", "sst", "run.py", "-o", "merlin.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "merlin.toml").read_text()
    assert "# - dropped: hr_router.num_vns = 2 (line 21)" in text
    assert odonata_command("check", "merlin.toml", cwd=tmp_path).returncode == 0
