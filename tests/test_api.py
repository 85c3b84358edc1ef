"""The Python API on real runs."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import odonata
from odonata import analysis
from odonata.errors import ExperimentError, OdonataError, StoreError

EXPERIMENT = {
    "machine": {"preset": "edison"},
    "job": [
        {"name": "a", "pattern": "stencil-4d", "ranks": 1536, "placement": "compact"},
        {
            "name": "b",
            "pattern": {"name": "spread", "bytes": "64 KiB"},
            "ranks": 2048,
            "placement": "random-nodes",
        },
    ],
    "engine": {"seed": 3},
}


@pytest.fixture(scope="module")
def run() -> odonata.Run:
    return odonata.run(EXPERIMENT)


@pytest.mark.slow
def test_file_text_and_dict_are_the_same_experiment(tmp_path: Path, run: odonata.Run) -> None:
    text = run.experiment
    (tmp_path / "x.toml").write_text(text)
    for given in (text, tmp_path / "x.toml", str(tmp_path / "x.toml")):
        assert odonata.run(given).links.equals(run.links)
    assert odonata.check(text)["resolved"] == run.resolved


@pytest.mark.parametrize(
    ("given", "more", "error", "message"),
    [
        (3, {}, TypeError, "path of a file, its text or a dict, not int"),
        ("a\0b", {}, OdonataError, "it is no name of a file"),
        (EXPERIMENT, {"set": "engine.seed=2"}, TypeError, "set must be a dict of keys and values"),
        (EXPERIMENT, {"threads": -1}, OdonataError, "threads is -1; expected at least 1"),
    ],
)
def test_wrong_arguments_are_named(
    given: Any, more: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        odonata.run(given, **more)


def test_a_senseless_number_of_threads_changes_nothing() -> None:
    small = {"machine": {"topology": "torus", "dims": [4]}, "job": [{"ranks": 4, "pattern": "uniform"}]}
    many = odonata.run(small, threads=1_000_000)
    assert many.links.equals(odonata.run(small, threads=1).links)
    assert many.summary["threads"] < 1_000_000


def test_a_sweep_in_a_script_without_the_guard_says_what_is_missing(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(
        "import odonata\n"
        "odonata.sweep({'machine': {'topology': 'torus'}, 'job': [{'ranks': 4, 'pattern': 'uniform'}],\n"
        "    'sweep': {'engine': {'seed': [1, 2]}}}, out='out')\n"
    )
    done = subprocess.run(
        [sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert 'call odonata.sweep below `if __name__ == "__main__":`' in done.stderr
    assert "bootstrapping phase" not in done.stderr


def test_the_summary_is_what_the_tables_say(run: odonata.Run) -> None:
    whole = analysis.class_statistics(run.links).to_pylist()
    of_jobs = analysis.job_class_statistics(run.links, run.link_jobs, run.jobs).to_pylist()
    summary = [*run.summary["classes"], *(row for job in run.summary["jobs"] for row in job["classes"])]
    for found, expected in zip([*whole, *of_jobs], summary, strict=True):
        assert expected.keys() - found.keys() <= {"capacity_bytes_per_s"}
        assert {key: found.get(key) for key in expected if key != "capacity_bytes_per_s"} == {
            key: value for key, value in expected.items() if key != "capacity_bytes_per_s"
        }


def test_statistics_take_any_array_of_bytes(run: odonata.Run) -> None:
    """By NumPy, from whole numbers and from every second entry of an array."""
    count = run.links.num_rows
    values = np.arange(2 * count)[::2]
    found = analysis.class_statistics(run.links, values).to_pylist()
    assert (found[0]["bytes_sum"], found[0]["bytes_max"]) == (values.sum(), values.max())
    classes = np.array(run.links["class"].to_pylist())
    for row in found[1:]:
        own = values[classes == row["class"]]
        at = math.ceil(0.9 * len(own)) - 1
        assert (row["links"], row["bytes_sum"], row["bytes_p90"]) == (len(own), own.sum(), np.sort(own)[at])
    for wrong in (values[1:], -values, np.full(count, np.nan)):
        with pytest.raises(OdonataError, match=r"^values have"):
            analysis.class_statistics(run.links, wrong)


def test_traffic_is_conserved(run: odonata.Run) -> None:
    """Jobs' bytes on a link are the link's; a job's bytes times hops are its; no byte is lost."""
    per_link = run.link_jobs.group_by("link").aggregate([("bytes", "sum")]).sort_by("link")
    loaded = run.links.filter(pa.compute.greater(run.links["bytes"], 0))
    assert per_link["link"].to_pylist() == loaded["link"].to_pylist()
    assert per_link["bytes_sum"].to_pylist() == pytest.approx(loaded["bytes"].to_pylist(), rel=1e-9)
    jobs = run.jobs.to_pandas()
    per_job = run.link_jobs.to_pandas().groupby("job")["bytes"].sum()
    assert per_job.tolist() == pytest.approx((jobs["byte_hops_mean"] * jobs["bytes"]).tolist(), rel=1e-6)
    parts = jobs[["self_bytes", "on_node_bytes", "on_router_bytes", "network_bytes"]].sum(axis=1)
    assert parts.tolist() == jobs["bytes"].tolist()


def test_a_stored_run_is_the_run(tmp_path: Path, run: odonata.Run) -> None:
    stored = odonata.run(EXPERIMENT, out=tmp_path / "run")
    assert stored.path == tmp_path / "run"
    for name in run.table_names:
        assert stored.table(name).equals(run.table(name)), name
    assert stored.experiment == run.experiment
    with pytest.raises(StoreError, match="already holds a run"):
        odonata.run(EXPERIMENT, out=tmp_path / "run")


def test_set_takes_python_values(run: odonata.Run) -> None:
    other = odonata.run(
        EXPERIMENT, set={"machine.edit": ["-K"], "engine.routing": "static-direct", "job.b.ranks": 24}
    )
    assert other.links.num_rows == run.links.num_rows - 1440 * 5
    assert other.summary["routing"] == "static-direct"
    assert other.jobs["ranks"].to_pylist() == [1536, 24]
    assert other.experiment == run.experiment


def test_progress_is_called_and_may_stop_the_run() -> None:
    seen: list[tuple[str, float]] = []
    odonata.run(EXPERIMENT, progress=lambda phase, share: seen.append((phase, share)))
    assert seen
    assert all(0 <= share <= 1 for _, share in seen)

    class EnoughError(Exception):
        pass

    def stop(_phase: str, _share: float) -> None:
        raise EnoughError

    with pytest.raises(EnoughError):
        odonata.run(EXPERIMENT, progress=stop)


def test_mistakes_are_data() -> None:
    with pytest.raises(ExperimentError) as caught:
        odonata.run('[machine]\npreset = "edisson"\n[[job]]\npattern = "spred"\nranks = 10\n')
    first, second = caught.value.problems
    assert (first.line, first.column, first.span) == (2, 10, '"edisson"')
    assert first.help is not None
    assert "edison" in first.help
    assert second.line == 4
    assert "--> <text>:2:10" in str(caught.value)


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(OdonataError, match=r"there is no file nowhere\.toml"):
        odonata.run("nowhere.toml")


def test_machines_can_be_had_by_themselves() -> None:
    machine = odonata.machine("edison", edit=["-K"], price={"blue": 2.0})
    assert machine.links.num_rows == 48_240 - 1440 * 5
    assert machine.metrics["cost"]["total"] == 2 * 5040 / 2
    assert machine.routers.column_names == ["router", "name", "group", "row", "column", "up"]
    assert odonata.machine({"topology": "torus", "dims": [4, 4]}).metrics["routers"] == 16
    assert "edison" in [preset["name"] for preset in odonata.presets()]


def test_figures_of_a_real_run(tmp_path: Path, run: odonata.Run) -> None:
    run.plot.overview().savefig(tmp_path / "overview.png")
    image = run.plot.groups().axes[0].images[0].get_array()
    assert image is not None
    assert image.shape == (15, 15)


@pytest.mark.slow
def test_a_run_without_traffic_per_job_can_be_shown_and_drawn(tmp_path: Path) -> None:
    run = odonata.run(EXPERIMENT, set={"output.link_jobs": False, "output.placement": False})
    assert run.link_jobs.num_rows == 0
    run.plot.overview().savefig(tmp_path / "overview.png")
    hottest = analysis.hottest_links(run.links, run.routers, run.link_jobs, run.jobs)
    assert hottest["jobs"].to_pylist() == [[]] * 10


@pytest.mark.parametrize(
    "machine",
    [{"preset": "dragonfly-1056"}, {"topology": "torus", "dims": [4, 4, 4]}, {"topology": "fat-tree"}],
)
def test_every_family_can_be_stored_shown_and_drawn(tmp_path: Path, machine: dict[str, object]) -> None:
    job = {"pattern": "uniform", "ranks": 16, "ranks_per_node": 1}
    run = odonata.run({"machine": machine, "job": [job], "engine": {"routing": "min"}}, out=tmp_path / "run")
    run.plot.overview().savefig(tmp_path / "overview.png")
    image = run.plot.groups().axes[0].images[0].get_array()
    assert image is not None
    assert len(image) > 1, "without groups, the first axis divides the machine"
    names = analysis.link_names(run.links, run.routers).to_pylist()
    assert len(set(names)) == len(names), "names distinguish all links"


def test_a_comparison_is_what_the_command_prints(run: odonata.Run) -> None:
    """The traffic of the classes, job by job and link by link, and the settings that differ."""
    other = odonata.run(EXPERIMENT, set={"engine.seed": 4})
    found = odonata.compare(run, other)
    assert found.settings == ["- seed = 3", "+ seed = 4"]
    whole = found.classes.to_pylist()[0]
    assert whole["bytes_max_base"] == run.summary["classes"][0]["bytes_max"]
    assert whole["bytes_max_other"] == other.summary["classes"][0]["bytes_max"]
    pairs = found.links.pairs
    assert pairs.num_rows == run.links.num_rows
    assert found.links.only_base.num_rows == found.links.only_other.num_rows == 0
    difference = other.links["bytes"].to_numpy() - run.links["bytes"].to_numpy()
    assert np.array_equal(pairs["difference"].to_numpy(), difference)
    assert set(found.times["name"].to_pylist()) == {"a", "b"}
    assert odonata.compare(run, run).times["time_s_change"].to_pylist() == [0.0, 0.0]


@pytest.mark.slow
def test_results_show_themselves(run: odonata.Run, tmp_path: Path) -> None:
    """In a notebook each is a table of facts, with nothing in it that the page would run."""
    named = odonata.run({**EXPERIMENT, "job": [{**EXPERIMENT["job"][0], "name": "<script>"}]})
    machine = odonata.machine("edison")
    sweep = odonata.sweep({**EXPERIMENT, "sweep": {"engine.seed": [1, 2]}}, out=tmp_path / "s")
    shown: dict[str, Any] = {
        "edison": run,
        "<script>".replace("<", "&lt;").replace(">", "&gt;"): named,
        "5,760": machine,
        "engine.seed": sweep,
        "→": odonata.compare(run, run),
    }
    for text, result in shown.items():
        page = result._repr_html_()
        assert text in page
        assert "<script" not in page
        assert page.count("<table") == page.count("</table>") == 1
        assert repr(result).startswith("<odonata.")
    assert repr(machine) == "<odonata.Machine edison, 1,440 routers, 5,760 nodes, 48,240 links>"
