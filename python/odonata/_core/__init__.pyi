"""Types of the compiled module; the functions are defined in crates/py.

A mistake in an experiment raises `odonata.errors.ExperimentError` with every problem found; a defect of the
program raises `odonata.errors.InternalError`.
"""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, Protocol, TypeAlias, TypedDict, final, overload, type_check_only

import numpy as np
import numpy.typing as npt

from odonata._core import amg
from odonata.records import CheckResult, Preset

__all__ = [
    "EXPERIMENT_BYTES_MAX",
    "Checkpoints",
    "Experiment",
    "TraceRecords",
    "amg",
    "available_memory",
    "bisected_mapping",
    "checkpoint",
    "class_statistics",
    "convert_trace",
    "host_names",
    "improved_mapping",
    "is_seed",
    "machine_format",
    "machine_formats",
    "nearest_name",
    "peak_rss_bytes",
    "presets",
    "product_seconds",
    "program_mistake",
    "read_experiment",
    "read_file",
    "reference",
    "schema",
    "tables",
    "tables_reference",
    "time_ps",
    "trace",
    "trace_formats",
    "version",
]

EXPERIMENT_BYTES_MAX: int
"""Maximum size of an experiment in bytes."""

_Array: TypeAlias = npt.NDArray[Any]

_Column: TypeAlias = _Array | tuple[npt.NDArray[np.int32], list[str] | _Array]
"""A NumPy array of u16, u32, u64, i32, f64 or bool, with NaN for a missing value.

A column of text is a pair of codes and the texts that they index. A column of lists is a pair of offsets and
values. Wrap pairs with `pyarrow.DictionaryArray.from_arrays` and `pyarrow.ListArray.from_arrays`.
"""

_Tables: TypeAlias = dict[str, dict[str, _Column]]
"""Tables by name, in the order of the run directory's reference; columns by name, in order."""

@type_check_only
class RunResult(TypedDict):
    """A finished run."""

    tables: _Tables
    summary: dict[str, Any]
    """What summary.json holds, every key of its reference included."""
    resolved: str
    interrupt: BaseException | None
    """The `KeyboardInterrupt` or `SystemExit` that came while the engine worked. If it stopped a run that
    keeps what it has so far, the summary says `"complete": false`."""

@type_check_only
class SweepAxis(TypedDict):
    """One key of the table `[sweep]`, or a name for keys that change together."""

    key: str
    """Dotted path, as an override has it, or the name."""
    values: list[Any]
    """The values as Python objects, to show them."""
    overrides: list[list[str]]
    """For each value the overrides `KEY=VALUE` that set it."""

@type_check_only
class Character(TypedDict):
    """What all ranks of a job send."""

    job: str
    pattern: str
    """Its program or its pattern."""
    ranks: int
    messages: int
    zero_byte_messages: int
    packets: int | None
    payload_bytes: int
    wire_bytes: int
    peak_ingress_bytes: int
    compute_s: float

@type_check_only
class MappedJob(TypedDict):
    """A job on a torus. Places: nodes in row-major order, `ranks_per_node` on each."""

    name: str
    axes: str
    sizes: tuple[int, ...]
    wraps: tuple[bool, ...]
    ranks_per_node: int
    first_fastest: bool
    sources: npt.NDArray[np.uint32]
    """With `targets` and `bytes` every pair of ranks that sends, by source and target."""
    targets: npt.NDArray[np.uint32]
    bytes: npt.NDArray[np.uint64]
    place_of_rank: npt.NDArray[np.uint32]

@type_check_only
class MappingProblem(TypedDict):
    """A torus, and who exchanges how much with whom, both directions added."""

    sizes: list[int]
    wraps: list[bool]
    ranks_per_node: int
    starts: npt.NDArray[np.uint64]
    """Where the partners of each rank begin, and where the last ones end."""
    partners: npt.NDArray[np.uint32]
    bytes: npt.NDArray[np.uint64]

@type_check_only
class MachineReport(TypedDict):
    """A built machine."""

    metrics: dict[str, Any]
    """Counts per class, ports, diameter, mean distance, bisection, cost, checks, with the keys of
    `odonata machine --json`."""
    tables: _Tables
    """`routers`, `links` and `nodes` as in a run directory, without the columns that need traffic or jobs."""
    resolved: str
    """The section `[machine]` with every key and the value that is used."""

def available_memory() -> tuple[int, str] | None:
    """The memory, in bytes, that this process may still take, and of which limit that is left.

    The least of what the system, its control groups (version 1 or 2, those above included) and its own limits
    (RLIMIT_AS, RLIMIT_DATA) leave; None where the system does not say.
    """

def peak_rss_bytes() -> int:
    """Peak memory of this process so far, in bytes, whatever it did."""

def read_experiment(path: str | PathLike[str]) -> str:
    """The text of an experiment file.

    Raises:
        OdonataError: It cannot be read, is no file (a pipe, a device, a directory), has more than 16 MiB, or
            is not in UTF-8.
    """

def read_file(path: str | PathLike[str]) -> bytes:
    """The bytes of another file.

    Raises:
        OdonataError: It cannot be read, is no file, or there is no memory for it.
    """

class _Processes(Protocol):
    """Processes that make one run together."""

    count: int
    number: int
    def ready(self) -> bool:
        """Waits for all; whether each of them can begin."""
    def exchange(self, messages: list[bytes]) -> list[bytes | bytearray]:
        """Gives each process the message under its number; what each gave to this one."""

@final
class Experiment:
    """An experiment as it was given; it is read once, and never changes. Equal ones have equal texts."""

    def __new__(cls, text: str, path: str, overrides: Sequence[str] = ()) -> Experiment:
        """An experiment.

        Args:
            text: TOML.
            path: Name in errors; relative file names start from its directory. It need not exist.
            overrides: `KEY=VALUE`, in order.
        """

    def __getnewargs__(self) -> tuple[str, str, list[str]]: ...
    def __hash__(self) -> int: ...
    @property
    def text(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def overrides(self) -> list[str]: ...
    def with_overrides(self, overrides: Sequence[str]) -> Experiment:
        """The experiment with further overrides."""

    def upgraded(self) -> Experiment:
        """The experiment in the present format, if its text has an older one."""

    def check(self) -> CheckResult: ...
    def check_points(self, points: Sequence[Sequence[str]]) -> list[CheckResult | Exception]:
        """`check` with each of several sets of overrides: what it finds, or the error that it would raise.

        A rank program that several points run is looked through once.
        """

    @overload
    def run(
        self,
        threads: int = 0,
        progress: Callable[[str, float], None] | None = None,
        pace: Callable[[int, int], None] | None = None,
        rows: Callable[[str, dict[str, _Column]], None] | None = None,
        processes: None = None,
        checkpoints: Checkpoints | None = None,
        resume: str | PathLike[str] | None = None,
    ) -> RunResult: ...
    @overload
    def run(
        self,
        threads: int = 0,
        progress: Callable[[str, float], None] | None = None,
        pace: Callable[[int, int], None] | None = None,
        rows: Callable[[str, dict[str, _Column]], None] | None = None,
        *,
        processes: _Processes | None,
        checkpoints: Checkpoints | None = None,
        resume: str | PathLike[str] | None = None,
    ) -> RunResult | None:
        """Runs it. Its `[sweep]` is only checked for its form.

        `threads` 0 means one per processor. The callbacks run on the calling thread. `progress` gets the name
        of the phase and its progress from 0 to 1. `pace` gets the simulated time in ps and the number of
        events. `rows` gets the name of a growing table and the columns of its next rows, which are then not
        in the result. An exception in a callback ends the run. An interrupt also ends it: an engine with
        partial results returns them with `interrupt`, others raise it.

        With `processes`, all of them call this function for one run. The first gets the result, the others
        None. If one of them is not ready, all get None.

        `checkpoints` decides when and where to save the state. `resume` is a checkpoint file of the same run.
        """

    def sweep(self) -> list[SweepAxis]:
        """The axes of `[sweep]` in the file's order; none without it. Values are checked one by one."""

    def alone(self) -> SweepAxis:
        """Every job alone, as an axis: the others idle, or absent if `[interference]` says so."""

    def optimize(self) -> dict[str, Any]:
        """The keys of `[optimize]`, given or by default; none without it."""

    def cluster(self) -> dict[str, Any]:
        """The keys of `[cluster]`, given or by default: `memory` in bytes; none without it."""

    def characterize(self) -> list[Character]:
        """Demands of every job on the network, without a run."""

    def mapped_jobs(self) -> list[MappedJob]:
        """The jobs that send something; `OdonataError` unless the machine is a torus with letters as axes."""

    def machine(self, threads: int = 0) -> MachineReport:
        """Builds and measures the machine of `[machine]`.

        Of other sections only the seed is read, which random faults draw from.
        """

@final
class Checkpoints:
    """Requests for checkpoints of a run, and the callbacks that store them."""

    def __new__(
        cls,
        file: Callable[[int], PathLike[str] | None],
        taken: Callable[[str | None], bool],
        at_ps: Sequence[int],
    ) -> Checkpoints:
        """Checkpoints at simulated times and on request.

        Args:
            file: Called with the number of earlier checkpoints; returns the path of the next one.
            taken: Called with None after writing, or with an error text; returns whether the run ends.
            at_ps: Simulated times, in ps.
        """

    def ask(self) -> None:
        """Requests a checkpoint as soon as possible."""

def checkpoint(path: str | PathLike[str]) -> Any:
    """Description of a checkpoint file: `experiment`, `path`, `overrides`, `now_ps`, `before` and more."""

def time_ps(text: str) -> int:
    """A time such as `400 us` in ps; raises `ValueError` if it is invalid."""

def nearest_name(name: str, known: list[str]) -> tuple[str | None, str | None]:
    """The known name nearest to an unknown one, and what to say about a word of another program."""

def is_seed(key: str) -> bool:
    """Whether the key at a dotted path is declared as a seed of random choices."""

def bisected_mapping(problem: MappingProblem) -> npt.NDArray[np.uint32]:
    """A mapping by recursive bisection: the place of every rank."""

def class_statistics(
    names: list[str],
    class_of: npt.NDArray[np.uint32],
    bytes: npt.NDArray[np.float64],  # noqa: A002 - the name of the column
) -> list[dict[str, Any]]:
    """Statistics of the bytes on the links of each class, `all` first; `class_of` indexes `names`."""

def host_names(text: str) -> list[str]:
    """The names that a list of a batch system (`nid[00012-00044,00100]`) stands for.

    Raises:
        ValueError: It is no such list.
    """

def machine_format(content: bytes) -> str:
    """The format of a machine file with this content (a name of `machine_formats`).

    Raises:
        ValueError: It is another kind of file; names the kind, and how to get one that is read.
    """

def machine_formats() -> tuple[list[list[str]], list[tuple[str, str]]]:
    """The formats of machine files and the kinds that are refused by name.

    Of a format: name, what is read, what is not, files of the tests. Of a kind: name, what to do instead.
    """

def improved_mapping(
    problem: MappingProblem, place_of_rank: list[int], seed: int, tries: int, heat: float
) -> npt.NDArray[np.uint32]:
    """A mapping with no more hops, by simulated annealing: the place of every rank."""

def schema() -> str:
    """JSON Schema of the experiment file."""

def reference() -> str:
    """The reference page of the experiment file, as Markdown."""

def tables() -> str:
    """The format of a run directory with every table and column, as JSON."""

def tables_reference() -> str:
    """The reference page of the run directory, as Markdown."""

def presets() -> list[Preset]: ...
def program_mistake(text: str, ranks: int) -> tuple[str, str] | None:
    """What is wrong with the text of a rank program: its place (`line 3, column 5`) and why."""

def trace(
    path: str | PathLike[str],
    format: str | None = None,  # noqa: A002 - the name of the key
) -> dict[str, Any]:
    """What a trace has: ranks, messages, collectives, computation, and which records a replay uses."""

def convert_trace(
    path: str | PathLike[str],
    out: str | PathLike[str],
    format: str | None = None,  # noqa: A002 - the name of the key
    ranks: int | None = None,
    groups: str | None = None,
) -> dict[str, Any]:
    """Writes a trace as a trace file, and says what was written: ranks, records, bytes, SHA-256, warnings."""

def trace_formats() -> list[list[str]]:
    """The formats of traces: name, files, first bytes, what is read, what is not."""

@final
class TraceRecords:
    """The records of a trace, some at a time."""

    def __new__(
        cls,
        path: str | PathLike[str],
        format: str | None = None,  # noqa: A002 - the name of the key
        ranks: int | None = None,
        groups: str | None = None,
    ) -> TraceRecords: ...
    def next_rows(self, most: int) -> dict[str, Any] | None:
        """Columns of the next `most` records; `None` at the end. 2^64 - 1 is no value, 2^64 - 2 any."""

def version() -> str: ...
def product_seconds(
    sources: list[int],
    destinations: list[int],
    bytes: list[int],  # noqa: A002 - the name of the column
    nodes: list[int],
    route: str,
    network: dict[str, Any],
    prices: dict[str, Any],
) -> float:
    """Seconds of one product; route direct, two-steps or three-steps."""
