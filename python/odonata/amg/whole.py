"""A whole cycle on the packet engine with the program `amg`, including costs at the endpoints.

The costs of `ends` become keys of `[mpi]`: half of o to set up a send, half to set up a receive, g at the NIC
per message. All other keys are as in the preset `ideal`, where hosts and NICs take no time. The cycle runs
several times with one mechanism added each time: network, overhead, gap, matching, computation. The
difference between two runs is the cost of the mechanism.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from odonata import _core, toml
from odonata.amg.ends import Parts
from odonata.amg.machines import Ends, ParameterSet

STEPS = ("network", "overhead", "gap", "matching", "computation")
"""Order in which mechanisms are added."""
_ENDS = {"overhead": "overhead_s", "gap": "gap_s", "matching": "matching_s"}


def experiment(
    hierarchy: str,
    ranks: int,
    machine: ParameterSet,
    ends: Ends,
    *,
    preset: str,
    per_node: int,
    threads: int = 1,
    computes: bool = True,
    routing: str | None = None,
    placement: str = "compact",
    seed: int = 1,
) -> str:
    """An experiment of one cycle.

    Args:
        hierarchy: Directory of the hierarchy, or the name of a shipped one.
        ranks: Ranks of the hierarchy.
        machine: Parameter set with the flop times.
        ends: Endpoint costs.
        preset: Machine to simulate.
        per_node: Ranks per node.
        threads: OpenMP threads per rank.
        computes: Whether ranks compute between exchanges.
        routing: Routing of the packet engine; None for its default.
        placement: Placement of the job.
        seed: Seed of the engine.
    """
    engine: dict[str, Any] = {"kind": "packet", "seed": seed}
    if routing is not None:
        engine["routing"] = routing
    job = {
        "name": "amg",
        "ranks": ranks,
        "ranks_per_node": per_node,
        "placement": placement,
        "program": program(hierarchy, machine, ends, threads=threads, computes=computes),
    }
    machine_of = {"preset": preset}
    parts = ("[machine]", machine_of), ("[engine]", engine), ("[mpi]", mpi(ends)), ("[[job]]", job)
    return "\n".join(f"{heading}\n{toml.document(content)}" for heading, content in parts)


def mpi(ends: Ends) -> dict[str, str]:
    """The section `[mpi]` for these costs."""
    half = _picoseconds(ends.overhead_s / 2)
    others = {"nic_start": _picoseconds(ends.gap_s), "matching": _picoseconds(ends.matching_s)}
    return {"preset": "study", "host": "ideal", "send_setup": half, "receive_setup": half, **others}


def program(
    hierarchy: str, machine: ParameterSet, ends: Ends, *, threads: int = 1, computes: bool = True
) -> dict[str, Any]:
    """The program of the job."""
    flops = effective_flop_ns(machine, threads, ends.compute_factor) if computes else []
    return {"name": "amg", "hierarchy": hierarchy, "flop_ns": flops, "final_barrier": False}


def steps(ends: Ends) -> dict[str, tuple[Ends, bool]]:
    """By mechanism: the costs up to and including it in `STEPS`, and whether ranks compute.

    Mechanisms without cost are left out.
    """
    so_far, found = Ends(ends.compute_factor, 0.0, 0.0, 0.0), {}
    for step in STEPS:
        if field := _ENDS.get(step):
            if getattr(ends, field) == 0:
                continue
            so_far = replace(so_far, **{field: getattr(ends, field)})
        found[step] = so_far, step == "computation"
    return found


def parts(seconds: Mapping[str, float]) -> Parts:
    """Time that each mechanism adds, from the cycle times by step."""
    before, found = 0.0, {}
    for step, time in seconds.items():
        found[step] = time - before
        before = time
    return Parts(**found)


def effective_flop_ns(machine: ParameterSet, threads: int, factor: float) -> list[float]:
    """Nanoseconds per flop and level of a rank whose threads share its work."""
    slower = _core.amg.thread_slowdown(machine.constants, threads) / threads
    return [factor * slower * seconds * 1e9 for seconds in machine.constants["flop_s"]]


def simulate(
    hierarchy: Path | str,
    ranks: int,
    machine: ParameterSet,
    ends: Ends,
    *,
    progress: Callable[[str], None] | None = None,
    **keys: Any,
) -> Parts:
    """Time that each mechanism adds to a cycle, in the order of `STEPS`; other arguments as in `experiment`.

    Raises:
        OdonataError: The experiment is not valid.
    """
    name = str(hierarchy.absolute()) if isinstance(hierarchy, Path) else hierarchy
    seconds = {}
    for step, (costs, computes) in steps(ends).items():
        if progress:
            progress(step)
        seconds[step] = _cycle_s(experiment(name, ranks, machine, costs, computes=computes, **keys))
    return parts(seconds)


def _cycle_s(text: str) -> float:
    """Seconds from the first rank's first call to the last rank's end."""
    result = _core.Experiment(text, "<text>").run()
    return float(result["tables"]["jobs"]["completion_time_s"][0])


def _picoseconds(seconds: float) -> str:
    return f"{round(seconds * 1e12)} ps"
