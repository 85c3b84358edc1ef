"""Merges parallel cables of a run: a smaller page of a large machine.

A bundle has the routers and class of its links and the sum of their capacities. Measures are merged as
declared: bytes are summed, queue peaks take the maximum.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from odonata.analysis import class_statistics
from odonata.store.schema import Column, declarations
from odonata.viewer.runs import MemoryRun, OpenRuns, RunSource

CAPACITY = "capacity_bytes_per_s"

Numbers = npt.NDArray[np.int64]
Values = npt.NDArray[Any]


def bundle_count(run: RunSource) -> int:
    """Number of bundles of a run."""
    return int(_bundle_of_links(run).max(initial=-1)) + 1


def all_bundled(runs: OpenRuns) -> OpenRuns:
    """The runs with one row per bundle."""
    joined = [(label, bundled(run)) for label, run in zip(runs.labels, runs.runs, strict=True)]
    return OpenRuns(joined, runs.bad, runs.findings)


def bundled(run: RunSource) -> MemoryRun:
    """The run with one row per bundle, in the order of first links, and a warning about it."""
    bundle = _bundle_of_links(run)
    tables = {"links": _bundles(run.table("links"), bundle)}
    for name in run.names:
        columns = declarations(run.describe(name)[1])
        if name == "links":
            continue
        if "link" not in columns:
            tables[name] = run.table(name)
        # Attributes of links, such as learned Q-routing estimates, cannot be merged.
        elif all(column.merge == "key" or column.is_measure for column in columns.values()):
            tables[name] = _merged(_renumbered(run.table(name), "link", bundle))
    return MemoryRun(_summary(run.summary, tables["links"], len(bundle)), tables)


def _bundle_of_links(run: RunSource) -> Numbers:
    links = run.table("links", ["source", "target", "class"])
    code = links["class"].combine_chunks().dictionary_encode().indices
    ends = [links["source"].to_numpy(), links["target"].to_numpy(), code.to_numpy()]
    order = np.lexsort(ends)
    starts = _starts([column[order] for column in ends])
    # Stable order: the first link of a bundle comes first.
    number = np.empty(len(starts), np.int64)
    number[np.argsort(order[starts])] = np.arange(len(starts))
    bundle = np.empty(len(order), np.int64)
    bundle[order] = np.repeat(number, np.diff(np.append(starts, len(order))))
    return bundle


def _starts(columns: list[Values]) -> Numbers:
    """Row numbers at which sorted columns change."""
    differs = np.zeros(max(0, len(columns[0]) - 1), bool)
    for column in columns:
        differs |= column[1:] != column[:-1]
    return np.flatnonzero(np.append(np.ones(min(1, len(columns[0])), bool), differs))


def _renumbered(table: pa.Table, name: str, bundle: Numbers) -> pa.Table:
    """Replaces link numbers by bundle numbers if the table has the column."""
    at = table.schema.get_field_index(name)
    if at < 0:
        return table
    field = table.schema.field(at)
    return table.set_column(at, field, pa.array(bundle[table[name].to_numpy()]).cast(field.type))


def _bundles(links: pa.Table, bundle: Numbers) -> pa.Table:
    """The table `links` of bundles: attributes of the first link, summed capacities."""
    at = np.unique(bundle, return_index=True)[1]
    first = _renumbered(_renumbered(links.take(at), "link", bundle), "reverse", bundle)
    measures = [column.name for column in declarations(links.schema).values() if column.is_measure]
    numbered = pa.field("bundle", pa.uint32(), metadata={"merge": "key"})
    joined = _merged(links.select(measures).append_column(numbered, pa.array(bundle, pa.uint32())))
    for name in measures:
        place = first.schema.get_field_index(name)
        first = first.set_column(place, first.schema.field(place), joined[name])
    place = first.schema.get_field_index(CAPACITY)
    capacities = np.bincount(bundle, links[CAPACITY].to_numpy())
    return first.set_column(place, first.schema.field(place), pa.array(capacities))


def _merged(table: pa.Table) -> pa.Table:
    """Merges rows with equal keys; sorted by key."""
    columns = declarations(table.schema)
    keys = [table[column.name].to_numpy() for column in columns.values() if column.merge == "key"]
    order = np.lexsort(keys[::-1])
    starts = _starts([key[order] for key in keys])
    values = {name: table[name].to_numpy(zero_copy_only=False)[order] for name in columns}
    found = {
        name: values[name][starts] if column.merge == "key" else _merge_measure(column, values, starts)
        for name, column in columns.items()
    }
    return pa.table(
        [pa.array(found[name]).cast(table.schema.field(name).type) for name in columns], schema=table.schema
    )


def _merge_measure(column: Column, values: dict[str, Values], starts: Numbers) -> Values:
    """Merges a measure over the rows between starts."""
    mine = values[column.name]
    if len(starts) == 0:
        return mine
    if column.merge == "max":
        largest: Values = np.maximum.reduceat(mine, starts)
        return largest
    if column.merge == "last":
        last: Values = mine[np.append(starts[1:], len(mine)) - 1]
        return last
    if column.merge == "sum":
        total: Values = np.add.reduceat(mine, starts)
        return total
    weight = np.ones(len(mine)) if column.weight is None else values[column.weight].astype(np.float64)
    whole = np.add.reduceat(weight, starts)
    # Without any weight, use the unweighted mean.
    plain = np.add.reduceat(mine, starts) / np.add.reduceat(np.ones(len(mine)), starts)
    return np.where(whole > 0, np.add.reduceat(mine * weight, starts) / np.where(whole > 0, whole, 1), plain)


def _summary(summary: dict[str, Any], bundles: pa.Table, links: int) -> dict[str, Any]:
    warning = (
        f"parallel cables are merged: each link shown is one of {bundles.num_rows:,} bundles of"
        f" {links:,} links"
    )
    statistics = class_statistics(bundles).to_pylist() if summary["classes"] else []
    capacities = {row["class"]: row for row in summary["classes"]}
    return {
        **summary,
        "machine": {**summary["machine"], "links": bundles.num_rows},
        "classes": [{**capacities.get(row["class"], {}), **row} for row in statistics],
        "warnings": [*summary["warnings"], warning],
    }
