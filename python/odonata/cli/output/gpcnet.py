"""The tables of GPCNeT, as the benchmark prints them."""

from __future__ import annotations

import math

from odonata.gpcnet import TESTS, Result, Row, Value

_LEGEND = """  Legend
   RR = random ring communication pattern
   Lat = latency
   BW = bandwidth
   BW+Sync = bandwidth with barrier"""

_WIDTH = 78
_COLUMNS = (33, 14, 14, 14)
_FACTORS = (33, 22, 21)


def text(result: Result) -> str:
    """The output of version 1.3 of the benchmark."""
    ranks = (result.victim_nodes + result.congestor_nodes) * result.ranks_per_node
    least = result.congestor_nodes // len(result.congestors)
    parts = [
        "NetworkLoad Tests v1.3",
        f"  Test with {ranks} MPI ranks ({result.victim_nodes + result.congestor_nodes} nodes)",
        f"  {result.victim_nodes} nodes running Network Tests",
        f"  {result.congestor_nodes} nodes running Congestion Tests (min {least} nodes per congestor)",
        "",
        _LEGEND,
        "",
        _tests("Isolated Network Tests", [(row, row.isolated) for row in result.rows]),
    ]
    # Without any sample of the congested run, there is nothing to compare.
    congested = [(row, row.congested) for row in result.rows]
    if any(value is not None for _, value in congested):
        title = "Network Tests running with Congestion Tests"
        parts += ["", _tests(title, congested), "", _key_results(result)]
    if result.partial is not None:
        parts += ["", *_partial(result)]
    return "\n".join(parts)


def _partial(result: Result) -> list[str]:
    """What is missing: the ending, and the samples of each test."""
    lines = [f"PARTIAL: {result.partial}."]
    for row in result.rows:
        counts = {"isolated": row.isolated, "congested": row.congested}
        ended = [f"{name} {value.samples if value else 0:,}" for name, value in counts.items()]
        lines.append(f"  {row.test}: {', '.join(ended)} of {row.samples:,} samples")
    values = [(row, value) for row in result.rows for value in (row.isolated, row.congested)]
    if any(value is not None and not row.is_whole(value) for row, value in values):
        lines.append("  * of the samples that ended; the others took longer or did not start")
    return lines


def _line(widths: tuple[int, ...] = (_WIDTH,)) -> str:
    return "+" + "+".join("-" * width for width in widths) + "+"


def _tests(title: str, values: list[tuple[Row, Value | None]]) -> str:
    lines = [_line(), f"|{title:^{_WIDTH}}|", _line(_COLUMNS)]
    lines += [f"| {'Name':>31} | {'Avg':>12} | {'99%':>12} | {'Units':>12} |", _line(_COLUMNS)]
    for row, value in values:
        numbers = f"{'-':>12} | {'-':>12}"
        if value is not None:
            mark = "" if row.is_whole(value) else "*"
            average, percentile = (f"{x:.1f}{mark}" for x in (value.average, value.percentile_99))
            numbers = f"{average:>12} | {percentile:>12}"
        lines += [f"| {row.test:>31} | {numbers} | {row.unit:>12} |", _line(_COLUMNS)]
    return "\n".join(lines)


def _key_results(result: Result) -> str:
    title = "Network Tests running with Congestion Tests - Key Results"
    lines = [_line(), f"|{title:^{_WIDTH}}|", _line((33, 44))]
    lines += [f"| {'Name':>31} | {'Congestion Impact Factor':^42} |", _line(_FACTORS)]
    lines += [f"| {'':>31} | {'Avg':>20} | {'99%':>19} |", _line(_FACTORS)]
    for test, row in zip(TESTS, result.rows, strict=True):
        average, percentile = row.printed_factors(test.is_bandwidth)
        lines += [f"| {row.test:>31} | {_factor(average, 19)} | {_factor(percentile, 18)} |", _line(_FACTORS)]
    return "\n".join(lines)


def _factor(value: float, width: int) -> str:
    # Both values can be 0.0 in print, and a test may not have ended.
    return f"{'-':>{width + 1}}" if math.isnan(value) else f"{value:{width}.1f}X"
