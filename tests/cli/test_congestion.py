"""Roots of congestion and congestion control, as a user sees them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pyarrow as pa
import pytest
from running import Command

from odonata import Run, check, toml
from odonata.analysis import congestion_roots, congestion_sentence, wait_share

INCAST = """
[machine]
topology = "dragonfly"
p = 2
a = 4
h = 2
g = 9

[[job]]
name = "sums"
ranks = 24
ranks_per_node = 1
program = { name = "allreduce", iterations = 5, bytes = "8 B", compute = "0 ns" }
placement = { name = "random-order", order = 1 }
start = "12 us"

[[job]]
name = "incast"
pattern = { name = "hotspot", share = 1.0, hot_ranks = 1 }
traffic = { name = "open", load = 1.0, injection = "paced" }
ranks = 40
ranks_per_node = 1
placement = { name = "random-order", order = 1, skip = 24 }

[engine]
kind = "packet"
routing = "min"
time_limit = "2 ms"
record_crossbar = true
"""
PAIR = "engine.control.name=pair"


@pytest.mark.parametrize(
    ("offered", "share", "more", "sentence"),
    [
        (9.96, None, 0, "The ejection port of node n3 is offered 10.0 times what it takes since 12 us."),
        (
            10.4,
            0.25,
            1,
            (
                "The ejection port of node n3 is offered 10 times what it takes since 12 us; 25.0 % of all "
                "waits at crossbars stand behind it. One more port is overloaded."
            ),
        ),
        (
            None,
            None,
            2,
            "The ejection port of node n3 has a backlog of 30 us since 12 us. 2 more ports are overloaded.",
        ),
        (
            None,
            None,
            7,
            (
                "The ejection port of node n3 has a backlog of 30 us since 12 us. "
                "At least 7 more ports are overloaded."
            ),
        ),
    ],
)
def test_the_first_root_in_a_sentence(
    offered: float | None, share: float | None, more: int, sentence: str
) -> None:
    root = {"node": "n3", "start_s": 12e-6, "length_s": 30e-6, "offered_load": offered, "wait_share": share}
    assert congestion_sentence(pa.Table.from_pylist([root] * (1 + more))) == sentence


def made(run: Command, folder: Path, *settings: str) -> Run:
    (folder / "incast.toml").write_text(INCAST)
    given = [part for setting in settings for part in ("--set", setting)]
    result = run("run", "incast.toml", "-o", "run", "--force", *given)
    assert result.returncode == 0, result.stderr
    return Run.from_directory(folder / "run")


def completion(run: Run) -> float:
    time: float = run.jobs["completion_time_s"][0].as_py()
    return time


def test_explain_names_the_root(odonata_command: Command, tmp_path: Path) -> None:
    run = made(odonata_command, tmp_path)
    root = congestion_roots(run.summary, run.links, run.nodes).to_pylist()[0]
    assert root["offered_load"] == 39
    assert root["start_s"] < 2e-6
    assert 0.5 < root["wait_share"] <= 1
    said = odonata_command("explain", "run")
    assert f"The ejection port of node {root['node']} is offered 39 times what it takes since" in said.stdout
    assert "of all waits at crossbars stand behind it" in said.stdout
    found = json.loads(odonata_command("explain", "run", "--job", "sums", "--json").stdout)
    assert found["congestion_roots"] == [root]
    shown = odonata_command("show", "run")
    assert f"ejection port of node {root['node']} is offered 39 times" in shown.stdout + shown.stderr


HOT_PORTS = """
[machine]
topology = "dragonfly"
p = 4
a = 8
h = 2
g = 9

[[job]]
name = "io"
pattern = { name = "hotspot", share = 1.0, hot_ranks = 12, bytes = "32 KiB" }
ranks = 96
ranks_per_node = 1
placement = "random-nodes"

[engine]
kind = "packet"
routing = "min"
"""


def test_run_and_explain_agree_on_the_number_of_ports(odonata_command: Command, tmp_path: Path) -> None:
    """The summary lists eight ports; `explain` claims no more than it knows, in the words of the warning."""
    (tmp_path / "hot.toml").write_text(HOT_PORTS)
    done = odonata_command("run", "hot.toml", "-o", "run")
    assert done.returncode == 0, done.stderr
    found = re.search(r"(\d+) more ports are overloaded", done.stderr)
    assert found is not None, done.stderr
    assert int(found[1]) > 7
    assert "At least 7 more ports are overloaded." in odonata_command("explain", "run").stdout


def test_control_saves_the_other_job(odonata_command: Command, tmp_path: Path) -> None:
    alone = completion(made(odonata_command, tmp_path, "job.incast.idle=true"))
    without = completion(made(odonata_command, tmp_path))
    run = made(odonata_command, tmp_path, PAIR)
    assert completion(run) < 1.3 * alone < without / 3
    pairs = run.table("control_pairs").to_pandas()
    assert set(pairs["job"]) == {1}
    assert (pairs["holds"] > 0).sum() >= 38


def test_control_saves_it_with_several_nics_per_node(odonata_command: Command, tmp_path: Path) -> None:
    """Both NICs of a node are at routers of their own, and both of the hot node are overloaded."""
    rails = ("machine.rails=2", "machine.rail_routers=next")
    alone = completion(made(odonata_command, tmp_path, "job.incast.idle=true", *rails))
    without = completion(made(odonata_command, tmp_path, *rails))
    assert completion(made(odonata_command, tmp_path, PAIR, *rails)) < 1.3 * alone < without / 3


def test_the_routers_of_slingshot_have_a_control() -> None:
    """`resolved.toml` says which one, and also that there is none; reading it again changes nothing."""
    for given, name in (({}, "pair"), ({"engine.control.name": "none"}, "none")):
        resolved = check(INCAST, set={"engine.preset": "slingshot"} | given)["resolved"]
        assert toml.parse(resolved)["engine"]["control"]["name"] == name
        assert check(resolved)["resolved"] == resolved


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        (['engine.control={name="pear"}'], "unknown name 'pear'"),
        ([PAIR, "engine.control.q_low=1 KiB"], "did you mean 'q_lo'"),
        ([PAIR, "engine.control.q_lo=8 KiB"], "8 KiB is not below q_hi, 8 KiB"),
        ([PAIR, "engine.control.rule=fixed"], 'means something only with `name = "window"`'),
        (
            [PAIR, "engine.control.rule=merlin", "engine.control.q_lo=1 KiB"],
            "only with rule credit, and rule is 'merlin'",
        ),
        (["engine.control.q_hi=9 KiB"], 'means something only with `name = "pair"`'),
        ([PAIR, "engine.control.window=100 B"], "less than a packet of 512 B"),
        ([PAIR, "engine.injection.fifos=6"], "with injection FIFOs or several NICs"),
    ],
)
def test_mistakes(odonata_command: Command, tmp_path: Path, settings: list[str], reason: str) -> None:
    (tmp_path / "incast.toml").write_text(INCAST)
    given = [part for setting in settings for part in ("--set", setting)]
    result = odonata_command("check", "incast.toml", *given)
    assert result.returncode == 2
    assert reason in result.stderr


def test_waits_are_followed_back_to_the_root() -> None:
    """Node 0 at router 0; link 0 leads from router 1 to 0, link 1 from router 2 to 1, link 2 to 2.

    Link 0 is out of credits for 3/4 of its time and router 0 waits for the root only, so 3/4 of the waits
    for link 0 stand behind it. Link 1 is always out of credits, and all waits of router 1 are for link 0:
    3/4, too. Nobody waits at router 2 but for link 1.
    """
    links = pa.table(
        {
            "source": [1, 2, 0],
            "target": [0, 1, 2],
            "crossbar_stall_ps": [40, 20, 0],
            "stall_ps": [3, 9, 0],
            "busy_ps": [1, 0, 5],
        }
    )
    nodes = pa.table({"router": [0, 1], "crossbar_stall_ps": [40, 0]})
    assert wait_share(links, nodes, 0) == (40 + 0.75 * 40 + 0.75 * 20) / 100
    assert wait_share(links.drop_columns("crossbar_stall_ps"), nodes, 0) is None


def test_the_summary_counts_control_packets(odonata_command: Command, tmp_path: Path) -> None:
    """Each delivered packet has an acknowledgement of 64 B; congested ports send notices, too."""
    free = made(odonata_command, tmp_path, PAIR).summary["packet"]
    assert (free["control_packets"], free["control_packet_bytes"]) == (0, 0)
    packet = made(odonata_command, tmp_path, PAIR, "engine.control.control_bytes=64 B").summary["packet"]
    assert packet["control_packets"] > packet["packets"]
    assert packet["control_packet_bytes"] == 64 * packet["control_packets"]
    settings = (PAIR, "engine.control.control_bytes=64 B")
    given = [part for setting in settings for part in ("--set", setting)]
    checked = json.loads(odonata_command("check", "incast.toml", "--json", *given).stdout)
    assert checked["control_packets"] == checked["packets"] > 0
