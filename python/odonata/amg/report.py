"""One page that sets the paper's figures and tables beside what the model says here."""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import odonata.amg as amg
from odonata import __version__
from odonata.amg import model, paper, record, store
from odonata.errors import OdonataError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #222
} table { border-collapse: collapse; margin: 1rem 0 } td, th { padding: .2rem .7rem; text-align: right }
th { border-bottom: 1px solid #999; font-weight: 600 } td:first-child, th:first-child { text-align: left }
caption { text-align: left; font-weight: 600 } img { max-width: 100% } .note { color: #555 }
"""

_INTRODUCTION = (
    "Odonata {version}, machine {machine}. Hierarchies: the real BoomerAMG on virtual ranks. "
    "The paper: Gahvari, Gropp, Jordan, Schulz and Yang, PMBS 2014."
)
_ON_EXTRAPOLATION = (
    "At 8,192 cores the hierarchy of 512 million unknowns does not fit here; the range is an extrapolation: "
    "low, no rank gains partners; high, partners grow once more as from 128 to 1,024 cores."
)
_ON_DECISIONS = (
    "Predicted speedups are those of the cycle; measured ones of the whole solve on the machine. "
    "The model charges every rank the largest number of messages over the diameter, "
    "so it is a rule to decide by and not a predictor of the gain."
)


@dataclass
class Table:
    """A table of the page, also written as CSV."""

    name: str
    caption: str
    columns: list[str]
    rows: list[list[str]] = field(default_factory=list)

    def html(self) -> str:
        """As HTML."""
        head = "".join(f"<th>{escape(c)}</th>" for c in self.columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(c)}</td>" for c in row) + "</tr>\n" for row in self.rows
        )
        return f"<table><caption>{escape(self.caption)}</caption><tr>{head}</tr>\n{body}</table>\n"

    def csv(self) -> str:
        """As CSV."""
        return "".join(
            ",".join(f'"{c}"' if "," in c else c for c in row) + "\n" for row in [self.columns, *self.rows]
        )


def table_3(machine: amg.Machine) -> Table:
    """Cycle times of the validation problem: the paper's model and measurement, and this model.

    1,024 cores: true hierarchies. 8,192 cores: brackets extrapolated from 128 and 1,024 cores.
    """
    columns = [
        "mix",
        "cores",
        "paper modelled",
        "paper measured",
        "here",
        "against modelled",
        "against measured",
    ]
    table = Table("table-3", "Table 3: cycle time, ms (alpha-beta-gamma)", columns)
    for cores, rows in paper.TABLE_3.items():
        for mix in paper.MIXES:
            modelled, measured = rows[mix.threads]
            ends = [1e3 * cycle.seconds for cycle in _cycles(machine, mix, cores)]
            here = " to ".join(f"{ms:.2f}" for ms in ends)
            if len(ends) == 1:
                against = [f"{100 * (ends[0] / reference - 1):+.1f} %" for reference in (modelled, measured)]
            else:
                inside = [ends[0] <= reference <= ends[1] for reference in (modelled, measured)]
                against = ["inside" if yes else "outside" for yes in inside]
            table.rows.append([mix.name, f"{cores}", f"{modelled}", f"{measured}", here, *against])
    return table


def _hierarchy(mix: paper.Mix, cores: int) -> amg.Hierarchy:
    return amg.shipped("laplace7", cores // mix.threads, mix.points)


def _cycles(machine: amg.Machine, mix: paper.Mix, cores: int) -> list[model.Cycle]:
    if cores <= 1024:
        hierarchies: tuple[amg.Hierarchy, ...] = (_hierarchy(mix, cores),)
    else:
        hierarchies = model.extrapolate(_hierarchy(mix, cores // 64), _hierarchy(mix, cores // 8))
    return [model.cycle(h, machine, threads=mix.threads, tasks=mix.tasks) for h in hierarchies]


def check_of_extrapolation(machine: amg.Machine) -> Table:
    """The extrapolation where the truth is known: 1,024 cores from 16 and 128."""
    columns = ["mix", "low end", "true", "high end"]
    table = Table("extrapolation", "The method checked: 1,024 cores from 16 and 128 cores, ms", columns)
    for mix in paper.MIXES:
        if 16 // mix.threads < 1:
            continue
        try:
            low, high = model.extrapolate(_hierarchy(mix, 16), _hierarchy(mix, 128))
        except OdonataError:
            continue
        ends = [model.cycle(h, machine, threads=mix.threads, tasks=mix.tasks).seconds for h in (low, high)]
        truth = _cycles(machine, mix, 1024)[0].seconds
        table.rows.append([mix.name, *(f"{1e3 * s:.2f}" for s in (ends[0], truth, ends[1]))])
    return table


def level_figure(machine: amg.Machine, mixes: tuple[paper.Mix, ...], title: str) -> Figure:
    """Time per level in all six scenarios without the coarsest, which is solved directly, as in the paper."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(mixes), figsize=(4.6 * len(mixes), 3.6), squeeze=False)
    for axis, mix in zip(axes[0], mixes, strict=True):
        hierarchy = _hierarchy(mix, 1024)
        for name in model.scenarios():
            cycle = model.cycle(hierarchy, machine, threads=mix.threads, tasks=mix.tasks, scenario=name)
            times = [1e3 * s for s in cycle.level_seconds()[:-1]]
            best = name == model.BEST_FIT
            axis.plot(times, "-o" if best else ":o", markersize=3, linewidth=2 if best else 1, label=name)
        axis.set(title=mix.name, xlabel="level", yscale="log")
        axis.grid(alpha=0.3)
    axes[0][0].set_ylabel("ms")
    axes[0][-1].legend(fontsize=7)
    figure.suptitle(title)
    figure.tight_layout()
    plt.close(figure)
    return figure


def decisions(machine: amg.Machine, executed: dict[tuple[int, int], dict[str, Any]]) -> Table:
    """Figure 8: where each mix is redistributed on 512 cores, what the model promises, what was measured.

    Args:
        machine: Constants.
        executed: Results of `odonata amg redistribute --execute --json` by (cores, threads).
    """
    columns = ["cores", "mix", "switch", "cycle, ms", "level before, after", "executed, ms", "iterations"]
    columns += ["predicted speedup", "measured solve", "measured set-up"]
    table = Table(
        "figure-8", "Figure 8: redistribution of the 7-point Laplacian, 30^3 points per core", columns
    )
    for threads, points in paper.REDISTRIBUTION_POINTS.items():
        hierarchy = amg.shipped("laplace7", 512 // threads, points)
        decision = model.decide(hierarchy, machine, threads=threads)
        cycle = model.cycle(hierarchy, machine, threads=threads)
        setup, solve, _ = paper.FIGURE_8[(512, threads)]
        row = ["512", f"{16 // threads} x {threads}"]
        if decision.switch is None:
            row += ["none", f"{1e3 * cycle.seconds:.2f}", "-"]
        else:
            level, groups = decision.switch
            chosen = decision.levels[level]
            assert chosen.best is not None
            row += [f"level {level} to {groups}", f"{1e3 * cycle.seconds:.2f}"]
            row += [f"{1e3 * chosen.noswitch_s:.3f}, {1e3 * chosen.best.switch_s:.3f}"]
        done = executed.get((512, threads))
        if done is None:
            row += ["-", "-", "-"]
        else:
            row += [f"{1e3 * done['after_s']:.2f}", " and ".join(map(str, done["iterations"]))]
            row += [f"{done['speedup']:.2f}"]
        table.rows.append([*row, f"{solve:.2f}", f"{setup:.2f}"])
    return table


def matrices_figure(directory: Path) -> Figure:
    """Figure 9: who sends to whom, in the set-up and the solve, on the two levels with the most messages."""
    import matplotlib.pyplot as plt
    import numpy as np

    table = store.read_table(directory, "recorded_messages").to_pandas()
    ranks = store.read_summary(directory)["ranks"]
    setup = table["phase"].isin(record.SETUP)
    solve = table["phase"].isin(("smooth", "residual", "restrict", "interpolate"))
    busiest = table[solve].groupby("level")["messages"].sum().nlargest(2).index.sort_values()
    figure, axes = plt.subplots(2, len(busiest), figsize=(4.2 * len(busiest), 8), squeeze=False)
    for column, level in enumerate(busiest):
        for row, (name, chosen) in enumerate((("set-up", setup), ("solve", solve))):
            part = table[chosen & (table["level"] == level)]
            image = np.zeros((ranks, ranks))
            np.add.at(image, (part["source"], part["destination"]), part["messages"])
            axis = axes[row][column]
            shown = axis.imshow(np.where(image > 0, image, np.nan), interpolation="nearest", cmap="viridis")
            figure.colorbar(shown, ax=axis, shrink=0.7, label="messages")
            pairs = 100 * (image > 0).sum() / (ranks * (ranks - 1))
            axis.set(
                title=f"level {level}, {name}: {pairs:.0f} % of pairs", xlabel="to rank", ylabel="from rank"
            )
    figure.tight_layout()
    plt.close(figure)
    return figure


def setup_table(directory: Path) -> Table:
    """Messages and bytes of set-up and one cycle per level, counted."""
    table = store.read_table(directory, "recorded_messages").to_pandas()
    columns = ["level", "set-up messages", "set-up MB", "cycle messages", "cycle MB"]
    out = Table("set-up", "Messages of the set-up and of one cycle, counted", columns)
    in_setup = table["phase"].isin(record.SETUP)
    in_cycle = ~in_setup & (table["phase"] != "other")
    for level in sorted(table["level"].unique()):
        row = [str(level)]
        for chosen in (in_setup, in_cycle):
            part = table[chosen & (table["level"] == level)]
            row += [f"{int(part['messages'].sum())}", f"{part['bytes'].sum() / 1e6:.2f}"]
        out.rows.append(row)
    return out


def _image(figure: Figure) -> str:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=130)
    return f'<img alt="" src="data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}">\n'


def _note(text: str) -> str:
    return f'<p class="note">{escape(text)}</p>\n'


def write(
    target: Path,
    machine: amg.Machine,
    *,
    recorded: Path | None,
    executed: dict[tuple[int, int], dict[str, Any]],
) -> list[Path]:
    """Writes the page and its tables as CSV beside it; returns the paths."""
    tables = [table_3(machine), check_of_extrapolation(machine), decisions(machine, executed)]
    parts = [
        "<h1>Algebraic multigrid on a dragonfly</h1>\n",
        _note(_INTRODUCTION.format(version=__version__, machine=machine.name)),
        "<h2>Cycle time</h2>\n",
        tables[0].html(),
        _note(_ON_EXTRAPOLATION),
        tables[1].html(),
        "<h2>Level by level (Figures 5 and 6)</h2>\n",
        _image(level_figure(machine, paper.MIXES[:1], "All MPI, 1,024 cores")),
        _image(level_figure(machine, paper.MIXES[1:], "MPI and OpenMP, 1,024 cores")),
        "<h2>Redistribution (Figure 8)</h2>\n",
        tables[2].html(),
        _note(_ON_DECISIONS),
    ]
    if recorded is not None:
        tables.append(setup_table(recorded))
        parts += ["<h2>Who talks to whom (Figure 9)</h2>\n", tables[-1].html()]
        parts += [_image(matrices_figure(recorded))]
    page = f"<!doctype html><meta charset=utf-8><title>AMG on a dragonfly</title><style>{STYLE}</style>\n"
    target.parent.mkdir(parents=True, exist_ok=True)
    written = [target]
    for table in tables:
        path = target.with_name(f"{target.stem}-{table.name}.csv")
        path.write_text(table.csv(), encoding="utf-8")
        written.append(path)
    target.write_text(page + "".join(parts), encoding="utf-8")
    return written
