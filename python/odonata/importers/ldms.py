"""Counters of Aries routers from LDMS (`store_csv`), as counters of links.

A row is a sample of a router. It has the time, the producer, counters that only grow, and the router's name
in `aries_rtr_id` (`c0-0c0s0a0`). Counters have Cray's names, such as `AR_RTR_2_7_INQ_PRF_INCOMING_FLIT_VC0`
for the tile in row 2 and column 7. A counter of an input queue counts what arrives over the tile's cable. The
machine's cable list gives that cable. The traffic of a link is the difference between the last sample and the
first.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from odonata.errors import OdonataError
from odonata.textfile import read_text

ROUTER = ("aries_rtr_id", "AriesRouter")
"""The column with the router's name, and its former name."""
TIME = ("#Time", "Time", "timestamp")
TILE = re.compile(r"AR_RTR_(\d)_(\d)_(INQ_PRF_\w+?)(?: \(.*\))?$")
FLITS = re.compile(r"INQ_PRF_INCOMING_FLIT_VC(\d)$")
STALLS = re.compile(r"INQ_PRF_ROWBUS_STALL_CNT$")
CABLE = re.compile(
    r"(?P<router>c\d+-\d+c\d+s\d+a\d+)l(?P<row>\d)(?P<column>\d)\((?P<at>\d+:\d+:\d+)\)\s+"
    r"(?P<color>green|black|blue)\s*->\s*\w[\w-]*\((?P<to>\d+:\d+:\d+)\)"
)
COLORS = {"green": "g", "black": "k", "blue": "b"}
WRAP = 1 << 48
"""Aries counters have 48 bits."""

Place = tuple[int, int, int]


@dataclass(frozen=True)
class LinkCounters:
    """Counters of links over a period.

    Attributes:
        rows: Source and target (group, row, column each), colour, flits, stalls, flits of each channel.
        routers: Number of routers that were read.
        seconds: Longest time between the first and the last sample of a router.
    """

    rows: list[tuple[Place, Place, str, int, int, list[int]]]
    routers: int
    seconds: float

    @property
    def links(self) -> int:
        """Number of links that were read."""
        return len(self.rows)

    def text(self) -> str:
        """A table for the viewer: `sg,sr,sc,dg,dr,dc,color,flits,stalls,flits_vc_0,...`."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        channels = max((len(row[5]) for row in self.rows), default=0)
        names = [f"flits_vc_{channel}" for channel in range(channels)]
        writer.writerow(["sg", "sr", "sc", "dg", "dr", "dc", "color", "flits", "stalls", *names])
        for source, target, color, flits, stalls, by_channel in self.rows:
            writer.writerow([*source, *target, color, flits, stalls, *by_channel])
        return out.getvalue()


def read(table: Path, links: Path) -> LinkCounters:
    """Reads samples, and the cables of the tiles that counted.

    Args:
        table: Output of `store_csv` with its header.
        links: The machine's cable list, one line per tile.

    Raises:
        OdonataError: A file has another format, a router is not in the list, or there is only one sample.
    """
    cables = _cables(links)
    first, last = _samples(table)
    rows: list[tuple[Place, Place, str, int, int, list[int]]] = []
    seconds = 0.0
    for router, (line, begin, before) in first.items():
        _, end, after = last[router]
        if end <= begin:
            raise OdonataError(f"{table}, line {line}: only one sample of {router}; expected two or more")
        seconds = max(seconds, end - begin)
        if router not in cables:
            raise OdonataError(f"{table}, line {line}: router {router} is not in {links}")
        for (row, column), (at, to, color) in sorted(cables[router].items()):
            flits, stalls = [0] * 8, 0
            for (tile_row, tile_column, counter), value in after.items():
                if (tile_row, tile_column) != (row, column):
                    continue
                grown = (value - before[tile_row, tile_column, counter]) % WRAP
                channel = FLITS.match(counter)
                if channel:
                    flits[int(channel[1])] += grown
                elif STALLS.match(counter):
                    stalls += grown
            rows.append((to, at, color, sum(flits), stalls, flits))
    return LinkCounters(rows, len(first), seconds)


Sample = tuple[int, float, dict[tuple[int, int, str], int]]


def _samples(table: Path) -> tuple[dict[str, Sample], dict[str, Sample]]:
    """The first and the last sample of each router by time: line, time, counters."""
    rows = _rows(table)
    head_line, head = next(rows)
    router = next((head.index(name) for name in ROUTER if name in head), None)
    time = next((head.index(name) for name in TIME if name in head), None)
    tiles = [(i, match) for i, name in enumerate(head) if (match := TILE.match(name)) is not None]
    for found, what in ((router, ROUTER[0]), (time, TIME[0]), (tiles or None, "AR_RTR_0_0_INQ_PRF_...")):
        if found is None:
            raise OdonataError(
                f"{table}, line {head_line}: there is no column {what}; found {', '.join(head[:8])}",
                hint="Use the output of LDMS store_csv for Aries routers, with its header.",
            )
    assert router is not None
    assert time is not None
    first: dict[str, Sample] = {}
    last: dict[str, Sample] = {}
    for line, row in rows:
        if len(row) != len(head):
            raise OdonataError(f"{table}, line {line}: {len(row)} columns, but the header has {len(head)}")
        try:
            at = float(row[time])
            counters = {(int(m[1]), int(m[2]), m[3]): int(row[i]) for i, m in tiles}
        except ValueError as error:
            raise OdonataError(f"{table}, line {line}: {error}; expected a time and counters") from None
        name = row[router].strip().strip('"')
        sample = (line, at, counters)
        if name not in first or at < first[name][1]:
            first[name] = sample
        if name not in last or at >= last[name][1]:
            last[name] = sample
    if not first:
        raise OdonataError(f"{table} has no samples")
    return first, last


def _rows(table: Path) -> Iterator[tuple[int, list[str]]]:
    text = read_text(table, "the output of LDMS store_csv")
    reader = csv.reader(io.StringIO(text))
    for row in reader:
        if row:
            yield reader.line_num, [word.strip() for word in row]
    if not text.strip():
        raise OdonataError(f"{table} is empty; expected the output of LDMS store_csv")


def _cables(links: Path) -> dict[str, dict[tuple[int, int], tuple[Place, Place, str]]]:
    """By router and tile: its position, the position of the other end, the colour."""
    text = read_text(links, "a cable list of a Cray XC")

    def place(word: str) -> Place:
        group, row, column = (int(number) for number in word.split(":"))
        return group, row, column

    found: dict[str, dict[tuple[int, int], tuple[Place, Place, str]]] = {}
    for match in map(CABLE.match, text.splitlines()):
        if match:
            tile = int(match["row"]), int(match["column"])
            cable = (place(match["at"]), place(match["to"]), COLORS[match["color"]])
            found.setdefault(match["router"], {})[tile] = cable
    if not found:
        raise OdonataError(
            f"{links} lists no cable of a Cray XC; expected lines like c0-0c0s0a0l00(0:0:0) green -> ..."
        )
    return found
