"""Runs of every kind and ending, whose numbers `test_printed_numbers` reads; each made once, in seconds."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

import odonata

MACHINE = '[machine]\ntopology = "dragonfly"\np = 2\na = 4\nh = 2\ng = 3\ncores_per_node = 8\n'
TORUS = '[machine]\ntopology = "torus"\ndims = [3, 3]\ncores_per_node = 8\n'
FAT_TREE = '[machine]\ntopology = "fat-tree"\nk = 4\ncores_per_node = 8\n'

FLOW = '[engine]\nkind = "flow"\nrouting = "min"\n'
PACKET = '[engine]\nkind = "packet"\nrouting = "min"\n'
CALLS = "record_calls = true\nrecord_job_waits = true\nrecord_packets = true\nrecord_paths = true\n"
SERIES = 'interval = "1 us"\nseries = ["jobs", "links", "channels", "link-jobs"]\nrecord_channels = true\n'

STUCK = "send (rank + 1) % ranks 64 KiB\nrecv (rank - 1) % ranks 64 KiB\n"
SELF = "send rank 64 KiB tag 1\nrecv rank 64 KiB tag 1\n"
LONGER = """
role 0:
    send 1 64 KiB tag 1
role 1:
    recv any 32 KiB tag 1
role others:
    compute 1 us
"""
EMPTY = "isend (rank + 1) % ranks 0 B\nirecv (rank - 1) % ranks 0 B\nwaitall\nbarrier\n"


def job(name: str, traffic: str, ranks: int = 8, more: str = "", per_node: int = 1) -> str:
    """A job; `traffic` is its line `pattern = ..` or `program = ..`."""
    return f'[[job]]\nname = "{name}"\nranks = {ranks}\nranks_per_node = {per_node}\n{traffic}\n{more}'


UNIFORM = 'pattern = { name = "all-to-all", bytes = "16 KiB" }'
RING = 'program = { name = "ring", iterations = 2, bytes = "24 KiB" }'
EXCHANGE = 'program = { name = "all-to-all", bytes = "3000 B" }'
IDLE = "idle = true\n"
BACKGROUND = "background = true\n"
LATE = 'start = "40 us"\n'


def offered(load: float = 0.2, more: str = "") -> str:
    return f'pattern = "uniform"\ntraffic = {{ name = "open", load = {load}{more} }}'


def of_file(text: str) -> str:
    """The line of a program that a file holds."""
    path = directory() / f"{abs(hash(text))}.program"
    path.write_text(text)
    return f'program = {{ name = "file", path = "{path}" }}'


@cache
def directory() -> Path:
    """A folder for runs and for the files that experiments name; it goes when the process ends."""
    path = Path(tempfile.mkdtemp(prefix="odonata-printed-"))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


def texts() -> dict[str, str]:
    """The experiments by name."""
    window = 'warm_up = "2 us"\nmeasure = "6 us"\n'
    planes = "planes = 2\nrails = 2\n"
    model = '[engine]\nkind = "model"\n'
    any_flow, any_packet = '[engine]\nkind = "flow"\n', '[engine]\nkind = "packet"\n'
    amg = 'pattern = { name = "amg", hierarchy = "laplace7-8-100x100x100" }'
    a, b, idle, ring = job("a", UNIFORM), job("b", UNIFORM), job("idle", UNIFORM, 4, IDLE), job("ring", RING)
    programs = ring + job("late", EXCHANGE, more=LATE)
    idle_program, inside = job("idle", RING, 4, IDLE), job("inside", UNIFORM, per_node=8)
    opened, stuck = job("a", offered()), job("stuck", of_file(STUCK))
    silent = job("b", offered(0.0)) + job("idle", offered(), 4, IDLE)
    paced = job("a", offered(0.3, ', injection = "paced"'))
    parts = {
        "flow": (MACHINE, a, b, idle, FLOW, "alone = true\nbound_gap = 0.1\n"),
        "flow inside a node": (MACHINE, inside, a, FLOW, "alone = true\n"),
        "flow without times": (MACHINE, a, b, FLOW, "completion_times = false\n"),
        "flow on a fat tree": (FAT_TREE, a, b, any_flow),
        "flow with failures": (TORUS, 'nodes_per_router = 2\nedit = ["fail router 0"]\n', a, any_flow),
        "flow on planes": (TORUS, planes, 'rail_rule = "stripe"\n', a, any_flow),
        "flow of nothing": (MACHINE, idle, FLOW, "alone = true\n"),
        "patterns": (MACHINE, a, b, idle, PACKET, SERIES),
        "programs": (MACHINE, programs, idle_program, PACKET, CALLS, SERIES),
        "inside a node": (MACHINE, job("inside", EXCHANGE, per_node=8), PACKET, CALLS),
        "without bytes": (MACHINE, job("empty", of_file(EMPTY)), PACKET, CALLS),
        "open": (MACHINE, opened, silent, PACKET, window),
        "paced": (MACHINE, paced, PACKET, window, SERIES),
        "open next to a program": (MACHINE, opened, ring, PACKET, 'time_limit = "1 ms"\n'),
        "drain limit": (MACHINE, job("a", offered(0.9)), PACKET, window, 'drain = "0 us"\n'),
        "interrupted": (MACHINE, opened, PACKET, 'warm_up = "0 us"\nmeasure = "1 s"\n', SERIES),
        "interrupted early": (MACHINE, opened, PACKET, 'warm_up = "1 s"\nmeasure = "1 s"\n'),
        "time limit": (
            MACHINE,
            job("a", UNIFORM, 4),
            programs,
            idle_program,
            PACKET,
            'time_limit = "4 us"\n',
            CALLS,
        ),
        "deadlock": (MACHINE, stuck, ring, PACKET, CALLS),
        "self-block": (MACHINE, job("stuck", of_file(SELF), 4), PACKET, CALLS),
        "mismatch": (MACHINE, job("stuck", of_file(LONGER), 4), PACKET),
        "stopped background": (MACHINE, ring, job("b", of_file(STUCK), 4, BACKGROUND), PACKET),
        "background": (MACHINE, ring, job("b", EXCHANGE, 4, BACKGROUND), PACKET, CALLS),
        "packets on planes": (TORUS, planes, ring, any_packet),
        "Blue Gene": (TORUS, ring, any_packet, 'preset = "bgq"\n[mpi]\nhost = "bgq"\n'),
        "packets on a fat tree": (FAT_TREE, a, any_packet, SERIES),
        "model": (MACHINE, a, b, idle, model),
        "multigrid": (MACHINE, job("amg", amg), job("idle", amg, more=IDLE), model, 'form = "amg"\n'),
    }
    return {name: "".join(text) for name, text in parts.items()}


INTERRUPTED = ("interrupted", "interrupted early")
"""Runs that Ctrl-C ends, as soon as they simulate."""


@cache
def runs() -> dict[str, Path]:
    """The directories of all runs."""
    made = {}
    for name, text in texts().items():
        made[name] = directory() / name.replace(" ", "-")

        def stop(phase: str, _share: float, stops: bool = name in INTERRUPTED) -> None:
            if stops and phase == "simulating":
                raise KeyboardInterrupt

        try:
            odonata.run(text, out=made[name], force=True, progress=stop)
        except KeyboardInterrupt:
            assert name in INTERRUPTED
    return made


SWEEPS = {
    "sweep of routings": (
        MACHINE,
        job("a", UNIFORM) + job("idle", UNIFORM, 4, IDLE),
        FLOW,
        '[sweep]\n"engine.routing" = ["min", "static-indirect"]\n"engine.seed" = [1, 2]\n',
    ),
    "sweep of loads": (
        MACHINE,
        job("a", offered()),
        f'{PACKET}warm_up = "2 us"\nmeasure = "6 us"\n',
        '[sweep]\n"job.a.traffic.load" = [0.1, 0.3]\n"engine.seed" = [1, 2]\n',
    ),
    "sweep of programs": (
        MACHINE,
        job("ring", RING) + job("late", EXCHANGE, more=LATE),
        PACKET,
        '[sweep]\n"engine.routing" = ["min", "ugal-n"]\n"job.ring.idle" = [false, true]\n',
    ),
    "sweep of limits": (
        MACHINE,
        job("ring", RING),
        PACKET,
        '[sweep]\n"engine.time_limit" = ["1 ms", "4 us"]\n"engine.seed" = [1, 2]\n',
    ),
    "sweep of models": (
        MACHINE,
        job("a", UNIFORM),
        '[engine]\nkind = "model"\n',
        '[sweep]\n"job.a.pattern.bytes" = ["1 KiB", "1 MiB"]\n',
    ),
    "interference": (
        MACHINE,
        job("ring", RING) + job("noise", EXCHANGE),
        PACKET,
        '[interference]\npairs = "targets x backgrounds"\n',
        'targets = ["ring"]\nbackgrounds = ["noise"]\nseeds = [1, 2]\n',
    ),
}


@cache
def sweeps() -> dict[str, Path]:
    """The directories of all sweeps."""
    made = {}
    for name, text in SWEEPS.items():
        made[name] = directory() / name.replace(" ", "-")
        odonata.sweep("".join(text), out=made[name], processes=1)
    return made
