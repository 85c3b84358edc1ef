"""The published figures, to stand beside the model's.

Gahvari, Gropp, Jordan, Schulz and Yang, "Algebraic Multigrid on a Dragonfly Network" (PMBS 2014). Times are
milliseconds per cycle (Table 3), speedups of the whole set-up or solve (Figure 8, Table 4).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mix:
    """MPI tasks per node and OpenMP threads per task, and the validation problem's cut for it."""

    tasks: int
    threads: int
    points: str
    """Points per task: 50 x 50 x 25 for each core."""

    @property
    def name(self) -> str:
        """As the paper writes it."""
        return f"{self.tasks} x {self.threads}"


MIXES = (
    Mix(16, 1, "50x50x25"),
    Mix(8, 2, "50x50x50"),
    Mix(4, 4, "100x50x50"),
    Mix(2, 8, "100x100x50"),
    Mix(1, 16, "100x100x100"),
)

TABLE_3 = {
    1024: {1: (9.75, 11.3), 2: (14.9, 16.3), 4: (24.2, 27.6), 8: (44.2, 51.8), 16: (86.4, 104.0)},
    8192: {1: (11.7, 13.0), 2: (16.8, 18.1), 4: (26.5, 29.7), 8: (46.7, 53.9), 16: (88.4, 104.0)},
}
"""Cores, threads per task: (modelled, measured) ms per cycle."""

FIGURE_8 = {
    (512, 1): (1.50, 1.06, 1.31),
    (512, 2): (1.14, 1.06, 1.10),
    (512, 4): (1.00, 1.05, 1.02),
    (4096, 1): (1.59, 1.08, 1.46),
    (4096, 2): (1.44, 1.16, 1.32),
    (4096, 4): (1.12, 1.12, 1.12),
    (8000, 1): (1.78, 1.07, 1.58),
    (8000, 2): (1.64, 1.00, 1.35),
    (8000, 4): (1.12, 1.26, 1.18),
}
"""Cores, threads per task: measured speedups of set-up, solve and both by redistribution, Laplacian."""

REDISTRIBUTION_POINTS = {1: "30x30x30", 2: "60x30x30", 4: "60x60x30"}
"""Threads per task: points per task for 30^3 per core."""

TABLE_4 = {1024: (1.04, 1.29, 1.16), 8192: (2.25, 1.93, 2.06)}
"""Cores: the same for linear elasticity, all MPI."""
