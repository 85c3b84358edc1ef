"""The tables of GPCNeT, as the benchmark prints them."""

from __future__ import annotations

import math

from odonata.gpcnet import TESTS, Result, Value

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
        _tests("Isolated Network Tests", [row.isolated for row in result.rows]),
        "",
        _tests("Network Tests running with Congestion Tests", [row.congested for row in result.rows]),
        "",
        _key_results(result),
    ]
    return "\n".join(parts)


def _line(widths: tuple[int, ...] = (_WIDTH,)) -> str:
    return "+" + "+".join("-" * width for width in widths) + "+"


def _tests(title: str, values: list[Value]) -> str:
    lines = [_line(), f"|{title:^{_WIDTH}}|", _line(_COLUMNS)]
    lines += [f"| {'Name':>31} | {'Avg':>12} | {'99%':>12} | {'Units':>12} |", _line(_COLUMNS)]
    for test, value in zip(TESTS, values, strict=True):
        numbers = f"{value.average:12.1f} | {value.percentile_99:12.1f}"
        lines += [f"| {test.title:>31} | {numbers} | {test.unit:>12} |", _line(_COLUMNS)]
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
    # Both values can be 0.0 in print.
    return f"{'-':>{width + 1}}" if math.isnan(value) else f"{value:{width}.1f}X"
