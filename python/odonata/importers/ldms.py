"""Counters of links from counters of Aries routers: what grew at a tile came over the cable of this tile.

`odonata.counters.ldms` reads the samples. The table does not say which link a tile belongs to, so the
machine's cable list must. A counter of an input queue (`AR_RTR_2_7_INQ_PRF_INCOMING_FLIT_VC0`) counts what
arrives over the cable, so it belongs to the link that leads to the router. What the table does not have stays
empty.
"""

from __future__ import annotations

import csv
import io
import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from odonata.counters.ldms import TILE, Growth, read_growth
from odonata.errors import OdonataError
from odonata.files import read_text
from odonata.importers.jobs import listed
from odonata.quantity import counted

FLITS = re.compile(r"INQ_PRF_INCOMING_FLIT_VC(\d)$")
STALLS = "INQ_PRF_ROWBUS_STALL_CNT"
CABLE = re.compile(
    r"(?P<router>c\d+-\d+c\d+s\d+a\d+)l(?P<row>\d)(?P<column>\d)\((?P<at>\d+:\d+:\d+)\)\s+"
    r"(?P<color>green|black|blue)\s*->\s*\w[\w-]*\((?P<to>\d+:\d+:\d+)\)"
)
COLORS = {"green": "g", "black": "k", "blue": "b"}

Place = tuple[int, int, int]
Tile = tuple[str, str]


@dataclass(frozen=True)
class LinkRow:
    """A link and what grew on it; None is what the table does not have."""

    source: Place
    target: Place
    color: str
    seconds: float
    flits: dict[int, int]
    """By virtual channel."""
    stalls: int | None


@dataclass(frozen=True)
class LinkCounters:
    """Counters of links.

    Attributes:
        rows: The links with counters.
        routers: Number of routers that were read.
        seconds: Shortest and longest time between the first and the last sample of a router.
        notes: What the table lacks, and what was not counted; a line each.
    """

    rows: list[LinkRow]
    routers: int
    seconds: tuple[float, float]
    notes: list[str]

    @property
    def links(self) -> int:
        """Number of links that were read."""
        return len(self.rows)

    def text(self) -> str:
        """A table for the viewer: `sg,sr,sc,dg,dr,dc,color,seconds,flits,flits_vc_0,..,stalls`."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        channels = sorted({channel for row in self.rows for channel in row.flits})
        has_stalls = any(row.stalls is not None for row in self.rows)
        titles = ["sg", "sr", "sc", "dg", "dr", "dc", "color", "seconds"]
        titles += ["flits"] * bool(channels) + ["stalls"] * has_stalls
        writer.writerow([*titles, *(f"flits_vc_{channel}" for channel in channels)])
        for row in self.rows:
            words: list[object] = [*row.source, *row.target, row.color, f"{row.seconds:g}"]
            if channels:
                words.append(sum(row.flits.values()) if row.flits else "")
            if has_stalls:
                words.append("" if row.stalls is None else row.stalls)
            writer.writerow([*words, *(row.flits.get(channel, "") for channel in channels)])
        return out.getvalue()


def read(table: Path, links: Path) -> LinkCounters:
    """Reads samples, and the cables of the tiles that counted.

    Args:
        table: Output of `store_csv` with its header.
        links: The machine's cable list, one line per tile.

    Raises:
        OdonataError: A file has another format, a router is not in the list, there is only one sample, or no
            counter belongs to a cable.
    """
    cables = _cables(links)
    growth = read_growth(table)
    if any(one.router is None for one in growth):
        raise OdonataError(f"{table}, line 1: there is no column aries_rtr_id with the router of each row")
    routers = [one for one in growth if one.counts_tiles]
    rows: list[LinkRow] = []
    without: list[str] = []
    for one in routers:
        assert one.router is not None
        if one.router not in cables:
            raise OdonataError(f"{table}, line {one.line}: router {one.router} is not in {links}")
        counted = _by_tile(one)
        for tile, (at, to, color) in sorted(cables[one.router].items()):
            metrics = counted.get(tile, {})
            flits = {int(name[1]): int(value) for key, value in metrics.items() if (name := FLITS.match(key))}
            stalls = int(metrics[STALLS]) if STALLS in metrics else None
            if flits or stalls is not None:
                rows.append(LinkRow(to, at, color, one.seconds, flits, stalls))
            else:
                without.append(f"{one.router} tile {'_'.join(tile)}")
    if not rows:
        tiles = sorted({"_".join(tile) for one in routers for tile in _by_tile(one)})
        raise OdonataError(
            f"{table} counts no flits and no stalls on the cables of {links}: it has counters of tiles "
            f"{listed(tiles) or 'none'}, but needs {listed(without)}",
            hint="Expected AR_RTR_r_c_INQ_PRF_INCOMING_FLIT_VCk or AR_RTR_r_c_INQ_PRF_ROWBUS_STALL_CNT.",
        )
    seconds = [one.seconds for one in routers]
    others = sum(len(_by_tile(one).keys() - cables[str(one.router)].keys()) for one in routers)
    notes = _notes(growth, rows, without, others)
    return LinkCounters(rows, len(routers), (min(seconds), max(seconds)), notes)


def _by_tile(one: Growth) -> dict[Tile, dict[str, float]]:
    found: dict[Tile, dict[str, float]] = defaultdict(dict)
    for name, value in one.grown.items():
        if tile := TILE.match(name):
            found[tile[1], tile[2]][tile[3]] = value
    return found


def _notes(growth: list[Growth], rows: list[LinkRow], without: list[str], others: int) -> list[str]:
    channels = sorted({channel for row in rows for channel in row.flits})
    notes = []
    if not channels:
        notes.append("no flits: the table has no AR_RTR_r_c_INQ_PRF_INCOMING_FLIT_VCk")
    elif len(channels) < 8:
        notes.append(f"flits are of virtual channels {', '.join(map(str, channels))}")
    if all(row.stalls is None for row in rows):
        notes.append(f"no stalls: the table has no AR_RTR_r_c_{STALLS}")
    if without:
        notes.append(
            f"{counted(len(without), 'link')} left out: the table has no counters of {listed(without)}"
        )
    if others:
        notes.append(
            f"not read: {counted(others, 'tile')} without a cable in the list, such as processor tiles"
        )
    if again := sum(not one.counts_tiles for one in growth):
        notes.append(f"not counted again: {counted(again, 'producer')} with the same routers")
    if restarted := [str(one.router) for one in growth if one.counts_tiles and one.restarts]:
        notes.append(f"counters restarted at zero, and what they had counted is lost: {listed(restarted)}")
    return notes


def _cables(links: Path) -> dict[str, dict[Tile, tuple[Place, Place, str]]]:
    """By router and tile: its position, the position of the other end, the colour."""
    text = read_text(links, "a cable list of a Cray XC")

    def place(word: str) -> Place:
        group, row, column = (int(number) for number in word.split(":"))
        return group, row, column

    found: dict[str, dict[Tile, tuple[Place, Place, str]]] = {}
    for match in map(CABLE.match, text.splitlines()):
        if match:
            cable = (place(match["at"]), place(match["to"]), COLORS[match["color"]])
            found.setdefault(match["router"], {})[match["row"], match["column"]] = cable
    if not found:
        raise OdonataError(
            f"{links} lists no cable of a Cray XC; expected lines like c0-0c0s0a0l00(0:0:0) green -> ..."
        )
    return found
