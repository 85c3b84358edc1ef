"""Small runs with a congestion control."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

from run_files import DRAGONFLY, directory

import odonata
from odonata import Run

PACKET = 512

CONTROLS = {
    "windowed": 'name = "window", rule = "fixed", window = "512 B", mark_above = "512 B"',
    "held by a port": 'name = "pair", q_hi = "1 KiB", q_lo = "0 B", first_window = "1 KiB"',
}


@cache
def controlled(name: str) -> Run:
    """Three nodes send 10, 8 and 6 packets to one; another job, the first one, sends far from them."""
    path = directory() / "incast.csv"
    rows = "".join(f"{rank},1,{count * PACKET}\n" for rank, count in ((2, 10), (4, 8), (6, 6)))
    path.write_text(f"src,dst,bytes\n{rows}")
    far = 'placement = { name = "list", nodes = ["g8r3n0", "g8r3n1"] }\n'
    job = f'[[job]]\npattern = "all-to-all"\nranks = 2\nranks_per_node = 1\nbytes = "512 B"\n{far}'
    job += f'[[job]]\npattern = {{ name = "file", path = "{path}" }}\nranks = 8\nranks_per_node = 1\n'
    engine = f'[engine]\nkind = "packet"\nrouting = "min"\ncontrol = {{ {CONTROLS[name]} }}\n'
    records = 'record_packets = true\ninterval = "100 ns"\n'
    return odonata.run(f"{DRAGONFLY}\n{job}{engine}{records}")


CLASSES = ("patient", "urgent")
"""Traffic classes of two jobs; the second one is served first."""


@cache
def classed() -> Run:
    """Two nodes of a router send 40 packets each to two of the next, in two classes, over one cable."""
    path = directory() / "class.csv"
    path.write_text(f"src,dst,bytes\n0,1,{40 * PACKET}\n")
    text = f"{DRAGONFLY}\n"
    for priority, name in enumerate(CLASSES):
        text += f'[[traffic_class]]\nname = "{name}"\npriority = {priority}\n'
    for number, name in enumerate(CLASSES):
        nodes = f'["g0r1n{number}", "g0r0n{number}"]'
        text += f'[[job]]\npattern = {{ name = "file", path = "{path}" }}\nranks = 2\nranks_per_node = 1\n'
        text += f'placement = {{ name = "list", nodes = {nodes} }}\ntraffic_class = "{name}"\n'
    return odonata.run(f'{text}[engine]\nkind = "packet"\nrouting = "min"\nrecord_packets = true\n')


CONTROL_RUNS: dict[str, Callable[[], Run]] = {
    **{name: partial(controlled, name) for name in CONTROLS},
    "two classes": classed,
}
