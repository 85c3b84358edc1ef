"""Types of the dicts that functions return, for editors and type checkers."""

from __future__ import annotations

from typing import Any, TypedDict


class CheckResult(TypedDict):
    """A valid experiment: what `odonata.check` returns.

    Examples:
        >>> checked: odonata.CheckResult = odonata.check("both.toml")
        >>> sorted(checked)
        ['memory_estimate_bytes', 'resolved', 'summary', 'warnings']
    """

    resolved: str
    """TOML with every key and the value in use; as input it gives the same run."""
    summary: dict[str, Any]
    """`engine`, `routing`, `seed`, `machine` (as in summary.json), and `jobs`: for each `job`, `name`,
    `color`, `pattern`, `placement`, `ranks`, `ranks_per_node`, `nodes`, `routers`, `messages`, `bytes`."""
    warnings: list[str]
    """Texts."""
    memory_estimate_bytes: int
    """Estimated memory of a process that runs it, including the present memory of this process."""


class Preset(TypedDict):
    """A machine with a name: a row of `odonata.presets`.

    Examples:
        >>> preset: odonata.Preset = odonata.presets()[0]
        >>> sorted(preset)
        ['links', 'name', 'nodes', 'routers', 'source', 'summary', 'usable_nodes']
    """

    name: str
    """Value of `preset` in `[machine]`."""
    summary: str
    """The machine in a few words."""
    source: str
    """Where its sizes come from."""
    routers: int
    """Number of routers."""
    nodes: int
    """Number of nodes."""
    usable_nodes: int
    """Number of nodes that jobs can have."""
    links: dict[str, int]
    """Number of directed links by class."""


class Choice(TypedDict):
    """A name that a key takes: a row of `odonata.patterns`, `placements` and `rank_programs`.

    Examples:
        >>> choice: odonata.Choice = odonata.placements()[0]
        >>> sorted(choice)
        ['name', 'summary']
    """

    name: str
    """The name."""
    summary: str
    """Its meaning."""


class RoutingChoice(Choice):
    """A row of `odonata.routings`.

    Examples:
        >>> choice: odonata.RoutingChoice = odonata.routings()[0]
        >>> sorted(choice)
        ['name', 'of', 'summary']
    """

    of: str
    """The engines that have it."""
