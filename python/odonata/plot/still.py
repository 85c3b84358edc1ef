"""A run as a picture and tables in one HTML text.

For notebooks shown without scripts: GitHub, nbviewer, print.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from odonata.analysis.hottest import hottest_links
from odonata.notebook import table
from odonata.plot.overview import plot_overview
from odonata.quantity import quantity
from odonata.store.schema import declarations

if TYPE_CHECKING:
    from odonata.store.run import RunData

HOTTEST = 10


def still(run: RunData) -> tuple[bytes | None, str]:
    """The overview as PNG (None if the links carry nothing), and HTML with it and tables."""
    picture = plot_overview(run)._repr_png_() if any(run.links["bytes"].to_pylist()) else None
    parts = [_jobs(run)]
    if picture is not None:
        encoded = base64.b64encode(picture).decode()
        parts.insert(0, f'<img src="data:image/png;base64,{encoded}" alt="Overview of the run {run.name}" />')
        parts.append(_links(run))
    return picture, "\n".join(parts)


def _jobs(run: RunData) -> str:
    columns = declarations(run.jobs.schema)
    figures = [name for name, column in columns.items() if column.headline]
    rows = [
        [
            row["name"],
            row["ranks"],
            row["nodes"],
            *(quantity(row[name], columns[name].unit) for name in figures),
        ]
        for row in run.jobs.to_pylist()
    ]
    return table("Jobs", ["job", "ranks", "nodes", *(columns[name].label for name in figures)], rows)


def _links(run: RunData) -> str:
    hottest = hottest_links(run.links, run.routers, run.link_jobs, run.jobs, count=HOTTEST)
    rows = [
        [
            row["name"],
            row["class"],
            quantity(row["bytes"], "bytes"),
            ", ".join(f"{job['name']} {quantity(job['share'], 'share')}" for job in row["jobs"]),
        ]
        for row in hottest.to_pylist()
    ]
    return table("Hottest links", ["link", "class", "traffic", "jobs on it"], rows)
