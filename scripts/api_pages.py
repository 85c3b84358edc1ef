"""The pages on the Python package for the site: one for each class and module, one for functions."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any

INDEX = "api.md"
MODULES = (
    "odonata.errors",
    "odonata.importers",
    "odonata.prices",
    "odonata.drafts",
    "odonata.mapping",
    "odonata.counters",
    "odonata.programs",
    "odonata.amg",
    "odonata.analysis",
    "odonata.plot",
    "odonata.studies",
)
RETURNED = {
    "Explanation": "odonata.explanation.answer",
    "Difference": "odonata.explanation.against",
    "RunPlots": "odonata.plot.run_plots",
}
"""Classes that users get from functions and attributes, and need not import."""
FUNCTIONS, RECORDS, EXCEPTIONS = "Functions", "Dicts", "odonata.errors"


@cache
def pages() -> dict[str, str]:
    """Text of each page by its name in the site, the list of all first."""
    groups = {name: dict(sorted(members)) for name, members in _groups().items()}
    text = {f"api/{name}.md": _page(name, members) for name, members in groups.items()}
    text |= {f"api/{module}.md": f"# {module}\n\n::: {module}\n{_options(root=False)}" for module in MODULES}
    return {INDEX: _index(groups), **text}


def nav() -> list[str | dict[str, Any]]:
    """The entries of the pages in the side bar."""
    return [INDEX, *(name for name in pages() if name != INDEX)]


def _groups() -> dict[str, list[tuple[str, str]]]:
    """Names with the modules that define them, by page."""
    import odonata

    homes: Mapping[str, str] = odonata._HOMES
    groups: dict[str, list[tuple[str, str]]] = {FUNCTIONS: []}
    records = []
    for name, home in sorted(homes.items()):
        value = getattr(odonata, name)
        if not inspect.isclass(value):
            groups[FUNCTIONS].append((name, home))
        elif home == "odonata.records":
            records.append((name, home))
        else:
            groups[name] = [(name, home)]
    return {**groups, **{name: [(name, home)] for name, home in RETURNED.items()}, RECORDS: records}


def _page(title: str, members: Mapping[str, str]) -> str:
    parts = [f"# {title if len(members) > 1 else _typed(title)}"]
    for name, home in members.items():
        heading = _typed(name) if len(members) > 1 else ""
        parts.append(f"::: {home}.{name}\n{_options(root=bool(heading), heading=heading)}")
    return "\n\n".join(parts)


def _typed(name: str) -> str:
    """A name as one types it."""
    return name if name in RETURNED else f"odonata.{name}"


def _options(*, root: bool, heading: str = "") -> str:
    lines = ["    options:", f"      show_root_heading: {str(root).lower()}", "      heading_level: 2"]
    lines += [f"      heading: {heading}"] if heading else []
    return "\n".join([*lines, ""])


def _index(groups: Mapping[str, Mapping[str, str]]) -> str:
    lines = [
        "# The Python package",
        "",
        "What the command line does, from Python. Everything is imported when it is first used.",
        "Examples run in a directory with [these files](api-examples.md), after `import odonata`.",
        "",
        "| name | |",
        "|---|---|",
        *_rows(groups),
        "",
        "`odonata.sections` has the types of all [keys](reference/experiment-file.md), for editors.",
        "",
        "| module | |",
        "|---|---|",
        *(f"| [`{module}`](api/{module}.md) | {_summary(import_module(module))} |" for module in MODULES),
    ]
    return "\n".join([*lines, ""])


def _rows(groups: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    for page, members in groups.items():
        for name, home in members.items():
            anchor = f"#{home}.{name}" if len(members) > 1 else ""
            value = getattr(import_module(home), name)
            yield f"| [`{_typed(name)}`](api/{page}.md{anchor}) | {_summary(value)} |"


def _summary(value: Any) -> str:
    return (inspect.getdoc(value) or "").split("\n\n")[0].replace("\n", " ").replace("|", "\\|")
