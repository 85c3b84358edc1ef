"""The changes between two experiments, and experiments with some of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from odonata import toml

UNTIMED = ("format", "output")
"""Sections of an experiment that do not affect results."""
EDIT = "machine.edit"
"""Prefix of the name of an edit that only one machine has."""
TOGETHER = "everything that changed"


@dataclass(frozen=True)
class Change:
    """One change from the first to the second experiment."""

    name: str
    """The key as users write it; for an edit, the edit."""
    path: tuple[str, ...]
    """Path of the key, with jobs by name; for an edit, path of the list."""
    item: str | None = None
    """The edit as TOML."""

    @property
    def section(self) -> str:
        """Group of the change if there are too many for a cause each."""
        if self.item is not None:
            return EDIT
        return self.path[0] if self.path[0] in ("machine", "job") else "engine"


def changes(base: Mapping[str, Any], other: Mapping[str, Any]) -> list[Change]:
    """The changes from one resolved experiment to another, in the order of the file.

    In the machine, each edit and each bandwidth or latency of a class is a change. All other machine keys
    depend on each other, so they are one change, `machine`. Each field of a job is a change; so is each
    engine key if both use the same engine. A job that only one experiment has is one change.
    """
    before, after = _by_name(base), _by_name(other)
    found = list(_of_machine(before["machine"], after["machine"]))
    for name in _union(before["job"], after["job"]):
        if name in before["job"] and name in after["job"]:
            one, two = before["job"][name], after["job"][name]
            fields = (field for field in _union(one, two) if field != "color")
            found += [
                Change(f"job.{toml.key(name)}.{field}", ("job", name, field))
                for field in fields
                if one.get(field) != two.get(field)
            ]
        else:
            found.append(Change(f"job.{toml.key(name)}", ("job", name)))
    for part in _union(before, after):
        if part in ("machine", "job", *UNTIMED) or before.get(part) == after.get(part):
            continue
        one, two = before.get(part, {}), after.get(part, {})
        if part != "engine" or one["kind"] != two["kind"]:
            found.append(Change(part, (part,)))
            continue
        found += [
            Change(f"{part}.{key}", (part, key)) for key in _union(one, two) if one.get(key) != two.get(key)
        ]
    return found


def between(base: Mapping[str, Any], other: Mapping[str, Any], made: list[Change]) -> dict[str, Any]:
    """The first experiment with some of the changes to the second."""
    before, after = _by_name(base), _by_name(other)
    mixed = deepcopy(before)
    for change in made:
        if change.item is None:
            _take(mixed, after, change.path)
    names = {change.name for change in made if change.item is not None}
    edits = [
        item
        for name, item, in_base, in_other in _edits(before["machine"], after["machine"])
        if (in_base and in_other) or (in_other if name in names else in_base)
    ]
    mixed["machine"]["edit"] = edits
    order = [name for name in _union(after["job"], before["job"]) if name in mixed["job"]]
    return {**mixed, "job": [mixed["job"][name] for name in order]}


def _take(mixed: dict[str, Any], after: Mapping[str, Any], path: tuple[str, ...]) -> None:
    """Copies the value at a path from the second experiment, or removes it if the second has none."""
    if path == ("machine",):
        mixed["machine"] = {**deepcopy(after["machine"]), "edit": mixed["machine"].get("edit", [])}
        return
    *parents, last = path
    into, of = mixed, after
    for key in parents:
        into, of = into[key], of[key]
    if last in of:
        into[last] = deepcopy(of[last])
    else:
        into.pop(last, None)


def _by_name(experiment: Mapping[str, Any]) -> dict[str, Any]:
    return {**experiment, "job": {job["name"]: job for job in experiment["job"]}}


def _union(one: Mapping[str, Any], two: Mapping[str, Any]) -> list[str]:
    return list(dict.fromkeys([*one, *two]))


def _of_machine(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Change]:
    """Changes of class figures one by one, or of the machine as a whole; then edits."""
    figures = list(_figures(before, after))
    if _without(before, figures) != _without(after, figures):
        yield Change("machine", ("machine",))
    else:
        for path in figures:
            yield Change(".".join(path), path)
    for name, item, in_base, in_other in _edits(before, after):
        if in_base != in_other:
            yield Change(name, ("machine", "edit"), toml.value(item))


def _figures(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Paths of class bandwidths and latencies that differ."""
    one, two = before.get("class", {}), after.get("class", {})
    for name in one:
        for key in ("bandwidth", "latency"):
            if name in two and one[name].get(key) != two[name].get(key):
                yield "machine", "class", name, key


def _without(machine: Mapping[str, Any], paths: list[tuple[str, ...]]) -> dict[str, Any]:
    kept = {key: value for key, value in deepcopy(dict(machine)).items() if key != "edit"}
    for _, _, name, key in paths:
        kept["class"][name].pop(key, None)
    return kept


def _edits(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[tuple[str, Any, bool, bool]]:
    """The edits of both machines in one order: name, edit, and whether the first and second have it."""
    one, two = (list(machine.get("edit", [])) for machine in (before, after))
    texts = [[toml.value(item) for item in items] for items in (one, two)]
    seen: dict[str, int] = {}

    def named(item: Any, back: bool) -> str:
        text = item if isinstance(item, str) else toml.value(item)
        name = f"{EDIT} {text}" + (" removed" if back else "")
        seen[name] = seen.get(name, 0) + 1
        return name if seen[name] == 1 else f"{name} ({seen[name]})"

    for kind, a, b, c, d in SequenceMatcher(None, texts[0], texts[1], autojunk=False).get_opcodes():
        if kind == "equal":
            yield from ((named(item, False), item, True, True) for item in one[a:b])
        else:
            yield from ((named(item, True), item, True, False) for item in one[a:b])
            yield from ((named(item, False), item, False, True) for item in two[c:d])
