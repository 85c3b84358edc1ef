"""The report of a search: the best combinations, the trials over the objectives, and the front as a table."""

from __future__ import annotations

from typing import Any

from odonata import files
from odonata.optimization import Optimization
from odonata.report.content import (
    Report,
    Table,
    changed,
    drawn,
    first_rows,
    machine_and_engine,
    reservations,
    shown,
)
from odonata.runs import Run
from odonata.store.optimization import read_description, read_search_axes, trial_points
from odonata.store.schema import EXPERIMENT, declarations
from odonata.store.sweep import point_directory, short_keys
from odonata.store.writer import is_run


def report_of_search(found: Optimization) -> Report:
    """A search as a report."""
    makers = [("All combinations by the objectives; the line is the front", found.plot)]
    best = _best_runs(found)
    if best:
        makers += [
            ("Best combination: all links, most loaded first, by job", best[0].plot.links),
            ("Best combination: traffic between groups, mean per link", best[0].plot.groups),
            ("Best combination: mean and maximum traffic of each job and class", best[0].plot.jobs),
        ]
    experiment = found.path / EXPERIMENT
    return Report(
        name=found.path.resolve().name,
        headline=" ".join(_sentences(found)),
        figures=drawn(makers),
        tables=(_table(found),),
        method=tuple(_method(found, best)),
        experiment=files.read_utf8(experiment) if experiment.is_file() else "",
    )


def _keys(found: Optimization) -> dict[str, str]:
    """The searched keys that differ between trials, with their short names."""
    known = declarations(found.trials.schema)
    keys = [
        name
        for name in found.trials.column_names
        if name != "reason" and known[name].type == "str" and len(found.trials[name].unique()) > 1
    ]
    return dict(zip(keys, short_keys(keys), strict=True))


def _sentences(found: Optimization) -> list[str]:
    """The best combination for each objective, compared with the file's own values."""
    front = found.front.to_pylist()
    if not front:
        return ["No combination has a result that meets the constraints."]
    known, keys = declarations(found.trials.schema), _keys(found)
    own = found.trials.slice(0, 1).to_pylist()[0]
    said = []
    for objective in found.objectives:
        best = min(front, key=lambda row: float(row[objective]))
        setting = ", ".join(f"{short}={best[key]}" for key, short in keys.items())
        if best["trial"] == own["trial"]:
            against = ", the first values of the file"
        else:
            change = changed(own[objective], best[objective])
            against = "" if change == "–" else f", {change} from the first values of the file"
        value = shown(best[objective], known[objective].unit)
        said.append(f"Best {known[objective].label.lower()}: {value} with {setting}{against}.")
    return said


def _table(found: Optimization) -> Table:
    """The front, and the file's own values first if they are not on it."""
    rows: list[dict[str, Any]] = found.front.to_pylist()
    own = found.trials.slice(0, 1).to_pylist()
    if not any(row["trial"] == own[0]["trial"] for row in rows if own):
        rows = [*own, *rows]
    known, keys = declarations(found.trials.schema), _keys(found)
    figures = [name for name, column in known.items() if column.type == "f64"]
    texts = [
        [
            f"{row['trial']}",
            *(row[key] for key in keys),
            *(shown(row[name], known[name].unit) for name in figures),
            "on the front" if row["front"] else "the first values of the file",
        ]
        for row in rows
    ]
    title = "Pareto front" if len(found.objectives) > 1 else "Best combination"
    heads = ["trial", *keys.values(), *(known[name].label for name in figures), "place"]
    return first_rows(title, heads, texts)


def _best_runs(found: Optimization) -> list[Run]:
    """The complete runs of the best combination, one for each seed."""
    if found.best is None:
        return []
    points = trial_points(read_search_axes(found.path), found.best)
    places = [point_directory(found.path, point) for point in points]
    runs = [Run.from_directory(place) for place in places if is_run(place)]
    return [run for run in runs if run.is_complete]


def _method(found: Optimization, best: list[Run]) -> list[str]:
    trials, description = found.trials, read_description(found.path)
    stopped = trials["reason"].is_valid().to_pylist().count(True)
    beyond = trials["allowed"].to_pylist().count(False) - stopped
    limits = description.get("constraints") or {}
    said = [f"{name} at most {value:g}" for name, value in limits.items() if isinstance(value, int | float)]
    sampler, seed = (description.get(key, "unknown") for key in ("sampler", "seed"))
    tried = (
        f"Search with sampler {sampler}, seed {seed}: {trials.num_rows:,} combinations tried, "
        f"{found.front.num_rows:,} on the front, {beyond:,} violate a constraint, {stopped:,} without a "
        "result. Values are means over seeds."
    )
    return [
        tried,
        *([f"Constraints: {', '.join(said)}."] if said else []),
        *(machine_and_engine(best) if best else []),
        *(reservations(best) if best else []),
        f"Odonata {description.get('odonata_version', 'of an unknown version')}.",
    ]
