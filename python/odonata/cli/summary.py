"""The summary of a run in words and tables, which `run` and `show` print."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from odonata.cli import terminal

if TYPE_CHECKING:
    from odonata.runs import Run


def print_summary(screen: Console, run: Run) -> None:
    """Prints what ran, how it went, the traffic per link class, and the jobs."""
    summary = run.summary
    screen.print(_heading(run), style="bold")
    screen.print(describe_machine(summary["machine"]))
    screen.print(_convergence(summary["convergence"]))
    screen.print(_cost(summary))
    screen.print()
    screen.print(class_table(summary["classes"]))
    screen.print()
    screen.print(_job_table(run))


def _heading(run: Run) -> str:
    summary = run.summary
    return f"{run.name}: {summary['engine']} engine, {summary['routing']} routing, seed {summary['seed']}"


def describe_machine(machine: dict[str, Any]) -> str:
    """A machine in one line."""
    groups = f"{machine['groups']:,} groups, " if machine["groups"] > 1 else ""
    return (
        f"{machine['name']}: {groups}{machine['routers']:,} routers, {machine['nodes']:,} nodes, "
        f"{machine['links']:,} links"
    )


def _convergence(convergence: dict[str, Any]) -> str:
    if convergence.get("converged"):
        return f"converged after {convergence['iterations']:,} iterations"
    return (
        f"NOT CONVERGED after {convergence['iterations']:,} iterations, residual "
        f"{convergence['residual']:.3g}: take the numbers below with care"
    )


def _cost(summary: dict[str, Any]) -> str:
    threads = summary["threads"]
    return (
        f"{terminal.seconds(summary['wall_s'])} on {threads} thread{'s' * (threads != 1)}, "
        f"{terminal.mib(summary['peak_rss_bytes'])} MiB of memory at most"
    )


def class_table(classes: list[dict[str, Any]]) -> Table:
    """The traffic of the links of each class."""
    columns = ["class", "links", "mean", "median", "90 %", "99 %", "max", "idle"]
    shown = terminal.table("Traffic of a link, MiB", columns, left=["class"])
    for row in classes:
        shown.add_row(
            row["class"],
            f"{row['links']:,}",
            *(terminal.mib(row[f"bytes_{name}"]) for name in ("mean", "p50", "p90", "p99", "max")),
            f"{row['links'] - row['nonzero']:,}",
        )
    return shown


def _job_table(run: Run) -> Table:
    jobs = run.jobs.to_pylist()
    columns = ["job", "name", "pattern", "placement", "ranks", "nodes", "MiB sent", "off router", "hops"]
    has_slowdown = "slowdown" in run.jobs.column_names
    shown = terminal.table(
        "Jobs",
        [*columns, *(["slowdown"] if has_slowdown else []), "mean link, MiB", "max link, MiB"],
        left=["name", "pattern", "placement"],
    )
    for job, links in zip(jobs, run.summary["jobs"], strict=True):
        everywhere = links["classes"][0]
        total = job["bytes"]
        shown.add_row(
            str(job["job"]),
            job["name"],
            job["pattern"],
            job["placement"],
            f"{job['ranks']:,}",
            f"{job['nodes']:,}",
            terminal.mib(total),
            terminal.percent(job["bytes_network"] / total) if total else "-",
            f"{job['mean_hops']:.2f}",
            *([f"{job['slowdown']:.2f}"] if has_slowdown else []),
            terminal.mib(everywhere["bytes_mean"]),
            terminal.mib(everywhere["bytes_max"]),
        )
    return shown


def hottest_table(hottest: list[dict[str, Any]], title: str) -> Table:
    """The most loaded links with the jobs on them."""
    shown = terminal.table(
        title, ["link", "class", "MiB", "ms at full speed", "jobs"], left=["link", "class", "jobs"]
    )
    for row in hottest:
        jobs = ", ".join(f"{job['name']} {terminal.percent(job['share'])}" for job in row["jobs"])
        shown.add_row(
            row["name"], row["class"], terminal.mib(row["bytes"]), terminal.number(1e3 * row["time_s"]), jobs
        )
    return shown
