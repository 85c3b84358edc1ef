"""The links with the most traffic, by job."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from odonata.analysis.links import floats, link_names

Measure = Literal["bytes", "time"]


def hottest_links(
    links: pa.Table,
    routers: pa.Table,
    link_jobs: pa.Table,
    jobs: pa.Table,
    *,
    count: int = 10,
    by: Measure = "bytes",
    link_class: str | None = None,
) -> pa.Table:
    """The `count` links with the most traffic, hottest first; ties in the order of link numbers.

    Args:
        links: The run's links.
        routers: The run's routers.
        link_jobs: The run's bytes per link and job.
        jobs: The run's jobs.
        count: Maximum number of links; links without traffic do not count.
        by: `bytes`, or `time`, which is bytes divided by capacity.
        link_class: Only links of this class.

    Returns:
        `link`, `name`, `class`, `bytes`, `link_time_s` (bytes / capacity), and `jobs`: a list of `job`,
        `name`, `bytes`, `share`, the largest first.

    Examples:
        >>> run = odonata.load("runs/both")
        >>> table = odonata.analysis.hottest_links(run.links, run.routers, run.link_jobs, run.jobs, count=1)
        >>> row = table.to_pylist()[0]
        >>> row["name"], f"{row['bytes']:.0f} bytes", [job["name"] for job in row["jobs"]]
        ('g4r3>g4r1:local.0', '2644502 bytes', ['cfd', 'fft'])
    """
    traffic = floats(links, "bytes")
    time = np.divide(
        traffic, floats(links, "capacity_bytes_per_s"), out=np.zeros_like(traffic), where=traffic > 0
    )
    measure = traffic if by == "bytes" else time
    eligible = measure > 0
    if link_class is not None:
        eligible &= pc.equal(links["class"].cast(pa.string()), link_class).to_numpy()
    order = np.argsort(-measure, kind="stable")
    chosen = order[eligible[order]][:count]
    rows = links.take(chosen)
    return pa.table(
        {
            "link": rows["link"],
            "name": link_names(rows, routers),
            "class": rows["class"].cast(pa.string()),
            "bytes": traffic[chosen],
            "link_time_s": time[chosen],
            "jobs": _jobs_on(chosen.tolist(), traffic[chosen].tolist(), link_jobs, jobs),
        }
    )


def _jobs_on(chosen: list[int], traffic: list[float], link_jobs: pa.Table, jobs: pa.Table) -> pa.Array:
    names = dict(zip(jobs["job"].to_pylist(), jobs["name"].to_pylist(), strict=True))
    mine = link_jobs.filter(pc.is_in(link_jobs["link"], pa.array(chosen, pa.uint32())))
    by_link: dict[int, list[tuple[int, float]]] = {link: [] for link in chosen}
    for row in mine.to_pylist():
        by_link[row["link"]].append((row["job"], row["bytes"]))
    lists = [
        [
            {"job": job, "name": names[job], "bytes": amount, "share": amount / total}
            for job, amount in sorted(by_link[link], key=lambda pair: (-pair[1], pair[0]))
        ]
        for link, total in zip(chosen, traffic, strict=True)
    ]
    fields = [("job", pa.uint32()), ("name", pa.string()), ("bytes", pa.float64()), ("share", pa.float64())]
    return pa.array(lists, pa.list_(pa.struct(fields)))
