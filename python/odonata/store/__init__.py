"""Run directories: the only output of an engine, and the only input of analysis, plots and viewer."""

from odonata.store.reader import RunReader
from odonata.store.run import RunData
from odonata.store.writer import GrowingTables, RunWriter, check_target, is_run, write_run

__all__ = ["GrowingTables", "RunData", "RunReader", "RunWriter", "check_target", "is_run", "write_run"]
