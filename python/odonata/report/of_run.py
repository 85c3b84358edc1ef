"""The report of a run: its sentence, figures of what it has, the table of its jobs, and the method."""

from __future__ import annotations

from odonata.analysis import headline
from odonata.plot.run_plots import RunPlots
from odonata.report.content import (
    Maker,
    Report,
    Table,
    drawn,
    first_rows,
    machine_and_engine,
    reservations,
    shown,
    versions,
)
from odonata.store.run import RunData
from odonata.store.schema import declarations


def report_of_run(run: RunData) -> Report:
    """A run as a report."""
    return Report(
        name=run.name,
        headline=str(headline(run)),
        figures=drawn(_figures(run)),
        tables=(table_of_jobs(run),),
        method=tuple(method_of(run)),
        experiment=run.experiment,
    )


def _figures(run: RunData) -> list[Maker]:
    """Figures in order of preference; those without data are left out."""
    plots = RunPlots(run)
    makers: list[Maker] = [("Predicted times by term", plots.costs)]
    if run.summary["engine"] == "packet":
        makers += [
            ("Throughput of each job over time", lambda: plots.series("throughput")),
            ("Share of packets above each latency", plots.latency),
            ("Share of time out of credits between groups", plots.stall_map),
        ]
    return [
        *makers,
        ("All links, most loaded first, by job", plots.links),
        ("Traffic between groups, mean per link", plots.groups),
        ("Traffic on the sides of the torus", plots.torus),
        ("Mean and maximum traffic per link of each job and class", plots.jobs),
        ("Distribution of traffic over links", plots.histogram),
    ]


def table_of_jobs(run: RunData) -> Table:
    """Ranks, nodes, and the figures of jobs that are shown by default."""
    columns = declarations(run.jobs.schema)
    figures = [name for name, column in columns.items() if column.headline]
    rows = [
        [
            str(row["name"]),
            f"{row['ranks']:,}",
            f"{row['nodes']:,}",
            *(shown(row[name], columns[name].unit) for name in figures),
        ]
        for row in run.jobs.to_pylist()
    ]
    return first_rows("Jobs", ["job", "ranks", "nodes", *(columns[name].label for name in figures)], rows)


def method_of(run: RunData) -> list[str]:
    """How the numbers were computed: engine, machine, routing, seed, convergence, assumptions, warnings."""
    return [
        *machine_and_engine([run]),
        *reservations([run]),
        f"{versions([run])}, experiment {run.summary['experiment_sha256'][:16]}.",
    ]
