"""The points of a sweep as tasks of Dask: what a worker does, and how the client follows it.

A point has one key, made of its run directory and of what it runs, and its task is published under that key:
the scheduler keeps it when the client is killed, and the next client finds it there, running or finished. A
worker that sees the sweep's directory writes the run there by renaming; one that does not sends its files.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import tempfile
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from odonata import __version__
from odonata.api import Source, run_source
from odonata.errors import OdonataError
from odonata.store.schema import SUMMARY
from odonata.store.writer import RunWriter
from odonata.sweeps.cluster import RETRIES, Cluster
from odonata.sweeps.point import MARK, Checked, Task, is_finished

POLL_S = 1.0
"""How often the client looks for workers that came or went."""

_ALONE = threading.Lock()
"""The working directory and the peak of memory are those of the whole process."""


@dataclass(frozen=True)
class Order:
    """A point as a worker gets it; all paths are absolute."""

    version: str
    source: Source
    overrides: tuple[str, ...]
    resolved: str
    threads: int
    here: str
    """Where relative names of files start from."""
    target: str
    """The run directory on the client's machine, perhaps on the worker's, too."""
    mark: str
    """A file whose text is `marked` where the sweep's directory is the client's."""
    marked: str


@dataclass(frozen=True)
class Answer:
    """What came of a point."""

    mistake: str | None = None
    files: Mapping[str, bytes] | None = None
    """The run directory, where the worker does not see the client's."""


class WithdrawnError(Exception):
    """Nobody waits for the point any longer."""


def run_order(order: Order) -> Answer:
    """Runs a point on a worker."""
    if order.version != __version__:
        return Answer(f"the worker has Odonata {__version__}, and this is {order.version}")
    with _ALONE:
        try:
            return _run_order(order)
        except WithdrawnError:
            raise
        except Exception as error:
            return Answer(f"{type(error).__name__}: {error}")


def _run_order(order: Order) -> Answer:
    before = Path.cwd()
    if Path(order.here).is_dir():
        os.chdir(order.here)
    try:
        target, changes = Path(order.target), list(order.overrides)
        if _has(Path(order.mark), order.marked):
            # A worker that was thought dead, or one of an earlier client, may have been here.
            if not is_finished(target, order.resolved):
                run_source(
                    order.source, changes, out=target, threads=order.threads, force=True, progress=_wanted()
                )
            return Answer()
        with tempfile.TemporaryDirectory(prefix="odonata-") as folder:
            out = Path(folder) / "run"
            run_source(order.source, changes, out=out, threads=order.threads, progress=_wanted())
            return Answer(files={path.name: path.read_bytes() for path in out.iterdir()})
    finally:
        os.chdir(before)


def _has(path: Path, content: str) -> bool:
    try:
        return path.read_text() == content
    except OSError:
        return False


def _wanted() -> Any:
    """A report of progress that ends a run which was cancelled or whose worker is leaving."""
    from distributed import Status, get_worker

    worker = get_worker()
    key = worker.get_current_task()

    def report(*_: Any) -> None:
        task = worker.state.tasks.get(key)
        if task is None or task.state == "cancelled" or worker.status not in (Status.running, Status.paused):
            raise WithdrawnError

    return report


def run_on(
    client: Any, cluster: Cluster, work: Mapping[int, tuple[Task, Checked]], threads: int
) -> Iterator[tuple[int, str | None]]:
    """Runs points by a Dask client and hands out each as it ends, with what was wrong with it.

    Args:
        client: Of the scheduler.
        cluster: Where it is.
        work: The points by their number, in the order to start them.
        threads: Of each.

    Raises:
        OdonataError: The scheduler was lost, or a worker has several threads.
    """
    with _Client(client, cluster, threads) as points:
        yield from points.run(work)


class _Client:
    """The client's side of `run_on`: what is on its way, and what an earlier client left."""

    def __init__(self, client: Any, cluster: Cluster, threads: int) -> None:
        self._client = client
        self._cluster = cluster
        self._threads = threads
        self._marks: dict[Path, str] = {}
        self._running: dict[Any, tuple[int, Task, bool]] = {}
        """By future: the point, and whether an earlier client sent it."""
        self._told = False

    def __enter__(self) -> _Client:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and self._running and self._client.status == "running":
            keys = [future.key for future in self._running]
            self._client.cancel(list(self._running), force=True)
            self._client.unpublish_dataset(keys)
        for directory in self._marks:
            (directory / MARK).unlink(missing_ok=True)

    def run(self, work: Mapping[int, tuple[Task, Checked]]) -> Iterator[tuple[int, str | None]]:
        left = set(self._client.list_datasets())
        waiting = list(work)
        while waiting or self._running:
            # No more than there are workers: when one dies, what waits for it is not blamed.
            offered = self._offered()
            while waiting and len(self._running) < max(1, len(offered)):
                index = waiting.pop(0)
                task, checked = work[index]
                key = key_of(task, checked)
                future = (
                    self._client.get_dataset(key) if key in left else self._send(key, task, checked, offered)
                )
                self._running[future] = (index, task, key in left)
            for future in self._ended():
                index, task, earlier = self._running.pop(future)
                mistake = self._outcome(future, task)
                self._client.unpublish_dataset(future.key)
                left.discard(future.key)
                if mistake is not None and earlier:
                    # It failed for the client before; this one tries again.
                    self._client.cancel([future], force=True)
                    waiting.insert(0, index)
                else:
                    yield index, mistake

    def _offered(self) -> list[Mapping[str, float]]:
        """What each worker declares."""
        if self._client.status != "running":
            raise OdonataError(
                f"the scheduler on {self._cluster.on} was lost",
                hint="Finished points are kept; the same command goes on.",
            )
        workers = self._client.scheduler_info(n_workers=-1)["workers"]
        for address, worker in workers.items():
            if worker["nthreads"] != 1:
                raise OdonataError(
                    f"the worker {address} has {worker['nthreads']} threads; a point states its own "
                    "processor time and memory, so each worker runs one",
                    hint="Start workers with: dask worker ADDRESS --nthreads 1 --nworkers N",
                )
        if not workers and not self._told:
            self._told = True
            self._cluster.say("no worker is there yet; waiting")
        return [worker["resources"] for worker in workers.values()]

    def _send(self, key: str, task: Task, checked: Checked, offered: list[Mapping[str, float]]) -> Any:
        needed = {"threads": self._threads, "memory": checked.memory_bytes}
        if self._cluster.is_address:
            # Of workers that somebody else started, what all of them declare; a point that needs more than
            # any has runs on the largest and says so by itself.
            needed = {
                name: min(amount, max(int(each[name]) for each in offered))
                for name, amount in needed.items()
                if offered and all(name in each for each in offered)
            }
        elif offered:
            needed["memory"] = min(needed["memory"], max(int(each["memory"]) for each in offered))
        future = self._client.submit(
            run_order, self._order(task, checked), key=key, resources=needed or None, pure=False
        )
        self._client.publish_dataset(future, name=key, override=True)
        return future

    def _order(self, task: Task, checked: Checked) -> Order:
        directory = task.directory.absolute()
        if directory not in self._marks:
            self._marks[directory] = secrets.token_hex(16)
            (directory / MARK).write_text(self._marks[directory])
        return Order(
            __version__,
            task.source,
            tuple(task.overrides),
            checked.resolved,
            self._threads,
            str(Path.cwd()),
            str(task.target.absolute()),
            str(directory / MARK),
            self._marks[directory],
        )

    def _ended(self) -> list[Any]:
        from distributed import wait

        try:
            return list(wait(list(self._running), timeout=POLL_S, return_when="FIRST_COMPLETED").done)
        except TimeoutError:
            return []

    def _outcome(self, future: Any, task: Task) -> str | None:
        from distributed import CancelledError, KilledWorker

        try:
            answer: Answer = future.result()
        except KilledWorker:
            return (
                f"{RETRIES + 1} workers that ran it died, perhaps for want of memory or time"
                if not self._cluster.is_address
                else "the workers that ran it died, perhaps for want of memory or time"
            )
        except CancelledError:
            raise OdonataError(
                f"the scheduler on {self._cluster.on} was lost, or somebody cancelled its tasks",
                hint="Finished points are kept; the same command goes on.",
            ) from None
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        if answer.mistake is None and answer.files is not None:
            _place(task.target, answer.files)
        return answer.mistake


def _place(target: Path, files: Mapping[str, bytes]) -> None:
    """Writes a run directory that came from a worker."""
    with RunWriter(target, force=True) as writer:
        for name, content in files.items():
            if name != SUMMARY:
                (writer.directory / name).write_bytes(content)
        writer.commit(json.loads(files[SUMMARY]))


def key_of(task: Task, checked: Checked) -> str:
    """The name of a point's task: the same for every client that wants the same run at the same place."""
    what = "\n".join([__version__, str(task.target.absolute()), checked.resolved])
    return f"odonata-{hashlib.sha256(what.encode()).hexdigest()[:32]}"
