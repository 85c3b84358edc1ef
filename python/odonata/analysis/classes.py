"""Statistics of link traffic per link class, by the same code as in a run's summary."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from odonata import _core
from odonata.analysis.links import Floats, class_names, floats, job_bytes
from odonata.errors import OdonataError
from odonata.store.arrays import numbers


def class_statistics(links: pa.Table, values: Floats | None = None) -> pa.Table:
    """Mean, maximum, percentiles and non-zero count of the bytes on the links of each class.

    Links without traffic count, too. A percentile p is the value at rank ceil(p/100 * n).

    Args:
        links: The `links` table.
        values: Bytes per link in the table's order, none negative; by default its column `bytes`.

    Returns:
        One row per class, `all` first: `class`, `links`, `bytes_sum`, `bytes_mean`, `bytes_max`, `bytes_p50`,
        `bytes_p90`, `bytes_p99`, `loaded_links`.

    Raises:
        OdonataError: Values that are no bytes or not one per link, or a link without a class.

    Examples:
        >>> run = odonata.load("runs/both")
        >>> table = odonata.analysis.class_statistics(run.links)
        >>> table.select(["class", "links", "loaded_links"]).to_pylist()
        [{'class': 'all', 'links': 180, 'loaded_links': 180}, {'class': 'local', 'links': 108, 'loaded_links':
        108}, {'class': 'global', 'links': 72, 'loaded_links': 72}]
    """
    values = floats(links, "bytes") if values is None else np.ascontiguousarray(values, np.float64)
    if values.shape != (links.num_rows,):
        raise OdonataError(f"values have the shape {values.shape}; expected one per link, {links.num_rows}")
    if not (values >= 0).all():
        raise OdonataError("values have a number that is negative or missing; expected bytes")
    names = class_names(links)
    class_of = pc.index_in(links["class"].cast(pa.string()), pa.array(names, pa.string()))
    if class_of.null_count:
        raise OdonataError("a link has no class")
    return pa.Table.from_pylist(_core.class_statistics(names, numbers(class_of).astype(np.uint32), values))


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
