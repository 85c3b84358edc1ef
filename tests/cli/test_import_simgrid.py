"""Platforms and traces of SimGrid as experiments."""

from __future__ import annotations

from pathlib import Path

import pytest
from running import Command

import odonata
from odonata import toml
from odonata.errors import OdonataError
from odonata.importers import from_simgrid

TRACE = "0 init\n0 compute 5e6\n0 send 1 0 125000\n0 finalize\n1 init\n1 recv 0 0 125000\n1 finalize\n"


def platform(folder: Path, more: str = "") -> Path:
    path = folder / "cluster.xml"
    path.write_text(
        '<?xml version="1.0"?>\n<platform version="4.1"><!-- <cluster speed="9Gf"> -->\n'
        '<cluster id="c" topology="TORUS" topo_parameters="4" prefix="n" radical="0-3" suffix=""\n'
        f'  speed="2Gf,1Gf" bw="125MBps" lat="50us" {more}/></platform>\n'
    )
    return path


def test_a_platform_alone_has_traffic_between_all_hosts(tmp_path: Path) -> None:
    found = from_simgrid(platform(tmp_path, 'core="4" loopback_bw="1GBps"'), directory=tmp_path)
    parsed = toml.parse(found.text)
    assert (parsed["job"][0]["ranks"], parsed["machine"]["cores_per_node"]) == (4, 4)
    assert any(note.startswith("dropped: loopback_bw = 1GBps") for note in found.notes)


def test_a_replay_computes_at_the_speed_of_a_host(odonata_command: Command, tmp_path: Path) -> None:
    platform(tmp_path)
    (tmp_path / "app.txt").write_text(TRACE)
    done = odonata_command(
        "import", "simgrid", "cluster.xml", "--trace", "app.txt", "-o", "replay.toml", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    [seconds] = odonata.run(tmp_path / "replay.toml").jobs["completion_time_s"].to_pylist()
    # 5e6 operations at 2e9 per second; 125,000 B at 125 MB/s and 50 us at least; hosts add microseconds.
    assert 2.5e-3 + 1e-3 + 50e-6 <= seconds <= 2.5e-3 + 1e-3 + 500e-6


def test_more_ranks_than_hosts_share_them(tmp_path: Path) -> None:
    (tmp_path / "app.txt").write_text("".join(f"{rank} init\n{rank} finalize\n" for rank in range(6)))
    found = from_simgrid(platform(tmp_path), trace=tmp_path / "app.txt", directory=tmp_path)
    parsed = toml.parse(found.text)
    assert (parsed["job"][0]["ranks"], parsed["job"][0]["ranks_per_node"]) == (6, 2)
    assert parsed["machine"]["cores_per_node"] == 2


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('speed="2Gf', 'speed="fast', "speed 'fast,1Gf'; expected operations per second"),
        ("TORUS", "STAR", "unknown topology 'STAR'"),
        ('radical="0-3"', 'radical="0-4"', "names 5 hosts"),
    ],
)
def test_a_mistake_is_refused(before: str, after: str, message: str, tmp_path: Path) -> None:
    path = platform(tmp_path)
    path.write_text(path.read_text().replace(before, after))
    (tmp_path / "app.txt").write_text(TRACE)
    with pytest.raises(OdonataError) as caught:
        from_simgrid(path, trace=tmp_path / "app.txt", directory=tmp_path)
    assert message in str(caught.value)
