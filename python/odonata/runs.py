"""A finished run with figures and viewer: what `odonata.run` and `odonata.load` return.

The packages `analysis`, `plot` and `viewer` take a run as `odonata.store.run.RunData`. Only this module gives
a run access to them, so that imports have no cycle.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from odonata.lazy import LazyModule
from odonata.notebook import facts
from odonata.quantity import counted
from odonata.store.run import RunData

if TYPE_CHECKING:
    from odonata.plot import run_plots
else:
    run_plots = LazyModule("odonata.plot.run_plots")


class Run(RunData):
    """The result of one experiment.

    The tables are `pyarrow.Table`s: `run.links.to_pandas()` makes a pandas frame of one,
    `polars.from_arrow(run.links)` a polars frame, both without loss. The reference of the run directory
    describes columns and units.

    Examples:
        >>> run = odonata.load("runs/both")
        >>> run.table_names
        ['routers', 'links', 'link_jobs', 'nodes', 'jobs', 'placement', 'communication']
        >>> run.table("jobs")["name"].to_pylist()
        ['cfd', 'fft']
        >>> f"{run.summary['classes'][0]['bytes_max']:.0f} bytes on the hottest link"
        '2644502 bytes on the hottest link'
        >>> run.save("runs/copy").path.name
        'copy'
        >>> run.export("booksim", "machine.anynet").name
        'machine.anynet'
        >>> widget = run.view()
    """

    @cached_property
    def plot(self) -> run_plots.RunPlots:
        """Figures of this run: `run.plot.links()`, `.histogram()`, `.groups()`, `.jobs()`, `.overview()`.

        Runs of the packet engine also have `.latency()`, `.load_curve()`, `.stall_map()`, `.congestion()`,
        `.series()`.
        """
        return run_plots.RunPlots(self)

    def _repr_html_(self) -> str:
        machine, summary = self.summary["machine"], self.summary
        sizes = f"{counted(machine['routers'], 'router')}, {counted(machine['nodes'], 'node')}"
        rows: list[tuple[str, object]] = [
            ("machine", f"{machine['name']}: {sizes}"),
            ("engine", f"{summary['engine']}, {summary['routing']}"),
            ("jobs", ", ".join(job["name"] for job in summary["jobs"])),
            ("tables", ", ".join(self.table_names)),
            ("directory", "none, in memory" if self.path is None else str(self.path)),
        ]
        if self.partial is not None:
            rows.append(("partial", self.partial))
        elif not self.is_complete:
            rows.append(("ending", self.ending))
        return facts(f"Run {self.name}", rows)

    def export(self, format: str, to: str | Path) -> Path:  # noqa: A002 - as on the command line
        """Writes the run in another program's format, as `odonata export` does, and returns `to`.

        Args:
            format: `damselfly`, `csv`, `booksim`, `codes`, `sst-macro` or `slurm`.
            to: The file to write; for `csv` and `codes` a directory.

        Raises:
            OdonataError: The format is unknown or cannot hold the run, or `to` exists or cannot be written.
        """
        from odonata.export import export

        return export(self, format, to)

    def view(self) -> Any:
        """The viewer as a notebook widget; put it last in a cell. Needs `pip install 'odonata[notebook]'`.

        If a saved notebook is shown without scripts, as on GitHub, a picture and tables replace the widget.
        `odonata.view` shows several runs together and writes pages.
        """
        from odonata.plot.still import still
        from odonata.viewer.runs import OpenRuns
        from odonata.viewer.widget import widget

        return widget(OpenRuns.from_run(self), lambda: still(self))
