"""Writes the small traces of the tutorial: a DUMPI set (solver) and a Chakra set (step).

They are made up: a solver with a ring of neighbours, and one step of training with overlapped reductions.
wave.trace is recorded: vmpicc -O2 -o wave wave.c; vmpirun -n 64 -trace wave.trace ./wave
"""

import gzip
import json
import struct
from pathlib import Path

HERE = Path(__file__).parent
RANKS, STEPS = 32, 5
INIT, ISEND, IRECV, WAITALL, ALLREDUCE, FINALIZE = 124, 8, 12, 18, 65, 125
DOUBLE, SUM, WORLD = 14, 3, 2


class Dumpi:
    """The file of one rank: records, then header, counts of calls, and the index."""

    def __init__(self) -> None:
        self.data, self.now_ns, self.calls = b"\xff\xaa\xddDUMPI" + bytes(8), 0, [0] * 291

    def call(self, kind: int, form: str, *arguments: int, work_us: int = 0, takes_us: int = 1) -> None:
        """One record with its wall times."""
        start = self.now_ns + 1_000 * work_us
        self.now_ns = start + 1_000 * takes_us
        times = [part for at in (start, self.now_ns) for part in divmod(at, 10**9)]
        self.data += struct.pack(">HBHHIHI", kind, 0x48, 0, *times) + struct.pack(">" + form, *arguments)
        self.calls[kind] += 1

    def end(self) -> bytes:
        """The file."""
        header = len(self.data) + 2
        body = self.data + struct.pack(">HBBB", 293, 1, 0, 0)
        counts = struct.pack(">Q582i", 0xF007FEE7, *self.calls, *[0] * 291)
        index = struct.pack(">7Q", 0, 0, 0, header, 8, len(body), 0)
        return body + counts + b"\xff\xaa\xddDUMPI" + index


def solver(rank: int) -> bytes:
    """Ten neighbours at distances 1 to 5 on a ring, 64 KiB each, and a sum, five times."""
    file = Dumpi()
    file.call(INIT, "i", 0)
    for _ in range(STEPS):
        for count, (kind, sign) in enumerate([(IRECV, -1), (ISEND, 1)]):
            for distance in range(1, 6):
                peer = (rank + sign * distance) % RANKS
                request = 2 + 5 * count + distance
                file.call(kind, "iHiiHi", 8192, DOUBLE, peer, distance, WORLD, request)
        file.call(WAITALL, "i11i", 10, 10, *range(3, 13))
        file.call(ALLREDUCE, "iHBH", 1, DOUBLE, SUM, WORLD, work_us=200)
    file.call(FINALIZE, "")
    return file.end()


def step() -> dict[str, list[dict[str, object]]]:
    """Four layers: forward, then backward with a reduction of each layer during the next computation."""
    nodes: list[dict[str, object]] = []

    def add(kind: int, waits: list[int], **more: object) -> int:
        nodes.append({"Id": len(nodes), "NodeType": kind, "data_deps": waits, "is_cpu_op": False, **more})
        return len(nodes) - 1

    last: list[int] = []
    for layer in range(8):
        last = [add(4, last, Name=f"compute {layer}", runtime=150)]
        if layer >= 4:
            add(7, last, Name=f"reduce {7 - layer}", comm_type=0, comm_size=4 << 20)
    return {"workload_graph": nodes}


if __name__ == "__main__":
    for rank in range(RANKS):
        (HERE / f"solver-{rank:04}.bin").write_bytes(gzip.compress(solver(rank), mtime=0))
    (HERE / "solver.meta").write_text(f"numprocs={RANKS}\nfileprefix=solver\n")
    for rank in range(16):
        (HERE / f"step.{rank}.et").write_text(json.dumps(step()) + "\n")
