"""The busiest links of all jobs at once, against the rule for one job applied to every job in turn."""

from __future__ import annotations

import handmade
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from odonata.analysis import overview as of_all
from odonata.analysis.bottleneck import busy_times, sharers
from odonata.store import columns

LINKS, JOBS = 40, 30


def tables(seed: int) -> tuple[dict[str, pa.Table], dict[int, tuple[float, float]]]:
    """Random traffic of jobs with random spans, one without a span; some links are saturated."""
    random = np.random.default_rng(seed)
    links = pa.table(
        {"capacity_bytes_per_s": random.choice([1e9, 4e9], LINKS), "class": pa.array(["local"] * LINKS)}
    )
    pairs = np.argwhere(random.random((LINKS, JOBS)) < 0.4)
    amount = np.round(10.0 ** random.uniform(2, 7, len(pairs)))
    link, job = pairs.T.astype(np.uint32)
    nodes = pa.table({"node": pa.array([], pa.uint32()), "job": pa.array([], pa.uint32())})
    for name in ("capacity_bytes_per_s", "injected_bytes", "ejected_bytes"):
        nodes = nodes.append_column(name, pa.array([], pa.float64()))
    start = random.choice([0.0, 1e-3, 2e-3], JOBS)
    time = 10.0 ** random.uniform(-5, -2, JOBS)
    spans = {k: (start[k], start[k] + time[k]) for k in range(JOBS - 1)}
    return {
        "links": links,
        "link_jobs": pa.table({"link": link, "job": job, "bytes": amount}),
        "nodes": nodes,
        "jobs": pa.table({"name": [f"j{k}" for k in range(JOBS)]}),
    }, spans


class RandomRun:
    """The tables of a run that was not simulated."""

    def __init__(self, of: dict[str, pa.Table]) -> None:
        self.links, self.link_jobs, self.jobs = of["links"], of["link_jobs"], of["jobs"]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("chunk", [10, of_all.CHUNK_ROWS])
def test_all_jobs_at_once_equal_one_at_a_time(seed: int, chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_all, "CHUNK_ROWS", chunk)
    given, spans = tables(seed)
    times = {job: last - first for job, (first, last) in spans.items()}
    traffic = of_all.Traffic.of_run(RandomRun(given), times, spans)  # type: ignore[arg-type]
    found: pd.DataFrame = of_all.busiest_links(traffic)
    assert list(found.index) == list(spans)
    for job, row in found.iterrows():
        busy = busy_times(given["links"], given["link_jobs"], given["nodes"], spans, int(str(job)))
        first = busy.order()[0]
        assert row["link"] == busy.number[first]
        assert row["busy_s"] == busy.busy_s[first]
        link, busy_s = int(row["link"]), float(row["busy_s"])
        shared = sharers(
            link, given["links"], given["link_jobs"], given["jobs"], spans, int(str(job)), busy_s
        ).to_pylist()
        assert row["own_share"] == next(one["share"] for one in shared if one["name"] == f"j{job}")
        others = [one for one in shared if one["name"] != f"j{job}"]
        assert row["competitor"] == (int(others[0]["name"][1:]) if others else -1)
        assert row["competitor_share"] == (others[0]["share"] if others else 0.0)


def test_the_busiest_link_of_each_job_by_hand() -> None:
    """Job a: 9 bytes at 1 B/s on a blue cable take 9 s of its 10, 12 at 2 B/s on a green one only 6.

    Job b sends nothing, so nothing is busy.
    """
    given = handmade.tables()
    own = {name: values for name, values in handmade.JOBS.items() if name != "slowdown"}
    jobs = own | {"completion_time_s": [10.0, 1.0]}
    nodes = handmade.NODES | {"ejected_bytes": [0.0, 0.0, 0.0, 12.0], "injected_bytes": [0.0, 12.0, 0.0, 0.0]}
    run = handmade.run(
        jobs=columns.table("jobs", jobs, handmade.AXES, engine="flow", partial=True),
        nodes=columns.table("nodes", nodes, handmade.AXES, engine="flow"),
        link_jobs=given["link_jobs"].slice(1),
    )
    a, b = of_all.overview(run).to_pylist()
    found = [a[name] for name in ("time_s", "class", "busy_share", "own_share", "main_competitor")]
    assert found == [10.0, "blue", pytest.approx(0.9), 1.0, None]
    assert b == {"name": "b", "time_s": 1.0} | dict.fromkeys(list(a)[2:])
