"""`odonata explain`: where a job waited, against the tables of its run."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from running import Command

from odonata import Run
from odonata.analysis.critical import of_iteration, whole

MACHINE = '[machine]\ntopology = "dragonfly"\np = 2\na = 4\nh = 2\ng = 9\n'
JOBS = """
[[job]]
name = "sum"
ranks = 36
ranks_per_node = 1
program = { name = "allreduce", iterations = 2, bytes = "16 kB", compute = "0 ns" }
placement = { name = "random-order", skip = 0 }

[[job]]
name = "halo"
ranks = 36
ranks_per_node = 1
program = { name = "halo-3d", iterations = 2, bytes = "20 kB" }
placement = { name = "random-order", skip = 36 }
"""
ENGINE = '[engine]\nkind = "packet"\nrouting = "min"\n'
RECORDS = 'record_job_waits = true\ninterval = "2 us"\n'


def explained(
    run: Command, folder: Path, records: str, *arguments: str
) -> dict[str, list[dict[str, object]]]:
    """What `explain --json` says of a new run."""
    (folder / "x.toml").write_text(f"{MACHINE}{JOBS}{ENGINE}{records}")
    result = run("run", "x.toml", "-o", "run", "--force")
    assert result.returncode == 0, result.stderr
    said = run("explain", "run", "--json", *arguments)
    assert said.returncode == 0, said.stderr
    found: dict[str, list[dict[str, object]]] = json.loads(said.stdout)
    return found


def test_waits_equal_the_table(odonata_command: Command, tmp_path: Path) -> None:
    found = explained(odonata_command, tmp_path, RECORDS, "--job", "sum", "-n", "1000")
    waits = pq.read_table(tmp_path / "run" / "job_waits.parquet").to_pandas()
    own = waits[waits["job"] == 0]
    total = own["wait_ps"].sum() / 1e12
    assert total > 0
    for question in ("blocking_jobs", "classes", "links"):
        assert math.isclose(sum(row["wait_s"] for row in found[question]), total), question
        assert math.isclose(sum(row["share"] for row in found[question]), 1.0)
    by_blocking_job = own.groupby("blocking_job")["wait_ps"].sum()
    assert {row["blocking_job"]: row["wait_s"] for row in found["blocking_jobs"]} == {
        "sum": by_blocking_job[0] / 1e12,
        "halo": by_blocking_job[1] / 1e12,
    }
    worst = found["links"][0]
    at_worst = own[own["link"] == worst["link"]].groupby("blocking_job")["wait_ps"].sum()
    assert worst["blocking_job"] == ("sum", "halo")[at_worst.idxmax()]
    assert math.isclose(worst["blocking_job_share"], at_worst.max() / at_worst.sum())
    assert [row["wait_s"] for row in found["links"]] == sorted(
        (r["wait_s"] for r in found["links"]), reverse=True
    )


def test_ranks_calls_and_times_equal_the_tables(odonata_command: Command, tmp_path: Path) -> None:
    found = explained(odonata_command, tmp_path, RECORDS, "--job", "halo", "-n", "3")
    ranks = pq.read_table(tmp_path / "run" / "ranks.parquet").to_pandas()
    halo = ranks[ranks["job"] == 1]
    calls = {row["kind"]: row for row in found["calls"]}
    for kind in ("send", "receive", "wait", "collective", "blocked"):
        assert math.isclose(calls[kind]["mean_s"], halo[f"{kind}_ps"].mean() / 1e12)
    assert math.isclose(sum(calls[k]["share"] for k in ("send", "receive", "wait", "collective")), 1.0)
    slowest = sorted(halo["communication_ps"], reverse=True)[:3]
    assert [row["communication_s"] for row in found["ranks"]] == [time / 1e12 for time in slowest]
    nodes = pq.read_table(tmp_path / "run" / "nodes.parquet")["name"].to_pylist()
    node_of = dict(zip(halo["rank"], halo["node"], strict=True))
    assert all(row["node"] == nodes[node_of[row["rank"]]] for row in found["ranks"])
    series = pq.read_table(tmp_path / "run" / "series.parquet").to_pandas()
    worst = series[series["job"] == 1].nlargest(3, "latency_mean_ns").sort_values("start_ps")
    assert [row["start_s"] for row in found["times"]] == [start / 1e12 for start in worst["start_ps"]]
    for row, start in zip(found["times"], worst["start_ps"], strict=True):
        other = series[(series["job"] == 0) & (series["start_ps"] == start)]
        assert row["others_bytes_per_s"] == other["wire_bytes_per_s"].sum()


@pytest.mark.slow
def test_all_jobs_at_a_glance(odonata_command: Command, tmp_path: Path) -> None:
    """Without --job, the overview equals the explanations of all jobs."""
    explained(odonata_command, tmp_path, "", "--job", "sum")
    jobs = json.loads(odonata_command("explain", "run", "--json").stdout)["jobs"]
    assert [row["name"] for row in jobs] == ["sum", "halo"]
    for row in jobs:
        one = json.loads(odonata_command("explain", "run", "--job", row["name"], "--json").stdout)
        assert row["busiest"] == one["bottlenecks"][0]["name"]
        assert row["busy_share"] == one["bottlenecks"][0]["share"]
        assert row["own_share"] == next((s["share"] for s in one["sharers"] if s["name"] == row["name"]), 0.0)
    shown = " ".join(odonata_command("explain", "run").stdout.split())
    assert "main competitor" in shown
    assert jobs[0]["busiest"] in shown


def test_missing_records_are_named(odonata_command: Command, tmp_path: Path) -> None:
    found = explained(odonata_command, tmp_path, "", "--job", "sum")
    of_tables = {"time_s", "bottlenecks", "sharers"}
    assert set(found) == {"directory", "job", "calls", "ranks"} | of_tables
    shown = odonata_command("explain", "run", "--job", "sum")
    assert "For more details, record: record_job_waits = true, interval" in shown.stdout
    for arguments, message in (
        (["--job", "hallo"], "Did you mean halo?"),
        (["--path"], "Choose one with --job: sum"),
    ):
        wrong = odonata_command("explain", "run", *arguments)
        assert wrong.returncode == 2
        assert message in wrong.stderr


def test_a_path_sums_up_to_the_time(odonata_command: Command, tmp_path: Path) -> None:
    found = explained(odonata_command, tmp_path, "record_calls = true\n", "--job", "halo", "--path")
    ranks = pq.read_table(tmp_path / "run" / "ranks.parquet").to_pandas()
    own = ranks[ranks["job"] == 1]
    path = found["path"]
    assert (path[0]["start_ps"], path[-1]["end_ps"]) == (own["start_ps"].min(), own["end_ps"].max())
    assert all(before["end_ps"] == after["start_ps"] for before, after in pairwise(path))
    assert math.isclose(sum(row["share"] for row in found["sums"]), 1.0)
    # Of a call: from the first rank that enters it to the last that leaves it.
    calls = pq.read_table(tmp_path / "run" / "calls.parquet").to_pandas()
    barrier = int(calls[(calls["job"] == 1) & (calls["name"] == "barrier")]["call"].iloc[0])
    said = odonata_command("explain", "run", "--job", "halo", "--path", "--call", str(barrier), "--json")
    path = json.loads(said.stdout)["path"]
    of_call = calls[(calls["job"] == 1) & (calls["call"] == barrier)]
    assert (path[0]["start_ps"], path[-1]["end_ps"]) == (
        of_call["start_ps"].min(),
        of_call["end_ps"].max(),
    )
    said = odonata_command("explain", "run", "--job", "halo", "--path")
    assert said.returncode == 0, said.stderr
    assert "Critical path of job halo" in said.stdout
    said = odonata_command("explain", "run", "--job", "halo", "--path", "--call", "99999")
    assert (said.returncode, "no rank of the job completed a call 99999" in said.stderr) == (2, True), (
        said.stderr
    )


def test_a_path_of_a_phase_of_an_iteration_and_its_links(odonata_command: Command, tmp_path: Path) -> None:
    records = "record_calls = true\nrecord_packets = true\nrecord_paths = true\n"
    found = explained(odonata_command, tmp_path, records, "--job", "halo", "--iteration", "1")
    times = pq.read_table(tmp_path / "run" / "phase_times.parquet").to_pandas()
    own = times[times["job"] == 1]
    phases = pq.read_table(tmp_path / "run" / "phases.parquet").to_pandas()
    assert (own["end_ps"] - own["start_ps"]).sum() == phases[phases["job"] == 1]["phase_time_ps"].sum()
    assert len(own) == phases[phases["job"] == 1]["count"].sum()
    # The halo exchange marks its iterations: the first goes to where the last rank begins the second.
    steps = own[own["phase"] == own["phase"].iloc[0]].sort_values(["rank", "start_ps"])
    nth = steps.groupby("rank")["start_ps"].nth
    path = found["path"]
    assert (path[0]["start_ps"], path[-1]["end_ps"]) == (nth(0).min(), nth(1).max())
    assert all(before["end_ps"] == after["start_ps"] for before, after in pairwise(path))
    # Every path starts at the router of one rank's node and ends at the router of the other's.
    nodes = pq.read_table(tmp_path / "run" / "nodes.parquet").to_pandas()
    links = pq.read_table(tmp_path / "run" / "links.parquet").to_pandas()
    ranks = pq.read_table(tmp_path / "run" / "ranks.parquet").to_pandas()
    node_of = ranks[ranks["job"] == 1].set_index("rank")["node"]
    routers = nodes["router"][node_of].set_axis(node_of.index)
    crossing = [piece for piece in path if piece["links"]]
    assert crossing
    for piece in crossing:
        assert piece["activity"] == "in flight"
        assert links["source"][piece["links"][0]] == routers[piece["peer"]]
        assert links["target"][piece["links"][-1]] == routers[piece["rank"]]
    worst = found["links"][0]
    over = [piece for piece in crossing if worst["link"] in piece["links"]]
    assert worst["pieces"] == len(over)
    assert math.isclose(worst["path_time_s"], sum(p["end_ps"] - p["start_ps"] for p in over) / 1e12)
    for arguments, message in (
        (["--phase", "bariers"], "unknown phase bariers"),
        (["--iteration", "999"], "no rank of the job has an iteration 999"),
        (["--iteration", "1", "--call", "2"], "cannot be combined"),
    ):
        wrong = odonata_command("explain", "run", "--job", "halo", *arguments)
        assert (wrong.returncode, message in wrong.stderr) == (2, True), wrong.stderr


ITERATED = """
[[job]]
name = "fft"
program = { name = "fft-3d", nx = 16, rows = 4, iterations = 2, compute = "1 ns" }
ranks = 8
ranks_per_node = 1

[[job]]
name = "two"
program = [{ name = "ring", iterations = 3, bytes = "4 kB" }, { name = "lulesh", iterations = 2 }]
repeat = 2
ranks = 16
ranks_per_node = 1

[[job]]
name = "text"
program = { name = "file", path = "a.program" }
ranks = 4
ranks_per_node = 1
"""


def test_iterations_follow_the_program(odonata_command: Command, tmp_path: Path) -> None:
    """An FFT of 2 iterations had 12, since it computes six times in each."""
    (tmp_path / "a.program").write_text("repeat 3:\n    phase step\n    barrier\n")
    engine = '[engine]\nkind = "packet"\nrouting = "min"\nrecord_calls = true\n'
    (tmp_path / "x.toml").write_text(f"{MACHINE}{ITERATED}{engine}")
    assert odonata_command("run", "x.toml", "-o", "run").returncode == 0
    run = Run.from_directory(tmp_path / "run")
    phases = run.table("phase_times").to_pandas()
    for job, count in ((0, 2), (1, 2 * (3 + 2))):
        windows = [of_iteration(run, job, number) for number in range(1, count + 2)]
        assert windows.pop() is None
        whole_job = whole(run.table("ranks"), job)
        for window in windows:
            assert window is not None
            assert whole_job.start_ps <= window.start_ps < window.end_ps <= whole_job.end_ps
        starts = [window.start_ps for window in windows if window is not None]
        assert starts == sorted(starts)
    # An iteration of the FFT begins with the first computation after the setup, or after a second barrier.
    own = phases[(phases["job"] == 0) & (phases["rank"] == 0)].sort_values("number")
    names = own["phase"].astype(str).tolist()
    again = [i for i, name in enumerate(names) if name == "barrier"][1]
    firsts = [own["start_ps"].iloc[i] for i in (names.index("compute"), again + 1)]
    assert len([name for name in names if name == "compute"]) == 12
    for number, first in enumerate(firsts, start=1):
        path = json.loads(
            odonata_command("explain", "run", "--job", "fft", "--iteration", number, "--json").stdout
        )["path"]
        assert path[0]["start_ps"] <= first < path[-1]["end_ps"]
    for arguments, message in (
        (["fft", "--iteration", "3"], "no rank of the job has an iteration 3"),
        (["text", "--iteration", "1"], "the program file of job text has no key iterations"),
    ):
        wrong = odonata_command("explain", "run", "--job", *arguments)
        assert (wrong.returncode, message in wrong.stderr) == (2, True), wrong.stderr


def test_a_path_needs_a_record(odonata_command: Command, tmp_path: Path) -> None:
    explained(odonata_command, tmp_path, "", "--job", "sum")
    said = odonata_command("explain", "run", "--job", "sum", "--path")
    assert (said.returncode, "record_calls = true" in said.stderr) == (2, True), said.stderr


def test_the_cost_of_other_jobs_is_offered(odonata_command: Command, tmp_path: Path) -> None:
    """Nothing else in the output names `--blame`, which answers who slows the job."""
    for idle, offered in (("false", True), ("true", False)):
        (tmp_path / "x.toml").write_text(f"{MACHINE}{JOBS}{ENGINE}")
        done = odonata_command("run", "x.toml", "-o", "run", "--force", "--set", f"job.halo.idle={idle}")
        assert done.returncode == 0, done.stderr
        said = odonata_command("explain", "run", "--job", "sum").stdout
        assert ("Cost of the other job, by runs without it: add --blame." in said) is offered, said


FLOW_JOBS = """
[[job]]
name = "sum"
ranks = 36
ranks_per_node = 1
pattern = { name = "all-to-all", bytes = "64 kB" }
placement = { name = "random-order", skip = 0 }

[[job]]
name = "halo"
ranks = 36
ranks_per_node = 1
pattern = { name = "stencil-2d", dims = [6, 6], bytes = "1 MB" }
placement = { name = "random-order", skip = 36 }
"""


def test_flow_is_explained_and_costs_sum_up(odonata_command: Command, tmp_path: Path) -> None:
    engine = '[engine]\nkind = "flow"\nrouting = "min"\nalone = true\n'
    (tmp_path / "x.toml").write_text(f"{MACHINE}{FLOW_JOBS}{engine}")
    assert odonata_command("run", "x.toml", "-o", "run").returncode == 0
    job = pq.read_table(tmp_path / "run" / "jobs.parquet").to_pylist()[0]
    said = json.loads(odonata_command("explain", "run", "--job", "sum", "--json").stdout)
    assert math.isclose(said["time_alone_s"], job["completion_time_alone_s"], rel_tol=1e-9)
    costs = math.fsum(row["cost_s"] for row in said["blame"])
    assert math.isclose(costs, job["completion_time_s"] - job["completion_time_alone_s"], rel_tol=1e-9)
    # The bottleneck is a link of the job, and the sharers' times are its bytes over its capacity at most.
    first = said["bottlenecks"][0]
    links = pq.read_table(tmp_path / "run" / "links.parquet").to_pylist()
    row = links[first["link"]]
    assert first["busy_s"] <= row["bytes"] / row["capacity_bytes_per_s"] * (1 + 1e-9)
    assert math.isclose(math.fsum(s["busy_s"] for s in said["sharers"]), first["busy_s"])
    shown = odonata_command("explain", "run", "--job", "sum")
    assert f"Busiest: {first['name']}" in shown.stdout
    assert "Cost of each competing job" in shown.stdout
    assert "For more details" not in shown.stdout
    without = json.loads(odonata_command("explain", "run", "--job", "sum", "--no-blame", "--json").stdout)
    assert "blame" not in without


@pytest.mark.slow
def test_compare_gives_reasons_and_keys_without_effect(odonata_command: Command, tmp_path: Path) -> None:
    engine = '[engine]\nkind = "flow"\nrouting = "min"\n'
    (tmp_path / "x.toml").write_text(f"{MACHINE}{FLOW_JOBS}{engine}")
    for name, change in (
        ("base", "engine.seed=1"),
        ("slow", "machine.class.global.bandwidth='5 GB/s'"),
        ("same", "engine.path_sets=20000"),
    ):
        made = odonata_command("run", "x.toml", "-o", name, "--set", change)
        assert made.returncode == 0, made.stderr
    shown = odonata_command("compare", "base", "slow").stdout
    said = json.loads(odonata_command("compare", "base", "slow", "--json").stdout)["comparisons"][0]
    for row in said["times"]:
        line = f"{row['name']} {100 * row['time_s_change']:+.1f} %: {row['reason']}"
        assert line in shown
        assert ":global.0" in row["reason"]
    assert said["no_effect"] == []
    assert "180 links in both runs" in shown
    shown = odonata_command("compare", "base", "same").stdout
    assert "These keys have no effect: engine.path_sets" in shown
    against = odonata_command("explain", "slow", "--job", "halo", "--against", "base")
    assert against.returncode == 0, against.stderr
    assert "machine.class.global.bandwidth" in against.stdout
    said = json.loads(
        odonata_command("explain", "slow", "--job", "halo", "--against", "base", "--json").stdout
    )["against"]
    costs = math.fsum(row["cost_s"] for row in said["blame"])
    assert math.isclose(costs, said["time_s"] - said["time_s_base"], rel_tol=1e-9)
    wrong = odonata_command("explain", "slow", "--job", "halo", "--against", "x.toml")
    assert wrong.returncode == 2
    assert "x.toml" in wrong.stderr
