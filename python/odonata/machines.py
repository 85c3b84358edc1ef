"""Machines without a workload: build, measure and verify them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from odonata import _core, toml
from odonata._core import Experiment
from odonata.api import read
from odonata.errors import OdonataError, nearest
from odonata.lazy import LazyModule
from odonata.notebook import facts
from odonata.quantity import counted
from odonata.records import Preset

if TYPE_CHECKING:
    import pyarrow as pa
else:
    pa = LazyModule("pyarrow")


@dataclass(frozen=True, repr=False)
class Machine:
    """A built machine.

    Examples:
        >>> machine = odonata.machine("both.toml")
        >>> machine
        <odonata.Machine dragonfly-p2-a4-h2-g9, 36 routers, 72 nodes, 180 links>
        >>> machine.metrics["distances"]["diameter"]
        3
        >>> machine.links.select(["class", "capacity_bytes_per_s", "latency_ps"]).slice(0, 1).to_pylist()
        [{'class': 'local', 'capacity_bytes_per_s': 25000000000.0, 'latency_ps': 30000}]
    """

    metrics: dict[str, Any]
    """Counts per class, ports, diameter, mean distance, bisection, cost, warnings and checks."""
    routers: pa.Table
    """The table of a run directory."""
    links: pa.Table
    """The table of a run directory without traffic."""
    nodes: pa.Table
    """The table of a run directory without jobs and traffic."""
    resolved: str
    """The section `[machine]` with every key and the value in use."""

    def __repr__(self) -> str:
        tables = {"router": self.routers, "node": self.nodes, "link": self.links}
        sizes = ", ".join(counted(table.num_rows, what) for what, table in tables.items())
        return f"<odonata.Machine {self.metrics['machine']['name']}, {sizes}>"

    def _repr_html_(self) -> str:
        plain = {name: value for name, value in self.metrics.items() if isinstance(value, str | int | float)}
        distances = self.metrics["distances"]
        numbers = {name: value for name, value in distances.items() if isinstance(value, int | float)}
        return facts(f"Machine {self.metrics['machine']['name']}", [*plain.items(), *numbers.items()])


def machine(
    origin: str | Path | Mapping[str, Any],
    *,
    edit: Sequence[str] = (),
    price: Mapping[str, float] | None = None,
    set: Mapping[str, Any] | None = None,  # noqa: A002 - as on the command line
    threads: int | None = None,
) -> Machine:
    """Builds and measures a machine.

    Args:
        origin: The name of a preset or of a topology, an experiment file (`.toml`), a file that lists cables,
            or the keys of `[machine]` as a dict.
        edit: Edits of the cabling, such as `-K` or `fail 5% blue`; they replace the edits in the file.
        price: Price of a cable by link class, for the cost of the cabling.
        set: Other keys to change, such as `{"machine.class.blue.bandwidth": "4.7 GB/s"}`.
        threads: Number of threads; all processors by default.

    Returns:
        Counts and distances (in links), and tables with a row per router, directed link (bytes per second,
        picoseconds) and node.

    Raises:
        OdonataError: There is no such preset, topology or file.
        ExperimentError: The machine cannot be built; the error gives place and reason.

    Examples:
        >>> odonata.machine("dragonfly-1056").nodes.num_rows
        1056
        >>> odonata.machine({"topology": "torus", "dims": [4, 4]}).links.num_rows
        64
        >>> odonata.machine("both.toml", edit=["-25% local"], price={"global": 900}).metrics["cost"]["total"]
        32400.0
    """
    return build(read(origin_of(origin, edit, price or {}), set), threads)


def build(experiment: Experiment, threads: int | None = None) -> Machine:
    """The machine of an experiment."""
    from odonata.store import columns

    report = experiment.machine(threads or 0)
    tables = {
        name: columns.table(name, given, _axes(report["tables"]["links"]), partial=True)
        for name, given in report["tables"].items()
    }
    return Machine(report["metrics"], tables["routers"], tables["links"], tables["nodes"], report["resolved"])


def _axes(links: Mapping[str, Any]) -> list[str]:
    return [name.removeprefix("source_") for name in links if name.startswith("source_")]


def origin_of(
    origin: str | Path | Mapping[str, Any], edit: Sequence[str], price: Mapping[str, float]
) -> Experiment:
    """An experiment with only the machine that `origin` names, with edits and prices."""
    changes = [f"machine.edit={toml.value(list(edit))}"] if edit else []
    changes += [f"machine.class.{name}.price={toml.value(amount)}" for name, amount in price.items()]
    return _named(origin).with_overrides(changes)


def _named(origin: str | Path | Mapping[str, Any]) -> Experiment:
    if isinstance(origin, Mapping):
        return read({"machine": origin})
    names, families = [preset["name"] for preset in presets()], topologies()
    for key, known in (("preset", names), ("topology", families)):
        if str(origin) in known:
            return Experiment(f"[machine]\n{key} = {toml.value(str(origin))}\n", f"<{key}>")
    if not Path(origin).exists():
        others = f"Presets: {', '.join(names)}; topologies: {', '.join(families)}."
        raise OdonataError(
            f"unknown preset, topology or file {origin}",
            hint=nearest(str(origin), [*names, *families], others),
        )
    if Path(origin).suffix == ".toml":
        return read(Path(origin))
    return Experiment(f"[machine]\nfile = {toml.value(str(origin))}\n", "<cables>")


def topologies() -> list[str]:
    """Names of topologies; their parameters are keys in `set`."""
    rule = json.loads(_core.schema())["properties"]["machine"]["properties"]["topology"]
    names: list[str] = rule["enum"]
    return names


def presets() -> list[Preset]:
    """Lists the presets of machines.

    Returns:
        A dict for each: `name`, `summary`, `source`, `routers`, `nodes`, `usable_nodes`, and `links`, the
        number of directed links by class.

    Examples:
        >>> [(preset["name"], preset["nodes"]) for preset in odonata.presets() if preset["name"] == "edison"]
        [('edison', 5760)]
    """
    return _core.presets()
