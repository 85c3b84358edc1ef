"""Comparison of two runs: statistics per class and job, and pairs of links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from odonata.analysis.links import link_names
from odonata.store.arrays import table_of

STATISTICS = ("bytes_mean", "bytes_p99", "bytes_max")


@dataclass(frozen=True)
class LinkPairs:
    """The links of two runs, paired by name.

    Machines with different cabling can be compared. Links that only one run has are listed apart.

    Examples:
        >>> links = odonata.compare("runs/both", "runs/fewer").links
        >>> links.pairs.num_rows
        152
    """

    pairs: pa.Table
    """`name`, `class`, `link_base`, `link_other`, `bytes_base`, `bytes_other`, `difference` (other - base),
    in the order of the base's links."""

    only_base: pa.Table
    """`name`, `class`, `link`, `bytes` of links that only the base has."""

    only_other: pa.Table
    """The same columns for links that only the other run has."""


def pair_links(
    base_links: pa.Table, base_routers: pa.Table, other_links: pa.Table, other_routers: pa.Table
) -> LinkPairs:
    """Pairs the links of two runs by name.

    Args:
        base_links: The links of the base run.
        base_routers: Its routers.
        other_links: The links of the other run.
        other_routers: Its routers.

    Examples:
        >>> both, fewer = odonata.load("runs/both"), odonata.load("runs/fewer")
        >>> links = odonata.analysis.pair_links(both.links, both.routers, fewer.links, fewer.routers)
        >>> links.pairs.column_names
        ['name', 'class', 'link_base', 'link_other', 'bytes_base', 'bytes_other', 'difference']
    """
    # Without `Table.join`, whose module imports pandas.
    base, other = _named(base_links, base_routers), _named(other_links, other_routers)
    place = pc.index_in(base["name"], other["name"].combine_chunks())
    of_base, of_other = base.filter(place.is_valid()), other.take(place.drop_null())
    pairs = {
        "name": of_base["name"],
        "class": of_base["class"],
        "link_base": of_base["link"],
        "link_other": of_other["link"],
        "bytes_base": of_base["bytes"],
        "bytes_other": of_other["bytes"],
        "difference": pc.subtract(of_other["bytes"], of_base["bytes"]),
    }
    return LinkPairs(
        pa.table(pairs).sort_by("link_base"),
        base.filter(place.is_null()),
        other.filter(pc.invert(pc.is_in(other["name"], base["name"].combine_chunks()))),
    )


def _named(links: pa.Table, routers: pa.Table) -> pa.Table:
    return pa.table(
        {
            "name": link_names(links, routers),
            "class": links["class"].cast(pa.string()),
            "link": links["link"],
            "bytes": links["bytes"],
        }
    )


def statistics_changes(base: pa.Table, other: pa.Table, keys: Sequence[str]) -> pa.Table:
    """The changes of class statistics from one run to another.

    Args:
        base: From `class_statistics` or `job_class_statistics`.
        other: The same table of the other run.
        keys: Columns that identify a row: `class`, or `name` and `class`.

    Returns:
        The keys, and `<statistic>_base`, `<statistic>_other`, `<statistic>_change` for each of `STATISTICS`.
        The change is relative, (other - base) / base, and null if the base is zero. Rows of the base come
        first, then rows that only the other run has. Values that a run lacks are null.

    Examples:
        >>> links = [odonata.load(path).links for path in ("runs/both", "runs/fewer")]
        >>> base, other = map(odonata.analysis.class_statistics, links)
        >>> for row in odonata.analysis.statistics_changes(base, other, ["class"]).to_pylist():
        ...     print(row["class"], f"{100 * row['bytes_mean_change']:+.1f} %")
        all +28.4 %
        local +55.1 %
        global -1.3 %
    """
    columns = [*keys, *STATISTICS]
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    for side, table in (("base", base), ("other", other)):
        for row in table.select(columns).to_pylist():
            changes = rows.setdefault(tuple(row[key] for key in keys), {key: row[key] for key in keys})
            changes |= {f"{name}_{side}": row[name] for name in STATISTICS}
    fields = [(key, base.schema.field(key).type) for key in keys]
    for name in STATISTICS:
        for row in rows.values():
            before, after = row.get(f"{name}_base"), row.get(f"{name}_other")
            row[f"{name}_change"] = (after - before) / before if before and after is not None else None
        fields += [(f"{name}_{column}", pa.float64()) for column in ("base", "other", "change")]
    return table_of(list(rows.values()), pa.schema(fields))
