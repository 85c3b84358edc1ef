"""Colours of jobs and other categories, which the engines and the viewer read from the same file.

The seven colours of Okabe and Ito (2008) are distinct with any colour vision. What follows them differs:
jobs may be black, while figures use black for text and lines.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_COLORS = json.loads(Path(__file__).with_name("colors.json").read_text(encoding="utf-8"))

OKABE_ITO: tuple[str, ...] = tuple(_COLORS["okabe_ito"])
BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILLION, YELLOW = OKABE_ITO

FIGURES: tuple[str, ...] = (*OKABE_ITO, *_COLORS["then"]["figures"])
"""For everything in a figure without its own colour."""

COUNTERS: tuple[str, ...] = (*OKABE_ITO, *_COLORS["then"]["counters"])
"""For jobs of hardware counters."""

RAMPS: dict[str, Any] = json.loads(Path(__file__).with_name("ramps.json").read_text(encoding="utf-8"))
"""Colours of values by name, low to high: `label`, `diverging`, colours on `light` and on `dark` ground."""
