"""Damages a directory of a run, a sweep or a search: values, types, bytes and kinds of files."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    2**31,
    2**63,
    2**70,
    0.5,
    -1e308,
    "",
    "x",
    "../../outside",
    "[/x]\x1b[2J",
    "\ud800",
    [],
    [None],
    {},
    {"x": [1]},
    float("nan"),
    float("inf"),
)

TOML_VALUES = (
    "",
    "-1",
    "0",
    "9223372036854775808",
    "1e400",
    "nan",
    '"x"',
    "[]",
    "[[1]]",
    "{}",
    "true",
    "= =",
)


NUMBERS = (1, 2, 3, 2**32 - 1, 2**64 - 1, 5e-324, 1e308)
"""More values for columns."""


class WorkingCopy:
    """A copy of a directory that is damaged again and again, and made whole in between."""

    def __init__(self, source: Path, path: Path) -> None:
        self.source = source
        self.path = copy(source, path)
        self._states = _states(path)
        self._files = sorted(name for name, (mode, *_) in self._states.items() if stat.S_ISREG(mode))

    def files(self, *, point: str) -> list[Path]:
        """Its files, but of only one point."""
        return [
            self.path / name for name in self._files if not name.startswith("points/") or f"/{point}/" in name
        ]

    def damage(self, chance: random.Random) -> str:
        """Damages one file, and says which and how."""
        return _damage(self.path, self.path / chance.choice(self._files), chance)

    def restore(self) -> None:
        """Copies what has changed since the copy was whole, and removes what was added."""
        found = _states(self.path)
        for name, state in found.items():
            place = self.path / name
            if self._states.get(name) == state or not os.path.lexists(place):
                continue
            if stat.S_ISDIR(state[0]):
                shutil.rmtree(place)
            else:
                place.unlink()
        for name, (mode, *_) in self._states.items():
            place = self.path / name
            if os.path.lexists(place):
                continue
            if stat.S_ISDIR(mode):
                place.mkdir()
            else:
                shutil.copy2(self.source / name, place)
                self._states[name] = _state(place.lstat())


def _states(directory: Path) -> dict[str, tuple[int, ...]]:
    """The state of each path, which changes with its file; each directory comes before its content."""
    states = {}
    for parent, directories, files in os.walk(directory):
        for name in (*directories, *files):
            path = os.path.join(parent, name)  # noqa: PTH118 - pathlib takes ten times as long
            states[os.path.relpath(path, directory)] = _state(os.lstat(path))
    return states


def _state(found: os.stat_result) -> tuple[int, ...]:
    # A copied file has the time of its source, so that writing to it changes the time.
    times = () if stat.S_ISDIR(found.st_mode) else (found.st_size, found.st_mtime_ns, found.st_ino)
    return (found.st_mode, *times)


def _damage(directory: Path, path: Path, chance: random.Random) -> str:
    kinds = {".json": _json, ".toml": _toml, ".parquet": _parquet}
    forms = [kinds.get(path.suffix, _bytes)] * 3 + [_bytes, _kind]
    how = chance.choice(forms)(path, chance)
    return f"{path.relative_to(directory)}: {how}"


def _json(path: Path, chance: random.Random) -> str:
    content = json.loads(path.read_text())
    if chance.random() < 0.03:
        path.write_text("[" * 100_000)
        return "nested"
    parent, key = _place(content, chance)
    if parent is None:
        path.write_text(json.dumps(chance.choice(VALUES)))
        return "another value"
    if isinstance(parent, dict) and chance.random() < 0.25:
        del parent[key]
        how = f"without {key}"
    else:
        parent[key] = chance.choice(VALUES)
        how = f"{key} = {parent[key]!r}"
    path.write_text(json.dumps(content))
    return how


def _place(content: Any, chance: random.Random) -> tuple[Any, Any]:
    """A dictionary or list somewhere in a value, and a key of it."""
    places: list[tuple[Any, Any]] = []
    level = [content]
    while level:
        inside = []
        for value in level:
            pairs = value.items() if isinstance(value, dict) else enumerate(value)
            for key, one in pairs:
                places.append((value, key))
                if isinstance(one, dict | list):
                    inside.append(one)
        level = inside
    return chance.choice(places) if places else (None, None)


def _toml(path: Path, chance: random.Random) -> str:
    lines = path.read_text().split("\n")
    number = chance.randrange(len(lines))
    kind = chance.randrange(4)
    if kind == 0:
        del lines[number]
    elif kind == 1:
        lines.insert(number, chance.choice(lines))
    elif kind == 2:
        lines[number] = re.sub(r"=.*", lambda _: "= " + chance.choice(TOML_VALUES), lines[number])
    else:
        lines[number] = lines[number].replace(lines[number].partition(" ")[0] or "x", "other")
    path.write_text("\n".join(lines))
    return f"line {number + 1}, kind {kind}"


def _parquet(path: Path, chance: random.Random) -> str:
    table = pq.read_table(path, partitioning=None)
    if not table.num_columns:
        path.write_bytes(b"")
        return "emptied"
    index = chance.randrange(table.num_columns)
    name = table.column_names[index]
    kind = chance.choice(["drop", "rename", "cast", "null", "rows", "value", "repeat", "plain", "none"])
    if kind == "drop":
        table = table.remove_column(index)
    elif kind == "rename":
        table = table.rename_columns([*table.column_names[:index], "other", *table.column_names[index + 1 :]])
    elif kind == "cast":
        type_ = chance.choice([pa.string(), pa.float64(), pa.int8(), pa.bool_(), pa.list_(pa.int32())])
        table = table.set_column(index, name, pa.nulls(table.num_rows, type_))
    elif kind == "null":
        table = table.set_column(index, table.field(index), pa.nulls(table.num_rows, table.field(index).type))
    elif kind == "rows":
        table = table.slice(0, chance.randrange(table.num_rows + 1))
    elif kind == "repeat":
        table = pa.concat_tables([table, table])
    elif kind == "plain":
        table = table.replace_schema_metadata({"odonata": chance.choice(["", "{}", "[", "null"])})
    elif kind == "value":
        table = _with_value(table, index, chance)
    else:
        table = table.select([])
    pq.write_table(table, path)
    return f"{kind} of {name}"


def _with_value(table: pa.Table, index: int, chance: random.Random) -> pa.Table:
    field, values = table.field(index), table.column(index).to_pylist()
    if not values:
        return table
    row = chance.randrange(len(values))
    for value in chance.sample(VALUES, len(VALUES)):
        changed = [*values[:row], value, *values[row + 1 :]]
        try:
            return table.set_column(index, field, pa.array(changed, field.type))
        except (pa.ArrowException, OverflowError, TypeError, UnicodeEncodeError):
            continue
    return table


def every(path: Path) -> Iterator[tuple[str, Callable[[], object]]]:
    """All damage to values of a file: what it is, and what does it. Of a list, two elements are damaged."""
    content = json.loads(path.read_text()) if path.suffix == ".json" else None
    if content is not None:
        yield from _every_json(path, content)
    elif path.suffix == ".parquet":
        yield from _every_parquet(path, pq.read_table(path, partitioning=None))


def _every_json(path: Path, content: Any) -> Iterator[tuple[str, Callable[[], object]]]:
    for keys in _places(content):
        for value in VALUES:
            text = json.dumps(_changed(content, keys, value))
            yield f"{keys} = {value!r}", partial(path.write_text, text)
        yield f"without {keys}", partial(path.write_text, json.dumps(_changed(content, keys, _NOTHING)))


_NOTHING = object()


def _places(content: Any) -> Iterator[tuple[Any, ...]]:
    """The keys and numbers that lead to each value."""
    keys = content.keys() if isinstance(content, dict) else range(min(len(content), 2))
    for key in keys:
        yield (key,)
        if isinstance(content[key], dict | list):
            yield from ((key, *further) for further in _places(content[key]))


def _changed(content: Any, keys: tuple[Any, ...], value: object) -> Any:
    key, *further = keys
    changed = content.copy()
    if further:
        changed[key] = _changed(content[key], tuple(further), value)
    elif value is _NOTHING:
        del changed[key]
    else:
        changed[key] = value
    return changed


def _every_parquet(path: Path, table: pa.Table) -> Iterator[tuple[str, Callable[[], object]]]:
    for index, field in enumerate(table.schema):
        values, name = table.column(index).to_pylist(), field.name
        columns = {
            f"{name} cast to {type_}": pa.nulls(table.num_rows, type_)
            for type_ in (field.type, pa.string(), pa.float64(), pa.int8(), pa.bool_(), pa.list_(pa.int32()))
        }
        for value in (*VALUES, *NUMBERS) if values else ():
            for rows, changed in (("first", [value, *values[1:]]), ("every", [value] * len(values))):
                with suppress(pa.ArrowException, OverflowError, TypeError, ValueError):
                    columns[f"{rows} {name} = {value!r}"] = pa.array(changed, field.type)
        for how, column in columns.items():
            one = field if column.type == field.type else pa.field(name, column.type)
            yield how, partial(_write, path, table, index, one, column)
        yield f"without {name}", partial(pq.write_table, table.remove_column(index), path)


def _write(path: Path, table: pa.Table, index: int, field: pa.Field, column: pa.Array) -> None:
    pq.write_table(table.set_column(index, field, column), path)


def _bytes(path: Path, chance: random.Random) -> str:
    content = bytearray(path.read_bytes())
    kind = chance.randrange(4)
    if kind == 0:
        del content[chance.randrange(len(content) + 1) :]
    elif kind == 1:
        for _ in range(chance.randint(1, 8)):
            if content:
                content[chance.randrange(len(content))] = chance.randrange(256)
    elif kind == 2:
        place = chance.randrange(len(content) + 1)
        content[place:place] = bytes(chance.randrange(256) for _ in range(chance.randint(1, 40)))
    else:
        content.clear()
    path.write_bytes(content)
    return f"bytes, kind {kind}"


def _kind(path: Path, chance: random.Random) -> str:
    path.unlink()
    kind = chance.choice(["missing", "directory", "pipe", "cycle", "outside", "device"])
    if kind == "directory":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "cycle":
        path.symlink_to(path.name)
    elif kind == "outside":
        path.symlink_to("/etc/passwd")
    elif kind == "device":
        path.symlink_to("/dev/zero")
    return kind


def copy(source: Path, target: Path) -> Path:
    """A fresh copy of a directory, in place of an earlier damaged one."""
    shutil.rmtree(target, ignore_errors=True)
    return Path(shutil.copytree(source, target))
