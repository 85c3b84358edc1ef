"""Names and values of links, in the order of the `links` table."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Floats = npt.NDArray[np.float64]


def floats(table: pa.Table, column: str) -> Floats:
    """A numeric column as float64."""
    values: npt.NDArray[Any] = table[column].to_numpy()
    return values.astype(np.float64, copy=False)


def class_names(links: pa.Table) -> list[str]:
    """The link classes that occur, in the order of the machine's link numbers."""
    return [name for name in links["class"].unique().to_pylist() if name is not None]


def of_class(links: pa.Table, name: str) -> npt.NDArray[np.bool_]:
    """Which links are of a class."""
    mask: npt.NDArray[np.bool_] = pc.equal(links["class"].cast(pa.string()), name).to_numpy()
    return mask


def router_names(links: pa.Table, routers: pa.Table) -> tuple[pa.Array, pa.Array]:
    """The names of each link's source and destination router."""
    names = routers["name"].combine_chunks()
    return names.take(links["source"].combine_chunks()), names.take(links["target"].combine_chunks())


def link_names(links: pa.Table, routers: pa.Table) -> pa.Array:
    """The name of each link, as in `g0r0c0>g0r0c1:green.0`.

    It is made of source, destination, class, and index among parallel links. Unlike its number, a link's
    name is the same on a machine with other cables added or removed.
    """
    source, target = router_names(links, routers)
    tail = pc.binary_join_element_wise(
        links["class"].cast(pa.string()).combine_chunks(),
        links["parallel"].cast(pa.string()).combine_chunks(),
        ".",
    )
    return pc.binary_join_element_wise(pc.binary_join_element_wise(source, target, ">"), tail, ":")


def job_bytes(links: pa.Table, link_jobs: pa.Table, job: int) -> Floats:
    """The bytes of one job on each link, zero where it has none."""
    mine = link_jobs.filter(pc.equal(link_jobs["job"], job))
    values = np.zeros(links.num_rows)
    values[mine["link"].to_numpy()] = floats(mine, "bytes")
    return values
