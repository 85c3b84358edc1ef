"""Statistics of link traffic per link class, as in a run's summary."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from odonata.analysis.links import Floats, class_names, floats, job_bytes, of_class
from odonata.store.schema import ALL_CLASSES

PERCENTILES = (50, 90, 99)


def class_statistics(links: pa.Table, values: Floats | None = None) -> pa.Table:
    """Mean, maximum, percentiles and non-zero count of the bytes on the links of each class.

    Links without traffic count, too. A percentile p is the value at rank ceil(p/100 * n).

    Args:
        links: The `links` table.
        values: Bytes per link in the table's order; by default its column `bytes`.

    Returns:
        One row per class, `all` first: `class`, `links`, `bytes_sum`, `bytes_mean`, `bytes_max`, `bytes_p50`,
        `bytes_p90`, `bytes_p99`, `loaded_links`.

    Examples:
        >>> run = odonata.load("runs/both")
        >>> table = odonata.analysis.class_statistics(run.links)
        >>> table.select(["class", "links", "loaded_links"]).to_pylist()
        [{'class': 'all', 'links': 180, 'loaded_links': 180}, {'class': 'local', 'links': 108, 'loaded_links':
        108}, {'class': 'global', 'links': 72, 'loaded_links': 72}]
    """
    values = floats(links, "bytes") if values is None else values
    rows = [_row(ALL_CLASSES, values)]
    rows += [_row(name, values[of_class(links, name)]) for name in class_names(links)]
    return pa.Table.from_pylist(rows)


def job_class_statistics(links: pa.Table, link_jobs: pa.Table, jobs: pa.Table) -> pa.Table:
    """`class_statistics` for each job's own bytes, with the columns `job` and `name` before the others.

    Args:
        links: The `links` table.
        link_jobs: The `link_jobs` table.
        jobs: The `jobs` table.

    Examples:
        >>> run = odonata.load("runs/both")
        >>> table = odonata.analysis.job_class_statistics(run.links, run.link_jobs, run.jobs)
        >>> table.select(["name", "class", "links"]).to_pylist()[:3]
        [{'name': 'cfd', 'class': 'all', 'links': 180}, {'name': 'cfd', 'class': 'local', 'links': 108},
        {'name': 'cfd', 'class': 'global', 'links': 72}]
    """
    parts = []
    for job, name in zip(jobs["job"].to_pylist(), jobs["name"].to_pylist(), strict=True):
        part = class_statistics(links, job_bytes(links, link_jobs, job))
        count = part.num_rows
        part = part.add_column(0, "name", pa.array([name] * count))
        parts.append(part.add_column(0, "job", pa.array([job] * count, pa.uint32())))
    return pa.concat_tables(parts)


def _row(name: str, values: Floats) -> dict[str, str | int | float]:
    count = len(values)
    row: dict[str, str | int | float] = {"class": name, "links": count}
    row["bytes_sum"] = float(values.sum())
    row["bytes_mean"] = float(values.mean()) if count else 0.0
    row["bytes_max"] = float(values.max()) if count else 0.0
    for p, value in zip(PERCENTILES, percentiles(values), strict=True):
        row[f"bytes_p{p}"] = value
    row["loaded_links"] = int(np.count_nonzero(values))
    return row


def percentiles(values: Floats) -> list[float]:
    """The values at rank ceil(p/100 * n) for each of `PERCENTILES`; zeros if there are no values."""
    if not len(values):
        return [0.0] * len(PERCENTILES)
    # Integer arithmetic: in floating point, 0.9 * 10 may round to either side of 9.
    ranks = [max(-(-p * len(values) // 100), 1) - 1 for p in PERCENTILES]
    ordered = np.partition(values, sorted(set(ranks)))
    return [float(ordered[rank]) for rank in ranks]
