"""The points of a sweep as tasks of Dask: the worker and the client.

The key of a point is made of its run directory and its experiment. Its task is published under that key. If
the client is killed, the scheduler retains the task, and the next client finds it running or finished. A
worker that sees the sweep's directory writes the run there by renaming; other workers send its files.
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
from odonata._core import Experiment
from odonata.api import run
from odonata.errors import OdonataError
from odonata.store.schema import SUMMARY
from odonata.store.writer import RunWriter
from odonata.sweeps.cluster import RETRIES, Cluster
from odonata.sweeps.point import MARK, CheckedPoint, Task, is_finished

POLL_S = 1.0
"""Interval at which the client looks for new or lost workers. Longer intervals leave new workers idle."""

_ALONE = threading.Lock()
"""Working directory and peak memory belong to the process, so it runs one point at a time."""


@dataclass(frozen=True)
class Order:
    """A point as sent to a worker; all paths are absolute."""

    version: str
    experiment: Experiment
    resolved: str
    threads: int
    here: str
    """Directory of relative file names."""
    target: str
    """The run directory on the client's machine, and perhaps on the worker's."""
    mark: str
    """File with the text `marked` if the worker sees the client's sweep directory."""
    marked: str


@dataclass(frozen=True)
class Answer:
    """The outcome of a point."""

    mistake: str | None = None
    files: Mapping[str, bytes] | None = None
    """Files of the run, if the worker does not see the client's directory."""


class WithdrawnError(Exception):
    """The point was cancelled."""


def run_order(order: Order) -> Answer:
    """Runs a point on a worker."""
    if order.version != __version__:
        return Answer(f"the worker has Odonata {__version__}, the client has {order.version}")
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
        target = Path(order.target)
        if _has(Path(order.mark), order.marked):
            # A worker that was thought dead, or one of an earlier client, may have finished the point.
            if not is_finished(target, order.resolved):
                run(order.experiment, out=target, threads=order.threads, force=True, progress=_cancellation())
            return Answer()
        with tempfile.TemporaryDirectory(prefix="odonata-") as folder:
            out = Path(folder) / "run"
            run(order.experiment, out=out, threads=order.threads, progress=_cancellation())
            return Answer(files={path.name: path.read_bytes() for path in out.iterdir()})
    finally:
        os.chdir(before)


def _has(path: Path, content: str) -> bool:
    try:
        return path.read_text() == content
    except OSError:
        return False


def _cancellation() -> Any:
    """A progress callback that ends a run if it was cancelled or its worker is closing."""
    from distributed import Status, get_worker

    worker = get_worker()
    key = worker.get_current_task()

    def report(*_: Any) -> None:
        task = worker.state.tasks.get(key)
        if task is None or task.state == "cancelled" or worker.status not in (Status.running, Status.paused):
            raise WithdrawnError

    return report


def run_on(
    client: Any, cluster: Cluster, work: Mapping[int, tuple[Task, CheckedPoint]], threads: int
) -> Iterator[tuple[int, str | None]]:
    """Runs points on a Dask cluster and yields each one as it ends, with its error message or None.

    Args:
        client: Client of the scheduler.
        cluster: Cluster of the scheduler.
        work: Points by number, in start order.
        threads: Threads per point.

    Raises:
        OdonataError: The scheduler was lost, or a worker has several threads.
    """
    from distributed import CancelledError
    from distributed.comm.core import CommClosedError

    with _Client(client, cluster, threads) as points:
        try:
            yield from points.run(work)
        except (CancelledError, CommClosedError):
            raise points.lost("was lost, or its tasks were cancelled") from None


class _Client:
    """The client side of `run_on`: its running points, and points of an earlier client."""

    def __init__(self, client: Any, cluster: Cluster, threads: int) -> None:
        self._client = client
        self._cluster = cluster
        self._threads = threads
        self._marks: dict[Path, str] = {}
        self._running: dict[Any, tuple[int, Task, bool]] = {}
        """By future: index, task, and whether an earlier client sent it."""
        self._has_reported_wait = False

    def __enter__(self) -> _Client:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and self._running and self._client.status == "running":
            keys = [future.key for future in self._running]
            self._client.cancel(list(self._running), force=True)
            self._client.unpublish_dataset(keys)
        for directory in self._marks:
            (directory / MARK).unlink(missing_ok=True)

    def run(self, work: Mapping[int, tuple[Task, CheckedPoint]]) -> Iterator[tuple[int, str | None]]:
        left = set(self._client.list_datasets())
        waiting = list(work)
        while waiting or self._running:
            # One point per worker. Points that waited in the queue of a dead worker would count as failed.
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
                    # It failed for the earlier client, so this one tries again.
                    self._client.cancel([future], force=True)
                    waiting.insert(0, index)
                else:
                    yield index, mistake

    def _offered(self) -> list[Mapping[str, float]]:
        """The declared resources of each worker."""
        if self._client.status != "running":
            raise self.lost("was lost")
        workers = self._client.scheduler_info(n_workers=-1)["workers"]
        for address, worker in workers.items():
            if worker["nthreads"] != 1:
                raise OdonataError(
                    f"the worker {address} has {worker['nthreads']} threads, but each worker runs one point "
                    "at a time",
                    hint="Start workers with: dask worker ADDRESS --nthreads 1 --nworkers N",
                )
        if not workers and not self._has_reported_wait:
            self._has_reported_wait = True
            self._cluster.print_line("waiting for workers")
        return [worker["resources"] for worker in workers.values()]

    def _send(self, key: str, task: Task, checked: CheckedPoint, offered: list[Mapping[str, float]]) -> Any:
        needed = {"threads": self._threads, "memory": checked.memory_bytes}
        if self._cluster.is_address:
            # Only resources that all workers declare. A point that needs more than any worker has runs on the
            # largest one.
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

    def _order(self, task: Task, checked: CheckedPoint) -> Order:
        directory = task.directory.absolute()
        if directory not in self._marks:
            self._marks[directory] = secrets.token_hex(16)
            (directory / MARK).write_text(self._marks[directory])
        return Order(
            __version__,
            task.experiment,
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

    def lost(self, what: str) -> OdonataError:
        """The error of a scheduler that cannot be reached any more."""
        return OdonataError(
            f"the scheduler on {self._cluster.on} {what}",
            hint="Run the same command again; finished points are not repeated.",
        )

    def _outcome(self, future: Any, task: Task) -> str | None:
        from distributed import CancelledError, KilledWorker

        try:
            answer: Answer = future.result()
        except KilledWorker:
            return (
                f"{RETRIES + 1} workers died while running it, perhaps due to a limit of memory or time"
                if not self._cluster.is_address
                else "its workers died, perhaps due to a limit of memory or time"
            )
        except CancelledError:
            raise
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


def key_of(task: Task, checked: CheckedPoint) -> str:
    """The key of a point's task; equal for all clients that need the same run in the same directory."""
    what = "\n".join([__version__, str(task.target.absolute()), checked.resolved])
    return f"odonata-{hashlib.sha256(what.encode()).hexdigest()[:32]}"
