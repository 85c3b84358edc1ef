"""A run on one page, as HTML or PDF: its sentence, four figures, the table of its jobs, and the method."""

from __future__ import annotations

import base64
import io
import textwrap
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path

from odonata.analysis import headline
from odonata.errors import OdonataError
from odonata.notebook import table
from odonata.plot.run_plots import RunPlots
from odonata.plot.style import Picture, figure_style, new_picture
from odonata.quantity import quantity
from odonata.store.atomic import atomic_file
from odonata.store.run import RunData
from odonata.store.schema import declarations

FIGURES = 4
JOBS_MAX = 30
"""Jobs in the table, the first of more, in the order of the experiment."""
WIDE = 1.9
"""Width over height from which a figure takes a whole row: its text would be too small in half of one."""

METHODS = {
    "flow": "The flow engine computes the steady state of all links, without packets and queues "
    "(docs/models/flow.md).",
    "packet": "The packet engine moves every packet through routers, links, buffers and credits "
    "(docs/models/packet.md).",
    "model": "The model engine predicts times with closed forms; links carry no traffic (docs/models/amg.md, "
    "docs/models/mpi.md).",
    "loggops": "The LogGOPS model runs programs without a network (docs/models/loggops.md).",
}

_STYLE = "\n".join(
    (
        "body { max-width: 1100px; margin: 24px auto; padding: 0 16px; color: #1b2733; background: white; }",
        "body { font: 15px/1.45 system-ui, sans-serif; } h1 { font-size: 24px; margin: 0; }",
        ".headline { font-size: 19px; margin: 8px 0 18px; } figure { margin: 0; break-inside: avoid; }",
        ".figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(420px, 1fr)); gap: 18px; }",
        "figure img { width: 100%; } .wide { grid-column: 1 / -1; } figcaption { font-weight: 600; }",
        "table { border-collapse: collapse; margin: 6px 0 18px; font-variant-numeric: tabular-nums; }",
        "th, td { text-align: left; padding: 3px 12px 3px 0; border-bottom: 1px solid #d5dbe1; }",
        ".odonata { overflow-x: auto; margin-top: 18px; } pre { white-space: pre-wrap; font-size: 12px; }",
        "@media (max-width: 480px) { .figures { grid-template-columns: 1fr; } }",
        "@media print { body { margin: 0; } details { display: none; } }",
    )
)


def write_report(run: RunData, path: Path) -> None:
    """Writes a run as a report: its sentence, up to four figures, the table of its jobs, and the method.

    Args:
        run: A finished run.
        path: File to write, `.html` (one file that loads nothing) or `.pdf`.

    Raises:
        OdonataError: The file has another extension, or cannot be written.
    """
    writers = {".html": _html, ".pdf": _pdf}
    write = writers.get(path.suffix.lower())
    if write is None:
        raise OdonataError(f"cannot write a report as {path.name}", hint="Name a file .html or .pdf.")
    if not path.parent.is_dir():
        raise OdonataError(f"cannot write {path.name}: directory {path.parent} does not exist")
    content = write(run)
    with atomic_file(path) as unfinished:
        unfinished.write_bytes(content)


def figures_of(run: RunData) -> list[tuple[str, Picture]]:
    """The first four figures that the run has data for, each with its title."""
    plots = RunPlots(run)
    makers: list[tuple[str, Callable[[], Picture]]] = []
    if run.summary["engine"] == "packet":
        makers += [
            ("Throughput of each job over time", lambda: plots.series("throughput")),
            ("Share of packets above each latency", plots.latency),
            ("Share of time out of credits between groups", plots.stall_map),
        ]
    if run.routed and any(run.links["bytes"].to_pylist()):
        makers += [
            ("All links, most loaded first, by job", plots.links),
            ("Traffic between groups, mean per link", plots.groups),
            ("Traffic on the sides of the torus", plots.torus),
            ("Mean and maximum traffic per link of each job and class", plots.jobs),
            ("Distribution of traffic over links", plots.histogram),
        ]
    found = []
    for title, make in makers:
        try:
            found.append((title, make()))
        except OdonataError:
            continue  # The run has no such data, for example groups.
        if len(found) == FIGURES:
            break
    return found


def job_rows(run: RunData) -> tuple[list[str], list[list[str]]]:
    """Heads and rows of the table of jobs: ranks, nodes, and the figures that are shown by default."""
    columns = declarations(run.jobs.schema)
    figures = [name for name, column in columns.items() if column.headline]
    rows = [
        [
            str(row["name"]),
            f"{row['ranks']:,}",
            f"{row['nodes']:,}",
            *("–" if row[name] is None else quantity(row[name], columns[name].unit) for name in figures),
        ]
        for row in run.jobs.slice(0, JOBS_MAX).to_pylist()
    ]
    return ["job", "ranks", "nodes", *(columns[name].label for name in figures)], rows


def method_of(run: RunData) -> list[str]:
    """How the numbers were computed: engine, machine, routing, seed, convergence, assumptions, warnings."""
    summary = run.summary
    machine = summary["machine"]
    place = f"Machine {machine['name']}: {machine['routers']:,} routers, {machine['nodes']:,} nodes"
    lines = [
        METHODS.get(summary["engine"], f"Engine: {summary['engine']}."),
        f"{place} and {machine['links']:,} links. Routing {summary['routing']}, seed {summary['seed']}.",
    ]
    convergence = summary.get("convergence") or {}
    if "iterations" in convergence:
        state = "converged" if convergence["converged"] else "did not converge"
        lines.append(f"The steady state {state} after {convergence['iterations']} iterations.")
    accuracy = (summary.get("completion_times") or {}).get("accuracy")
    if accuracy:
        lines.append(f"Completion times: {accuracy}.")
    if not summary["complete"]:
        lines.append(f"The run is not complete: {summary.get('ending', 'unknown reason')}.")
    lines += [f"Warning: {warning}" for warning in summary["warnings"]]
    lines.append(f"Odonata {summary['odonata_version']}, experiment {summary['experiment_sha256'][:16]}.")
    return lines


def _html(run: RunData) -> bytes:
    figures = "".join(_figure(title, picture) for title, picture in figures_of(run))
    heads, rows = job_rows(run)
    title = f"{run.name}: Odonata report"
    experiment = (
        f"<details><summary>Experiment</summary><pre>{escape(run.experiment)}</pre></details>"
        if run.experiment
        else ""
    )
    page = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8" />'
        f'<meta name="viewport" content="width=device-width, initial-scale=1" />'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>"
        f'<h1>{escape(run.name)}</h1><p class="headline">{escape(str(headline(run)))}</p>'
        f'<div class="figures">{figures}</div>{table(_jobs_title(run), heads, rows)}'
        f"<h2>Method</h2>{''.join(f'<p>{escape(line)}</p>' for line in method_of(run))}{experiment}"
        f"</body></html>\n"
    )
    return page.encode()


def _figure(title: str, picture: Picture) -> str:
    source = f"data:image/svg+xml;base64,{base64.b64encode(_svg(picture)).decode()}"
    kind = "wide" if _is_wide(picture) else "half"
    return (
        f'<figure class="{kind}"><figcaption>{escape(title)}</figcaption>'
        f'<img alt="{escape(title)}" src="{source}" /></figure>'
    )


def _is_wide(picture: Picture) -> bool:
    width, height = picture.get_size_inches()
    return bool(width > WIDE * height)


def _jobs_title(run: RunData) -> str:
    jobs = run.jobs.num_rows
    return "Jobs" if jobs <= JOBS_MAX else f"Jobs, the first {JOBS_MAX} of {jobs:,}"


def _svg(picture: Picture) -> bytes:
    data = io.BytesIO()
    with figure_style():
        picture.savefig(data, format="svg", metadata={"Date": None})
    return data.getvalue()


PAGE = (8.27, 11.69)
"""Width and height of A4 in inches."""
LINE = 0.019
"""Height of a line of text, as a share of the page."""


def _pdf(run: RunData) -> bytes:
    import matplotlib as mpl
    from matplotlib.backends.backend_pdf import PdfPages

    data = io.BytesIO()
    # The same run gives the same bytes: no date. Type 42 embeds the fonts.
    metadata = {"CreationDate": None, "Title": f"{run.name}: Odonata report"}
    with figure_style(), mpl.rc_context({"pdf.fonttype": 42}), PdfPages(data, metadata=metadata) as pages:
        pages.savefig(_first_page(run))
        for title, picture in figures_of(run):
            picture.suptitle(title, fontweight="bold", x=0.02, ha="left")
            pages.savefig(picture)
    return data.getvalue()


def _first_page(run: RunData) -> Picture:
    """Sentence, table and method as text."""
    page = new_picture(*PAGE)
    y = 0.95

    def write(text: str, *, size: float = 9.5, width: int = 96, weight: str = "normal") -> None:
        nonlocal y
        lines = textwrap.wrap(text, width)
        page.text(0.08, y, "\n".join(lines), size=size, weight=weight, va="top", linespacing=1.35)
        y -= len(lines) * LINE * size / 9.5 + 0.012

    write(run.name, size=18, weight="bold", width=60)
    write(str(headline(run)), size=13, width=72)
    heads, rows = job_rows(run)
    write(_jobs_title(run), weight="bold")
    y = _write_table(page, [heads, *rows], y) - 0.02
    write("Method", weight="bold")
    for line in method_of(run):
        write(line)
    return page


def _write_table(page: Picture, rows: Sequence[Sequence[str]], top: float) -> float:
    """Rows of text, columns as wide as their longest text; returns where it ends."""
    widths = [max(map(len, column)) + 2 for column in zip(*rows, strict=True)]
    size = min(9.0, 9.0 * 100 / max(1, sum(widths)))
    step = LINE * max(size, 6.0) / 9.0
    letter = 0.84 / max(100, sum(widths))
    for number, row in enumerate(rows):
        x = 0.08
        for text, width in zip(row, widths, strict=True):
            weight = "bold" if number == 0 else "normal"
            page.text(x, top - number * step, text, size=size, va="top", weight=weight)
            x += width * letter
    return top - len(rows) * step
