"""Functions shared by the benchmarks."""

from __future__ import annotations

import os
import platform
from pathlib import Path

ROOT = Path(__file__).parents[1]


def machine() -> str:
    cpu = next(
        (
            line.split(":")[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if "model name" in line
        ),
        platform.processor(),
    )
    return f"{cpu}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before the run"


def write(name: str, title: str, lines: list[str]) -> None:
    """Saves results in `benches/results`."""
    results = ROOT / "benches" / "results" / f"{name}.md"
    results.parent.mkdir(exist_ok=True)
    results.write_text(f"# {title}\n\n" + "\n".join(lines) + "\n")
    print(f"wrote {results.relative_to(ROOT)}")
