"""One run by several processes that `mpiexec` or `srun` started: who they are, and how messages pass.

The engine knows nothing of MPI: it asks for an exchange of messages, one to each other process, once for each
window of time. Here mpi4py does that, with whatever MPI it was built for.
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
from odonata.errors import ElsewhereError, ExperimentError, OdonataError

STARTERS = (
    ("PMI_SIZE", "PMI_RANK"),
    ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
    ("SLURM_STEP_NUM_TASKS", "SLURM_PROCID"),
)
"""Variables with the number of processes and the number of this one: of MPICH and what is made from it, of
Open MPI, and of `srun`."""

BUSY_S = 2e-5
"""Time that a process asks for messages without a pause: what they take if all are there."""

PAUSE_S = 1e-3
"""The longest pause."""

EXTRA = "pip install 'odonata[mpi]'"


class Processes:
    """The processes that make one run. The first prints, writes and has the result."""

    def __init__(self, mpi: Any) -> None:
        """Of `mpi4py.MPI`."""
        self._mpi = mpi
        self._all = mpi.COMM_WORLD
        self.count: int = self._all.Get_size()
        """How many there are."""
        self.number: int = self._all.Get_rank()
        """Number of this one, from 0."""
        self._met = False
        self._ended = False
        self._digest = b""
        self.complaint: str | None = None
        """Why no run began though this process can make it, if the processes run different things."""
        self.failed: list[int] = []
        """Which of them can't make the run."""
        self.messages = 0
        """Messages that this one sent to others."""
        self.message_bytes = 0
        """Bytes of these."""

    def make(self, *run: str) -> None:
        """Says what run this process is to make, which must be the same for all."""
        # Numbers travel as they lie in memory, so machines of another byte order can't take part.
        self._digest = hashlib.sha256("\0".join([__version__, sys.byteorder, *run]).encode()).digest()

    @property
    def begun(self) -> bool:
        """Whether this process and the others waited for each other before the run."""
        return self._met

    def ready(self, *, able: bool = True) -> bool:
        """Waits for all processes, once; whether each of them is able to make the run, and the same one."""
        if self._met:
            return able
        self._met = True
        told = self._all.allgather((able, self._digest))
        self.failed = [number for number, (able, _) in enumerate(told) if not able]
        differ = [number for number, (able, digest) in enumerate(told) if able and digest != self._digest]
        if differ and not self.failed:
            self.complaint = (
                f"processes {self.number} and {differ[0]} have different experiments, options or versions"
            )
        ready = not (self.failed or differ)
        if ready:
            # From now on the others wait for messages of this one: they must not wait for ever.
            atexit.register(self._end_all)
        return ready

    def exchange(self, messages: Sequence[bytes]) -> list[bytes | bytearray]:
        """Gives each other process its message; what each gave to this one, and what this one gave itself.

        One message goes to each and one comes from each, even if empty. So there is one wait for the others,
        not one for their sizes and another for what they send.
        """
        byte, all_, status = self._mpi.BYTE, self._all, self._mpi.Status()
        others = [process for process in range(self.count) if process != self.number]
        under_way = [all_.Isend([messages[process], byte], process) for process in others]
        came: list[bytes | bytearray] = list(messages)
        pause = _Pause()
        while others:
            for process in others:
                if (message := all_.Improbe(process, status=status)) is not None:
                    came[process] = bytearray(status.Get_count(byte))
                    under_way.append(message.Irecv([came[process], byte]))
                    others = [other for other in others if other != process]
                    pause = _Pause()
            if others:
                pause()
        while not self._mpi.Request.Testall(under_way):
            pause()
        self.messages += self.count - 1
        self.message_bytes += sum(map(len, messages)) - len(messages[self.number])
        return came

    def end(self) -> None:
        """Nobody waits for this process any more."""
        self._ended = True

    def _end_all(self) -> None:
        if not self._ended:
            sys.stdout.flush()
            sys.stderr.flush()
            self._all.Abort(1)


def started() -> tuple[int, int] | None:
    """How many processes were started together, and the number of this one; None if it is alone."""
    for count, number in STARTERS:
        if os.environ.get(count, "1") not in ("1", "") and number in os.environ:
            return int(os.environ[count]), int(os.environ[number])
    return None


class _Pause:
    """Waits for others, soon without keeping a processor busy: it may be needed by one of them.

    MPI itself asks over and over. Here the pauses grow with the time that was waited, so that they make it
    longer by a quarter at most.
    """

    def __init__(self) -> None:
        self._begun = time.perf_counter()

    def __call__(self) -> None:
        waited = time.perf_counter() - self._begun
        if waited > BUSY_S:
            time.sleep(min(waited / 4, PAUSE_S))


@contextmanager
def sharing(processes: Processes | None) -> Iterator[None]:
    """The share of this process in a run.

    If no run begins, the first process that knows why says so, and all end.
    A process that fails later ends all others, when it has said why.
    """
    if processes is None:
        yield
        return
    try:
        yield
    except ElsewhereError:
        if processes.complaint and processes.number == 0:
            raise OdonataError(
                processes.complaint, hint="Start all of them with one command, from one installation."
            ) from None
        sys.exit(2)
    except BaseException as error:
        begun = processes.begun
        if begun and isinstance(error, ExperimentError):
            # What an engine refuses, the others were told.
            processes.end()
        processes.ready(able=False)
        if not begun and processes.failed[0] != processes.number:
            sys.exit(2)
        raise


def joined() -> Processes | None:
    """The processes that were started together with this one; None if it is alone.

    Raises:
        OdonataError: They can't find each other. Only the first says so; the others leave.
    """
    known = started()
    if known is None:
        return None
    count, number = known
    try:
        mpi = import_module("mpi4py.MPI")
    except (ImportError, RuntimeError) as error:
        missing = isinstance(error, ModuleNotFoundError)
        reason = "mpi4py is not installed" if missing else f"mpi4py does not load: {error}"
        _refuse(
            number, f"{count} processes were started for one run, but {reason}", f"Install it with: {EXTRA}"
        )
    processes = Processes(mpi)
    if processes.count != count:
        _refuse(
            number,
            f"{count} processes were started for one run, but mpi4py sees {processes.count}: it belongs to "
            "another MPI than what started them",
            "Start them with the mpiexec of mpi4py's MPI (with odonata[mpi] it is beside odonata), or with "
            "srun --mpi=pmi2.",
        )
    return processes


def _refuse(number: int, reason: str, hint: str) -> NoReturn:
    if number == 0:
        raise OdonataError(reason, hint=hint)
    sys.exit(2)
