"""Where the points of a sweep run beside this machine's processes: Dask, perhaps on a batch system.

Every worker has one thread and runs one point at a time, since a point states its own processor time and
memory; how many threads a point has is a resource that the worker declares, as is its memory.
"""

from __future__ import annotations

import difflib
import importlib.util
import logging
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from odonata.errors import OdonataError

LOCAL = "dask"
"""Workers on this machine."""
BATCH = {"slurm": "SLURM", "pbs": "PBS", "lsf": "LSF"}
"""Batch systems, and what the names of their classes in dask-jobqueue start with."""

WORKER_CLASS = "odonata.sweeps.private.PrivateWorker"
"""The worker class as the command line of a Dask worker names it."""

RETRIES = 2
"""How often a point runs again after the worker that ran it died."""

_PARTS = ("dask", "distributed", "dask_jobqueue", "cryptography")
_ADDRESS = re.compile(r"(tcp|tls|ucx|ws|wss|inproc)://[^/\s]+")
_ENCRYPTED = ("tls://", "wss://", "inproc://")

Say = Callable[[str], None]
"""Called with a line for the user."""


@dataclass(frozen=True)
class Cluster:
    """Where points run: `dask`, `slurm`, `pbs`, `lsf`, or the address of a scheduler."""

    on: str
    say: Say = field(default=lambda _: None)

    def __post_init__(self) -> None:
        known = [LOCAL, *BATCH]
        if self.on not in known and not _ADDRESS.fullmatch(self.on):
            near = difflib.get_close_matches(self.on, known, 1)
            hint = f"Did you mean {near[0]}?" if near else None
            raise OdonataError(
                f"points cannot run on {self.on!r}; expected {', '.join(known)} or the address of a "
                "scheduler, as in tcp://node17:8786",
                hint=hint,
            )
        for part in _PARTS:
            if importlib.util.find_spec(part) is None:
                raise OdonataError(
                    f"--on {self.on} needs the package {part.replace('_', '-')}",
                    hint="Install it with: pip install 'odonata[cluster]'",
                )

    @property
    def is_batch(self) -> bool:
        """Whether a batch system starts the workers."""
        return self.on in BATCH

    @property
    def is_address(self) -> bool:
        """Whether somebody else has started scheduler and workers."""
        return not self.is_batch and self.on != LOCAL


@dataclass(frozen=True)
class Demand:
    """What the points need."""

    processes: int
    """How many may run at a time on this machine."""
    threads: int
    """Of each point."""
    memory_bytes: int
    """Of the largest point."""


def check_settings(cluster: Cluster, settings: Mapping[str, Any]) -> None:
    """Raises `OdonataError` if `[cluster]` of the experiment does not say what a batch system has to know."""
    if cluster.is_batch and not settings:
        raise OdonataError(
            f"--on {cluster.on} needs a table [cluster], which the experiment lacks",
            hint='Add, for instance:  [cluster]  cores = 32   memory = "120 GiB"   walltime = "04:00:00"',
        )


@contextmanager
def connected(
    cluster: Cluster, settings: Mapping[str, Any], demand: Demand, memory_bytes: int | None, logs: Path
) -> Iterator[Any]:
    """A client of the scheduler; one that was started here ends with it, and its workers.

    Args:
        cluster: Where.
        settings: `[cluster]` of the experiment.
        demand: What the points need.
        memory_bytes: What all workers on this machine may take together; None where that is not known.
        logs: Directory of the batch jobs' output.

    Raises:
        OdonataError: There is no scheduler, or the batch system refuses.
    """
    import dask
    from distributed import Client

    quiet = {
        "distributed.scheduler.allowed-failures": RETRIES,
        "distributed.worker.memory.pause": False,
        # Whatever Dask's own settings say. Only a scheduler of the user's own may take plain TCP.
        "distributed.comm.require-encryption": not cluster.is_address or None,
    }
    with ExitStack() as stack:
        stack.enter_context(dask.config.set(quiet))
        try:
            if cluster.is_address:
                where: Any = cluster.on
                if not cluster.on.startswith(_ENCRYPTED):
                    cluster.say(
                        f"warning: {cluster.on} has no TLS: whoever reaches this port can run programs as you"
                    )
            elif cluster.is_batch:
                where = stack.enter_context(_batch(cluster.on, settings, demand, logs))
            else:
                where = stack.enter_context(_local(demand, memory_bytes))
            client = stack.enter_context(Client(where, timeout="15 s", set_as_default=False))
            stack.enter_context(client.as_current())
        except OSError as error:
            if cluster.is_batch:
                raise OdonataError(f"cannot give {cluster.on} the job of the workers: {error}") from None
            raise OdonataError(
                f"there is no Dask scheduler at {cluster.on}: {error}",
                hint="Start one with: dask scheduler",
            ) from None
        except RuntimeError as error:
            raise OdonataError(
                f"{cluster.on} did not take the job of the workers: {_refusal(str(error))}",
                hint="See [cluster] of the experiment: queue, account, cores, memory, walltime, directives.",
            ) from None
        yield client


def _refusal(told: str) -> str:
    """What a batch system's command said, without what dask-jobqueue writes around it."""
    _, _, said = told.rpartition("stderr:\n")
    return " ".join((said.strip() or told).split())


def _resources(threads: int, memory_bytes: int) -> dict[str, float]:
    return {"threads": threads, "memory": memory_bytes}


@contextmanager
def _local(demand: Demand, memory_bytes: int | None) -> Iterator[Any]:
    from distributed import SpecCluster
    from distributed.security import Security

    from odonata.sweeps.private import local_nodes

    count = demand.processes
    if memory_bytes is not None:
        count = _as_many(demand.processes, memory_bytes, demand.memory_bytes)
    each = demand.memory_bytes if memory_bytes is None else memory_bytes // count
    options = {
        # The future of a point reports what failed.
        "silence_logs": logging.CRITICAL,
        # The estimate may be low; a worker that needs more is not killed while there is memory.
        "memory_limit": None,
        "resources": _resources(demand.threads, each),
    }
    nodes = local_nodes(count, options, Security.temporary())
    with SpecCluster(**nodes, silence_logs=logging.CRITICAL) as started:
        yield started


def _as_many(processors: int, memory_bytes: int, each_bytes: int) -> int:
    """How many points run at a time: as many as processors and memory allow, but one at least."""
    return max(1, min(processors, memory_bytes // max(each_bytes, 1)))


@contextmanager
def _batch(system: str, settings: Mapping[str, Any], demand: Demand, logs: Path) -> Iterator[Any]:
    import dask_jobqueue

    from odonata.sweeps.private import PrivateScheduler, stored_keys

    kind = getattr(dask_jobqueue, f"{BATCH[system]}Cluster")
    options = batch_options(system, settings, demand, logs)
    with (
        stored_keys(logs) as keys,
        kind(
            **options,
            security=keys,
            scheduler_cls=PrivateScheduler,
            scheduler_options={"dashboard": False, "dashboard_address": None},
        ) as started,
    ):
        # Adapting would only log that a job was refused; asked for here, the refusal is an error.
        started.worker_spec.update(started.new_worker_spec())
        try:
            started.sync(started._correct_state)
        except (OSError, RuntimeError):
            # Closing the cluster waits for jobs that it thinks exist.
            started.workers.clear()
            started._created.clear()
            raise
        # Jobs that reach their time limit or are preempted are replaced.
        started.adapt(minimum_jobs=settings["jobs"], maximum_jobs=settings["jobs"])
        yield started


def batch_options(system: str, settings: Mapping[str, Any], demand: Demand, logs: Path) -> dict[str, Any]:
    """What the cluster class of dask-jobqueue is told for one batch job."""
    cores, memory = settings["cores"], settings["memory"]
    if demand.threads > cores:
        raise OdonataError(
            f"a point has {demand.threads} threads and a batch job {cores} cores",
            hint="Ask for more in [cluster], or for fewer with --threads.",
        )
    count = _as_many(cores // demand.threads, memory, demand.memory_bytes)
    if shlex.quote(str(logs)) != str(logs):
        raise OdonataError(
            f"the directory {str(logs)!r} has a character that a batch script cannot name",
            hint="Choose another place with -o.",
        )
    offered = _resources(demand.threads, memory // count)
    options: dict[str, Any] = {
        # To dask-jobqueue a core is a thread of Dask, and each of our workers has one.
        "cores": count,
        "processes": count,
        "memory": f"{memory} B",
        "walltime": settings["walltime"],
        "queue": settings.get("queue"),
        "job_name": "odonata",
        "python": settings.get("python", sys.executable),
        "job_extra_directives": list(settings.get("directives", [])),
        "job_script_prologue": list(settings.get("setup", [])),
        "worker_extra_args": [
            "--worker-class",
            WORKER_CLASS,
            "--resources",
            ",".join(f"{name}={value}" for name, value in offered.items()),
        ],
        "log_directory": str(logs),
    }
    match system:
        case "slurm":
            options |= {"account": settings.get("account"), "job_cpu": cores}
        case "pbs":
            mib = -(-memory // 2**20)
            options |= {
                "account": settings.get("account"),
                "resource_spec": f"select=1:ncpus={cores}:mem={mib}mb",
            }
        case _:
            options |= {"project": settings.get("account"), "ncpus": cores, "mem": memory}
    return options
