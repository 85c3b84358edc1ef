"""Types of the compiled module; the functions are defined in crates/py.

Every function that takes an experiment takes its text, the path that errors name and that relative file
names start from, and overrides `KEY=VALUE`. A mistake in them raises `odonata.errors.ExperimentError` with
every problem found; a defect of the program raises `odonata.errors.InternalError`.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypedDict

import numpy as np
import numpy.typing as npt

__all__ = ["check", "machine", "presets", "reference", "run", "schema", "sweep", "version"]

Array: TypeAlias = npt.NDArray[Any]

Column: TypeAlias = Array | tuple[npt.NDArray[np.int32], list[str]]
"""A NumPy array of u16, u32, u64, i32, f64 or bool; or, for text, codes and the texts that they index.

Wrap the latter with `pyarrow.DictionaryArray.from_arrays(codes, texts)`.
"""

Tables: TypeAlias = dict[str, dict[str, Column]]
"""Tables by name, in the order of the run directory's reference; columns by name, in order."""

class Checked(TypedDict):
    """An experiment that can be run."""

    resolved: str
    """TOML with every key and the value that is used: input that gives the same run."""
    summary: dict[str, Any]
    """`engine`, `routing`, `seed`, `machine` (as in summary.json), and `jobs`: for each `job`, `name`,
    `color`, `pattern`, `placement`, `ranks`, `ranks_per_node`, `nodes`, `routers`, `messages`, `bytes`."""
    warnings: list[str]

class RunResult(TypedDict):
    """A finished run."""

    tables: Tables
    summary: dict[str, Any]
    """What summary.json holds, every key of its reference included."""
    resolved: str

class SweepAxis(TypedDict):
    """One key of the table `[sweep]`."""

    key: str
    """Dotted path, as an override has it."""
    values: list[Any]
    """The values as Python objects, to show them."""
    overrides: list[str]
    """For each value the override `KEY=VALUE` that sets it."""

class MachineReport(TypedDict):
    """A built machine."""

    metrics: dict[str, Any]
    """Counts per class, ports, diameter, mean distance, bisection, cost, checks; the keys are those of the
    JSON that `odonata machine --json` prints."""
    tables: Tables
    """`routers`, `links` and `nodes` as in a run directory, without the columns that need traffic or jobs."""
    resolved: str
    """The section `[machine]` with every key and the value that is used."""

class Preset(TypedDict):
    """A machine that can be asked for by name."""

    name: str
    summary: str
    source: str
    routers: int
    nodes: int
    usable_nodes: int
    links: dict[str, int]

def check(text: str, path: str, overrides: Sequence[str] = ()) -> Checked: ...
def run(
    text: str,
    path: str,
    overrides: Sequence[str] = (),
    threads: int = 0,
    progress: Callable[[str, float], None] | None = None,
) -> RunResult:
    """Runs one experiment; a table `[sweep]` is checked and otherwise ignored.

    `threads` 0 means one for each processor. `progress` is called on the calling thread with the name of the
    phase and the share of it that is done, from 0 to 1. An exception that it raises, or Ctrl-C, ends the run.
    """

def sweep(text: str, path: str, overrides: Sequence[str] = ()) -> list[SweepAxis]:
    """The axes of `[sweep]`, in the file's order; empty without one. Keys and values are checked one by one."""

def machine(text: str, path: str, overrides: Sequence[str] = (), threads: int = 0) -> MachineReport:
    """Builds and measures the machine of `[machine]`; no other section is needed, and others are not looked at."""

def schema() -> str:
    """JSON Schema of the experiment file."""

def reference() -> str:
    """The reference page of the experiment file, as Markdown."""

def presets() -> list[Preset]: ...
def version() -> str: ...
