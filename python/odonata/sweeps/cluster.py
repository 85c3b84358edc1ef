"""Dask clusters for the points of a sweep: on this machine, on a batch system, or at an address.

Each worker has one thread and runs one point at a time, since a point reports the CPU time and memory of its
process. Workers declare the threads of a point and their memory as resources.
"""

from __future__ import annotations

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

from odonata.errors import OdonataError, nearest

LOCAL = "dask"
"""Workers on this machine."""
BATCH = {"slurm": "SLURM", "pbs": "PBS", "lsf": "LSF"}
"""Batch systems and the prefixes of their classes in dask-jobqueue."""

WORKER_CLASS = "odonata.sweeps.private.PrivateWorker"
"""The worker class for the command line of a Dask worker."""

RETRIES = 2
"""Number of new attempts after a worker of a point died. More attempts delay the report of a defect."""

SILENCE_LIMIT = "120 s"
"""How long a connection may be silent. On a machine with more work than processors, Dask's 30 s pass."""

_PARTS = ("dask", "distributed", "dask_jobqueue", "cryptography")
_ADDRESS = re.compile(r"(tcp|tls|ucx|ws|wss|inproc)://[^/\s]+")
_ENCRYPTED = ("tls://", "wss://", "inproc://")

PrintLine = Callable[[str], None]
"""Prints a line for the user."""


@dataclass(frozen=True)
class Cluster:
    """The cluster of a sweep: `dask`, `slurm`, `pbs`, `lsf`, or the address of a scheduler."""

    on: str
    print_line: PrintLine = field(default=lambda _: None)

    def __post_init__(self) -> None:
        known = [LOCAL, *BATCH]
        if self.on not in known and not _ADDRESS.fullmatch(self.on):
            raise OdonataError(
                f"unknown cluster {self.on!r}; expected {', '.join(known)} or the address of a "
                "scheduler, such as tls://node17:8786",
                hint=nearest(self.on, known, "") or None,
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
        """Whether scheduler and workers were started by somebody else."""
        return not self.is_batch and self.on != LOCAL


@dataclass(frozen=True)
class Demand:
    """The resources of the points."""

    processes: int
    """Maximum number of concurrent points on this machine."""
    threads: int
    """Threads per point."""
    memory_bytes: int
    """Memory of the largest point."""


def check_settings(cluster: Cluster, settings: Mapping[str, Any]) -> None:
    """Raises `OdonataError` if a batch system is used without a table `[cluster]`."""
    if cluster.is_batch and not settings:
        raise OdonataError(
            f"--on {cluster.on} needs a table [cluster] in the experiment",
            hint='Add, for example:  [cluster]  cores = 32   memory = "120 GiB"   walltime = "04:00:00"',
        )


@contextmanager
def connected(
    cluster: Cluster, settings: Mapping[str, Any], demand: Demand, memory_bytes: int | None, logs: Path
) -> Iterator[Any]:
    """Connects a client to the scheduler; stops scheduler and workers at the end if it started them.

    Args:
        cluster: Cluster to use.
        settings: `[cluster]` of the experiment.
        demand: Resources of the points.
        memory_bytes: Memory of all workers on this machine together; None if unknown.
        logs: Directory of the batch jobs' output.

    Raises:
        OdonataError: There is no scheduler, or the batch system refuses the job.
    """
    import dask
    from distributed import Client

    from odonata.sweeps import tls

    tls.forget_errors_of_closed_connections()
    quiet = {
        "distributed.scheduler.allowed-failures": RETRIES,
        "distributed.worker.memory.pause": False,
        "distributed.comm.timeouts.connect": SILENCE_LIMIT,
        "distributed.comm.timeouts.tcp": SILENCE_LIMIT,
        # Overrides Dask's own settings: only a scheduler that the user started may use plain TCP.
        "distributed.comm.require-encryption": not cluster.is_address or None,
    }
    with ExitStack() as stack:
        stack.enter_context(dask.config.set(quiet))
        # It would print tracebacks of a lost scheduler, which becomes an error of ours.
        logger = logging.getLogger("distributed.client")
        stack.callback(logger.setLevel, logger.level)
        logger.setLevel(logging.CRITICAL)
        try:
            if cluster.is_address:
                where: Any = cluster.on
                if not cluster.on.startswith(_ENCRYPTED):
                    cluster.print_line(
                        f"warning: {cluster.on} has no TLS: anyone who reaches it can run programs as you"
                    )
            elif cluster.is_batch:
                where = stack.enter_context(_batch(cluster.on, settings, demand, logs))
            else:
                where = stack.enter_context(_local(demand, memory_bytes))
            client = stack.enter_context(Client(where, timeout="15 s", set_as_default=False))
            stack.enter_context(client.as_current())
        except OSError as error:
            if cluster.is_batch:
                raise OdonataError(f"cannot submit the workers to {cluster.on}: {error}") from None
            raise OdonataError(
                f"cannot reach a Dask scheduler at {cluster.on}: {error}",
                hint="Start one with: dask scheduler",
            ) from None
        except RuntimeError as error:
            raise OdonataError(
                f"{cluster.on} refused the job of the workers: {_refusal(str(error))}",
                hint="Check [cluster]: queue, account, cores, memory, walltime, directives.",
            ) from None
        yield client


def _refusal(message: str) -> str:
    """The error output of a batch system's command, without the text that dask-jobqueue adds."""
    _, _, output = message.rpartition("stderr:\n")
    return " ".join((output.strip() or message).split())


def _resources(threads: int, memory_bytes: int) -> dict[str, float]:
    return {"threads": threads, "memory": memory_bytes}


@contextmanager
def _local(demand: Demand, memory_bytes: int | None) -> Iterator[Any]:
    from distributed import SpecCluster
    from distributed.security import Security

    from odonata.sweeps.private import local_nodes

    count = demand.processes
    if memory_bytes is not None:
        count = _concurrent_points(demand.processes, memory_bytes, demand.memory_bytes)
    each = demand.memory_bytes if memory_bytes is None else memory_bytes // count
    options = {
        # The future of a point reports what failed.
        "silence_logs": logging.CRITICAL,
        # The estimate may be low. A worker that needs more is not killed while memory is free.
        "memory_limit": None,
        "resources": _resources(demand.threads, each),
    }
    nodes = local_nodes(count, options, Security.temporary())
    with SpecCluster(**nodes, silence_logs=logging.CRITICAL) as started:
        yield started


def _concurrent_points(processors: int, memory_bytes: int, each_bytes: int) -> int:
    """Number of concurrent points: as many as processors and memory allow, at least one."""
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
        # Adapting only logs a refused job. Starting the workers here raises it as an error.
        started.worker_spec.update(started.new_worker_spec())
        try:
            started.sync(started._correct_state)
        except (OSError, RuntimeError):
            # Without this, closing the cluster waits for jobs that do not exist.
            started.workers.clear()
            started._created.clear()
            raise
        # Jobs that reach their time limit or are preempted are replaced.
        started.adapt(minimum_jobs=settings["jobs"], maximum_jobs=settings["jobs"])
        yield started


def batch_options(system: str, settings: Mapping[str, Any], demand: Demand, logs: Path) -> dict[str, Any]:
    """Arguments of the cluster class of dask-jobqueue for one batch job."""
    cores, memory = settings["cores"], settings["memory"]
    if demand.threads > cores:
        raise OdonataError(
            f"a point has {demand.threads} threads, but a batch job has {cores} cores",
            hint="Increase cores in [cluster], or reduce --threads.",
        )
    count = _concurrent_points(cores // demand.threads, memory, demand.memory_bytes)
    if shlex.quote(str(logs)) != str(logs):
        raise OdonataError(
            f"the directory {str(logs)!r} has a character that a batch script cannot name",
            hint="Choose another directory with -o.",
        )
    offered = _resources(demand.threads, memory // count)
    options: dict[str, Any] = {
        # dask-jobqueue counts a core per thread of Dask, and each of our workers has one thread.
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
