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
    if run.partial is not None:
        screen.print(f"PARTIAL: {run.partial}; the tables hold what happened until then", style="bold yellow")
    screen.print(describe_machine(summary["machine"]))
    if "packet" in summary:
        screen.print(_packets(summary["packet"], summary["convergence"]))
    elif summary["convergence"]:
        screen.print(_convergence(summary["convergence"]))
    screen.print(_cost(summary))
    if "model" in summary:
        terminal.print_table(screen, "Jobs", _job_table(run))
        _print_model(screen, run)
        return
    unit, size = terminal.bytes_unit(row["bytes_max"] for row in summary["classes"])
    terminal.print_table(screen, f"Traffic of a link, {unit}", _class_table(summary["classes"], size))
    terminal.print_table(screen, "Jobs", _job_table(run))
    terminal.print_table(
        screen, "What the jobs send, and what becomes of it", _job_traffic_table(run, unit, size)
    )
    if "bound" in summary:
        screen.print()
        screen.print(_bound(summary["bound"]))


def _heading(run: Run) -> str:
    summary = run.summary
    if "model" in summary:
        return f"{run.name}: model engine, closed form {summary['model']['form']}, nothing is routed"
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


_ENDINGS = {
    "complete": "all measured packets arrived",
    "limit": "STOPPED AT THE LIMIT",
    "interrupted": "INTERRUPTED",
    "no-progress": "NO PROGRESS: packets wait for each other",
}
"""How a run of the packet engine ended, in words."""


def _packets(packet: dict[str, Any], convergence: dict[str, Any]) -> str:
    """How a run of the packet engine went: what was measured, how it was routed, how it ended."""
    used = ", ".join(map(str, packet["virtual_channels_used"])) or "none"
    steady = "steady" if convergence["converged"] else "NOT STEADY"
    minimal, other = packet["minimal_share"], packet["non_minimal_share"]
    ways = "" if minimal is None else f"{100 * minimal:.1f} % minimal, {100 * other:.1f} % non-minimal, "
    waiting = packet.get("crossbar_stall_mean_ns")
    measured = f"{packet['measured_ps'] / 1e6:,.1f} us"
    packets = f"{packet['packets']:,} packets measured in {measured}: "
    if not packet["packets"]:
        packets = f"no packet made in the measured {measured} arrived; "
    return (
        f"{packets}{ways}virtual channels used: {used} of {packet['virtual_channels']}\n"
        f"links wait for credit {terminal.percent(packet.get('stall_share_mean', 0))} of the time"
        + ("" if waiting is None else f", a packet {terminal.number(waiting)} ns for each crossbar")
        + f"\n{_ENDINGS[convergence['ending']]} at {packet['end_ps'] / 1e6:,.1f} us, {steady}"
    )


def _cost(summary: dict[str, Any]) -> str:
    threads = summary["threads"]
    return (
        f"{terminal.seconds(summary['wall_s'])} on {threads} thread{'s' * (threads != 1)}, "
        f"{terminal.mib(summary['peak_rss_bytes'])} MiB of memory at most"
    )


_RANK_TERMS = (
    ("startup_s", "start-up"),
    ("hops_s", "hops"),
    ("bandwidth_s", "bandwidth"),
    ("matching_s", "matching"),
)
"""The terms of the general forms: column of `jobs`, heading."""


def _print_model(screen: Console, run: Run) -> None:
    """What a closed form says of the jobs."""
    model = run.summary["model"]
    if model["form"] == "amg":
        scenarios = list(dict.fromkeys(name for job in model["cycles"] for name in job["cycle_s"]))
        shown = terminal.table(["job", "tasks x threads", *scenarios], left=["job"])
        for job in model["cycles"]:
            times = (job["cycle_s"].get(name) for name in scenarios)
            shown.add_row(
                job["name"],
                f"{job['tasks_per_node']} x {job['threads']}",
                *(terminal.number(None if s is None else 1e3 * s) for s in times),
            )
        terminal.print_table(screen, "Time of a cycle, ms", shown)
        for row in model["cycles"]:
            _print_cycle(screen, run, row)
        return
    columns = ["job", "messages", "MiB sent", "off router", "hops per byte", "time", "mean of ranks"]
    shown = terminal.table([*columns, *(heading for _, heading in _RANK_TERMS)], left=["job"])
    for job in run.jobs.to_pylist():
        off_router = terminal.percent(job["bytes_network"] / job["bytes"]) if job["bytes"] else "-"
        times = (job[name] for name in ("time_s", "time_mean_s", *(name for name, _ in _RANK_TERMS)))
        shown.add_row(
            job["name"],
            f"{job['messages']:,}",
            terminal.mib(job["bytes"]),
            off_router,
            f"{job['mean_hops']:.2f}",
            *(terminal.number(1e6 * seconds) for seconds in times),
        )
    terminal.print_table(screen, "Time of the slowest rank and its terms, us", shown)


def _print_cycle(screen: Console, run: Run, job: dict[str, Any]) -> None:
    """The levels of one job's cycle in the first scenario."""
    if not job["cycle_s"]:
        return
    scenario = next(iter(job["cycle_s"]))
    sums: dict[tuple[int, str], float] = {}
    terms: dict[str, float] = {}
    for row in run.table("cycle").to_pylist():
        if (row["job"], row["scenario"]) == (job["job"], scenario):
            key = (row["level"], row["term"])
            sums[key] = sums.get(key, 0.0) + row["time_s"]
            terms[row["term"]] = terms.get(row["term"], 0.0) + row["time_s"]
    charged = [term for term, seconds in terms.items() if seconds > 0]
    shown = terminal.table(["level", *charged, "sum"])
    for level in sorted({level for level, _ in sums}):
        of_level = [sums[level, term] for term in charged]
        shown.add_row(str(level), *(terminal.number(1e3 * s) for s in [*of_level, sum(of_level)]))
    shown.add_section()
    shown.add_row(
        "all", *(terminal.number(1e3 * s) for s in [*(terms[t] for t in charged), sum(terms.values())])
    )
    terminal.print_table(screen, f"{job['name']}: {scenario}, ms", shown)


def _bound(bound: dict[str, Any]) -> str:
    """How much better any other routing could do."""
    lower, reached = (
        terminal.number(1e3 * bound[f"max_link_time_{name}_s"]) for name in ("lower", "reached")
    )
    return (
        f"No routing can bring the busiest link below {lower} ms at full speed; "
        f"one was found that needs {reached} ms"
    )


def _class_table(classes: list[dict[str, Any]], size: float) -> Table:
    """The traffic of the links of each class, in units of `size` bytes."""
    columns = ["class", "links", "mean", "median", "90 %", "99 %", "max", "idle"]
    shown = terminal.table(columns, left=["class"])
    for row in classes:
        shown.add_row(
            row["class"],
            f"{row['links']:,}",
            *(terminal.number(row[f"bytes_{name}"] / size) for name in ("mean", "p50", "p90", "p99", "max")),
            f"{row['links'] - row['nonzero']:,}",
        )
    return shown


def _job_table(run: Run) -> Table:
    columns = ["job", "name", "pattern", "placement", "ranks", "nodes", "routers"]
    shown = terminal.table(columns, left=["name", "pattern", "placement"])
    for job in run.jobs.to_pylist():
        shown.add_row(
            str(job["job"]),
            job["name"],
            job["pattern"],
            job["placement"],
            *(f"{job[name]:,}" for name in ("ranks", "nodes", "routers")),
        )
    return shown


_PREDICTIONS: tuple[tuple[str, str, float], ...] = (
    ("bandwidth_bytes_per_s", "GB/s in all", 1e-9),
    ("slowdown", "slowdown", 1.0),
    ("offered_load", "offered load", 1.0),
    ("accepted_load", "accepted load", 1.0),
    ("latency_mean_ns", "latency mean, ns", 1.0),
    ("latency_p99_ns", "latency 99 %, ns", 1.0),
)
"""The engine's predictions that are shown where the run has them: column, heading, factor."""


def _job_traffic_table(run: Run, unit: str, size: float) -> Table:
    """What each job sent, how far it went, and what it made of the links, in units of `size` bytes."""
    known = list(_PREDICTIONS)
    if "time_s" in run.jobs.column_names:
        time_unit, per_second = terminal.time_unit(run.jobs["time_s"].to_pylist())
        known.insert(0, ("time_s", f"time, {time_unit}", per_second))
    predictions = [entry for entry in known if entry[0] in run.jobs.column_names]
    headings = [heading for _, heading, _ in predictions]
    columns = ["job", "MiB sent", "off router", "hops", *headings, f"link mean, {unit}", f"link max, {unit}"]
    shown = terminal.table(columns, left=["job"])
    for job, links in zip(run.jobs.to_pylist(), run.summary["jobs"], strict=True):
        everywhere = links["classes"][0]
        shown.add_row(
            job["name"],
            terminal.mib(job["bytes"]),
            terminal.percent(job["bytes_network"] / job["bytes"]) if job["bytes"] else "-",
            f"{job['mean_hops']:.2f}",
            *(
                terminal.number(None if job[column] is None else factor * job[column])
                for column, _, factor in predictions
            ),
            terminal.number(everywhere["bytes_mean"] / size),
            terminal.number(everywhere["bytes_max"] / size),
        )
    return shown


def hottest_table(hottest: list[dict[str, Any]]) -> Table:
    """The most loaded links with the jobs on them."""
    unit, size = terminal.bytes_unit(row["bytes"] for row in hottest)
    time_unit, per_second = terminal.time_unit(row["time_s"] for row in hottest)
    columns = ["link", "class", unit, f"busy, {time_unit}", "jobs"]
    shown = terminal.table(columns, left=["link", "class"], wrap=["jobs"])
    for row in hottest:
        shown.add_row(
            row["name"],
            row["class"],
            terminal.number(row["bytes"] / size),
            terminal.number(per_second * row["time_s"]),
            _jobs_on_link(row["jobs"]),
        )
    return shown


NAMED_SHARE = 0.01
"""Jobs with less of a link than this are not named one by one."""


def _jobs_on_link(jobs: list[dict[str, Any]]) -> str:
    """Names and shares, the largest first, small ones together."""
    named = [job for job in jobs if job["share"] >= NAMED_SHARE] or jobs[:1]
    parts = [f"{job['name']} {terminal.percent(job['share'])}" for job in named]
    others = jobs[len(named) :]
    if others:
        share = terminal.percent(sum(job["share"] for job in others))
        parts.append(f"{len(others)} other{'s' * (len(others) > 1)} {share}")
    return ", ".join(parts)
