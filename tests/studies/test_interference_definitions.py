"""The interference study: its definitions on runs small enough to count by hand, and its list of numbers."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from matplotlib.text import Text

import odonata
from odonata.studies import load
from odonata.studies.functions import Functions
from odonata.studies.spec import Study

FOLDER = Path(__file__).parents[2] / "studies" / "interference"


@pytest.fixture(scope="module")
def measures() -> Any:
    Functions(FOLDER).get("numbers", "a test")
    return next(module for name, module in sys.modules.items() if name.endswith("interference.measures"))


def run(tables: dict[str, list[dict[str, Any]]], names: tuple[str, ...] = ("a", "b")) -> Any:
    """What the measures read of a run."""
    jobs = [{"job": number, "name": name} for number, name in enumerate(names)]
    summary = {"jobs": jobs, "packet": {"end_ps": 10_000_000}}
    return SimpleNamespace(summary=summary, table=lambda name: pa.Table.from_pylist(tables[name]))


def test_communication_leaves_out_what_no_application_clocks(measures: Any) -> None:
    """Rank 0: 5 + 3 us in clocked phases; rank 1: 7 us. LQCD's sends count, unless they are asked not to."""
    rows = [
        {"job": 0, "rank": rank, "phase": phase, "communication_ps": time}
        for rank, phase, time in (
            (0, "setup", 90_000_000),
            (0, "exchange", 5_000_000),
            (0, "sum", 3_000_000),
            (0, "end", 70_000_000),
            (1, "sum", 7_000_000),
            (1, "exchange", 0),
        )
    ]
    found = run({"phases": [*rows, {"job": 1, "rank": 0, "phase": "sum", "communication_ps": 1}]})
    assert measures.communication_ns(found, "a").tolist() == [8_000, 7_000]
    assert measures.communication_ns(found, "a", without=(measures.SENDS,)).tolist() == [3_000, 7_000]


SERIES = [
    {"job": 0, "start_ps": 0, "wire_bytes": 2e6, "packets": 10, "latency_mean_ns": 1_000.0},
    {"job": 0, "start_ps": 1_000_000, "wire_bytes": 0.0, "packets": 0, "latency_mean_ns": None},
    {"job": 0, "start_ps": 2_000_000, "wire_bytes": 4e6, "packets": 30, "latency_mean_ns": 3_000.0},
    {"job": 1, "start_ps": 2_000_000, "wire_bytes": 1e6, "packets": 10, "latency_mean_ns": 7_000.0},
]


def test_only_windows_in_which_something_arrived_count(measures: Any) -> None:
    """2 and 4 MB in windows of 1 us are 2 and 4 GB/ms, in the mean 3; over all three it would be 2."""
    of_a = measures.windows(run({"series": SERIES}), "a")
    assert of_a["gb_per_ms"].tolist() == [2.0, 4.0]
    assert of_a["latency_us"].tolist() == [1.0, 3.0]
    # Of all jobs: (30 x 3 + 10 x 7) / 40 us.
    both = measures.windows(run({"series": SERIES}))
    assert both["gb_per_ms"].tolist() == [2.0, 5.0]
    assert both["latency_us"].tolist() == [1.0, 4.0]


def test_a_curve_has_zeros_where_nothing_arrived_and_no_latency(measures: Any) -> None:
    """Ten windows, the smoothing wider than all of them around the middle."""
    times, values = measures.curve(run({"series": SERIES}), "a", "gb_per_ms")
    assert len(times) == 10
    assert values[5] == pytest.approx((2.0 + 4.0) / 10)
    _, latency = measures.curve(run({"series": SERIES}), "a", "latency_us")
    assert latency[5] == 2.0
    assert np.isnan(latency[9])


def test_percentiles_are_over_packets(measures: Any) -> None:
    """60 packets at 1 us, 40 at 5 us: the median is in the first cell, 95 % in the second."""
    cells = [
        {"job": 0, "part": part, "latency_lower_ps": at, "latency_upper_ps": at + 2_000, "packets": count}
        for part in ("total", "network")
        for at, count in ((999_000, 60), (4_999_000, 40))
    ]
    found = run({"latency": cells})
    assert measures.percentile_ns(found, "a", 0.5) == 1_000
    assert measures.percentile_ns(found, "a", 0.6) == 1_000
    assert measures.percentile_ns(found, None, 0.95) == 5_000


def test_a_local_stall_is_summed_and_a_global_one_of_a_link(measures: Any) -> None:
    pairs = [
        {"source_group": 0, "target_group": 0, "links": 56, "counted_stall_ps": 56_000_000_000},
        {"source_group": 0, "target_group": 1, "links": 2, "counted_stall_ps": 6_000_000_000},
    ]
    found = measures.stalls_ms(run({"group_traffic": pairs}))
    assert {name: values.tolist() for name, values in found.items()} == {
        "local": [56.0],
        "local link": [1.0],
        "global": [3.0],
    }


def study() -> Study:
    return load(FOLDER)


def test_every_number_of_the_paper_has_its_claim_and_every_claim_its_numbers() -> None:
    with (FOLDER / "paper.csv").open() as file:
        rows = list(csv.DictReader(file))
    claimed = {
        claim.selection.where["statement"]: claim
        for claim in study().claims.values()
        if claim.selection.table == "numbers"
    }
    assert {row["statement"] for row in rows} == set(claimed)
    for row in rows:
        assert claimed[row["statement"]].source == f"sc22, {row['place']}"
        assert claimed[row["statement"]].name == row["statement"]


def outcomes(rows: list[tuple[str, str, str, str, float]]) -> pd.DataFrame:
    names = ["target", "background", "routing", "seed", "communication_ms"]
    found = pd.DataFrame(rows, columns=names)
    return found.assign(scope="pair", placement="1", bias="none")


def test_numbers_are_means_over_seeds_of_slowdowns_within_a_seed() -> None:
    """Seed 1: 6 for 4 ms, seed 2: 10 for 5: 1.75. A mean over three algorithms needs all three."""
    functions = Functions(FOLDER)
    numbers = functions.get("numbers", "a test")
    rows = [
        ("fft3d", background, "par", seed, time)
        for background, seed, time in (
            ("none", "1", 4.0),
            ("none", "2", 5.0),
            ("halo3d", "1", 6.0),
            ("halo3d", "2", 10.0),
            ("cosmoflow", "1", 6.0),
        )
    ]
    with_slowdowns = functions.get("with_slowdowns", "a test")
    results = SimpleNamespace(frame=lambda _: with_slowdowns(outcomes(rows)))
    found = numbers(results)
    (row,) = found[(found["statement"] == "fft3d-halo3d") & (found["routing"] == "par")].to_dict("records")
    assert (row["published"], row["here"], row["seeds"]) == (2.73, 1.75, "2")
    assert row["label"] == "FFT3D with Halo3D: slowdown, par"
    open_yet = found[found["statement"] == "fft3d-cosmoflow"]
    assert open_yet["here"].isna().all()
    assert set(open_yet["seeds"]) == {"0"}


@pytest.mark.parametrize("text", ["object", "str"])
def test_figure_4_names_applications_whatever_pandas_makes_of_text(text: str) -> None:
    rows = [
        {"target": "lqcd", "background": background, "routing": "par", "communication_ms": time}
        for background, time in (("none", 1.0), ("stencil5d", 2.0))
    ]
    outcomes = pd.DataFrame(rows).assign(experiment="pairs", deviation_ms=0.1)
    outcomes = outcomes.astype(dict.fromkeys(("target", "background", "routing"), text))
    Functions(FOLDER).get("communication", "a test")
    figures = next(module for name, module in sys.modules.items() if name.endswith("interference.figures"))
    results = SimpleNamespace(frame={"outcomes": outcomes}.__getitem__)
    picture = figures.communication(results, experiments=["pairs"])
    texts = {text.get_text() for text in picture.figure.findobj(Text)}
    assert any("Stencil5D" in text for text in texts), texts


def test_volumes_are_wire_bytes(measures: Any) -> None:
    """As the paper's simulator counts them. Its packets are whole flits, which is more on every link."""
    found = odonata.run("""
        [machine]
        topology = "dragonfly"
        p = 2
        a = 4
        h = 2
        g = 9
        [[job]]
        name = "fft"
        program = { name = "fft-3d", nx = 60, rows = 4, iterations = 1 }
        ranks = 16
        ranks_per_node = 1
        [engine]
        kind = "packet"
        routing = "par"
        interval = "1 us"
        record_counted_stall = true
        [mpi]
        preset = "study"
        host = "study"
        """)
    ranks = found.table("ranks").to_pandas()
    wire, payload = ranks["wire_bytes"].sum(), ranks["bytes"].sum()
    in_flits = found.nodes.to_pandas()["injected_bytes"].sum()
    assert payload < wire < in_flits < 1.03 * wire
    windows = measures.windows(found, "fft")
    # GB/ms of windows of 1 us: 1 GB/ms is 1 MB in a window.
    assert windows["gb_per_ms"].sum() * 1e6 == pytest.approx(wire, rel=1e-12)
    job = found.jobs.to_pylist()[0]
    assert (job["bytes"], job["wire_bytes"]) == (payload, wire)
    volume = measures.system(found)["volume_over_time_gb_per_ms"]
    assert volume == pytest.approx(wire / found.summary["packet"]["end_ps"], rel=1e-12)
    assert job["injection_bytes_per_s"] == pytest.approx(wire / job["completion_time_s"], rel=1e-12)
