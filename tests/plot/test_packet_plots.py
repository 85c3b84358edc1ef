"""Figures of the packet engine's runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from packet_files import experiment, job
from running import Command

import odonata
from odonata.errors import OdonataError


def file(load: float) -> str:
    recorded = 'routing = "ugal-n"\ninterval = "1 us"\nseries = ["jobs", "links"]\n'
    return experiment(job("ur"), load=load, warm_up="2 us", measure="5 us", engine=recorded)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[odonata.Run]:
    folder = tmp_path_factory.mktemp("packet")
    made = []
    for load in (0.2, 0.6):
        path = folder / f"load-{load}.toml"
        path.write_text(file(load))
        made.append(odonata.run(path))
    return made


@pytest.mark.slow
def test_every_figure_is_drawn_and_saved(runs: list[odonata.Run], tmp_path: Path) -> None:
    plots = runs[0].plot
    pictures = [plots.latency(), plots.latency(part="network"), plots.load_curve(runs[1]), plots.stall_map()]
    pictures += [plots.congestion()]
    pictures += [plots.series(what) for what in ("throughput", "latency", "non_minimal", "load", "stall")]
    for i, picture in enumerate(pictures):
        path = tmp_path / f"{i}.png"
        picture.savefig(path)
        assert path.stat().st_size > 5_000


def test_the_load_curve_holds_the_loads_of_the_tables(runs: list[odonata.Run]) -> None:
    axes = runs[1].plot.load_curve(runs[0]).axes[0]
    line = axes.lines[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("offered load (%)", "accepted load (%)")
    assert list(np.asarray(line.get_xdata())) == pytest.approx([20, 60])
    accepted = [run.jobs["accepted_load"][0].as_py() for run in runs]
    assert list(np.asarray(line.get_ydata())) == pytest.approx([100 * load for load in accepted])
    # Below saturation what is offered is accepted; 5 us of 72 nodes at load 0.2 are some 3,500 packets.
    assert accepted[0] == pytest.approx(0.2, rel=0.1)


def test_the_congestion_map_holds_the_traffic_of_the_links(runs: list[odonata.Run]) -> None:
    """Group 0 to group 1: the bytes of the one cable between them, over 5 us at 25 GB/s."""
    image = runs[1].plot.congestion().axes[0].images[0].get_array()
    assert image is not None
    assert image.shape == (9, 9)
    links = runs[1].links.to_pandas()
    for source, target in ((0, 1), (8, 3)):
        chosen = links[(links["source_group"] == source) & (links["target_group"] == target)]
        assert image[source, target] == pytest.approx(100 * chosen["bytes"].sum() / 5e-6 / 25e9)
    inside = links[(links["source_group"] == 2) & (links["target_group"] == 2)]
    assert image[2, 2] == pytest.approx(100 * inside["bytes"].mean() / 5e-6 / 25e9)


def test_the_series_of_links_holds_their_mean_and_maximum(runs: list[odonata.Run]) -> None:
    lines = {line.get_label(): line for line in runs[1].plot.series("load").axes[0].lines}
    rows = runs[1].table("link_series").to_pandas()
    locals_ = runs[1].links.to_pandas().query("`class` == 'local'")["link"]
    third = rows[(rows["start_ps"] == 3_000_000) & rows["link"].isin(locals_)]["busy_ps"] / 1e6 * 100
    assert np.asarray(lines["local, mean"].get_ydata())[3] == pytest.approx(third.sum() / len(locals_))
    assert np.asarray(lines["local, maximum"].get_ydata())[3] == pytest.approx(third.max())


@pytest.mark.slow
def test_a_sweep_has_a_load_curve_over_its_seeds(tmp_path: Path) -> None:
    axes = (
        '[sweep]\n"job.*.traffic.load" = [0.2, 1.0]\n'
        'engine.routing = ["min", "valiant-n"]\nengine.seed = [1, 2]\n'
    )
    times = {"engine.warm_up": "10 us", "engine.measure": "20 us"}
    text = file(0.2) + axes
    sweep = odonata.sweep(text, out=tmp_path / "sweep", set=times, processes=1)
    left, right = sweep.load_curve().axes[:2]
    curves = {line.get_label(): line for line in left.lines}
    for routing in ("min", "valiant-n"):
        found = [
            run.jobs["accepted_load"][0].as_py()
            for point, run in sweep.runs.items()
            if point.values[0] == 1.0 and point.values[1] == routing
        ]
        assert len(found) == 2
        assert np.asarray(curves[routing].get_ydata())[1] == pytest.approx(100 * np.mean(found))
    # The bar at a mean is Student's interval: 12.706 times the deviation of two seeds over the root of 2.
    steady = [
        run.jobs["latency_mean_ns"][0].as_py()
        for point, run in sweep.runs.items()
        if point.values[:2] == (0.2, "min")
    ]
    half = 12.706 * np.std(steady, ddof=1) / np.sqrt(2)
    bars = [line for line in right.lines if list(np.asarray(line.get_xdata())) == [20, 20]]
    ends = [np.mean(steady) - half, np.mean(steady) + half]
    size = 1.0 if "(ns)" in right.get_ylabel() else 1000.0
    assert any(list(np.asarray(bar.get_ydata()) * size) == pytest.approx(ends, rel=1e-4) for bar in bars)
    # Valiant's at load 1 is not steady, so its latency is left out.
    shown = {line.get_label(): len(np.asarray(line.get_xdata())) for line in right.lines}
    assert shown["valiant-n"] == 1


@pytest.mark.slow
def test_two_settings_of_one_routing_are_two_load_curves(tmp_path: Path) -> None:
    """Two expressions have the same name of the algorithm; their mean would be no curve of either."""
    axes = """
[sweep]
"job.*.traffic.load" = [0.2, 0.4]
[sweep.decision]
never = { "engine.routing" = { name = "expression", non_minimal_when = "minimal_queue < 0 B" } }
always = { "engine.routing" = { name = "expression", non_minimal_when = "minimal_queue >= 0 B" } }
"""
    times = {"engine.warm_up": "5 us", "engine.measure": "10 us"}
    sweep = odonata.sweep(file(0.2) + axes, out=tmp_path / "sweep", set=times, processes=1)
    curves = {line.get_label(): line for line in sweep.load_curve().axes[0].lines}
    for point, run in sweep.runs.items():
        load, decision = point.values
        drawn = np.asarray(curves[decision].get_ydata())[int(load == 0.4)]
        assert drawn == pytest.approx(100 * run.jobs["accepted_load"][0].as_py())
        assert (run.jobs["non_minimal_share"][0].as_py() > 0.5) == (decision == "always")


def test_the_latency_histogram_counts_every_packet(runs: list[odonata.Run]) -> None:
    cells = runs[0].table("latency").to_pandas()
    for part in ("total", "network"):
        assert cells[cells["part"] == part]["packets"].sum() == runs[0].jobs["packets"][0].as_py()


@pytest.mark.slow
def test_the_command_draws_them(runs: list[odonata.Run], odonata_command: Command, tmp_path: Path) -> None:
    runs[1].save(tmp_path / "run")
    for kind in ("latency", "stall_map", "congestion", "series", "throughput"):
        result = odonata_command("plot", "run", "-k", kind)
        assert (result.returncode, result.stdout) == (0, f"run/{kind}.png\n"), result.stderr
    assert odonata_command("plot", "run", "-k", "series", "--what", "stall").returncode == 0
    result = odonata_command("plot", "run", "-k", "series", "--what", "speed")
    assert result.returncode == 2
    assert "unknown series 'speed'" in result.stderr


def test_one_load_is_no_curve(runs: list[odonata.Run]) -> None:
    with pytest.raises(OdonataError, match=r"all runs have an offered load of 20.0 %"):
        runs[0].plot.load_curve()


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> odonata.Sweep:
    """Two jobs, each alone and together, with two routings and two seeds."""
    recorded = 'interval = "1 us"\n[interference]\npairs = "mixed"\n'
    axes = '[sweep]\nengine.routing = ["min", "par"]\nengine.seed = [1, 2]\n'
    jobs = [
        f'[[job]]\nname = "{name}"\nprogram = {{ name = "{program}", iterations = 4, bytes = "16 KiB" }}\n'
        "ranks = 27\nranks_per_node = 1\n"
        for name, program in (("halo", "halo-3d"), ("sum", "allreduce"))
    ]
    text = experiment(*jobs, load=None, measure=None, engine=recorded) + axes
    return odonata.sweep(text, out=tmp_path_factory.mktemp("pairs") / "sweep", processes=1)


def test_throughput_is_drawn_with_the_run_alone(pairs: odonata.Sweep) -> None:
    """A panel per target and routing. Each line holds the series of the job, with the first seed."""
    picture = pairs.throughput()
    titles = [axes.get_title(loc="left") for axes in picture.axes]
    assert titles == ["halo, min", "halo, par", "sum, min", "sum, par"]
    curves = {patch.get_label(): patch for patch in picture.axes[1].patches}
    runs = {tuple(map(str, point.values)): run for point, run in pairs.runs.items()}
    together = next(
        run for place, run in runs.items() if "par" in place and "1" in place and "mixed" in place[0]
    )
    rows = together.table("series").to_pandas()
    mine = rows[rows["job"] == 0]["wire_bytes_per_s"].to_numpy()
    values = curves["with sum"].get_data().values  # type: ignore[attr-defined]
    # Only the interval that the end of the run cuts off is left out.
    assert len(mine) - 1 <= len(values) <= len(mine)
    assert values * 1e9 == pytest.approx(mine[: len(values)])
    assert "alone" in curves


def test_a_run_takes_runs_of_its_jobs_alone(
    pairs: odonata.Sweep, odonata_command: Command, tmp_path: Path
) -> None:
    places = {point.values[0]: pairs.directory_of(point) for point in pairs.points}
    alone, both = sorted(places.values(), key=lambda path: "mixed" in path.name)[0], places["mixed"]
    result = odonata_command("plot", both, "-k", "throughput", "--alone", alone, "-o", tmp_path / "a.png")
    assert result.returncode == 0, result.stderr
    result = odonata_command("plot", both, "-k", "throughput", "--alone", both, "-o", tmp_path / "a.png")
    assert result.returncode == 2
    assert "has the jobs halo, sum; expected one of halo, sum alone" in result.stderr
    result = odonata_command("plot", both, "-k", "latency", "--alone", alone)
    assert "--alone does not apply to the figure latency" in result.stderr


def test_a_sweep_draws_what_it_asks(pairs: odonata.Sweep, odonata_command: Command) -> None:
    assert odonata_command("plot", pairs.path).stdout.strip().endswith("interference.png")
    result = odonata_command("plot", pairs.path, "-k", "links")
    assert result.returncode == 2
    assert "is a sweep, not a run" in result.stderr


def test_wrong_words_say_what_there_is(runs: list[odonata.Run]) -> None:
    with pytest.raises(OdonataError, match="unknown part"):
        runs[0].plot.latency(part="tail")
    with pytest.raises(OdonataError, match="unknown series"):
        runs[0].plot.series("speed")
