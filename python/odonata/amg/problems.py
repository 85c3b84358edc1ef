"""Problems for hierarchies, and their partition among ranks."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from odonata.errors import OdonataError, nearest

SOLVERS = ("cg", "gmres", "lgmres", "bicgstab")
"""hypre's Krylov methods."""
_STENCIL = {"laplace7": 7, "laplace27": 27, "anisotropic": 7, "rotated": 7}
LARGEST = 2**31 - 1
"""Debian's hypre numbers unknowns with 32 bits.

Every hypre build of this kind numbers the entries of a rank so.
"""
_BYTES_PER_RANK = 300_000  # measured: stacks and per-rank tables at 8,192 ranks


COARSENINGS = {
    "cljp": 0,
    "rs": 1,
    "rs-third-pass": 3,
    "falgout": 6,
    "cljp-fixed": 7,
    "pmis": 8,
    "pmis-fixed": 9,
    "hmis": 10,
    "rs-one-pass": 11,
    "cgc": 21,
    "cgc-e": 22,
}
"""hypre's documented types of coarsening; `-fixed` types are for debugging, with a fixed random vector."""
INTERPOLATIONS = {
    "classical": 0,
    "hyperbolic": 2,
    "direct": 3,
    "multipass": 4,
    "multipass-separated": 5,
    "ext+i": 6,
    "ext+i-cc": 7,
    "standard": 8,
    "standard-separated": 9,
    "ff": 12,
    "ff1": 13,
    "extended": 14,
    "extended-mm": 16,
    "ext+i-mm": 17,
    "ext+e-mm": 18,
}
"""The documented types of interpolation except 1, 10 and 11, which need other solvers or block matrices.
Types `-mm` are matrix products, `-separated` separate the weights, `-cc` act only without a common coarse
neighbour."""


SMOOTHERS = {
    "gauss-seidel": (3, 4),
    "symmetric-gauss-seidel": (6, 6),
    "jacobi": (0, 0),
    "l1-gauss-seidel": (13, 14),
    "l1-symmetric-gauss-seidel": (8, 8),
    "l1-jacobi": (18, 18),
    "fcf-jacobi": (17, 17),
    "chebyshev": (16, 16),
}
"""hypre's documented smoothers for the downward and upward sweep. Excluded are 1 and 2 (sequential over
ranks), 5 (needs threads) and 15 (varies per iteration). Gauss-Seidel is hybrid: Jacobi between ranks."""
GATHERED_SMOOTHERS = ("gauss-seidel", "symmetric-gauss-seidel", "jacobi")
"""Smoothers that can continue with fewer ranks; others need norms or eigenvalues internal to hypre."""
_SEVERAL_PRODUCTS = ("fcf-jacobi", "chebyshev")
CYCLES = {"v": 1, "w": 2, "f": 1}
"""Cycles."""
NODAL = {"frobenius": 1, "absolute-sum": 2, "largest": 3, "row-sum": 4, "sum": 6}
"""hypre's norms of the blocks of grid points, used to coarsen points instead of unknowns."""


def check_word(what: str, text: str, known: Iterable[str]) -> str:
    """Checks a word against the known ones.

    Raises:
        OdonataError: The word is unknown.
    """
    words = list(known)
    if text in words:
        return text
    hint = nearest(text, words, f"Use one of {', '.join(words)}.")
    raise OdonataError(f"unknown {what} {text!r}", hint=hint)


def type_number(what: str, text: str, known: Mapping[str, int]) -> int:
    """The number that hypre has for a name; numbers pass unchanged.

    Raises:
        OdonataError: The name or number is unknown.
    """
    if text in known:
        return known[text]
    if text.isdecimal() and int(text) in known.values():
        return int(text)
    hint = nearest(text, known, f"Use one of {', '.join(known)}, or hypre's number for it.")
    raise OdonataError(f"unknown {what} {text!r}", hint=hint)


@dataclass(frozen=True)
class Settings:
    """BoomerAMG's options; the defaults are the paper's."""

    coarsening: int = 10
    """hypre's number of the coarsening; 10 is HMIS."""
    interpolation: int = 6
    """hypre's number of the interpolation; 6 is extended+i."""
    max_elements: int = 4
    """Maximum number of coefficients per row of the interpolation."""
    aggressive_levels: int = 1
    """Number of levels with aggressive coarsening and multipass interpolation."""
    strength: float = 0.25
    max_levels: int = 25
    functions: int = 1
    """Unknowns per grid point, for systems."""
    truncation: float = 0.0
    """Interpolation coefficients below this share of the largest of their row are dropped."""
    smoother: str = "gauss-seidel"
    """One of `SMOOTHERS`."""
    relax_weight: float = 1.0
    """Relaxation weight of the smoother; Jacobi needs less than 1."""
    cycle: str = "v"
    """One of `CYCLES`."""
    nodal: str = ""
    """One of `NODAL`, for systems: coarsens grid points and interpolates each unknown (hybrid). Otherwise the
    unknowns are coarsened one by one."""

    def __post_init__(self) -> None:
        """Refuses values that hypre would misread or crash on."""
        if not 0 <= self.strength <= 1:
            raise OdonataError(f"the strength threshold is {self.strength}; expected a number from 0 to 1")
        for what, number, known in (
            ("coarsening", self.coarsening, COARSENINGS),
            ("interpolation", self.interpolation, INTERPOLATIONS),
        ):
            type_number(what, str(number), known)
        if not 0 <= self.truncation < 1:
            raise OdonataError(
                f"the truncation is {self.truncation}; expected a number from 0 (included) to 1 (excluded)"
            )
        if not 0 < self.relax_weight < 2:
            raise OdonataError(
                f"the relaxation weight is {self.relax_weight}; expected a number between 0 and 2"
            )
        check_word("smoother", self.smoother, SMOOTHERS)
        check_word("cycle", self.cycle, CYCLES)
        if self.nodal:
            check_word("norm for nodal coarsening", self.nodal, NODAL)
            if self.functions == 1:
                raise OdonataError(
                    "nodal coarsening is for systems",
                    hint="Set the number of unknowns per grid point with --functions.",
                )

    @property
    def is_priced(self) -> bool:
        """Whether a cycle has the products that the formulas count: three on each level, each level once."""
        return self.cycle == "v" and self.smoother not in _SEVERAL_PRODUCTS

    def as_dict(self) -> dict[str, Any]:
        """Settings for summaries. Older tables lack the newer options."""
        later = ("truncation", "smoother", "relax_weight", "cycle", "nodal")
        return {k: v for k, v in asdict(self).items() if k not in later or v != getattr(PAPER, k)}


PAPER = Settings()
ELASTICITY = Settings(strength=0.5, aggressive_levels=0, functions=3)
"""The paper's settings for elasticity, as in MFEM's solver. An aggressive level slows its convergence."""


@dataclass(frozen=True)
class Problem:
    """A problem on a number of ranks."""

    name: str
    ranks: int
    points: tuple[int, int, int] = (1, 1, 1)
    """Points per rank; (1, 1, 1) for matrices."""
    grid: tuple[int, int, int] = (1, 1, 1)
    """Ranks per direction."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """`coefficients`, `angle`, `epsilon`; for matrices `rows` and `nonzeros`, and `symmetric` and
    `null_space` if they differ from the default."""
    settings: Settings = PAPER

    @property
    def unknowns(self) -> int:
        """Number of unknowns of the finest level."""
        if "rows" in self.options:
            return int(self.options["rows"])
        x, y, z = self.points
        return self.ranks * x * y * z

    @property
    def solvers(self) -> tuple[str, ...]:
        """Solvers to try in order, chosen by symmetry; an indefinite matrix shows when a solver fails."""
        return ("cg", "gmres") if self.options.get("symmetric", True) else ("gmres", "bicgstab")

    @property
    def nonzeros_per_row(self) -> float:
        """Non-zeros per row of the matrix, for the memory estimate."""
        if "rows" in self.options:
            return float(self.options["nonzeros"]) / max(self.unknowns, 1)
        return float(_STENCIL[self.name])

    @property
    def cpu_s(self) -> float:
        """Estimated processor time of a set-up in seconds: a cost per unknown and non-zero, and one per rank.

        Measured on 7-point Laplacians: 33 s for 13.8 million unknowns on 512 ranks (estimate 32), 90 on 4,096
        (82), 126 for 8.2 million on 8,192 (130), 216 for 56.6 million on 4,096 (159). Recording messages and
        solving take two to three times as long.
        """
        return self.unknowns * self.nonzeros_per_row / 7 * 1.8e-6 + self.ranks * 0.014

    @property
    def memory_bytes(self) -> int:
        """Estimated memory of a run in bytes: a cost per unknown and non-zero, and one per rank.

        Measured: 192 to 199 bytes per unknown of the 7-point Laplacian, 500 on 27 points. Without aggressive
        levels 390 and 650. Elasticity takes 2.6 kB for 0.8 million unknowns and 3.4 kB for 6.5 million,
        because its coarse levels fill in with size.
        """
        if "rows" in self.options:
            base, entry = 300, 85.0
        elif self.settings.aggressive_levels == 0:
            base, entry = 310, 13.0
        else:
            base, entry = 90, 15.5
        return int(self.unknowns * (base + entry * self.nonzeros_per_row)) + self.ranks * _BYTES_PER_RANK

    def as_dict(self) -> dict[str, Any]:
        """Settings for a directory's summary, and to find shipped tables."""
        return {
            "problem": self.name,
            "ranks": self.ranks,
            "points": list(self.points),
            "grid": list(self.grid),
            **dict(self.options),
            "boomeramg": self.settings.as_dict(),
        }


def parse_points(text: str) -> tuple[int, int, int]:
    """Parses `50x50x25`; one or two numbers mean a line or a plane.

    Raises:
        OdonataError: The text has another form.
    """
    if not re.fullmatch(r"[1-9]\d*(x[1-9]\d*){0,2}", text):
        raise OdonataError(
            f"{text!r} is not a number of points per rank", hint="Give sizes such as 50x50x25."
        )
    sizes = [int(part) for part in text.split("x")]
    x, y, z = sizes + [1] * (3 - len(sizes))
    return x, y, z


def choose_grid(ranks: int, points: tuple[int, int, int]) -> tuple[int, int, int]:
    """Splits the ranks over the directions so that the whole domain is closest to a cube.

    A direction with one point gets one rank, so a line stays a line and a plane a plane. The sum of the
    domain's edges is smallest for a cube. Of equal splits, the one with more ranks in the last direction
    wins, such as 8 x 8 x 16 for 1,024 ranks of 50 x 50 x 25 points.
    """
    best: tuple[int, tuple[int, int, int]] | None = None
    for x in _divisors(ranks):
        for y in _divisors(ranks // x):
            z = ranks // (x * y)
            if any(p == 1 and g > 1 for p, g in zip(points, (x, y, z), strict=True)) and max(points) > 1:
                continue
            edges = x * points[0] + y * points[1] + z * points[2]
            if best is None or edges < best[0]:
                best = (edges, (x, y, z))
    assert best is not None
    return best[1]


def _divisors(number: int) -> list[int]:
    small = [d for d in range(1, int(number**0.5) + 1) if number % d == 0]
    return sorted({*small, *(number // d for d in small)})


def make(
    name: str,
    ranks: int,
    points: tuple[int, int, int],
    *,
    settings: Settings = PAPER,
    options: Mapping[str, Any] | None = None,
) -> Problem:
    """A checked model problem.

    Raises:
        OdonataError: The name is unknown, or a size is out of range.
    """
    if name not in _STENCIL:
        raise OdonataError(f"unknown grid problem {name!r}", hint=f"Use one of {', '.join(_STENCIL)}.")
    if ranks < 1:
        raise OdonataError(f"{ranks} ranks; expected at least 1")
    for key, value in (options or {}).items():
        numbers = value if isinstance(value, list) else [value]
        if not all(math.isfinite(number) for number in numbers):
            raise OdonataError(f"{key} of the {name} problem is {value}; expected finite numbers")
    if name == "rotated" and points[2] != 1:
        raise OdonataError(
            f"the rotated problem has two dimensions, but {points[2]} points in the third",
            hint="Give sizes as AxB.",
        )
    problem = Problem(name, ranks, points, choose_grid(ranks, points), dict(options or {}), settings)
    return check(problem)


def matrix_problem(
    name: str, ranks: int, rows: int, nonzeros: int, settings: Settings, **options: Any
) -> Problem:
    """A checked problem with the matrix in a file."""
    problem = Problem(name, ranks, options={"rows": rows, "nonzeros": nonzeros, **options}, settings=settings)
    nodes = rows // settings.functions
    if ranks > nodes:
        raise OdonataError(
            f"{ranks} ranks for {nodes} {'unknowns' if settings.functions == 1 else 'grid points'}",
            hint="Every rank needs at least one.",
        )
    return check(problem)


def check(problem: Problem) -> Problem:
    """The problem, if hypre can number its unknowns and the matrix entries of a rank."""
    if problem.unknowns > LARGEST:
        raise OdonataError(
            f"{problem.unknowns:,} unknowns are more than hypre's 32-bit numbers allow ({LARGEST:,})",
            hint="Use fewer points per rank, or `odonata amg model --extrapolate`.",
        )
    check_entries(math.ceil(problem.unknowns * problem.nonzeros_per_row / problem.ranks))
    return problem


def check_entries(of_a_rank: int) -> None:
    """Refuses more matrix entries on one rank than hypre can count.

    Args:
        of_a_rank: Maximum number of entries of a rank.
    """
    if of_a_rank > LARGEST:
        raise OdonataError(
            f"{of_a_rank:,} entries of the matrix on one rank are more than hypre's 32-bit numbers allow "
            f"({LARGEST:,})",
            hint="Use more ranks.",
        )


def stored_settings(settings: Mapping[str, Any]) -> Settings:
    """BoomerAMG's settings in the settings of a hierarchy; the defaults if it has none.

    Raises:
        OdonataError: A value is not of the type of its setting.
    """
    stored = settings.get("boomeramg", {})
    if not isinstance(stored, Mapping):
        raise OdonataError(f"the hierarchy has 'boomeramg' = {stored!r}; expected a table of settings")
    for name, default in asdict(Settings()).items():
        value = stored.get(name, default)
        types = (int, float) if isinstance(default, float) else type(default)
        if not isinstance(value, types) or isinstance(value, bool) != isinstance(default, bool):
            raise OdonataError(
                f"the hierarchy has the setting '{name}' = {value!r}; expected {type(default).__name__}"
            )
    if unknown := sorted(stored.keys() - asdict(Settings()).keys()):
        raise OdonataError(f"the hierarchy has an unknown setting '{unknown[0]}'")
    return Settings(**stored)


def from_settings(settings: Mapping[str, Any]) -> Problem:
    """The grid problem that a hierarchy's settings describe.

    Raises:
        OdonataError: The matrix came from a file.
    """
    name = settings["problem"]
    if name not in _STENCIL:
        raise OdonataError(
            f"the matrix of the problem {name!r} is not stored with its hierarchy",
            hint="Redistribute it when you make it: `odonata amg hierarchy --redistribute LEVEL:RANKS`.",
        )
    known = ("coefficients", "angle", "epsilon")
    options = {key: settings[key] for key in known if key in settings}
    x, y, z = settings["points"]
    return make(name, settings["ranks"], (x, y, z), settings=stored_settings(settings), options=options)
