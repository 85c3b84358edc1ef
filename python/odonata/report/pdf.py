"""A report as PDF: pages of text and tables, then a page for each figure."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Sequence

from odonata.plot.style import Picture, figure_style, new_picture
from odonata.report.content import Report, Table

PAGE = (8.27, 11.69)
"""Width and height of A4 in inches."""
LEFT, TOP, BOTTOM = 0.08, 0.95, 0.05
"""Margins, as shares of the page."""
LINE = 0.019
"""Height of a line of text of `SIZE` points, as a share of the page."""
SIZE = 9.5
LETTERS = 96
"""Letters of a line of text."""
COLUMNS = 100
"""Letters of a row of a table at its largest size."""
CELL = 44
"""Letters of a cell; longer texts, such as settings, continue below."""


def pdf(report: Report) -> bytes:
    """The pages. The same report gives the same bytes: there is no date."""
    import matplotlib as mpl
    from matplotlib.backends.backend_pdf import PdfPages

    data = io.BytesIO()
    metadata = {"CreationDate": None, "Title": f"{report.name}: Odonata report"}
    # Type 42 embeds the fonts.
    with figure_style(), mpl.rc_context({"pdf.fonttype": 42}), PdfPages(data, metadata=metadata) as pages:
        for page in text_pages(report):
            pages.savefig(page)
        for title, picture in report.figures:
            said = picture.get_suptitle()
            place_title(picture, f"{title}\n{said}" if said else title)
            pages.savefig(picture)
    return data.getvalue()


def place_title(picture: Picture, text: str) -> None:
    """Writes a title above the figure, which grows where the title would reach a legend or the edge."""
    title = picture.suptitle(text, fontweight="bold", x=0.02, ha="left")
    picture.draw_without_rendering()
    line = title.get_window_extent()
    ends = [picture.bbox.x1]
    for legend in picture.legends:
        box = legend.get_window_extent()
        if box.y1 > line.y0 and box.x1 > line.x0:
            ends.append(box.x0)
    # A tenth of an inch stays free.
    missing = (line.x1 - min(ends)) / picture.dpi + 0.1
    if missing > 0:
        picture.set_figwidth(picture.get_figwidth() + missing)


def text_pages(report: Report) -> list[Picture]:
    """Sentence, tables and method, on as many pages as they need."""
    text = _Text()
    text.write(report.name, size=18, letters=48, weight="bold")
    text.write(report.headline, size=13, letters=72)
    for table in report.tables:
        text.write_table(table)
    text.write("Method", weight="bold")
    for line in report.method:
        text.write(line)
    return text.pages


class _Text:
    """Text from top to bottom, page after page."""

    def __init__(self) -> None:
        self.pages = [new_picture(*PAGE)]
        self.y = TOP

    def write(self, text: str, *, size: float = SIZE, letters: int = LETTERS, weight: str = "normal") -> None:
        """Writes a paragraph."""
        for line in textwrap.wrap(text, letters):
            self._reserve(LINE * size / SIZE)
            self._put(LEFT, line, size, weight)
            self.y -= LINE * size / SIZE
        self.y -= 0.012

    def write_table(self, table: Table) -> None:
        """Writes a table, with columns as wide as their longest text."""
        rows = [[_cell(text) for text in row] for row in (table.heads, *table.rows)]
        widths = [max(len(line) for row in rows for line in row[i]) + 3 for i in range(len(table.heads))]
        size = min(9.0, 9.0 * COLUMNS / max(1, sum(widths)))
        self._reserve(4 * LINE)
        self.write(table.title, weight="bold")
        for number, row in enumerate(rows):
            self._write_row(row, widths, size, "bold" if number == 0 else "normal")
        self.y -= 0.02

    def _write_row(
        self, row: Sequence[Sequence[str]], widths: Sequence[int], size: float, weight: str
    ) -> None:
        step = LINE * max(size, 6.0) / 9.0
        letter = 0.84 / max(COLUMNS, sum(widths))
        self._reserve(step * max(map(len, row)))
        x = LEFT
        for lines, width in zip(row, widths, strict=True):
            for number, line in enumerate(lines):
                self.pages[-1].text(x, self.y - number * step, line, size=size, va="top", weight=weight)
            x += width * letter
        self.y -= step * max(map(len, row))

    def _reserve(self, height: float) -> None:
        if self.y - height < BOTTOM:
            self.pages.append(new_picture(*PAGE))
            self.y = TOP

    def _put(self, x: float, line: str, size: float, weight: str) -> None:
        self.pages[-1].text(x, self.y, line, size=size, weight=weight, va="top")


def _cell(text: str) -> list[str]:
    return textwrap.wrap(text, CELL) or [""]
