"""A report as one HTML file that loads nothing."""

from __future__ import annotations

import base64
import io
from html import escape

from odonata import notebook
from odonata.plot.style import Picture, figure_style
from odonata.report.content import Report

WIDE = 1.9
"""Width over height from which a figure takes a whole row: its text would be too small in half of one."""

_STYLE = "\n".join(
    (
        "body { max-width: 1100px; margin: 24px auto; padding: 0 16px; color: #1b2733; background: white; }",
        "body { font: 15px/1.45 system-ui, sans-serif; } h1 { font-size: 24px; margin: 0; }",
        "h1, .headline { overflow-wrap: anywhere; }",
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


def html(report: Report) -> bytes:
    """The page."""
    figures = "".join(_figure(title, picture) for title, picture in report.figures)
    tables = "".join(notebook.table(one.title, one.heads, one.rows) for one in report.tables)
    title = f"{report.name}: Odonata report"
    experiment = (
        f"<details><summary>Experiment</summary><pre>{escape(report.experiment)}</pre></details>"
        if report.experiment
        else ""
    )
    page = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8" />'
        f'<meta name="viewport" content="width=device-width, initial-scale=1" />'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>"
        f'<h1>{escape(report.name)}</h1><p class="headline">{escape(report.headline)}</p>'
        f'<div class="figures">{figures}</div>{tables}'
        f"<h2>Method</h2>{''.join(f'<p>{escape(line)}</p>' for line in report.method)}{experiment}"
        f"</body></html>\n"
    )
    return page.encode()


def _figure(title: str, picture: Picture) -> str:
    source = f"data:image/svg+xml;base64,{base64.b64encode(_svg(picture)).decode()}"
    width, height = picture.get_size_inches()
    kind = "wide" if width > WIDE * height else "half"
    return (
        f'<figure class="{kind}"><figcaption>{escape(title)}</figcaption>'
        f'<img alt="{escape(title)}" src="{source}" /></figure>'
    )


def _svg(picture: Picture) -> bytes:
    data = io.BytesIO()
    with figure_style():
        picture.savefig(data, format="svg", metadata={"Date": None})
    return data.getvalue()
