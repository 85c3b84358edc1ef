"""Data of a finished run: its summary and tables, from a run directory or directly from an engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from odonata import files
from odonata.errors import DamagedRunError, NotARunError
from odonata.store import integrity, schema
from odonata.store.reader import RunReader
from odonata.store.writer import write_run

_Run = TypeVar("_Run", bound="RunData")


def with_edits(settings: Mapping[str, Any], *edits: str) -> dict[str, list[str]]:
    """Keys that give an experiment with these settings further edits of its machine."""
    return {"machine.edit": [*settings["machine"].get("edit", []), *edits]}


class RunData:
    """The result of one experiment, without the plots and the viewer of `odonata.Run`.

    Tables are `pyarrow.Table`s. Convert them without loss with `run.links.to_pandas()` or
    `polars.from_arrow(run.links)`. The reference of run directories describes their columns and units.

    Examples:
        >>> run = odonata.Run.from_directory("runs/packets")
        >>> run.part("end_ps")["end_ps"]
        25000000
        >>> tables = {name: run.table(name) for name in run.table_names}
        >>> odonata.Run.from_tables(
        ...     run.summary, tables, experiment=run.experiment, resolved=run.resolved
        ... ).path is None
        True
    """

    def __init__(
        self,
        summary: Mapping[str, Any],
        names: list[str],
        read_table: Callable[[str], pa.Table],
        read_text: Callable[[str], str],
        path: Path | None,
    ) -> None:
        self.summary: dict[str, Any] = dict(summary)
        """Content of `summary.json`."""
        self.path = path
        """The run directory; None if the run was not stored."""
        self.table_names = names
        """Names of all tables, including those that only this engine writes."""
        self._read_table = read_table
        self._read_text = read_text
        self._tables: dict[str, pa.Table] = {}

    @classmethod
    def from_directory(cls: type[_Run], directory: str | Path) -> _Run:
        """Opens a run directory; tables are read on first access."""
        reader = RunReader(Path(directory))
        return cls(reader.summary, reader.names, reader.table, reader.text, reader.directory)

    @classmethod
    def from_tables(
        cls: type[_Run],
        summary: Mapping[str, Any],
        tables: Mapping[str, pa.Table],
        *,
        experiment: str,
        resolved: str,
    ) -> _Run:
        """A run that exists only in memory."""
        texts = {schema.EXPERIMENT: experiment, schema.RESOLVED: resolved}
        return cls(summary, list(tables), tables.__getitem__, texts.__getitem__, None)

    def __repr__(self) -> str:
        machine = self.summary["machine"]["name"]
        where = "in memory" if self.path is None else str(self.path)
        jobs = ", ".join(job["name"] for job in self.summary["jobs"])
        partial = "" if self.partial is None else ", partial"
        return f"<odonata.Run of {jobs} on {machine}, {self.summary['engine']} engine, {where}{partial}>"

    @property
    def partial(self) -> str | None:
        """Where an interrupt stopped the run; None if nobody stopped it."""
        if self.ending != schema.INTERRUPTED:
            return None
        simulated = self.part("end_ps")
        return schema.INTERRUPTED + (
            f" at {simulated['end_ps'] / 1e6:,.1f} us of simulated time" if simulated else ""
        )

    @property
    def ending(self) -> str:
        """How the run ended: `complete`, or another word of `docs/reference/run-directory.md`.

        Examples:
            >>> odonata.Run.from_directory("runs/packets").ending
            'complete'
        """
        return schema.ending_of(self.summary)

    @property
    def is_complete(self) -> bool:
        """Whether the run has all results that it was to have."""
        return schema.ENDINGS[self.ending].complete

    @property
    def absent_jobs(self) -> list[dict[str, Any]]:
        """Jobs of the experiment that are not in the run, since nodes of theirs failed.

        Each has `name`, `ranks`, `nodes` (their number), `lost_nodes` (names) and `failed` (the routers and
        nodes whose failure takes them).
        """
        return list(self.summary.get("absent_jobs", []))

    @property
    def routed(self) -> bool:
        """Whether the run routed traffic, so that its links have loads."""
        return bool(self.summary["routing"] != schema.NOTHING_ROUTED)

    def part(self, key: str) -> Mapping[str, Any] | None:
        """The part of the summary with this key, whichever engine wrote it; None if there is none."""
        parts = (value for value in self.summary.values() if isinstance(value, Mapping))
        return next((part for part in parts if key in part), None)

    @property
    def name(self) -> str:
        """The directory's name, or `unsaved`."""
        return "unsaved" if self.path is None else self.path.name

    def table(self, name: str) -> pa.Table:
        """A table by name; `table_names` lists them."""
        if name not in self._tables:
            if name not in self.table_names:
                raise NotARunError(
                    f"{self!r} has no table {name}", hint=f"It has: {', '.join(self.table_names)}."
                )
            self._tables[name] = self._read_table(name)
        return self._tables[name]

    @property
    def links(self) -> pa.Table:
        """One row for each directed physical link, with its traffic."""
        return self.table("links")

    @property
    def link_jobs(self) -> pa.Table:
        """One row for each link and job with traffic."""
        return self.table("link_jobs")

    @property
    def routers(self) -> pa.Table:
        """One row for each router."""
        return self.table("routers")

    @property
    def nodes(self) -> pa.Table:
        """One row for each node, with the bytes through its NIC."""
        return self.table("nodes")

    @property
    def jobs(self) -> pa.Table:
        """One row for each job, with the engine's predictions."""
        return self.table("jobs")

    @property
    def placement(self) -> pa.Table:
        """One row for each rank of each job, with its node."""
        return self.table("placement")

    @property
    def communication(self) -> pa.Table:
        """One row for each job and cell of its matrix of ranks, with the bytes sent there."""
        return self.table("communication")

    @property
    def experiment(self) -> str:
        """The experiment file as written by the user."""
        return self._read_text(schema.EXPERIMENT)

    @property
    def resolved(self) -> str:
        """The experiment with every key and the value used."""
        return self._read_text(schema.RESOLVED)

    @property
    def settings(self) -> dict[str, Any]:
        """The content of `resolved`.

        Raises:
            DamagedRunError: It is not the text of an experiment with every key.
        """
        try:
            settings = files.parse_toml(self.resolved)
        except files.UnreadableError as error:
            raise DamagedRunError(f"{schema.RESOLVED} of {self.name} cannot be read: {error}") from None
        wrong = integrity.settings_problems(settings)
        if wrong:
            raise DamagedRunError(f"{schema.RESOLVED} of {self.name} lacks {', '.join(wrong)}")
        return settings

    def with_edits(self, *edits: str) -> dict[str, list[str]]:
        """Keys that give the experiment of this run further edits of its machine, such as `fail g0r1`.

        Examples:
            >>> run = odonata.load("runs/both")
            >>> failed = odonata.run(run.resolved, set=run.with_edits("fail g0r1>g0r2:local.0"))
            >>> failed.links.num_rows
            178
        """
        return with_edits(self.settings, *edits)

    def save(self: _Run, directory: str | Path, *, force: bool = False) -> _Run:
        """Writes the run to a directory, whole or not at all, and returns the stored run.

        Args:
            directory: Directory to create.
            force: Replace a run there; anything else is never replaced.

        Raises:
            StoreError: The directory exists and may not be replaced.
        """
        path = write_run(
            Path(directory),
            summary=self.summary,
            tables={name: self.table(name) for name in self.table_names},
            experiment=self.experiment,
            resolved=self.resolved,
            force=force,
        )
        return type(self).from_directory(path)
