"""The figures of one run, as methods of `run.plot`."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from odonata.analysis.links import Floats, floats, job_bytes
from odonata.errors import OdonataError
from odonata.plot.costs import plot_costs
from odonata.plot.groups import plot_groups
from odonata.plot.histogram import plot_histogram
from odonata.plot.jobs import plot_jobs
from odonata.plot.latency import plot_latency, plot_load_curve
from odonata.plot.links import plot_links
from odonata.plot.overview import plot_overview
from odonata.plot.stalls import plot_series, plot_stall_map
from odonata.plot.style import Picture
from odonata.plot.throughput import panels_of, plot_throughput
from odonata.plot.torus import plot_torus
from odonata.store.run import RunData


class RunPlots:
    """Figures of a run. Each method returns a `Picture`, a matplotlib figure to save or extend.

    Examples:
        >>> plot = odonata.load("runs/both").plot
        >>> plot.overview().savefig("overview.png")
        >>> pictures = [plot.links(), plot.histogram(job="fft"), plot.groups(job=0), plot.jobs(log=True)]
        >>> odonata.load("runs/torus").plot.torus().savefig("torus.png")
        >>> odonata.load("runs/priced").plot.costs().savefig("costs.png")
        >>> of_packets = odonata.load("runs/packets").plot
        >>> pictures = [of_packets.latency(part="network"), of_packets.congestion()]
        >>> more = odonata.run("packets.toml", set={"job.*.traffic.load": 0.5})
        >>> of_packets.load_curve(more).savefig("loads.png")
        >>> pictures = [of_packets.series("latency"), of_packets.stall_map()]
        >>> alone = odonata.load("runs/pairs/points/jobs=halo")
        >>> odonata.load("runs/pairs/points/jobs=mixed").plot.throughput([alone]).savefig("throughput.png")
    """

    def __init__(self, run: RunData) -> None:
        self._run = run

    def __repr__(self) -> str:
        methods = ", ".join(name for name in vars(type(self)) if not name.startswith("_"))
        return f"<odonata.RunPlots of {self._run.name}: {methods}>"

    def links(self) -> Picture:
        """All links, most loaded first, stacked by job; one panel per class."""
        self._check_traffic()
        return plot_links(self._run.links, self._run.link_jobs, self._run.jobs)

    def histogram(self, *, job: str | int | None = None, log: bool = False) -> Picture:
        """Distribution of traffic over links, per class; only of `job` if given."""
        self._check_traffic()
        return plot_histogram(self._run.links, self._values(job), log=log)

    def groups(self, *, job: str | int | None = None) -> Picture:
        """Mean traffic per link between groups; only of `job` if given."""
        self._check_traffic()
        return plot_groups(self._run.links, self._run.routers, self._values(job))

    def jobs(self, *, log: bool | None = None) -> Picture:
        """Mean and maximum traffic per link for each job and class."""
        self._check_traffic()
        return plot_jobs(self._run.links, self._run.link_jobs, self._run.jobs, log=log)

    def torus(self, *, job: str | int | None = None, what: str = "traffic") -> Picture:
        """Side views of a torus, up and down each axis: traffic (only of `job` if given), or `dynamic`.

        `dynamic` is the share of traffic on dynamic channels, for runs that record channels.
        """
        self._check_traffic()
        return plot_torus(self._run, self._values(job), what)

    def overview(self) -> Picture:
        """Links, jobs and groups in one figure."""
        self._check_traffic()
        return plot_overview(self._run)

    def costs(self) -> Picture:
        """Predicted times by level and term of multigrid cycles, or by job and term (model engine)."""
        return plot_costs(self._run)

    def latency(self, *, part: str = "total") -> Picture:
        """Share of packets above each latency, per job (packet engine); `part` is `total` or `network`."""
        return plot_latency(self._run, part=part)

    def load_curve(self, *others: RunData) -> Picture:
        """Accepted load and mean latency against offered load, of this run and others (packet engine)."""
        return plot_load_curve([self._run, *others])

    def stall_map(self, what: str = "stall") -> Picture:
        """Share of time out of credits between groups, or `congestion` index (packet engine)."""
        return plot_stall_map(self._run, what)

    def congestion(self) -> Picture:
        """Congestion index (mean link throughput / capacity) between groups (packet engine)."""
        return plot_stall_map(self._run, "congestion")

    def series(self, what: str = "throughput") -> Picture:
        """Over time: `throughput`, `latency`, `non_minimal` of jobs; `load`, `stall` of links.

        All need the packet engine and `interval`; `load` and `stall` also need `series = ["links"]`.
        """
        return plot_series(self._run, what)

    def throughput(self, alone: Iterable[RunData] = ()) -> Picture:
        """Throughput of each job over time, with runs of single jobs in grey (packet engine, `interval`)."""
        return plot_throughput(panels_of(self._run, alone))

    def _check_traffic(self) -> None:
        """Raises `OdonataError` if no link has traffic: the figure would be empty."""
        if not self._run.routed:
            raise OdonataError(f"{self._run.name} routes nothing, so its links have no traffic to draw")
        if not np.nan_to_num(floats(self._run.links, "bytes")).any():
            raise OdonataError(f"no link of {self._run.name} has traffic to draw")

    def _values(self, job: str | int | None) -> Floats | None:
        if job is None:
            return None
        names: list[str] = self._run.jobs["name"].to_pylist()
        if isinstance(job, str):
            if job not in names:
                raise OdonataError(f"the run has no job {job}", hint=f"Use one of {', '.join(names)}.")
            job = names.index(job)
        elif not 0 <= job < len(names):
            raise OdonataError(f"the run has no job {job}", hint=f"Use a number from 0 to {len(names) - 1}.")
        return job_bytes(self._run.links, self._run.link_jobs, job)
