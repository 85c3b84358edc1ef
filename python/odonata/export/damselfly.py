"""Link traffic in Damselfly's CSV format, for its viewers.

One row per directed physical link: `sg,sr,sc,dg,dr,dc,color,bytes[,job0,job1,...]`, with group, row and
column of source and destination router, and colour `g`, `k` or `b`. Traffic is in MiB although the column is
called bytes. Parallel links are rows with equal coordinates, so a reader numbers them in file order.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from odonata import files
from odonata.analysis.links import floats, job_bytes
from odonata.errors import OdonataError
from odonata.store.atomic import atomic_file

AXES = ["group", "row", "column"]
COLORS = {"green": "g", "black": "k", "blue": "b"}
MIB = 2.0**20

_COORDINATES = ("sg", "sr", "sc", "dg", "dr", "dc")


def export(links: pa.Table, link_jobs: pa.Table, jobs: pa.Table, path: Path) -> None:
    """Writes the links of a Cray machine; the format cannot represent other machines."""
    missing = [axis for axis in AXES if f"source_{axis}" not in links.column_names]
    if missing:
        raise OdonataError(
            f"the Damselfly format has only Cray's group, row and column; this machine has no {missing[0]}"
        )
    classes = links["class"].cast(pa.string())
    unknown = [name for name in classes.unique().to_pylist() if name not in COLORS]
    if unknown:
        raise OdonataError(f"the Damselfly format has only green, black and blue links, not {unknown[0]}")
    names = [f"{end}_{axis}" for end in ("source", "target") for axis in AXES]
    columns = {short: links[name] for short, name in zip(_COORDINATES, names, strict=True)}
    positions = pc.index_in(classes, pa.array(list(COLORS)))
    columns["color"] = pa.array(list(COLORS.values())).take(positions.combine_chunks())
    columns["bytes"] = pa.array(floats(links, "bytes") / MIB)
    for job in jobs["job"].to_pylist():
        columns[f"job{job}"] = pa.array(job_bytes(links, link_jobs, job) / MIB)
    options = pyarrow.csv.WriteOptions(quoting_style="none", quoting_header="none")
    with atomic_file(path) as unfinished:
        pyarrow.csv.write_csv(pa.table(columns), unfinished, options)


def read(path: Path) -> pa.Table:
    """Reads a file in this format.

    Returns:
        `source_group` ... `target_column`, `class`, `parallel`, `bytes`, and one column `bytes_<job>` per
        job, in bytes.

    Raises:
        OdonataError: The file has another format, or a value is not a number or a colour.
    """
    table = files.read_csv(path, "traffic of links as Damselfly writes it")
    expected = [*_COORDINATES, "color", "bytes"]
    if table.column_names[: len(expected)] != expected:
        raise OdonataError(f"{path} does not start with the columns {','.join(expected)}")
    amounts = table.column_names[len(expected) - 1 :]
    for name in [*_COORDINATES, *amounts]:
        kind = table[name].type
        numeric = pa.types.is_integer(kind) or (name in amounts and pa.types.is_floating(kind))
        if not numeric or table[name].null_count:
            raise OdonataError(f"{path}: column {name} has values that are not numbers")
    codes = pc.index_in(table["color"].cast(pa.string()), pa.array(list(COLORS.values())))
    if codes.null_count:
        line = int(np.flatnonzero(codes.is_null().to_numpy())[0]) + 2
        raise OdonataError(
            f"{path}, line {line}: unknown colour; expected one of {', '.join(COLORS.values())}"
        )
    columns = {
        f"{end}_{axis}": table[short].cast(pa.uint32())
        for short, (end, axis) in zip(
            _COORDINATES, [(end, axis) for end in ("source", "target") for axis in AXES], strict=True
        )
    }
    columns["class"] = pa.array(list(COLORS)).take(codes.combine_chunks())
    columns["parallel"] = _parallel(pa.table(columns))
    for name in amounts:
        columns["bytes" if name == "bytes" else f"bytes_{name}"] = pa.array(floats(table, name) * MIB)
    return pa.table(columns)


def _parallel(links: pa.Table) -> pa.Array:
    """Numbers the links with equal ends and class, in file order."""
    counted = links.to_pandas().groupby(list(links.column_names), sort=False).cumcount()
    return pa.array(counted.to_numpy(np.uint16))
