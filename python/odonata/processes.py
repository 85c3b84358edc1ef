"""One run of several processes that `mpiexec` or `srun` started.

The engine does not depend on MPI. Once per time window it needs an exchange of messages, one to each other
process. Here mpi4py does that, with the MPI that it was built for.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any, NoReturn

from odonata import __version__
from odonata.errors import ExperimentError, OdonataError, OtherProcessError

STARTERS = (
    ("PMI_SIZE", "PMI_RANK"),
    ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
    ("SLURM_STEP_NUM_TASKS", "SLURM_PROCID"),
)
"""Environment variables with the number of processes and the rank of this one: of MPICH and its derivatives,
of Open MPI, and of `srun`."""

BUSY_S = 2e-5
"""Time of polling without a pause, about what an exchange takes if all processes are ready. Longer polling
wastes CPU time, shorter polling adds latency."""

PAUSE_S = 1e-3
"""Maximum pause between polls. Longer pauses delay the others, shorter ones use more CPU time."""

EXTRA = "pip install 'odonata[mpi]'"


class Processes:
    """The processes of one run. The first one prints, writes and has the result."""

    def __init__(self, mpi: Any) -> None:
        """Takes the module `mpi4py.MPI`."""
        self._mpi = mpi
        self._all = mpi.COMM_WORLD
        self.count: int = self._all.Get_size()
        """Number of processes."""
        self.number: int = self._all.Get_rank()
        """Number of this one, from 0."""
        self._met = False
        self._ended = False
        self._digest = b""
        self.disagreement: str | None = None
        """Why no run starts, if the processes have different experiments."""
        self.failed: list[int] = []
        """Processes that cannot run the experiment."""
        self.messages = 0
        """Number of messages sent by this process."""
        self.message_bytes = 0
        """Bytes of these messages."""

    def announce(self, *run: str) -> None:
        """Sets the experiment of this process, which must be equal in all processes."""
        # Numbers are sent as stored in memory, so all machines must have the same byte order.
        self._digest = hashlib.sha256("\0".join([__version__, sys.byteorder, *run]).encode()).digest()

    @property
    def has_met(self) -> bool:
        """Whether the processes have synchronized before the run."""
        return self._met

    def ready(self, *, able: bool = True) -> bool:
        """Waits for all processes, once. Returns whether all can run the same experiment."""
        if self._met:
            return able
        self._met = True
        answers = self._all.allgather((able, self._digest))
        self.failed = [number for number, (able, _) in enumerate(answers) if not able]
        differ = [number for number, (able, digest) in enumerate(answers) if able and digest != self._digest]
        if differ and not self.failed:
            self.disagreement = (
                f"processes {self.number} and {differ[0]} have different experiments, options or versions"
            )
        ready = not (self.failed or differ)
        if ready:
            # From now on the others wait for messages of this process, so its failure must end them.
            atexit.register(self._end_all)
        return ready

    def exchange(self, messages: Sequence[bytes]) -> list[bytes | bytearray]:
        """Sends each process its message and returns the messages received, including the own one.

        Each pair exchanges one message, even if empty. So there is one wait for messages, not another one for
        their sizes.
        """
        byte, all_, status = self._mpi.BYTE, self._all, self._mpi.Status()
        others = [process for process in range(self.count) if process != self.number]
        requests = [all_.Isend([messages[process], byte], process) for process in others]
        received: list[bytes | bytearray] = list(messages)
        pause = _Pause()
        while others:
            for process in others:
                if (message := all_.Improbe(process, status=status)) is not None:
                    received[process] = bytearray(status.Get_count(byte))
                    requests.append(message.Irecv([received[process], byte]))
                    others = [other for other in others if other != process]
                    pause = _Pause()
            if others:
                pause()
        while not self._mpi.Request.Testall(requests):
            pause()
        self.messages += self.count - 1
        self.message_bytes += sum(map(len, messages)) - len(messages[self.number])
        return received

    def end(self) -> None:
        """Marks that no process waits for this one any more."""
        self._ended = True

    def _end_all(self) -> None:
        if not self._ended:
            sys.stdout.flush()
            sys.stderr.flush()
            self._all.Abort(1)


def started() -> tuple[int, int] | None:
    """Number of processes started together, and the rank of this one; None for a single process."""
    for count, number in STARTERS:
        if os.environ.get(count, "1") not in ("1", "") and number in os.environ:
            return int(os.environ[count]), int(os.environ[number])
    return None


class _Pause:
    """Waits for others without keeping a processor busy, which another process may need.

    MPI itself polls. Here pauses grow with the time waited, so that they lengthen it by at most a quarter.
    """

    def __init__(self) -> None:
        self._start = time.perf_counter()

    def __call__(self) -> None:
        waited = time.perf_counter() - self._start
        if waited > BUSY_S:
            time.sleep(min(waited / 4, PAUSE_S))


@contextmanager
def share_run(processes: Processes | None) -> Iterator[None]:
    """The context of a run of several processes.

    If no run starts, the first process that knows the reason reports it, and all end. A process that fails
    later reports it and ends all others.
    """
    if processes is None:
        yield
        return
    try:
        yield
    except OtherProcessError:
        if processes.disagreement and processes.number == 0:
            raise OdonataError(
                processes.disagreement, hint="Start all processes with one command, from one installation."
            ) from None
        sys.exit(2)
    except BaseException as error:
        has_met = processes.has_met
        if has_met and isinstance(error, ExperimentError):
            # All processes get the refusal of an engine.
            processes.end()
        processes.ready(able=False)
        if not has_met and processes.failed[0] != processes.number:
            sys.exit(2)
        raise


def join_processes() -> Processes | None:
    """The processes that were started together; None for a single process.

    Raises:
        OdonataError: They cannot connect. Only the first process raises it; the others exit.
    """
    known = started()
    if known is None:
        return None
    count, number = known
    try:
        mpi = import_module("mpi4py.MPI")
    except (ImportError, RuntimeError) as error:
        missing = isinstance(error, ModuleNotFoundError)
        reason = "mpi4py is not installed" if missing else f"mpi4py cannot be loaded: {error}"
        _refuse(
            number, f"{count} processes were started for one run, but {reason}", f"Install it with: {EXTRA}"
        )
    processes = Processes(mpi)
    if processes.count != count:
        _refuse(
            number,
            f"{count} processes were started for one run, but mpi4py sees {processes.count}: it uses another "
            "MPI than the start command",
            "Start them with the mpiexec of mpi4py's MPI (odonata[mpi] installs it next to odonata), or with "
            "srun --mpi=pmi2.",
        )
    return processes


def _refuse(number: int, reason: str, hint: str) -> NoReturn:
    if number == 0:
        raise OdonataError(reason, hint=hint)
    sys.exit(2)
