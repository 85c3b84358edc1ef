"""What the packet engine refuses: an error with its place and the reason, before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from packet_files import DRAGONFLY, experiment
from running import Command

FILE = experiment()


def changed(*changes: tuple[str, str], add: str = "") -> str:
    text = FILE
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text + add


PATH = "src,dst\n" + "".join(f"{router},{router + 1}\n" for router in range(59))
"""Sixty routers in a row."""

MISTAKES = {
    "unknown algorithm": (
        changed(add='routing = "ugal-x"\n'),
        ["x.toml:18:11", "ugal-x", "ugal-g"],
    ),
    "an algorithm that the machine has no groups for": (
        changed((DRAGONFLY, 'preset = "bgp-midplane"'), add='routing = "valiant-n"\n'),
        ["x.toml:14:11", "intermediate group", "use 'min'"],
    ),
    "more virtual channels than there can be": (
        changed((DRAGONFLY, 'file = "path.txt"'), ("ranks = 72", "ranks = 60")),
        ["x.toml:", "virtual channels", "at most 16"],
    ),
    "a buffer smaller than a packet": (
        changed(add='output_buffer = "256 B"\n'),
        ["x.toml:18:17", "'output_buffer'", "256 B does not hold one packet of 512 B"],
    ),
    "a packet larger than the preset's buffer": (
        changed(add='packet = "64 KiB"\n'),
        ["x.toml:", "'input_buffer'", "does not hold one packet of 64 KiB"],
    ),
    "a packet that is not a whole number of flits": (
        changed(add='packet = "500 B"\n'),
        ["x.toml:", "'flit'", "not a whole number of flits"],
    ),
    "zero bandwidth": (
        changed(("g = 9\n", 'g = 9\n[machine.class.global]\nbandwidth = "0 GB/s"\n')),
        ["x.toml:8:13", "bandwidth", "0"],
    ),
    "a load above 1": (changed(("load = 0.3", "load = 1.2")), ["x.toml:13:35", "load", "1.2", "0 to 1"]),
    "a negative load": (changed(("load = 0.3", "load = -0.1")), ["x.toml:13:35", "load", "-0.1", "0 to 1"]),
    "a step above 1": (
        changed(("load = 0.3", 'step_times = ["5 us"], step_loads = [3.0]')),
        ["x.toml:13:", "step_loads", "3", "0 to 1"],
    ),
    "steps that go back in time": (
        changed(("load = 0.3", 'step_times = ["5 us", "2 us"], step_loads = [0.1, 0.2]')),
        ["x.toml:13:41", "'step_times': must ascend"],
    ),
    "a list of loads": (
        changed(("load = 0.3", "load = [0.3, 0.4]")),
        ["x.toml:13:35", "'load' must be a number from 0 to 1"],
    ),
    "a load in the place of format 1": (
        changed(add="load = 0.3\n"),
        ["x.toml:18:1", "unknown key 'load'", "in its [[job]]", "odonata check --upgrade"],
    ),
    "a parameter of the routing in the place of format 1": (
        changed(add="threshold = 1.5\n"),
        ["x.toml:18:1", "`routing = { name = …, threshold = … }`"],
    ),
    "paths that take no time": (
        changed(
            ("g = 9\n", 'g = 9\nclass.global = {latency = "0 ns"}\n'),
            add='output_latency = "0 ns"\ninput_latency = "0 ns"\n',
        ),
        [
            "x.toml:20:17",
            "no time from router g0r0 to router g1r",
            "latency for links of class 'global'",
            "or 'input_latency' (1 ps is enough)",
        ],
    ),
    "nothing to measure": (changed(('"10 us"', '"0 us"')), ["x.toml:17:11", "'measure' must be above 0"]),
    "an interval of no length": (
        changed(add='interval = "0 us"\n'),
        ["x.toml:18:12", "'interval' must be at least"],
    ),
    "a pattern that does not fit the ranks": (
        changed(('"uniform"', '{ name = "stencil-3d", dims = [4, 4, 4] }')),
        ["x.toml:10:", "stencil-3d", "64", "72"],
    ),
    "a pattern that does not fit the placement": (
        changed(('"uniform"', '"adversarial"'), ("ranks = 72", "ranks = 8")),
        ["x.toml:", "adversarial", "group"],
    ),
    "more ranks than nodes": (changed(("ranks = 72", "ranks = 73")), ["x.toml:", "73"]),
    "a machine in two parts": (
        changed(("g = 9\n", 'g = 9\nedit = ["fail 100% global"]\n')),
        ["x.toml:", "cut the machine into 9 parts"],
    ),
    "more memory than is allowed": (
        changed(add='memory_limit = "1 MB"\n'),
        ["x.toml:18:16", "'memory_limit'", "needs about", "1 MB"],
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_refused_with_place_and_reason(
    odonata_command: Command, tmp_path: Path, mistake: str
) -> None:
    text, expected = MISTAKES[mistake]
    (tmp_path / "x.toml").write_text(text)
    (tmp_path / "path.txt").write_text(PATH)
    result = odonata_command("run", "x.toml", "-o", "run")
    assert result.returncode == 2, result.stderr or result.stdout
    assert not (tmp_path / "run").exists()
    assert "Traceback" not in result.stderr
    for words in expected:
        assert words in result.stderr, result.stderr


def test_the_memory_that_is_refused_is_that_of_the_records(odonata_command: Command, tmp_path: Path) -> None:
    """The same run without the series of jobs on links fits."""
    records = (
        'interval = "1 us"\nseries = ["channels", "links"]\nrecord_packets = true\nmemory_limit = "82 MB"\n'
    )
    (tmp_path / "x.toml").write_text(FILE + records)
    result = odonata_command("run", "x.toml", "-o", "run")
    assert result.returncode == 2
    assert "needs about" in result.stderr
    (tmp_path / "x.toml").write_text(FILE + 'memory_limit = "82 MB"\n')
    assert odonata_command("run", "x.toml", "-o", "run").returncode == 0


def test_a_job_that_never_leaves_its_node_is_named(odonata_command: Command, tmp_path: Path) -> None:
    text = changed(("g = 9", "g = 9\ncores_per_node = 2"), ("ranks = 72", "ranks = 2"))
    (tmp_path / "x.toml").write_text(text.replace("ranks_per_node = 1", "ranks_per_node = 2"))
    result = odonata_command("run", "x.toml", "-o", "run")
    assert result.returncode == 0
    assert "warning: job 'one' sends nothing over the network" in result.stderr
