"""Names and values of links, in the order of the `links` table."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from odonata.store.arrays import array_of, coded, numbers

Floats = npt.NDArray[np.float64]


def floats(table: pa.Table, column: str) -> Floats:
    """A numeric column as float64."""
    return numbers(table[column]).astype(np.float64, copy=False)


def class_names(links: pa.Table) -> list[str]:
    """The link classes of the machine, in the order of link numbers."""
    return [name for name in links["class"].unique().to_pylist() if name is not None]


def of_class(links: pa.Table, name: str) -> npt.NDArray[np.bool_]:
    """Which links are of a class."""
    names, codes = coded(links["class"])
    mask: npt.NDArray[np.bool_] = codes == (names.index(name) if name in names else len(names))
    return mask


def router_names(links: pa.Table, routers: pa.Table) -> tuple[pa.Array, pa.Array]:
    """The names of each link's source and destination router: two arrays in the order of `links`.

    Examples:
        >>> run = odonata.load("runs/both")
        >>> sources, targets = odonata.analysis.router_names(run.links, run.routers)
        >>> sources[0].as_py(), targets[0].as_py()
        ('g0r0', 'g0r1')
    """
    names = routers["name"].combine_chunks()
    return names.take(links["source"].combine_chunks()), names.take(links["target"].combine_chunks())


def link_names(links: pa.Table, routers: pa.Table) -> pa.Array:
    """The name of each link, as in `g0r0c0>g0r0c1:green.0`.

    It consists of source, destination, class and index among parallel links. Unlike its number, the name of a
    link does not change if other cables are added or removed.

    Examples:
        >>> run = odonata.load("runs/both")
        >>> odonata.analysis.link_names(run.links, run.routers).to_pylist()[:2]
        ['g0r0>g0r1:local.0', 'g0r0>g0r2:local.0']
    """
    source, target = router_names(links, routers)
    arrow, colon, dot = array_of((">", ":", "."), pa.string())
    tail = pc.binary_join_element_wise(
        links["class"].cast(pa.string()).combine_chunks(),
        links["parallel"].cast(pa.string()).combine_chunks(),
        dot,
    )
    return pc.binary_join_element_wise(pc.binary_join_element_wise(source, target, arrow), tail, colon)


def link_name(links: pa.Table, routers: pa.Table, link: int) -> str:
    """The name of one link, as `link_names` has it."""
    source, target = (routers["name"][links[end][link].as_py()].as_py() for end in ("source", "target"))
    return f"{source}>{target}:{links['class'][link].as_py()}.{links['parallel'][link].as_py()}"


def job_bytes(links: pa.Table, link_jobs: pa.Table, job: int) -> Floats:
    """The bytes of one job on each link.

    Args:
        links: The run's links.
        link_jobs: The run's bytes per link and job.
        job: The number of the job.

    Returns:
        One value per link, in the order of the table; zero without traffic.

    Examples:
        >>> run = odonata.load("runs/both")
        >>> of_jobs = [odonata.analysis.job_bytes(run.links, run.link_jobs, job) for job in (0, 1)]
        >>> of_jobs[0].shape, bool((sum(of_jobs) == run.links["bytes"].to_numpy()).all())
        ((180,), True)
    """
    mine = numbers(link_jobs["job"]) == job
    values = np.zeros(links.num_rows)
    values[numbers(link_jobs["link"])[mine]] = floats(link_jobs, "bytes")[mine]
    return values
