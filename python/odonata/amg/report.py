"""One page that sets the paper's figures and tables beside what the model says here."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import odonata.amg as amg
from odonata import __version__
from odonata.amg import beyond, boomeramg, library, model, paper, record, simulate, store
from odonata.amg.boomeramg import Executed
from odonata.errors import OdonataError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STYLE = """
body { font: 15px/1.5 sans-serif; max-width: 80rem; margin: 2rem auto; padding: 0 1rem; color: #222 }
table { border-collapse: collapse; margin: 1rem 0 }
td, th { padding: .2rem .5rem; text-align: right; font-size: 13px }
td { white-space: nowrap }
th { border-bottom: 1px solid #999; font-weight: 600 }
td:first-child, th:first-child, .text { text-align: left }
caption { text-align: left; font-weight: 600; white-space: nowrap }
.table { overflow-x: auto }
img { max-width: 100% }
.note { color: #555 }
"""

_INTRODUCTION = (
    "Odonata {version}, machine {machine}. Hierarchies: the real BoomerAMG on virtual ranks. "
    "The paper: Gahvari, Gropp, Jordan, Schulz and Yang, PMBS 2014."
)
_ON_EXTRAPOLATION = (
    "At 8,192 cores the hierarchy of 512 million unknowns does not fit here; the range is an "
    "extrapolation: low, no rank gains partners; high, partners grow once more as from 128 to 1,024 "
    "cores."
)
_ON_DECISIONS = (
    "Speedups of one cycle. Predicted: the decision's own formulas. Executed: the same formulas on the "
    "hierarchy that really follows the gathering. Rank by rank: each rank its own messages, true hops. "
    "Simulated: compute, start-ups at alpha, and the flow engine's time of each exchange. Measured: the "
    "whole solve and the set-up on the machine, by the paper. The formulas charge every rank the largest "
    "number of messages over the diameter, so they are a rule to decide by and not a predictor of the "
    "gain; prices rank by rank and the simulation come much nearer to what was measured. The set-up is "
    "the communication alone, priced from the messages that were counted. At 4,096 and 8,192 cores (the "
    "paper: 8,000) hierarchies are extrapolated, and both ends of the bracket decide."
)
_ON_SIMULATION = (
    "Network: the simulated time of a level's exchanges in one cycle. Share: its part of compute, start-"
    "ups and network. The coarsest level is left out of the fit, as in the paper's figures."
)
_ON_ELASTICITY = (
    "The paper's elasticity problem at a size that fits here, so its decision and gain stand beside "
    "figures of larger runs: the same kind of problem, not the same one."
)
_ON_MATRICES = (
    "The paper's validation problem on 128 ranks, levels 4 and 5, as in its Figure 9: its set-up was "
    "recorded message by message on virtual ranks."
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
        kinds = [
            ' class="text"' if name in ("decision", "verdict", "way", "switch", "steps per level") else ""
            for name in self.columns
        ]
        head = "".join(f"<th{k}>{escape(c)}</th>" for k, c in zip(kinds, self.columns, strict=True))
        body = "".join(
            "<tr>"
            + "".join(f"<td{k}>{escape(_grouped(c))}</td>" for k, c in zip(kinds, row, strict=True))
            + "</tr>\n"
            for row in self.rows
        )
        caption = f"<caption>{escape(self.caption)}</caption>"
        return f'<div class="table"><table>{caption}<tr>{head}</tr>\n{body}</table></div>\n'

    def csv(self) -> str:
        """As CSV."""
        return "".join(
            ",".join(f'"{c}"' if "," in c else c for c in row) + "\n" for row in [self.columns, *self.rows]
        )


def _grouped(cell: str) -> str:
    """A whole number with its thousands apart; anything else as it is."""
    return f"{int(cell):,}" if cell.isdigit() else cell


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

    wide = min(len(mixes), 2)
    high = -(-len(mixes) // wide)
    size = (4.6 * wide + 2.4, 3.4 * high)
    figure, axes = plt.subplots(high, wide, figsize=size, squeeze=False, layout="constrained")
    for axis, mix in zip(axes.flat, mixes, strict=True):
        hierarchy = _hierarchy(mix, 1024)
        for name in model.scenarios():
            cycle = model.cycle(hierarchy, machine, threads=mix.threads, tasks=mix.tasks, scenario=name)
            times = [1e3 * s for s in cycle.level_seconds()[:-1]]
            best = name == model.BEST_FIT
            axis.plot(times, "-o" if best else ":o", markersize=3, linewidth=2 if best else 1, label=name)
        axis.set(title=mix.name, xlabel="level", yscale="log")
        axis.grid(alpha=0.3)
        axis.set_ylabel("ms")
    lines, names = axes[0][0].get_legend_handles_labels()
    figure.legend(lines, names, loc="outside right upper", fontsize=8)
    figure.suptitle(title)
    plt.close(figure)
    return figure


Simulated = dict[str, tuple[simulate.Findings, simulate.Findings]]
"""By name of an executed redistribution: the findings before and after it."""


def simulate_all(
    executed: dict[str, tuple[Executed, Path]],
    machine: amg.Machine,
    engine: str,
    progress: Callable[[str], None] | None = None,
) -> Simulated:
    """Simulates the exchanges of all executed redistributions, before and after, alone on the machine."""
    found = {}
    for name, (done, directory) in executed.items():
        if progress:
            progress(f"{name} on the {engine} engine")
        text = simulate.experiment(machine.name, engine, None, 1)
        threads = _threads(done)
        per_node = model.default_tasks(machine, threads)
        keys: dict[str, Any] = {"per_node": per_node, "threads": threads}
        before = simulate.simulate(directory, done.plain, done.tables["messages"], machine, text, **keys)
        after = simulate.simulate(
            directory,
            done.regrouped,
            done.tables["regrouped_messages"],
            machine,
            text,
            regrouped=(done.switch[0], done.plain.ranks),
            **keys,
        )
        found[name] = (before, after)
    return found


def _threads(done: Executed) -> int:
    """Threads per rank of the paper's 512 cores; 1 for other problems."""
    ranks = done.plain.ranks
    return 512 // ranks if done.plain.settings["problem"] == "laplace7" and ranks in (128, 256) else 1


def simulated_speedup(
    done: Executed, before: simulate.Findings, after: simulate.Findings, machine: amg.Machine
) -> float:
    """The cycle with the simulated network before and after the redistribution."""
    level, groups = done.switch
    threads = _threads(done)
    gather = model.collective_seconds(
        done.plain, level, groups, machine, threads=threads, scenario="alpha-beta"
    )
    fine = sum(entry.seconds for entry in before.levels[:level])
    # Interpolation from the gathered level down is on all ranks, before and after.
    down = sum(e.simulated_s for e in before.exchanges if e.level == level and e.phase == "interpolate")
    return before.seconds / (fine + down + gather + after.seconds)


def decisions(
    machine: amg.Machine, executed: dict[str, tuple[Executed, Path]], simulated: Simulated
) -> Table:
    """Figure 8: where each mix is redistributed, what is promised, what came of it, what was measured."""
    columns = ["cores", "mix", "decision", "cycle, ms", "predicted", "executed", "rank by rank"]
    columns += [
        "simulated",
        "iterations",
        "set-up, ms",
        "set-up speedup",
        "measured solve",
        "measured set-up",
    ]
    table = Table(
        "figure-8", "Figure 8: redistribution of the 7-point Laplacian, 30^3 points per core", columns
    )
    for cores, published in ((512, 512), (4096, 4096), (8192, 8000)):
        for threads, points in paper.REDISTRIBUTION_POINTS.items():
            setup, solve, _ = paper.FIGURE_8[(published, threads)]
            row = [f"{cores}", f"{16 // threads} x {threads}"]
            row += _predicted(machine, cores, threads, points)
            name = f"laplace7-{cores // threads}-{points}"
            row += _executed(machine, name, executed, simulated) if name in executed else ["-"] * 6
            table.rows.append([*row, f"{solve:.2f}", f"{setup:.2f}"])
    return table


def _predicted(machine: amg.Machine, cores: int, threads: int, points: str) -> list[str]:
    """Decision, cycle in ms and predicted speedup; of both ends where the hierarchy is extrapolated."""
    if cores <= 512:
        hierarchies = [amg.shipped("laplace7", cores // threads, points)]
    else:
        known = [amg.shipped("laplace7", n // threads, points) for n in (cores // 64, cores // 8)]
        hierarchies = list(model.extrapolate(*known))
    decided, cycles, gains = [], [], []
    for hierarchy in hierarchies:
        decision = model.decide(hierarchy, machine, threads=threads)
        cycles.append(f"{1e3 * model.cycle(hierarchy, machine, threads=threads).seconds:.2f}")
        if decision.switch is None:
            decided.append("none")
            gains.append("1.00")
            continue
        decided.append("level {} to {}".format(*decision.switch))
        gains.append(f"{predicted_speedup(hierarchy, machine, threads):.2f}")
    if len(set(decided)) == 1:
        decided = decided[:1]
    return [" / ".join(part) for part in (decided, cycles, gains)]


def predicted_speedup(hierarchy: amg.Hierarchy, machine: amg.Machine, threads: int) -> float:
    """What the decision's formulas promise for the cycle: the sum of T_noswitch over that with the switch."""
    decision = model.decide(hierarchy, machine, threads=threads)
    if decision.switch is None:
        return 1.0
    ways = model.alternatives(hierarchy, machine, threads=threads)
    chosen = next(a for a in ways if (a.level, a.groups) == decision.switch)
    return decision.levels[-1].running_s / chosen.cycle_s


def _executed(
    machine: amg.Machine,
    name: str,
    executed: dict[str, tuple[Executed, Path]],
    simulated: Simulated,
) -> list[str]:
    """Speedups executed, rank by rank, simulated; iterations; set-up in ms and its speedup."""
    done, _ = executed[name]
    threads = _threads(done)
    before = model.cycle(done.plain, machine, threads=threads).seconds
    after = model.regrouped_seconds(done.plain, done.regrouped, done.switch[0], machine, threads=threads)
    sim = "-"
    if name in simulated:
        sim = f"{simulated_speedup(done, *simulated[name], machine):.2f}"
    setups = [
        beyond.setup_seconds(done.tables[f"{prefix}setup"], done.plain.ranks, machine)
        for prefix in ("", "regrouped_")
    ]
    ranked = [way.ranked_s for way in beyond.ways([done], machine, threads=threads)]
    plain, _, moved = ranked[:3]
    assert plain is not None
    assert moved is not None
    return [
        f"{before / after:.2f}",
        f"{plain / moved:.2f}",
        sim,
        "{} and {}".format(*done.iterations),
        "{:.1f} to {:.1f}".format(*(1e3 * s for s in setups)),
        f"{setups[0] / setups[1]:.2f}",
    ]


def elasticity(
    machine: amg.Machine, executed: dict[str, tuple[Executed, Path]], simulated: Simulated
) -> Table:
    """Table 4: the paper's measured speedups beside the cases that fit here."""
    columns = ["problem", "ranks", "unknowns", "decision", "cycle, ms", "executed", "rank by rank"]
    columns += ["simulated", "iterations", "set-up speedup", "measured set-up", "measured solve"]
    table = Table("table-4", "Table 4: redistribution of linear elasticity, all MPI", columns)
    for name, (done, _) in executed.items():
        if done.plain.settings["problem"] != "elasticity":
            continue
        speedup, ranked, sim, iterations, _, setup = _executed(machine, name, executed, simulated)
        cycle = model.cycle(done.plain, machine).seconds
        row = ["here", f"{done.plain.ranks:,}", f"{done.plain.unknowns:,.0f}"]
        row += ["level {} to {}".format(*done.switch), f"{1e3 * cycle:.2f}", speedup, ranked, sim, iterations]
        row += [setup]
        table.rows.append([*row, "-", "-"])
    for cores, (setup_gain, solve_gain, _) in paper.TABLE_4.items():
        published = [f"{setup_gain:.2f}", f"{solve_gain:.2f}"]
        table.rows.append(["paper", f"{cores:,}", *["-"] * 8, *published])
    return table


def simulation_tables(engine: str, found: simulate.Findings) -> list[Table]:
    """Level by level with the simulated network beside the scenarios, and what is said of each term."""
    names = list(found.levels[0].scenarios)
    columns = ["level", "compute", "start-up", "network", "share", "with network", *names]
    levels = Table(f"levels-{engine}", f"A cycle on 512 cores, {engine} engine, ms", columns)
    for level in found.levels:
        row = [str(level.level)]
        row += [f"{1e3 * s:.4f}" for s in (level.compute_s, level.startup_s, level.network_s)]
        row += [f"{100 * level.network_share:.1f} %", f"{1e3 * level.seconds:.4f}"]
        levels.rows.append([*row, *(f"{1e3 * level.scenarios[name]:.4f}" for name in names)])
    levels.rows.append(
        ["all", "", "", "", f"{100 * found.network_share:.1f} %", f"{1e3 * found.seconds:.4f}"]
        + [f"{1e3 * sum(level.scenarios[name] for level in found.levels):.4f}" for name in names]
    )
    verdicts = Table(f"verdicts-{engine}", f"What the {engine} engine says of the model", ["term", "verdict"])
    verdicts.rows = [["nearest scenario", found.best_fit], *([k, v] for k, v in found.verdicts().items())]
    return [levels, verdicts]


def simulation_figure(found: dict[str, simulate.Findings]) -> Figure:
    """Level times with the simulated network among the six scenarios."""
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(8.6, 4.2), layout="constrained")
    first = next(iter(found.values()))
    for name in model.scenarios():
        times = [1e3 * level.scenarios[name] for level in first.levels[:-1]]
        axis.plot(times, ":o", markersize=3, linewidth=1, label=name)
    for engine, style in zip(found, ("k-s", "k--^"), strict=False):
        times = [1e3 * level.seconds for level in found[engine].levels[:-1]]
        axis.plot(times, style, markersize=4, linewidth=1.6, label=f"network by the {engine} engine")
    axis.set(
        xlabel="level", ylabel="ms per cycle", yscale="log", title="512 cores, all MPI, 30^3 points per core"
    )
    axis.grid(alpha=0.3)
    figure.legend(loc="outside right upper", fontsize=8)
    plt.close(figure)
    return figure


def ways_table(done: Executed, machine: amg.Machine) -> Table:
    """All ways to make the coarse levels cheaper, of one executed redistribution."""
    columns = ["way", "switch", "steps per level", "by formula", "rank by rank", "set-up, ms"]
    table = Table("ways", "All ways on 512 cores, ms per cycle", columns)
    steps = {"direct": "1", "two-steps": "2", "three-steps": "3"}
    for way in beyond.ways([done], machine, threads=_threads(done)):
        switch = "-" if way.switch is None else "level {} to {}".format(*way.switch)
        times = ("-" if s is None else f"{1e3 * s:.2f}" for s in (way.formula_s, way.ranked_s, way.setup_s))
        name = f"{way.name}, node-aware" if way.node_aware else way.name
        table.rows.append([name, switch, " ".join(steps[r] for r in way.routes) or "-", *times])
    return table


def matrices_figure(messages: Any, ranks: int) -> Figure:
    """Figure 9: who sends to whom, in the set-up and the solve, on the two levels with the most messages.

    Args:
        messages: A table with the columns of `recorded_messages`.
        ranks: Number of ranks.
    """
    import matplotlib.pyplot as plt

    table = messages.to_pandas()
    setup = table["phase"].isin(record.SETUP)
    solve = table["phase"].isin(("smooth", "residual", "restrict", "interpolate"))
    busiest = table[solve].groupby("level")["messages"].sum().nlargest(2).index.sort_values()
    figure, axes = plt.subplots(2, len(busiest), figsize=(4.2 * len(busiest), 7.6), squeeze=False)
    for column, level in enumerate(busiest):
        for row, (name, chosen) in enumerate((("set-up", setup), ("solve", solve))):
            part = table[chosen & (table["level"] == level)]
            _matrix(figure, axes[row][column], part, part["messages"], ranks, f"level {level}, {name}")
    figure.tight_layout()
    plt.close(figure)
    return figure


def level_matrices_figure(messages: Any, ranks: int) -> Figure:
    """Who sends to whom on every level, in a product and in an interpolation."""
    import matplotlib.pyplot as plt

    table = messages.to_pandas()
    levels = sorted(table["level"].unique())
    figure, axes = plt.subplots(2, len(levels), figsize=(2.1 * len(levels), 4.6), squeeze=False)
    for column, level in enumerate(levels):
        for row, name in enumerate(("solve", "interpolation")):
            part = table[(table["level"] == level) & (table["operator"] == row)]
            axis = axes[row][column]
            if part.empty:
                axis.axis("off")
                continue
            _matrix(None, axis, part, part["values"], ranks, f"level {level}, {name}")
            axis.tick_params(labelsize=6)
            axis.set(xlabel="", ylabel="")
            axis.title.set_fontsize(7)
    figure.tight_layout()
    plt.close(figure)
    return figure


def _matrix(figure: Figure | None, axis: Any, part: Any, weight: Any, ranks: int, title: str) -> None:
    """One matrix of messages, the logarithm of how much by colour."""
    import numpy as np
    from matplotlib.colors import LogNorm

    from odonata.plot import style

    image = np.zeros((ranks, ranks))
    np.add.at(image, (part["source"], part["destination"]), weight)
    # Cells of several ranks, so that single messages of many ranks can be seen.
    size = -(-ranks // 128)
    cells = -(-ranks // size)
    padded = np.zeros((cells * size, cells * size))
    padded[:ranks, :ranks] = image
    shown = padded.reshape(cells, size, cells, size).sum(axis=(1, 3))
    picture = axis.imshow(
        np.where(shown > 0, shown, np.nan),
        interpolation="nearest",
        cmap="viridis",
        norm=LogNorm(vmin=1, vmax=max(shown.max(), 2)),
        extent=(0, ranks, ranks, 0),
    )
    if figure is not None:
        bar = figure.colorbar(picture, ax=axis, shrink=0.7, label="messages")
        style.plain_numbers(bar.ax.yaxis, minor=bool(shown.max() < 20))
    pairs = 100 * (image > 0).sum() / (ranks * (ranks - 1))
    axis.set(title=f"{title}: {pairs:.0f} % of pairs", xlabel="to rank", ylabel="from rank")


def setup_table(messages: Any) -> Table:
    """Messages and bytes of set-up and one cycle per level, counted."""
    table = messages.to_pandas()
    columns = ["level", "set-up messages", "set-up MB", "cycle messages", "cycle MB"]
    out = Table("set-up", "Messages of the set-up and of one cycle, counted", columns)
    in_setup = table["phase"].isin(record.SETUP)
    in_cycle = ~in_setup & ~table["phase"].isin(("other", "regroup"))
    for level in sorted(table["level"].unique()):
        row = [str(level)]
        for chosen in (in_setup, in_cycle):
            part = table[chosen & (table["level"] == level)]
            row += [f"{int(part['messages'].sum())}", f"{part['bytes'].sum() / 1e6:.2f}"]
        out.rows.append(row)
    return out


def shipped_executed() -> dict[str, tuple[Executed, Path]]:
    """The executed redistributions that come with the package, by name."""
    return {name: (boomeramg.load_executed(path), path) for name, path in library.directories()}


FIGURE_9_RANKS = 128


def shipped_record() -> Any:
    """The recorded messages of the paper's Figure 9."""
    return store.read_parquet(library.DATA / "figure-9.parquet")


def _image(figure: Figure) -> str:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=130)
    width = round(88 * float(figure.get_size_inches()[0]))
    data = base64.b64encode(buffer.getvalue()).decode()
    return f'<img alt="" width="{width}" src="data:image/png;base64,{data}">\n'


def _note(text: str) -> str:
    return f'<p class="note">{escape(text)}</p>\n'


def write(
    target: Path,
    machine: amg.Machine,
    *,
    recorded: Path | None = None,
    executed: dict[str, tuple[Executed, Path]] | None = None,
    engines: tuple[str, ...] = ("flow", "packet"),
    progress: Callable[[str], None] | None = None,
) -> list[Path]:
    """Writes the page and its tables as CSV beside it; returns the paths.

    Args:
        target: The page.
        machine: Constants; the machine of the same name is simulated.
        recorded: A hierarchy made with --record, for the matrices; that of the package by default.
        executed: Executed redistributions by name; those of the package by default.
        engines: What simulates; none leaves the simulations out. Speedups are the first one's.
        progress: Called with what is simulated next.
    """
    done = shipped_executed() if executed is None else executed
    simulated = simulate_all(done, machine, engines[0], progress) if engines else {}
    tables = [table_3(machine), check_of_extrapolation(machine), decisions(machine, done, simulated)]
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
    tables.append(elasticity(machine, done, simulated))
    parts += [tables[-1].html(), _note(_ON_ELASTICITY)]
    if (main := _main(done)) is not None:
        parts += _simulation_parts(main, done, machine, engines, simulated, tables, progress)
        tables.append(ways_table(done[main][0], machine))
        parts += ["<h2>Beyond the paper</h2>\n", tables[-1].html()]
    messages = shipped_record() if recorded is None else store.read_table(recorded, "recorded_messages")
    ranks = FIGURE_9_RANKS if recorded is None else store.read_summary(recorded)["ranks"]
    tables.append(setup_table(messages))
    parts += ["<h2>Who talks to whom (Figure 9)</h2>\n", _image(matrices_figure(messages, ranks))]
    parts += [_note(_ON_MATRICES) if recorded is None else "", tables[-1].html()]
    if main is not None:
        plain = done[main][0]
        parts += [f"<h3>{escape(main)}, all levels</h3>\n"]
        parts += [_image(level_matrices_figure(plain.tables["messages"], plain.plain.ranks))]
    page = f"<!doctype html><meta charset=utf-8><title>AMG on a dragonfly</title><style>{STYLE}</style>\n"
    target.parent.mkdir(parents=True, exist_ok=True)
    written = [target]
    for table in tables:
        path = target.with_name(f"{target.stem}-{table.name}.csv")
        path.write_text(table.csv(), encoding="utf-8")
        written.append(path)
    target.write_text(page + "".join(parts), encoding="utf-8")
    return written


def _main(executed: dict[str, tuple[Executed, Path]]) -> str | None:
    """The redistribution that is shown in full: the paper's all-MPI case, else the first."""
    name = f"laplace7-512-{paper.REDISTRIBUTION_POINTS[1]}"
    return name if name in executed else next(iter(executed), None)


def _simulation_parts(
    main: str,
    executed: dict[str, tuple[Executed, Path]],
    machine: amg.Machine,
    engines: tuple[str, ...],
    simulated: Simulated,
    tables: list[Table],
    progress: Callable[[str], None] | None,
) -> list[str]:
    """The section of the simulations; its tables join `tables`."""
    if not engines:
        return []
    found = {engines[0]: simulated[main][0]}
    for engine in engines[1:]:
        found[engine] = simulate_all({main: executed[main]}, machine, engine, progress)[main][0]
    parts = [f"<h2>Against the simulators ({escape(main)})</h2>\n", _image(simulation_figure(found))]
    for engine, findings in found.items():
        more = simulation_tables(engine, findings)
        tables += more
        parts += [table.html() for table in more]
    return [*parts, _note(_ON_SIMULATION)]
