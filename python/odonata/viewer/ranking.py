"""The settings of a sweep from best to worst, for the viewer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import pyarrow as pa

from odonata import _core
from odonata.analysis.ranking import job_values, loads_in, rank, text_of
from odonata.store.sweep import sets_load, short_keys, text

POINTS_MAX = 2_000


def ranking(
    places: Sequence[Mapping[str, Any] | None], jobs: Sequence[pa.Table], complete: Sequence[bool]
) -> dict[str, Any] | None:
    """The result of a sweep; None if the runs are not points of one, or their jobs have no times.

    Args:
        places: Values of the sweep's keys by run.
        jobs: The table `jobs` of each run.
        complete: Whether each run is complete; others have no figures.
    """
    if (
        not 2 <= len(places) <= POINTS_MAX
        or not all(places)
        or len({tuple(place or ()) for place in places}) > 1
    ):
        return None
    keys = list(places[0] or {})
    seeds = [
        short
        for key, short in zip(keys, short_keys(keys), strict=True)
        if key == "seed" or _core.is_seed(key)
    ]
    settings = [
        {short: text(value) for short, value in zip(short_keys(keys), (place or {}).values(), strict=True)}
        for place in places
    ]
    found = [job_values(table) if whole else None for table, whole in zip(jobs, complete, strict=True)]
    known = next((one for one in found if one is not None), None)
    if known is None:
        return None
    label, unit, _ = known
    loads = [
        short
        for key, short in zip(keys, short_keys(keys), strict=True)
        if sets_load(key) and len({setting[short] for setting in settings}) > 1
    ]
    at = loads_in(settings, loads)[-1]
    values = [one[2] if one else {} for one in found]
    ranked = rank(settings, values, seeds=seeds, at=at, label=label, unit=unit)
    if ranked is None:
        return None
    rows = [{**asdict(row), "text": text_of(row.setting)} for row in ranked.rows]
    return {
        "headline": ranked.headline,
        "label": ranked.label,
        "unit": ranked.unit,
        "jobs": list(ranked.jobs),
        "rows": rows,
    }
