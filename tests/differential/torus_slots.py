"""Torus router and NIC of a Blue Gene, slot by slot: the plain twin of the packet engine's torus.

A slot is the time of one full packet on a link. In a slot each link takes at most one packet, into a channel
with room for it at the other end. A router looks at all of its packets in every slot, the longest queue
first, packets of its node last. Dynamic channels first, the one with most room; then the bubble channel in
the order of the dimensions. Tokens come back at the end of the slot.
"""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass, field
from functools import cache
from itertools import product

BUBBLE = 0
"""The channel that always moves; the others are dynamic."""
ROOM = 4
"""Packets in the buffer of a link and channel, and in a torus FIFO."""
NODE = 6
"""Number of the node's own port. Before it: six links, +x, -x, +y, -y, +z, -z."""

Place = tuple[int, int, int]
"""Router, port, channel; at the port of the node the number of the FIFO."""


@dataclass(frozen=True)
class Case:
    """An all-to-all in random order, and what the routers have for it."""

    dims: tuple[int, int, int] = (4, 4, 4)
    packets: int = 4
    fifos: int = 6
    dynamic: int = 2
    looks_again: bool = True
    """Otherwise a packet decides once, at the head of its queue, and waits for its link, as in the engine."""
    outputs: int = 0
    """Room for packets at the start of each link and channel, as in the engine. With 0 a head waits."""
    greedy: bool = False
    """As in the engine: a packet decides as soon as it is at the head, also one of the node. An arrived
    packet waits behind others. No queue goes first because it is long. Needs `outputs`."""


@dataclass(eq=False)
class Packet:
    """Signed hops left along each dimension; link and channel, if it has decided."""

    hops: list[int]
    decision: tuple[int, int] | None = None


def hops(start: int, end: int, size: int) -> int:
    """Hops along a ring in the shorter direction; if both are equal, up from an even coordinate."""
    up = (end - start) % size
    if 2 * up == size:
        return up if start % 2 == 0 else -up
    return up if 2 * up < size else up - size


@dataclass
class Torus:
    """The state at the start of a slot."""

    case: Case
    draw: random.Random = field(default_factory=lambda: random.Random(1))

    def __post_init__(self) -> None:
        dims = self.case.dims
        nodes = list(product(*map(range, dims)))
        number = {node: router for router, node in enumerate(nodes)}
        self.after = [
            [
                number[
                    (*node[:d], (node[d] + sign) % dims[d], *node[d + 1 :])  # type: ignore[index]
                ]
                for d in range(3)
                for sign in (1, -1)
            ]
            for node in nodes
        ]
        ports = product(range(len(nodes)), range(NODE), range(1 + self.case.dynamic))
        self.queues: dict[Place, deque[Packet]] = {place: deque() for place in ports}
        self.taken = dict.fromkeys(self.queues, 0)
        self.outputs: dict[Place, deque[Packet]] = {place: deque() for place in self.queues}
        for place in product(range(len(nodes)), [NODE], range(self.case.fifos)):
            self.queues[place] = deque()
        self.unsent = [self._messages(node, nodes) for node in nodes]
        self.left = sum(map(len, self.unsent))
        self.of_router = [[p for p in self.queues if p[0] == r] for r in range(len(nodes))]

    def _messages(self, node: tuple[int, ...], nodes: list[tuple[int, ...]]) -> deque[Packet]:
        others = [other for other in nodes if other != node]
        self.draw.shuffle(others)
        return deque(
            Packet([hops(*ends) for ends in zip(node, other, self.case.dims, strict=True)])
            for other in others
            for _ in range(self.case.packets)
        )

    def slot(self) -> None:
        arrivals: list[tuple[Place, Packet]] = []
        tokens: list[Place] = []
        greedy = self.case.greedy
        for router, places in enumerate(self.of_router):
            for place in places:
                self._fill(place)
            heads = [place for place in places if self.queues[place]]
            self.draw.shuffle(heads)
            if greedy:
                for place in heads:
                    self._decide_early(place)
            heads.sort(key=lambda place: (place[1] == NODE, 0 if greedy else -len(self.queues[place])))
            busy: set[int] = set()
            for place in heads:
                link = self._link(place, self.queues[place][0], busy)
                if link is None:
                    continue
                packet = self.queues[place].popleft()
                if place[1] != NODE:
                    tokens.append(place)
                packet.hops[link[0] // 2] -= 1 if link[0] % 2 == 0 else -1
                packet.decision = None
                self.outputs[(router, *link)].append(packet)
                if not self.case.outputs:
                    busy.add(link[0])
                if greedy:
                    self._fill(place)
                    self._leave(place)
                    self._decide_early(place)
        for router, link in product(range(len(self.of_router)), range(NODE)):
            channels = [(router, link, channel) for channel in range(1 + self.case.dynamic)]
            most = 1 if greedy else ROOM
            place = max(channels, key=lambda place: (min(len(self.outputs[place]), most), self.draw.random()))
            if self.outputs[place]:
                arrivals.append(((self.after[router][link], *place[1:]), self.outputs[place].popleft()))
        for place, packet in arrivals:
            if any(packet.hops) or greedy:
                self.queues[place].append(packet)
                self._leave(place)
            else:
                self.taken[place] -= 1
                self.left -= 1
        for place in tokens:
            self.taken[place] -= 1

    def _fill(self, place: Place) -> None:
        unsent = self.unsent[place[0]]
        while place[1] == NODE and len(self.queues[place]) < ROOM and unsent:
            self.queues[place].append(unsent.popleft())

    def _leave(self, place: Place) -> None:
        """Delivers the packets that have arrived, up to the first other one."""
        while self.queues[place] and not any(self.queues[place][0].hops):
            self.queues[place].popleft()
            self.taken[place] -= 1
            self.left -= 1

    def _decide_early(self, place: Place) -> None:
        if self.queues[place] and self.queues[place][0].decision is None:
            self.queues[place][0].decision = self._decide(place[0], self.queues[place][0], set())

    def _is_busy(self, router: int, link: int, channel: int, busy: set[int]) -> bool:
        if self.case.outputs:
            return len(self.outputs[router, link, channel]) >= self.case.outputs
        return link in busy

    def _decide(self, router: int, packet: Packet, busy: set[int]) -> tuple[int, int]:
        """Link and channel of a packet; a place in a dynamic channel is reserved."""
        links = [2 * d + (left < 0) for d, left in enumerate(packet.hops) if left]
        choices = [
            (ROOM - self.taken[self.after[router][link], link, dynamic], self.draw.random(), link, dynamic)
            for link in links
            for dynamic in range(1, 1 + self.case.dynamic)
            if not (self.case.looks_again and self._is_busy(router, link, dynamic, busy))
        ]
        room, _, *found = max(choices, default=(0, 0.0, 0, 0))
        if room <= 0:
            return links[0], BUBBLE
        self.taken[self.after[router][found[0]], found[0], found[1]] += 1
        return found[0], found[1]

    def _link(self, place: Place, packet: Packet, busy: set[int]) -> tuple[int, int] | None:
        """Link and channel that the packet takes now; its place there is reserved."""
        router, port, channel = place
        decision = packet.decision or self._decide(router, packet, busy)
        if not self.case.looks_again:
            packet.decision = decision
        if self._is_busy(router, *decision, busy):
            return None
        if decision[1] == BUBBLE:
            following = (self.after[router][decision[0]], *decision)
            if ROOM - self.taken[following] < (1 if (port, channel) == decision else 2):
                return None
            self.taken[following] += 1
        return decision


@cache
def share_of_bound(case: Case) -> float:
    """Slots that the busiest link needs over the slots that the all-to-all takes. The rings are even."""
    torus = Torus(case)
    slots = 0
    while torus.left:
        torus.slot()
        slots += 1
    x, y, z = case.dims
    return x * y * z * max(case.dims) / 8 * case.packets / slots
