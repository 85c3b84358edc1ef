"""Small runs of jobs with programs."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from run_files import DRAGONFLY, directory

import odonata
from odonata import Run

PAIR = """
role 0:
    phase work
    compute 2 us
    isend 1 100 B tag 1
    waitall
    phase meet
    barrier
role 1:
    phase work
    compute 500 ns
    irecv 0 100 B tag 1
    waitall
    phase meet
    barrier
"""
LATE = """
role 0:
    phase long
    send 1 15000 B
role 1:
    phase long
    recv 0 15000 B
"""
MESSAGE = """
role 0:
    compute 2 us
    isend 1 100 B tag 1
    waitall
role 1:
    compute 500 ns
    irecv 0 100 B tag 1
    waitall
"""
CROSSED = """
role 0:
    compute 1 us
    send 1 70000 B
    recv 1 70000 B
role 1:
    send 0 70000 B
    recv 0 70000 B
"""


@cache
def talking() -> Run:
    """Two jobs of two ranks at the ends of a cable, one after the other: each has the machine to itself."""
    (directory() / "two.csv").write_text("src,dst,class\na,b,long\n")
    (directory() / "ends.csv").write_text("job,rank,node\n0,0,0\n0,1,2\n1,0,1\n1,1,3\n")
    jobs = []
    for name, text, start in (("pair", PAIR, "100 ns"), ("late", LATE, "100 us")):
        path = directory() / f"{name}.program"
        path.write_text(text)
        jobs.append(
            f'[[job]]\nname = "{name}"\nranks = 2\nranks_per_node = 1\nstart = "{start}"\n'
            f'program = {{ name = "file", path = "{path}", final_barrier = false }}\n'
            f'placement = {{ name = "file", path = "{directory() / "ends.csv"}" }}\n'
        )
    return odonata.run(f"""
        [machine]
        file = "{directory() / "two.csv"}"
        nodes_per_router = 2
        class.long = {{ bandwidth = "25 GB/s", latency = "300 ns" }}
        class.terminal = {{ bandwidth = "25 GB/s", latency = "10 ns" }}
        {"".join(jobs)}
        [engine]
        kind = "packet"
        routing = "min"
        record_messages = true
        record_calls = true
        [mpi]
        preset = "study"
        host = "study"
        """)


@cache
def gathered() -> Run:
    """Four ranks of a transform with a communicator for each column and each row, two on a node."""
    return odonata.run(f"""
        {DRAGONFLY}
        [[job]]
        name = "fft"
        program = {{ name = "fft-3d", nx = 8, rows = 2, iterations = 1 }}
        ranks = 4
        ranks_per_node = 2
        [engine]
        kind = "packet"
        routing = "min"
        record_messages = true
        record_calls = true
        [mpi]
        preset = "study"
        host = "study"
        """)


@cache
def through_fifos() -> Run:
    """A message of two packets from one node of Blue Gene/P to the next, and one between ranks of a node."""
    path = directory() / "fifos.program"
    path.write_text(
        "role 0:\n    send 2  416 B\n    send 1  100 B\n"
        "role 1:\n    recv 0  100 B\nrole 2:\n    recv 0  416 B\nrole others:\n    compute 0 ns\n"
    )
    return odonata.run(f"""
        [machine]
        topology = "torus"
        dims = [2]
        wrap = false
        cores_per_node = 2
        class.local = {{ bandwidth = "425 MB/s", latency = "100 ns" }}
        class.terminal = {{ bandwidth = "2.55 GB/s", latency = "100 ns" }}
        [[job]]
        program = {{ name = "file", path = "{path}", final_barrier = false }}
        ranks = 4
        ranks_per_node = 2
        [engine]
        kind = "packet"
        preset = "bgp"
        routing = "torus-deterministic"
        injection = {{ preset = "dcmf" }}
        record_messages = true
        [mpi]
        preset = "study"
        host = "bgp"
        """)


@cache
def over_and_over() -> Run:
    """Two programs in turn, three times, and one in the background; all of them compute only."""
    programs = {}
    for name, time in (("a", "1 us"), ("b", "2 us"), ("c", "2 us")):
        path = directory() / f"{name}.program"
        path.write_text(f"phase {name}\ncompute {time}\n")
        programs[name] = f'{{ name = "file", path = "{path}", final_barrier = false }}'
    jobs = (
        f'start = "1 us"\nrepeat = 3\nprogram = [{programs["a"]}, {programs["b"]}]\n',
        f"background = true\nprogram = {programs['c']}\n",
    )
    text = "".join(f"[[job]]\nranks = 1\n{job}" for job in jobs)
    return odonata.run(f'{DRAGONFLY}{text}[engine]\nkind = "packet"\nrouting = "min"\n')


@cache
def in_turn() -> Run:
    """Two programs of one barrier, one after the other."""
    programs = []
    for name, text in (("first", "barrier\n"), ("second", "compute 1 us\nbarrier\n")):
        path = directory() / f"{name}.program"
        path.write_text(text)
        programs.append(f'{{ name = "file", path = "{path}", final_barrier = false }}')
    job = f"[[job]]\nranks = 2\nranks_per_node = 1\nprogram = [{', '.join(programs)}]\n"
    engine = '[engine]\nkind = "packet"\nrouting = "min"\nrecord_calls = true\n'
    return odonata.run(f"{DRAGONFLY}{job}{engine}")


@cache
def without_network() -> Run:
    """A message in the LogGOPS model, and two ranks that wait for each other."""
    jobs = []
    for name, text, start in (("pair", MESSAGE, "100 ns"), ("stuck", CROSSED, "0 s")):
        path = directory() / f"{name}-loggops.program"
        path.write_text(text)
        jobs.append(
            f'[[job]]\nname = "{name}"\nranks = 2\nranks_per_node = 1\nstart = "{start}"\n'
            f'program = {{ name = "file", path = "{path}", final_barrier = false }}\n'
        )
    return odonata.run(f"""
        {DRAGONFLY}
        {"".join(jobs)}
        [engine]
        kind = "loggops"
        latency = "1 us"
        overhead = "200 ns"
        gap = "400 ns"
        gap_per_byte = "1 ns"
        """)


STREAMS = """
compute 2 us
on stream side:
    compute 5 us
compute 1 us
on stream side:
    compute 3 us
    record done
await done
compute 4 us
"""


@cache
def in_streams() -> Run:
    """Two ranks that compute in two streams."""
    path = directory() / "streams.program"
    path.write_text(STREAMS)
    return odonata.run(f"""
        {DRAGONFLY}
        [[job]]
        program = {{ name = "file", path = "{path}", final_barrier = false }}
        ranks = 2
        ranks_per_node = 1
        [engine]
        kind = "packet"
        routing = "min"
        record_calls = true
        [mpi]
        host = "ideal"
        """)


ROUNDS = 100
SAMPLE_ERROR = 0.05


@cache
def round_after_round(rounds: int = ROUNDS, *, all_of_them: bool = False) -> Run:
    """Nine ranks exchange 30 kB by paths that are drawn, in equal rounds. Most rounds are skipped.

    The computation first: when a round begins, no rank sends. No final barrier: its packets would be in
    cells of latencies and in no round.
    """
    path = directory() / f"{rounds}-rounds.program"
    path.write_text(f"""repeat {rounds}:
    compute 20 us
    irecv (rank + 5) % ranks  30 kB
    isend (rank + ranks - 5) % ranks  30 kB
    waitall
    barrier
""")
    nodes = ", ".join(f'"g{rank}r{rank % 4}n0"' for rank in range(9))
    skipping = "" if all_of_them else f"fast_forward = {{ error = {SAMPLE_ERROR} }}"
    return odonata.run(f"""
        {DRAGONFLY}
        [[job]]
        program = {{ name = "file", path = "{path}", final_barrier = false }}
        ranks = 9
        ranks_per_node = 1
        placement = {{ name = "list", nodes = [{nodes}] }}
        [engine]
        kind = "packet"
        routing = "par"
        {skipping}
        """)


PROGRAM_RUNS: dict[str, Callable[[], Run]] = {
    "in streams": in_streams,
    "talking": talking,
    "gathered": gathered,
    "through fifos": through_fifos,
    "in turn": in_turn,
    "round after round": round_after_round,
    "over and over": over_and_over,
    "without network": without_network,
}
