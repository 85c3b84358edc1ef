"""Waits of a job's packets at links, by the job ahead of them (the blocking job)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from odonata.analysis.links import link_names

if TYPE_CHECKING:
    import pandas as pd


def waits_by_blocking_job(job_waits: pa.Table, jobs: pa.Table, job: int) -> pa.Table:
    """Waits of a job's packets in the output queues of links, by blocking job.

    Args:
        job_waits: The run's table.
        jobs: The run's jobs.
        job: Number of the job whose packets waited.

    Returns:
        `blocking_job`, a name; `wait_s`, summed over packets; `share` of all waits of the job. Longest
        first; no row without waits.

    Examples:
        >>> run = odonata.load("runs/packets")
        >>> table = odonata.analysis.waits_by_blocking_job(run.table("job_waits"), run.jobs, 0)
        >>> table.column_names, table["blocking_job"][0].as_py()
        (['blocking_job', 'wait_s', 'share'], 'shifted')
    """
    frame = _of(job_waits, job)
    names = jobs["name"].to_pylist()
    waits = frame.groupby("blocking_job")["wait_ps"].sum().sort_values(ascending=False, kind="stable")
    waits = waits[waits > 0]
    total = float(waits.sum())
    return pa.table(
        {
            "blocking_job": pa.array([names[blocking] for blocking in waits.index], pa.string()),
            "wait_s": pa.array([wait / 1e12 for wait in waits], pa.float64()),
            "share": pa.array([wait / total for wait in waits], pa.float64()),
        }
    )


def waits_by_link(
    job_waits: pa.Table, links: pa.Table, routers: pa.Table, jobs: pa.Table, job: int, *, count: int = 10
) -> pa.Table:
    """The links with the longest waits of a job, longest first; ties in the order of link numbers.

    Args:
        job_waits: The run's table.
        links: The run's links.
        routers: The run's routers.
        jobs: The run's jobs.
        job: The number of the job.
        count: Maximum number of links.

    Returns:
        `link`, `name`, `class`, `wait_s`; `share` of all waits of the job; `blocking_job`, the main one at
        the link, and `blocking_job_share`, its share of the waits there.

    Examples:
        >>> run = odonata.load("runs/packets")
        >>> waits = run.table("job_waits")
        >>> table = odonata.analysis.waits_by_link(waits, run.links, run.routers, run.jobs, 0, count=1)
        >>> table.select(["name", "class", "blocking_job"]).to_pylist()
        [{'name': 'g0r0>g1r0:global.0', 'class': 'global', 'blocking_job': 'shifted'}]
    """
    frame = _of(job_waits, job)
    total = float(frame["wait_ps"].sum())
    of_link = frame.groupby("link")["wait_ps"].sum()
    of_link = of_link[of_link > 0].sort_values(ascending=False, kind="stable").head(count)
    by_blocking_job = frame.groupby(["link", "blocking_job"])["wait_ps"].sum()
    chosen = np.array(of_link.index, dtype=np.int64)
    worst = [by_blocking_job[link] for link in chosen]
    names = jobs["name"].to_pylist()
    rows = links.take(pa.array(chosen))
    return pa.table(
        {
            "link": rows["link"],
            "name": link_names(rows, routers),
            "class": rows["class"].cast(pa.string()),
            "wait_s": pa.array([wait / 1e12 for wait in of_link], pa.float64()),
            "share": pa.array([wait / total for wait in of_link], pa.float64()),
            "blocking_job": pa.array([names[waits.idxmax()] for waits in worst], pa.string()),
            "blocking_job_share": pa.array(
                [float(waits.max() / waits.sum()) for waits in worst], pa.float64()
            ),
        }
    )


def waits_by_class(job_waits: pa.Table, links: pa.Table, jobs: pa.Table, job: int) -> pa.Table:
    """Waits of a job's packets by link class and blocking job.

    Args:
        job_waits: The run's table.
        links: The run's links.
        jobs: The run's jobs.
        job: The number of the job.

    Returns:
        `class`, `blocking_job`, `wait_s`; `share` of all waits of the job. Sorted by class name, then longest
        first.

    Examples:
        >>> run = odonata.load("runs/packets")
        >>> table = odonata.analysis.waits_by_class(run.table("job_waits"), run.links, run.jobs, 0)
        >>> table.select(["class", "blocking_job"]).to_pylist()
        [{'class': 'global', 'blocking_job': 'shifted'}, {'class': 'local', 'blocking_job': 'shifted'}]
    """
    frame = _of(job_waits, job)
    total = float(frame["wait_ps"].sum())
    classes = links["class"].cast(pa.string()).to_pylist()
    frame = frame.assign(link_class=[classes[link] for link in frame["link"]])
    waits = frame.groupby(["link_class", "blocking_job"])["wait_ps"].sum()
    waits = waits[waits > 0].reset_index()
    waits = waits.sort_values(["link_class", "wait_ps"], ascending=[True, False], kind="stable")
    names = jobs["name"].to_pylist()
    return pa.table(
        {
            "class": pa.array(waits["link_class"], pa.string()),
            "blocking_job": pa.array([names[blocking] for blocking in waits["blocking_job"]], pa.string()),
            "wait_s": pa.array(waits["wait_ps"] / 1e12, pa.float64()),
            "share": pa.array(waits["wait_ps"] / total if total else [], pa.float64()),
        }
    )


def _of(job_waits: pa.Table, job: int) -> pd.DataFrame:
    frame: pd.DataFrame = job_waits.filter(pc.equal(job_waits["job"], job)).to_pandas()
    return frame
