"""An administrator: own cabling, host names, Slurm's queue, three failures. Who suffers, and from which?"""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import pytest
from running import Command

import odonata

GROUPS, SWITCHES, HOSTS = 6, 4, 4
QUEUE = """JOBID|NAME|NODES|CPUS|ST|NODELIST
101|cfd|32|1024|R|nid[001-032]
102|fft|24|768|R|nid[033-048,081-088]
103|post|8|256|R|nid[089-096]
104|late|4|128|PD|
"""
FAILURES = ["fail c0-s0>c1-s0:global.0", "fail c2-s0>c2-s1:local.0", "fail c4-s1>c4-s2:local.0"]


def cabling(hall: Path) -> None:
    """A hall as its owner lists it: cables, hosts, and the two files together."""
    pairs = [
        (f"c{g}-s{a}", f"c{g}-s{b}", "local")
        for g in range(GROUPS)
        for a, b in combinations(range(SWITCHES), 2)
    ]
    used = [0] * GROUPS
    for g, h in combinations(range(GROUPS), 2):
        for _ in range(2):
            pairs.append((f"c{g}-s{used[g] % SWITCHES}", f"c{h}-s{used[h] % SWITCHES}", "global"))
            used[g] += 1
            used[h] += 1
    rows = [f"{a},{b},{kind},25000000000,{HOSTS},{HOSTS}" for a, b, kind in pairs]
    (hall / "cables.csv").write_text(
        "\n".join(["src,dst,class,bandwidth_bytes_per_s,src_nodes,dst_nodes", *rows]) + "\n"
    )
    places = [f"c{g}-s{s}" for g in range(GROUPS) for s in range(SWITCHES) for _ in range(HOSTS)]
    hosts = [f"nid{i:03},{place}" for i, place in enumerate(places, 1)]
    (hall / "hosts.csv").write_text("\n".join(["name,router", *hosts]) + "\n")
    (hall / "hall.toml").write_text(
        '[machine]\nfile = "cables.csv"\nnodes_file = "hosts.csv"\ncores_per_node = 32\n'
    )


@pytest.mark.slow
def test_who_suffers_from_which_failure(odonata_command: Command, tmp_path: Path) -> None:
    cabling(tmp_path)
    (tmp_path / "queue.txt").write_text(QUEUE)

    def said(*words: str) -> str:
        done = odonata_command(*words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return done.stdout

    # This moment's jobs on their hosts, in one command; the experiment lies elsewhere than the cabling.
    (tmp_path / "today").mkdir()
    queue = ("import", "slurm", "queue.txt", "--machine", "hall.toml", "--pattern", "all-to-all")
    said(*queue, "--ranks-per-node", "8", "-o", "today/now.toml")
    said("run", "today/now.toml", "-o", "now")
    edits = f"machine.edit={json.dumps(FAILURES)}"
    said("run", "today/now.toml", "--set", edits, "-o", "failed")

    # Nobody but the job with ranks on both ends of the failed cables of group 2 loses much.
    words = said("compare", "now", "failed")
    slower = {line.split()[0]: float(line.split()[3].rstrip("%").replace("=", "0")) for line in table(words)}
    assert set(slower) == {"cfd-101", "fft-102", "post-103"}
    assert slower["fft-102"] > 20

    # From which failure: costs whose sum is its slowdown, with its most used cable on top.
    found = json.loads(said("explain", "failed", "--against", "now", "--job", "fft-102", "--json"))
    costs = {change["cause"]: change["cost_s"] for change in found["against"]["blame"]}
    assert len(costs) == len(FAILURES)
    assert "c2-s0>c2-s1" in max(costs, key=lambda cause: costs[cause])
    slowdown = found["against"]["time_s"] - found["against"]["time_s_base"]
    assert abs(sum(costs.values()) - slowdown) < 1e-9 * slowdown


def test_a_failed_switch_names_the_jobs_that_it_holds(odonata_command: Command, tmp_path: Path) -> None:
    """Hosts behind a failed switch are unusable: jobs on them end, and the run goes on without them."""
    cabling(tmp_path)
    (tmp_path / "queue.txt").write_text(QUEUE)
    made = odonata_command(
        "import", "slurm", "queue.txt", "--machine", "hall.toml", "-o", "now.toml", cwd=tmp_path
    )
    assert made.returncode == 0, made.stderr
    done = odonata_command("run", "now.toml", "--set", "machine.edit=['fail c0-s1']", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "c0-s1 fails: cfd-101 loses" in done.stderr
    lost = {job["name"]: job["lost_nodes"] for job in odonata.load(tmp_path / "runs" / "now").absent_jobs}
    assert "nid005" in lost["cfd-101"]


def table(words: str) -> list[str]:
    """The rows of the first table of `compare`: job, time, time, change."""
    lines = words.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("job ")) + 2
    return lines[start : start + 3]
