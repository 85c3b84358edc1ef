"""Compares two traces of one program, without times and numbers of communicators.

Usage: same_calls.py ONE OTHER [free]. Each is a file with the lines of all ranks, or a list of files.
`free`: the lines of a rank may be in any order.
"""

import sys
from itertools import zip_longest
from pathlib import Path


def ranks(name: str) -> dict[str, list[str]]:
    """The lines of each rank; communicators are numbered in the order of their first line."""
    path = Path(name)
    lines = path.read_text().splitlines()
    if " " not in lines[0]:
        lines = [line for part in lines for line in (path.parent / part).read_text().splitlines()]
    found: dict[str, list[str]] = {}
    numbers: dict[tuple[str, str], str] = {}
    for line in lines:
        rank, *words = line.split()
        if words[0] in ("compute", "location"):
            continue
        made = 1 if words[0] == "comm_split" and words[1] != "0" else None
        on = len(words) - 1 if words[-2:-1] == ["on"] else None
        for at in (on, made):
            if at is not None:
                words[at] = numbers.setdefault((rank, words[at]), f"c{sum(of == rank for of, _ in numbers)}")
        found.setdefault(rank, []).append(" ".join(words))
    return found


one, other = ranks(sys.argv[1]), ranks(sys.argv[2])
for rank in sorted(one.keys() | other.keys(), key=int):
    sides = one.get(rank, []), other.get(rank, [])
    if sys.argv[3:] == ["free"]:
        sides = sorted(sides[0]), sorted(sides[1])
    for number, (here, there) in enumerate(zip_longest(*sides), 1):
        if here != there:
            sys.exit(f"rank {rank}, call {number}: '{here}' in {sys.argv[1]}, '{there}' in {sys.argv[2]}")
sys.stdout.write(f"{len(one)} ranks, {sum(map(len, one.values()))} calls\n")
