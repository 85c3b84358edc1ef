"""The summary of a run, which `run` and `show` print."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from odonata.analysis.headline import headline
from odonata.analysis.job_bottleneck import times_of
from odonata.cli.output import columns, listing, terminal
from odonata.cli.output.absent import print_absent
from odonata.cli.output.assumptions import print_assumptions
from odonata.cli.output.collectives import print_collectives
from odonata.cli.output.fast_forward import print_shortcuts
from odonata.cli.output.machine import describe_machine, has_groups
from odonata.quantity import counted, percent, quantity, scale
from odonata.store.schema import COMPLETE, ENDINGS

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from odonata.quantity import Scale
    from odonata.runs import Run


def print_summary(screen: Console, run: Run, *, details: bool = False) -> None:
    """Prints machine, outcome and cost of a run, the traffic per link class and the jobs.

    Of many jobs, only the slowest are listed without `details`.
    """
    times = times_of(run)
    every = range(run.jobs.num_rows)
    chosen = listing.listed_jobs([times.get(job) for job in every], details=details)
    omitted = len(every) - len(chosen)
    summary = run.summary
    print_ending(screen, run)
    screen.print(_heading(run), style="bold")
    screen.print(str(headline(run)), soft_wrap=True, markup=False, highlight=False)
    screen.print(describe_machine(summary["machine"]))
    if (simulated := run.part("end_ps")) is not None:
        screen.print(_simulated(run, simulated))
    elif summary["convergence"]:
        screen.print(_convergence(summary["convergence"]))
    print_shortcuts(screen, summary)
    screen.print(_cost(summary))
    print_assumptions(screen, summary.get("assumptions", []), len(summary["jobs"]), "all keys: resolved.toml")
    print_collectives(screen, summary.get("collectives", []), [job["name"] for job in summary["jobs"]])
    if not run.routed:
        terminal.print_table(screen, _job_table(run, chosen), "Jobs")
        listing.print_omitted(screen, omitted, "show")
        print_absent(screen, run.absent_jobs)
        _print_terms(screen, run, chosen)
        return
    on = None
    if summary["classes"][0]["bytes_max"] is None:
        screen.print("\nThe run ended before its measurement: no traffic of links was measured.")
    else:
        on = scale((row["bytes_max"] for row in summary["classes"]), "bytes")
        terminal.print_table(screen, _class_table(summary["classes"], on), on.heading("Traffic per link"))
    terminal.print_table(screen, _job_table(run, chosen), "Jobs")
    listing.print_omitted(screen, omitted, "show")
    print_absent(screen, run.absent_jobs)
    terminal.print_table(screen, _job_traffic_table(run, on, chosen), "Job traffic and completion time")
    if "completion_times" in summary:
        screen.print(f"Times are estimates: {summary['completion_times']['accuracy']}.")
    if "bound" in summary:
        screen.print()
        screen.print(_bound(summary["bound"]))


def print_ending(screen: Console, run: Run) -> None:
    """Prints how a run ended that is not complete, and what had not finished."""
    unfinished = run.summary.get("unfinished")
    if run.partial is not None:
        words = f"PARTIAL RUN: {run.partial}. The tables hold the results until then."
    elif not run.is_complete:
        words = f"NOT COMPLETE: {run.ending}: {ENDINGS[run.ending].meaning}."
    elif unfinished is not None:
        # A complete run only leaves jobs behind that it did not wait for.
        words = f"STOPPED IN THE BACKGROUND: {', '.join(unfinished['jobs'])}; the other jobs ended."
    else:
        return
    screen.print(words, style="bold yellow", soft_wrap=True)
    if unfinished is None:
        return
    listed = unfinished["listed"][:ENDED_LISTED]
    for one in listed:
        who = f"rank {one['rank']}" if "rank" in one else f"node {one['node']}"
        call = f": {one['call']}" if "call" in one else ""
        screen.print(f"  {who} of job '{one['job']}' {one['activity']}{call}", soft_wrap=True, markup=False)
    if (more := unfinished["count"] - len(listed)) > 0:
        screen.print(f"  and {more:,} more")


ENDED_LISTED = 4
"""Unfinished ranks that the terminal lists; summary.json has more."""


def _heading(run: Run) -> str:
    summary = run.summary
    if not run.routed:
        priced = run.part("form")
        form = "" if priced is None else f"closed form {priced['form']}, "
        return f"{run.name}: {summary['engine']} engine, {form}no routing"
    return f"{run.name}: {summary['engine']} engine, {summary['routing']} routing, seed {summary['seed']}"


def _convergence(convergence: dict[str, Any]) -> str:
    if convergence.get("converged"):
        return f"converged after {counted(convergence['iterations'], 'iteration')}"
    return (
        f"NOT CONVERGED after {counted(convergence['iterations'], 'iteration')}, residual "
        f"{convergence['residual']:.3g}; the results below are inaccurate"
    )


def _simulated(run: Run, packet: Mapping[str, Any]) -> str:
    """Measurement, routing and ending of a packet simulation."""
    convergence = run.summary["convergence"]
    ended = "all measured packets were delivered" if run.ending == COMPLETE else run.ending.upper()
    used = ", ".join(map(str, packet["virtual_channels_used"])) or "none"
    steady = "steady" if convergence["converged"] else "NOT STEADY"
    minimal, other = packet["minimal_share"], packet["non_minimal_share"]
    paths = "" if minimal is None else f"{percent(minimal)} minimal, {percent(other)} non-minimal, "
    # Runs of earlier versions lack this share. The pods of a tree count as groups, but are on minimal paths.
    if has_groups(run.summary["machine"]) and (via_group := packet.get("intermediate_group_share")):
        paths += f"{percent(via_group)} via an intermediate group, "
    waiting = packet["crossbar_stall_mean_ns"]
    measured = quantity(packet["measured_ps"], "ps")
    packets = f"{counted(packet['packets'], 'packet')} measured in {measured}: "
    if not packet["packets"]:
        packets = f"no packet created in the measured {measured} was delivered; "
    stalled = packet["stall_share_mean"]
    return (
        f"{packets}{paths}virtual channels used: {used} of {packet['virtual_channels']}\n"
        + ("" if stalled is None else f"links out of credits {percent(stalled)} of the time")
        + ("" if waiting is None else f", mean crossbar stall {quantity(waiting, 'ns')} per packet")
        + ("" if stalled is None else "\n")
        + f"{ended} at {quantity(packet['end_ps'], 'ps')}"
        + (f", {steady}" if run.is_complete else "")
    )


def _cost(summary: dict[str, Any]) -> str:
    threads = summary["threads"]
    return (
        f"{terminal.seconds(summary['wall_s'])} on {counted(threads, 'thread')}, "
        f"peak memory {quantity(summary['peak_rss_bytes'], 'bytes')}"
    )


def _print_terms(screen: Console, run: Run, chosen: list[int]) -> None:
    """Prints the predictions of closed forms: job times, or cycles level by level."""
    priced = run.part("cycles")
    if priced is None:
        terminal.print_table(screen, _job_traffic_table(run, None, chosen), "Job traffic and predicted time")
        return
    scenarios = list(dict.fromkeys(name for job in priced["cycles"] for name in job["cycle_s"]))
    on = scale((seconds for job in priced["cycles"] for seconds in job["cycle_s"].values()), "s")
    shown = terminal.table(["job", "tasks x threads", *scenarios], left=["job"])
    for job in priced["cycles"]:
        times = (job["cycle_s"].get(name) for name in scenarios)
        tasks = f"{job['tasks_per_node']} x {job['threads']}"
        shown.add_row(job["name"], tasks, *(terminal.number(on.of(seconds)) for seconds in times))
    terminal.print_table(screen, shown, on.heading("Time per cycle"))
    for row in priced["cycles"]:
        _print_cycle(screen, run, row)


def _print_cycle(screen: Console, run: Run, job: dict[str, Any]) -> None:
    if not job["cycle_s"]:
        return
    scenario = next(iter(job["cycle_s"]))
    sums: dict[tuple[int, str], float] = {}
    terms: dict[str, float] = {}
    for row in run.table("cycle").to_pylist():
        if (row["job"], row["scenario"]) == (job["job"], scenario):
            key = (row["level"], row["term"])
            sums[key] = sums.get(key, 0.0) + row["term_time_s"]
            terms[row["term"]] = terms.get(row["term"], 0.0) + row["term_time_s"]
    charged = [term for term, seconds in terms.items() if seconds > 0]
    on = scale([sum(terms.values())], "s")
    shown = terminal.table(["level", *charged, "sum"])
    for level in sorted({level for level, _ in sums}):
        of_level = [sums[level, term] for term in charged]
        shown.add_row(str(level), *(terminal.number(on.of(s)) for s in [*of_level, sum(of_level)]))
    shown.add_section()
    of_all = [*(terms[term] for term in charged), sum(terms.values())]
    shown.add_row("all", *(terminal.number(on.of(s)) for s in of_all))
    terminal.print_table(screen, shown, on.heading(f"{job['name']}: {scenario}"))


def _bound(bound: dict[str, Any]) -> str:
    """How far the routing is from the best possible one."""
    time, lower, reached = (bound[f"link_time_max_{name}s"] for name in ("", "bound_", "reached_"))
    return (
        f"Busiest link: {quantity(time, 's')} at full bandwidth, at most {percent(time / lower - 1)} above "
        f"the optimum.\nNo routing can need less than {quantity(lower, 's')}; "
        f"the best one found needs {quantity(reached, 's')}."
    )


def _class_table(classes: list[dict[str, Any]], on: Scale) -> Table:
    statistics = {"mean": "mean", "median": "p50", "90 %": "p90", "99 %": "p99", "max": "max"}
    shown: dict[str, Any] = {"class": "{class}", "links": "{links:,}"}
    for heading, name in statistics.items():
        shown[heading] = lambda row, name=name: terminal.number(on.of(row[f"bytes_{name}"]))
    shown["idle"] = lambda row: f"{row['links'] - row['loaded_links']:,}"
    return terminal.listed(classes, shown, left=["class"])


def _job_table(run: Run, chosen: list[int]) -> Table:
    shown = {name: f"{{{name}}}" for name in ("job", "name", "pattern", "placement")}
    shown |= {name: f"{{{name}:,}}" for name in ("ranks", "nodes", "routers")}
    return terminal.listed(
        columns.rows_of(run.jobs, chosen).to_pylist(), shown, left=["name", "pattern", "placement"]
    )


def _job_traffic_table(run: Run, on: Scale | None, chosen: list[int]) -> Table:
    """Bytes, hops and engine results of each job, and its traffic per link.

    `on` is the scale of the links' traffic; None if it is not known.
    """
    jobs = columns.rows_of(run.jobs, chosen)
    off_router = [
        percent(network / sent) if sent else "-"
        for network, sent in zip(jobs["network_bytes"].to_pylist(), jobs["bytes"].to_pylist(), strict=True)
    ]
    shown = columns.of_table(jobs, ["bytes"] if run.routed else ["messages", "bytes"])
    shown.append(columns.ShownColumn("off router", off_router))
    shown += columns.of_table(jobs, ["byte_hops_mean", *columns.headlines(jobs)])
    if on is not None:
        everywhere = [run.summary["jobs"][job]["classes"][0] for job in chosen]
        for statistic in ("mean", "max"):
            cells = [terminal.number(on.of(row[f"bytes_{statistic}"])) for row in everywhere]
            shown.append(columns.ShownColumn(on.heading(f"link {statistic}"), cells))
    return columns.joined([columns.texts("job", jobs["name"].to_pylist()), *shown])


def hottest_table(hottest: list[dict[str, Any]]) -> Table:
    """The hottest links and their jobs."""
    traffic = scale((row["bytes"] for row in hottest), "bytes")
    times = scale((row["link_time_s"] for row in hottest), "s")
    shown: dict[str, Any] = {
        "link": "{name}",
        "class": "{class}",
        traffic.symbol: lambda row: terminal.number(traffic.of(row["bytes"])),
        times.heading("busy"): lambda row: terminal.number(times.of(row["link_time_s"])),
        "jobs": lambda row: _jobs_on_link(row["jobs"]),
    }
    return terminal.listed(hottest, shown, left=["link", "class"], wrap=["jobs"])


NAMED_SHARE = 0.01
"""Jobs with a smaller share of a link are summed up as "others"; a smaller limit makes longer lines."""


def _jobs_on_link(jobs: list[dict[str, Any]]) -> str:
    """Names and shares, largest first; small shares are summed."""
    named = [job for job in jobs if job["share"] >= NAMED_SHARE] or jobs[:1]
    parts = [f"{job['name']} {percent(job['share'])}" for job in named]
    others = jobs[len(named) :]
    if others:
        share = percent(sum(job["share"] for job in others))
        parts.append(f"{counted(len(others), 'other')} {share}")
    return ", ".join(parts)
