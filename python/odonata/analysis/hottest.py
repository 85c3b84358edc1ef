"""The links with the most traffic, by job."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from odonata.analysis.links import Floats, floats, link_name, of_class
from odonata.store.arrays import numbers

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
    rows = hottest_rows(links, routers, link_jobs, jobs, count=count, by=by, link_class=link_class)
    of_job = [("job", pa.uint32()), ("name", pa.string()), ("bytes", pa.float64()), ("share", pa.float64())]
    schema = [
        ("link", links.schema.field("link").type),
        *((name, pa.string()) for name in ("name", "class")),
        *((name, pa.float64()) for name in ("bytes", "link_time_s")),
        ("jobs", pa.list_(pa.struct(of_job))),
    ]
    return pa.Table.from_pylist(rows, schema=pa.schema(schema))


def hottest_rows(
    links: pa.Table,
    routers: pa.Table,
    link_jobs: pa.Table,
    jobs: pa.Table,
    *,
    count: int,
    by: Measure,
    link_class: str | None,
) -> list[dict[str, Any]]:
    """The rows of `hottest_links`, made without pandas."""
    traffic = floats(links, "bytes")
    time = np.divide(
        traffic, floats(links, "capacity_bytes_per_s"), out=np.zeros_like(traffic), where=traffic > 0
    )
    measure = traffic if by == "bytes" else time
    eligible = measure > 0
    if link_class is not None:
        eligible &= of_class(links, link_class)
    order = np.argsort(-measure, kind="stable")
    chosen = order[eligible[order]][:count]
    on = _jobs_on(chosen, traffic, link_jobs, jobs)
    return [
        {
            "link": link,
            "name": link_name(links, routers, link),
            "class": links["class"][link].as_py(),
            "bytes": float(traffic[link]),
            "link_time_s": float(time[link]),
            "jobs": on[link],
        }
        for link in chosen.tolist()
    ]


def _jobs_on(
    chosen: npt.NDArray[np.int64], traffic: Floats, link_jobs: pa.Table, jobs: pa.Table
) -> dict[int, list[dict[str, Any]]]:
    names = dict(zip(jobs["job"].to_pylist(), jobs["name"].to_pylist(), strict=True))
    found: dict[int, list[dict[str, Any]]] = {link: [] for link in chosen.tolist()}
    of_link = numbers(link_jobs["link"])
    mine = np.isin(of_link, chosen)
    columns = (of_link, numbers(link_jobs["job"]), numbers(link_jobs["bytes"]))
    for link, job, amount in zip(*(column[mine].tolist() for column in columns), strict=True):
        share = amount / float(traffic[link])
        found[link].append({"job": job, "name": names[job], "bytes": amount, "share": share})
    for rows in found.values():
        rows.sort(key=lambda row: (-row["bytes"], row["job"]))
    return found
