"""The small machine of the tests of GPCNeT, as a file and as a table."""

from __future__ import annotations

SMALL = """
[machine]
topology = "dragonfly"
p = 2
a = 4
h = 2
g = 9

[engine]
kind = "packet"
routing = "min"
"""
DRAGONFLY = {"topology": "dragonfly", "p": 2, "a": 4, "h": 2, "g": 9}
