"""Measures a machine's constants, under mpirun with at least two ranks on different nodes.

* alpha, gamma: shortest and longest half round trip of 8 bytes over pairs of ranks, as in the latency
  benchmark of HPC Challenge. These are alpha(h_m) and alpha(D), so gamma = (alpha(D) - alpha(h_m)) / (D -
  h_m).
* beta: 8 bytes divided by the best bandwidth of large messages.
* t_i: SciPy's sparse product with a rank's rows and non-zeros on the levels of the paper's validation
  problem.
* Thread bandwidths: STREAM's triad with as many concurrent threads.

Needs mpi4py and SciPy (`pip install 'odonata[calibrate]'`).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from odonata.amg.hierarchy import Hierarchy
from odonata.amg.machines import ParameterSet
from odonata.amg.model import extra_hops
from odonata.amg.optional import optional
from odonata.errors import OdonataError

SMALL_BYTES = 8
LARGE_BYTES = 2_000_000
TRIAD_VALUES = 4_000_000
"""Elements per array and thread:

Three arrays of 32 MB, larger than any cache. Smaller arrays measure the cache.
"""


@dataclass(frozen=True)
class MeasuredConstants:
    """Measured constants; the rest of a parameter file is description."""

    alpha_s: float
    beta_s_per_value: float
    gamma_s: float
    flop_s: list[float]
    thread_bandwidth: list[tuple[int, float]]


def measure(
    like: ParameterSet, hierarchy: Hierarchy, *, repeats: int = 200, pairs: int = 64
) -> MeasuredConstants | None:
    """Measures the constants. Every rank must call it; only rank 0 gets a result, other ranks get None.

    Raises:
        OdonataError: mpi4py or SciPy is missing, or there is only one rank.
    """
    mpi = optional("mpi4py.MPI", "mpi4py", "calibration")
    optional("scipy.sparse", "scipy", "calibration")
    world = mpi.COMM_WORLD
    if world.size < 2:
        raise OdonataError(
            "calibration needs at least two MPI ranks",
            hint="Run it as in: mpirun -np 2 --map-by node odonata amg calibrate",
        )
    latencies, rates = _messages(mpi, world, repeats, pairs)
    # As in the paper: the largest time over all processes.
    flop_s = [world.allreduce(s, op=mpi.MAX) for s in spmv_seconds_per_flop(hierarchy)]
    world.Barrier()
    if world.rank != 0:
        return None
    extra = extra_hops(like)
    gamma = (max(latencies) - min(latencies)) / extra if extra else 0.0
    counts = [n for n in (1, 2, 4, 8, 16, 32, 64, 128) if n <= like.cores_per_node]
    bandwidth = [(n, triad_bytes_per_s(n)) for n in counts]
    return MeasuredConstants(min(latencies), 8.0 / max(rates), gamma, flop_s, bandwidth)


def _messages(mpi: Any, world: Any, repeats: int, pairs: int) -> tuple[list[float], list[float]]:
    """Latencies and bandwidths between rank 0 and up to `pairs` other ranks, preferably on other nodes."""
    names = world.allgather(mpi.Get_processor_name())
    others = [r for r in range(1, world.size) if names[r] != names[0]] or list(range(1, world.size))
    chosen = others[:: max(1, len(others) // pairs)]
    latencies, rates = [], []
    for partner in chosen:
        world.Barrier()
        latencies.append(world.bcast(_ping_pong(mpi, world, partner, SMALL_BYTES, repeats), root=0))
        seconds = _ping_pong(mpi, world, partner, LARGE_BYTES, max(repeats // 20, 5))
        rates.append(world.bcast(LARGE_BYTES / seconds if seconds else 0.0, root=0))
    return latencies, rates


def _ping_pong(mpi: Any, world: Any, partner: int, size: int, repeats: int) -> float:
    """Best of five means of half a round trip, in seconds; valid on rank 0."""
    buffer = np.zeros(size, dtype=np.uint8)
    best = np.inf
    for _ in range(5):
        start = mpi.Wtime()
        for _ in range(repeats):
            if world.rank == 0:
                world.Send(buffer, partner)
                world.Recv(buffer, partner)
            elif world.rank == partner:
                world.Recv(buffer, 0)
                world.Send(buffer, 0)
        best = min(best, (mpi.Wtime() - start) / repeats / 2)
    return float(best)


def spmv_seconds_per_flop(hierarchy: Hierarchy, *, products: int = 10) -> list[float]:
    """t_0, t_1, t_2: seconds per flop of a sparse product with a rank's part of the first three levels."""
    sparse = optional("scipy.sparse", "scipy", "calibration")
    result = []
    for level in hierarchy.levels[:3]:
        rows = max(int(level["unknowns"] / hierarchy.ranks), 1)
        entries = max(round(level["nonzeros_per_row"]), 1)
        reach = np.linspace(-entries * 8, entries * 8, entries).astype(int)
        columns = (np.arange(rows)[:, None] + reach[None, :]) % rows
        start = np.arange(0, rows * entries + 1, entries)
        matrix = sparse.csr_matrix((np.ones(rows * entries), columns.ravel(), start), shape=(rows, rows))
        vector = np.ones(rows)
        matrix @ vector
        seconds = _best(lambda m=matrix, v=vector: [m @ v for _ in range(products)])  # type: ignore[misc]
        result.append(seconds / (products * 2 * matrix.nnz))
    return result


def triad_bytes_per_s(threads: int) -> float:
    """Bandwidth per thread of a = b + s c with `threads` concurrent threads, in bytes per second."""
    arrays = [[np.full(TRIAD_VALUES, float(k)) for k in range(3)] for _ in range(threads)]

    def work(a: Any, b: Any, c: Any) -> None:
        # Two passes over pieces that stay in cache, because NumPy has no fused form.
        for i in range(0, TRIAD_VALUES, 20_000):
            part = slice(i, i + 20_000)
            np.multiply(c[part], 3.0, out=a[part])
            np.add(a[part], b[part], out=a[part])

    def all_at_once() -> None:
        running = [threading.Thread(target=work, args=tuple(own)) for own in arrays]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()

    return 3 * 8 * TRIAD_VALUES / _best(all_at_once)


def _best(function: Callable[[], object], repeats: int = 5) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def to_toml(name: str, measured: MeasuredConstants, like: ParameterSet) -> str:
    """Text of a parameter file: the measured constants, and the description of `like`."""
    c = like.constants
    lines = [
        f'name = "{name}"',
        f"alpha_us = {measured.alpha_s * 1e6:.6g}",
        f"beta_ns_per_value = {measured.beta_s_per_value * 1e9:.6g}",
        f"gamma_us = {measured.gamma_s * 1e6:.6g}",
        f"flop_ns = [{', '.join(f'{s * 1e9:.6g}' for s in measured.flop_s)}]",
        f"node_bandwidth_gb_per_s = {c['node_bandwidth'] / 1e9:.6g}",
        f"cores_per_node = {c['cores_per_node']}",
        f"cache_mb_per_node = {c['cache_bytes_per_node'] / 1e6:.6g}",
        "",
        "[thread_bandwidth_mb_per_s]",
        *(f"{threads} = {rate / 1e6:.6g}" for threads, rate in measured.thread_bandwidth),
        "",
        "[network]",
        f'kind = "{c["network"]["kind"]}"',
        *_network_lines(c["network"]["parameters"].items()),
    ]
    return "\n".join(lines) + "\n"


def _network_lines(items: Sequence[tuple[str, Any]] | Any) -> list[str]:
    return [f"{key} = {str(value).lower() if isinstance(value, bool) else value}" for key, value in items]
