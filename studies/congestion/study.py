"""Latencies of victims, impact factors and thresholds of congestion control."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.colors import LogNorm

from odonata.gpcnet import CONGESTORS, TESTS, Value, measure
from odonata.plot import style
from odonata.runs import Run
from odonata.studies import Results, Study
from odonata.studies.select import NoRowsError

RINGS = {"72": 1, "1056": 1, "hpe": 1}
"""Rings in the files of GPCNeT's tests."""

SHORT = ("latency", "bandwidth", "all-reduce")


def controls(_: Study) -> dict[str, dict[str, Any]]:
    """No control, and two of them with their defaults."""
    return {name: {"engine.control.name": name} for name in ("none", "pair", "window")}


def classes(_: Study) -> dict[str, dict[str, Any]]:
    """All jobs in one traffic class, and the victims in one of their own, which goes first."""
    return _classes("victim")


def gpcnet_classes(_: Study) -> dict[str, dict[str, Any]]:
    """The same for GPCNeT's tests."""
    return _classes("victims")


def _classes(job: str) -> dict[str, dict[str, Any]]:
    two = [{"name": "others"}, {"name": "victims", "priority": 1}]
    return {"one": {}, "own": {"traffic_class": two, f"job.{job}.traffic_class": "victims"}}


def hpe_controls(_: Study) -> dict[str, dict[str, Any]]:
    """Without control, and as the preset of the routers has it."""
    return {name: {"engine.control.name": name} for name in ("none", "pair")}


def thresholds(_: Study) -> dict[str, dict[str, Any]]:
    """`q_hi` with `q_lo` a quarter of it, and the first window; one of them at its default."""
    pairs = [(q_hi, 4) for q_hi in (4, 8, 16, 32, 64)] + [(8, first) for first in (1, 2, 8, 16)]
    return {
        f"{q_hi} KiB, {first} KiB": {
            "engine.control.q_hi": f"{q_hi} KiB",
            "engine.control.q_lo": f"{q_hi // 4} KiB",
            "engine.control.first_window": f"{first} KiB",
        }
        for q_hi, first in pairs
    }


def congestors(_: Study) -> dict[str, dict[str, Any]]:
    """The tests alone, and with each congestor."""
    kinds = {name: {"job.congestor.program.kind": name} for name in CONGESTORS}
    return {"alone": {"job.congestor.absent": True}} | kinds


def hpe_congestors(_: Study) -> dict[str, dict[str, Any]]:
    """The tests alone, and with all four congestors."""
    return {"alone": {f"job.{name}.absent": True for name in CONGESTORS}, "all": {}}


def victims(results: Results) -> pd.DataFrame:
    """Of each experiment with open traffic, routing and control: the victims alone and with the senders."""
    rows = []
    for experiment in ("incast", "inside"):
        runs = {
            (place["engine.routing"], place["control"], place.get("classes", "one"), place["alone"]): run
            for place, run in results.runs(experiment)
        }
        for (routing, control, classes, alone), run in runs.items():
            base = runs.get((routing, control, classes, "victim"))
            free = runs.get((routing, "none", "one", "together"))
            if alone != "together" or base is None or free is None:
                continue
            before, after = _p99_us(base), _p99_us(run)
            rows.append(
                {
                    "experiment": experiment,
                    "routing": routing,
                    "control": control,
                    "classes": classes,
                    "alone_us": before,
                    "p99_us": after,
                    "slowdown": after / before,
                    "throughput": _accepted(run) / _accepted(free),
                }
            )
    return pd.DataFrame(rows)


def sums(results: Results) -> pd.DataFrame:
    """Of each control: the time of the all-reduces alone and with the hot node."""
    times = {
        (place["engine.routing"], place["control"], place["alone"]): run.jobs["completion_time_s"][0].as_py()
        for place, run in results.runs("sums")
    }
    rows = []
    for (routing, control, alone), together in times.items():
        base = times.get((routing, control, "victim"))
        if alone == "together" and base is not None and together is not None:
            row = {"alone_ms": 1e3 * base, "together_ms": 1e3 * together, "slowdown": together / base}
            rows.append({"routing": routing, "control": control, **row})
    return pd.DataFrame(rows)


def swept(results: Results) -> pd.DataFrame:
    """Of each choice of thresholds: the victims with the hot node."""
    alone = {"engine.routing": "min", "control": "none", "classes": "one", "alone": "victim"}
    before = _p99_us(results.run("incast", alone))
    free = _accepted(results.run("incast", alone | {"alone": "together"}))
    rows = []
    for place, run in results.runs("thresholds"):
        q_hi, first = place["thresholds"].split(", ")
        after = _p99_us(run)
        row = {"p99_us": after, "slowdown": after / before, "throughput": _accepted(run) / free}
        rows.append({"q_hi": q_hi, "first_window": first, **row})
    return pd.DataFrame(rows)


def impact(results: Results) -> pd.DataFrame:
    """Of each machine, control, class, congestor and test: the impact factors."""
    runs: dict[tuple[str, str, str], dict[str, Run]] = {}
    for place, run in results.runs("gpcnet"):
        # The quick form has one file, and so no axis of files.
        case = (str(place.get("file", "72")), place["control"], place["classes"])
        runs.setdefault(case, {})[place["congestors"]] = run
    rows = []
    for (nodes, control, classes), own in runs.items():
        if "alone" not in own:
            continue
        base = _tests(own["alone"], RINGS[nodes])
        for congestor in (name for name in CONGESTORS if name in own):
            found = _tests(own[congestor], RINGS[nodes])
            rows += [
                {
                    "nodes": nodes,
                    "control": control,
                    "classes": classes,
                    "congestor": congestor,
                    "test": name,
                    **factors,
                }
                for name, factors in _factors(base, found).items()
            ]
    return pd.DataFrame(rows)


def validation(results: Results) -> pd.DataFrame:
    """Of each control and test on the machine of 64 nodes: values and impact factors."""
    runs = {(place["control"], place["congestors"]): run for place, run in results.runs("hpe")}
    rows = []
    for control in dict.fromkeys(control for control, _ in runs):
        base, found = (_tests(runs[control, load], RINGS["hpe"]) for load in ("alone", "all"))
        for name, factors in _factors(base, found).items():
            rows.append(
                {
                    "control": control,
                    "test": name,
                    "isolated_average": base[name].average,
                    "isolated_99": base[name].percentile_99,
                    "congested_average": found[name].average,
                    "congested_99": found[name].percentile_99,
                    **factors,
                }
            )
    return pd.DataFrame(rows)


def _tests(run: Run, rings: int) -> dict[str, Value]:
    return {name: measure(run, test, rings) for name, test in zip(SHORT, TESTS, strict=True)}


def _factors(base: Mapping[str, Value], found: Mapping[str, Value]) -> dict[str, dict[str, float]]:
    factors = {}
    for name, test in zip(SHORT, TESTS, strict=True):
        of = {}
        for statistic in ("average", "percentile_99"):
            alone, loaded = getattr(base[name], statistic), getattr(found[name], statistic)
            of[statistic] = alone / loaded if test.is_bandwidth else loaded / alone
        factors[name] = of | {"worst": max(of.values(), key=lambda factor: abs(np.log(factor)))}
    return factors


def _p99_us(run: Run) -> float:
    return float(run.jobs["latency_p99_ns"][0].as_py()) / 1e3


def _accepted(run: Run) -> float:
    """Accepted load of the senders."""
    return float(run.jobs["accepted_load"][1].as_py())


def impact_figure(results: Results) -> style.Picture:
    """Impact factors of the largest machine that has run: a panel for each control and use of classes."""
    table = results.frame("impact")
    if table.empty:
        raise NoRowsError("no run of GPCNeT's tests has ended")
    nodes = max(table["nodes"], key=int)
    table = table[table["nodes"] == nodes]
    controls = [name for name in ("none", "pair", "window") if name in set(table["control"])]
    rows = [name for name in ("one", "own") if name in set(table["classes"])]
    with style.figure_style():
        picture = style.new_picture(3.1 * len(controls) + 1, 1.9 * len(rows) + 0.8)
        panels = picture.subplots(len(rows), len(controls), squeeze=False)
    scale = LogNorm(1, max(10.0, float(table["percentile_99"].max())))
    for i, classes in enumerate(rows):
        for j, control in enumerate(controls):
            own = table[(table["control"] == control) & (table["classes"] == classes)]
            cells = own.pivot(index="test", columns="congestor", values="percentile_99").loc[
                list(SHORT), [name for name in CONGESTORS if name in set(own["congestor"])]
            ]
            _draw_factors(panels[i][j], cells, scale)
            panels[i][j].set_title(f"{control}, {'one class' if classes == 'one' else 'tests in a class'}")
            if j > 0:
                panels[i][j].set_yticklabels([])
            if i + 1 < len(rows):
                panels[i][j].set_xticklabels([])
    return picture


def _draw_factors(panel: Any, cells: pd.DataFrame, scale: LogNorm) -> None:
    """Tests (rows) and congestors (columns) as colours with their factors."""
    panel.imshow(np.maximum(cells, 1.0), norm=scale, cmap=style.SEQUENTIAL, aspect="auto")
    for i, row in enumerate(cells.to_numpy()):
        for j, value in enumerate(row):
            color = "white" if scale(max(value, 1.0)) > 0.6 else "#222222"
            text = f"{value:.2f}" if value < 10 else f"{value:.0f}"
            panel.text(j, i, text, ha="center", va="center", color=color, fontsize=9)
    panel.set_xticks(range(len(cells.columns)), cells.columns, rotation=20, ha="right")
    panel.set_yticks(range(len(cells)), cells.index)
    panel.tick_params(length=0)
