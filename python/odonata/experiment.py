"""Experiments written in Python, with the types of all keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from odonata import toml
from odonata.sections import (
    Cluster,
    Engine,
    Interference,
    Job,
    Machine,
    Mpi,
    Optimize,
    Output,
    TrafficClass,
)


class Experiment(dict[str, Any]):
    """An experiment as a dict of sections, which `run`, `check`, `sweep` and `optimize` take.

    Editors complete its keys and show what they mean: `odonata.sections` has their types. An experiment is
    checked as a file is, when it is used.

    Examples:
        >>> experiment = odonata.Experiment(
        ...     machine={"topology": "dragonfly", "p": 2, "a": 4, "h": 2, "g": 9},
        ...     jobs=[{"name": "fft", "pattern": "all-to-all", "ranks": 32, "ranks_per_node": 1}],
        ...     engine={"routing": "adaptive-hybrid"},
        ... )
        >>> odonata.run(experiment)
        <odonata.Run of fft on dragonfly-p2-a4-h2-g9, flow engine, in memory>
        >>> print(experiment.toml)
        [machine]
        topology = "dragonfly"
        p = 2
        a = 4
        h = 2
        g = 9
        <BLANKLINE>
        [[job]]
        name = "fft"
        pattern = "all-to-all"
        ranks = 32
        ranks_per_node = 1
        <BLANKLINE>
        [engine]
        routing = "adaptive-hybrid"
        <BLANKLINE>
        >>> odonata.run(experiment.save("fft.toml")).jobs["name"].to_pylist()
        ['fft']
    """

    def __init__(
        self,
        *,
        machine: Machine,
        jobs: Sequence[Job] = (),
        traffic_classes: Sequence[TrafficClass] = (),
        mpi: Mpi | None = None,
        engine: Engine | None = None,
        output: Output | None = None,
        interference: Interference | None = None,
        optimize: Optimize | None = None,
        cluster: Cluster | None = None,
        sweep: Mapping[str, Any] | None = None,
    ) -> None:
        """An experiment of the given sections.

        Args:
            machine: The hardware: a preset, a family with its parameters, or a file.
            jobs: A table `[[job]]` each.
            traffic_classes: A table `[[traffic_class]]` each.
            mpi: Costs of messages of programs, and algorithms of collectives.
            engine: The engine and its settings.
            output: Tables to record.
            interference: Jobs whose slowdown a sweep measures.
            optimize: Objectives and constraints of a search.
            cluster: Resources of a sweep on a batch system.
            sweep: Keys by their dotted path, each with a list of values.
        """
        given = {
            "machine": machine,
            "job": list(jobs),
            "traffic_class": list(traffic_classes),
            "mpi": mpi,
            "engine": engine,
            "output": output,
            "interference": interference,
            "optimize": optimize,
            "cluster": cluster,
            "sweep": sweep,
        }
        super().__init__({name: section for name, section in given.items() if section})

    def __repr__(self) -> str:
        jobs = ", ".join(str(job.get("name", "?")) for job in self.get("job", []))
        hardware = self.get("machine", {})
        names = (hardware[key] for key in ("preset", "topology", "file") if key in hardware)
        return f"<odonata.Experiment of {jobs or 'no job'} on {next(names, 'no machine')}>"

    @property
    def toml(self) -> str:
        """The experiment as the text of a file."""
        return toml.sections(self)

    def save(self, path: str | Path) -> Path:
        """Writes the experiment as a file for the command line, and returns its path."""
        path = Path(path)
        path.write_text(self.toml, encoding="utf-8")
        return path
