"""Experiment files for the packet engine: open traffic on a dragonfly of 9 groups x 4 routers x 2 nodes."""

from __future__ import annotations

NODES = 72
NODES_PER_GROUP = 8
DRAGONFLY = 'topology = "dragonfly"\np = 2\na = 4\nh = 2\ng = 9'


def job(name: str = "one", pattern: str | None = "uniform", ranks: int = NODES, more: str = "") -> str:
    """A job of one rank per node; without a `pattern`, `more` has its line."""
    named = f'pattern = "{pattern}"\n' if pattern else ""
    return f'[[job]]\nname = "{name}"\n{named}ranks = {ranks}\nranks_per_node = 1\n{more}'


def experiment(
    *jobs: str,
    load: float | list[float] | None = 0.3,
    warm_up: str | None = None,
    measure: str | None = "10 us",
    traffic: str = "",
    engine: str = "",
) -> str:
    """The file; `load` is the text of all jobs or of each, and None makes closed traffic of them."""
    texts = list(jobs or [job()])
    if load is not None:
        loads = load if isinstance(load, list) else [load] * len(texts)
        more = f", {traffic}" if traffic else ""
        each = (f'traffic = {{ name = "open", load = {load}{more} }}\n' for load in loads)
        texts = [text + own for text, own in zip(texts, each, strict=True)]
    lines = ['kind = "packet"']
    lines += [f'{key} = "{value}"' for key, value in (("warm_up", warm_up), ("measure", measure)) if value]
    parts = [f"[machine]\n{DRAGONFLY}\n", *texts, "[engine]\n" + "\n".join(lines) + f"\n{engine}"]
    return "\n".join(parts)
