"""Platforms of SST: sets of parameters and classes with a name, often in a file of their own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from odonata.importers.merlin_values import Settings
from odonata.importers.sst_script import Script, ScriptObject, read

Sets = dict[str, dict[str, tuple[Any, int]]]


def platform(script: Script) -> dict[str, Settings]:
    """The parameter sets of the platform in use, by their name, with their classes as `class`."""
    definitions: dict[str, tuple[Path, ScriptObject]] = {}
    chosen = None
    files = [script]
    for name, arguments, line in script.calls:
        if name.endswith("loadPlatformFile") and arguments and isinstance(arguments[0], str):
            file = script.path.parent / f"{arguments[0]}.py"
            if file.is_file():
                files.append(read(file, lambda _script, _made: None))
            else:
                note = f"not read: the platform file {file.name} (line {line}) is not next to the script"
                script.notes += [] if note in script.notes else [note]
        elif name.endswith("setCurrentPlatform") and arguments:
            chosen = arguments[0]
    for each in files:
        for made in each.of(["PlatformDefinition"]):
            if made.args and isinstance(made.args[0], str):
                definitions[made.args[0]] = (each.path, made)
    if not isinstance(chosen, str) or chosen not in definitions:
        return {}
    path, made = definitions[chosen]
    sets = _sets(definitions, chosen, ())
    return {name: Settings(path, name, values, made.line) for name, values in sets.items()}


def _sets(definitions: Mapping[str, tuple[Path, ScriptObject]], name: str, above: tuple[str, ...]) -> Sets:
    """The sets of a definition, which replace values of the definitions in its list."""
    if name not in definitions or name in above:
        return {}
    made = definitions[name][1]
    found: Sets = {}
    parts = made.args[1] if len(made.args) > 1 and isinstance(made.args[1], list) else []
    for part in parts:
        if isinstance(part, tuple) and len(part) == 2 and isinstance(part[0], str):
            inherited = _sets(definitions, part[0], (*above, name))
            kept = part[1] if isinstance(part[1], list) else list(inherited)
            found |= {each: dict(inherited[each]) for each in kept if each in inherited}
    for method, arguments, line in made.calls:
        if method == "addParamSet" and len(arguments) == 2 and isinstance(arguments[1], dict):
            given = {str(key): (value, line) for key, value in arguments[1].items()}
            found.setdefault(str(arguments[0]), {}).update(given)
        elif method == "addClassType" and len(arguments) == 2:
            found.setdefault(str(arguments[0]), {})["class"] = (str(arguments[1]).rpartition(".")[2], line)
    return found
